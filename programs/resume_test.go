// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/programtest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/toolsearch"
)

// programTools are echo, which answers its arguments, and approve, which asks a person first.
func programTools(c *adktest.Ran) []tool.BaseTool {
	return []tool.BaseTool{
		adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "echo", Desc: "Echoes."}, func(ctx context.Context, args string) (string, error) {
			return args, c.Add(ctx)
		}),
		adktest.Tool(adktest.Streamable, &schema.ToolInfo{Name: "approve", Desc: "Asks."}, func(ctx context.Context, args string) (string, error) {
			if was, _, _ := tool.GetInterruptState[any](ctx); !was {
				return "", tool.Interrupt(ctx, "approve?")
			}
			if target, _, _ := tool.GetResumeContext[any](ctx); !target {
				return "", tool.Interrupt(ctx, "approve?")
			}
			return "approved " + args, c.Add(ctx)
		}),
	}
}

// randomProgram makes a few batches of calls and prints what they answer.
func randomProgram(g *rand.Rand) func(*programtest.Program) {
	var batches [][]string
	for range g.IntN(4) {
		var batch []string
		for range 1 + g.IntN(3) {
			name := []string{"echo", "echo", "approve", "unknown"}[g.IntN(4)]
			batch = append(batch, fmt.Sprintf(`%s {"n":%d}`, name, g.IntN(100)))
		}
		batches = append(batches, batch)
	}
	return func(r *programtest.Program) {
		for _, b := range batches {
			for _, x := range r.Call(b...) {
				if r.Print(x.Failed); !x.Failed {
					r.Print(x.Text)
				}
			}
		}
	}
}

// direct is what a program prints if its calls are answered at once, and what the model is told of them.
func direct(t *testing.T, f func(*programtest.Program)) (printed, told string) {
	run, err := programtest.Programs{"": f}.Start(t.Context(), programs.Program{})
	require.NoError(t, err)
	var names []string // in the order in which they are called first
	calls := map[string]int{}
	for {
		s := run.State()
		if len(s.Calls) == 0 {
			for i, name := range names {
				names[i] = fmt.Sprintf("%d calls of %s, none failed", calls[name], name)
				if name == "unknown" {
					names[i] = fmt.Sprintf("%d calls of unknown, %d failed", calls[name], calls[name])
				}
				if calls[name] == 1 {
					names[i] = strings.Replace(names[i], "calls", "call", 1)
				}
			}
			switch {
			case calls["unknown"] > 0:
				return s.Printed, "(" + strings.Join(names, "; ") + "; a failed call throws)"
			case s.Printed != "":
				return strings.TrimSuffix(s.Printed, "\n"), ""
			}
			return s.Printed, "(no calls)"
		}
		var results []programs.Result
		for _, c := range s.Calls {
			x := programs.Result{Number: c.Number, Text: c.Arguments}
			if calls[c.Tool]++; calls[c.Tool] == 1 {
				names = append(names, c.Tool)
			}
			switch c.Tool {
			case "approve":
				x.Text = "approved " + c.Arguments
			case "unknown":
				x.Text, x.Failed = "there is no tool named unknown", true
			}
			results = append(results, x)
		}
		require.NoError(t, run.Resume(t.Context(), results))
	}
}

// Whatever a checkpoint holds never runs again, the answer is the same with and without
// interruptions, and no call of a program reaches a model, however often the run is interrupted or
// killed and goes on in another process; with toolsearch in the agent and without. A kill forgets
// what ran since the last checkpoint, and only that may run again. EINOLEAN_PROGRAMS asks for more
// programs, EINOLEAN_SEED for those of another time.
//
//claim:security-35
func TestPrograms_SurviveInterruptsAndKills(t *testing.T) {
	count, seed := uint64(300), rand.Uint64()
	if testing.Short() || race.Enabled {
		count = 40
	}
	if n, err := strconv.ParseUint(os.Getenv("EINOLEAN_PROGRAMS"), 10, 64); err == nil {
		count = n
	}
	if n, err := strconv.ParseUint(os.Getenv("EINOLEAN_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("EINOLEAN_SEED=%d EINOLEAN_PROGRAMS=%d", seed, count)
	for _, hides := range []bool{false, true} {
		t.Run(fmt.Sprintf("toolsearch %v", hides), func(t *testing.T) {
			tally := interruptCounts{}
			// And more where nothing was interrupted or killed in those.
			for i := uint64(0); tally.programs < count || i < 1000 && (tally.interrupts == 0 || tally.kills == 0); i++ {
				testSurvivesInterrupts[*schema.Message](t, rand.New(rand.NewPCG(seed, i)), i%2 == 0, hides, &tally)
				testSurvivesInterrupts[*schema.AgenticMessage](t, rand.New(rand.NewPCG(seed, i)), i%2 == 0, hides, &tally)
			}
			t.Logf("%+v", tally)
			require.Positive(t, tally.interrupts)
			require.Positive(t, tally.kills)
		})
	}
}

// interruptCounts is what the law was held against. Again counts executions that a kill had forgotten.
type interruptCounts struct{ programs, calls, interrupts, kills, again uint64 }

// executions count what really ran, by the id of the call.
type executions struct {
	all   map[string]int
	saved map[string]int // by the last checkpoint
}

// interruptedRun is one agent of the law, in one process after another.
type interruptedRun[M adk.MessageType] struct {
	*testing.T
	in    programtest.Programs
	ran   *adktest.Ran
	model *adktest.Model[M]
	store *adktest.Store

	streaming, hides bool
}

func (l *interruptedRun[M]) runner() *adk.TypedRunner[M] {
	first, err := programs.NewTyped[M](l.Context(), &programs.Config{Interpreter: l.in, MaxIterations: 100})
	require.NoError(l, err)
	handlers := adktest.Handlers[M](first)
	if l.hides {
		search, err := toolsearch.NewTyped[M](l.Context(), &toolsearch.Config{DynamicTools: []tool.BaseTool{adktest.Simple("hidden", "Hides")}})
		require.NoError(l, err)
		handlers = append(handlers, search)
	}
	r, err := adktest.Agent[M]{Model: l.model, Tools: programTools(l.ran), Handlers: handlers, Streaming: l.streaming, Store: l.store, Max: 100}.Runner(l.Context())
	require.NoError(l, err)
	return r
}

func testSurvivesInterrupts[M adk.MessageType](t *testing.T, g *rand.Rand, streaming, hides bool, tally *interruptCounts) {
	in, want, told := programtest.Programs{}, map[string]string{}, map[string]string{}
	turn := adktest.Turn{}
	for n := range 1 + g.IntN(3) {
		code, id := fmt.Sprintf("program %d", n), fmt.Sprintf("c%d", n)
		in[code] = randomProgram(g)
		want[id], told[id] = direct(t, in[code])
		turn.Calls = append(turn.Calls, adktest.ToolCall{ID: id, Name: "run_code", Args: fmt.Sprintf(`{"code":%q}`, code)})
	}
	if g.IntN(2) == 0 {
		turn.Calls = append(turn.Calls, adktest.ToolCall{ID: "d", Name: "echo", Args: `{"direct":1}`})
		want["d"] = `{"direct":1}`
	}
	l := &interruptedRun[M]{t, in, &adktest.Ran{}, adktest.Script[M](turn), &adktest.Store{}, streaming, hides}
	l.run(g, tally)
	tally.programs, tally.calls = tally.programs+uint64(len(in)), tally.calls+uint64(len(l.ran.Times()))
	require.Len(t, l.model.Wires(), 2)
	got := map[string]string{}
	for _, w := range l.model.Wires() {
		for _, msg := range w.Messages {
			for _, call := range adktest.Calls(msg) {
				require.NotContains(t, call.ID, ".")
				require.NotContains(t, call.ID, "-end")
			}
			for _, x := range adktest.Results(msg) {
				got[x.ID] = x.Args
			}
		}
	}
	for id, text := range want {
		require.Contains(t, got, id)
		require.True(t, strings.HasPrefix(got[id], text), "%s: %q, want %q", id, got[id], text)
		require.True(t, strings.HasSuffix(got[id], told[id]), "%s: %q, want %q", id, got[id], told[id])
	}
	require.Len(t, got, len(want))
}

// run runs it to its end, with interrupts and kills, and counts what runs.
func (l *interruptedRun[M]) run(g *rand.Rand, tally *interruptCounts) {
	var asked *adk.InterruptInfo // by the last checkpoint
	r, done := l.runner(), executions{}
	next := func(ctx context.Context) adktest.Outcome[M] {
		if asked == nil {
			l.model.Reset() // killed before the first checkpoint: all begins again
			return adktest.Collect(r.Run(ctx, []M{adktest.User[M]("go")}, adk.WithCheckPointID("x")))
		}
		targets := map[string]any{}
		for _, x := range asked.InterruptContexts {
			if len(targets) == 0 || g.IntN(2) == 0 {
				targets[x.ID] = "yes"
			}
		}
		it, err := r.ResumeWithParams(ctx, "x", &adk.ResumeParams{Targets: targets})
		require.NoError(l, err)
		return adktest.Collect(it)
	}
	for {
		ctx, wasKilled := l.ran.Process(l.Context(), g)
		out := next(ctx)
		if wasKilled(out.Err) {
			tally.kills++
			tally.again += done.forget(l.ran.Executions())
			r = l.runner()
			continue
		}
		done.hold(l, l.ran.Times(), l.ran.Executions())
		if out.Interrupted == nil {
			require.NoError(l, out.Err)
			return
		}
		tally.interrupts++
		if asked = out.Interrupted; g.IntN(2) == 0 {
			r = l.runner() // another process
		}
	}
}

// forget is a kill: what ran since the last checkpoint may run again.
func (e *executions) forget(now map[string]int) (forgotten uint64) {
	for id, n := range now {
		forgotten += uint64(n - e.all[id])
	}
	return forgotten
}

// hold checks, at a checkpoint, that nothing ran again that an earlier one held. It holds what ran and
// was not forgotten.
func (e *executions) hold(t require.TestingT, held, now map[string]int) {
	for id, n := range e.saved {
		require.Equal(t, n, now[id], "%s ran again after a checkpoint that held it", id)
	}
	e.all, e.saved = now, map[string]int{}
	for id, n := range held {
		require.Equal(t, 1, n, id)
		e.saved[id] = now[id]
	}
}
