// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// The package beside Eino's: the same on ordinary work, and different
// only where docs/differences.md says so.

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/reduction"
)

func TestParityOfClearingOnOrdinaryHistories(t *testing.T) {
	both(t, ordinaryClearing[*schema.Message], ordinaryClearing[*schema.AgenticMessage])
}

// ordinaryClearing runs both packages over histories that none of Eino's faults
// bears on, pass by pass.
func ordinaryClearing[M adk.MessageType](t *testing.T) {
	for seed := range 2 * histories() {
		g := newGen[M](seed)
		cfg := reduction.TypedConfig[M]{
			MaxTokensForClear: int64(1 + g.IntN(2000)), ClearRetentionSuffixLimit: g.IntN(4),
			ClearExcludeTools: [][]string{nil, {"grep"}}[g.IntN(2)], ClearAtLeastTokens: int64(g.IntN(2) * g.IntN(3000)),
			TokenCounter: func(_ context.Context, msgs []M, _ []*schema.ToolInfo) (n int64, _ error) {
				for _, m := range msgs { // notices differ in length
					n += int64(len(anyNotice.ReplaceAllString(adktest.Text(m), ""))) / 4
				}
				return n, nil
			},
			SkipTruncation: true,
		}
		if g.chance(30) {
			cfg.RootDir = "/data"
		}
		if g.chance(20) {
			cfg.ClearMessageRewriter = func(_ context.Context, call M, results []M) ([]M, error) {
				if len(adktest.Calls(call)) == 1 {
					return []M{adktest.User[M]("a round was here")}, nil
				}
				return append([]M{call}, results...), nil
			}
		}
		var outs, files []string
		seed := g.Uint64()
		for _, make := range []maker[M]{einos[M], ours[M]} {
			store := backend.NewMemory(0)
			cfg.Backend = store
			if seed%5 == 0 {
				cfg.Backend = nil
			}
			mw, err := make(&cfg)
			require.NoError(t, err)
			out, paths := conversation(t, newGen[M](seed), mw)
			outs = append(outs, out)
			kept := ""
			for _, p := range paths {
				kept += p + "\n" + stored(t, store, p) + "\n"
			}
			files = append(files, kept)
		}
		require.Equal(t, outs[0], outs[1], "seed %d", seed)
		require.Equal(t, files[0], files[1], "seed %d", seed)
	}
}

// conversation grows a history and clears it, and renders each step.
func conversation[M adk.MessageType](t *testing.T, g *gen[M], mw adk.TypedChatModelAgentMiddleware[M]) (string, []string) {
	var b strings.Builder
	msgs := []M{adktest.System[M]("be good"), adktest.User[M]("hello")}
	for range 4 {
		for range 1 + g.IntN(3) {
			msgs = append(msgs, ordinaryRound(g)...)
		}
		msgs = before(t, mw, copyAll(msgs))
		b.WriteString(shownAs(msgs))
	}
	var paths []string
	for _, m := range msgs {
		for _, a := range shapeOf[M]().answers(m) {
			if p := anyPath.FindStringSubmatch(a.joined()); p != nil {
				paths = append(paths, p[1])
			}
		}
	}
	return b.String(), paths
}

// ordinaryRound has what most rounds have: fresh ids, every result, in any order.
func ordinaryRound[M adk.MessageType](g *gen[M]) []M {
	var calls []adktest.ToolCall
	var results []M
	for range 1 + g.IntN(4) {
		g.ids++
		c := adktest.ToolCall{ID: fmt.Sprintf("call_%d", g.ids), Name: toolNames[g.IntN(len(toolNames))], Args: `{"q":"x"}`}
		calls = append(calls, c)
		results = append(results, adktest.Result[M](c.ID, c.Name, strings.Repeat(fmt.Sprintf("line of %s\n", c.ID), 20+g.IntN(100))))
	}
	g.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
	return append([]M{adktest.Assistant[M]("", calls...)}, results...)
}

func TestParityOfTruncationOnOrdinaryResults(t *testing.T) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			for _, size := range []int{0, 1, 5000, 9999, 10_001, 30_000} {
				var outs, files []string
				content := strings.Repeat("a line of the result\n", size/21+1)[:size]
				for _, make := range []maker[*schema.Message]{einos[*schema.Message], ours[*schema.Message]} {
					store := backend.NewMemory(0)
					mw, err := make(&reduction.Config{Backend: store, MaxLengthForTrunc: 10_000, TruncExcludeTools: []string{"kept"}})
					require.NoError(t, err)
					for _, name := range []string{"shell", "kept"} {
						out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: name, CallID: "call_1"}, `{}`, []string{content[:size/2], content[size/2:]})
						require.NoError(t, err)
						outs = append(outs, plainly(headless(out)))
					}
					if size > 10_000 {
						files = append(files, stored(t, store, "/tmp/trunc/call_1"))
					}
				}
				if f.name == "enhanced" && size > 10_000 {
					continue // Eino cuts part by part
				}
				require.Equal(t, outs[:2], outs[2:], "%d bytes", size)
				if size > 10_000 && f.name != "enhanced streamable" {
					require.Equal(t, files[0], files[1])
				}
			}
		})
	}
}

// headless drops what a stream passed on before its notice, which is shorter in
// ours.
func headless(out string) string {
	if i := strings.Index(out, "<persisted-output>"); i >= 0 {
		return out[i:]
	}
	return out
}

// TestEveryDifferenceIsListedAndEveryListedOneIsThere runs a scenario for each
// row of the list through both packages.
func TestEveryDifferenceIsListedAndEveryListedOneIsThere(t *testing.T) {
	ids := listed(t)
	seen := map[string]bool{}
	for _, s := range scenarios {
		seen[s.id] = true
		t.Run(s.id+" "+s.name, func(t *testing.T) {
			both(t, func(t *testing.T) { compare(t, s.name, s.plain, ids[s.id]) }, func(t *testing.T) { compare(t, s.name, s.agentic, ids[s.id]) })
		})
	}
	for id := range ids {
		require.True(t, seen[id], "%s is listed, and no scenario shows it", id)
	}
}

func compare[M adk.MessageType](t *testing.T, name string, run func(*testing.T, maker[M]) (string, error), differs bool) {
	t.Helper()
	if run == nil {
		return
	}
	eino := outcome(func() (string, error) { return run(t, einos[M]) })
	our := outcome(func() (string, error) { return run(t, ours[M]) })
	require.NotContains(t, our, "panic", name)
	if differs {
		require.NotEqual(t, eino, our, "%s: it is on the list, and Eino does the same by now", name)
	} else {
		require.Equal(t, eino, our, "%s: it is not on the list", name)
	}
}
