// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package tokens

// What a provider's count may be of the estimate. Beyond it, the request was not the
// one that was estimated, or the provider reports something else.
const (
	MinRatio = .6
	MaxRatio = 1.8
)

// Correction learns from the counts of a provider how its tokens relate to
// estimated ones. The zero value has learned nothing. It is not safe for concurrent use.
type Correction struct {
	last [3]float64
	n    int
}

// Add takes the tokens that a provider reports for a request, and their estimate. A
// count that cannot be that of the request is ignored.
func (c *Correction) Add(reported, estimated int64) {
	if reported <= 0 || estimated <= 0 {
		return
	}
	if ratio := float64(reported) / float64(estimated); ratio >= MinRatio && ratio <= MaxRatio {
		c.last[c.n%len(c.last)] = ratio
		c.n++
	}
}

// Factor is what to multiply estimates with: the median of the last three ratios, the
// mean of two, and 1 of fewer.
func (c *Correction) Factor() float64 {
	switch a, b, d := c.last[0], c.last[1], c.last[2]; {
	case c.n < 2:
		return 1
	case c.n == 2:
		return (a + b) / 2
	default:
		return max(min(a, b), min(max(a, b), d))
	}
}
