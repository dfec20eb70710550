// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// When results of a search are prefetched.

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/index"
)

// sure is an index that is as sure of the tool a as it says.
type sure float64

func (s sure) Search(context.Context, index.Query) ([]index.Result, error) {
	return []index.Result{{Name: "a", Score: 9, Confidence: float64(s)}}, nil
}

// Nothing is loaded for a message unless some tool probably serves it.
func TestNothingIsPrefetchedBelowTheConfidence(t *testing.T) {
	ctx := context.Background()
	for _, confidence := range []float64{0.0001, sureEnough * 0.99, sureEnough, 0.5} {
		set, err := newSettings(ctx, &Config{DynamicTools: []tool.BaseTool{withInfo("a", nil)}, Prefetch: 2, NewIndex: func(context.Context, []*schema.ToolInfo) (index.Index, error) {
			return sure(confidence), nil
		}}, false)
		require.NoError(t, err)
		c, err := newCatalogs(set).find(ctx, parts{})
		require.NoError(t, err)
		r := newRun(c)
		found, err := newSearcher(r, PhaseSearch, PhaseLoad).likely(ctx, "what a does", 2)
		require.NoError(t, err)
		require.Equal(t, confidence >= sureEnough, len(found) > 0, "%v", confidence)
	}
}
