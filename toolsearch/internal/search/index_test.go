// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/index"
)

// fixedIndex returns the same results for every query.
type fixedIndex []index.Result

func (x fixedIndex) Search(context.Context, index.Query) ([]index.Result, error) { return x, nil }

func TestSearchIndex_MakesNumbersFinite(t *testing.T) {
	given := fixedIndex{
		{Name: "a", Score: math.Inf(1), Confidence: math.Inf(1)}, {Name: "b", Score: math.NaN(), Confidence: math.NaN()}, {Name: "c", Score: math.Inf(-1), Confidence: math.Inf(-1)}, {Name: "d", Score: 1, Confidence: 2}, {Name: "e", Score: 1, Confidence: -1}, {Name: "f", Score: .5, Confidence: .5},
	}
	was := slices.Clone(given[3:])
	found, err := searchIndex(context.Background(), given, index.Query{})
	require.NoError(t, err)
	require.Equal(t, []index.Result{
		{Name: "a", Score: math.MaxFloat64, Confidence: 1}, {Name: "b", Score: 0, Confidence: 0}, {Name: "c", Score: -math.MaxFloat64, Confidence: 0}, {Name: "d", Score: 1, Confidence: 1}, {Name: "e", Score: 1, Confidence: 0}, {Name: "f", Score: .5, Confidence: .5},
	}, found)
	require.Equal(t, was, given[3:], "what the index returned is left as it is")
	_, err = json.Marshal(found)
	require.NoError(t, err)

	fine := fixedIndex{{Name: "a", Score: 1, Confidence: .5}}
	same, err := searchIndex(context.Background(), fine, index.Query{})
	require.NoError(t, err)
	require.Same(t, &fine[0], &same[0], "no copy")
}
