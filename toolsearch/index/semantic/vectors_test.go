// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package semantic

// How vectors and words are weighed.

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/index"
)

func resultNames(results []index.Result) []string {
	names := make([]string, 0, len(results))
	for _, r := range results {
		names = append(names, r.Name)
	}
	return names
}

// Vectors move tools up, keep the order of the others, and leave their input unchanged.
func TestBlend_OnlyMovesToolsUp(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for range 2000 {
		var lexical []index.Result
		var quiet []index.Result
		for i := range random.IntN(8) {
			name := fmt.Sprintf("tool %d", i)
			lexical = append(lexical, index.Result{Name: name, Score: float64(1 + random.IntN(9)), Confidence: random.Float64()})
			quiet = append(quiet, index.Result{Name: name})
		}
		was, top := slices.Clone(lexical), vectorScore
		for i, r := range lexical {
			top = max(r.Score, top*float64(min(i, 1)))
		}
		require.Equal(t, resultNames(lexical), resultNames(blend(lexical, quiet, vectorWeight)), "nothing stands out")

		loud := slices.Clone(quiet)
		at := random.IntN(len(lexical) + 1)
		if at == len(loud) {
			loud = append(loud, index.Result{Name: "another"})
		}
		loud[at].Score = 2 * random.Float64()
		weight := vectorWeightAt(random.Float64())
		found := blend(lexical, loud, weight)
		require.Equal(t, was, lexical)
		require.True(t, slices.IsSortedFunc(found, func(a, b index.Result) int { return cmp.Compare(b.Score, a.Score) }))
		name := loud[at].Name
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

func TestVectorWeightAt_FallsWithConfidence(t *testing.T) {
	require.InDelta(t, vectorWeight, vectorWeightAt(0), 1e-12)
	for c := 0.0; c < 1; c += .01 {
		require.GreaterOrEqual(t, vectorWeightAt(c), vectorWeightAt(c+.01))
	}
	require.Zero(t, vectorWeightAt(wordsOnlyConfidence))
	require.Zero(t, vectorWeightAt(1))
}

func TestWithControls_OnlyForForeignText(t *testing.T) {
	for text, nothing := range map[string]string{
		"查询 github 的天气":     "询查 github 气天的",
		"la météo (été)":    "la oétém (été)",
		"прочитать 3 файла": "ьтатичорп 3 алйаф",
	} {
		require.Equal(t, []string{text, text + "\n" + text, nothing}, withControls(text))
	}
	require.Equal(t, []string{"it's weather, 3 – 4 €"}, withControls("it's weather, 3 – 4 €"))
	require.Equal(t, []string{""}, withControls(""))
}

func TestReliableVector_RejectsNoise(t *testing.T) {
	one, other := []float64{1, 0}, []float64{0, 1}
	require.Equal(t, one, reliableVector([][]float64{one}), "no controls")
	require.Equal(t, one, reliableVector([][]float64{one, one, other}))
	require.Nil(t, reliableVector([][]float64{one, one, one}), "all texts are alike")
	require.Nil(t, reliableVector([][]float64{one, other, {-1, 1}}), "noise")
	for _, bad := range [][]float64{nil, {0, 0}, {math.NaN(), 1}, {math.Inf(1), 1}, {1, 2, 3}} {
		require.Nil(t, reliableVector([][]float64{one, bad, other}), "%v", bad)
	}
}
