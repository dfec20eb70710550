// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch/index"
)

// sure is an index that is as sure of the tool a as it says.
type sure float64

func (s sure) Search(context.Context, index.Query) ([]index.Result, error) {
	return []index.Result{{Name: "a", Score: 9, Confidence: float64(s)}}, nil
}

// A text asks for nothing unless some tool probably serves it.
func TestSearchForPrefetch_NeedsMinimumConfidence(t *testing.T) {
	ctx := context.Background()
	for _, confidence := range []float64{0.0001, prefetchMinConfidence * 0.99, prefetchMinConfidence, 0.5} {
		s := searcherOf(t, adktest.Simple("a", "does a"))
		s.Tools.Indexes = NewIndexes(s.Tools.Set)
		s.Tools.BuildIndex(ctx, func(context.Context, []*schema.ToolInfo) (index.Index, error) { return sure(confidence), nil })
		require.Equal(t, confidence >= prefetchMinConfidence, len(s.SearchForPrefetch(ctx, "what a does", 2)) > 0, "%v", confidence)
		require.Empty(t, s.SearchForPrefetch(ctx, "", 2))
	}
}

// A result is doubtful if each confidence is known and below one half, and only with MinConfidence.
func TestIsDoubtful_NeedsLowConfidenceInEveryHit(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		confidence, minConfidence float64
		texts                     []string
		want                      bool
	}{
		{0.3, 0.05, []string{"what a does"}, true},
		{0.5, 0.05, []string{"what a does"}, false},
		{0.3, 0, []string{"what a does"}, false},
		{0.01, 0.05, []string{"what a does"}, false}, // held back
		{0.3, 0.05, []string{"what a does", "select:b"}, false},
		{0.3, 0.05, []string{"select:a"}, false},
	} {
		s := searcherOf(t, adktest.Simple("a", "does a"), adktest.Simple("b", "does b"))
		s.Tools.Indexes = NewIndexes(s.Tools.Set)
		s.Tools.BuildIndex(ctx, func(context.Context, []*schema.ToolInfo) (index.Index, error) { return sure(c.confidence), nil })
		s.Limits.MinConfidence = c.minConfidence
		r, err := s.Search(ctx, Query{Texts: c.texts})
		require.NoError(t, err)
		require.Equal(t, c.want, r.IsDoubtful(), "%+v", c)
	}
}
