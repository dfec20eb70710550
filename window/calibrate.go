// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

// calibration corrects estimates by what a provider reported for earlier requests. A
// provider counts the text and adds a little for each part of a request, so two
// factors are fitted by least squares: one per estimated token, one per part.
type calibration struct {
	n            int
	ee, ep, pp   float64 // sums of products of estimate and parts
	er, pr       float64 // and with the reported tokens
	lastEstimate float64
	lastReported float64
}

// learn adds one reported request.
func (c *calibration) learn(estimated, parts, reported int) {
	if estimated <= 0 || reported <= 0 {
		return
	}
	e, p, r := float64(estimated), float64(parts), float64(reported)
	c.n++
	c.ee += e * e
	c.ep += e * p
	c.pp += p * p
	c.er += e * r
	c.pr += p * r
	c.lastEstimate, c.lastReported = e, r
}

// correct returns the corrected estimate. With fewer than two reports, or if the two
// factors are implausible, it uses one factor: that of the newest report.
func (c *calibration) correct(estimated, parts int) int {
	if c.n == 0 {
		return estimated
	}
	perToken, perPart := c.lastReported/c.lastEstimate, 0.0
	if d := c.ee*c.pp - c.ep*c.ep; c.n > 1 && d > 1e-6*c.ee*c.pp {
		a, b := (c.er*c.pp-c.pr*c.ep)/d, (c.pr*c.ee-c.er*c.ep)/d
		if a > .25 && a < 4 && b > -20 && b < 100 {
			perToken, perPart = a, b
		}
	}
	return max(1, int(perToken*float64(estimated)+perPart*float64(parts)+.5))
}
