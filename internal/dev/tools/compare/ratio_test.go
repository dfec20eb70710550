// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// tDensity is the density of Student's t distribution.
func tDensity(x, freedom float64) float64 {
	a, _ := math.Lgamma((freedom + 1) / 2)
	b, _ := math.Lgamma(freedom / 2)
	return math.Exp(a-b) / math.Sqrt(freedom*math.Pi) * math.Pow(1+x*x/freedom, -(freedom+1)/2)
}

func TestCriticalT_Encloses95Percent(t *testing.T) {
	for i, critical := range criticalT {
		const steps = 100_000
		width := 2 * critical / steps
		var area float64
		for step := range steps {
			area += width * tDensity(-critical+(float64(step)+.5)*width, float64(i+1))
		}
		require.InDelta(t, .95, area, 1e-4, "%d degrees of freedom", i+1)
	}
}

func TestEstimateRatio_KnownExample(t *testing.T) {
	// The logarithms of the ratios are 0, ln 2 and 2 ln 2: their mean is ln 2,
	// their standard deviation ln 2, and t with 2 degrees of freedom is 4.303.
	got, ok := estimateRatio([]float64{5, 20, 12}, []float64{5, 10, 3})
	require.True(t, ok)
	require.InDelta(t, 2, got.ratio, 1e-9)
	require.InDelta(t, math.Pow(2, 1-4.303/math.Sqrt(3)), got.low, 1e-9)
	require.InDelta(t, math.Pow(2, 1+4.303/math.Sqrt(3)), got.high, 1e-9)
}

func TestEstimateRatio_OnlyOfPairs(t *testing.T) {
	one, ok := estimateRatio([]float64{6, 1}, []float64{3})
	require.True(t, ok)
	require.Equal(t, estimate{ratio: one.ratio, high: math.Inf(1)}, one)
	require.InDelta(t, 2, one.ratio, 1e-9)
	require.Equal(t, "same", one.verdict())
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, ok := estimateRatio([]float64{1, bad}, []float64{1, 1})
		require.False(t, ok, "%v", bad)
		_, ok = estimateRatio([]float64{1, 1}, []float64{bad, 1})
		require.False(t, ok, "%v", bad)
	}
	_, ok = estimateRatio(nil, []float64{1})
	require.False(t, ok)
}

func TestEstimateRatio_SwappedSidesInvert(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		n := 2 + r.IntN(40)
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = math.Exp(r.NormFloat64()), math.Exp(r.NormFloat64())
		}
		there, ok := estimateRatio(a, b)
		require.True(t, ok)
		require.LessOrEqual(t, there.low, there.ratio)
		require.LessOrEqual(t, there.ratio, there.high)
		back, ok := estimateRatio(b, a)
		require.True(t, ok)
		require.InEpsilon(t, 1/there.ratio, back.ratio, 1e-9)
		require.InEpsilon(t, 1/there.low, back.high, 1e-9)
		require.InEpsilon(t, 1/there.high, back.low, 1e-9)
	}
}

func TestEstimateRatio_IntervalCoversTruth(t *testing.T) {
	const trials, truth = 4000, 1.1
	for _, n := range []int{2, 3, 10, 40} {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		var covered int
		for range trials {
			a, b := make([]float64, n), make([]float64, n)
			for i := range n {
				a[i] = truth * math.Exp(.05*r.NormFloat64())
				b[i] = math.Exp(.05 * r.NormFloat64())
			}
			if e, _ := estimateRatio(a, b); e.low <= truth && truth <= e.high {
				covered++
			}
		}
		// Four standard errors, and .01 more: with many pairs the interval is a little too wide.
		require.InDelta(t, .955, float64(covered)/trials, .0188, "%d pairs", n)
	}
}

func TestVerdict_NeedsWholeIntervalOnOneSide(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{{1.001, 1.2, "slower"}, {.8, .999, "faster"}, {.9, 1.1, "same"}, {1, 1.1, "same"}, {.9, 1, "same"}, {1, 1, "same"}} {
		require.Equal(t, c.want, estimate{ratio: 1, low: c.low, high: c.high}.verdict(), "%v", c)
	}
}
