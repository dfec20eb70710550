// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// What becomes of a loaded tool when the search's result is taken out of the history.

import (
	"context"
	"slices"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/toolsearch"
)

// forgets removes every search and its result before each model call, from the second on.
type forgets[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	calls int
}

func (f *forgets[M]) BeforeModelRewriteState(ctx context.Context, s *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if f.calls++; f.calls > 2 {
		own := *s
		own.Messages = without(s.Messages)
		s = &own
	}
	return ctx, s, nil
}

func without[M adk.MessageType](history []M) []M {
	return slices.DeleteFunc(slices.Clone(history), func(m M) bool {
		for _, c := range append(adktest.Calls(m), adktest.Results(m)...) {
			if c.ID == "a" {
				return true
			}
		}
		return false
	})
}

func TestDeletingASearchsResultKeepsTheToolInTheRunAlone(t *testing.T) {
	everywhere(t, deletesResult[*schema.Message], deletesResult[*schema.AgenticMessage])
}

func deletesResult[M adk.MessageType](t *testing.T, streaming bool) {
	for name, before := range map[string]bool{"by a handler before": true, "by a handler behind": false} {
		t.Run(name, func(t *testing.T) {
			s := on[M](t, streaming, toolsearch.Keyword)
			f := &forgets[M]{TypedBaseChatModelAgentMiddleware: &adk.TypedBaseChatModelAgentMiddleware[M]{}}
			if before {
				s.around = adktest.Handlers[M](f)
			} else {
				s.behind = adktest.Handlers[M](f)
			}
			p := s.begin(do("a", "tool_search", `{"query":"forecast"}`), do("b", "own", `{}`), do("c", "own", `{}`))
			require.Contains(t, p.wires[1].ToolNames, "weather__get_forecast")
			require.Contains(t, p.wires[3].ToolNames, "weather__get_forecast", "in the run it stays loaded")
			s.around, s.behind = nil, nil
			next := s.play(append(without(p.history), adktest.User[M]("once more")))
			require.NotContains(t, next.wires[0].ToolNames, "weather__get_forecast", "the next run knows the history alone")
		})
	}
}
