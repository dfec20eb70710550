// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func resultNames(results []Result) []string {
	names := make([]string, 0, len(results))
	for _, r := range results {
		names = append(names, r.Name)
	}
	return names
}

// Vectors move tools up, keep the order of those that they say nothing of, and leave what they
// were handed.
func TestVectorsOnlyMoveToolsUp(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for range 2000 {
		var lexical []Result
		var quiet []nearTool
		for i := range random.IntN(8) {
			name := fmt.Sprintf("tool %d", i)
			lexical = append(lexical, Result{Name: name, Score: float64(1 + random.IntN(9)), Confidence: random.Float64()})
			quiet = append(quiet, nearTool{name: name})
		}
		was, top := slices.Clone(lexical), vectorScore
		for i, r := range lexical {
			top = max(r.Score, top*float64(min(i, 1)))
		}
		require.Equal(t, resultNames(lexical), resultNames(blend(lexical, quiet, vectorWeight)), "nothing stands out")

		loud := slices.Clone(quiet)
		at := random.IntN(len(lexical) + 1)
		if at == len(loud) {
			loud = append(loud, nearTool{name: "another"})
		}
		loud[at].beyond = 2 * random.Float64()
		weight := vectorWeightAt(random.Float64())
		found := blend(lexical, loud, weight)
		require.Equal(t, was, lexical)
		require.True(t, slices.IsSortedFunc(found, func(a, b Result) int { return cmp.Compare(b.Score, a.Score) }))
		name := loud[at].name
		place := slices.Index(resultNames(found), name)
		require.LessOrEqual(t, place, at)
		others := slices.Delete(resultNames(found), place, place+1)
		require.Equal(t, slices.DeleteFunc(resultNames(lexical), func(n string) bool { return n == name }), others)
		require.LessOrEqual(t, found[0].Score, top*(1+vectorWeight*2), "on the scale of the words")
		for i := 1; i < len(found); i++ {
			require.GreaterOrEqual(t, found[i-1].Confidence, found[i].Confidence)
		}
	}
}

func TestTheSurerTheWordsTheLessVectorsCount(t *testing.T) {
	require.InDelta(t, vectorWeight, vectorWeightAt(0), 1e-12)
	for sure := 0.0; sure < 1; sure += .01 {
		require.GreaterOrEqual(t, vectorWeightAt(sure), vectorWeightAt(sure+.01))
	}
	require.Zero(t, vectorWeightAt(unsure))
	require.Zero(t, vectorWeightAt(1))
}
