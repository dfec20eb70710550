// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The run-local values that hooks pass to one another, and copies of Eino's state.

import (
	"context"

	"github.com/cloudwego/eino/adk"
)

// withMessages returns a copy of a state that has other messages.
func withMessages[M adk.MessageType](state *adk.TypedChatModelAgentState[M], msgs []M) *adk.TypedChatModelAgentState[M] {
	out := *state
	out.Messages = msgs
	return &out
}

// Keys of run-local values, which survive an interrupt. Outside a run there are none, and
// nothing is kept.
const (
	namedFilesKey = "__leanctx_reduction_shown__"    // files in the conversation's notices that calls of this round would otherwise overwrite
	readableKey   = "__leanctx_reduction_readable__" // files outside the default roots that calls of this round may read
	questionKey   = "__leanctx_reduction_question__" // the last texts of the user and the model
	readerKey     = "__leanctx_reduction_reader__"   // and the tool's name: which kind was found among the tools of a model call
)

// runText returns the text under a key.
func runText(ctx context.Context, key string) (text string, ok bool) {
	v, _, _ := adk.GetRunLocalValue(ctx, key)
	text, ok = v.(string)
	return text, ok
}

func setRunText(ctx context.Context, key, text string) { _ = adk.SetRunLocalValue(ctx, key, text) }

// runNames returns the names under a key.
func runNames(ctx context.Context, key string) []string {
	v, _, _ := adk.GetRunLocalValue(ctx, key)
	names, _ := v.([]string)
	return names
}

// setRunNames stores names for the next calls.
func setRunNames(ctx context.Context, key string, names []string) {
	if len(names) == 0 {
		_ = adk.DeleteRunLocalValue(ctx, key)
		return
	}
	_ = adk.SetRunLocalValue(ctx, key, names)
}
