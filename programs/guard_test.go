// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
)

// summarizer replaces the conversation by a summary once, while a program runs.
type summarizer[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	calls int
}

func (s *summarizer[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if s.calls++; s.calls != 3 {
		return ctx, state, nil
	}
	next := *state
	next.Messages = []M{adktest.User[M]("a summary")}
	return ctx, &next, nil
}

// What another handler makes of the conversation between two batches of a program stays.
func TestPrograms_KeepAConversationThatWasReplaced(t *testing.T) {
	adktest.Both(t, keepsReplaced[*schema.Message], keepsReplaced[*schema.AgenticMessage])
}

func keepsReplaced[M adk.MessageType](t *testing.T, streaming bool) {
	m := adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "c", Name: "run_code", Args: `{"code":"three"}`}), adktest.Say("done"))
	handlers := adktest.Handlers[M](&summarizer[M]{}, first[M](t, three))
	out := adktest.Agent[M]{Model: m, Tools: forms(func(string) {}), Handlers: handlers, Streaming: streaming}.Run(t.Context(), []M{adktest.User[M]("the question")})
	require.NoError(t, out.Err)
	last := strings.Join(m.Wires()[1].MessagesDump, "\n")
	require.Contains(t, last, "a summary")
	require.NotContains(t, last, "the question")
}
