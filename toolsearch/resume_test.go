// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// A run that is interrupted inside a hidden tool goes on where it was: in another process,
// with another instance of everything.

import (
	"context"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/toolsearch"
)

// approval asks a person before it does anything.
func approval(ctx context.Context, args string) (string, error) {
	if was, _, _ := tool.GetInterruptState[string](ctx); !was {
		return "", tool.StatefulInterrupt(ctx, "may I?", args)
	}
	_, _, state := tool.GetInterruptState[string](ctx)
	is, has, answer := tool.GetResumeContext[string](ctx)
	if !is || !has {
		return "", tool.StatefulInterrupt(ctx, "may I, again?", state)
	}
	return "person said " + answer + " to " + state + " and " + args, nil
}

func TestInterruptsInsideHiddenToolsResume(t *testing.T) {
	everywhere(t, interruptsResume[*schema.Message], interruptsResume[*schema.AgenticMessage])
}

func interruptsResume[M adk.MessageType](t *testing.T, streaming bool) {
	const args = `{"what":"it"}`
	for _, c := range []struct {
		protocol toolsearch.Protocol
		find     adktest.Turn
		call     adktest.Turn
		after    string // tools of the model call after the resume
	}{
		{toolsearch.Keyword, do("a", "tool_search", `{"query":"payment"}`), do("b", "bank__make_payment", args), "own tool_search bank__make_payment"},
		{toolsearch.Regexp, do("a", "tool_search", `{"regex_pattern":"payment"}`), do("b", "bank__make_payment", args), "own tool_search bank__make_payment"},
		{toolsearch.SearchLoad, do("a", "load_tool", `{"tool_name":"bank__make_payment"}`), do("b", "bank__make_payment", args), "own search_tools load_tool bank__make_payment"},
		{toolsearch.SearchCall, do("a", "tool_search", `{"query":"payment"}`), do("b", "call_tool", `{"name":"bank__make_payment","arguments":`+args+`}`), "own tool_search call_tool"},
	} {
		for form, f := range adktest.Forms {
			t.Run(c.protocol.String()+"/"+form, func(t *testing.T) {
				s := on[M](t, streaming, c.protocol)
				s.cfg.DynamicTools = append(s.cfg.DynamicTools, adktest.Tool(f, &schema.ToolInfo{Name: "bank__make_payment", Desc: "Makes a payment"}, approval))
				s.store = &adktest.Store{}

				ctx := context.Background()
				agent, _ := s.agent(c.find, c.call)
				first := agent.Run(ctx, []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"))
				require.NoError(t, first.Err)
				require.NotNil(t, first.Interrupted)

				// A second agent takes over, as in another process.
				agent, model := s.agent()
				runner, err := agent.Runner(ctx)
				require.NoError(t, err)
				id := rootCause(first.Interrupted)
				events, err := runner.ResumeWithParams(ctx, "one", &adk.ResumeParams{Targets: map[string]any{id: "yes"}})
				require.NoError(t, err)
				second := adktest.Collect(events)
				require.NoError(t, second.Err)
				require.Equal(t, "done", second.Answer())

				wires := model.Wires()
				require.Len(t, wires, 1)
				require.Equal(t, c.after, strings.Join(wires[0].ToolNames, " "))
				require.Contains(t, strings.Join(wires[0].MessagesDump, "\n"), "person said yes to "+args+" and "+args)
			})
		}
	}
}

func rootCause(i *adk.InterruptInfo) string {
	for _, c := range i.InterruptContexts {
		if c.IsRootCause {
			return c.ID
		}
	}
	return ""
}

// A run that stops before a model call has its loaded tools after the resume, and nothing
// more: what was shown is part of the checkpoint.
func TestLoadedToolsSurviveACheckpoint(t *testing.T) {
	everywhere(t, loadedSurvives[*schema.Message], loadedSurvives[*schema.AgenticMessage])
}

func loadedSurvives[M adk.MessageType](t *testing.T, streaming bool) {
	ask := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "ask", Desc: "Asks a person"}, approval)
	s := on[M](t, streaming, toolsearch.Keyword)
	s.store, s.mine = &adktest.Store{}, []tool.BaseTool{ask}
	ctx := context.Background()
	agent, _ := s.agent(do("a", "tool_search", `{"query":"forecast"}`), do("b", "ask", `{}`))
	first := agent.Run(ctx, []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"))
	require.NoError(t, first.Err)

	agent, model := s.agent(do("c", "weather__get_forecast", `{"city":"Oslo"}`), do("d", "slack__send_message", `{"channel":"x"}`))
	runner, err := agent.Runner(ctx)
	require.NoError(t, err)
	events, err := runner.ResumeWithParams(ctx, "one", &adk.ResumeParams{Targets: map[string]any{rootCause(first.Interrupted): "yes"}})
	require.NoError(t, err)
	second := adktest.Collect(events)
	require.NoError(t, second.Err)

	p := played[M]{second, model.Wires(), nil}
	require.Equal(t, "own ask tool_search weather__get_forecast", strings.Split(p.tools(), "\n")[0])
	require.Contains(t, p.answer(t, "c"), `got {"city":"Oslo"}`)
	require.Contains(t, p.answer(t, "d"), "did not run", "it was never loaded")
}
