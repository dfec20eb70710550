// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/programs/javascript"
)

var rows = "[" + strings.TrimSuffix(strings.Repeat(`{"id":1,"total":495,"note":"no special note here, move along"},`, 150), ",") + "]" // 9 KB

const (
	batch    = `const r = await Promise.all(Array.from({length: 50}, (_, i) => tools.list({page: i}))); print(r.flat().filter(o => o.total > 490).length)`
	sequence = `let n = 0; for (let i = 0; i < 50; i++) n += (await tools.list({page: i})).length; print(n)`
)

// Fifty results of 9 KB in one batch, and one after the other, in the interpreter alone.
func BenchmarkProgram(b *testing.B) {
	for _, c := range []struct{ name, code, result string }{
		{"batch", batch, rows}, {"sequence", sequence, rows}, {"batch of little", batch, `[{"total":1}]`}, {"sequence of little", sequence, `[{"total":1}]`}, {"nothing", `print(1)`, ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			in := javascript.New(javascript.Limits{MaxBatches: 100})
			_, err := finish(b.Context(), in, "print(1)", "")
			require.NoError(b, err)
			for b.Loop() {
				s, err := finish(b.Context(), in, c.code, c.result)
				require.NoError(b, err)
				require.Empty(b, s.Error)
			}
		})
	}
}

// What fifty calls take in an agent, made by a program and by the model itself: the difference is what
// programs cost, for each run and for each call.
func BenchmarkProgramInAnAgent(b *testing.B) {
	of := func(n int) (calls []adktest.ToolCall) {
		for i := range n {
			calls = append(calls, adktest.ToolCall{ID: fmt.Sprint("c", i), Name: "list", Args: fmt.Sprintf(`{"page":%d}`, i)})
		}
		return calls
	}
	run := func(code string) []adktest.Turn {
		args, err := json.Marshal(map[string]string{"code": code})
		require.NoError(b, err)
		return []adktest.Turn{adktest.Do(adktest.ToolCall{ID: "p", Name: "run_code", Args: string(args)})}
	}
	var each []adktest.Turn
	for _, c := range of(50) {
		each = append(each, adktest.Do(c))
	}
	in := javascript.New(javascript.Limits{MaxBatches: 100})
	first, err := programs.New(b.Context(), &programs.Config{Interpreter: in, MaxIterations: 1000})
	require.NoError(b, err)
	for _, c := range []struct {
		name     string
		turns    []adktest.Turn
		handlers []adk.ChatModelAgentMiddleware
	}{
		{"batch/direct", []adktest.Turn{adktest.Do(of(50)...)}, nil},
		{"batch/program", run(batch), adktest.Handlers(first)},
		{"sequence/direct", each, nil},
		{"sequence/program", run(sequence), adktest.Handlers(first)},
	} {
		b.Run(c.name, func(b *testing.B) {
			list := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "list", Desc: "lists"}, func(context.Context, string) (string, error) { return rows, nil })
			for b.Loop() {
				m := adktest.Script[*schema.Message](c.turns...)
				out := adktest.Agent[*schema.Message]{Model: m, Tools: []tool.BaseTool{list}, Handlers: c.handlers, Max: 1000}.Run(b.Context(), []*schema.Message{schema.UserMessage("go")})
				require.NoError(b, out.Err)
				require.Len(b, m.Wires(), len(c.turns)+1)
			}
		})
	}
}

const firstProgram = "EINOLEAN_FIRST_PROGRAM" // asks a process for how long its first program takes

// The first program of a process, which compiles the interpreter. What compiling takes does not
// depend on the process, so each one is new.
func BenchmarkFirstProgram(b *testing.B) {
	var took time.Duration
	for b.Loop() {
		c := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^TestStart_FirstProgramOfProcess$", "-test.v")
		c.Env = append(os.Environ(), firstProgram+"=1")
		out, err := c.CombinedOutput()
		require.NoError(b, err, string(out))
		_, rest, ok := strings.Cut(string(out), "first program: ")
		require.True(b, ok, string(out))
		d, err := time.ParseDuration(strings.Fields(rest)[0])
		require.NoError(b, err)
		took += d
	}
	b.ReportMetric(float64(took.Milliseconds())/float64(b.N), "ms/first")
}

// TestStart_FirstProgramOfProcess runs one, and says how long that took to whoever asks for it.
func TestStart_FirstProgramOfProcess(t *testing.T) {
	began := time.Now()
	s, err := finish(t.Context(), javascript.New(javascript.Limits{}), `print(6 * 7)`, "")
	require.NoError(t, err)
	require.Equal(t, "42\n", s.Printed)
	if os.Getenv(firstProgram) != "" {
		fmt.Println("first program:", time.Since(began))
	}
}
