// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package runstate_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
)

// Whatever callers ask at once, a filter hears each question once in a model call, and all get its answer; an error or
// a panic means no; the next model call asks again.
func TestFilterCache_AsksOncePerModelCall(t *testing.T) {
	ctx, asked := context.Background(), [8]atomic.Int32{}
	p := runstate.FilterCache[int]{Filter: func(_ context.Context, q int) (bool, error) {
		asked[q].Add(1)
		switch q % 4 {
		case 1:
			return true, errors.New("down")
		case 2:
			panic("broken")
		}
		return q%4 == 0, nil
	}}
	for call := range int32(3) {
		p.Reset()
		var all sync.WaitGroup
		for n := range 64 {
			all.Go(func() {
				q := n % len(asked)
				ok, err := p.Verdict(ctx, q)
				if ok != (q%4 == 0) || (err != nil) != (q%4 == 1 || q%4 == 2) {
					t.Errorf("%d: %v, %v", q, ok, err)
				}
			})
		}
		all.Wait()
		for q := range asked {
			require.Equal(t, call+1, asked[q].Load(), "question %d", q)
		}
	}
}

// Over random records: an outcome holds all that was recorded of its call, and nothing of another, also of an earlier
// one with its id. A tool is returned first once between two model calls.
func TestCallLog_OutcomeIsOfItsCallAlone(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 8))
		var c runstate.CallLog
		want, returned := map[string]runstate.CallOutcome{}, map[string]bool{}
		for range 60 {
			id := []string{"", "a", "b", "c"}[r.IntN(4)]
			switch r.IntN(6) {
			case 0:
				c.BeginModelCall()
				clear(returned)
				for id, n := range want {
					n.IsNewest = false
					want[id] = n
				}
			case 1, 2:
				require.Equal(t, !returned[id], c.MarkReturned(id), "seed %d", seed)
				returned[id] = true
			default:
				more := runstate.CallOutcome{Tool: []string{"", "x", "y"}[r.IntN(3)], IsSearch: r.IntN(3) == 0, IsRejected: r.IntN(4) == 0}
				if r.IntN(3) == 0 {
					more.Loaded = []string{fmt.Sprint("t", r.IntN(9))}
				}
				c.Record(id, more)
				if id == "" {
					continue // it cannot be told from others
				}
				n := want[id]
				if !n.IsNewest { // of another call
					n = runstate.CallOutcome{IsNewest: true}
				}
				if more.Tool != "" {
					n.Tool = more.Tool
				}
				n.Loaded, n.IsSearch, n.IsRejected = append(slices.Clone(n.Loaded), more.Loaded...), n.IsSearch || more.IsSearch, n.IsRejected || more.IsRejected
				want[id] = n
			}
			require.Equal(t, want[id], c.Outcome(id), "seed %d", seed)
		}
	}
}

// Outside a run, the state is of this process alone. It holds what was visible last, and reports each key once. A
// snapshot does not change.
func TestSavedState_OutsideRunIsOfThisProcess(t *testing.T) {
	ctx := context.Background()
	var r runstate.SavedState
	r.SetAddress(ctx)
	before, isShown := r.Snapshot(ctx)
	require.True(t, r.IsOutsideRun())
	require.False(t, isShown || before.HadModelCall)
	r.SetVisible(ctx, runstate.State{Visible: []string{"a"}, Reported: []string{"not taken"}})
	require.True(t, r.MarkReported(ctx, "line"))
	first, isShown := r.Snapshot(ctx)
	require.True(t, isShown)
	require.Equal(t, runstate.State{HadModelCall: true, Visible: []string{"a"}, Reported: []string{"line"}}, first)
	require.False(t, r.MarkReported(ctx, "line"))
	require.True(t, r.MarkReported(ctx, "another"))
	r.Update(ctx, func(next *runstate.State) { next.BoundNames = []string{"b"} })
	r.Save(ctx) // nobody keeps it, and nothing fails
	now, _ := r.Snapshot(ctx)
	require.Equal(t, runstate.State{HadModelCall: true, Visible: []string{"a"}, BoundNames: []string{"b"}, Reported: []string{"line", "another"}}, now)
	require.Equal(t, []string{"line"}, first.Reported)
	require.Equal(t, runstate.State{}, before)
}

// A source that fails, panics or is silent costs a run nothing that it listed before.
func TestSources_KeepTheLastListing(t *testing.T) {
	ctx, sources := context.Background(), &runstate.Sources{}
	require.Same(t, sources, runstate.SourcesFrom(sources.NewContext(ctx)))
	first, second := catalog.New([]*catalog.Tool{{Info: &schema.ToolInfo{Name: "a"}}}), catalog.New([]*catalog.Tool{{Info: &schema.ToolInfo{Name: "b"}}})
	ask := func(set *catalog.Set, err error) (*catalog.Set, error) {
		return sources.List(ctx, "key", "Tools", func() (*catalog.Set, error) { return set, err })
	}
	got, err := ask(nil, errors.New("down"))
	require.ErrorContains(t, err, "down")
	require.Zero(t, got.Len())
	got, err = ask(first, nil)
	require.NoError(t, err)
	require.Same(t, first, got)
	for range 2 {
		got, err = ask(nil, errors.New("down"))
		require.ErrorContains(t, err, "down")
		require.Same(t, first, got)
		got, err = sources.List(ctx, "key", "Tools", func() (*catalog.Set, error) { panic("no") })
		require.ErrorContains(t, err, "no")
		require.Same(t, first, got)
	}
	got, err = ask(second, errors.New("one server of two"))
	require.Error(t, err)
	require.Same(t, second, got, "what there is beside an error counts")

	free, done := make(chan struct{}), make(chan struct{})
	short, cancel := context.WithCancel(ctx)
	got, err = sources.List(short, "key", "Tools", func() (*catalog.Set, error) {
		defer close(done)
		cancel()
		<-free
		return first, nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Same(t, second, got)
	other, err := sources.List(ctx, "another key", "Tools", func() (*catalog.Set, error) { return first, nil })
	require.NoError(t, err, "nobody else waits")
	require.Same(t, first, other)
	close(free)
	<-done
}
