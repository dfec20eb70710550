// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"

	"github.com/einolean/einolean/internal/keyword"
)

// features are what the logistic function adds up.
func features(evidence float64, docs int, words float64) []float64 {
	return []float64{math.Log(max(evidence, 1e-9)), math.Log(keyword.RarestIDF(docs)), math.Log1p(words), 1}
}

// weights are those of the features.
func weights(c keyword.Calibration) []float64 {
	return []float64{c.Evidence, c.Size, c.Length, c.Offset}
}

// sizeWeight says how much samples count beside whole catalogues: there are more of them,
// and they are easier.
var sizeWeight = map[string]float64{"1": .1, "3": .3, "10": .7, "30": 1, "100": 1, "all": 3, byName: .5}

// fit returns the function that fits the chosen answers best.
func fit(answers []*answer, chosen func(*answer) bool) keyword.Calibration {
	var train []*answer
	for _, a := range answers {
		if a.outcome != silent && chosen(a) {
			train = append(train, a)
		}
	}
	weigh(train)
	b := newton(train)
	return keyword.Calibration{Evidence: b[0], Size: b[1], Length: b[2], Offset: b[3]}
}

// weigh makes each catalogue and size count the same in total, and within each the right
// answers as much as the misplaced ones.
func weigh(answers []*answer) {
	type group struct {
		catalogue, size string
		heldout, right  bool
	}
	of := func(a *answer) group { return group{a.catalogue, a.size, a.heldout, a.outcome == right} }
	count := map[group]float64{}
	for _, a := range answers {
		count[of(a)]++
	}
	for _, a := range answers {
		a.weight = sizeWeight[a.size] / count[of(a)]
	}
}

const (
	steps = 50
	ridge = 1e-3 // keeps the sums small where one feature separates all
)

// newton maximises the likelihood.
func newton(train []*answer) []float64 {
	b := make([]float64, len(train[0].features))
	for range steps {
		gradient, hessian := make([]float64, len(b)), make([][]float64, len(b))
		for i := range b {
			gradient[i] = -ridge * b[i]
			hessian[i] = make([]float64, len(b))
			hessian[i][i] = ridge
		}
		for _, a := range train {
			p := probability(b, a.features)
			wanted := 0.0
			if a.outcome == right {
				wanted = 1
			}
			for i, x := range a.features {
				gradient[i] += (wanted - p) * a.weight * x
				for j, y := range a.features {
					hessian[i][j] += p * (1 - p) * a.weight * x * y
				}
			}
		}
		for i, step := range solve(hessian, gradient) {
			b[i] += step
		}
	}
	return b
}

func probability(b, features []float64) float64 {
	sum := 0.0
	for i, x := range features {
		sum += b[i] * x
	}
	return 1 / (1 + math.Exp(-sum))
}

// solve returns x of m*x = v for a symmetric positive definite m, and changes both.
func solve(m [][]float64, v []float64) []float64 {
	for i := range m {
		for r := range m {
			if r == i {
				continue
			}
			f := m[r][i] / m[i][i]
			for c := range m {
				m[r][c] -= f * m[i][c]
			}
			v[r] -= f * v[i]
		}
	}
	for i := range v {
		v[i] /= m[i][i]
	}
	return v
}

// judgeLeftOut gives every answer its confidence by a function that was fitted without
// the catalogues of its origin.
func judgeLeftOut(answers []*answer) {
	fits := map[string]keyword.Calibration{}
	for _, a := range answers {
		if _, done := fits[a.origin]; !done {
			fits[a.origin] = fit(answers, func(other *answer) bool { return !other.heldout && other.origin != a.origin })
		}
	}
	for _, a := range answers {
		if a.outcome != silent {
			a.confidence = probability(weights(fits[a.origin]), a.features)
		}
	}
}
