// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package rank ranks passages of a text for a few words, by BM25: a word counts the more the fewer
// passages have it, and one that stands in very few places outranks the rest. It knows word endings and
// scripts without spaces, and no words in particular.
package rank

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/keyword"
)

const (
	saturation = 1.2 // after how many occurrences more of them count little
	longShare  = .5  // how much a long passage counts less
	// pieceWeight is the weight of a word that is only a piece of others, unless it has at least
	// exactBytes and is more than letters.
	pieceWeight, exactBytes = .2, 5
	// A word in at most fewPlaces, an exact one in twice as many, and in at most one of rareShare
	// passages outranks the rest.
	fewPlaces, rareShare = 3, 8
	// nearWeight is what a word counts besides that has another one of the query among the nearWords
	// words before or behind it.
	nearWeight, nearWords = .4, 3
	// maxTerms bounds the words of a query.
	maxTerms = 64
	// maxWord is the longest word, in bytes. A longer one is data.
	maxWord = 64
)

// Query is a few words, and how many of the passages so far have each. It is for one goroutine.
type Query struct {
	terms  []term
	index  map[string]int // of terms, by stem
	starts [256]bool      // first bytes of the terms

	required []string

	count int // passages
	words int // in them

	counts []int32 // of one passage
	text   []byte  // of it
}

// Fit is what a passage has of a query. The zero value has nothing.
type Fit struct {
	counts []int32 // of each term
	near   uint64  // the terms, as bits, that have another one near
	words  int     // in the passage
}

// Any reports whether a passage has a word of the query.
func (f Fit) Any() bool { return f.counts != nil }

// term is a word of a query.
type term struct {
	text, stem string
	required   bool
	exact      bool // hardly anything else has it as a piece: it has a digit, or is several words in one
	in, within int  // passages that have it as a word, and only as a piece of words
}

// New reads a query.
func New(query string) *Query {
	q := &Query{index: make(map[string]int)}
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
		if whole := strings.ToLower(strings.TrimFunc(each.Text, func(c rune) bool { return !wordly(c) })); words > 1 && strings.IndexFunc(whole, withoutSpaces) < 0 {
			q.term(whole, whole)
		}
		if short := strings.ToLower(each.Text); isHash(short) {
			q.term(short[:shortHash], short[:shortHash]) // as tools abbreviate it
		}
	}
	q.counts = make([]int32, len(q.terms))
	return q
}

// term is the number of a term, which is new or known; negative if there are too many.
func (q *Query) term(text, key string) int {
	i, known := q.index[key]
	if !known {
		if i = len(q.terms); i == maxTerms {
			return -1
		}
		q.index[key] = i
		q.starts[key[0]] = true
		exact := len(text) >= exactBytes && strings.IndexFunc(text, func(c rune) bool { return c < utf8.RuneSelf && (!isWord(byte(c)) || '0' <= c && c <= '9') }) >= 0
		q.terms = append(q.terms, term{text: text, stem: key, exact: exact})
	}
	return i
}

// Add takes the next passage, and what it stands under.
func (q *Query) Add(under, text string) (f Fit) {
	q.count++
	clear(q.counts)
	q.text = append(append(append(q.text[:0], under...), '\n'), text...)
	words, near := q.countWords(q.text, q.counts)
	f.words = words
	q.words += words
	if q.note(bytes.ToLower(q.text), q.counts) {
		f.counts, f.near = slices.Clone(q.counts), near
	}
	return f
}

// countWords counts the words of a text, and the terms among them. near are the terms, as bits, that have
// another one near.
func (q *Query) countWords(text []byte, counts []int32) (words int, near uint64) {
	var buf [maxWord + utf8.UTFMax]byte
	last, lastAt := -1, 0
	eachWord(text, func(word []byte) {
		words++
		if len(word) > maxWord || !q.starts[lowered(word[0])] {
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
		if i, ok := q.index[stemOf(small)]; ok {
			counts[i]++
			if last >= 0 && last != i && words-lastAt <= nearWords {
				near |= 1<<i | 1<<last
			}
			last, lastAt = i, words
		}
	})
	return words, near
}

// onlyPiece is the count of a term that is only a piece of words.
const onlyPiece = -1

// note counts a passage with a text in lower case for the terms that it has, and reports
// whether there are any.
func (q *Query) note(text []byte, counts []int32) (some bool) {
	for i := range q.terms {
		t := &q.terms[i]
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

// Meets reports whether a passage has all words that are required.
func (q *Query) Meets(f Fit) bool {
	for i, t := range q.terms {
		if t.required && f.counts[i] == 0 {
			return false
		}
	}
	return true
}

// Required are the words that a passage must have, as they are written in the query.
func (q *Query) Required() (words []string) { return q.required }

// Matched are the words of the query that a passage has, the rarest first.
func (q *Query) Matched(f Fit) (words []string) {
	weights := q.weights()
	var has []int
	for i := range q.terms {
		if f.counts != nil && f.counts[i] != 0 {
			has = append(has, i)
		}
	}
	slices.SortStableFunc(has, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	for _, i := range has {
		words = append(words, q.terms[i].text)
	}
	return words
}

// Exact is the rarest word that a passage has of those that hardly occur by chance, such as an id, and how
// many passages have it. It is empty if the passage has none.
func (q *Query) Exact(f Fit) (word string, passages int) {
	for i, t := range q.terms {
		if n := t.in + t.within; t.exact && f.counts != nil && f.counts[i] != 0 && (word == "" || n < passages || n == passages && len(t.text) > len(word)) {
			word, passages = t.text, n
		}
	}
	return word, passages
}

// Finder finds the words of a query in parts of passages.
type Finder struct {
	query   *Query
	Weights []float64 // of the words, at least a share of the largest one: what is asked for has common words
	counts  []int32
}

// commonShare is the least weight of a word in a part of a passage, of the largest one.
const commonShare = .3

// Finder returns a finder that weighs words by what is known of all passages so far.
func (q *Query) Finder() *Finder {
	f := &Finder{query: q, Weights: q.weights(), counts: make([]int32, len(q.terms))}
	most := 0.
	for _, w := range f.Weights {
		most = max(most, w)
	}
	for i := range f.Weights {
		f.Weights[i] = max(f.Weights[i], commonShare*most)
	}
	return f
}

// Find returns the words of the query, as bits, that a text has.
func (f *Finder) Find(text string) (words uint64) {
	clear(f.counts)
	f.query.countWords([]byte(text), f.counts)
	lower := strings.ToLower(text)
	for i, t := range f.query.terms {
		if f.counts[i] > 0 || strings.Contains(lower, t.text) {
			words |= 1 << i
		}
	}
	return words
}

// Densest is where in a passage the part of most bytes begins that has most of what is asked for.
func (q *Query) Densest(passage string, f Fit, most int) (at int) {
	lower := make([]byte, len(passage))
	for i := range lower {
		lower[i] = lowered(passage[i])
	}
	type place struct{ at, term int }
	var places []place
	for i, t := range q.terms {
		if f.counts[i] == 0 {
			continue
		}
		form := []byte(t.text)
		if !bytes.Contains(lower, form) {
			form = []byte(t.stem)
		}
		for from, n := 0, 0; n < maxSeen; n++ {
			found := bytes.Index(lower[from:], form)
			if found < 0 {
				break
			}
			places = append(places, place{from + found, i})
			from += found + 1
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	weights, best := q.weights(), 0.
	for k, first := range places {
		sum, seen := 0., uint64(0)
		for _, other := range places[k:] {
			if other.at > first.at+most*2/3 {
				break
			}
			if seen>>other.term&1 == 0 {
				seen |= 1 << other.term
				sum += weights[other.term]
			}
		}
		if sum > best {
			at, best = first.at, sum
		}
	}
	return at
}

// maxSeen is how often a word is looked for in a passage.
const maxSeen = 16

// Scores says how well each passage fits, by what is known of all passages so far.
func (q *Query) Scores() func(Fit) float64 {
	average := max(1, float64(q.words)/float64(max(1, q.count)))
	weights := q.weights()
	return func(f Fit) (score float64) {
		norm := saturation * (1 - longShare + float64(longShare*float64(f.words)/average))
		for term, n := range f.counts {
			switch {
			case n > 0:
				score += float64(weights[term] * float64(n) * (saturation + 1) / (float64(n) + norm))
				score += float64(weights[term] * nearWeight * float64(f.near>>term&1))
			case n == onlyPiece && q.terms[term].exact:
				score += weights[term]
			case n == onlyPiece:
				score += float64(weights[term] * pieceWeight)
			}
		}
		return score
	}
}

// weights are those of the terms. One in few places counts about as much as the others together if it
// is a word, which may be there by chance, and more than all of them if it is exact.
func (q *Query) weights() []float64 {
	out := make([]float64, len(q.terms))
	common, words := 0., 0.
	for i, t := range q.terms {
		n := float64(t.in)
		if t.in == 0 {
			n = float64(t.within)
		}
		out[i] = math.Log(1 + (float64(q.count)-n+.5)/(n+.5))
		if n > 0 && !q.rare(t) {
			common += out[i]
		}
	}
	for i, t := range q.terms {
		if q.rare(t) && !t.exact {
			out[i] += common / 2
			words += out[i]
		}
	}
	for i, t := range q.terms {
		if q.rare(t) && t.exact {
			out[i] += (saturation + 1 + nearWeight) * (common + words)
		}
	}
	return out
}

// rare reports whether a term is in few places. Parts of one record have the exact ones in common.
func (q *Query) rare(t term) bool {
	n, few := t.in, fewPlaces
	if t.in == 0 || t.exact {
		n += t.within
	}
	if t.exact {
		few *= 2
	}
	return n > 0 && n <= few && n*rareShare <= q.count
}
