// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package memory_test

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

	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/memory"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

// Whatever callers ask at once, a filter hears each question once in a model call, and all get its answer; an error or
// a panic means no; the next model call asks again.
func TestAFilterIsAskedOnceInAModelCall(t *testing.T) {
	ctx, asked := context.Background(), [8]atomic.Int32{}
	p := memory.Permits[int]{Ask: func(_ context.Context, q int) (bool, error) {
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
		p.AskAgain()
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

// Over random notes: a note holds all that was noted of its call, and nothing of another, also of an earlier one
// with its id; a tool is
// returned first once between two model calls.
func TestCallsAreWhatWasNotedOfThem(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 8))
		var c memory.Calls
		want, returned := map[string]turn.Note{}, map[string]bool{}
		for range 60 {
			id := []string{"", "a", "b", "c"}[r.IntN(4)]
			switch r.IntN(6) {
			case 0:
				c.Answered()
				clear(returned)
				for id, n := range want {
					n.IsLast = false
					want[id] = n
				}
			case 1, 2:
				require.Equal(t, !returned[id], c.ReturnsFirst(id), "seed %d", seed)
				returned[id] = true
			default:
				more := turn.Note{Tool: []string{"", "x", "y"}[r.IntN(3)], IsOurs: r.IntN(3) == 0, Refused: r.IntN(4) == 0}
				if r.IntN(3) == 0 {
					more.Loaded = []string{fmt.Sprint("t", r.IntN(9))}
				}
				c.Note(id, more)
				if id == "" {
					continue // it cannot be told from others
				}
				n := want[id]
				if !n.IsLast { // of another call
					n = turn.Note{IsLast: true}
				}
				if more.Tool != "" {
					n.Tool = more.Tool
				}
				n.Loaded, n.IsOurs, n.Refused = append(slices.Clone(n.Loaded), more.Loaded...), n.IsOurs || more.IsOurs, n.Refused || more.Refused
				want[id] = n
			}
			require.Equal(t, want[id], c.Noted(id), "seed %d", seed)
		}
	}
}

// Outside of a run, as where hooks are called by hand, a record is of the process alone. It holds what was shown
// last, and each line is new once; a copy that was handed out does not change.
func TestARecordOutsideARunIsOfTheProcess(t *testing.T) {
	ctx := context.Background()
	var r memory.Record
	r.Begin(ctx)
	before, isShown := r.Now(ctx)
	require.True(t, r.ByHand())
	require.False(t, isShown || before.Began)
	r.Show(ctx, turn.Record{Visible: []string{"a"}, Reported: []string{"not taken"}})
	require.True(t, r.IsNew(ctx, "line"))
	first, isShown := r.Now(ctx)
	require.True(t, isShown)
	require.Equal(t, turn.Record{Began: true, Visible: []string{"a"}, Reported: []string{"line"}}, first)
	require.False(t, r.IsNew(ctx, "line"))
	require.True(t, r.IsNew(ctx, "another"))
	r.Update(ctx, func(next *turn.Record) { next.Bound = []string{"b"} })
	r.Save(ctx) // nobody keeps it, and nothing fails
	now, _ := r.Now(ctx)
	require.Equal(t, turn.Record{Began: true, Visible: []string{"a"}, Bound: []string{"b"}, Reported: []string{"line", "another"}}, now)
	require.Equal(t, []string{"line"}, first.Reported)
	require.Equal(t, turn.Record{}, before)
}

// A source that fails, panics or is silent costs a run nothing that it listed before.
func TestARunKeepsWhatASourceListedLast(t *testing.T) {
	ctx, sources := context.Background(), &memory.Sources{}
	require.Same(t, sources, memory.SourcesIn(sources.With(ctx)))
	first, second := hidden.New([]*hidden.Tool{{Info: &schema.ToolInfo{Name: "a"}}}), hidden.New([]*hidden.Tool{{Info: &schema.ToolInfo{Name: "b"}}})
	ask := func(set *hidden.Set, err error) (*hidden.Set, error) {
		return sources.List(ctx, "key", "Tools", func() (*hidden.Set, error) { return set, err })
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
		got, err = sources.List(ctx, "key", "Tools", func() (*hidden.Set, error) { panic("no") })
		require.ErrorContains(t, err, "no")
		require.Same(t, first, got)
	}
	got, err = ask(second, errors.New("one server of two"))
	require.Error(t, err)
	require.Same(t, second, got, "what there is beside an error counts")

	free, done := make(chan struct{}), make(chan struct{})
	short, cancel := context.WithCancel(ctx)
	got, err = sources.List(short, "key", "Tools", func() (*hidden.Set, error) {
		defer close(done)
		cancel()
		<-free
		return first, nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Same(t, second, got)
	other, err := sources.List(ctx, "another key", "Tools", func() (*hidden.Set, error) { return first, nil })
	require.NoError(t, err, "nobody else waits")
	require.Same(t, first, other)
	close(free)
	<-done
}
