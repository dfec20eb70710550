// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file finds the words that were meant by one that nobody uses.

import (
	"cmp"
	"slices"
	"strings"
)

const (
	minTyped = 4 // bytes of a word with a believable error in it
	maxMeant = 3 // words for one word
	pairSize = 2 // bytes of the pieces that words are found by
	// spoiledPairs is how many pairs of letters a slip can change: swapping two letters
	// changes three.
	spoiledPairs = 3
	minPairs     = 2 // that two words must share
	// otherInitial is for words that do not begin alike: people get that letter right.
	otherInitial = 0.6
	affixFactor  = 0.8 // a beginning or end is worth less than a slip
)

// typos finds tokens by the pairs of letters in them.
type typos struct {
	texts []string            // of all tokens
	pairs map[uint32][]uint32 // pair -> tokens
}

func newTypos(texts []string) typos {
	edged := make([]string, len(texts))
	for i, text := range texts {
		if len(text) >= minTyped-1 && isASCII(text) {
			edged[i] = edge(text)
		}
	}
	return typos{texts: texts, pairs: gramLists(edged, pairSize, pairSize)}
}

// edge marks where a word begins and ends.
func edge(word string) string { return "^" + word + "$" }

// meantWord is a token that may have been meant.
type meantWord struct {
	token uint32
	close float64 // above 0, at most 1
}

// of returns the tokens that word may be a slip of, or that it is the beginning or end
// of, or the other way round, the likeliest first. shared is all zeros, one for each
// token, and is so again afterwards.
func (t *typos) of(word string, shared []uint8) []meantWord {
	if len(word) < minTyped || len(word) > maxWordBytes || !isASCII(word) {
		return nil
	}
	edged := edge(word)
	var touched []uint32
	for i := 0; i+pairSize <= len(edged); i++ {
		for _, token := range t.pairs[gram(edged[i:i+pairSize])] {
			if shared[token] == 0 {
				touched = append(touched, token)
			}
			shared[token]++
		}
	}
	best := newTopK(maxMeant, func(a, b meantWord) int {
		return cmp.Or(cmp.Compare(b.close, a.close), strings.Compare(t.texts[a.token], t.texts[b.token]))
	})
	slips := allowedSlips(len(word))
	enough := max(minPairs, len(word)+1-spoiledPairs*slips)
	for _, token := range touched {
		other := t.texts[token]
		c := 0.0
		if int(shared[token]) >= enough {
			c = slipped(word, other, slips)
		}
		if int(shared[token]) >= min(len(word), len(other)) {
			c = max(c, affixFactor*affixRatio(word, other))
		}
		shared[token] = 0
		if c > 0 && !areOpposite(word, other) {
			best.add(meantWord{token: token, close: c})
		}
	}
	return slices.Clip(best.sorted())
}

// slipped is how likely it is that word was meant to be other, from 0 to 1.
func slipped(word, other string, slips int) float64 {
	d := distance(word, other, slips)
	if d > slips {
		return 0
	}
	c := 1 - float64(d)/float64(max(len(word), len(other)))
	if word[0] != other[0] {
		c *= otherInitial
	}
	return c
}

// affixRatio is how much of the longer word the shorter one is, if it is long enough
// and begins or ends it.
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
