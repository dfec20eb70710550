// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file finds the tokens that stand for a term: other forms, synonyms,
// translations, words with a common beginning or end, and corrections.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/leanctx/leanctx/internal/keyword"
	"github.com/leanctx/leanctx/internal/keyword/names"
)

// The weights of tokens that stand for a word, relative to the word itself.
const (
	weightForm        = 0.8
	weightEquivalent  = 0.6
	weightSynonym     = 0.2
	weightRelated     = 0.3
	weightChinese     = 1   // for an English word
	weightTranslation = 0.9 // for a Chinese word that no document uses
	weightAlsoUsed    = 0.5 // for a Chinese word that documents use as well
	weightAffix       = 0.4 // times the share of the longer word
	weightTypo        = 0.7 // times the closeness
	weightJoined      = 0.6 // two words written as one
	weightSplit       = 0.7 // one word written as two
	// unknownFactor is for the synonyms and related words of a word that no document uses:
	// nothing else is known about it.
	unknownFactor = 1.5
	// unknownCharacters is the importance of characters that no document has: most pairs
	// of neighbours are not words, and those that are may be translated.
	unknownCharacters = 0.1
)

// Relations of a token to the word that it stands for, if more than the explanation
// depends on them.
const (
	equalTo       = "equals"
	beginsLike    = "begins like"
	looksLike     = "looks like"
	partOf        = "part of"
	translationOf = "translation of"
	synonymOf     = "synonym of"
	// relatedTo is the relation of a word in tools to one that people use for it.
	relatedTo = "related to"
)

// expand sets the importance of a term that is written like a token, and the tokens that
// stand for it.
func (q *queryParser) expand(w *term) {
	own, known := q.x.find(w.text)
	if known {
		w.importance = q.acc.idf(own)
		w.expansions = append(w.expansions, expansion{token: own, weight: 1, relation: equalTo})
	} else {
		w.importance = float64(float32(idf(0, q.x.Len()))) / 2
		if startsUnspaced(w.text) {
			w.importance *= unknownCharacters
		}
	}
	w.says = q.significanceOf(w.written, known)
	q.addAll(w, q.l.forms[w.text], weightForm, "form of")
	q.addAll(w, q.l.equivalents[w.text], weightEquivalent, "same as")
	q.addAll(w, q.l.chinese[w.text], weightChinese, translationOf)
	loose := 1.0
	if !known {
		loose = unknownFactor
	}
	q.addAll(w, q.l.synonyms[w.text], weightSynonym*loose, synonymOf)
	q.addAll(w, q.l.related[w.text], weightRelated*loose, relatedTo)
	for _, a := range q.affixesOf(w.text) {
		relation := "ends like"
		if a.prefix {
			relation = beginsLike
		}
		w.expansions = append(w.expansions, expansion{token: a.token, weight: weightAffix * a.ratio, relation: relation})
	}
	if !known {
		q.expandUnknown(w)
		return
	}
	// A query with a common word does not ask for a rare one.
	for i := range w.expansions {
		if idf := q.acc.idf(w.expansions[i].token); idf > w.importance {
			w.expansions[i].weight *= w.importance / idf
		}
	}
}

func (q *queryParser) addAll(w *term, tokens []string, weight float64, relation string) {
	for _, token := range tokens {
		if id, ok := q.x.find(token); ok {
			w.expansions = append(w.expansions, expansion{token: id, weight: weight, relation: relation})
		}
	}
}

// expandUnknown guesses the meaning of a word that no document uses.
func (q *queryParser) expandUnknown(w *term) {
	if left, right, ok := q.split(w.text); ok {
		for _, half := range [...]uint32{left, right} {
			w.expansions = append(w.expansions, expansion{token: half, weight: weightSplit, relation: partOf})
		}
		return
	}
	if q.typos == maxTypos {
		return
	}
	q.typos++
	for _, meant := range q.correctionsOf(w.text) {
		w.expansions = append(w.expansions, expansion{token: meant.token, weight: weightTypo * meant.closeness, relation: looksLike})
	}
}

// split cuts a word into the two most common words that documents use.
func (q *queryParser) split(word string) (left, right uint32, ok bool) {
	if !isASCII(word) {
		return 0, 0, false
	}
	best := 0
	for at := 1; at < len(word); at++ {
		if min(at, len(word)-at) < minAffix && isDigit(word[at-1]) == isDigit(word[at]) {
			continue
		}
		l, ok1 := q.findStem(word[:at], "")
		if !ok1 {
			continue
		}
		h, ok2 := q.findStem(word[at:], "")
		if !ok2 {
			continue
		}
		if users := min(q.x.users(l), q.x.users(h)); users > best {
			left, right, best, ok = l, h, users, true
		}
	}
	return left, right, ok
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// join makes the word that this word and the previous one form together stand for each
// of them.
func (q *queryParser) join(word run) {
	end := q.before.start + len(q.before.text)
	if q.before.text == "" || word.start != end+1 || len(word.text)+len(q.before.text) > maxWordBytes {
		return
	}
	id, ok := q.findStem(q.before.text, word.text)
	if !ok {
		return
	}
	for _, half := range [...]string{q.before.text, word.text} {
		if at, ok := q.seen[q.stem(half)]; ok {
			w := &q.parsed.terms[at]
			if !slices.ContainsFunc(w.expansions, func(m expansion) bool { return m.token == id }) {
				w.expansions = append(w.expansions, expansion{token: id, weight: weightJoined, relation: partOf})
			}
		}
	}
}

// translate adds the meaning of a Chinese word, with one term for each word of the
// translation.
func (q *queryParser) translate(word string, weight float64) {
	weight *= weightTranslation
	if q.isUsed(word) {
		weight *= weightAlsoUsed / weightTranslation
	}
	q.noteForeign(word)
	for _, alternatives := range q.l.lexicon[word] {
		if !q.knowsAny(alternatives) {
			continue
		}
		q.addTerm(q.joined(word, "/", alternatives[0]), word, weight, func(w *term) {
			w.says = q.significanceOfMeaning(word, alternatives[0])
			q.addAll(w, alternatives, 1, translationOf)
			for _, m := range w.expansions {
				w.importance = max(w.importance, q.acc.idf(m.token))
			}
			q.addAll(w, q.l.equivalents[alternatives[0]], weightEquivalent, "same as")
			q.addAll(w, q.l.synonyms[alternatives[0]], weightSynonym, synonymOf)
			q.addAll(w, q.l.related[alternatives[0]], weightSynonym, relatedTo)
		})
	}
}

// isUsed reports whether documents use every two neighbouring characters of a word.
func (q *queryParser) isUsed(word string) bool {
	used := true
	eachCharacter(word, func(token string) {
		if _, ok := q.x.find(token); !ok {
			used = false
		}
	})
	return used
}

const (
	minAffix      = 3   // bytes of the shorter word
	minAffixRatio = 0.4 // of the shorter to the longer word
	maxAffixes    = 48  // words for one word
)

// affixes holds the words of a segment's names, for finding those with a common beginning
// or end.
type affixes struct {
	forward  []string // the words, in order
	backward []string // the words written backwards, in order
}

func newAffixes(s *Segment) affixes {
	var a affixes
	for id, word := range s.texts {
		if s.nameWords.Has(uint32(id)) && len(word) >= minAffix && isASCII(word) {
			a.forward = append(a.forward, word)
			a.backward = append(a.backward, string(appendBackwards(nil, word)))
		}
	}
	slices.Sort(a.forward)
	slices.Sort(a.backward)
	return a
}

// affixed is a word that begins or ends with another word, or the reverse.
type affixed struct {
	token  uint32
	ratio  float64 // of the shorter to the longer word
	prefix bool    // the shorter is the beginning
}

// affixesOf returns the words of names that begin or end with word and those that word
// begins or ends with, at most maxAffixes.
func (q *queryParser) affixesOf(word string) []affixed {
	if len(word) < minAffix || !isASCII(word) {
		return nil
	}
	found := q.scratch.affixed[:0]
	add := func(other string, prefix bool) {
		ratio := float64(min(len(word), len(other))) / float64(max(len(word), len(other)))
		if other == word || ratio < minAffixRatio || len(found) == maxAffixes || areOpposite(word, other) {
			return
		}
		if token, ok := q.x.findNameWord(other); ok {
			found = append(found, affixed{token: token, ratio: ratio, prefix: prefix})
		}
	}
	for size := minAffix; size < len(word); size++ {
		add(word[:size], true)
		add(word[len(word)-size:], false)
	}
	for _, other := range q.startingWith(word, func(a *affixes) []string { return a.forward }) {
		add(other, true)
	}
	for _, other := range q.startingWith(q.backwards(word), func(a *affixes) []string { return a.backward }) {
		add(q.backwards(other), false)
	}
	q.scratch.affixed = found
	return found
}

// findNameWord returns the number of a token that is one of a name.
func (x *Index) findNameWord(text string) (token uint32, ok bool) {
	for i := range x.parts {
		p := &x.parts[i]
		if id, has := p.tokens[text]; has && p.isNameWord(id) {
			return x.find(text)
		}
	}
	return 0, false
}

// startingWith returns the words of the segments' lists that begin with prefix, in order.
func (q *queryParser) startingWith(prefix string, list func(*affixes) []string) []string {
	if len(q.x.parts) == 1 {
		return startingWith(list(&q.x.parts[0].affixes), prefix)
	}
	all := q.scratch.others[:0]
	for i := range q.x.parts {
		all = append(all, startingWith(list(&q.x.parts[i].affixes), prefix)...)
	}
	q.scratch.others = all
	slices.Sort(all)
	return slices.Compact(all)
}

// backwards returns ASCII text, written backwards.
func (q *queryParser) backwards(text string) string {
	q.scratch.word = appendBackwards(q.scratch.word[:0], text)
	return q.keep(q.scratch.word)
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
	// spoiledPairs is how many pairs of letters one error changes at most: swapping two
	// letters changes three.
	spoiledPairs = 3
	minPairs     = 2 // pairs that two words must share
	// otherInitial is for words with different first letters: people get that one right.
	otherInitial = 0.6
	affixFactor  = 0.8 // for a beginning or end
)

// typos finds the tokens of a segment by their pairs of letters.
type typos struct {
	pairs map[uint32][]uint32 // pair -> tokens
}

func newTypos(texts []string) typos {
	all := make([]byte, 0, len(texts)*16)
	ends := make([]int, len(texts))
	for i, text := range texts {
		if len(text) >= minTyped-1 && isASCII(text) {
			all = appendEdged(all, text)
		}
		ends[i] = len(all)
	}
	edged, block, start := make([]string, len(texts)), string(all), 0
	for i, end := range ends {
		edged[i], start = block[start:end], end
	}
	return typos{pairs: keyword.GramLists(edged, pairSize, pairSize)}
}

// appendEdged appends a word with a mark at its beginning and at its end.
func appendEdged(dst []byte, word string) []byte {
	return append(append(append(dst, '^'), word...), '$')
}

// correction is a token that may be meant.
type correction struct {
	text      string
	token     uint32
	closeness float64 // greater than 0, at most 1
}

// compareCorrections puts the more likely one first.
func compareCorrections(a, b correction) int {
	return cmp.Or(cmp.Compare(b.closeness, a.closeness), strings.Compare(a.text, b.text))
}

// correctionsOf returns the tokens that word may be a misspelling of, and those that begin
// or end with it or with which it begins or ends, most likely first.
func (q *queryParser) correctionsOf(word string) []correction {
	meant := q.scratch.meant[:0]
	if len(word) >= minTyped && len(word) <= maxWordBytes && isASCII(word) {
		for i := range q.x.parts {
			meant = q.appendCorrections(meant, &q.x.parts[i], word)
		}
	}
	q.scratch.meant = meant
	for i := range meant {
		meant[i].token, _ = q.x.find(meant[i].text)
	}
	return meant
}

// appendCorrections adds those of a segment to the most likely ones.
func (q *queryParser) appendCorrections(meant []correction, p *part, word string) []correction {
	shared := q.acc.shared
	limit := names.MaxTypos(len(word))
	enough := max(minPairs, len(word)+1-spoiledPairs*limit)
	for _, token := range q.countPairs(p, word) {
		other := p.texts[token]
		c := 0.0
		if int(shared[token]) >= enough {
			c = typoCloseness(word, other, limit)
		}
		if int(shared[token]) >= min(len(word), len(other)) {
			c = max(c, affixFactor*affixRatio(word, other))
		}
		shared[token] = 0
		if c > 0 && !areOpposite(word, other) && p.isUsed(token) {
			meant = addCorrection(meant, correction{text: other, closeness: c})
		}
	}
	return meant
}

// countPairs counts the pairs of letters that tokens of a segment share with word, and
// returns these tokens.
func (q *queryParser) countPairs(p *part, word string) []uint32 {
	edged := appendEdged(q.scratch.word[:0], word)
	touched := q.scratch.touched[:0]
	for i := 0; i+pairSize <= len(edged); i++ {
		for _, token := range p.typos.pairs[keyword.Gram(string(edged[i:i+pairSize]))] {
			if q.acc.shared[token] == 0 {
				touched = append(touched, token)
			}
			q.acc.shared[token]++
		}
	}
	q.scratch.word, q.scratch.touched = edged, touched
	return touched
}

// addCorrection adds a correction to at most maxMeant in order, if it is one of the most
// likely.
func addCorrection(meant []correction, c correction) []correction {
	at, known := slices.BinarySearchFunc(meant, c, compareCorrections)
	if known || at == maxMeant {
		return meant
	}
	return slices.Insert(meant[:min(len(meant), maxMeant-1)], at, c)
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
