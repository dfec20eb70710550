// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCalibration_FollowsReports: from the second request on, the corrected estimate is what a
// provider with other counts will report.
func TestCalibration_FollowsReports(t *testing.T) {
	for _, factor := range []float64{.1, .5, 1, 2, 10} {
		var c calibration
		require.Equal(t, 1000, c.correct(1000, 3), "nothing was reported yet")
		for n := 1; n < 50; n++ {
			estimated := 1000 * n
			reported := int(factor * float64(estimated))
			c.learn(estimated, 3*n, reported)
			require.InEpsilon(t, factor*7000, c.correct(7000, 21), .02, "factor %v, %d reports", factor, n)
		}
	}
}

// TestCalibration_FitsTokensAndParts: providers count a little for each part of a request.
func TestCalibration_FitsTokensAndParts(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := rand.New(rand.NewPCG(seed, 1))
	for range 20 {
		perToken, perPart := .5+2*g.Float64(), 50*g.Float64()
		report := func(estimated, parts int) int { return int(perToken*float64(estimated) + perPart*float64(parts) + .5) }
		var c calibration
		for range 10 {
			estimated, parts := 1000+g.IntN(9000), 1+g.IntN(100)
			c.learn(estimated, parts, report(estimated, parts))
		}
		require.InEpsilon(t, report(5000, 50), c.correct(5000, 50), .01, "%v per token, %v per part", perToken, perPart)
	}
}

// TestCalibration_IgnoresRequestsWithoutCounts, of which some providers report zero.
func TestCalibration_IgnoresRequestsWithoutCounts(t *testing.T) {
	var c calibration
	c.learn(0, 1, 100)
	c.learn(-1, 1, 100)
	c.learn(100, 1, 0)
	c.learn(100, 1, -1)
	require.Zero(t, c.n)
	require.Equal(t, 500, c.correct(500, 5))
}
