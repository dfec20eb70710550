// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// TestPreview_GetsTheQuestion, whether it is set for all tools or for one only.
func TestPreview_GetsTheQuestion(t *testing.T) {
	adktest.Both(t, previewGetsQuestion[*schema.Message], previewGetsQuestion[*schema.AgenticMessage])
}

func previewGetsQuestion[M adk.MessageType](t *testing.T, streaming bool) {
	for where, set := range map[string]func(*reduction.TypedConfig[M], reduction.Preview){
		"Config": func(c *reduction.TypedConfig[M], p reduction.Preview) { c.Preview = p },
		"ToolConfig": func(c *reduction.TypedConfig[M], p reduction.Preview) {
			c.ToolConfig = map[string]*reduction.ToolReductionConfig{"long": {Preview: p, Backend: c.Backend, MaxLengthForTrunc: c.MaxLengthForTrunc}}
		},
	} {
		for _, form := range []int{0, 2} { // a Preview is not called for streams
			var mu sync.Mutex
			var questions []string
			config := &reduction.TypedConfig[M]{Backend: store.NewMemory(0), MaxLengthForTrunc: 2000}
			set(config, func(r reduction.PreviewRequest) string {
				mu.Lock()
				defer mu.Unlock()
				questions = append(questions, r.Question)
				return "shown"
			})
			h, err := reduction.NewTyped[M](t.Context(), config)
			require.NoError(t, err)
			long := adktest.Tool(adktest.Form(form), &schema.ToolInfo{Name: "long", Desc: "Returns much."}, func(context.Context, string) (string, error) {
				return strings.Repeat("A line of text.\n", 600), nil
			})
			m := adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "c", Name: "long", Args: "{}"}), adktest.Say("done"))
			agent := adktest.Agent[M]{Model: m, Tools: []tool.BaseTool{long}, Handlers: adktest.Handlers[M](h), Streaming: streaming}
			out := agent.Run(t.Context(), []M{adktest.User[M]("What did it cost?")})
			require.NoError(t, out.Err, where)
			require.NotEmpty(t, questions, "%s, form %d", where, form)
			for _, q := range questions {
				require.Contains(t, q, "What did it cost?", "%s, form %d", where, form)
			}
		}
	}
}
