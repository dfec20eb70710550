// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/keyword/names"
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

// span is a stretch of text that counts less than the rest: a value for the tool's
// arguments says little about which tool to call.
type span struct {
	start, end int
	weight     float64
}

const (
	quotedWeight  = 0.4
	addressWeight = 0.5 // of a URL or an e-mail address
	maxQuoted     = 200 // bytes
)

// quotes are the opening and closing marks of values.
var quotes = map[rune]rune{'"': '"', '“': '”', '‘': '’', '\'': '\'', '「': '」', '『': '』', '《': '》'}

// appendValueSpans appends the values in normalized text, in order and without overlaps.
func appendValueSpans(spans []span, text string) []span {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		end := 0
		if mark, ok := quotes[r]; ok && opensQuote(text, at, r) {
			end = closingQuote(text, at+size, mark)
			if end > 0 && isBlank(text[:at]) && isBlank(text[end:]) {
				return spans // the quotation is the query
			}
		}
		switch {
		case end > 0:
			spans = append(spans, span{start: at, end: end, weight: quotedWeight})
			at = end
		case r == ' ' || !startsField(text, at):
			at += size
		default:
			end = at + fieldLength(text[at:])
			if isAddress(text[at:end]) {
				spans = append(spans, span{start: at, end: end, weight: addressWeight})
				at = end
				continue
			}
			at += size
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

// isAddress reports whether a field is a URL or an e-mail address.
func isAddress(field string) bool {
	if strings.Contains(field, "://") {
		return true
	}
	name, host, ok := strings.Cut(field, "@")
	return ok && name != "" && strings.Contains(host, ".")
}

func isBlank(text string) bool { return strings.TrimSpace(text) == "" }
