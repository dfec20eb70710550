// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package skills_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/skill"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/skills"
)

// pair are the handlers of an agent with Eino's skill middleware and a search for its skills.
func pair[M adk.MessageType](t testing.TB, first bool, c skill.TypedConfig[M], search toolsearch.Config, options skills.Options) []adk.TypedChatModelAgentMiddleware[M] {
	own, err := skill.NewTyped(context.Background(), skills.Beside(&c))
	require.NoError(t, err)
	options.Run = skills.RunWith(own)
	search.Source, search.CatalogLimit = skills.NewSource(c.Backend, options), 10
	if search.Protocol != toolsearch.Regexp {
		search.NewIndex = skills.Index(index.BM25)
	}
	ours, err := toolsearch.NewTyped[M](context.Background(), &search)
	require.NoError(t, err)
	if first {
		return adktest.Handlers(own, ours)
	}
	return adktest.Handlers(ours, own)
}

// bytesOf is what a request takes for tools and messages.
func bytesOf[M adk.MessageType](t testing.TB, w adktest.Wire[M]) (bytes int) {
	for _, x := range w.Tools {
		params, err := x.ToJSONSchema()
		require.NoError(t, err)
		data, err := json.Marshal(params)
		require.NoError(t, err)
		bytes += len(x.Name) + len(x.Desc) + len(data)
	}
	for _, m := range w.Messages {
		bytes += len(adktest.Text(m))
	}
	return bytes
}

// With Eino's skill middleware in the agent, before or after ours, 1,141 skills still have no more
// than 600 tokens of a request, and each is loaded by either tool, under either name.
func TestBeside_EinosToolAndSearchBothLoad(t *testing.T) {
	adktest.Both(t, staysBeside[*schema.Message], staysBeside[*schema.AgenticMessage])
}

func staysBeside[M adk.MessageType](t *testing.T, streaming bool) {
	const sentence = "Put these three PDFs together"
	calls := 0
	call := func(name, args string) adktest.Turn {
		calls++
		return adktest.Do(adktest.ToolCall{ID: fmt.Sprint("c", calls), Name: name, Args: args})
	}
	for protocol, find := range map[toolsearch.Protocol][]adktest.Turn{
		toolsearch.Keyword:    {call("tool_search", `{"query":"`+sentence+`"}`), call("skill__pdf", `{}`)},
		toolsearch.Regexp:     {call("tool_search", `{"regex_pattern":"__pdf$"}`), call("skill__pdf", `{}`)},
		toolsearch.SearchLoad: {call("search_tools", `{"query":"`+sentence+`"}`), call("load_tool", `{"tool_name":"skill__pdf"}`), call("skill__pdf", `{}`)},
		toolsearch.SearchCall: {call("tool_search", `{"query":"`+sentence+`"}`), call("call_tool", `{"name":"skill__pdf","arguments":{}}`)},
	} {
		for _, first := range []bool{false, true} {
			matters := many(t)
			library := &shelf{matters: matters[:race.Cases(len(matters))]}
			chinese := skills.ToolName("合同审查")
			turns := append(slices.Clone(find), call("skill", `{"skill":"pdf"}`), call("skill", `{"skill":"skill__pdf"}`),
				call("skill", `{"skill":"`+chinese+`"}`), call("skill", `{"skill":"nothing"}`), call("skill", `{"skill":"skill__nothing"}`), adktest.Say("done"))
			m := adktest.Script[M](turns...)
			handlers := pair(t, first, skill.TypedConfig[M]{Backend: library}, toolsearch.Config{Protocol: protocol}, skills.Options{})
			clears := reduction.RecommendedTyped[M](store.NewMemory(0))
			clears.MaxTokensForClear, clears.ClearAtLeastTokens, clears.ProvideReadTool = 1, 0, false
			reduce, err := reduction.NewTyped(context.Background(), clears)
			require.NoError(t, err)
			handlers = append(handlers, reduce)
			out := adktest.Agent[M]{Model: m, Handlers: handlers, Streaming: streaming}.Run(context.Background(), []M{adktest.User[M]("x")})
			require.NoError(t, out.Err)
			tokens := bytesOf(t, m.Wires()[0]) / 4
			t.Logf("%v: %d tokens", protocol, tokens)
			require.LessOrEqual(t, tokens, 600, "%v\n%v", protocol, m.Wires()[0].MessagesDump)
			require.Equal(t, 3, library.lists, "one list a run, and one for each name that is not the skill's own")
			var results []string
			last := m.Wires()[len(turns)-1]
			for _, msg := range last.Messages {
				for _, r := range adktest.Results(msg) {
					results = append(results, r.Args)
				}
			}
			results = results[len(find)-1:]
			require.Len(t, results, 6)
			for i, want := range []string{"open the pdf.", "open the pdf.", "open the pdf.", "open the 合同审查.", "nothing cannot be read", "skill__nothing cannot be read"} {
				require.Contains(t, results[i], want, "%v, result %d", protocol, i)
			}
		}
	}
}

// hub provides the agents and models of skills.
type hub[M adk.MessageType] struct{ models map[string]model.BaseModel[M] }

func (h hub[M]) Get(_ context.Context, name string) (model.BaseModel[M], error) {
	return h.models[name], nil
}

type agents[M adk.MessageType] struct{}

func (agents[M]) Get(ctx context.Context, _ string, _ *skill.TypedAgentHubOptions[M]) (adk.TypedAgent[M], error) {
	return adk.NewTypedChatModelAgent(ctx, &adk.TypedChatModelAgentConfig[M]{Name: "sub", Description: "d", Model: adktest.Script[M](adktest.Say("the sub-agent is done"))})
}

// A skill that is found runs as Eino's middleware runs it: in an agent of its own, or on a model of
// its own, with a text that the user's function writes.
func TestRunWith_RunsSkillsAsEinosMiddleware(t *testing.T) {
	adktest.Both(t, runsAsEinos[*schema.Message], runsAsEinos[*schema.AgenticMessage])
}

func runsAsEinos[M adk.MessageType](t *testing.T, streaming bool) {
	library := &shelf{matters: []skill.FrontMatter{
		{Name: "forks", Description: "d", Context: skill.ContextModeFork}, {Name: "switches", Description: "d", Model: "other"}, {Name: "torn", Description: "torn"},
	}}
	call := func(name string) adktest.Turn {
		return adktest.Do(adktest.ToolCall{ID: name, Name: name, Args: `{}`})
	}
	m, other := adktest.Script[M](call("skill__torn"), call("skill__forks"), call("skill__switches"), adktest.Say("the first model")), adktest.Script[M](adktest.Say("another model"))
	config := skill.TypedConfig[M]{
		Backend: library, AgentHub: agents[M]{}, ModelHub: hub[M]{map[string]model.BaseModel[M]{"other": other}},
		BuildContent: func(_ context.Context, s skill.Skill, args string) (string, error) {
			return "built of " + args + ": " + s.Content, nil
		},
	}
	handlers := pair(t, true, config, toolsearch.Config{AllowUnloadedCalls: true}, skills.Options{})
	out := adktest.Agent[M]{Model: m, Handlers: handlers, Streaming: streaming}.Run(context.Background(), []M{adktest.User[M]("x")})
	require.NoError(t, out.Err)
	results := map[string]string{}
	for _, msg := range out.Messages {
		for _, r := range adktest.Results(msg) {
			results[r.ID] = r.Args
		}
	}
	require.Contains(t, results["skill__torn"], "no such file")
	require.Contains(t, results["skill__forks"], "the sub-agent is done")
	require.Contains(t, results["skill__switches"], `built of {"skill":"switches"}: First, open the switches.`)
	if _, plain := any(m).(*adktest.Model[*schema.Message]); plain { // Eino changes no model of agentic messages
		require.Equal(t, "another model", out.Answer())
	}
}

// What somebody set stays, and the tool's description may still list all skills.
func TestBeside_KeepsFieldsThatAreSet(t *testing.T) {
	var listed int
	c := &skill.Config{
		Backend:               &shelf{matters: []skill.FrontMatter{{Name: "one"}}},
		CustomSystemPrompt:    func(_ context.Context, name string) string { return "own prompt of " + name },
		CustomToolDescription: func(_ context.Context, all []skill.FrontMatter) string { listed = len(all); return "own" },
	}
	own, err := skill.NewMiddleware(context.Background(), skills.Beside(c))
	require.NoError(t, err)
	m := adktest.Script[*schema.Message]()
	out := adktest.Agent[*schema.Message]{Model: m, Handlers: adktest.Handlers(own)}.Run(context.Background(), []*schema.Message{schema.UserMessage("x")})
	require.NoError(t, out.Err)
	require.Equal(t, 1, listed)
	require.Equal(t, "own", m.Wires()[0].Tools[0].Desc)
	require.Contains(t, m.Wires()[0].MessagesDump[0], "own prompt of skill")

	_, err = skill.NewMiddleware(context.Background(), skills.Beside[*schema.Message](nil))
	require.Error(t, err)
	_, err = skill.NewMiddleware(context.Background(), skills.Beside(&skill.Config{}))
	require.Error(t, err)
	_, err = skills.RunWith[*schema.Message](&adk.BaseChatModelAgentMiddleware{})(context.Background(), "x")
	require.ErrorContains(t, err, "no tool")
}

// A Filter is asked for skills as for tools, in every phase, with the tool that the skill is.
func TestNewSource_FilterAppliesToSkills(t *testing.T) {
	matters, _ := graded(t)
	var asked sync.Map // by phase; calls run in parallel
	search, err := toolsearch.New(context.Background(), &toolsearch.Config{
		Source: skills.NewSource(&shelf{matters: matters}, skills.Options{}), NewIndex: skills.Index(index.BM25),
		Filter: func(_ context.Context, r toolsearch.FilterRequest) (bool, error) {
			asked.Store(r.Phase, true)
			return r.Tool.Name != "skill__pdf", nil
		},
	})
	require.NoError(t, err)
	m := adktest.Script[*schema.Message](
		adktest.Do(adktest.ToolCall{ID: "1", Name: "tool_search", Args: `{"query":"Put these three PDFs together"}`}),
		adktest.Do(adktest.ToolCall{ID: "2", Name: "skill__docx", Args: `{}`}, adktest.ToolCall{ID: "3", Name: "skill__pdf", Args: `{}`}))
	out := adktest.Agent[*schema.Message]{Model: m, Handlers: adktest.Handlers(search)}.Run(context.Background(), []*schema.Message{schema.UserMessage("x")})
	require.NoError(t, out.Err)
	require.NotContains(t, out.Messages[1].Content, "skill__pdf")
	require.NotContains(t, m.Wires()[0].MessagesDump[0], "skill__pdf")
	for _, phase := range []toolsearch.Phase{toolsearch.PhaseList, toolsearch.PhaseSearch, toolsearch.PhaseLoad, toolsearch.PhaseCall} {
		_, ok := asked.Load(phase)
		require.True(t, ok, phase)
	}
	require.NotContains(t, out.Messages[4].Content, "open the pdf")
}

// A run that is given up is no answer.
func TestBeside_CanceledGetIsAnError(t *testing.T) {
	c := skills.Beside(&skill.Config{Backend: &shelf{err: errors.New("away")}})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := c.Backend.Get(ctx, "x")
	require.Error(t, err)
}
