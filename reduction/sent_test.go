// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/cloudwego/eino/schema/claude"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/continuation"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
)

// thinks makes an answer one of Claude with bound thinking.
func thinks[M adk.MessageType](m M) M {
	switch m := any(m).(type) {
	case *schema.Message:
		m.Extra = map[string]any{"_eino_claude_thinking": "hm", "_eino_claude_thinking_signature": "s"}
	case *schema.AgenticMessage:
		m.ResponseMeta = &schema.AgenticResponseMeta{ClaudeExtension: &claude.ResponseMetaExtension{ID: "m"}}
		m.ContentBlocks = append([]*schema.ContentBlock{schema.NewContentBlock(&schema.Reasoning{Text: "hm", Signature: "s"})}, m.ContentBlocks...)
	}
	return m
}

// bound counts the messages of a request that bring their thinking.
func bound[M adk.MessageType](msgs []M) (n int) {
	for i := range msgs {
		if continuation.Any(msgs[i : i+1]) {
			n++
		}
	}
	return n
}

// A rewriter may take whole rounds out, of which no trace is left.
func TestThinkingBehindARewrittenRoundStaysAway(t *testing.T) {
	adktest.Both(t, rewrittenThinking[*schema.Message], rewrittenThinking[*schema.AgenticMessage])
}

func rewrittenThinking[M adk.MessageType](t *testing.T, streaming bool) {
	for name, instead := range map[string][]M{"nothing": nil, "a message": {adktest.User[M]("tools ran")}} {
		history := []M{adktest.User[M]("begin")}
		for i := range 5 {
			id := fmt.Sprint("call_", i)
			history = append(history, thinks(adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: "{}"})), adktest.Result[M](id, "shell", strings.Repeat("line ", 300)))
		}
		history = append(history, adktest.User[M]("go on"))
		given := deepCopy(history)
		for _, rewrites := range []bool{false, true} {
			cfg := &reduction.TypedConfig[M]{Backend: backend.NewMemory(0), MaxTokensForClear: 1 << 40}
			if rewrites {
				cfg.MaxTokensForClear = 1
				first := true
				cfg.ClearMessageRewriter = func(_ context.Context, said M, results []M) ([]M, error) {
					if !first {
						return append([]M{said}, results...), nil
					}
					first = false
					return instead, nil
				}
				cfg.ClearExcludeTools = []string{"shell"}
			}
			model := adktest.Script[M]()
			require.NoError(t, adktest.Agent[M]{Model: model, Handlers: adktest.Handlers[M](typed(t, cfg)), Streaming: streaming}.Run(t.Context(), history).Err)
			got := bound(model.Wires()[0].Messages)
			if rewrites {
				require.Zero(t, got, name)
			} else {
				require.Equal(t, 5, got)
			}
			require.Equal(t, given, history, "what was handed in never changes")
		}
	}
}
