// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file finds the phrases of a query that mean something other than their words.

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxPhraseGap = 4 // other words inside an open phrase
	// weightMeaning is the weight of the first meaning of a phrase, and
	// weightOtherMeaning that of each of the others.
	weightMeaning      = 0.8
	weightOtherMeaning = 0.6
	// ignoredWeight is the weight of a word that a phrase ignores: to set up a meeting is
	// not to set anything.
	ignoredWeight = 0.2
)

// findPhrases finds the phrases in the text.
func (q *queryParser) findPhrases() {
	eachRun(q.text, func(word run) {
		if len(word.text) <= maxWordBytes {
			q.words = append(q.words, stemmedWord{run: word, stem: q.stem(word.text)})
		}
	})
	words := q.words
	q.prose = isProse(words)
	for i := range words {
		best := q.bestPhrase(words[i:])
		if best.phrase == nil {
			continue
		}
		q.phrases[words[i].start] = best
		for _, w := range best.first {
			q.ignored[w.start] = q.ignored[w.start] || best.ignored
		}
		q.ignored[best.last.start] = q.ignored[best.last.start] || best.ignored
	}
}

// isProse reports whether at most half of the words begin with a capital letter.
func isProse(words []stemmedWord) bool {
	capitals := 0
	for _, w := range words {
		if first, _ := utf8.DecodeRuneInString(w.text); unicode.IsUpper(first) {
			capitals++
		}
	}
	return 2*capitals <= len(words)
}

// bestPhrase returns the phrase that the words start with: of several, the one with the
// most words, and among those the one that ends first.
func (q *queryParser) bestPhrase(words []stemmedWord) (best phraseMatch) {
	if q.ignored[words[0].start] {
		return best
	}
	candidates := q.l.phrases[words[0].stem]
	for n := range candidates {
		p := &candidates[n]
		m, ok := q.matchPhrase(p, words)
		if !ok || !q.knowsAny(p.means) {
			continue
		}
		if best.phrase == nil || cmp.Or(cmp.Compare(len(m.first), len(best.first)), cmp.Compare(best.last.start, m.last.start)) > 0 {
			best = m
		}
	}
	return best
}

// matchPhrase returns p in the given words, if they start with it.
func (q *queryParser) matchPhrase(p *phrase, words []stemmedWord) (m phraseMatch, ok bool) {
	last := len(p.words) - 1
	if len(words) <= last {
		return m, false
	}
	for i, stem := range p.words[:last] {
		if words[i].stem != stem || i > 0 && !q.adjoin(words[i-1], words[i]) {
			return m, false
		}
	}
	gap := 0
	if p.open {
		gap = maxPhraseGap
	}
	for i := last; i < len(words) && i <= last+gap && q.adjoin(words[i-1], words[i]); i++ {
		if words[i].stem == p.words[last] {
			return phraseMatch{phrase: p, first: words[:last], last: words[i]}, true
		}
	}
	return m, false
}

// adjoin reports whether only white space, a hyphen or an apostrophe separates two runs.
func (q *queryParser) adjoin(a, b stemmedWord) bool {
	between := q.text[a.start+len(a.text) : b.start]
	return between == "-" || strings.TrimSpace(between) == "" || strings.HasPrefix(between, "'")
}

// parsePhrase adds the meaning of the phrase that starts with a word.
func (q *queryParser) parsePhrase(word run, weight float64) {
	p, ok := q.phrases[word.start]
	if !ok {
		return
	}
	q.addTerm(p.text, q.written(p), weight, func(w *term) {
		q.addAll(w, p.means[:1], weightMeaning, "meaning of")
		q.addAll(w, p.means[1:], weightOtherMeaning, "meaning of")
		for _, m := range w.expansions {
			w.importance = max(w.importance, q.idf(m.token)*m.weight)
		}
	})
}

// written returns the words of the phrase as written in the query.
func (q *queryParser) written(m phraseMatch) string {
	text := q.letters[:0]
	for _, w := range m.first {
		text = append(append(text, w.text...), ' ')
	}
	q.letters = append(text, m.last.text...)
	return q.keep(q.letters)
}
