// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What events cost where nobody listens.

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
)

func TestEventsCostNothingWithoutAListener(t *testing.T) {
	e := &entry{info: &schema.ToolInfo{Name: "a"}}
	set := &settings{entries: []*entry{e}, byName: map[string]*entry{"a": e}}
	g, err := newGroup(context.Background(), []member{{settings: set}}, nil)
	require.NoError(t, err)
	r, ctx, names := newRun(agent{start: g}), context.Background(), []string{"a"}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		r.reported.emitCatalog(ctx, g)
		g.emitVisible(ctx, nil, names, nil, false)
		r.reported.emitDenied(ctx, g)
		r.turn().emitDeniedCall(ctx, e, PhaseCall)
		inside, report := g.settings.reporting(ctx)
		reportOf(inside).fail(nil)
		reportOf(inside).answered(g.cat.index, true)
		g.settings.emitSearched(inside, report, "a", nil)
	}))
}

// A call of a tool that was replaced meanwhile is gated like one of its successor.
func TestTheGateKnowsToolsByTheirNames(t *testing.T) {
	ctx := context.Background()
	old, err := NewToolSet(ctx, adktest.Simple("a", "old"))
	require.NoError(t, err)
	now, err := NewToolSet(ctx, adktest.Simple("a", "new"))
	require.NoError(t, err)
	set, err := newSettings(ctx, &Config{Source: now}, false)
	require.NoError(t, err)
	g, err := groupOf(ctx, []member{{settings: set, groups: newGroupCache(), set: now}})
	require.NoError(t, err)
	r := newRun(agent{start: g})
	r.notes.show([]string{})
	answer, stop := r.gate(ctx, old.lookup("a"))
	require.True(t, stop)
	require.Contains(t, answer, "did not run")
}

// What costs in proportion to the tools is done once for a set, and the index once for
// equal definitions.
func TestAnEqualSetIsNotIndexedAgain(t *testing.T) {
	ctx, made := context.Background(), 0
	set, err := newSettings(ctx, &Config{Source: &ToolSet{}, NewIndex: func(ctx context.Context, tools []*schema.ToolInfo) (Index, error) {
		made++
		return BM25Index(ctx, tools)
	}}, false)
	require.NoError(t, err)
	groups, cache := map[*group]bool{}, newGroupCache()
	for range 5 {
		tools, err := NewToolSet(ctx, adktest.Simple("a", "does a"), adktest.Simple("b", "does b"))
		require.NoError(t, err)
		for range 2 {
			g, err := groupOf(ctx, []member{{settings: set, groups: cache, set: tools}})
			require.NoError(t, err)
			groups[g] = true
		}
	}
	require.Len(t, groups, 5)
	require.Equal(t, 1, made)
}
