// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file finds words that begin or end with one another.

import (
	"slices"
	"strings"
)

const (
	minAffix      = 3   // bytes of the shorter word
	minAffixRatio = 0.4 // of the shorter to the longer word
	maxAffixes    = 48  // words for one word
)

// affixes knows the words that names are made of.
type affixes struct {
	words    map[string]uint32 // word -> token
	forward  []string          // the words, in order
	backward []string          // the words written backwards, in order
}

func newAffixes(x *BM25) affixes {
	a := affixes{words: make(map[string]uint32)}
	for _, token := range x.nameTokens {
		if word := x.texts[token]; len(word) >= minAffix && isASCII(word) {
			a.words[word] = token
		}
	}
	for word := range a.words {
		a.forward = append(a.forward, word)
		a.backward = append(a.backward, backwards(word))
	}
	slices.Sort(a.forward)
	slices.Sort(a.backward)
	return a
}

// affixed is a word that begins or ends with another, or is its beginning or end.
type affixed struct {
	token  uint32
	ratio  float64 // of the shorter to the longer word
	prefix bool    // the shorter is the beginning
}

// of returns the words that word stands in this relation to, at most maxAffixes.
func (a *affixes) of(word string) []affixed {
	if len(word) < minAffix || !isASCII(word) {
		return nil
	}
	var found []affixed
	add := func(other string, prefix bool) {
		ratio := float64(min(len(word), len(other))) / float64(max(len(word), len(other)))
		if token, ok := a.words[other]; ok && other != word && ratio >= minAffixRatio && len(found) < maxAffixes && !areOpposite(word, other) {
			found = append(found, affixed{token: token, ratio: ratio, prefix: prefix})
		}
	}
	for size := minAffix; size < len(word); size++ {
		add(word[:size], true)
		add(word[len(word)-size:], false)
	}
	for _, other := range startingWith(a.forward, word) {
		add(other, true)
	}
	for _, other := range startingWith(a.backward, backwards(word)) {
		add(backwards(other), false)
	}
	return found
}

// reversing are the beginnings that turn a word into its opposite.
var reversing = []string{"un", "de", "dis", "in", "im", "non", "anti", "mis"}

// areOpposite reports whether one of two words is the other with such a beginning:
// whoever wants to undelete a file must not be offered to delete one.
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

// backwards reverses ASCII text.
func backwards(s string) string {
	b := []byte(s)
	slices.Reverse(b)
	return string(b)
}
