// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// What depends on the version of Eino beside the hooks: the contexts and the state of a run,
// and the run-local values with which one hook tells another something. Messages are the
// affair of the codecs.

import (
	"context"
	"sync/atomic"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
)

// withMessages returns a copy of a state that has other messages.
func withMessages[M adk.MessageType](state *adk.TypedChatModelAgentState[M], msgs []M) *adk.TypedChatModelAgentState[M] {
	out := *state
	out.Messages = msgs
	return &out
}

// withTools returns a copy of a run's context that has other tools.
func withTools(run *adk.ChatModelAgentContext, tools []tool.BaseTool) *adk.ChatModelAgentContext {
	out := *run
	out.Tools = tools
	return &out
}

// begunKey holds, in the context of a run, what one middleware saw at its start.
type begunKey struct{ of *policy }

type begun struct {
	reader reading
	looked atomic.Bool // at the tools of the first model call
	counts counted

	referred atomic.Bool  // the whole history was searched for repeats
	markedAt atomic.Int64 // when files were marked as used, in seconds
	fitted   atomic.Bool  // all rounds keep to their share of the window
}

// texts is what the run knows of the texts of its messages; nil outside of a run.
func (b *begun) texts() *counted {
	if b == nil {
		return nil
	}
	return &b.counts
}

// begin notes, in the context of a run, what its agent has for a read tool.
func (p *policy) begin(ctx context.Context, found reading) context.Context {
	return context.WithValue(ctx, begunKey{p}, &begun{reader: found})
}

func (p *policy) begun(ctx context.Context) *begun {
	b, _ := ctx.Value(begunKey{p}).(*begun)
	return b
}

// Keys of run-local values, which survive an interrupt. Outside of a run there are
// none, and nothing is kept.
const (
	shownKey    = "__leanctx_reduction_shown__"    // files that the conversation shows and that calls of this round would otherwise be given
	readableKey = "__leanctx_reduction_readable__" // files outside of the default roots that calls of this round may read
	questionKey = "__leanctx_reduction_question__" // what the user and the model said last
	readerKey   = "__leanctx_reduction_reader__"   // and the tool's name: which reading was found among the tools of a model call
)

// runText returns the text under a key.
func runText(ctx context.Context, key string) (text string, ok bool) {
	v, ok, err := adk.GetRunLocalValue(ctx, key)
	if err != nil || !ok {
		return "", false
	}
	text, ok = v.(string)
	return text, ok
}

func setRunText(ctx context.Context, key, text string) { _ = adk.SetRunLocalValue(ctx, key, text) }

// runNames returns the names under a key.
func runNames(ctx context.Context, key string) []string {
	v, ok, err := adk.GetRunLocalValue(ctx, key)
	if err != nil || !ok {
		return nil
	}
	names, _ := v.([]string)
	return names
}

// setRunNames keeps names for the calls that follow.
func setRunNames(ctx context.Context, key string, names []string) {
	if len(names) == 0 {
		_ = adk.DeleteRunLocalValue(ctx, key)
		return
	}
	_ = adk.SetRunLocalValue(ctx, key, names)
}
