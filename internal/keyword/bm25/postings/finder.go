// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package postings

import (
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/keyword/names"
)

// Finder finds tokens of an index: those that words of a query have, those that are like them,
// and how rare each is. It keeps its memory.
type Finder struct {
	x           *View
	idfs        []float32       // by token, computed on first use; 0 means not yet
	texts       strings.Builder // texts of the query that are not in the index
	shared      []uint8         // by token: the pairs of letters that it shares with a word
	sharing     []uint32        // tokens that share any
	letters     []byte          // of a word
	affixes     []Affix
	others      []string // words of names
	corrections []Correction
}

// Reset makes the finder one of tokens of x.
func (f *Finder) Reset(x *View) {
	f.x = x
	f.shared, f.idfs = Grown(f.shared, x.Tokens), Grown(f.idfs, x.Tokens)
	clear(f.idfs)
}

// IDF returns the inverse document frequency of a token.
func (f *Finder) IDF(token uint32) float64 {
	v := f.idfs[token]
	if v == 0 {
		v = f.x.IDF(token)
		f.idfs[token] = v
	}
	return float64(v)
}

// Forget drops the texts of a query.
func (f *Finder) Forget() {
	clear(f.others[:cap(f.others)])
	clear(f.corrections[:cap(f.corrections)])
	f.texts.Reset()
}

// ownBytes is the initial memory for a query's own texts, which can grow.
const ownBytes = 512

// Keep returns a text as a string that lives as long as the query, or as the index if that
// has it.
func (f *Finder) Keep(text []byte) string {
	for i := range f.x.parts {
		p := &f.x.parts[i]
		if token, ok := p.tokens.FindBytes(text); ok {
			return p.tokens.Word(token)
		}
	}
	start := f.texts.Len()
	if f.texts.Cap() == 0 {
		f.texts.Grow(ownBytes)
	}
	f.texts.Write(text)
	return f.texts.String()[start:]
}

// KeepJoined joins parts to one text, which lives as long as one of Keep.
func (f *Finder) KeepJoined(parts ...string) string {
	text := f.letters[:0]
	for _, part := range parts {
		text = append(text, part...)
	}
	f.letters = text
	return f.Keep(text)
}

// Stem returns the stem of a word: that of the index, if a document has the word.
func (f *Finder) Stem(word string) string {
	for i := range f.x.parts {
		p := &f.x.parts[i]
		if id, ok := p.words.Find(word); ok {
			return p.tokens.Word(p.wordTokens[id])
		}
	}
	f.letters = append(f.letters[:0], word...)
	return f.Keep(analysis.StemInPlace(f.letters))
}

// FindStem finds the token of two words written as one.
func (f *Finder) FindStem(a, b string) (token uint32, ok bool) {
	word := append(append(f.letters[:0], a...), b...)
	f.letters = word
	for i := range f.x.parts {
		p := &f.x.parts[i]
		if id, ok := p.words.FindBytes(word); ok {
			return f.x.Find(p.tokens.Word(p.wordTokens[id]))
		}
	}
	return f.x.findBytes(analysis.StemInPlace(word))
}

// KnowsAny reports whether a document uses one of the stems.
func (f *Finder) KnowsAny(stems []string) bool {
	return slices.ContainsFunc(stems, func(stem string) bool { _, ok := f.x.Find(stem); return ok })
}

// IsUsed reports whether documents use every two neighbouring characters of a word.
func (f *Finder) IsUsed(word string) bool {
	used := true
	analysis.EachCharacter(word, func(token string) {
		if _, ok := f.x.Find(token); !ok {
			used = false
		}
	})
	return used
}

// Split cuts a word into the two most common words that documents use.
func (f *Finder) Split(word string) (left, right uint32, ok bool) {
	if !analysis.IsASCII(word) {
		return 0, 0, false
	}
	best := 0
	for at := 1; at < len(word); at++ {
		if min(at, len(word)-at) < minAffix && analysis.IsDigit(word[at-1]) == analysis.IsDigit(word[at]) {
			continue
		}
		l, ok1 := f.FindStem(word[:at], "")
		if !ok1 {
			continue
		}
		h, ok2 := f.FindStem(word[at:], "")
		if !ok2 {
			continue
		}
		if users := min(f.x.users(l), f.x.users(h)); users > best {
			left, right, best, ok = l, h, users, true
		}
	}
	return left, right, ok
}

const (
	maxAffixes  = 48  // words for one word
	affixFactor = 0.8 // for a beginning or end
	// spoiledPairs is how many pairs of letters one error changes at most: swapping two
	// letters changes three.
	spoiledPairs = 3
	minPairs     = 2 // pairs that two words must share
)

// AffixesOf returns the words of names that begin or end with word and those that word
// begins or ends with, at most maxAffixes.
func (f *Finder) AffixesOf(word string) []Affix {
	if len(word) < minAffix || !analysis.IsASCII(word) {
		return nil
	}
	found := f.affixes[:0]
	add := func(other string, atEnd bool) {
		ratio := float64(min(len(word), len(other))) / float64(max(len(word), len(other)))
		if other == word || ratio < minAffixRatio || len(found) == maxAffixes || areOpposite(word, other) {
			return
		}
		if token, ok := f.x.findNameWord(other); ok {
			found = append(found, Affix{Token: token, Ratio: ratio, AtEnd: atEnd})
		}
	}
	for size := minAffix; size < len(word); size++ {
		add(word[:size], false)
		add(word[len(word)-size:], true)
	}
	for _, other := range f.startingWith(word, func(s *Segment) []string { return s.forward }) {
		add(other, false)
	}
	for _, other := range f.startingWith(f.backwards(word), func(s *Segment) []string { return s.backward }) {
		add(f.backwards(other), true)
	}
	f.affixes = found
	return found
}

// startingWith returns the words of the segments' lists that begin with prefix, in order.
func (f *Finder) startingWith(prefix string, list func(*Segment) []string) []string {
	if len(f.x.parts) == 1 {
		return startingWith(list(f.x.parts[0].Segment), prefix)
	}
	all := f.others[:0]
	for i := range f.x.parts {
		all = append(all, startingWith(list(f.x.parts[i].Segment), prefix)...)
	}
	f.others = all
	slices.Sort(all)
	return slices.Compact(all)
}

func (f *Finder) backwards(text string) string {
	f.letters = appendBackwards(f.letters[:0], text)
	return f.Keep(f.letters)
}

// CorrectionsOf returns the tokens that word may be a misspelling of, and those that begin
// or end with it or with which it begins or ends, most likely first.
func (f *Finder) CorrectionsOf(word string) []Correction {
	corrections := f.corrections[:0]
	if len(word) >= minTyped && len(word) <= analysis.MaxWordBytes && analysis.IsASCII(word) {
		for i := range f.x.parts {
			corrections = f.appendCorrections(corrections, &f.x.parts[i], word)
		}
	}
	f.corrections = corrections
	for i := range corrections {
		corrections[i].Token, _ = f.x.Find(corrections[i].text)
	}
	return corrections
}

// appendCorrections adds those of a segment to the most likely ones.
func (f *Finder) appendCorrections(corrections []Correction, p *Shard, word string) []Correction {
	shared := f.shared
	limit := names.MaxTypos(len(word))
	minShared := max(minPairs, len(word)+1-spoiledPairs*limit)
	for _, token := range f.countPairs(p, word) {
		other := p.tokens.Word(token)
		c := 0.0
		if int(shared[token]) >= minShared {
			c = typoCloseness(word, other, limit)
		}
		if int(shared[token]) >= min(len(word), len(other)) {
			c = max(c, affixFactor*affixRatio(word, other))
		}
		shared[token] = 0
		if c > 0 && !areOpposite(word, other) && p.isUsed(token) {
			corrections = addCorrection(corrections, Correction{text: other, Closeness: c})
		}
	}
	return corrections
}

// countPairs counts the pairs of letters that tokens of a segment share with word, and
// returns these tokens.
func (f *Finder) countPairs(p *Shard, word string) []uint32 {
	edged := appendEdged(f.letters[:0], word)
	sharing := f.sharing[:0]
	for i := 0; i+pairSize <= len(edged); i++ {
		token := uint32(0)
		for rest := p.pairs[keyword.Gram(string(edged[i:i+pairSize]))]; len(rest) > 0; {
			token, rest = nextToken(token, rest)
			if f.shared[token] == 0 {
				sharing = append(sharing, token)
			}
			f.shared[token]++
		}
	}
	f.letters, f.sharing = edged, sharing
	return sharing
}

// Grown returns memory for n values: those that were zero stay zero. It has room for the
// next indexes of a growing catalogue.
func Grown[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]T, n, n+n/8)
}
