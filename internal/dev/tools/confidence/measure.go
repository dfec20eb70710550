// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
)

// area is the area under the curve of right answers found over misplaced ones let
// through: the chance that a right answer has the higher confidence.
func area(answers []*answer) float64 {
	sorted := slices.SortedFunc(slices.Values(answers), func(a, b *answer) int { return cmp.Compare(a.confidence, b.confidence) })
	rights, ranks := 0.0, 0.0
	for i := 0; i < len(sorted); {
		j, n := i, 0.0
		for ; j < len(sorted) && sorted[j].confidence == sorted[i].confidence; j++ {
			if sorted[j].outcome == right {
				n++
			}
		}
		ranks += n * float64(i+j+1) / 2
		rights += n
		i = j
	}
	return (ranks - rights*(rights+1)/2) / (rights * (float64(len(sorted)) - rights))
}

// limitAt is the confidence below which the given share of the right answers lies.
func limitAt(answers []*answer, lost float64) float64 {
	var all []float64
	for _, a := range answers {
		if a.outcome == right {
			all = append(all, a.confidence)
		}
	}
	slices.Sort(all)
	return all[int(float64(len(all))*lost)]
}

// rejectionShares is the share of foreign requests, and of right answers, below a limit.
func rejectionShares(answers []*answer, limit float64) (foreign, rights float64) {
	var below, all [2]float64
	for _, a := range answers {
		kind := 0
		if a.outcome == right {
			kind = 1
		}
		all[kind]++
		if a.confidence < limit {
			below[kind]++
		}
	}
	return below[0] / all[0], below[1] / all[1]
}

// calibrationError is how far, on average over the answers by their weight, the share of
// right ones lies from the confidence, in five equal ranges of it.
func calibrationError(answers []*answer) float64 {
	given := slices.DeleteFunc(slices.Clone(answers), func(a *answer) bool { return a.outcome == silent })
	weigh(given)
	var weight, sure, rights [5]float64
	total := 0.0
	for _, a := range given {
		i := min(int(a.confidence*5), 4)
		weight[i] += a.weight
		sure[i] += a.weight * a.confidence
		if a.outcome == right {
			rights[i] += a.weight
		}
		total += a.weight
	}
	off := 0.0
	for i := range weight {
		off += math.Abs(rights[i] - sure[i])
	}
	return off / total
}

func printMeasures(out io.Writer, answers []*answer) {
	for _, size := range []string{"all", "100", "30", "10", "3", "1", byName} {
		of := slices.DeleteFunc(slices.Clone(answers), func(a *answer) bool { return a.size != size })
		two, five := limitAt(of, .02), limitAt(of, .05)
		at2, _ := rejectionShares(of, two)
		at5, _ := rejectionShares(of, five)
		fmt.Fprintf(out, "%-5s area %.3f, foreign requests refused where 2 %% and 5 %% of the right answers are lost: %.3f, %.3f (limits %.2f, %.2f)\n",
			size, area(of), at2, at5, two, five)
	}
	whole := slices.DeleteFunc(slices.Clone(answers), func(a *answer) bool { return a.size != "all" })
	for _, limit := range []float64{.02, .05, .1, .2, .3, .5} {
		foreign, rights := rejectionShares(whole, limit)
		fmt.Fprintf(out, "a limit of %.2f refuses %.3f of the foreign requests and %.3f of the right answers\n", limit, foreign, rights)
	}
	fmt.Fprintf(out, "\n%-28s %-20s %6s\n", "catalogue", "requests of", "area")
	for _, p := range pairs(whole) {
		fmt.Fprintf(out, "%-28s %-20s %6.3f\n", p.catalogue, p.asker, p.area)
	}
	fmt.Fprintf(out, "\n%-28s %s\n", "catalogue", "distance of confidence from the share of right answers, by the tools asked")
	for _, c := range catalogueNames(answers) {
		fmt.Fprintf(out, "%-28s", c)
		for _, size := range []string{"all", "100", "10", "3"} {
			of := slices.DeleteFunc(slices.Clone(answers), func(a *answer) bool { return a.size != size || a.label() != c })
			if len(of) > 0 {
				fmt.Fprintf(out, " %s: %.3f", size, calibrationError(of))
			}
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out)
}

// label tells the halves of a catalogue apart.
func (a *answer) label() string {
	if a.heldout {
		return a.catalogue + ", heldout"
	}
	return a.catalogue
}

func catalogueNames(answers []*answer) []string {
	names := map[string]bool{}
	for _, a := range answers {
		names[a.label()] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// pair is a catalogue with the requests of one other field.
type pair struct {
	catalogue, asker string
	area             float64
}

// pairs have the worst first.
func pairs(answers []*answer) (out []pair) {
	type key struct{ catalogue, asker string }
	rights, others := map[string][]*answer{}, map[key][]*answer{}
	for _, a := range answers {
		if a.outcome == right {
			rights[a.label()] = append(rights[a.label()], a)
		} else {
			others[key{a.label(), a.asker}] = append(others[key{a.label(), a.asker}], a)
		}
	}
	for k, foreign := range others {
		if own := rights[k.catalogue]; len(own) > 0 {
			out = append(out, pair{k.catalogue, k.asker, area(append(slices.Clone(own), foreign...))})
		}
	}
	slices.SortFunc(out, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.area, b.area), cmp.Compare(a.catalogue+a.asker, b.catalogue+b.asker))
	})
	return out
}
