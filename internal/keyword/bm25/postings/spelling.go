// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package postings

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/keyword/names"
)

const (
	minAffix      = 3   // bytes of the shorter word
	minAffixRatio = 0.4 // of the shorter to the longer word
)

// spelling finds tokens that are like a word.
type spelling struct {
	forward  []string          // words of names, in order
	backward []string          // words of names written backwards, in order
	pairs    map[uint32][]byte // tokens by their pairs of letters, in order, as nextToken reads them
}

// newAffixes returns the words of a segment's names in order, and written backwards in order,
// for finding those with a common beginning or end.
func newAffixes(words *wordList, nameWords names.Set) (forward, backward []string) {
	for id := range uint32(words.Len()) {
		if word := words.Word(id); nameWords.Has(id) && len(word) >= minAffix && analysis.IsASCII(word) {
			forward = append(forward, word)
			backward = append(backward, string(appendBackwards(nil, word)))
		}
	}
	slices.Sort(forward)
	slices.Sort(backward)
	return forward, backward
}

// reversing are the prefixes that turn a word into its opposite.
var reversing = []string{"un", "de", "dis", "in", "im", "non", "anti", "mis"}

// areOpposite reports whether one of two words is the other with such a prefix: a query
// for undelete must not find delete.
func areOpposite(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	start, ok := strings.CutSuffix(a, b)
	return ok && slices.Contains(reversing, start)
}

// startingWith returns the part of the ordered words that begins with prefix.
func startingWith(words []string, prefix string) []string {
	from, _ := slices.BinarySearch(words, prefix)
	to := from
	for to < len(words) && strings.HasPrefix(words[to], prefix) {
		to++
	}
	return words[from:to]
}

// appendBackwards appends ASCII text, written backwards.
func appendBackwards(dst []byte, text string) []byte {
	start := len(dst)
	dst = append(dst, text...)
	slices.Reverse(dst[start:])
	return dst
}

const (
	minTyped = 4 // bytes of the shortest word that is corrected
	maxMeant = 3 // corrections of one word
	pairSize = 2 // bytes of the pieces by which words are found
	// otherInitial is for words with different first letters: people get that one right.
	otherInitial = 0.6
)

// newPairs returns the tokens of a segment by their pairs of letters, each list as nextToken
// reads it.
func newPairs(texts []string) map[uint32][]byte {
	all := make([]byte, 0, len(texts)*16)
	ends := make([]int, len(texts))
	for i, text := range texts {
		if len(text) >= minTyped-1 && analysis.IsASCII(text) {
			all = appendEdged(all, text)
		}
		ends[i] = len(all)
	}
	edged, block, start := make([]string, len(texts)), string(all), 0
	for i, end := range ends {
		edged[i], start = block[start:end], end
	}
	pairs, list := make(map[uint32][]byte), []byte(nil)
	for pair, tokens := range keyword.GramLists(edged, pairSize, pairSize) {
		last := uint32(0)
		list = list[:0]
		for _, token := range tokens {
			list, last = binary.AppendUvarint(list, uint64(token-last)), token
		}
		pairs[pair] = slices.Clone(list)
	}
	return pairs
}

// nextToken reads the token that comes after another in an ordered list: most are so close to
// the one before that one byte says how far.
func nextToken(token uint32, list []byte) (next uint32, rest []byte) {
	ahead, size := binary.Uvarint(list)
	return token + uint32(ahead), list[size:]
}

// appendEdged appends a word with a mark at its beginning and at its end.
func appendEdged(dst []byte, word string) []byte {
	return append(append(append(dst, '^'), word...), '$')
}

// Affix is a token that shares a prefix or a suffix with a word.
type Affix struct {
	Token uint32
	Ratio float64 // of the shorter to the longer one
	AtEnd bool
}

// Correction is a token that may be meant.
type Correction struct {
	text      string
	Token     uint32
	Closeness float64 // greater than 0, at most 1
}

// addCorrection adds a correction to at most maxMeant in order, if it is one of the most
// likely.
func addCorrection(corrections []Correction, c Correction) []Correction {
	at, exists := slices.BinarySearchFunc(corrections, c, func(a, b Correction) int {
		return cmp.Or(cmp.Compare(b.Closeness, a.Closeness), strings.Compare(a.text, b.text))
	})
	if exists || at == maxMeant {
		return corrections
	}
	return slices.Insert(corrections[:min(len(corrections), maxMeant-1)], at, c)
}

// typoCloseness returns how likely word is a misspelling of other, from 0 to 1.
func typoCloseness(word, other string, limit int) float64 {
	d := names.Distance(word, other, limit)
	if d > limit || otherEnding(word, other) {
		return 0
	}
	c := 1 - float64(d)/float64(max(len(word), len(other)))
	if word[0] != other[0] {
		c *= otherInitial
	}
	return c
}

// otherEnding reports whether two short words differ only in the last letter. Words are
// stems here, without what follows the stem: "paris" and "parse" are "pari" and "pars",
// one letter apart.
func otherEnding(word, other string) bool {
	end := len(word) - 1
	return len(word) == len(other) && end < minTyped && word[:end] == other[:end]
}

// affixRatio returns the length of the shorter word as a share of the longer one, if it is
// long enough and begins or ends it.
func affixRatio(word, other string) float64 {
	short, long := word, other
	if len(short) > len(long) {
		short, long = long, short
	}
	ratio := float64(len(short)) / float64(len(long))
	if len(other) < minTyped || ratio < minAffixRatio || !strings.HasPrefix(long, short) && !strings.HasSuffix(long, short) {
		return 0
	}
	return ratio
}
