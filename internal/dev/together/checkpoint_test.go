// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/programtest"
	"github.com/einolean/einolean/internal/formats"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolerror"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// A run that an earlier build has interrupted continues in this one: nothing runs twice, and found tools
// are there. The samples are of package formats.
func TestCheckpoint_OfAnotherBuildContinues(t *testing.T) {
	adktest.EachType(t, goOn[message]("plain"), goOn[agenticMessage]("agentic"))
}

func goOn[M adk.MessageType](kind string) func(t *testing.T) {
	return func(t *testing.T) {
		stops := map[string]stop[M]{"checkpoint-" + kind: inAProgram[M](), "checkpoint-failed-" + kind: withAFailure[M]()}
		stops["checkpoint-all-"+kind] = withNothingHidden[M]()
		stops["checkpoint-references-"+kind] = withAReference[M]()
		for _, p := range protocols() {
			stops["checkpoint-loaded-"+strings.ToLower(p.name)+"-"+kind] = withLoadedTools[M](p)
		}
		for _, name := range slices.Sorted(maps.Keys(stops)) {
			t.Run(name, stops[name].goesOn(name))
		}
	}
}

// stop is a run that stops where a tool asks a question, and what it does once it goes on.
type stop[M adk.MessageType] struct {
	history       []M
	before, after []adktest.Turn
	handlers      func(t *testing.T, ran *adktest.Ran) []handler[M]
	tools         []tool.BaseTool // more than approve and shell
	narrow        bool            // the model refuses the last request before the question
	ran           int             // tools, after the question
	reminders     int
	check         func(t *testing.T, requests []adktest.Wire[M])
}

func (s stop[M]) goesOn(name string) func(t *testing.T) {
	return func(t *testing.T) {
		samples := formats.Samples(t, name, ".txt", func() string { return s.checkpoint(t) })
		for name, saved := range samples {
			var kept adktest.Store
			require.NoError(t, kept.Set(t.Context(), "x", []byte(saved)))
			model, ran := adktest.Script[M](append(s.after, adktest.Say("the answer"))...), adktest.Ran{}
			it, err := s.runner(t, model, &ran, &kept, nil).Resume(t.Context(), "x")
			require.NoError(t, err, name)
			out := adktest.Collect(it)
			require.NoError(t, out.Err, name)
			require.Equal(t, "the answer", out.Answer(), name)
			require.Len(t, ran.Times(), s.ran, "%s: only what had not run runs", name)
			wires := model.Wires()
			s.check(t, wires)
			require.Equal(t, s.reminders, strings.Count(strings.Join(wires[0].MessagesDump, "\n"), "</available-deferred-tools>"), name)
		}
	}
}

// checkpoint is what is kept of the run where it stops.
func (s stop[M]) checkpoint(t *testing.T) string {
	model, kept := adktest.Script[M](s.before...), &adktest.Store{}
	refuse := func([]M) error { return nil }
	if s.narrow {
		refused := false
		refuse = func([]M) error {
			if was := refused; was || len(model.Wires()) < len(s.before)-1 {
				return nil
			}
			refused = true
			return errors.New("this model's maximum context length is 1000 tokens. However, your messages resulted in 9100 tokens.")
		}
	}
	out := adktest.Collect(s.runner(t, model, &adktest.Ran{}, kept, refuse).Run(t.Context(), append(s.history, adktest.User[M]("look")), adk.WithCheckPointID("x")))
	require.NoError(t, out.Err)
	require.NotNil(t, out.Interrupted)
	saved, _, err := kept.Get(t.Context(), "x")
	require.NoError(t, err)
	return string(saved)
}

func (s stop[M]) runner(t *testing.T, m *adktest.Model[M], ran *adktest.Ran, kept *adktest.Store, refuse func([]M) error) *adk.TypedRunner[M] {
	tools := append([]tool.BaseTool{shell(ran), approve("approve", "asks a person", ran)}, s.tools...)
	agent := adktest.Agent[M]{Model: m, Tools: tools, Store: kept, Handlers: s.handlers(t, ran)}
	if refuse != nil {
		agent.Configure = func(c *adk.TypedChatModelAgentConfig[M]) { c.Model = &adktest.Narrow[M]{Model: m, Refuse: refuse} }
	}
	runner, err := agent.Runner(t.Context())
	require.NoError(t, err)
	return runner
}

func shell(ran *adktest.Ran) tool.BaseTool {
	return adktest.Tool(adktest.Invokable, &schemaInfo{Name: "shell", Desc: "says something"}, func(ctx context.Context, _ string) (string, error) {
		return "what the shell says", ran.Add(ctx)
	})
}

// approve asks a question.
func approve(name, desc string, ran *adktest.Ran) tool.BaseTool {
	return adktest.Tool(adktest.Invokable, &schemaInfo{Name: name, Desc: desc}, func(ctx context.Context, _ string) (string, error) {
		if was, _, _ := tool.GetInterruptState[any](ctx); !was {
			return "", tool.Interrupt(ctx, "may I?")
		}
		return "yes", ran.Add(ctx)
	})
}

func runCode(id, code string) adktest.Turn {
	return adktest.Do(adktest.ToolCall{ID: id, Name: "run_code", Args: arguments(map[string]any{"code": code})})
}

// find loads a hidden tool, by its exact name.
func find(name string) adktest.Turn {
	return adktest.Do(adktest.ToolCall{ID: "load", Name: "tool_search", Args: arguments(map[string]any{"query": "select:" + name})})
}

// withPrograms are programs, a search and a reduction as they are recommended.
func withPrograms[M adk.MessageType](in programtest.Programs) func(t *testing.T, _ *adktest.Ran) []handler[M] {
	return func(t *testing.T, _ *adktest.Ran) []handler[M] {
		first, err := programs.NewTyped[M](t.Context(), &programs.Config{Interpreter: in})
		require.NoError(t, err)
		failures, err := toolerror.NewTyped[M](t.Context(), nil)
		require.NoError(t, err)
		search := searchOf[M](t, toolsearch.Config{DynamicTools: dynamicTools()})
		return adktest.Handlers(first, failures, search, reductionOf(t, *reduction.RecommendedTyped[M](store.NewMemory(0))))
	}
}

// inAProgram stops inside a program, with a hidden tool found.
func inAProgram[M adk.MessageType]() stop[M] {
	in := programtest.Programs{"p": func(p *programtest.Program) {
		first := p.Call(`shell {"n":1}`)[0].Text
		p.Print(first + ", " + p.Call("approve {}")[0].Text)
	}, "q": func(p *programtest.Program) { p.Print(p.Call(names()[7] + " {}")[0].Text) }}
	return stop[M]{
		before: []adktest.Turn{find(names()[7]), runCode("p", "p")}, after: []adktest.Turn{runCode("use", "q")},
		handlers: withPrograms[M](in), ran: 1, reminders: 1,
		check: func(t *testing.T, requests []adktest.Wire[M]) {
			require.Contains(t, resultIn(requests[0].Messages, "p"), "what the shell says, yes")
			require.Contains(t, resultIn(requests[1].Messages, "use"), "echo", "what had been found can be called")
		},
	}
}

// withAFailure stops inside a program of which another call has failed, in a conversation that has the ids
// of its calls already.
func withAFailure[M adk.MessageType]() stop[M] {
	in := programtest.Programs{"p": func(p *programtest.Program) {
		both := p.Call("broken {}", "approve {}")
		p.Print(map[bool]string{true: "failed, ", false: "ran, "}[both[0].Failed] + both[1].Text)
	}}
	return stop[M]{
		history: []M{adktest.User[M]("begin"), adktest.Assistant[M]("", adktest.ToolCall{ID: "p.1", Name: "shell", Args: "{}"}), adktest.Result[M]("p.1", "shell", "before"), adktest.Assistant[M]("done")},
		before:  []adktest.Turn{find(names()[7]), runCode("p", "p")}, handlers: withPrograms[M](in), ran: 1, reminders: 1,
		tools: []tool.BaseTool{adktest.Tool(adktest.Invokable, &schemaInfo{Name: "broken", Desc: "fails"}, func(context.Context, string) (string, error) {
			return "", errors.New("broken")
		})},
		check: func(t *testing.T, requests []adktest.Wire[M]) {
			require.Contains(t, resultIn(requests[0].Messages, "p"), "failed, yes")
			require.Equal(t, "before", resultIn(requests[0].Messages, "p.1"))
		},
	}
}

// withLoadedTools stops in a hidden tool that a search has loaded, in an agent whose model has refused a request.
func withLoadedTools[M adk.MessageType](p protocol) stop[M] {
	asking := names()[8]
	use, ask, again := useOf(p), useOf(p), useOf(p)
	ask.ID, ask.Name, ask.Args = "ask", strings.Replace(ask.Name, names()[7], asking, 1), strings.Replace(ask.Args, names()[7], asking, 1)
	again.ID = "again"
	s := stop[M]{narrow: true, ran: 1, reminders: 1, tools: []tool.BaseTool{big()}}
	for _, c := range p.load {
		s.before = append(s.before, adktest.Do(c))
	}
	s.before = append(s.before, adktest.Do(adktest.ToolCall{ID: "big", Name: "big", Args: "{}"}, use), adktest.Do(ask))
	s.after = []adktest.Turn{adktest.Do(again)}
	s.handlers = func(t *testing.T, ran *adktest.Ran) []handler[M] {
		hidden := dynamicTools()
		hidden[7] = adktest.Tool(adktest.Invokable, &schemaInfo{Name: names()[7], Desc: "updates an item of the issue tracker", Extra: map[string]any{
			"_eino_claude_breakpoint": true, "_eino_claude_breakpoint_ttl": "1h", "_agenticclaude_cache_control_ttl": "1h",
			toolset.PhrasesKey: "change a ticket", toolset.OutputSchemaKey: `{"type":"string"}`, "skill_tools": []string{names()[6]},
		}}, adktest.Echo)
		hidden[8] = approve(asking, "updates an item of the issue tracker, if a person says so", ran)
		cfg := toolsearch.Config{DynamicTools: hidden, Protocol: p.set, MaxResults: many}
		if p.shows {
			cfg.UnloadAfter = 20
		}
		reduce := reductionOf(t, reduction.TypedConfig[M]{Backend: store.NewMemory(0), MaxLengthForTrunc: 100_000, MaxTokensForClear: 100_000, Overflow: reduction.ParseOverflow})
		return adktest.Handlers(searchOf[M](t, cfg), reduce)
	}
	s.check = func(t *testing.T, requests []adktest.Wire[M]) {
		for _, r := range requests {
			visible(t, p, r, "after the question")
			require.Equal(t, "yes", resultIn(r.Messages, "ask"))
			require.Contains(t, resultIn(r.Messages, "use"), "echo")
			require.Contains(t, resultIn(r.Messages, "big"), "persisted-output")
		}
		require.Contains(t, resultIn(requests[1].Messages, "again"), "echo", "what had been found can be called")
	}
	return s
}

// withAReference stops in a tool whose argument is the path of a stored result: it gets the content before and after.
func withAReference[M adk.MessageType]() stop[M] {
	content := strings.Repeat("a line\n", 2000)
	fetch := adktest.Tool(adktest.Invokable, &schemaInfo{Name: "fetch", Desc: "fetches"},
		func(context.Context, string) (string, error) { return content, nil })
	return stop[M]{
		before: []adktest.Turn{
			adktest.Do(adktest.ToolCall{ID: "page", Name: "fetch", Args: "{}"}),
			adktest.Do(adktest.ToolCall{ID: "keep", Name: "save", Args: `{"text":"/tmp/trunc/page"}`}),
		},
		ran: 1, tools: []tool.BaseTool{fetch},
		handlers: func(t *testing.T, ran *adktest.Ran) []handler[M] {
			files := store.NewMemory(0)
			require.NoError(t, files.Write(t.Context(), &filesystem.WriteRequest{FilePath: "/tmp/trunc/page", Content: content}))
			save := adktest.Tool(adktest.Invokable, &schemaInfo{Name: "save", Desc: "saves"}, func(ctx context.Context, args string) (string, error) {
				if args != `{"text":`+quoted(content)+`}` {
					return "wrong arguments", nil
				}
				if was, _, _ := tool.GetInterruptState[any](ctx); !was {
					return "", tool.Interrupt(ctx, "may I?")
				}
				return "saved", ran.Add(ctx)
			})
			search := searchOf[M](t, toolsearch.Config{DynamicTools: []tool.BaseTool{save}, MinTokensToHide: 1 << 30})
			return adktest.Handlers(search, reductionOf(t, *reduction.RecommendedTyped[M](files)))
		},
		check: func(t *testing.T, requests []adktest.Wire[M]) {
			require.Equal(t, "saved", resultIn(requests[0].Messages, "keep"))
		},
	}
}

// withNothingHidden stops in an agent that had too few tools to hide them.
func withNothingHidden[M adk.MessageType]() stop[M] {
	call := func(id, name string) adktest.Turn {
		return adktest.Do(adktest.ToolCall{ID: id, Name: name, Args: "{}"})
	}
	return stop[M]{
		before: []adktest.Turn{call("use", names()[7]), call("ask", "approve")}, after: []adktest.Turn{call("again", names()[9])}, ran: 1,
		handlers: func(t *testing.T, _ *adktest.Ran) []handler[M] {
			return adktest.Handlers(searchOf[M](t, toolsearch.Config{DynamicTools: dynamicTools(), MinTokensToHide: 1 << 30}))
		},
		check: func(t *testing.T, requests []adktest.Wire[M]) {
			for _, r := range requests {
				require.Subset(t, r.ToolNames, names())
				require.Equal(t, "yes", resultIn(r.Messages, "ask"))
			}
			require.Contains(t, resultIn(requests[1].Messages, "again"), "echo")
		},
	}
}
