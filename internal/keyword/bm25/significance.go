// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file decides how much a word of a query says about the tool to call.

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/leanctx/leanctx/internal/keyword"
)

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
