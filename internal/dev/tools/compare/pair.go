// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// The two endings, and so the two sides.
const (
	eino = "eino"
	ours = "einolean"
)

// module starts the import path of every package here, and so is left out.
const module = "github.com/einolean/einolean/"

// row is one piece of work as both sides did it.
type row struct {
	work  string                        // "toolsearch: Search/tools=10000"
	sides map[string]map[string]float64 // side to unit to median
}

// pair groups samples by work, in the order in which the work first came, and
// takes the median of each unit. The error names the work of which one side is
// missing; it is not among the rows.
func pair(samples []sample) ([]row, error) {
	var order []string
	runs := make(map[string]map[string]map[string][]float64) // the values by work, side and unit
	for _, s := range samples {
		parent, side := path.Split(s.name)
		if side != eino && side != ours {
			continue
		}
		work := strings.TrimPrefix(s.pkg, module) + ": " + strings.TrimSuffix(parent, "/")
		if runs[work] == nil {
			runs[work] = map[string]map[string][]float64{eino: {}, ours: {}}
			order = append(order, work)
		}
		for unit, v := range s.values {
			runs[work][side][unit] = append(runs[work][side][unit], v)
		}
	}
	if len(order) == 0 {
		return nil, errors.New("no benchmark has a name that ends in /" + eino + " or /" + ours)
	}
	var rows []row
	var missing []error
	for _, work := range order {
		sides := map[string]map[string]float64{eino: medians(runs[work][eino]), ours: medians(runs[work][ours])}
		if len(sides[eino]) == 0 || len(sides[ours]) == 0 {
			missing = append(missing, fmt.Errorf("%s was measured on one side only", work))
			continue
		}
		rows = append(rows, row{work: work, sides: sides})
	}
	return rows, errors.Join(missing...)
}

func medians(units map[string][]float64) map[string]float64 {
	out := make(map[string]float64, len(units))
	for unit, values := range units {
		out[unit] = median(values)
	}
	return out
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
