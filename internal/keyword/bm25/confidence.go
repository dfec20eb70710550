// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file computes how sure an answer is: how much of the query speaks for a document, if
// words that say little about the tool to call count little.

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/leanctx/leanctx/internal/keyword"
)

const (
	// evidenceSlope is the exponent of the share of the query that a document answers.
	evidenceSlope = 0.9
	// nameEvidence is for a name whose every word is in the query.
	nameEvidence = 0.75
)

var calibration = keyword.Calibration{Evidence: 3.40, Size: -8.17, Offset: 9.13}

// significance is how much a term says about whether a document is meant. It does not change
// scores: there, all documents lack the same words.
type significance struct {
	found   float64 // of a match
	missing float64 // of no match, compared with a match
}

var (
	significant = significance{1, 1}
	// incidental words belong to the conversation, or are values: "please", "tomorrow",
	// "10:30".
	incidental = significance{0.6, 0.2}
	// commonVerb is for verbs of tools in every field, such as "list". Having it says little;
	// having another verb says much.
	commonVerb = significance{0.7, 2.5}
	// properName is for a name, which is a value unless a tool has it.
	properName = significance{1, 0.2}
	// unknownWord is for a word that no tool has: the query is about something else.
	unknownWord = significance{1.3, 2.5}
	// character is for a single character without spaces, or two neighbours: most are not
	// words, and the meaning of the words among them counts separately.
	character = significance{1, 0.4}
)

// foreignWord is the weight of a word without spaces that no document has in any language,
// relative to the rarest word that one has.
const foreignWord = 2.5

// tells returns how much a match says by its relation, relative to the word itself: if words
// are only similar, the query may mean something else.
func tells(relation string) float64 {
	switch relation {
	case relatedTo, partOf:
		return 0.5
	case synonymOf:
		return 0.7
	case translationOf:
		return 0.9
	}
	return 1
}

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

// evidence returns how much of a query speaks for a document that was kept.
func (acc *accumulator) evidence(q *parsedQuery, k *keptDoc) float64 {
	total, covered, all := 0.0, 0.0, q.foreign
	for i := range q.terms {
		w := &q.terms[i]
		score, cover := acc.matchOf(w, k.doc)
		cover *= w.says.found
		total += float64(w.says.found * score)
		covered += cover
		all += cover + float64(max(0, float64(w.importance*w.weight*w.says.found)-cover)*w.says.missing)
	}
	if covered == 0 {
		return 0
	}
	return total * (1 + float64(nameEvidence*acc.nameCoverage(k.doc, inQuery))) * math.Pow(covered/all, evidenceSlope)
}

// matchOf returns how much the matches of a term in a document say, and how much of its
// importance they cover.
func (acc *accumulator) matchOf(w *term, doc uint32) (score, cover float64) {
	for i := range w.expansions {
		m := &w.expansions[i]
		lengths, p, ok := acc.x.posting(m.token, doc)
		if !ok {
			continue
		}
		says := tells(m.relation)
		score = max(score, says*w.weight*m.weight*acc.weight(lengths, p.counts, acc.idf(m.token)))
		cover = max(cover, says*coveredImportance(w, m.weight))
	}
	return score, cover
}
