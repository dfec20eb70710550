// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// Vectors of several sources made one.

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// unit makes a vector one of length 1, unless it is zero.
func unit(v []float64) {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	if sum == 0 {
		return
	}
	for d := range v {
		v[d] /= math.Sqrt(sum)
	}
}

// side makes vectors of a source ready to stand beside those of another: each without what all
// have in common, and of length 1. What all have in common is their mean, and the directions in
// which they differ most, which tell how frequent words are more than what they mean
// (Mu and Viswanath, ICLR 2018).
func side(vectors [][]float64, directions int) {
	mean := make([]float64, len(vectors[0]))
	for _, v := range vectors {
		for d, x := range v {
			mean[d] += x / float64(len(vectors))
		}
	}
	for _, v := range vectors {
		for d := range v {
			v[d] -= mean[d]
		}
	}
	for _, common := range mainDirections(vectors, directions) {
		for _, v := range vectors {
			shared := 0.0
			for d, x := range v {
				shared += x * common[d]
			}
			for d := range v {
				v[d] -= shared * common[d]
			}
		}
	}
	for _, v := range vectors {
		unit(v)
	}
}

// mainDirections returns the n directions in which vectors are longest.
func mainDirections(vectors [][]float64, n int) [][]float64 {
	products := make([][]float64, len(vectors[0]))
	for i := range products {
		products[i] = make([]float64, len(products))
	}
	for _, v := range vectors {
		for i, x := range v {
			for j, y := range v {
				products[i][j] += x * y
			}
		}
	}
	values, columns := eigen(products)
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	directions := make([][]float64, n)
	for i := range directions {
		for _, row := range columns {
			directions[i] = append(directions[i], row[order[i]])
		}
	}
	return directions
}

// groups reads words of similar meaning, those of one line each, as stems.
func groups(list string, s stems) (out [][]string) {
	for line := range strings.Lines(list) {
		if !strings.HasPrefix(line, "#") {
			out = append(out, strings.Fields(s.text(line)))
		}
	}
	return out
}

const (
	pull       = 0.5 // of the words of similar meaning, compared with the word itself
	pullRounds = 5
)

// retrofit draws vectors of length 1 towards those of words of similar meaning
// (Faruqui and others, NAACL 2015).
func retrofit(vectors map[string][]float64, groups [][]string) {
	near := map[string]map[string]bool{}
	for _, group := range groups {
		for _, a := range group {
			for _, b := range group {
				if a == b || vectors[a] == nil || vectors[b] == nil {
					continue
				}
				if near[a] == nil {
					near[a] = map[string]bool{}
				}
				near[a][b] = true
			}
		}
	}
	own := map[string][]float64{}
	for w := range near {
		own[w] = slices.Clone(vectors[w])
	}
	words := slices.Sorted(maps.Keys(near))
	for range pullRounds {
		for _, w := range words {
			v := vectors[w]
			copy(v, own[w])
			for _, other := range slices.Sorted(maps.Keys(near[w])) {
				for d, x := range vectors[other] {
					v[d] += pull * x / float64(len(near[w]))
				}
			}
			unit(v)
		}
	}
}
