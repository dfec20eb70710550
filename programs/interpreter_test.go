// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/programtest"
	"github.com/einolean/einolean/programs"
)

// openPrograms is an interpreter that counts the programs that were not closed.
type openPrograms struct {
	programs.Interpreter
	mu            sync.Mutex
	started, open int
}

func (c *openPrograms) Start(ctx context.Context, p programs.Program) (programs.Run, error) {
	r, err := c.Interpreter.Start(ctx, p)
	if err != nil || r == nil {
		return r, err
	}
	c.add(1, 1)
	return &openRun{Run: r, of: c}, nil
}

func (c *openPrograms) add(started, open int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started, c.open = c.started+started, c.open+open
}

type openRun struct {
	programs.Run
	of   *openPrograms
	once sync.Once
}

func (r *openRun) Close() {
	r.once.Do(func() { r.of.add(0, -1) })
	r.Run.Close()
}

// breaking is an interpreter of which the programs named "panics" and "fails" break in their second batch.
type breaking struct{ programtest.Programs }

func (b breaking) Start(ctx context.Context, p programs.Program) (programs.Run, error) {
	r, err := b.Programs.Start(ctx, p)
	if err != nil {
		return nil, err
	}
	return &breakingRun{Run: r, code: p.Code}, nil
}

type breakingRun struct {
	programs.Run
	code    string
	resumed int
}

func (r *breakingRun) Resume(ctx context.Context, results []programs.Result) error {
	if r.resumed++; r.resumed > 1 {
		switch r.code {
		case "panics":
			panic("broken engine")
		case "fails":
			return errors.New("broken engine")
		}
	}
	return r.Run.Resume(ctx, results)
}

// Every program is closed when it ends, and when its interpreter breaks; its outcome
// is told, also while another program of the answer goes on.
func TestInterpreter_ClosesEveryProgram(t *testing.T) {
	adktest.Both(t, testClosesEveryProgram[*schema.Message], testClosesEveryProgram[*schema.AgenticMessage])
}

func testClosesEveryProgram[M adk.MessageType](t *testing.T, streaming bool) {
	all := programtest.Programs{
		"silent": func(*programtest.Program) {},
		"three":  three["three"], "panics": three["three"], "fails": three["three"],
	}
	for _, codes := range [][]string{{"silent"}, {"three"}, {"three", "three"}, {"panics"}, {"fails"}, {"panics", "three"}, {"three", "fails"}} {
		about := strings.Join(codes, ", ")
		in := &openPrograms{Interpreter: breaking{all}}
		h, err := programs.NewTyped[M](t.Context(), &programs.Config{Interpreter: in, MaxIterations: 20})
		require.NoError(t, err)
		var turn adktest.Turn
		for i, code := range codes {
			call := adktest.ToolCall{ID: string(rune('a' + i)), Name: "run_code", Args: `{"code":"` + code + `"}`}
			turn.Calls = append(turn.Calls, call)
		}
		m := adktest.Script[M](turn, adktest.Say("done"))
		agent := adktest.Agent[M]{Model: m, Tools: forms(func(string) {}), Handlers: adktest.Handlers[M](h), Streaming: streaming, Max: 20}
		out := agent.Run(t.Context(), []M{adktest.User[M]("go")})
		require.NoError(t, out.Err, about)
		require.Equal(t, "done", out.Answer(), about)
		require.GreaterOrEqual(t, in.started, len(codes), about)
		require.Zero(t, in.open, "%s: programs that were not closed", about)

		wires := m.Wires()
		results := map[string]string{}
		for _, msg := range wires[len(wires)-1].Messages {
			for _, r := range adktest.Results(msg) {
				results[r.ID] = r.Args
			}
		}
		for i, code := range codes {
			got := results[string(rune('a'+i))]
			switch code {
			case "three":
				require.Contains(t, got, `form2{"n":2}`, about)
			case "panics", "fails":
				require.Contains(t, got, "broken engine", about)
			}
		}
	}
}

// startFunc is an interpreter that only starts.
type startFunc func() (programs.Run, error)

func (f startFunc) Start(context.Context, programs.Program) (programs.Run, error) { return f() }

// The model reads that its program could not begin.
func TestInterpreter_StartFailureIsReported(t *testing.T) {
	adktest.Both(t, testStartFailure[*schema.Message], testStartFailure[*schema.AgenticMessage])
}

func testStartFailure[M adk.MessageType](t *testing.T, streaming bool) {
	failed := errors.New("the engine is out of memory")
	for name, start := range map[string]startFunc{
		"neither":     func() (programs.Run, error) { return nil, nil },
		"nil pointer": func() (programs.Run, error) { return (*openRun)(nil), nil },
		"error":       func() (programs.Run, error) { return nil, failed },
		"run and error": func() (programs.Run, error) {
			return &openRun{of: &openPrograms{}, Run: &programtest.Program{}}, failed
		},
		"panic": func() (programs.Run, error) { panic(failed) },
	} {
		h, err := programs.NewTyped[M](t.Context(), &programs.Config{Interpreter: start})
		require.NoError(t, err)
		m := adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "a", Name: "run_code", Args: `{"code":"x"}`}), adktest.Say("done"))
		agent := adktest.Agent[M]{Model: m, Tools: forms(func(string) {}), Handlers: adktest.Handlers[M](h), Streaming: streaming, Max: 20}
		out := agent.Run(t.Context(), []M{adktest.User[M]("go")})
		require.NoError(t, out.Err, name)
		wires := m.Wires()
		results := adktest.Results(wires[len(wires)-1].Messages[len(wires[len(wires)-1].Messages)-1])
		require.Len(t, results, 1, name)
		want := failed.Error()
		if name == "neither" || name == "nil pointer" {
			want = "the interpreter did not start the program"
		}
		require.Contains(t, results[0].Args, want, name)
	}
}
