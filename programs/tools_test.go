// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/programtest"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// adder adds a tool to the agent, behind all others.
type adder[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	name string
}

func (a adder[M]) BeforeAgent(ctx context.Context, rc *adk.ChatModelAgentContext) (context.Context, *adk.ChatModelAgentContext, error) {
	next := *rc
	next.Tools = append(append([]tool.BaseTool(nil), rc.Tools...), adktest.Simple(a.name, "another"))
	return ctx, &next, nil
}

// A second tool that is named as one of this package ends the run, also if a handler behind adds it: a model could not tell
// them apart, and a provider refuses them.
func TestTools_DuplicateNameEndsRun(t *testing.T) {
	adktest.Both(t, testDuplicateName[*schema.Message], testDuplicateName[*schema.AgenticMessage])
}

func testDuplicateName[M adk.MessageType](t *testing.T, streaming bool) {
	for name, ends := range map[string]bool{"run_code": true, "program_output": true, "run_codes": false} {
		a := adktest.Agent[M]{Model: adktest.Script[M](), Streaming: streaming, Handlers: adktest.Handlers[M](first[M](t, three), adder[M]{name: name})}
		out := a.Run(t.Context(), []M{adktest.User[M]("go")})
		if ends {
			require.ErrorContains(t, out.Err, "another tool of the agent is named "+name)
			require.Empty(t, a.Model.Wires())
		} else {
			require.NoError(t, out.Err)
		}
	}
}

// What a tool that returns a string says is one string for a program, whatever it looks like, and quoted once.
func TestQuoteIfString_QuotesOnce(t *testing.T) {
	for said, want := range map[string]string{`12`: `"12"`, `{"a":1}`: `"{\"a\":1}"`, `"a"`: `"a"`, ` "a" `: ` "a" `, `a`: `a`, `null`: `"null"`} {
		in := programtest.Programs{"p": func(p *programtest.Program) { p.Print(p.Call("say {}")[0].Text) }}
		say := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "say", Desc: "says", Extra: map[string]any{toolset.OutputSchemaKey: `{"type":"string"}`}}, func(context.Context, string) (string, error) { return said, nil })
		m := adktest.Script[*schema.Message](adktest.Do(adktest.ToolCall{ID: "p", Name: "run_code", Args: `{"code":"p"}`}))
		require.NoError(t, adktest.Agent[*schema.Message]{Model: m, Tools: []tool.BaseTool{say}, Handlers: adktest.Handlers(first[*schema.Message](t, in))}.Run(t.Context(), []*schema.Message{schema.UserMessage("go")}).Err)
		last := m.Wires()[1].Messages
		said, _, _ := strings.Cut(last[len(last)-1].Content, "\n(")
		require.Equal(t, want, said)
	}
}
