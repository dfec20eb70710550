// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path"
	"slices"
	"strings"
)

// The endings of the two sides of a comparison with Eino.
const (
	eino = "eino"
	ours = "einolean"
)

// module starts the import path of every package here, and so is left out.
const module = "github.com/einolean/einolean/"

// series are the values of one benchmark by unit, in the order of the runs.
type series map[string][]float64

// row is one piece of work as both sides did it: Eino and einolean, or the base
// and the working tree.
type row struct {
	work string // "toolsearch: Search/tools=10000"
	a, b series
}

// splitEndings returns the samples of either side, their names without the ending.
func splitEndings(samples []sample) (theirs, own []sample) {
	for _, s := range samples {
		parent, ending := path.Split(s.name)
		s.name = strings.TrimSuffix(parent, "/")
		switch ending {
		case eino:
			theirs = append(theirs, s)
		case ours:
			own = append(own, s)
		}
	}
	return theirs, own
}

// pair groups the samples of both sides by package and name, in the order in
// which they came. Work of which one side is missing is not among the rows.
func pair(a, b []sample) (rows []row, onlyA, onlyB []string) {
	byNameA, orderA := group(a)
	byNameB, orderB := group(b)
	for _, work := range orderA {
		if byNameB[work] == nil {
			onlyA = append(onlyA, work)
			continue
		}
		rows = append(rows, row{work: work, a: byNameA[work], b: byNameB[work]})
	}
	for _, work := range orderB {
		if byNameA[work] == nil {
			onlyB = append(onlyB, work)
		}
	}
	return rows, onlyA, onlyB
}

func group(samples []sample) (byName map[string]series, order []string) {
	byName = make(map[string]series)
	for _, s := range samples {
		work := workName(s.pkg, s.name)
		if byName[work] == nil {
			byName[work] = make(series)
			order = append(order, work)
		}
		for unit, v := range s.values {
			byName[work][unit] = append(byName[work][unit], v)
		}
	}
	return byName, order
}

func workName(pkg, benchmark string) string {
	return strings.TrimPrefix(pkg, module) + ": " + benchmark
}

// median of the values of a unit; false if there are none.
func (s series) median(unit string) (float64, bool) {
	if len(s[unit]) == 0 {
		return 0, false
	}
	return median(s[unit]), true
}

// median of at least one value.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}
