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
	minTyped    = 4   // bytes of a word with a believable error in it
	minShared   = 0.5 // Dice coefficient of the three-letter pieces
	maxMeant    = 3   // words for one word
	affixFactor = 0.8 // a beginning or end is worth less than a slip
)

// typos finds tokens by their three-letter pieces.
type typos struct {
	texts  []string            // of all tokens
	sizes  []uint8             // pieces of each token, 0 for those that are never meant
	pieces map[uint32][]uint32 // piece -> tokens
}

func newTypos(texts []string) typos {
	t := typos{texts: texts, sizes: make([]uint8, len(texts))}
	edged := make([]string, len(texts))
	for i, text := range texts {
		if len(text) >= minTyped-1 && isASCII(text) {
			edged[i] = edge(text)
			t.sizes[i] = uint8(len(distinctPieces(edged[i])))
		}
	}
	t.pieces = gramLists(edged, gramSize, gramSize)
	return t
}

// edge marks where a word begins and ends.
func edge(word string) string { return "^" + word + "$" }

func distinctPieces(edged string) []uint32 {
	var pieces []uint32
	for i := 0; i+gramSize <= len(edged); i++ {
		if piece := gram(edged[i : i+gramSize]); !slices.Contains(pieces, piece) {
			pieces = append(pieces, piece)
		}
	}
	return pieces
}

// meantWord is a token that may have been meant.
type meantWord struct {
	token uint32
	close float64 // above 0, at most 1
}

// of returns the tokens that word may be a slip of, the likeliest first, or else
// those that it is the beginning or end of, and the other way round. shared is
// all zeros, one for each token, and is so again afterwards.
func (t *typos) of(word string, shared []uint8) []meantWord {
	if len(word) < minTyped || len(word) > maxWordBytes || !isASCII(word) {
		return nil
	}
	pieces := distinctPieces(edge(word))
	var touched []uint32
	for _, piece := range pieces {
		for _, token := range t.pieces[piece] {
			if shared[token] == 0 {
				touched = append(touched, token)
			}
			shared[token]++
		}
	}
	best := newTopK(maxMeant, func(a, b meantWord) int {
		return cmp.Or(cmp.Compare(b.close, a.close), strings.Compare(t.texts[a.token], t.texts[b.token]))
	})
	for _, token := range touched {
		dice := 2 * float64(shared[token]) / float64(len(pieces)+int(t.sizes[token]))
		shared[token] = 0
		if c := closeness(word, t.texts[token], dice); c > 0 {
			best.add(meantWord{token: token, close: c})
		}
	}
	return best.sorted()
}

// closeness is how likely it is that word was meant to be other, from 0 to 1.
func closeness(word, other string, dice float64) float64 {
	slips := min(2, allowedSlips(len(word)))
	if dice >= minShared && distance(word, other, slips) <= slips {
		return dice
	}
	short, long := word, other
	if len(short) > len(long) {
		short, long = long, short
	}
	ratio := float64(len(short)) / float64(len(long))
	if len(other) >= minTyped && ratio >= minAffixRatio && (strings.HasPrefix(long, short) || strings.HasSuffix(long, short)) {
		return affixFactor * ratio
	}
	return 0
}
