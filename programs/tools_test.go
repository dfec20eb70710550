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

// A bare number, boolean or null stays the text that the tool returned, unless the tool declares its
// output; objects, lists and quoted strings are read as JSON either way. So does stored text.
func TestResult_ScalarWithoutOutputSchemaIsText(t *testing.T) {
	for said, want := range map[string]string{
		`12345678`: `"12345678"`, `12e45678`: `"12e45678"`, ` -1.50 `: `" -1.50 "`, `true`: `"true"`, `null`: `"null"`, `1e400`: `"1e400"`,
		`{"a":1}`: `{"a":1}`, `[1]`: `[1]`, `"a"`: `"a"`, `a`: `a`, ``: ``, `01`: `01`,
	} {
		require.Equal(t, want, resultInProgram(t, said, nil), said)
		require.Equal(t, said, resultInProgram(t, said, map[string]any{toolset.OutputSchemaKey: `{"type":["number","boolean","null","object","array"]}`}), said)
	}
}

// resultInProgram returns what an interpreter gets as the result of a tool.
func resultInProgram(t *testing.T, said string, extra map[string]any) (got string) {
	in := programtest.Programs{"p": func(p *programtest.Program) { got = p.Call("say {}")[0].Text }}
	say := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "say", Desc: "says", Extra: extra}, func(context.Context, string) (string, error) { return said, nil })
	m := adktest.Script[*schema.Message](adktest.Do(adktest.ToolCall{ID: "p", Name: "run_code", Args: `{"code":"p"}`}))
	require.NoError(t, adktest.Agent[*schema.Message]{Model: m, Tools: []tool.BaseTool{say}, Handlers: adktest.Handlers(first[*schema.Message](t, in))}.Run(t.Context(), []*schema.Message{schema.UserMessage("go")}).Err)
	return got
}

// The line about the calls is left out where the program printed something and nothing failed.
func TestOutput_CallsAreCountedOnlyWhereNeeded(t *testing.T) {
	run := func(f func(p *programtest.Program)) string {
		say := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "say", Desc: "says"}, func(context.Context, string) (string, error) { return "a", nil })
		m := adktest.Script[*schema.Message](adktest.Do(adktest.ToolCall{ID: "p", Name: "run_code", Args: `{"code":"p"}`}))
		require.NoError(t, adktest.Agent[*schema.Message]{Model: m, Tools: []tool.BaseTool{say}, Handlers: adktest.Handlers(first[*schema.Message](t, programtest.Programs{"p": f}))}.Run(t.Context(), []*schema.Message{schema.UserMessage("go")}).Err)
		last := m.Wires()[1].Messages
		return last[len(last)-1].Content
	}
	require.Equal(t, "a", run(func(p *programtest.Program) { p.Print(p.Call("say {}")[0].Text) }))
	require.Equal(t, "1", run(func(p *programtest.Program) { p.Print(1) }))
	require.Equal(t, "1\n(1 call of say, none failed; 1 call of nothing, 1 failed; a failed call throws)", run(func(p *programtest.Program) {
		p.Call("say {}", "nothing {}")
		p.Print(1)
	}))
	require.Contains(t, run(func(p *programtest.Program) { p.Call("say {}") }), "(1 call of say, none failed)", "nothing was printed")
	require.Contains(t, run(func(p *programtest.Program) {}), "(no calls)")
}

// What a tool that returns a string says is one string for a program, whatever it looks like, and quoted once.
func TestProgramResult_QuotesStringOnce(t *testing.T) {
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
