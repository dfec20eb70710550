// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"github.com/leanctx/leanctx/internal/keyword/names"
	"github.com/leanctx/leanctx/internal/keyword/wordlist"
)

// finder finds tokens of an index: those that words of a query have, those that are like them,
// and how rare each is. It keeps its memory.
type finder struct {
	x       *Index
	idfs    []float32       // by token, computed on first use; 0 means not yet
	own     strings.Builder // texts of the query that are not in the index
	letters []byte          // of a word
	alike   []expansion
}

// idf returns the inverse document frequency of a token.
func (f *finder) idf(token uint32) float64 {
	v := f.idfs[token]
	if v == 0 {
		v = f.x.idf(token)
		f.idfs[token] = v
	}
	return float64(v)
}

// forget drops the texts of a query.
func (f *finder) forget() {
	f.own.Reset()
}

// ownBytes is the initial memory for a query's own texts, which can grow.
const ownBytes = 512

// keep returns a text as a string that lives as long as the query, or as the index if that
// has it.
func (f *finder) keep(text []byte) string {
	for i := range f.x.parts {
		p := &f.x.parts[i]
		if token, ok := p.tokens.FindBytes(text); ok {
			return p.tokens.Word(token)
		}
	}
	start := f.own.Len()
	if f.own.Cap() == 0 {
		f.own.Grow(ownBytes)
	}
	f.own.Write(text)
	return f.own.String()[start:]
}

// stem returns the stem of a word.
func (f *finder) stem(word string) string {
	f.letters = append(f.letters[:0], word...)
	return f.keep(stemInPlace(f.letters))
}

// findStem finds the token of two words written as one.
func (f *finder) findStem(a, b string) (token uint32, ok bool) {
	f.letters = append(append(f.letters[:0], a...), b...)
	return f.x.findBytes(stemInPlace(f.letters))
}

func (f *finder) knowsAny(stems []string) bool {
	return slices.ContainsFunc(stems, func(stem string) bool { _, ok := f.x.find(stem); return ok })
}

// isUsed reports whether documents use every two neighbouring characters of a word.
func (f *finder) isUsed(word string) bool {
	used := true
	eachCharacter(word, func(token string) {
		if _, ok := f.x.find(token); !ok {
			used = false
		}
	})
	return used
}

// split cuts a word into the two most common words that documents use.
func (f *finder) split(word string) (left, right uint32, ok bool) {
	if !isASCII(word) {
		return 0, 0, false
	}
	best := 0
	for at := 1; at < len(word); at++ {
		if min(at, len(word)-at) < minAffix && isDigit(word[at-1]) == isDigit(word[at]) {
			continue
		}
		l, ok1 := f.findStem(word[:at], "")
		h, ok2 := f.findStem(word[at:], "")
		if !ok1 || !ok2 {
			continue
		}
		if users := min(f.x.users(l), f.x.users(h)); users > best {
			left, right, best, ok = l, h, users, true
		}
	}
	return left, right, ok
}

// affixesOf returns the words of names that begin or end with word and those that word
// begins or ends with, at most maxAffixes, weighed by the share that they have in common.
func (f *finder) affixesOf(word string) []expansion {
	inNames := func(s *Segment) *spellings { return &s.nameSpellings }
	return f.closest(word, inNames, 0, maxAffixes, func(p *part, token uint32, other string) float64 {
		ratio := affixRatio(word, other)
		if ratio == 0 || ratio == 1 || !p.isNameWord(token) {
			return 0
		}
		return ratio
	})
}

// correctionsOf returns the tokens that word may be a misspelling of, and those that begin
// or end with it or with which it begins or ends, at most maxMeant, weighed by how likely that is.
func (f *finder) correctionsOf(word string) []expansion {
	if len(word) < minTyped {
		return nil
	}
	all := func(s *Segment) *spellings { return &s.spellings }
	limit := names.MaxTypos(len(word))
	return f.closest(word, all, limit, maxMeant, func(p *part, token uint32, other string) float64 {
		c := max(typoCloseness(word, other, limit), affixFactor*affixRatio(word, other))
		if c == 0 || !p.isUsed(token) {
			return 0
		}
		return c
	})
}

// closest returns the tokens for which closeness is highest, in order, with that as their weight.
// It asks only about those whose sets have all that the word's has, or the other way round, but for
// some typing errors, each of which changes two letters.
func (f *finder) closest(word string, among func(*Segment) *spellings, typos, most int, closeness func(p *part, token uint32, other string) float64) []expansion {
	found := f.alike[:0]
	if len(word) < minAffix || len(word) > maxWordBytes || !isASCII(word) {
		return found
	}
	for i := range f.x.parts {
		p := &f.x.parts[i]
		list := among(p.Segment)
		mine := list.setOf(word)
		for at, set := range list.sets {
			if mine&^set != 0 && set&^mine != 0 && bits.OnesCount64(mine^set) > 2*typos {
				continue
			}
			token := list.tokens[at]
			other := p.tokens.Word(token)
			if c := closeness(p, token, other); c > 0 && !areOpposite(word, other) {
				found = f.addLike(found, expansion{token: p.firstToken + token, weight: c}, most)
			}
		}
	}
	f.alike = found
	for i := range found {
		found[i].token, _ = f.x.find(f.x.text(found[i].token))
	}
	return found
}

const (
	minAffix      = 3   // bytes of the shorter of two words of which the other one has more
	minAffixRatio = 0.4 // of the shorter to the longer word
	maxAffixes    = 48  // words for one word
	minTyped      = 4   // bytes of the shortest word that is corrected
	maxMeant      = 3   // corrections of one word
	// otherInitial is for words with different first letters: people get that one right.
	otherInitial = 0.6
	affixFactor  = 0.8 // for a beginning or end, compared with a misspelling
)

// spellings are the words that others can be like, each with the set of its letters or of its pairs
// of letters, by which most of the others are told from it at once.
type spellings struct {
	setOf  func(word string) uint64
	tokens []uint32
	sets   []uint64 // of each
}

func newSpellings(words *wordlist.List, setOf func(word string) uint64, has func(token uint32) bool) spellings {
	s := spellings{setOf: setOf}
	for token := range uint32(words.Len()) {
		if word := words.Word(token); len(word) >= minAffix && isASCII(word) && has(token) {
			s.tokens, s.sets = append(s.tokens, token), append(s.sets, setOf(word))
		}
	}
	s.tokens, s.sets = slices.Clip(s.tokens), slices.Clip(s.sets)
	return s
}

// pairSet returns the set of the pairs of neighbouring letters of a word, in which several share
// a bit.
func pairSet(word string) (set uint64) {
	for i := 1; i < len(word); i++ {
		set |= 1 << ((31*uint(word[i-1]) + uint(word[i])) % 64)
	}
	return set
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

// addLike adds a token to at most most in order, if it is one of the closest.
func (f *finder) addLike(found []expansion, e expansion, most int) []expansion {
	at, known := slices.BinarySearchFunc(found, e, func(a, b expansion) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(f.x.text(a.token), f.x.text(b.token)))
	})
	if known || at == most {
		return found
	}
	return slices.Insert(found[:min(len(found), most-1)], at, e)
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
	if len(short) < minAffix || ratio < minAffixRatio || !strings.HasPrefix(long, short) && !strings.HasSuffix(long, short) {
		return 0
	}
	return ratio
}
