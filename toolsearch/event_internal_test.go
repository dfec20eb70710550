// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What events cost where nobody listens.

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

func TestEventsCostNothingWithoutAListener(t *testing.T) {
	e := &entry{info: &schema.ToolInfo{Name: "a"}}
	set := &settings{entries: []*entry{e}, byName: map[string]*entry{"a": e}}
	g, err := newGroup(context.Background(), []member{{settings: set}}, nil)
	require.NoError(t, err)
	r, ctx, names := newRun(g, agent{}), context.Background(), []string{"a"}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		r.emitCatalog(ctx)
		r.emitVisible(ctx, nil, names, nil, false)
		r.turn().emitDenied(ctx)
		r.turn().emitDeniedCall(ctx, e, PhaseCall)
		inside, report := g.reporting(ctx)
		reportOf(inside).fail(nil)
		reportOf(inside).answered(g.cat.index, true)
		g.emitSearched(inside, report, "a", nil)
	}))
}
