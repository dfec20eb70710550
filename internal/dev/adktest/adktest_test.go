// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package adktest_test

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
)

func TestScript_RunsAllMessageTypesAndToolForms(t *testing.T) {
	adktest.Both(t, testScriptRunsAllMessageTypesAndToolForms[*schema.Message],
		testScriptRunsAllMessageTypesAndToolForms[*schema.AgenticMessage])
}

func testScriptRunsAllMessageTypesAndToolForms[M adk.MessageType](t *testing.T, streaming bool) {
	for name, form := range adktest.Forms {
		t.Run(name, func(t *testing.T) {
			m := adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "c1", Name: "t", Args: `{"value":"x"}`}), adktest.Say("bye now"))
			a := adktest.Agent[M]{Model: m, Streaming: streaming,
				Tools: []tool.BaseTool{adktest.Tool(form, &schema.ToolInfo{Name: "t", Desc: "d"}, nil)}}
			out := a.Run(context.Background(), []M{adktest.User[M]("hello")})
			require.NoError(t, out.Err)
			require.Equal(t, "bye now", out.Answer())
			require.Len(t, out.Messages, 3)
			w := m.Wires()
			require.Len(t, w, 2)
			require.Equal(t, []string{"t"}, w[0].ToolNames)
			require.Equal(t, streaming, w[0].ByStream)
			require.Equal(t, `tool: result(c1 t) echo {"value":"x"}`, adktest.Dump(w[1].Messages[len(w[1].Messages)-1]))
		})
	}
}
