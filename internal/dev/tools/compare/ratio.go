// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import "math"

// criticalT are the .975 quantiles of Student's t distribution for 1 to 30
// degrees of freedom: NIST/SEMATECH e-Handbook of Statistical Methods, section
// 1.3.6.7.2, https://www.itl.nist.gov/div898/handbook/eda/section3/eda3672.htm.
var criticalT = []float64{
	12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
	2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
	2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
}

// estimate is a ratio with its 95 % confidence interval.
type estimate struct{ ratio, low, high float64 }

// estimateRatio compares the runs of both sides in pairs: the first with the
// first, and so on. The ratio is the geometric mean of the pairs' ratios. Its
// interval is that of the mean of their logarithms by Student's t distribution
// (Student, "The Probable Error of a Mean", Biometrika 6, 1908). It suits few
// pairs, for which a bootstrap percentile interval is too narrow (Hesterberg,
// "What Teachers Should Know About the Bootstrap", The American Statistician 69,
// 2015). For more than 31 pairs the quantile for 31 serves: the interval is then
// up to 5 % too wide.
//
// One pair has no interval: it reaches from 0 to infinity. It returns false if
// there is no pair, or if a value is not a positive number.
func estimateRatio(over, under []float64) (estimate, bool) {
	n := min(len(over), len(under))
	if n == 0 {
		return estimate{}, false
	}
	logs := make([]float64, n)
	for i := range logs {
		if !isPositive(over[i]) || !isPositive(under[i]) {
			return estimate{}, false
		}
		logs[i] = math.Log(over[i]) - math.Log(under[i])
	}
	center := mean(logs)
	if n == 1 {
		return estimate{ratio: math.Exp(center), low: 0, high: math.Inf(1)}, true
	}
	var squares float64
	for _, v := range logs {
		squares += (v - center) * (v - center)
	}
	freedom := n - 1
	t := criticalT[min(freedom, len(criticalT))-1]
	margin := t * math.Sqrt(squares/float64(freedom)/float64(n))
	return estimate{ratio: math.Exp(center), low: math.Exp(center - margin), high: math.Exp(center + margin)}, true
}

func isPositive(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// verdict judges a ratio of times: it names a difference only if the whole
// interval lies on one side of 1.
func (e estimate) verdict() string {
	switch {
	case e.low > 1:
		return "slower"
	case e.high < 1:
		return "faster"
	}
	return "same"
}
