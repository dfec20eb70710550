// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/programtest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

// A model that refuses a request as too long does not end the run: whichever way the agent finds its tools,
// inside Eino's retries and its failover, with programs, and in another process after an interrupt. No
// model call is refused twice, nothing runs twice, and the learned limit holds after the interrupt.
func TestOverflow_TooLongRequestEndsNoRun(t *testing.T) {
	adktest.Both(t, endsNoRun[message], endsNoRun[agenticMessage])
}

const nativeSearch = "native"

func endsNoRun[M adk.MessageType](t *testing.T, streaming bool) {
	ways := append([]protocol{{name: "no search"}}, protocols()...)
	native := ways[1]
	native.name = nativeSearch
	cell, each := 0, 1
	switch { // of the cells, which falls on every row and every column
	case race.Enabled:
		each = 23
	case testing.Short():
		each = 11
	}
	for _, p := range append(ways, native) {
		for _, around := range []string{"nothing", "retry", "failover"} {
			for _, asks := range []bool{false, true} {
				for _, runs := range []bool{false, true} {
					for _, names := range []bool{false, true} {
						if cell++; cell%each != 0 {
							continue
						}
						name := fmt.Sprintf("%s/%s around/programs %v/question %v/size named %v", p.name, around, runs, asks, names)
						t.Run(name, func(t *testing.T) {
							r := &narrowRun[M]{T: t, search: p, around: around, programs: runs, asks: asks, streaming: streaming}
							r.play(names)
						})
					}
				}
			}
		}
	}
}

// narrowRun is a run whose model has a window.
type narrowRun[M adk.MessageType] struct {
	*testing.T
	search                    protocol
	around                    string // the model
	programs, asks, streaming bool

	model       *adktest.Narrow[M]
	ran         adktest.Ran
	files       *store.Memory
	checkpoints adktest.Store
	shortened   int // requests, by the events
	failures    int // that Eino's retries or failover saw
	failed      bool
	said        int // turns
}

const (
	modelWindow = 40_000 // bytes of text
	sparse      = 5      // calls whose results have many tokens
)

// turns are what the model does: it finds a tool and calls it, and then another one that returns much.
func (r *narrowRun[M]) turns() (turns []adktest.Turn) {
	do := func(id, name, args string) {
		call := adktest.ToolCall{ID: id, Name: name, Args: args}
		if r.programs {
			call.Name, call.Args = "run_code", arguments(map[string]any{"code": name + " " + args})
		}
		turns = append(turns, adktest.Do(call))
	}
	for _, c := range r.search.load {
		turns = append(turns, adktest.Do(c))
	}
	if use := useOf(r.search); len(r.search.load) > 0 && r.programs {
		do("use", names()[7], "{}")
	} else if len(r.search.load) > 0 {
		do("use", use.Name, use.Args)
	}
	for i := range 17 {
		if i == 14 && r.asks {
			do("question", "approve", "{}")
		}
		do(fmt.Sprint("c", i), "shell", fmt.Sprintf(`{"n":%d}`, i))
	}
	return append(turns, adktest.Say("the answer"))
}

// respond answers with the next turn. The first request that was shortened meets a rate limit, if
// somebody tries again then.
func (r *narrowRun[M]) respond(turns []adktest.Turn) func(int, adktest.Wire[M]) adktest.Turn {
	return func(n int, _ adktest.Wire[M]) adktest.Turn {
		if !r.failed && r.around != "nothing" && slices.Contains(r.model.Refused(), n) {
			r.failed = true
			return adktest.Turn{Err: errors.New("status code: 429, rate limit reached: tokens per minute")}
		}
		r.said++
		return turns[r.said-1]
	}
}

func (r *narrowRun[M]) tools() []tool.BaseTool {
	return []tool.BaseTool{
		adktest.Tool(adktest.Invokable, &schemaInfo{Name: "shell", Desc: "returns much"}, func(ctx context.Context, args string) (string, error) {
			var call struct{ N int }
			if err := json.Unmarshal([]byte(args), &call); err != nil {
				return "", err
			}
			line, size := "0 1 2 3 4 5 6 7", 2600 // many tokens, and then few: what the first refusal teaches is too much
			if call.N > sparse {
				line, size = strings.Repeat("-", 70), 8000
			}
			return strings.Repeat(fmt.Sprintf("%s, %d\n", line, call.N), size/len(line)), r.ran.Add(ctx)
		}),
		adktest.Tool(adktest.Invokable, &schemaInfo{Name: "approve", Desc: "asks"}, func(ctx context.Context, _ string) (string, error) {
			if target, _, _ := tool.GetResumeContext[any](ctx); !target {
				return "", tool.Interrupt(ctx, "may I?")
			}
			return "yes", r.ran.Add(ctx)
		}),
	}
}

// interpreter runs programs of one call.
func (r *narrowRun[M]) interpreter(turns []adktest.Turn) programtest.Programs {
	in := programtest.Programs{}
	for _, turn := range turns {
		for _, c := range turn.Calls {
			var args struct{ Code string }
			if c.Name == "run_code" && json.Unmarshal([]byte(c.Args), &args) == nil {
				in[args.Code] = func(p *programtest.Program) { p.Print(p.Call(args.Code)[0].Text) }
			}
		}
	}
	return in
}

func (r *narrowRun[M]) runner(turns []adktest.Turn) *adk.TypedRunner[M] {
	var handlers []handler[M]
	if r.programs {
		h, err := programs.NewTyped[M](r.Context(), &programs.Config{Interpreter: r.interpreter(turns), MaxIterations: 100})
		require.NoError(r, err)
		handlers = append(handlers, h)
	}
	if len(r.search.load) > 0 {
		cfg := toolsearch.Config{DynamicTools: dynamicTools(), Protocol: r.search.set, MaxResults: many}
		if r.search.name == nativeSearch {
			cfg.UseModelToolSearch, cfg.Native = true, toolsearch.ClaudeClient
			if _, agentic := any(*new(M)).(agenticMessage); agentic {
				cfg.Native = toolsearch.OpenAIClient
			}
		}
		handlers = append(handlers, searchOf[M](r, cfg))
	}
	cfg := reduction.RecommendedTyped[M](r.files)
	cfg.OnEvent = func(_ context.Context, e einolean.Event) {
		if e.Kind == einolean.KindOverflow {
			r.shortened++
		}
	}
	agent := adktest.Agent[M]{Tools: r.tools(), Handlers: append(handlers, reductionOf(r, *cfg)), Streaming: r.streaming, Store: &r.checkpoints, Max: 100, Configure: r.configure}
	runner, err := agent.Runner(r.Context())
	require.NoError(r, err)
	return runner
}

func (r *narrowRun[M]) configure(c *adk.TypedChatModelAgentConfig[M]) {
	c.Model = r.model
	switch r.around {
	case "retry":
		c.ModelRetryConfig = &adk.TypedModelRetryConfig[M]{MaxRetries: 2, IsRetryAble: func(context.Context, error) bool { r.failures++; return true },
			BackoffFunc: func(context.Context, int) time.Duration { return 0 }}
	case "failover":
		c.ModelFailoverConfig = &adk.ModelFailoverConfig[M]{MaxRetries: 2, ShouldFailover: func(_ context.Context, _ M, err error) bool {
			if err != nil {
				r.failures++
			}
			return err != nil
		}, GetFailoverModel: func(context.Context, *adk.FailoverContext[M]) (model.BaseModel[M], []M, error) {
			return r.model, nil, nil
		}}
	}
}

func (r *narrowRun[M]) play(names bool) {
	turns := r.turns()
	r.files = store.NewMemory(0)
	r.model = &adktest.Narrow[M]{Inside: names, Model: &adktest.Model[M]{}, Refuse: func(input []M) error {
		switch size := adktest.Bytes(input); {
		case size <= modelWindow:
			return nil
		case names:
			return fmt.Errorf("prompt is too long: %d tokens > %d maximum", size/4, modelWindow/4)
		}
		return errors.New("Your input exceeds the context window of this model.")
	}}
	r.model.Respond = r.respond(turns)
	out := adktest.Collect(r.runner(turns).Run(r.Context(), []M{adktest.User[M]("look at everything")}, adk.WithCheckPointID("x")))
	require.NoError(r, out.Err)
	before := len(r.model.Refused())
	require.Greater(r, before, 1, "the window is too wide for this test")
	if r.asks {
		require.NotNil(r, out.Interrupted)
		it, err := r.runner(turns).ResumeWithParams(r.Context(), "x", &adk.ResumeParams{Targets: map[string]any{out.Interrupted.InterruptContexts[0].ID: "yes"}})
		require.NoError(r, err)
		out = adktest.Collect(it)
		require.NoError(r, out.Err)
		require.Len(r, r.model.Refused(), before, "what was learned holds in the next process")
	}
	require.Equal(r, "the answer", out.Answer())
	r.check(turns)
}

func (r *narrowRun[M]) check(turns []adktest.Turn) {
	require.Equal(r, len(turns), r.said)
	refused := r.model.Refused()
	require.Len(r, slices.Compact(slices.Clone(refused)), len(refused), "one retry for a call")
	require.Equal(r, len(refused), r.shortened)
	if r.failed {
		require.NotContains(r, refused, refused[0]+1, "Eino's retry asks in short")
	}
	require.Equal(r, r.failed, r.failures == 1, "nobody else sees a refusal: %d failures", r.failures)
	require.Equal(r, r.around != "nothing", r.failed)
	for id, n := range r.ran.Executions() {
		require.Equal(r, 1, n, id)
	}
	for _, w := range r.model.Wires() {
		require.LessOrEqual(r, adktest.Bytes(w.Messages), modelWindow)
	}
}
