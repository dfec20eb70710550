// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file adds to a term the tokens that stand for it: other forms, synonyms,
// translations, words with a common beginning or end, and corrections. It also decides how
// much a word says about the tool to call.

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/leanctx/leanctx/internal/keyword"
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

// expand sets the importance of a term that is written like a token, and the tokens that
// stand for it.
func (q *queryParser) expand(w *term) {
	own, known := q.x.find(w.text)
	if known {
		w.importance = q.idf(own)
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
		if idf := q.idf(w.expansions[i].token); idf > w.importance {
			w.expansions[i].weight *= w.importance / idf
		}
	}
}

// maxTypos is the number of unknown words that are checked for typing errors.
const maxTypos = 32

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
				w.importance = max(w.importance, q.idf(m.token))
			}
			q.addAll(w, q.l.equivalents[alternatives[0]], weightEquivalent, "same as")
			q.addAll(w, q.l.synonyms[alternatives[0]], weightSynonym, synonymOf)
			q.addAll(w, q.l.related[alternatives[0]], weightSynonym, relatedTo)
		})
	}
}

// foreignWord is the weight of a word without spaces that no document has in any language,
// relative to the rarest word that one has.
const foreignWord = 2.5

// significanceOf returns the significance of a word of the query.
func (q *queryParser) significanceOf(word string, known bool) significance {
	switch lower := q.lower(word); {
	case q.l.incidental[lower] || strings.ContainsAny(lower, "0123456789"):
		return incidental
	case startsUnspaced(word):
		return character
	case q.isProperName(word):
		return properName
	case q.l.commonVerbs[lower]:
		return commonVerb
	case !known:
		return unknownWord
	}
	return significant
}

// significanceOfMeaning returns the significance of a word without spaces that stands for an
// English one.
func (q *queryParser) significanceOfMeaning(word, english string) significance {
	switch {
	case q.l.commonVerbs[english]:
		return commonVerb
	case q.l.incidental[word]:
		return incidental
	}
	return significant
}

// isProperName reports whether the current word, or a part of it, is written like a name:
// with a capital letter in the middle of a sentence of small ones.
func (q *queryParser) isProperName(word string) bool {
	first, size := utf8.DecodeRuneInString(word)
	second, _ := utf8.DecodeRuneInString(word[size:])
	if !unicode.IsUpper(first) || !unicode.IsLower(second) || !q.prose {
		return false
	}
	before := strings.TrimRight(q.text[:q.word.start], " \t")
	return before != "" && strings.IndexByte(".?!:\n\r\"", before[len(before)-1]) < 0
}

// noteForeign notes a word without spaces if it is known, says what the query is about,
// and no document has it in any language.
func (q *queryParser) noteForeign(word string) {
	if utf8.RuneCountInString(word) == 1 || q.l.incidental[word] || slices.Contains(q.foreign, word) || q.isUsed(word) ||
		slices.ContainsFunc(q.l.lexicon[word], q.knowsAny) {
		return
	}
	q.foreign = append(q.foreign, word)
	q.parsed.foreign += float64(foreignWord * keyword.RarestIDF(q.x.Len()))
}
