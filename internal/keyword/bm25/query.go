// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/leanctx/leanctx/internal/keyword/names"
)

// parsedQuery is the content of a query.
type parsedQuery struct {
	terms   []term
	clauses [][]int // positions of terms; nil if there is only one clause
	// required are sets of tokens. A document must use a token of each.
	required [][]uint32
	// named are the documents whose names are in the text.
	named []uint32
	// foreign is the importance of the known words without spaces that no document has in
	// any language.
	foreign float64
}

// term is a word of the query, or another element of it.
type term struct {
	text       string
	written    string  // the part of the query that it stands for
	weight     float64 // less than 1 if it is probably a value
	importance float64 // how much it matters that a document matches it
	required   bool
	says       significance
	expansions []expansion
}

// coveredImportance returns how much of a term's importance a match of the given weight
// covers. The root makes weak matches of every term better than a strong match of one.
func coveredImportance(w *term, weight float64) float64 {
	return w.importance * w.weight * math.Sqrt(weight)
}

// expansion is a token that stands for a term.
type expansion struct {
	token    uint32
	weight   float64 // 1 for the term itself
	relation string
}

// Relations of a token to the word that it stands for, if more than the explanation
// depends on them.
const (
	equalTo       = "equals"
	beginsLike    = "begins like"
	endsLike      = "ends like"
	looksLike     = "looks like"
	partOf        = "part of"
	translationOf = "translation of"
	synonymOf     = "synonym of"
	joinedIn      = "joined in"
	// relatedTo is the relation of a word in tools to one that people use for it.
	relatedTo = "related to"
)

const (
	minClause  = 6  // bytes of the shortest text that is a clause
	maxClauses = 16 // the last one is all the rest of the text
)

// clauseBreaks separate clauses in normalized text. " or " does not: both sides mostly
// ask for one tool.
var clauseBreaks = []string{
	"!", "?", ";", "\n", "。", " + ", ", and ", ", then ", ", also ", " then ",
	",然后", ",再", ",并", "然后", "并且", "接着", "同时",
}

// appendClauseEnds appends the ends of the clauses of normalized text, at least one.
func appendClauseEnds(ends []int, text string) []int {
	start := 0
	for at := 0; at < len(text) && len(ends) < maxClauses-1; {
		size := breakAt(text, at)
		if size == 0 {
			at++
			continue
		}
		if at-start >= minClause {
			ends = append(ends, at)
		}
		at += size
		start = at
	}
	return append(ends, len(text))
}

// breakAt returns the length of the break that starts at byte at, or 0.
func breakAt(text string, at int) int {
	rest := text[at:]
	if rest[0] == '.' {
		if len(rest) == 1 || strings.IndexByte(" \t\r\n\"')", rest[1]) >= 0 {
			return 1
		}
		return 0
	}
	for _, separator := range clauseBreaks {
		if strings.HasPrefix(rest, separator) {
			return len(separator)
		}
	}
	return 0
}

const (
	// quotedWeight is that of the words of a quotation: a value for the tool's arguments says
	// little about which tool to call.
	quotedWeight = 0.4
	maxQuoted    = 200 // bytes
)

// quotes are the opening and closing marks of values.
var quotes = map[rune]rune{'"': '"', '“': '”', '‘': '’', '\'': '\'', '「': '」', '『': '』', '《': '》'}

// appendQuotations appends the start and end of each quotation in normalized text, in order,
// unless one is all of it.
func appendQuotations(spans [][2]int, text string) [][2]int {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		end := 0
		if mark, ok := quotes[r]; ok && opensQuote(text, at, r) {
			end = closingQuote(text, at+size, mark)
		}
		switch {
		case end == 0:
			at += size
		case isBlank(text[:at]) && isBlank(text[end:]):
			return spans
		default:
			spans = append(spans, [2]int{at, end})
			at = end
		}
	}
	return spans
}

// opensQuote reports whether the mark opens a quotation, rather than being an apostrophe.
func opensQuote(text string, at int, mark rune) bool {
	if mark != '\'' {
		return true
	}
	return at == 0 || strings.IndexByte(" \t\n([{=:,", text[at-1]) >= 0
}

// closingQuote returns the end of the quoted text that starts at byte start, including
// the closing mark, or 0 if there is none.
func closingQuote(text string, start int, mark rune) int {
	quoted := names.Clip(text[start:], maxQuoted)
	at := strings.IndexRune(quoted, mark)
	if at <= 0 || strings.Contains(quoted[:at], "\n") {
		return 0
	}
	return start + at + utf8.RuneLen(mark)
}

func startsField(text string, at int) bool {
	return at == 0 || strings.IndexByte(" \t\r\n(<", text[at-1]) >= 0
}

func fieldLength(text string) int {
	if at := strings.IndexAny(text, " \t\r\n)>"); at >= 0 {
		return at
	}
	return len(text)
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }
