// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file says how sure an answer is: how much of the query speaks for a document, if
// words that say little about which tool to call count little.

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/leanctx/leanctx/internal/keyword"
)

// evidenceSlope is the exponent of the share of the query that a document answers.
const evidenceSlope = 0.9

var calibration = keyword.Calibration{Evidence: 3.75, Size: -8.30, Offset: 8.61}

// significance says what a term tells about whether a document is meant. Scores do not
// depend on it: there, all documents lack the same words.
type significance struct {
	found   float64 // of a match
	missing float64 // of no match, compared with a match
}

var (
	significant = significance{1, 1}
	// incidental words are about the talk, or are values: "please", "tomorrow", "10:30".
	incidental = significance{0.6, 0.2}
	// commonVerb is for what the tools of every field do: "list".
	commonVerb = significance{0.7, 1}
	// properName is for a name, which is a value unless a tool has it.
	properName = significance{1, 0.2}
	// unknownWord is for a word that no tool has: the query is about something else.
	unknownWord = significance{1, 2.5}
)

// looseRelated is what a related word tells, compared with the word itself.
const looseRelated = 0.5

// significanceOf returns that of a word of the query.
func (q *queryParser) significanceOf(word string, known bool) significance {
	switch lower := q.lower(word); {
	case q.l.incidental[lower] || strings.ContainsAny(lower, "0123456789"):
		return incidental
	case q.isProperName(word):
		return properName
	case q.l.commonVerbs[lower]:
		return commonVerb
	case !known && !startsUnspaced(word):
		return unknownWord
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
	q.parsed.foreign += keyword.RarestIDF(q.x.Len())
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
	return total * (1 + float64(nameBonus*acc.nameCoverage(k.doc, inQuery))) * math.Pow(covered/all, evidenceSlope)
}

// matchOf returns what the matches of a term in a document tell, and how much of its
// importance they cover.
func (acc *accumulator) matchOf(w *term, doc uint32) (score, cover float64) {
	for i := range w.expansions {
		m := &w.expansions[i]
		lengths, p, ok := acc.x.posting(m.token, doc)
		if !ok {
			continue
		}
		tells := 1.0
		if m.relation == relatedTo {
			tells = looseRelated
		}
		score = max(score, tells*w.weight*m.weight*acc.weight(lengths, p.counts, acc.idf(m.token)))
		cover = max(cover, tells*coveredImportance(w, m.weight))
	}
	return score, cover
}
