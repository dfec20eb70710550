// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// What is promised of every store, whatever it can do and whatever of it breaks:
// content is in the conversation whole, or the path that the notice shows gives back
// every byte of it.

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/backend/backendtest"
	"github.com/leanctx/leanctx/reduction"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

// powerSets returns a store with each subset of the powers that callers ask for.
func powerSets(m backendtest.FullStore) []reduction.Backend {
	type (
		bk = backend.Backend
		rd = backend.Reader
		rg = backend.RangeReader
		cr = backend.Creator
		ca = backend.AnyCreator
	)
	return []reduction.Backend{
		struct{ bk }{m}, struct {
			bk
			ca
		}{m, m}, struct {
			bk
			cr
		}{m, m}, struct {
			bk
			cr
			ca
		}{m, m, m}, struct {
			bk
			rg
		}{m, m}, struct {
			bk
			rg
			ca
		}{m, m, m}, struct {
			bk
			rg
			cr
		}{m, m, m}, struct {
			bk
			rg
			cr
			ca
		}{m, m, m, m}, struct {
			bk
			rd
		}{m, m}, struct {
			bk
			rd
			ca
		}{m, m, m}, struct {
			bk
			rd
			cr
		}{m, m, m}, struct {
			bk
			rd
			cr
			ca
		}{m, m, m, m}, struct {
			bk
			rd
			rg
		}{m, m, m}, struct {
			bk
			rd
			rg
			ca
		}{m, m, m, m}, struct {
			bk
			rd
			rg
			cr
		}{m, m, m, m}, struct {
			bk
			rd
			rg
			cr
			ca
		}{m, m, m, m, m},
	}
}

// powersOf says which of Reader, RangeReader, Creator and AnyCreator a store is.
func powersOf(b reduction.Backend) (p [4]bool) {
	_, p[0] = b.(reduction.Reader)
	_, p[1] = b.(reduction.RangeReader)
	_, p[2] = b.(reduction.Creator)
	_, p[3] = b.(reduction.AnyCreator)
	return p
}

func TestWhateverAStoreCanAndWhateverBreaksNothingIsLost(t *testing.T) {
	sets := len(powerSets(backend.NewMemory(0)))
	var seen struct{ cut, whole, unsaved, cleared int }
	for set := range sets {
		t.Run(fmt.Sprint(powersOf(powerSets(backend.NewMemory(0))[set])), func(t *testing.T) {
			for seed := range 2 * histories() {
				b := newBreaking(t, seed, set)
				for range 8 {
					switch b.call() {
					case "cut":
						seen.cut++
					case "whole":
						seen.whole++
					case "unsaved":
						seen.unsaved++
					}
					if b.chance(10) {
						b.clean()
					}
				}
				b.othersStand()
				seen.cleared += clearBreaking[*schema.Message](t, seed, set) + clearBreaking[*schema.AgenticMessage](t, seed, set)
			}
		})
	}
	for _, n := range []int{seen.cut, seen.whole, seen.unsaved, seen.cleared} {
		require.Greater(t, n, 5*sets, "too few of one outcome: %+v", seen)
	}
}

// breaking is a store with a set of powers, some calls of which go wrong, and
// which holds contents of others. It is used by one goroutine at a time.
type breaking struct {
	*testing.T
	*gen[*schema.Message]
	seed    uint64
	memory  *backend.Memory
	faulty  *backendtest.Faulty
	store   reduction.Backend
	powers  [4]bool
	mw      wrapper
	others  map[string]string // by path
	cancel  func()
	faults  map[backendtest.Op]int // how likely each is to go wrong, in percent
	written bool                   // a write has gone wrong
}

func newBreaking(t *testing.T, seed uint64, set int) *breaking {
	g := newGen[*schema.Message](seed)
	b := &breaking{T: t, gen: g, seed: seed, memory: backend.NewMemory(0), others: map[string]string{}, cancel: func() {}, faults: map[backendtest.Op]int{}}
	for _, op := range []backendtest.Op{backendtest.OpWrite, backendtest.OpCreate, backendtest.OpRead, backendtest.OpReadRange, backendtest.OpDelete} {
		b.faults[op] = []int{0, 20, 70}[g.IntN(3)]
	}
	b.faulty = backendtest.NewFaulty(b.memory, b.plan)
	b.store = powerSets(b.faulty)[set]
	b.powers = powersOf(b.store)
	for _, dir := range []string{vault.TruncDir, vault.ClearDir} {
		for n := range callIDs {
			if g.chance(30) {
				path := vault.DefaultPath("/tmp", dir, callID(n))
				b.others[path] = strings.Repeat("of somebody else\n", 1+g.IntN(300))
				require.NoError(t, b.memory.Write(t.Context(), &filesystem.WriteRequest{FilePath: path, Content: b.others[path]}))
			}
		}
	}
	b.mw = typed(t, &reduction.Config{Backend: b.store, MaxLengthForTrunc: 1000})
	return b
}

const callIDs = 3

func callID(n int) string { return fmt.Sprintf("c/%d", n) }

func (b *breaking) readable() bool { return b.powers[0] || b.powers[1] }

// plan lets calls go wrong in every way but two. A store that says it kept what it
// did not keep can only be found out if it then tells its size. And what is written
// again, because a store cannot be asked for it, stays or is replaced whole, as every
// store must do.
func (b *breaking) plan(c backendtest.Call) backendtest.Fault {
	if !b.chance(b.faults[c.Op]) {
		return backendtest.Fault{}
	}
	mode := faultModes[1+b.IntN(len(faultModes)-1)]
	writes := c.Op == backendtest.OpWrite || c.Op == backendtest.OpCreate
	if mode == backendtest.Torn && writes {
		b.faults[backendtest.OpReadRange] = 0
		if !b.powers[1] {
			mode = backendtest.Short
		}
	}
	switch {
	case mode == backendtest.Short && c.Op == backendtest.OpWrite && b.has(c.Path):
		mode = backendtest.Fail
	case mode == backendtest.Hang && b.chance(80):
		mode = backendtest.Fail
	case mode == backendtest.Hang:
		defer b.cancel() // what hangs gets to hang, and no longer
	}
	b.written = b.written || writes || mode == backendtest.Hang
	return backendtest.Fault{Mode: mode, After: []int64{0, 1, 700, 1500}[b.IntN(4)]}
}

// call cuts one result and says what came of it.
func (b *breaking) call() string {
	f := forms[b.IntN(len(forms))]
	content := strings.Repeat(fmt.Sprintf("line %d of a result\n", b.IntN(3)), 80+10*b.IntN(8))
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	b.cancel, b.written = stop, false
	at := b.IntN(len(content))
	out, err := f.run(ctx, b.mw, &adk.ToolContext{Name: "t", CallID: callID(b.IntN(callIDs))}, `{}`, []string{content[:at], content[at:]})
	where := fmt.Sprintf("seed %d, %s", b.seed, f.name)
	require.NoError(b.T, err, where)
	require.NotContains(b.T, out, "injected", where)
	switch path := pathIn(out); {
	case out == content:
		require.False(b.T, f.stream, "%s: a stream is longer than its limit", where)
		return "whole"
	case path != "":
		require.LessOrEqual(b.T, len(out), 1000, where)
		require.Equal(b.T, content, stored(b.T, b.memory, path), "%s: lost, at %q", where, path)
		return "cut"
	}
	require.True(b.T, f.stream && b.written, "%s: lost, though nothing failed that had to be written", where)
	require.Contains(b.T, out, "not saved", where)
	require.LessOrEqual(b.T, len(out), 1000, where)
	require.True(b.T, strings.HasPrefix(content, out[:100]) && strings.Contains(out, content[len(content)-100:]), where)
	return "unsaved"
}

// clean lets the owner of the store delete what is in it, which may fail. What
// arrives later must not be taken for stored. A store that cannot be asked does not
// learn of it.
func (b *breaking) clean() {
	if !b.readable() {
		return
	}
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	b.cancel = stop
	func() {
		defer func() { _ = recover() }()
		_, _, _ = b.faulty.DeleteUnused(ctx, "", time.Now().Add(time.Hour))
	}()
	maps.DeleteFunc(b.others, func(path, _ string) bool { return !b.has(path) })
}

func (b *breaking) has(path string) bool {
	_, err := b.memory.Read(context.Background(), &filesystem.ReadRequest{FilePath: path})
	return err == nil
}

// othersStand holds that nothing was written over what somebody else had stored,
// as far as the store can tell that it is there.
func (b *breaking) othersStand() {
	if !b.readable() && !b.powers[2] {
		return
	}
	for path, content := range b.others {
		require.Equal(b.T, content, stored(b.T, b.memory, path), "seed %d: %q was written over", b.seed, path)
	}
}

// clearBreaking clears a history and says how many results were cleared.
func clearBreaking[M adk.MessageType](t *testing.T, seed uint64, set int) (cleared int) {
	b, g := newBreaking(t, seed, set), newGen[M](seed)
	mw := typed(t, &reduction.TypedConfig[M]{Backend: b.store, MaxTokensForClear: 1})
	msgs := g.history()
	for n := range callIDs {
		msgs = append(msgs, adktest.Assistant[M]("", adktest.ToolCall{ID: callID(n), Name: "shell", Args: `{}`}),
			adktest.Result[M](callID(n), "shell", strings.Repeat(fmt.Sprintln("result", n), 50)))
	}
	given := copyAll(msgs)
	out := msgs
	for range 3 {
		ctx, stop := context.WithCancel(t.Context())
		b.cancel = stop
		_, state, err := mw.BeforeModelRewriteState(ctx, &adk.TypedChatModelAgentState[M]{Messages: out}, nil)
		stop()
		require.NoError(t, err, "seed %d", seed)
		out = state.Messages
	}
	require.Equal(t, given, msgs)
	for i := range out {
		was, is := g.shape.answers(given[i]), g.shape.answers(out[i])
		for j := range is {
			if is[j].joined() != was[j].joined() {
				require.NotContains(t, is[j].joined(), "injected")
				require.Equal(t, was[j].joined(), stored(t, b.memory, pathIn(is[j].joined())), "seed %d, message %d", seed, i)
				cleared++
			}
		}
	}
	b.othersStand()
	return cleared
}
