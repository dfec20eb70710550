// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// The laws of truncation, over random results in all four forms.

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/backend/backendtest"
	"github.com/leanctx/leanctx/internal/race"
	"github.com/leanctx/leanctx/reduction"
)

func TestLawsOfTruncationHoldOverRandomResults(t *testing.T) {
	for kind, open := range storeKinds {
		for _, f := range forms {
			t.Run(kind+"/"+f.name, func(t *testing.T) {
				cuts := 0
				for seed := range 2 * histories() {
					cuts += truncationLaws(t, newGen[*schema.Message](seed), f, open)
				}
				require.Greater(t, cuts, 10, "hardly anything was cut")
			})
		}
	}
}

func truncationLaws(t *testing.T, g *gen[*schema.Message], f form, open func(*testing.T) (reduction.Backend, *backend.Memory)) (cuts int) {
	store, memory := open(t)
	limit := 413 + g.IntN(3000)
	cfg := &reduction.Config{Backend: store, MaxLengthForTrunc: limit}
	if g.chance(50) {
		cfg.Preview = reduction.PreviewByKind
	}
	mw := typed(t, cfg)
	paths := map[string]string{} // content by path
	for n := range 6 {
		tc := &adk.ToolContext{Name: "shell", CallID: g.id()}
		chunks := g.chunks()
		content := strings.Join(chunks, "")
		out, err := f.run(context.Background(), mw, tc, `{}`, chunks)
		require.NoError(t, err)
		where := fmt.Sprintf("call %d, id %q, limit %d, %d bytes", n, tc.CallID, limit, len(content))
		if out == content {
			continue
		}
		require.Greater(t, len(content), limit, "%s: within the limit, and changed", where)
		require.LessOrEqual(t, len(out), limit, where)
		path := pathIn(out)
		require.NotEmpty(t, path, "%s: no path in %q", where, out)
		require.Equal(t, content, stored(t, memory, path), "%s: lost, at %q", where, path)
		require.True(t, strings.HasPrefix(path, "/tmp/trunc/") && !strings.Contains(path[len("/tmp/trunc/"):], "/"), "%s: left the root with %q", where, path)
		require.True(t, !utf8.ValidString(content) || utf8.ValidString(out), "%s: a character was split", where)
		if f.stream {
			head := out[:strings.LastIndex(out, "\n<persisted-output>")]
			require.True(t, strings.HasPrefix(content, head), "%s: what was passed on is not the start", where)
			require.False(t, limit > 600 && head == "", "%s: nothing was passed on", where)
		}
		if was, ok := paths[path]; ok {
			require.Equal(t, was, content, "%s: %q was written over", where, path)
		}
		paths[path] = content
		cuts++
	}
	for path, content := range paths {
		require.Equal(t, content, stored(t, memory, path), "lost since, at %q", path)
	}
	return cuts
}

// chunks is what a tool may send, cut without regard to characters.
func (g *gen[M]) chunks() []string {
	s := g.content()
	for range g.IntN(3) {
		s += g.content() + g.content()
	}
	if g.chance(30) {
		s = strings.Repeat("長い行、改行なし🙂", g.IntN(600))
	}
	var out []string
	for s != "" {
		n := min(len(s), 1+g.IntN(700))
		if g.chance(10) {
			n = len(s)
		}
		out = append(out, s[:n])
		s = s[n:]
		if g.chance(10) {
			out = append(out, "")
		}
	}
	return out
}

func TestAStreamWithinTheLimitArrivesWholeWhateverTheChunks(t *testing.T) {
	for seed := range 5 * histories() {
		g := newGen[*schema.Message](seed)
		chunks := g.chunks()
		content := strings.Join(chunks, "")
		if len(content) < 413 { // less is no limit
			more := strings.Repeat("more ", 100)
			chunks, content = append(chunks, more), content+more
		}
		mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: len(content)})
		for _, f := range forms {
			out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: "t", CallID: "c"}, `{}`, chunks)
			require.NoError(t, err)
			require.Equal(t, content, out, "seed %d, %s", seed, f.name)
		}
	}
}

func TestParallelCallsOfOneIDDoNotWriteOverEachOther(t *testing.T) {
	for kind, open := range storeKinds {
		for _, f := range forms {
			t.Run(kind+"/"+f.name, func(t *testing.T) {
				store, memory := open(t)
				// Two instances over one store, as two agents of one process have.
				mws := []wrapper{
					typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000}),
					typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000}),
				}
				if kind != "all powers" {
					mws[1] = mws[0] // stores that are no pointers are known only to their middleware
				}
				var wg sync.WaitGroup
				outs := make([]string, 20)
				contents := make([]string, len(outs))
				for i := range outs {
					contents[i] = strings.Repeat(fmt.Sprintf("content %d\n", i%15), 500)
					wg.Add(1)
					go func() {
						defer wg.Done()
						out, err := f.run(context.Background(), mws[i%2], &adk.ToolContext{Name: "t", CallID: "functions.shell:0"}, `{}`, []string{contents[i][:100], contents[i][100:]})
						if err == nil {
							outs[i] = out
						}
					}()
				}
				wg.Wait()
				for i, out := range outs {
					require.LessOrEqual(t, len(out), 1000)
					require.Equal(t, contents[i], stored(t, memory, pathIn(out)))
				}
			})
		}
	}
}

// TestTheStoreMayFailAtAnyCall holds law 6: whatever goes wrong at whichever call,
// the run goes on, no text of the store reaches the model, and what is not in the
// conversation is in the store.
func TestTheStoreMayFailAtAnyCall(t *testing.T) {
	modes := map[string]backendtest.Mode{
		"fails": backendtest.Fail, "short": backendtest.Short, "torn": backendtest.Torn,
		"late": backendtest.Late, "hangs": backendtest.Hang, "panics": backendtest.Panic,
	}
	for name, mode := range modes {
		for _, after := range []int64{0, 1, 700} {
			for _, f := range forms {
				t.Run(fmt.Sprintf("%s/%d/%s", name, after, f.name), func(t *testing.T) {
					for n := 1; n <= 3; n++ {
						failingStore(t, backendtest.Fault{Mode: mode, After: after}, n, f)
					}
				})
			}
		}
	}
}

// failingStore lets every nth call of each kind go wrong.
func failingStore(t *testing.T, fault backendtest.Fault, n int, f form) {
	memory := backend.NewMemory(0)
	cancel := func() {}
	plan := func(c backendtest.Call) backendtest.Fault {
		if c.N%n != 0 {
			return backendtest.Fault{}
		}
		if fault.Mode == backendtest.Hang {
			defer cancel() // what hangs gets to hang, and no longer
		}
		return fault
	}
	var events []leanctx.Event
	mw := typed(t, &reduction.Config{Backend: backendtest.NewFaulty(memory, plan), MaxLengthForTrunc: 1000,
		OnEvent: func(_ context.Context, e leanctx.Event) { events = append(events, e) }})
	for i := range 4 {
		ctx, stop := context.WithCancel(context.Background())
		cancel = stop
		content := strings.Repeat(fmt.Sprintf("line of call %d\n", i), 600)
		out, err := f.run(ctx, mw, &adk.ToolContext{Name: "t", CallID: fmt.Sprintf("c%d", i/2)}, `{}`, []string{content[:333], content[333:]})
		stop()
		require.NoError(t, err)
		require.NotContains(t, out, "injected")
		require.NotContains(t, out, "secret")
		switch path := pathIn(out); {
		case path != "":
			require.Equal(t, content, stored(t, memory, path), "call %d", i)
		case f.stream:
			require.LessOrEqual(t, len(out), 1000)
			require.Contains(t, out, "not saved")
			require.True(t, strings.HasPrefix(content, out[:100]))
			require.Contains(t, out, content[len(content)-100:])
			require.Equal(t, leanctx.KindStoreFailed, events[len(events)-1].Kind)
		default:
			require.Equal(t, content, out)
			require.Equal(t, leanctx.KindStoreFailed, events[len(events)-1].Kind)
			require.Error(t, events[len(events)-1].Err)
		}
	}
}

func TestACutNeverSplitsACharacterWhateverTheChunks(t *testing.T) {
	race.Skip(t, "streams millions of chunks")
	for _, size := range []int{1, 2, 3, 4, 5, 7, 64} {
		for _, unit := range []string{"€", "🙂", "é", "a€🙂"} {
			content := strings.Repeat(unit, 2000)
			var chunks []string
			for rest := content; rest != ""; {
				n := min(size, len(rest))
				chunks = append(chunks, rest[:n])
				rest = rest[n:]
			}
			for limit := 1000; limit < 1004; limit++ {
				store := backend.NewMemory(0)
				mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: limit})
				for i, f := range forms {
					out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: "t", CallID: fmt.Sprint("c", i)}, `{}`, chunks)
					require.NoError(t, err)
					require.True(t, utf8.ValidString(out), "%s, %q in chunks of %d", f.name, unit, size)
					require.LessOrEqual(t, len(out), limit)
					require.Equal(t, content, stored(t, store, pathIn(out)))
				}
			}
		}
	}
}
