// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/programtest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/programs"
)

// A history made of the events of a run that broke off anywhere says of each program what became of it: what it
// printed, if it ended, and otherwise whether calls that it made ran. Nothing says that it still runs.
func TestHistory_StatesOutcomeOfUnfinishedPrograms(t *testing.T) {
	adktest.Both(t, testUnfinishedPrograms[*schema.Message], testUnfinishedPrograms[*schema.AgenticMessage])
}

func testUnfinishedPrograms[M adk.MessageType](t *testing.T, streaming bool) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for i := range uint64(max(5, race.Cases(20))) {
		g, in, turn := rand.New(rand.NewPCG(seed, i)), programtest.Programs{}, adktest.Turn{}
		for n := range 1 + g.IntN(3) {
			code, batches := fmt.Sprint("program ", n), g.IntN(3)
			in[code] = func(p *programtest.Program) {
				for range batches {
					p.Call(slices.Repeat([]string{`echo {"n":1}`}, 1+n)...)
				}
				p.Print("printed by", code)
			}
			turn.Calls = append(turn.Calls, adktest.ToolCall{ID: fmt.Sprint("c", n), Name: "run_code", Args: fmt.Sprintf(`{"code":%q}`, code)})
		}
		if g.IntN(2) == 0 {
			turn.Calls = append(turn.Calls, adktest.ToolCall{ID: "d", Name: "echo", Args: `{}`})
		}
		run := func(history []M, turns ...adktest.Turn) (*adktest.Model[M], adktest.Outcome[M]) {
			first, err := programs.NewTyped[M](t.Context(), &programs.Config{Interpreter: in})
			require.NoError(t, err)
			m := adktest.Script[M](turns...)
			out := adktest.Agent[M]{Model: m, Tools: programTools(&adktest.Ran{}), Handlers: adktest.Handlers(first), Streaming: streaming, Max: 100}.Run(t.Context(), history)
			require.NoError(t, out.Err)
			return m, out
		}
		begin := []M{adktest.User[M]("go")}
		_, out := run(begin, turn, adktest.Say("done"))
		whole := append(begin, out.Messages...)
		for n := 2; n <= len(whole); n++ {
			again := append(slices.Clone(whole[:n]), adktest.User[M]("again"))
			m, out := run(again, adktest.Do(adktest.ToolCall{ID: "other", Name: "run_code", Args: `{"code":"program 0"}`}), adktest.Say("yes"))
			later, _ := run(slices.Concat(again, out.Messages, begin), adktest.Say("yes"))
			for _, w := range []adktest.Wire[M]{m.Wires()[0], later.Wires()[0]} {
				about := fmt.Sprintf("seed %d, %d, after %d of %d messages: %v", seed, i, n, len(whole), w.MessagesDump)
				for _, call := range turn.Calls[:len(in)] {
					requireOutcome(t, call.ID, whole[:n], w.Messages, about)
				}
			}
		}
	}
}

// requireOutcome checks what a request says of a program whose history broke off.
func requireOutcome[M adk.MessageType](t *testing.T, id string, history, request []M, about string) {
	t.Helper()
	want := "before the program made a call"
	for _, msg := range history {
		for _, c := range adktest.Calls(msg) {
			if strings.HasPrefix(c.ID, id+".") {
				want = "calls that it made ran"
			}
		}
		for _, r := range adktest.Results(msg) {
			if r.ID == id+"-end" || r.ID == id && strings.HasPrefix(r.Args, "printed by") { // at once, without a call
				want = "printed by program " + id[1:]
			}
		}
	}
	results := 0
	for _, msg := range request {
		for _, c := range adktest.Calls(msg) {
			require.NotContains(t, c.ID, ".", about)
		}
		for _, r := range adktest.Results(msg) {
			require.NotRegexp(t, `\.|-end`, r.ID, about)
			if r.ID == id {
				results++
				require.Contains(t, r.Args, want, about)
			}
		}
	}
	require.LessOrEqual(t, results, 1, about)
}
