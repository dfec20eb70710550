// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file holds what one hook of a run has to tell another.

import (
	"context"

	"github.com/cloudwego/eino/adk"
)

// Keys of run-local values. They survive an interrupt.
const (
	shownKey    = "__leanctx_reduction_shown__"
	readableKey = "__leanctx_reduction_readable__"
)

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

// readableIn returns the names of files outside of the default roots that calls of
// this round may read.
func readableIn(ctx context.Context) []string {
	v, ok, err := adk.GetRunLocalValue(ctx, readableKey)
	if err != nil || !ok {
		return nil
	}
	names, _ := v.([]string)
	return names
}

// letRead records such names.
func letRead(ctx context.Context, names []string) {
	if len(names) == 0 {
		_ = adk.DeleteRunLocalValue(ctx, readableKey)
		return
	}
	_ = adk.SetRunLocalValue(ctx, readableKey, names)
}
