// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package tokens estimates how many tokens a text has: in one pass over its bytes,
// and without allocating. The estimate is that of o200k, a vocabulary of OpenAI's;
// those of other providers differ by a factor that their answers tell, see [Correction].
//
// A tokenizer first takes a text apart by rules about kinds of characters, and then
// looks for the longest pieces that it knows. Whether a token begins at a byte so
// mostly follows from that byte, the one before it, and the run in which they stand.
// A table holds how often one begins there, as the program in tokentest/fit counted
// it; the estimate is the sum of what the table says.
package tokens

import (
	_ "embed"
	"hash/maphash"
	"strings"
	"sync/atomic"
)

//go:embed weights.txt
var weightsFile string

// The file has two lines: how often a token begins, by cell, and how rare each pair
// of letters is.
var weights, rarity, _ = strings.Cut(strings.TrimSuffix(weightsFile, "\n"), "\n")

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

const (
	// minRemembered is the least size in bytes of a text worth remembering: hashing a shorter one
	// takes about as long as reading it.
	minRemembered = 128

	// Texts are remembered in pages, which are made when they are first needed. All pages
	// together take 2 MB, whatever the sizes of the texts.
	pageBits      = 6
	setsBits      = 9
	entriesPerSet = 4
	wholeBits     = 64
)

// entry holds the size and the tokens of a text. Its two halves are written one after the
// other; a half of another text is found out because check does not fit.
type entry struct{ check, value atomic.Uint64 }

type page [1 << setsBits][entriesPerSet]entry

var (
	hashSeed = maphash.MakeSeed()
	pages    [1 << pageBits]atomic.Pointer[page]
)

// Of is [Estimate] with a cache for long texts that the process shares: a server begins a run for each turn of a
// conversation, mostly with the same texts. After the first few thousand texts it allocates nothing. It is safe for
// concurrent use.
func Of(text string) int {
	if len(text) < minRemembered || uint64(len(text)) > 1<<31 {
		return Estimate(text)
	}
	hash := maphash.String(hashSeed, text)
	set := setOf(hash)
	if n, ok := find(set, hash, text); ok {
		return n
	}
	n := Estimate(text)
	remember(set, hash, uint64(len(text))<<32|uint64(n))
	return n
}

// Known reports whether [Of] has a text in its cache. It is true for short texts, which need no cache.
func Known(text string) bool {
	if len(text) < minRemembered {
		return true
	}
	hash := maphash.String(hashSeed, text)
	_, ok := find(setOf(hash), hash, text)
	return ok
}

func find(set *[entriesPerSet]entry, hash uint64, text string) (tokens int, ok bool) {
	for i := range set {
		if v := set[i].value.Load(); set[i].check.Load()^v == hash && v>>32 == uint64(len(text)) {
			return int(uint32(v)), true
		}
	}
	return 0, false
}

// setOf returns the set of entries for a hash.
func setOf(hash uint64) *[entriesPerSet]entry {
	at := &pages[hash>>(wholeBits-pageBits)]
	p := at.Load()
	if p == nil {
		at.CompareAndSwap(nil, new(page))
		p = at.Load()
	}
	return &p[hash&(1<<setsBits-1)]
}

// remember stores the count of a text in a free entry, or replaces another one.
func remember(set *[entriesPerSet]entry, hash, value uint64) {
	at := int(hash >> setsBits % entriesPerSet)
	for i := range set {
		if set[i].value.Load() == 0 {
			at = i
			break
		}
	}
	set[at].value.Store(value)
	set[at].check.Store(hash ^ value)
}

// What a provider's count may be of the estimate. Beyond it, the request was not the
// one that was estimated, or the provider reports something else.
const (
	MinRatio = .6
	MaxRatio = 1.8
)

// Correction learns from the counts of a provider how its tokens relate to
// estimated ones. The zero value has learned nothing. It is not safe for concurrent use.
type Correction struct {
	ratios [3]float64
	n      int
}

// Add takes the tokens that a provider reports for a request, and their estimate. A
// count that cannot be that of the request is ignored.
func (c *Correction) Add(reported, estimated int64) {
	if reported <= 0 || estimated <= 0 {
		return
	}
	if ratio := float64(reported) / float64(estimated); ratio >= MinRatio && ratio <= MaxRatio {
		c.ratios[c.n%len(c.ratios)] = ratio
		c.n++
	}
}

// Factor is what to multiply estimates with: the median of the last three ratios, the
// mean of two, and 1 of fewer.
func (c *Correction) Factor() float64 {
	switch a, b, d := c.ratios[0], c.ratios[1], c.ratios[2]; {
	case c.n < 2:
		return 1
	case c.n == 2:
		return (a + b) / 2
	default:
		return max(min(a, b), min(max(a, b), d))
	}
}
