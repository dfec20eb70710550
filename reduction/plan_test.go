// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"context"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction"
)

// counting is a store that can only write, and counts.
type counting struct{ n int }

func (w *counting) Write(context.Context, *filesystem.WriteRequest) error {
	w.n++
	return nil
}

// What a pass plans is what it stores: with any limit, it stores nothing unless it clears, and a second
// pass stores nothing.
func TestAPassStoresWhatItPlanned(t *testing.T) {
	adktest.EachType(t, storesPlanned[*schema.Message], storesPlanned[*schema.AgenticMessage])
}

func storesPlanned[M adk.MessageType](t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for n := range uint64(race.Cases(300)) {
		g := newGen[M](seed + n)
		history := g.history()
		config := func(store reduction.Backend, least int64) *reduction.TypedConfig[M] {
			return &reduction.TypedConfig[M]{Backend: store, RootDir: "/tmp", SkipTruncation: true, MaxTokensForClear: 1, ClearAtLeastTokens: least, Savings: reduction.Savings{ClearArgumentsOver: 300}, ClearRetentionSuffixLimit: 1}
		}
		var saving int64
		free := config(&counting{}, 0)
		free.OnEvent = func(_ context.Context, e einolean.Event) {
			if e.Kind == einolean.KindClearDone {
				saving = e.Pass.Before - e.Pass.After
			}
		}
		before(t, typed(t, free), copyAll(history))
		for _, off := range []int64{0, int64(g.IntN(40)), -int64(g.IntN(40))} {
			store := &counting{}
			least := saving + off
			if least <= 0 {
				continue
			}
			once := before(t, typed(t, config(store, least)), copyAll(history))
			if render(once) == render(history) {
				require.Zero(t, store.n, "seed %d: it stored what it did not clear", seed+n)
				continue
			}
			stored := store.n
			require.Equal(t, render(once), render(before(t, typed(t, config(store, least)), once)), "seed %d", seed+n)
			require.Equal(t, stored, store.n, "seed %d", seed+n)
		}
	}
}
