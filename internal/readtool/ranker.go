// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// This file ranks the passages of one content by BM25: a word of the query counts the more
// the fewer passages have it. It knows word endings and scripts without spaces, and no
// words in particular.

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/leanctx/leanctx/internal/keyword"
	"github.com/leanctx/leanctx/internal/keyword/stem"
)

const (
	saturation = 1.2 // after how many occurrences more of them count little
	longShare  = .5  // how much a long passage counts less
	// beside is the share of a passage's score that the passages next to it have besides:
	// what is looked for often stands just across a border.
	beside = .3
	// pieceWeight is the weight of a word that is only a piece of others.
	pieceWeight = .2
	// maxTerms bounds the words of a query.
	maxTerms = 64
	// maxWord is the longest word, in bytes. A longer one is data.
	maxWord = 64
	// maxHeld bounds the passages that are held; the worst ones go.
	maxHeld = 20_000
)

// ranker ranks passages, as they come.
type ranker struct {
	terms    []term
	index    map[string]int // of terms, by stem
	starts   [256]bool      // first bytes of the terms
	required bool           // some term must occur

	held  []passage // with a word of the query, in order
	count int       // passages
	words int       // in them
}

// term is a word of a query.
type term struct {
	text, stem string
	required   bool
	in, within int // passages that have it as a word, and only as a piece of words
}

func newRanker(query string) *ranker {
	r := &ranker{index: make(map[string]int)}
	for _, each := range keyword.Parse(query).Terms {
		eachWord([]byte(each.Text), func(word []byte) {
			text := strings.ToLower(string(word))
			key := stemOf([]byte(text))
			i, known := r.index[key]
			if !known && len(r.terms) < maxTerms {
				i = len(r.terms)
				r.index[key] = i
				r.starts[key[0]] = true
				r.terms = append(r.terms, term{text: text, stem: key})
			} else if !known {
				return
			}
			r.terms[i].required = r.terms[i].required || each.Required
			r.required = r.required || each.Required
		})
	}
	return r
}

// stemOf is what a word, in lower case, has in common with its other forms.
func stemOf(word []byte) string {
	for _, c := range word {
		if c < 'a' || c > 'z' {
			return string(word)
		}
	}
	return string(stem.English(word))
}

// eachWord visits the words of a text: runs of letters and digits, their parts if they are
// written in camel case, and two neighbours each in scripts without spaces.
func eachWord(text []byte, visit func(word []byte)) {
	for at := 0; at < len(text); {
		if c := text[at]; c < utf8.RuneSelf && kinds[c] == 0 {
			at++
			continue
		}
		c, width := utf8.DecodeRune(text[at:])
		switch {
		case withoutSpaces(c):
			from := at
			for at < len(text) && withoutSpaces(c) {
				at += width
				c, width = utf8.DecodeRune(text[at:])
			}
			eachPair(text[from:at], visit)
		case wordly(c):
			at += spacedWord(text[at:], visit)
		default:
			at += width
		}
	}
}

// spacedWord visits the word that a text begins with, and the parts of camel case, and
// returns its length.
func spacedWord(text []byte, visit func(word []byte)) (end int) {
	from, upper := 0, true
	for end < len(text) {
		c, width := rune(text[end]), 1
		if c >= utf8.RuneSelf {
			if c, width = utf8.DecodeRune(text[end:]); !wordly(c) || withoutSpaces(c) {
				break
			}
		} else if kinds[c] == 0 {
			break
		}
		was := upper
		if upper = unicode.IsUpper(c); upper && !was {
			visit(text[from:end])
			from = end
		}
		end += width
	}
	if from > 0 {
		visit(text[from:end])
	}
	visit(text[:end])
	return end
}

// kinds says which bytes below 128 are part of words.
var kinds = func() (k [utf8.RuneSelf]byte) {
	for c := range k {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
			k[c] = 1
		}
	}
	return k
}()

// eachPair visits every two neighbours among characters; a single one alone.
func eachPair(text []byte, visit func(pair []byte)) {
	_, first := utf8.DecodeRune(text)
	if first == len(text) {
		visit(text)
	}
	for from, next := 0, first; next < len(text); {
		_, width := utf8.DecodeRune(text[next:])
		visit(text[from : next+width])
		from, next = next, next+width
	}
}

func wordly(c rune) bool {
	if c < utf8.RuneSelf {
		return kinds[c] != 0
	}
	return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c))
}

func withoutSpaces(c rune) bool {
	return c >= 0x1100 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// add takes the next passages. Its error is that of ctx.
func (r *ranker) add(ctx context.Context, passages []passage) error {
	counts := make([]int32, len(r.terms))
	var lower []byte
	for i, p := range passages {
		if i%100 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p.number = r.count
		r.count++
		clear(counts)
		lower = append(lower[:0], p.text...)
		p.words = r.countWords(lower, counts)
		r.words += p.words
		if r.note(bytes.ToLower(lower), counts) {
			p.counts = slices.Clone(counts)
			r.held = append(r.held, p)
		}
		if len(r.held) > maxHeld {
			r.prune(maxHeld / 2)
		}
	}
	return nil
}

// countWords counts the words of a text, and the terms among them.
func (r *ranker) countWords(text []byte, counts []int32) (words int) {
	var buf [maxWord + utf8.UTFMax]byte
	eachWord(text, func(word []byte) {
		words++
		if len(word) > maxWord || !r.starts[lowered(word[0])] {
			return
		}
		small := buf[:0]
		if c := word[0]; c < utf8.RuneSelf {
			for _, c := range word {
				small = append(small, lowered(c))
			}
		} else {
			small = append(small, bytes.ToLower(word)...)
		}
		if i, ok := r.index[stemOf(small)]; ok {
			counts[i]++
		}
	})
	return words
}

func lowered(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c - 'A' + 'a'
	}
	return c
}

// onlyPiece is the count of a term that is only a piece of words.
const onlyPiece = -1

// note counts a passage with a text in lower case for the terms that it has, and reports
// whether there are any.
func (r *ranker) note(text []byte, counts []int32) (some bool) {
	for i := range r.terms {
		t := &r.terms[i]
		switch {
		case counts[i] > 0:
			t.in++
		case bytes.Contains(text, []byte(t.text)):
			t.within++
			counts[i] = onlyPiece
		default:
			continue
		}
		some = true
	}
	return some
}

// best returns the best passages, the best first.
func (r *ranker) best(limit int) []passage {
	r.score()
	raised := make([]float64, len(r.held))
	for i, p := range r.held {
		raised[i] = p.score
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(r.held) && max(r.held[j].number-p.number, p.number-r.held[j].number) == 1 {
				raised[i] = max(raised[i], p.score+beside*r.held[j].score)
			}
		}
	}
	best := slices.Clone(r.held)
	for i := range best {
		best[i].score = raised[i]
	}
	if r.required {
		best = slices.DeleteFunc(best, func(p passage) bool { return !r.hasRequired(p) })
	}
	slices.SortStableFunc(best, func(a, b passage) int { return cmp.Compare(b.score, a.score) })
	return best[:min(len(best), limit)]
}

func (r *ranker) hasRequired(p passage) bool {
	for i, t := range r.terms {
		if t.required && p.counts[i] == 0 {
			return false
		}
	}
	return true
}

// score scores the passages that are held by what is known of all passages.
func (r *ranker) score() {
	average := max(1, float64(r.words)/float64(max(1, r.count)))
	weights := make([]float64, len(r.terms))
	for i, t := range r.terms {
		n := float64(t.in)
		if t.in == 0 {
			n = float64(t.within)
		}
		weights[i] = math.Log(1 + (float64(r.count)-n+.5)/(n+.5))
	}
	for i := range r.held {
		p := &r.held[i]
		p.score = 0
		norm := saturation * (1 - longShare + float64(longShare*float64(p.words)/average))
		for term, n := range p.counts {
			switch {
			case n > 0:
				p.score += float64(weights[term] * float64(n) * (saturation + 1) / (float64(n) + norm))
			case n == onlyPiece:
				p.score += float64(weights[term] * pieceWeight)
			}
		}
	}
}

// prune drops the worst of the passages that are held, and keeps the order of the others.
func (r *ranker) prune(most int) {
	r.score()
	scores := make([]float64, len(r.held))
	for i, p := range r.held {
		scores[i] = p.score
	}
	slices.Sort(scores)
	least := scores[len(scores)-most]
	r.held = slices.DeleteFunc(r.held, func(p passage) bool { return p.score < least })
	if len(r.held) > most { // of equally good ones, the first
		r.held = r.held[:most]
	}
}
