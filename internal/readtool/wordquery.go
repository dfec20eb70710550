// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// Queries rank passages for a few words, by BM25: a word counts the more, the fewer passages have it, and one
// in very few places outranks the rest. They know word endings and scripts without spaces.

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/keyword"
)

const (
	saturation  = 1.2 // after how many occurrences more of them count little
	lengthShare = .5  // how much a long passage counts less
	// pieceWeight is the weight of a word that is only a piece of others, unless it has at least
	// exactBytes and is more than letters.
	pieceWeight, exactBytes = .2, 5
	// A word in at most fewPlaces, an exact one in twice as many, and in at most one of rareShare
	// passages outranks the rest.
	fewPlaces, rareShare = 3, 8
	// nearWeight is what a word counts besides that has another one of the query among the nearWords
	// words before or behind it.
	nearWeight, nearWords = .4, 3
	// leadWeight is the extra weight of a word among the first leadWords words of a passage or of its heading, which
	// usually name the subject.
	leadWeight, leadWords = .5, 16
	// stopShare is the share of its weight that a stop word keeps.
	stopShare = .1
	// maxTerms bounds the words of a query.
	maxTerms = 64
	// maxWord is the longest word, in bytes. A longer one is data.
	maxWord = 64
)

// wordQuery is a query of a few words, with how many of the passages so far have each. It is for one goroutine.
type wordQuery struct {
	terms      []term
	index      map[string]int // of terms, by stem
	firstBytes [256]bool      // first bytes of the terms

	required []string // the words that passages must have, as they are written in the query

	passages int // passages
	words    int // in them

	termCounts []int32 // of one passage
	text       []byte  // of it
}

// passageTerms are the terms of a query that a passage has. The zero value has none.
type passageTerms struct {
	termCounts []int32 // of each term
	nearTerms  uint64  // the terms, as bits, that have another one near
	leadTerms  uint64  // those among its first words
	words      int     // in the passage
}

// hasAny reports whether a passage has a word of the query.
func (f passageTerms) hasAny() bool { return f.termCounts != nil }

// term is a word of a query.
type term struct {
	text, stem                  string
	required                    bool
	stop                        bool // a word such as "the", which says nothing about the topic
	exact                       bool // hardly anything else has it as a piece: it has a digit, or is several words in one
	wordPassages, piecePassages int  // passages that have it as a word, and only as a piece of words
}

// newWordQuery parses a query.
func newWordQuery(query string) *wordQuery {
	q := &wordQuery{index: make(map[string]int)}
	for _, each := range keyword.Parse(query).Terms {
		if each.Required {
			q.required = append(q.required, each.Text)
		}
		words := 0
		eachWord([]byte(each.Text), func(word []byte) {
			words++
			text := strings.ToLower(string(word))
			key := stemOf([]byte(text))
			if i := q.term(text, key); i >= 0 {
				q.terms[i].required = q.terms[i].required || each.Required
			}
		})
		lower := strings.ToLower(strings.TrimFunc(each.Text, func(c rune) bool { return !isWordRune(c) }))
		if words > 1 && strings.IndexFunc(lower, isUnspaced) < 0 {
			q.term(lower, lower)
		}
		if short := strings.ToLower(each.Text); isHash(short) {
			q.term(short[:shortHash], short[:shortHash]) // as tools abbreviate it
		}
	}
	q.markStopWords()
	q.termCounts = make([]int32, len(q.terms))
	return q
}

// markStopWords marks the stop words of a query that also has other words. Required words are no stop words.
func (q *wordQuery) markStopWords() {
	others := 0
	isStop := func(t term) bool { return !t.required && isStopWord(t.text) }
	for _, t := range q.terms {
		if !isStop(t) {
			others++
		}
	}
	for i := range q.terms {
		q.terms[i].stop = others > 0 && isStop(q.terms[i])
	}
}

// term is the number of a term, which is new or known; negative if there are too many.
func (q *wordQuery) term(text, key string) int {
	i, ok := q.index[key]
	if !ok {
		if i = len(q.terms); i == maxTerms {
			return -1
		}
		q.index[key] = i
		q.firstBytes[key[0]] = true
		isExact := func(c rune) bool { return c < utf8.RuneSelf && (!isWordByte(byte(c)) || '0' <= c && c <= '9') }
		exact := len(text) >= exactBytes && strings.IndexFunc(text, isExact) >= 0
		q.terms = append(q.terms, term{text: text, stem: key, exact: exact})
	}
	return i
}

// add counts the next passage, with its heading. hasLead says that its first words say what it is about.
func (q *wordQuery) add(heading, text string, hasLead bool) (f passageTerms) {
	q.passages++
	clear(q.termCounts)
	q.text = append(append(append(q.text[:0], heading...), '\n'), text...)
	f = passageTerms{termCounts: q.termCounts}
	q.countWords(q.text[:len(heading)], &f)
	q.countWords(q.text[len(heading):], &f)
	q.words += f.words
	if !hasLead {
		f.leadTerms = 0
	}
	if !q.countPassage(bytes.ToLower(q.text), f.termCounts) {
		return passageTerms{words: f.words}
	}
	f.termCounts = slices.Clone(f.termCounts)
	return f
}

// countWords adds the words of a text, and the terms among them.
func (q *wordQuery) countWords(text []byte, f *passageTerms) {
	words := 0
	var buf [maxWord + utf8.UTFMax]byte
	last, lastAt := -1, 0
	eachWord(text, func(word []byte) {
		words++
		if len(word) > maxWord || !q.firstBytes[lowerByte(word[0])] {
			return
		}
		small := buf[:0]
		if c := word[0]; c < utf8.RuneSelf {
			for _, c := range word {
				small = append(small, lowerByte(c))
			}
		} else {
			small = append(small, bytes.ToLower(word)...)
		}
		if i, ok := q.index[stemOf(small)]; ok {
			f.termCounts[i]++
			if words <= leadWords {
				f.leadTerms |= 1 << i
			}
			if last >= 0 && last != i && words-lastAt <= nearWords {
				f.nearTerms |= 1<<i | 1<<last
			}
			last, lastAt = i, words
		}
	})
	f.words += words
}

// onlyPiece returns the count of a term that occurs only inside longer words.
const onlyPiece = -1

// countPassage counts a lower-case passage for the terms that it has. It reports whether it has any besides stop words.
func (q *wordQuery) countPassage(text []byte, counts []int32) (some bool) {
	for i := range q.terms {
		t := &q.terms[i]
		switch {
		case counts[i] > 0:
			t.wordPassages++
		case bytes.Contains(text, []byte(t.text)):
			t.piecePassages++
			counts[i] = onlyPiece
		default:
			continue
		}
		some = some || !t.stop
	}
	return some
}

// hasRequired reports whether a passage has all required words.
func (q *wordQuery) hasRequired(f passageTerms) bool {
	for i, t := range q.terms {
		if t.required && f.termCounts[i] == 0 {
			return false
		}
	}
	return true
}

// rarestExact is the rarest word in a passage that hardly occurs by chance, such as an id, and how many passages
// have it. It is empty if the passage has none.
func (q *wordQuery) rarestExact(f passageTerms) (word string, passages int) {
	for i, t := range q.terms {
		if !t.exact || !f.hasAny() || f.termCounts[i] == 0 {
			continue
		}
		n := t.wordPassages + t.piecePassages
		if word == "" || n < passages || n == passages && len(t.text) > len(word) {
			word, passages = t.text, n
		}
	}
	return word, passages
}

// termFinder finds the words of a query in parts of passages.
type termFinder struct {
	query      *wordQuery
	weights    []float64 // of the words, at least a share of the largest one: what is asked for has common words
	termCounts []int32
}

// commonShare is the least weight of a word in a part of a passage, of the largest one.
const commonShare = .3

// finder returns a finder whose weights depend on all passages so far.
func (q *wordQuery) finder() *termFinder {
	f := &termFinder{query: q, weights: q.weights(), termCounts: make([]int32, len(q.terms))}
	most := 0.
	for _, w := range f.weights {
		most = max(most, w)
	}
	for i := range f.weights {
		f.weights[i] = max(f.weights[i], commonShare*most)
	}
	return f
}

// find returns the words of the query in a text, as bits.
func (f *termFinder) find(text string) (words uint64) {
	clear(f.termCounts)
	f.query.countWords([]byte(text), &passageTerms{termCounts: f.termCounts})
	lower := strings.ToLower(text)
	for i, t := range f.query.terms {
		if f.termCounts[i] > 0 || strings.Contains(lower, t.text) {
			words |= 1 << i
		}
	}
	return words
}

// scorer returns a function that scores passages, with weights from all passages so far.
func (q *wordQuery) scorer() func(passageTerms) float64 {
	average := max(1, float64(q.words)/float64(max(1, q.passages)))
	weights := q.weights()
	return func(f passageTerms) (score float64) {
		norm := saturation * (1 - lengthShare + float64(lengthShare*float64(f.words)/average))
		for term, n := range f.termCounts {
			switch {
			case n > 0:
				score += float64(weights[term] * float64(n) * (saturation + 1) / (float64(n) + norm))
				score += float64(weights[term] * nearWeight * float64(f.nearTerms>>term&1))
				score += float64(weights[term] * leadWeight * float64(f.leadTerms>>term&1))
			case n == onlyPiece && q.terms[term].exact:
				score += weights[term]
			case n == onlyPiece:
				score += float64(weights[term] * pieceWeight)
			}
		}
		return score
	}
}

// weights returns the weights of the terms. A rare word counts about as much as all others together, and a rare
// exact term more, because it hardly occurs by chance.
func (q *wordQuery) weights() []float64 {
	out := make([]float64, len(q.terms))
	common, words := 0., 0.
	for i, t := range q.terms {
		n := float64(t.wordPassages)
		if t.wordPassages == 0 {
			n = float64(t.piecePassages)
		}
		out[i] = math.Log(1 + (float64(q.passages)-n+.5)/(n+.5))
		if t.stop {
			out[i] *= stopShare
			continue
		}
		if n > 0 && !q.isRare(t) {
			common += out[i]
		}
	}
	for i, t := range q.terms {
		if q.isRare(t) && !t.exact {
			out[i] += common / 2
			words += out[i]
		}
	}
	for i, t := range q.terms {
		if q.isRare(t) && t.exact {
			out[i] += (saturation + 1 + nearWeight) * (common + words)
		}
	}
	return out
}

// isRare reports whether a term is in few places. The parts of one record share its exact terms.
func (q *wordQuery) isRare(t term) bool {
	n, few := t.wordPassages, fewPlaces
	if t.wordPassages == 0 || t.exact {
		n += t.piecePassages
	}
	if t.exact {
		few *= 2
	}
	return !t.stop && n > 0 && n <= few && n*rareShare <= q.passages
}
