// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What events cost where nobody listens.

import (
	"context"
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
	"github.com/einolean/einolean/toolsearch/toolset"
)

func TestOnEvent_WithoutListenerCostsNothing(t *testing.T) {
	e := &catalog.Tool{Info: &schema.ToolInfo{Name: "a"}}
	set := &settings{dynamicTools: catalog.New([]*catalog.Tool{e})}
	g := newCatalog(newCatalogCache(set), catalogKey{}, nil)
	r, ctx := newRun(g), context.Background()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		r.filterDenies(ctx, "", e, phasesCall)
	}))
}

// A call is gated by the name of its tool, which another of the same name may have replaced meanwhile.
func TestGate_LooksUpToolsByName(t *testing.T) {
	ctx := context.Background()
	now, err := toolset.New(ctx, adktest.Simple("a", "new"))
	require.NoError(t, err)
	set, err := newSettings(ctx, &Config{Source: now}, false)
	require.NoError(t, err)
	g, err := newCatalogCache(set).find(ctx, catalogKey{sourceTools: (*catalog.Set)(now)})
	require.NoError(t, err)
	r := newRun(g)
	r.state.SetVisible(ctx, runstate.State{Visible: []string{}})
	verdict := r.CheckCall(ctx, "a", "{}")
	require.False(t, verdict.Runs)
	require.Contains(t, verdict.Answer, "did not run")
}

// What costs in proportion to the tools is done once for a set, and the index once for
// equal definitions.
func TestCatalogCache_EqualSetIsNotIndexedAgain(t *testing.T) {
	ctx, made := context.Background(), 0
	set, err := newSettings(ctx, &Config{Source: &toolset.Set{}, NewIndex: func(ctx context.Context, tools []*schema.ToolInfo) (index.Index, error) {
		made++
		return index.BM25(ctx, tools)
	}}, false)
	require.NoError(t, err)
	all, groups := newCatalogCache(set), map[*toolCatalog]bool{}
	for range 5 {
		tools, err := toolset.New(ctx, adktest.Simple("a", "does a"), adktest.Simple("b", "does b"))
		require.NoError(t, err)
		for range 2 {
			g, err := all.find(ctx, catalogKey{sourceTools: (*catalog.Set)(tools)})
			require.NoError(t, err)
			groups[g] = true
		}
	}
	require.Len(t, groups, 5)
	require.Equal(t, 1, made)
}

// A function that takes long to index one user's tools holds up nobody else's run.
func TestCatalogCache_SlowIndexBlocksNoOtherRun(t *testing.T) {
	ctx, entered, free := context.Background(), make(chan struct{}), make(chan struct{})
	set, err := newSettings(ctx, &Config{Source: &toolset.Set{}, NewIndex: func(ctx context.Context, tools []*schema.ToolInfo) (index.Index, error) {
		if tools[0].Name == "slow" {
			close(entered)
			<-free
		}
		return index.Keyword(ctx, tools)
	}}, false)
	require.NoError(t, err)
	all := newCatalogCache(set)
	begin := func(name string) error {
		tools, err := toolset.New(ctx, adktest.Simple(name, "does it"))
		if err == nil {
			_, err = all.find(ctx, catalogKey{sourceTools: (*catalog.Set)(tools)})
		}
		return err
	}
	slow, quick := make(chan error, 1), make(chan error, 1)
	go func() { slow <- begin("slow") }()
	<-entered
	go func() { quick <- begin("quick") }()
	select {
	case err := <-quick:
		require.NoError(t, err)
	case <-time.After(30 * time.Second):
		t.Error("it waits")
	}
	close(free)
	require.NoError(t, <-slow)
}
