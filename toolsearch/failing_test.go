// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Sources that fail, in every order: no call ends a run.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/toolset"
)

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
		set, err := toolset.New(ctx, formed(0, "mail__send"))
		return set, errors.Join(err, &toolset.Missing{Servers: []string{"files"}})
	case stepEmpty:
		return nil, nil
	}
	return toolset.New(ctx, formed(0, "mail__send"), formed(0, readTool))
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

func TestSource_NoCallEndsARunWhileItFails(t *testing.T) {
	everywhere(t, failingSources[*schema.Message], failingSources[*schema.AgenticMessage])
}

func failingSources[M adk.MessageType](t *testing.T, streaming bool) {
	searching := map[string]toolsearch.Config{
		"keyword": {Protocol: toolsearch.Keyword}, "regexp": {Protocol: toolsearch.Regexp},
		"search and load": {Protocol: toolsearch.SearchLoad}, "search and call": {Protocol: toolsearch.SearchCall},
		"native": {UseModelToolSearch: true},
	}
	visible := map[string]func(*toolsearch.Config){
		"hidden":         func(*toolsearch.Config) {},
		"hide above":     func(c *toolsearch.Config) { c.HideAbove = 100_000 },
		"always visible": func(c *toolsearch.Config) { c.AlwaysVisible = []string{"files__*"} },
	}
	n := 0
	for past, history := range historiesOfCalls[M]() {
		for by, cfg := range searching {
			for seen, show := range visible {
				for _, steps := range stepSequences() {
					if n++; testing.Short() && n%11 != 0 {
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
func TestSource_AnswerSaysThatServersAreDown(t *testing.T) {
	everywhere(t, answersWhileDown[*schema.Message], answersWhileDown[*schema.AgenticMessage])
}

func answersWhileDown[M adk.MessageType](t *testing.T, streaming bool) {
	for step, want := range map[sourceStep]string{
		stepFails:   "Some tools are not available at the moment",
		stepMissing: "Not available at the moment are all tools of: files.",
	} {
		s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: &steppedSource{steps: []sourceStep{step}}}}
		p := s.play(historiesOfCalls[M]()["called"], do("1", readTool, "{}"))
		require.Contains(t, p.answer(t, "1"), `There is no tool named "`+readTool+`".`)
		require.Contains(t, p.answer(t, "1"), want)
	}
	s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: &steppedSource{steps: []sourceStep{stepFails, stepFails, stepOK}}}}
	p := s.play(historiesOfCalls[M]()["called"], do("1", readTool, "{}"), do("2", olderTool, "{}"), do("3", readTool, "{}"))
	require.Contains(t, p.answer(t, "1"), "not available at the moment")
	require.NotContains(t, p.answer(t, "2"), "not available at the moment", "all servers answer again")
	require.Contains(t, p.answer(t, "3"), readTool+" got {}")
}

// A run is resumed while the server is down: calls that wait, and those that the checkpoint does not know.
func TestSource_ResumeWhileItFails(t *testing.T) {
	everywhere(t, resumesWhileDown[*schema.Message], resumesWhileDown[*schema.AgenticMessage])
}

func resumesWhileDown[M adk.MessageType](t *testing.T, streaming bool) {
	ctx := context.Background()
	for _, before := range []sourceStep{stepOK, stepFails, stepMissing} {
		for _, after := range []sourceStep{stepOK, stepFails, stepMissing, stepEmpty} {
			t.Run(fmt.Sprint(before, " then ", after), func(t *testing.T) {
				pays := adktest.Tool(0, &schema.ToolInfo{Name: "pays", Desc: "Pays"}, approval)
				s := scene[M]{t: t, streaming: streaming, store: &adktest.Store{}, mine: []tool.BaseTool{pays}}
				s.cfg = toolsearch.Config{Source: &steppedSource{steps: []sourceStep{before}}, AlwaysVisible: []string{"*"}}
				agent, _ := s.agent(adktest.Do(adktest.ToolCall{ID: "a", Name: readTool, Args: "{}"}, adktest.ToolCall{ID: "b", Name: "pays", Args: "{}"}))
				first := agent.Run(ctx, []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"))
				require.NoError(t, first.Err)
				require.NotNil(t, first.Interrupted)

				s.cfg.Source = &steppedSource{steps: []sourceStep{after}}
				agent, _ = s.agent(do("c", readTool, "{}"))
				runner, err := agent.Runner(ctx)
				require.NoError(t, err)
				events, err := runner.ResumeWithParams(ctx, "one", &adk.ResumeParams{Targets: map[string]any{rootCause(first.Interrupted): "yes"}})
				require.NoError(t, err)
				second := adktest.Collect(events)
				require.NoError(t, second.Err)
				require.Equal(t, "done", second.Answer())
			})
		}
	}
}

// The source loses a tool between the model's call and the call's turn.
func TestSource_LosesAToolWhileTheModelAnswers(t *testing.T) {
	everywhere(t, losesCalledTool[*schema.Message], losesCalledTool[*schema.AgenticMessage])
}

func losesCalledTool[M adk.MessageType](t *testing.T, streaming bool) {
	for _, after := range []sourceStep{stepFails, stepMissing, stepEmpty} {
		source := &steppedSource{steps: []sourceStep{stepOK}}
		s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: source, AlwaysVisible: []string{"*"}}}
		agent, m := s.agent()
		m.Respond = func(n int, _ adktest.Wire[M]) adktest.Turn {
			if n == 3 {
				return adktest.Say("done")
			}
			source.steps, source.asked = []sourceStep{after}, 0
			return do(fmt.Sprint(n), readTool, "{}")
		}
		out := agent.Run(context.Background(), []M{adktest.User[M]("please")})
		require.NoError(t, out.Err, after)
		require.Equal(t, "done", out.Answer(), after)
	}
}

// An alias that has worked in this process goes on to work while the source fails.
func TestSource_AliasesWorkWhileItFails(t *testing.T) {
	everywhere(t, aliasesWhileDown[*schema.Message], aliasesWhileDown[*schema.AgenticMessage])
}

func aliasesWhileDown[M adk.MessageType](t *testing.T, streaming bool) {
	for name, form := range adktest.Forms {
		var isDown atomic.Bool
		source := sourceFunc(func(ctx context.Context) (*toolset.Set, error) {
			if isDown.Load() {
				return nil, errors.New("connection refused")
			}
			return toolset.New(ctx, formed(form, readTool))
		})
		s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: source, AllowUnloadedCalls: true}, mine: []tool.BaseTool{formed(form, "mine")}}
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
			p := played[M]{out, m.Wires(), nil}
			require.Equal(t, "mine got {}", p.answer(t, "a"), "%s, down %v", name, down)
			if down {
				require.Contains(t, p.answer(t, "b"), `There is no tool named "read"`)
			} else {
				require.Equal(t, readTool+" got {}", p.answer(t, "b"))
			}
		}
	}
}
