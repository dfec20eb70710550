// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/race"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// goPrograms runs programs that are Go functions, by the text that names them.
type goPrograms map[string]func(*goProgram)

func (g goPrograms) Start(ctx context.Context, p Program) (ProgramRun, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := &goProgram{asks: make(chan struct{}), goes: make(chan map[int]ProgramResult), done: make(chan struct{})}
	go func() {
		defer close(r.done)
		<-r.goes
		g[p.Code](r)
	}()
	r.enter(nil)
	return r, nil
}

// goProgram is one of them.
type goProgram struct {
	state  ProgramState
	count  int
	asks   chan struct{}
	goes   chan map[int]ProgramResult
	done   chan struct{}
	closed bool
}

func (r *goProgram) State() ProgramState { return r.state }

func (r *goProgram) enter(results map[int]ProgramResult) {
	r.state.Calls = nil
	r.goes <- results
	select {
	case <-r.asks:
	case <-r.done:
	}
}

func (r *goProgram) Resume(ctx context.Context, results []ProgramResult) error {
	byNumber := map[int]ProgramResult{}
	for _, x := range results {
		byNumber[x.Number] = x
	}
	r.enter(byNumber)
	return ctx.Err()
}

func (r *goProgram) Close() {
	if !r.closed {
		r.closed = true
		close(r.goes)
	}
	if len(r.state.Calls) > 0 {
		r.state.Calls, r.state.Error = nil, "closed"
	}
}

// call makes calls at the same time, of tools with arguments.
func (r *goProgram) call(calls ...string) (results []ProgramResult) {
	var asked []ProgramCall
	for _, c := range calls {
		r.count++
		name, args, _ := strings.Cut(c, " ")
		asked = append(asked, ProgramCall{Number: r.count, Tool: name, Arguments: args})
	}
	r.state.Calls = asked
	r.asks <- struct{}{}
	got, ok := <-r.goes
	if !ok {
		runtime.Goexit()
	}
	for _, c := range asked {
		results = append(results, got[c.Number])
	}
	return results
}

func (r *goProgram) print(v ...any) { r.state.Printed += fmt.Sprintln(v...) }

// frail runs programs whose methods panic.
type frail struct {
	goPrograms
	inState, inClose, inCheck bool
}

func (f frail) Check() error {
	if f.inCheck {
		panic("no limits")
	}
	return nil
}

func (f frail) Start(ctx context.Context, p Program) (ProgramRun, error) {
	r, err := f.goPrograms.Start(ctx, p)
	return frailRun{r, f}, err
}

type frailRun struct {
	ProgramRun
	frail frail
}

func (r frailRun) State() ProgramState {
	if r.frail.inState {
		panic("no state")
	}
	return r.ProgramRun.State()
}

func (r frailRun) Close() {
	r.ProgramRun.Close()
	if r.frail.inClose {
		panic("not closed")
	}
}

func TestAnInterpreterThatPanicsEndsNothing(t *testing.T) {
	prints := goPrograms{"program": func(r *goProgram) { r.call("echo {}"); r.print("done") }}
	for want, in := range map[string]frail{"Interpreter panicked: no state": {prints, true, false, false}, "done": {prints, false, true, false}} {
		c := &adktest.Ran{}
		m := adktest.Script[*schema.Message](adktest.Do(adktest.ToolCall{ID: "c", Name: "run_code", Args: `{"code":"program"}`}))
		search, err := New(t.Context(), &Config{DynamicTools: []tool.BaseTool{withInfo("hidden", nil)}, Protocol: SearchCode, Interpreter: in})
		require.NoError(t, err)
		out := adktest.Agent[*schema.Message]{Model: m, Tools: programTools(c), Handlers: adktest.Handlers(search)}.Run(t.Context(), []*schema.Message{schema.UserMessage("go")})
		require.NoError(t, out.Err)
		require.Contains(t, fmt.Sprint(out.Messages), want)
	}
	_, err := New(t.Context(), &Config{DynamicTools: []tool.BaseTool{withInfo("hidden", nil)}, Protocol: SearchCode, Interpreter: frail{prints, false, false, true}})
	require.ErrorContains(t, err, "toolsearch: Interpreter: Check panicked: no limits")
	p := newPrograms[*schema.Message](frail{prints, false, true, false}, nil)
	run, err := p.interpreter.Start(t.Context(), Program{Code: "program"})
	require.NoError(t, err)
	p.live.keep(&program{run: run})
	p.live.closeAll() // on a goroutine of its own, where a panic would end the process
}

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
func randomProgram(g *rand.Rand) func(*goProgram) {
	var batches [][]string
	for range g.IntN(4) {
		var batch []string
		for range 1 + g.IntN(3) {
			name := []string{"echo", "echo", "approve", "unknown"}[g.IntN(4)]
			batch = append(batch, fmt.Sprintf(`%s {"n":%d}`, name, g.IntN(100)))
		}
		batches = append(batches, batch)
	}
	return func(r *goProgram) {
		for _, b := range batches {
			for _, x := range r.call(b...) {
				r.print(x.Text, x.Failed)
			}
		}
	}
}

// direct is what a program prints if its calls are answered at once.
func direct(t *testing.T, f func(*goProgram)) string {
	run, err := goPrograms{"": f}.Start(t.Context(), Program{})
	require.NoError(t, err)
	for {
		s := run.State()
		if len(s.Calls) == 0 {
			return s.Printed
		}
		var results []ProgramResult
		for _, c := range s.Calls {
			x := ProgramResult{Number: c.Number, Text: c.Arguments}
			switch c.Tool {
			case "approve":
				x.Text = "approved " + c.Arguments
			case "unknown":
				x.Text, x.Failed = render("program-no-tool", promptData{Name: "unknown"}), true
			}
			results = append(results, x)
		}
		require.NoError(t, run.Resume(t.Context(), results))
	}
}

// No call runs twice, the answer is the same with and without interruptions, and no call of a
// program reaches a model, however often the run is interrupted or killed and goes on in another
// process. EINOLEAN_PROGRAMS asks for more programs, EINOLEAN_SEED for those of another time.
func TestProgramsKeepTheirLawsOverInterruptsAndProcesses(t *testing.T) {
	programs, seed := uint64(300), rand.Uint64()
	if testing.Short() || race.Enabled {
		programs = 40
	}
	if n, err := strconv.ParseUint(os.Getenv("EINOLEAN_PROGRAMS"), 10, 64); err == nil {
		programs = n
	}
	if n, err := strconv.ParseUint(os.Getenv("EINOLEAN_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("EINOLEAN_SEED=%d EINOLEAN_PROGRAMS=%d", seed, programs)
	tally := lawTally{}
	// And more where nothing was interrupted or killed in those.
	for i := uint64(0); tally.programs < programs || i < 1000 && (tally.interrupts == 0 || tally.kills == 0); i++ {
		programLaw[*schema.Message](t, rand.New(rand.NewPCG(seed, i)), i%2 == 0, &tally)
		programLaw[*schema.AgenticMessage](t, rand.New(rand.NewPCG(seed, i)), i%2 == 0, &tally)
	}
	t.Logf("%+v", tally)
	require.Positive(t, tally.interrupts)
	require.Positive(t, tally.kills)
}

// lawTally is what the law was held against.
type lawTally struct{ programs, calls, interrupts, kills uint64 }

func programLaw[M adk.MessageType](t *testing.T, g *rand.Rand, streaming bool, tally *lawTally) {
	in, want := goPrograms{}, map[string]string{}
	turn := adktest.Turn{}
	for n := range 1 + g.IntN(3) {
		code, id := fmt.Sprintf("program %d", n), fmt.Sprintf("c%d", n)
		in[code] = randomProgram(g)
		want[id] = direct(t, in[code])
		turn.Calls = append(turn.Calls, adktest.ToolCall{ID: id, Name: "run_code", Args: fmt.Sprintf(`{"code":%q}`, code)})
	}
	if g.IntN(2) == 0 {
		turn.Calls = append(turn.Calls, adktest.ToolCall{ID: "d", Name: "echo", Args: `{"direct":1}`})
		want["d"] = `{"direct":1}`
	}
	c := &adktest.Ran{}
	m := adktest.Script[M](turn)
	store := &adktest.Store{}
	build := func() *adk.TypedRunner[M] {
		search, err := NewTyped[M](t.Context(), &Config{DynamicTools: []tool.BaseTool{withInfo("hidden", nil)}, Protocol: SearchCode, Interpreter: in, MaxIterations: 100})
		require.NoError(t, err)
		r, err := adktest.Agent[M]{Model: m, Tools: programTools(c), Handlers: adktest.Handlers[M](search), Streaming: streaming, Store: store, Max: 100}.Runner(t.Context())
		require.NoError(t, err)
		return r
	}
	var asked *adk.InterruptInfo // by the last checkpoint
	r := build()
	next := func(ctx context.Context) adktest.Outcome[M] {
		if asked == nil {
			m.Reset() // killed before the first checkpoint: all begins again
			return adktest.Collect(r.Run(ctx, []M{adktest.User[M]("go")}, adk.WithCheckPointID("x")))
		}
		targets := map[string]any{}
		for _, x := range asked.InterruptContexts {
			if len(targets) == 0 || g.IntN(2) == 0 {
				targets[x.ID] = "yes"
			}
		}
		it, err := r.ResumeWithParams(ctx, "x", &adk.ResumeParams{Targets: targets})
		require.NoError(t, err)
		return adktest.Collect(it)
	}
	for {
		ctx, wasKilled := c.Process(t.Context(), g)
		out := next(ctx)
		switch {
		case wasKilled(out.Err):
			tally.kills++
			r = build()
			continue
		case out.Interrupted != nil:
			tally.interrupts++
			asked = out.Interrupted
			if g.IntN(2) == 0 {
				r = build() // another process
			}
			continue
		}
		require.NoError(t, out.Err)
		break
	}
	for id, n := range c.Times() {
		require.Equal(t, 1, n, id)
	}
	tally.programs, tally.calls = tally.programs+uint64(len(in)), tally.calls+uint64(len(c.Times()))
	require.Len(t, m.Wires(), 2)
	got := map[string]string{}
	for _, w := range m.Wires() {
		for _, msg := range w.Messages {
			for _, call := range wire.ViewOf(msg).Calls {
				require.NotContains(t, call.ID, ".")
			}
			for _, x := range wire.ViewOf(msg).Results {
				got[x.ID] = x.Text
			}
		}
	}
	for id, text := range want {
		require.Contains(t, got, id)
		require.True(t, strings.HasPrefix(got[id], text), "%s: %q, want %q", id, got[id], text)
	}
	require.Len(t, got, len(want))
}

// marking is a model whose answers hold what no checkpoint can.
type marking[M adk.MessageType] struct{ *adktest.Model[M] }

func (m marking[M]) Generate(ctx context.Context, in []M, opts ...model.Option) (M, error) {
	out, err := m.Model.Generate(ctx, in, opts...)
	if err == nil {
		mark := map[string]any{"of the adapter": struct{ ID int }{1}}
		out = message.Edit(adktest.WithExtra(out, mark), func(p message.Part) (message.Part, bool) { return p.WithExtra(mark), p.Kind == message.Call })
	}
	return out, err
}

// marker is a handler that does the same to results.
type marker[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
}

func (marker[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	next := *state
	next.Messages = wire.Each(state.Messages, func(msg M) M {
		if len(wire.ViewOf(msg).Results) == 0 {
			return msg
		}
		return adktest.WithExtra(msg, map[string]any{"of a handler": struct{ ID int }{1}})
	})
	return ctx, &next, nil
}

// A run that no checkpoint could hold goes on like any other.
func TestAProgramNeedsNoCheckpoint(t *testing.T) {
	t.Run("plain", needsNoCheckpoint[*schema.Message])
	t.Run("agentic", needsNoCheckpoint[*schema.AgenticMessage])
}

func needsNoCheckpoint[M adk.MessageType](t *testing.T) {
	in := goPrograms{"program": func(r *goProgram) { r.call("echo {}"); r.call("echo {}"); r.print("done") }}
	m := marking[M]{adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "d", Name: "echo", Args: `{"direct":1}`}, adktest.ToolCall{ID: "c", Name: "run_code", Args: `{"code":"program"}`}))}
	search, err := NewTyped[M](t.Context(), &Config{DynamicTools: []tool.BaseTool{withInfo("hidden", nil)}, Protocol: SearchCode, Interpreter: in})
	require.NoError(t, err)
	out := adktest.Agent[M]{Tools: programTools(&adktest.Ran{}), Handlers: adktest.Handlers[M](marker[M]{}, search), Configure: func(c *adk.TypedChatModelAgentConfig[M]) { c.Model = m }}.Run(t.Context(), []M{adktest.User[M]("go")})
	require.NoError(t, out.Err)
	var texts []string
	for _, msg := range out.Messages {
		texts = append(texts, adktest.Dump(msg))
	}
	require.Contains(t, strings.Join(texts, "\n"), "done")
	sent := m.Wires()[1].Messages
	require.NotEmpty(t, adktest.Extra(sent[len(sent)-3])["of the adapter"], "the answer comes back whole")
	require.Contains(t, adktest.Dump(sent[len(sent)-2]), `{"direct":1}`)
}
