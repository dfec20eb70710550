// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The Config field Source: tools that change, are late or fail during a run.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/toolset"
)

func TestSource_LateToolIsFoundInNextCall(t *testing.T) {
	adktest.Both(t, testSourceLateToolIsFoundInNextCall[*schema.Message], testSourceLateToolIsFoundInNextCall[*schema.AgenticMessage])
}

func testSourceLateToolIsFoundInNextCall[M adk.MessageType](t *testing.T, streaming bool) {
	for name, form := range adktest.Forms {
		t.Run(name, func(t *testing.T) {
			s, source := liveScene[M](t, streaming)
			s.mine = []tool.BaseTool{actionTool("connect", func() { source.have(echoTool(form, "jira__move_card"), echoTool(form, "jira__list_cards")) })}
			p := s.begin(
				oneCall("1", "connect", "{}"),
				oneCall("2", "tool_search", `{"query":"select:jira__move_card"}`),
				oneCall("3", "jira__move_card", `{"card":1}`))
			require.Equal(t, "own connect tool_search\nown connect tool_search\nown connect tool_search jira__move_card\nown connect tool_search jira__move_card", p.tools())
			require.NotContains(t, strings.Join(p.wires[0].MessagesDump, "\n"), "jira__")
			require.Contains(t, strings.Join(p.wires[1].MessagesDump, "\n"), "jira__list_cards")
			require.Equal(t, `jira__move_card got {"card":1}`, p.answer(t, "3"))
			requireNoSlots(t, p)
		})
	}
}

func TestSource_RemovedToolIsReportedAndNotListed(t *testing.T) {
	adktest.Both(t, testSourceRemovedToolIsReportedAndNotListed[*schema.Message], testSourceRemovedToolIsReportedAndNotListed[*schema.AgenticMessage])
}

func testSourceRemovedToolIsReportedAndNotListed[M adk.MessageType](t *testing.T, streaming bool) {
	s, source := liveScene[M](t, streaming)
	source.have(echoTool(0, "jira__old_search"), echoTool(0, "jira__move_card"))
	s.mine = []tool.BaseTool{actionTool("update", func() { source.have(echoTool(0, "jira__new_search"), echoTool(0, "jira__move_card")) })}
	p := s.begin(
		oneCall("1", "tool_search", `{"query":"select:jira__old_search"}`),
		adktest.Do(adktest.ToolCall{ID: "2", Name: "jira__old_search", Args: "{}"}, adktest.ToolCall{ID: "3", Name: "update", Args: "{}"}),
		oneCall("4", "jira__old_search", "{}"),
		oneCall("5", "tool_search", `{"query":"old search"}`),
		oneCall("6", "tool_search", `{"query":"select:jira__old_search"}`))
	require.Equal(t, "jira__old_search got {}", p.answer(t, "2"))
	require.Contains(t, p.answer(t, "4"), `There is no tool named "jira__old_search". Nearest names: jira__new_search`)
	require.Equal(t, `{"matches":["jira__new_search"]}`, p.answer(t, "5"))
	require.Equal(t, `{"matches":[],"hint":"No tool is named \"jira__old_search\". Nearest names: jira__new_search."}`, p.answer(t, "6"))
	require.Contains(t, p.wires[2].ToolNames, "own")
	for _, w := range p.wires[2:] {
		require.NotContains(t, w.ToolNames, "jira__old_search")
		require.NotContains(t, fold(w).names, "jira__old_search")
	}
	requireNoSlots(t, p)

	// A later run knows the tool by what a search said of it.
	p = s.play(append(p.history, adktest.User[M]("again")), oneCall("7", "jira__old_search", "{}"))
	require.Contains(t, p.answer(t, "7"), `There is no tool named "jira__old_search"`)
}

// Over random changes, every model call shows the tools of its moment and no others, all of
// them can be found and called, and calls of the others are answered.
func TestSource_ModelCallShowsCurrentTools(t *testing.T) {
	adktest.Both(t, testSourceModelCallShowsCurrentTools[*schema.Message], testSourceModelCallShowsCurrentTools[*schema.AgenticMessage])
}

func testSourceModelCallShowsCurrentTools[M adk.MessageType](t *testing.T, streaming bool) {
	forms := []adktest.Form{adktest.Invokable, adktest.Streamable, adktest.Enhanced, adktest.EnhancedStreamable}
	for seed := range uint64(race.Cases(25)) {
		random := rand.New(rand.NewPCG(seed, 1))
		s, source := liveScene[M](t, streaming)
		names, had := []string{}, map[string]bool{}
		change := func() {
			names = nil
			var tools []tool.BaseTool
			for i := range 12 {
				if random.IntN(2) == 0 {
					name := fmt.Sprintf("s%d__t%d", i%3, i)
					names, tools = append(names, name), append(tools, echoTool(forms[i%4], name))
					had[name] = true
				}
			}
			source.have(tools...)
		}
		change()
		s.mine = []tool.BaseTool{actionTool("change", change)}
		m := &adktest.Model[M]{}
		want := map[string]string{} // call id -> what the answer holds
		m.Respond = func(n int, w adktest.Wire[M]) adktest.Turn {
			if n == 24 {
				return adktest.Say("done")
			}
			require.Subset(t, fold(w).names, names, "seed %d, call %d", seed, n)
			for _, name := range w.ToolNames[3:] {
				require.Contains(t, names, name, "seed %d, call %d", seed, n)
			}
			id := fmt.Sprint(n)
			switch n % 3 {
			case 0:
				return oneCall(id, "change", "{}")
			case 1:
				return adktest.Do(searchCall(id, "select:"+strings.Join(names, ",")))
			}
			var calls []adktest.ToolCall
			for i := range 12 {
				name := fmt.Sprintf("s%d__t%d", i%3, i)
				id := fmt.Sprintf("%d-%d", n, i)
				switch {
				case slices.Contains(names, name):
					want[id] = name + " got {}"
				case had[name]:
					want[id] = "There is no tool named"
				default:
					continue
				}
				calls = append(calls, adktest.ToolCall{ID: id, Name: name, Args: "{}"})
			}
			if len(calls) == 0 {
				calls = append(calls, adktest.ToolCall{ID: id, Name: "own", Args: "{}"})
			}
			return adktest.Do(calls...)
		}
		agent, _ := s.agent()
		agent.Model, agent.Max = m, 30
		out := agent.Run(context.Background(), []M{adktest.User[M]("please")})
		require.NoError(t, out.Err, "seed %d", seed)
		p := sceneResult[M]{out, m.Wires(), nil}
		for id, text := range want {
			require.Contains(t, p.answer(t, id), text, "seed %d", seed)
		}
		requireNoSlots(t, p)
	}
}

func TestSource_FailureDoesNotEndRun(t *testing.T) {
	adktest.Both(t, testSourceFailureDoesNotEndRun[*schema.Message], testSourceFailureDoesNotEndRun[*schema.AgenticMessage])
}

func testSourceFailureDoesNotEndRun[M adk.MessageType](t *testing.T, streaming bool) {
	good, err := toolset.New(context.Background(), echoTool(0, "jira__move_card"))
	require.NoError(t, err)
	clash, err := toolset.New(context.Background(), echoTool(0, "own"), echoTool(0, "tool_search"), echoTool(0, "dynamic"), echoTool(0, "jira__move_card"))
	require.NoError(t, err)
	stays := "own tool_search jira__move_card"
	for _, c := range []struct {
		name   string
		late   func(context.Context) (*toolset.Set, error)
		tools  string // of the last model call
		answer string // to the call of the tool
		kind   einolean.Kind
	}{
		{"an error", func(context.Context) (*toolset.Set, error) { return nil, errors.New("it is down") }, stays, "jira__move_card got {}", einolean.KindSourceFailed},
		{"a panic", func(context.Context) (*toolset.Set, error) { panic("it is broken") }, stays, "jira__move_card got {}", einolean.KindSourceFailed},
		{"an error beside a set", func(context.Context) (*toolset.Set, error) { return good, errors.New("it is half down") }, stays, "jira__move_card got {}", einolean.KindSourceFailed},
		{"no set", func(context.Context) (*toolset.Set, error) { return nil, nil }, "own tool_search", "There is no tool named", einolean.KindCatalogChanged},
		{"names that are taken", func(context.Context) (*toolset.Set, error) { return clash, nil }, stays, "jira__move_card got {}", einolean.KindToolRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked, events := 0, &recorder{}
			s, _ := liveScene[M](t, streaming)
			s.cfg.DynamicTools = []tool.BaseTool{echoTool(0, "dynamic")}
			s.cfg.OnEvent = events.record
			s.cfg.Source = sourceFunc(func(ctx context.Context) (*toolset.Set, error) {
				if asked++; asked <= 2 { // the start of the run, and its first model call
					return good, nil
				}
				return c.late(ctx)
			})
			p := s.begin(oneCall("1", "tool_search", `{"query":"select:jira__move_card"}`), oneCall("2", "jira__move_card", "{}"), oneCall("3", "own", `{}`), oneCall("4", "dynamic", `{}`))
			require.Contains(t, p.answer(t, "2"), c.answer)
			require.Equal(t, "echo {}", p.answer(t, "3"), "the agent's own tool")
			require.Contains(t, p.answer(t, "4"), "did not run", "the dynamic tool is hidden")
			require.Equal(t, c.tools, strings.Split(p.tools(), "\n")[3])
			require.Contains(t, events.kinds(), c.kind)
			requireNoSlots(t, p)
		})
	}
}

// sourceFunc is a Source of a function.
type sourceFunc func(context.Context) (*toolset.Set, error)

func (f sourceFunc) Tools(ctx context.Context) (*toolset.Set, error) { return f(ctx) }

// A Source that hangs costs a run two seconds, once: while it has not answered it is not
// asked again, and no goroutine is added to the first.
func TestSource_HangingSourceIsAwaitedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		release := make(chan struct{})
		s, _ := liveScene[*schema.Message](t, false)
		s.cfg.Source = sourceFunc(func(context.Context) (*toolset.Set, error) {
			asked.Add(1)
			<-release
			return nil, nil
		})
		p := s.begin(oneCall("1", "own", "{}"), oneCall("2", "own", "{}"))
		require.Len(t, p.wires, 3)
		require.EqualValues(t, 1, asked.Load())
		close(release)
		synctest.Wait()
	})
}

//claim:mcp-18
func TestSource_SearchReportsMissingServers(t *testing.T) {
	adktest.Both(t, testSourceSearchReportsMissingServers[*schema.Message], testSourceSearchReportsMissingServers[*schema.AgenticMessage])
}

func testSourceSearchReportsMissingServers[M adk.MessageType](t *testing.T, streaming bool) {
	const text = "Not available at the moment are all tools of: jira-cloud."
	for _, c := range []struct {
		protocol        toolsearch.Protocol
		tool            string
		none, it, other string // arguments that find nothing, that name the server, and neither
	}{
		{toolsearch.Keyword, "tool_search", `{"query":"xylophone"}`, `{"query":"create an issue in Jira Cloud"}`, `{"query":"create issue"}`},
		{toolsearch.Keyword, "tool_search", `{"query":"select:xylophone"}`, `{"query":"select:jira_cloud__create_issue,github__create_issue"}`, `{"query":"select:github__create_issue"}`},
		{toolsearch.Regexp, "tool_search", `{"regex_pattern":"^xylophone"}`, `{"regex_pattern":"jira-cloud|github__create"}`, `{"regex_pattern":"create"}`},
		{toolsearch.SearchLoad, "search_tools", `{"query":"xylophone"}`, `{"query":"jira-cloud create issue"}`, `{"query":"create issue"}`},
		{toolsearch.SearchLoad, "load_tool", `{"tool_name":"xylophone"}`, `{"tool_name":"jira_cloud__create_issue"}`, `{"tool_name":"github__create_issue"}`},
		{toolsearch.SearchCall, "tool_search", `{"query":"xylophone"}`, `{"query":"jira-cloud create issue"}`, `{"query":"create issue"}`},
	} {
		set, err := toolset.New(t.Context(), officeTools()...)
		require.NoError(t, err)
		source := toolset.Multi(partial{set, []string{"jira-cloud", "", "jira-cloud"}}, set, partial{Source: set}, partial{set, []string{"jira-cloud"}})
		s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: source, Protocol: c.protocol}}
		p := s.begin(oneCall("none", c.tool, c.none), oneCall("it", c.tool, c.it), oneCall("other", c.tool, c.other))
		require.Contains(t, p.answer(t, "none"), text, c)
		require.Contains(t, p.answer(t, "it"), text, c)
		require.NotContains(t, p.answer(t, "other"), "Not available", c)
	}
}

// partial is a Source that lacks servers.
type partial struct {
	toolset.Source
	lacks []string
}

func (p partial) Tools(ctx context.Context) (*toolset.Set, error) {
	if p.lacks == nil {
		panic("boom")
	}
	set, _ := p.Source.Tools(ctx)
	return set, fmt.Errorf("not all is well: %w", &toolset.Missing{Servers: p.lacks, Err: errors.New("connection refused")})
}

func TestSource_NoCallEndsRunWhileItFails(t *testing.T) {
	adktest.Both(t, testSourceNoCallEndsRunWhileItFails[*schema.Message], testSourceNoCallEndsRunWhileItFails[*schema.AgenticMessage])
}

func testSourceNoCallEndsRunWhileItFails[M adk.MessageType](t *testing.T, streaming bool) {
	searching := map[string]toolsearch.Config{
		"keyword": {Protocol: toolsearch.Keyword}, "regexp": {Protocol: toolsearch.Regexp},
		"search and load": {Protocol: toolsearch.SearchLoad}, "search and call": {Protocol: toolsearch.SearchCall},
		"native": {UseModelToolSearch: true},
	}
	visible := map[string]func(*toolsearch.Config){
		"hidden":         func(*toolsearch.Config) {},
		"hide above":     func(c *toolsearch.Config) { c.MinTokensToHide = 100_000 },
		"always visible": func(c *toolsearch.Config) { c.AlwaysVisible = []string{"files__*"} },
	}
	every := 1 // under the race detector and with -short, a sample: each case is a run of its own
	switch {
	case race.Enabled:
		every = 101
	case testing.Short():
		every = 11
	}
	n := 0
	for past, history := range historiesOfCalls[M]() {
		for by, cfg := range searching {
			for seen, show := range visible {
				for _, steps := range stepSequences() {
					if n++; n%every != 0 {
						continue
					}
					s := scene[M]{t: t, streaming: streaming, cfg: cfg}
					show(&s.cfg)
					source := &steppedSource{steps: steps}
					s.cfg.Source = source
					s.callAnyName(source, past, history, fmt.Sprintf("%s, %s, %s, %v", past, by, seen, steps))
				}
			}
		}
	}
}

// The tools of the source that the tests ask for, and names that are not of any tool.
const (
	readTool     = "files__read"
	olderTool    = "files__old_read"
	inventedTool = "functions.invent"
)

// A sourceStep is what a source does when it is asked once.
type sourceStep string

const (
	stepOK      sourceStep = "ok"
	stepFails   sourceStep = "fails"
	stepMissing sourceStep = "missing" // one server is down: the set lacks its tools
	stepEmpty   sourceStep = "empty"
)

// steppedSource is a source that goes through steps, and then repeats the last one.
type steppedSource struct {
	steps []sourceStep
	asked int
}

func (s *steppedSource) Tools(ctx context.Context) (*toolset.Set, error) {
	step := s.steps[min(s.asked, len(s.steps)-1)]
	s.asked++
	switch step {
	case stepFails:
		return nil, errors.New("connection refused")
	case stepMissing:
		set, err := toolset.New(ctx, echoTool(0, "mail__send"))
		return set, errors.Join(err, &toolset.Missing{Servers: []string{"files"}})
	case stepEmpty:
		return nil, nil
	}
	return toolset.New(ctx, echoTool(0, "mail__send"), echoTool(0, readTool))
}

// answersTo returns the names that get an answer in the model's n-th answer: any name if the source has failed by
// then, and otherwise those of tools that it had or, if it was empty, that the history calls.
func (s *steppedSource) answersTo(n int, past string) (names []string) {
	var seen []sourceStep
	for i := range n + 2 {
		seen = append(seen, s.steps[min(i, len(s.steps)-1)])
	}
	wasEmpty := slices.Contains(seen, stepEmpty)
	if slices.Contains(seen, stepFails) || slices.Contains(seen, stepMissing) {
		return []string{readTool, olderTool, inventedTool, "call_tool", "load_tool"}
	}
	if past != "empty" || slices.Contains(seen, stepOK) {
		names = append(names, readTool)
	}
	if past == "older" && wasEmpty {
		names = append(names, olderTool)
	}
	return names
}

// stepSequences returns every sequence of one to three steps.
func stepSequences() (all [][]sourceStep) {
	last := [][]sourceStep{nil}
	for range 3 {
		var next [][]sourceStep
		for _, begun := range last {
			for _, step := range []sourceStep{stepOK, stepFails, stepMissing, stepEmpty} {
				next = append(next, append(begun[:len(begun):len(begun)], step))
			}
		}
		all, last = append(all, next...), next
	}
	return all
}

// historiesOfCalls are conversations that earlier processes had, by what they hold.
func historiesOfCalls[M adk.MessageType]() map[string][]M {
	ask, again := adktest.User[M]("please"), adktest.User[M]("again")
	round := func(id, name, args, result string) []M {
		return []M{adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: name, Args: args}), adktest.Result[M](id, name, result)}
	}
	joined := func(rounds ...[]M) []M {
		msgs := []M{ask}
		for _, r := range rounds {
			msgs = append(msgs, r...)
		}
		return append(msgs, adktest.Assistant[M]("done"), again)
	}
	read := round("h2", readTool, "{}", "read")
	return map[string][]M{
		"empty":   {ask},
		"found":   joined(round("h1", "tool_search", `{"query":"select:`+readTool+`"}`, `{"matches":["`+readTool+`"]}`), read),
		"called":  joined(read),
		"loaded":  joined(round("h1", "load_tool", `{"tool_name":"`+readTool+`"}`, `{"loaded":["`+readTool+`"]}`), read),
		"by call": joined(round("h1", "call_tool", `{"name":"`+readTool+`","arguments":{}}`, "read")),
		"older":   joined(round("h1", olderTool, "{}", "read"), read),
	}
}

// callAnyName plays two answers that call a tool of the source and, while it fails, names that are of no tool.
func (s scene[M]) callAnyName(source *steppedSource, past string, history []M, which string) {
	var turns []adktest.Turn
	for n := range 2 {
		calls := []adktest.ToolCall{{ID: fmt.Sprint("own", n), Name: "own", Args: "{}"}}
		for _, name := range source.answersTo(n, past) {
			calls = append(calls, adktest.ToolCall{ID: fmt.Sprint(name, n), Name: name, Args: `{"name":"files__read","arguments":{}}`})
		}
		turns = append(turns, adktest.Do(calls...))
	}
	p := s.try(history, turns...)
	require.NoError(s.t, p.Err, which)
	require.Equal(s.t, "done", p.Answer(), which)
	for n, turn := range turns {
		for _, c := range turn.Calls {
			answer := p.answer(s.t, c.ID)
			ok := strings.Contains(answer, " got {") || strings.Contains(answer, "did not run") || strings.Contains(answer, "There is no tool named") ||
				strings.Contains(answer, `"hint"`) || strings.Contains(answer, `"loaded"`) || c.Name == "own"
			require.True(s.t, ok, "%s: answer %d to %s: %s", which, n, c.Name, answer)
		}
	}
	requireNoSlots(s.t, p)
}

// The answer says which tools are missing for now, so that the model neither searches for them nor gives up.
func TestSource_AnswerReportsServersDown(t *testing.T) {
	adktest.Both(t, testSourceAnswerReportsServersDown[*schema.Message], testSourceAnswerReportsServersDown[*schema.AgenticMessage])
}

func testSourceAnswerReportsServersDown[M adk.MessageType](t *testing.T, streaming bool) {
	for step, want := range map[sourceStep]string{
		stepFails:   "Some tools are not available at the moment",
		stepMissing: "Not available at the moment are all tools of: files.",
	} {
		s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: &steppedSource{steps: []sourceStep{step}}}}
		p := s.play(historiesOfCalls[M]()["called"], oneCall("1", readTool, "{}"))
		require.Contains(t, p.answer(t, "1"), `There is no tool named "`+readTool+`".`)
		require.Contains(t, p.answer(t, "1"), want)
	}
	s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: &steppedSource{steps: []sourceStep{stepFails, stepFails, stepOK}}}}
	p := s.play(historiesOfCalls[M]()["called"], oneCall("1", readTool, "{}"), oneCall("2", olderTool, "{}"), oneCall("3", readTool, "{}"))
	require.Contains(t, p.answer(t, "1"), "not available at the moment")
	require.NotContains(t, p.answer(t, "2"), "not available at the moment", "all servers answer again")
	require.Contains(t, p.answer(t, "3"), readTool+" got {}")
}

// A run is resumed while the server is down: calls that wait, and those that the checkpoint does not know.
func TestSource_ResumesWhileItFails(t *testing.T) {
	adktest.Both(t, testSourceResumesWhileItFails[*schema.Message], testSourceResumesWhileItFails[*schema.AgenticMessage])
}

func testSourceResumesWhileItFails[M adk.MessageType](t *testing.T, streaming bool) {
	ctx := context.Background()
	for _, before := range []sourceStep{stepOK, stepFails, stepMissing} {
		for _, after := range []sourceStep{stepOK, stepFails, stepMissing, stepEmpty} {
			t.Run(fmt.Sprint(before, " then ", after), func(t *testing.T) {
				pays := adktest.Tool(0, &schema.ToolInfo{Name: "pays", Desc: "Pays"}, askApproval)
				s := scene[M]{t: t, streaming: streaming, store: &adktest.Store{}, mine: []tool.BaseTool{pays}}
				s.cfg = toolsearch.Config{Source: &steppedSource{steps: []sourceStep{before}}, AlwaysVisible: []string{"*"}}
				agent, _ := s.agent(adktest.Do(adktest.ToolCall{ID: "a", Name: readTool, Args: "{}"}, adktest.ToolCall{ID: "b", Name: "pays", Args: "{}"}))
				first := agent.Run(ctx, []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"))
				require.NoError(t, first.Err)
				require.NotNil(t, first.Interrupted)

				s.cfg.Source = &steppedSource{steps: []sourceStep{after}}
				agent, _ = s.agent(oneCall("c", readTool, "{}"))
				second := resumeApproved(t, agent, first)
				require.Equal(t, "done", second.Answer())
			})
		}
	}
}

// The source loses a tool between the model's call and the call's turn.
func TestSource_LosesToolWhileModelAnswers(t *testing.T) {
	adktest.Both(t, testSourceLosesToolWhileModelAnswers[*schema.Message], testSourceLosesToolWhileModelAnswers[*schema.AgenticMessage])
}

func testSourceLosesToolWhileModelAnswers[M adk.MessageType](t *testing.T, streaming bool) {
	for _, after := range []sourceStep{stepFails, stepMissing, stepEmpty} {
		source := &steppedSource{steps: []sourceStep{stepOK}}
		s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: source, AlwaysVisible: []string{"*"}}}
		agent, m := s.agent()
		m.Respond = func(n int, _ adktest.Wire[M]) adktest.Turn {
			if n == 3 {
				return adktest.Say("done")
			}
			source.steps, source.asked = []sourceStep{after}, 0
			return oneCall(fmt.Sprint(n), readTool, "{}")
		}
		out := agent.Run(context.Background(), []M{adktest.User[M]("please")})
		require.NoError(t, out.Err, after)
		require.Equal(t, "done", out.Answer(), after)
	}
}

// An alias that has worked in this process goes on to work while the source fails.
func TestSource_AliasesWorkWhileItFails(t *testing.T) {
	adktest.Both(t, testSourceAliasesWorkWhileItFails[*schema.Message], testSourceAliasesWorkWhileItFails[*schema.AgenticMessage])
}

func testSourceAliasesWorkWhileItFails[M adk.MessageType](t *testing.T, streaming bool) {
	for name, form := range adktest.Forms {
		var isDown atomic.Bool
		source := sourceFunc(func(ctx context.Context) (*toolset.Set, error) {
			if isDown.Load() {
				return nil, errors.New("connection refused")
			}
			return toolset.New(ctx, echoTool(form, readTool))
		})
		s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: source, AllowUnloadedCalls: true, ExactToolNames: true}, mine: []tool.BaseTool{echoTool(form, "mine")}}
		agent, m := s.agent()
		agent.Configure = func(c *adk.TypedChatModelAgentConfig[M]) {
			c.ToolsConfig.ToolAliases = map[string]compose.ToolAliasConfig{"mine": {NameAliases: []string{"also_mine"}}, readTool: {NameAliases: []string{"read"}}}
		}
		m.Respond = func(n int, _ adktest.Wire[M]) adktest.Turn {
			if n%2 == 1 {
				return adktest.Say("done")
			}
			return adktest.Do(adktest.ToolCall{ID: "a", Name: "also_mine", Args: "{}"}, adktest.ToolCall{ID: "b", Name: "read", Args: "{}"})
		}
		history := []M{adktest.User[M]("please")}
		for _, down := range []bool{false, true} {
			isDown.Store(down)
			out := agent.Run(context.Background(), history)
			require.NoError(t, out.Err, "%s, down %v", name, down)
			p := sceneResult[M]{out, m.Wires(), nil}
			require.Equal(t, "mine got {}", p.answer(t, "a"), "%s, down %v", name, down)
			if down {
				require.Contains(t, p.answer(t, "b"), `There is no tool named "read"`)
			} else {
				require.Equal(t, readTool+" got {}", p.answer(t, "b"))
			}
		}
	}
}

func TestSource_ToolMayReturnDirectly(t *testing.T) {
	adktest.Both(t, testSourceToolMayReturnDirectly[*schema.Message], testSourceToolMayReturnDirectly[*schema.AgenticMessage])
}

func testSourceToolMayReturnDirectly[M adk.MessageType](t *testing.T, streaming bool) {
	s, source := liveScene[M](t, streaming)
	source.have(echoTool(0, "final"))
	agent, m := s.agent(oneCall("1", "final", "{}"))
	agent.Configure = func(cfg *adk.TypedChatModelAgentConfig[M]) {
		cfg.ToolsConfig.ReturnDirectly = map[string]bool{"final": true}
	}
	out := agent.Run(context.Background(), []M{adktest.User[M]("please")})
	require.NoError(t, out.Err)
	require.Len(t, m.Wires(), 1)
	require.Equal(t, "final got {}", adktest.Results(out.Messages[len(out.Messages)-1])[0].Args)
}

// A tool of which there is another one by the time that it is called is gated like any other.
func TestSource_ReplacedToolIsGated(t *testing.T) {
	adktest.Both(t, testSourceReplacedToolIsGated[*schema.Message], testSourceReplacedToolIsGated[*schema.AgenticMessage])
}

func testSourceReplacedToolIsGated[M adk.MessageType](t *testing.T, streaming bool) {
	s, source := liveScene[M](t, streaming)
	version := func(n int) tool.BaseTool {
		return adktest.Tool(0, &schema.ToolInfo{Name: "a", Desc: fmt.Sprintf("Version %d", n)}, func(context.Context, string) (string, error) {
			return fmt.Sprintf("version %d ran", n), nil
		})
	}
	source.have(version(1))
	s.mine = []tool.BaseTool{actionTool("update", func() { source.have(version(2)) })}
	p := s.begin(oneCall("1", "update", "{}"), oneCall("2", "a", "{}"), oneCall("3", "a", "{}"), oneCall("4", "update", "{}"), oneCall("5", "a", "{}"))
	require.Contains(t, p.answer(t, "2"), "did not run")
	require.Equal(t, "version 2 ran", p.answer(t, "3"))
	require.Equal(t, "Version 2", p.wires[2].Tools[3].Desc)
	require.Equal(t, "version 2 ran", p.answer(t, "5"))
}

// The new definition of a loaded tool takes the place of the old one.
func TestSource_NewDefinitionReplacesOld(t *testing.T) {
	adktest.Both(t, testSourceNewDefinitionReplacesOld[*schema.Message], testSourceNewDefinitionReplacesOld[*schema.AgenticMessage])
}

func testSourceNewDefinitionReplacesOld[M adk.MessageType](t *testing.T, streaming bool) {
	s, source := liveScene[M](t, streaming)
	describe := func(desc string) tool.BaseTool { return adktest.Simple("a", desc) }
	source.have(describe("old"), adktest.Simple("b", "other"))
	s.mine = []tool.BaseTool{actionTool("update", func() { source.have(describe("new"), adktest.Simple("b", "other")) })}
	p := s.begin(oneCall("1", "tool_search", `{"query":"select:a,b"}`), oneCall("2", "update", "{}"))
	require.Equal(t, "own update tool_search a b", strings.Split(p.tools(), "\n")[2])
	require.Equal(t, "old", p.wires[1].Tools[3].Desc)
	require.Equal(t, "new", p.wires[2].Tools[3].Desc)
}

// What was loaded is loaded again when it is back.
func TestSource_ReturningToolStaysLoaded(t *testing.T) {
	adktest.Both(t, testSourceReturningToolStaysLoaded[*schema.Message], testSourceReturningToolStaysLoaded[*schema.AgenticMessage])
}

func testSourceReturningToolStaysLoaded[M adk.MessageType](t *testing.T, streaming bool) {
	s, source := liveScene[M](t, streaming)
	both := []tool.BaseTool{echoTool(0, "a"), echoTool(0, "b")}
	source.have(both...)
	s.mine = []tool.BaseTool{actionTool("stop", func() { source.have() }), actionTool("start", func() { source.have(both...) })}
	p := s.begin(oneCall("1", "tool_search", `{"query":"select:a"}`), oneCall("2", "stop", "{}"), oneCall("3", "start", "{}"), oneCall("4", "a", "{}"))
	require.Equal(t, "own stop start tool_search\nown stop start tool_search a\nown stop start tool_search\nown stop start tool_search a\nown stop start tool_search a", p.tools())
	require.Equal(t, "a got {}", p.answer(t, "4"))
}

//claim:eino-02
func TestSource_EagerToolExecution(t *testing.T) {
	adktest.Both(t, testSourceEagerToolExecution[*schema.Message], testSourceEagerToolExecution[*schema.AgenticMessage])
}

func testSourceEagerToolExecution[M adk.MessageType](t *testing.T, streaming bool) {
	known := func(name string) tool.BaseTool {
		return kindly{adktest.Simple(name, "does "+name).(tool.InvokableTool), "type of " + name}
	}
	for name, c := range map[string]struct {
		protocol toolsearch.Protocol
		tools    int
	}{
		"few":     {toolsearch.Keyword, 2},
		"many":    {toolsearch.Keyword, 600},
		"regexp":  {toolsearch.Regexp, 600},
		"load":    {toolsearch.SearchLoad, 600},
		"joining": {toolsearch.Keyword, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var tools []tool.BaseTool
			for i := range c.tools {
				tools = append(tools, known(fmt.Sprintf("tool_%03d", i)))
			}
			source, last := &changingSource{}, c.tools-1
			s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{DynamicTools: tools, Source: source, Protocol: c.protocol, AllowUnloadedCalls: true}}
			s.mine = []tool.BaseTool{kindly{actionTool("connect", func() { source.have(known("tool_joined")) }).(tool.InvokableTool), "mine"}}
			var listed []tool.BaseTool
			e := &eager[M]{list: &listed}
			s.around = adktest.Handlers[M](e)
			s.behind = adktest.Handlers[M](einorun.New(&toolCallRecorder[M]{before: func(tools []tool.BaseTool) { listed = tools }}))
			a, b := "tool_000", fmt.Sprintf("tool_%03d", last)
			turns := []adktest.Turn{oneCall("1", "connect", "{}"), adktest.Do(toolCall("2", b), toolCall("3", a), toolCall("4", b))}
			want := []string{"connect: mine", b + ": type of " + b, a + ": type of " + a, b + ": type of " + b}
			if name == "joining" {
				turns = append(turns, adktest.Do(toolCall("5", "tool_joined"), toolCall("6", a)))
				want = append(want, "tool_joined: type of tool_joined", a+": type of "+a)
			}
			p := s.begin(turns...)
			require.Equal(t, want, e.met)
			require.Contains(t, p.answer(t, "4"), "echo")
			requireNoSlots(t, p)
		})
	}
}

// eager is an agent's part that looks up each call as soon as its name passes, as an Eino would that
// does not wait for the end of an answer. As the first handler it sees answers as the agent does;
// list is behind all others.
type eager[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	list *[]tool.BaseTool
	mu   sync.Mutex
	met  []string // "name: of the tool that has it"
}

func (e *eager[M]) WrapModel(_ context.Context, m model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	return &eagerModel[M]{m, e}, nil
}

// findTools finds the tool of each call that a chunk begins.
func (e *eager[M]) findTools(ctx context.Context, chunk M) {
	for _, c := range adktest.Calls(chunk) {
		if c.Name == "" {
			continue
		}
		found := "nobody"
		for _, t := range *e.list {
			if info, err := t.Info(ctx); err == nil && info.Name == c.Name {
				found = t.(interface{ GetType() string }).GetType()
			}
		}
		e.mu.Lock()
		e.met = append(e.met, c.Name+": "+found)
		e.mu.Unlock()
	}
}

type eagerModel[M adk.MessageType] struct {
	model.BaseModel[M]
	of *eager[M]
}

func (m *eagerModel[M]) Generate(ctx context.Context, in []M, o ...model.Option) (M, error) {
	out, err := m.BaseModel.Generate(ctx, in, o...)
	if err == nil {
		m.of.findTools(ctx, out)
	}
	return out, err
}

func (m *eagerModel[M]) Stream(ctx context.Context, in []M, o ...model.Option) (*schema.StreamReader[M], error) {
	out, err := m.BaseModel.Stream(ctx, in, o...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderWithConvert(out, func(chunk M) (M, error) { m.of.findTools(ctx, chunk); return chunk, nil }), nil
}

// kindly is a tool with a type of its own.
type kindly struct {
	tool.InvokableTool
	typ string
}

func (k kindly) GetType() string { return k.typ }
