// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package tokens estimates how many tokens a text has: in one pass over its bytes,
// and without allocating. The estimate is that of o200k, a vocabulary of OpenAI's;
// those of other providers differ by a factor that their answers tell, see [Factor].
//
// A tokenizer first takes a text apart by rules about kinds of characters, and then
// looks for the longest pieces that it knows. Whether a token begins at a byte so
// mostly follows from that byte, the one before it, and the run in which they stand.
// A table holds how often one begins there, as the program in tokentest/fit counted
// it; the estimate is the sum of what the table says.
package tokens

import (
	_ "embed"
	"strings"
)

//go:embed weights.txt
var weightsFile string

// The file has two lines: how often a token begins, by cell, and how rare each pair
// of letters is.
var weights, rarity = cutWeights(weightsFile)

const (
	modes     = 3 // of two letters: both small, a capital and a small one, both capital
	runs      = 6 // lengths of a run of letters
	moods     = 4 // how much in it was rare
	pairCells = 26 * 26
	otherRuns = 4 // lengths of any other run

	letterCells = modes * runs * moods * pairCells

	// Cells is the number of cells.
	Cells = letterCells + otherRuns*kinds*kinds

	// Pairs is the number of pairs of letters.
	Pairs = pairCells
)

// A weight is one character from FirstWeight on. They stand for the squares of equal
// steps, since most cells are near zero.
const (
	FirstWeight = '#'
	WeightSteps = 63
	one         = WeightSteps * WeightSteps // a whole token
)

var squares = func() (out [256]int64) {
	for i := range WeightSteps + 1 {
		out[FirstWeight+i] = int64(i * i)
	}
	return out
}()

func cutWeights(file string) (weights, rarity string) {
	weights, rarity, _ = strings.Cut(strings.TrimSuffix(file, "\n"), "\n")
	return weights, rarity
}

// Estimate returns how many tokens a text has. It is safe for concurrent use.
func Estimate(text string) int {
	sum, m := int64(0), start(rarity)
	for i := range len(text) {
		sum += squares[weights[m.next(text[i])]]
	}
	return int((sum + one - 1) / one)
}

// Walk calls f with each byte's place and its cell, given a digit from 0 to 7 for each
// pair of letters, aa to zz, that says how rare it is.
func Walk(text, rarity string, f func(at, cell int)) {
	m := start(rarity)
	for i := range len(text) {
		f(i, m.next(text[i]))
	}
}
