// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

func TestRun_NilKeepsNothing(t *testing.T) {
	var outside *run
	for range 2 {
		require.False(t, outside.startMarking())
		outside.startModelCall()
		outside.fixFactor(1.5)
		outside.recordRefusal(9)
		_, refused := outside.refusal()
		require.False(t, refused)
		require.True(t, outside.startRepeating())
		require.Zero(t, outside.factor())
	}
}

func TestRun_RefusalHoldsForOneModelCall(t *testing.T) {
	r := new(run)
	require.True(t, r.startRepeating() && r.startMarking())
	require.False(t, r.startRepeating() || r.startMarking())
	r.recordRefusal(9)
	target, refused := r.refusal()
	require.True(t, refused)
	require.Equal(t, int64(9), target)
	r.startModelCall()
	_, refused = r.refusal()
	require.False(t, refused)
}

func TestRunFrom_BelongsToOneMiddleware(t *testing.T) {
	one, other := new(settings[*schema.Message]), new(settings[*schema.Message])
	r, ctx := new(run), context.Background()
	ctx = withRun(ctx, one, r)
	require.Same(t, r, runFrom(ctx, one))
	require.Nil(t, runFrom(ctx, other))
	require.Nil(t, runFrom(ctx, new(settings[*schema.AgenticMessage])))
	fresh := withFactor(ctx, one, 0)
	require.NotNil(t, runFrom(fresh, one))
	require.NotSame(t, r, runFrom(fresh, one))
}

func TestWindowAfterRefusal_KeepsATenthFree(t *testing.T) {
	for _, c := range []struct{ refused, named, window, target int64 }{
		{1000, 0, 900, 1},     // nobody knows how short the request must be
		{1000, 500, 450, 450}, // the error names less than the request has
		{1000, 2000, 900, 900},
		{1000, 1000, 900, 900},
		{5, 0, 5, 1},
	} {
		window, target := windowAfterRefusal(c.refused, c.named)
		require.Equal(t, c.window, window, "%+v", c)
		require.Equal(t, c.target, target, "%+v", c)
	}
}
