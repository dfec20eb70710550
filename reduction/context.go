// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file holds what one hook of a run has to tell another.

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// Keys of run-local values. They survive an interrupt.
const (
	shownKey      = "__leanctx_reduction_shown__"
	noReaderKey   = "__leanctx_reduction_no_reader__"
	noReaderValue = "yes"
)

// unsureKey marks a context whose agent had no read tool when the middleware
// looked. Another middleware may still have added one.
type unsureKey struct{}

// readerMissing reports whether the agent has no tool to read stored content
// with. Outside of a run it is assumed to have one.
func readerMissing(ctx context.Context) bool {
	if ctx.Value(unsureKey{}) == nil {
		return false
	}
	v, ok, err := adk.GetRunLocalValue(ctx, noReaderKey)
	return err == nil && ok && v == any(noReaderValue)
}

// findReader looks again for the read tool, in what a model call is about to get.
func findReader(ctx context.Context, name string, lists ...[]*schema.ToolInfo) {
	if ctx.Value(unsureKey{}) == nil {
		return
	}
	for _, list := range lists {
		for _, info := range list {
			if info != nil && info.Name == name {
				_ = adk.DeleteRunLocalValue(ctx, noReaderKey)
				return
			}
		}
	}
	_ = adk.SetRunLocalValue(ctx, noReaderKey, noReaderValue)
}

// shownIn returns the names of files that the conversation shows and that calls
// of this round would otherwise be given.
func shownIn(ctx context.Context) map[string]bool {
	v, ok, err := adk.GetRunLocalValue(ctx, shownKey)
	if err != nil || !ok {
		return nil
	}
	names, _ := v.([]string)
	return setOf(names)
}

// show records such names for the calls that follow.
func show(ctx context.Context, names []string) {
	if len(names) == 0 {
		_ = adk.DeleteRunLocalValue(ctx, shownKey)
		return
	}
	_ = adk.SetRunLocalValue(ctx, shownKey, names)
}
