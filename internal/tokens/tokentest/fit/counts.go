// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"strings"

	"github.com/einolean/einolean/internal/tokens"
)

// tally is how many bytes were seen and with how many a token began.
type tally struct{ seen, begun float64 }

// share is the part that begins tokens, drawn towards expected as if it had been seen
// weight times.
func (t tally) share(expected, weight float64) float64 {
	return (t.begun + expected*weight) / (t.seen + weight)
}

// counts holds a tally for each cell.
type counts struct{ cells []tally }

func newCounts() *counts { return &counts{make([]tally, tokens.Cells)} }

func (c *counts) add(text, rarity string, starts []int) {
	next := 0
	tokens.Walk(text, rarity, func(at, cell int) {
		c.cells[cell].seen++
		if next < len(starts) && starts[next] == at {
			c.cells[cell].begun++
			for next < len(starts) && starts[next] == at {
				next++
			}
		}
	})
}

// How often something counts as seen that the next coarser view says.
const (
	cellWeight   = 25
	coarseWeight = 30
)

// weights writes the shares. A cell that was rarely seen is drawn towards the mean of
// two coarser views: all cells of its situation, and all of its pair.
func (c *counts) weights() string {
	bySituation, byPair := make(map[int]tally), make(map[int]tally)
	for i, t := range c.cells {
		situation, pair := tokens.Coarser(i)
		bySituation[situation] = sum(bySituation[situation], t)
		byPair[pair] = sum(byPair[pair], t)
	}
	var out strings.Builder
	for i, t := range c.cells {
		situation, pair := tokens.Coarser(i)
		general := bySituation[situation].share(.3, coarseWeight)
		general = (general + byPair[pair].share(general, coarseWeight)) / 2
		p := t.share(general, cellWeight)
		out.WriteByte(byte(tokens.FirstWeight + math.Round(math.Sqrt(p)*tokens.WeightSteps)))
	}
	return out.String()
}

func sum(a, b tally) tally { return tally{a.seen + b.seen, a.begun + b.begun} }
