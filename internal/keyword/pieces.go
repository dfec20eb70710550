// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file finds out which stretches of a request ask for one thing, and which are
// only values.

import (
	"strings"
	"unicode/utf8"
)

const (
	minPiece  = 6  // bytes of what can be a request of its own
	maxPieces = 16 // the rest of a longer text is one piece
)

// pieceBreaks separate things that are asked for. They are in normalized text.
var pieceBreaks = []string{
	"!", "?", ";", "\n", "。", " + ", ", and ", ", then ", ", also ", " then ", " or ",
	",然后", ",再", ",并", "然后", "并且", "接着", "同时",
}

// pieceEnds returns where each piece of normalized text ends, at least one.
func pieceEnds(text string) []int {
	var ends []int
	start := 0
	for at := 0; at < len(text) && len(ends) < maxPieces-1; {
		size := breakAt(text, at)
		if size == 0 {
			at++
			continue
		}
		if at-start >= minPiece {
			ends = append(ends, at)
		}
		at += size
		start = at
	}
	return append(ends, len(text))
}

// breakAt returns the length of the break that starts at the given byte, or 0.
func breakAt(text string, at int) int {
	rest := text[at:]
	if rest[0] == '.' {
		if len(rest) == 1 || strings.IndexByte(" \t\r\n\"')", rest[1]) >= 0 {
			return 1
		}
		return 0
	}
	for _, separator := range pieceBreaks {
		if strings.HasPrefix(rest, separator) {
			return len(separator)
		}
	}
	return 0
}

// span is a stretch of text that counts less: a value that the tool will be called
// with says little about which tool it is.
type span struct {
	start, end int
	weight     float64
}

const (
	quotedWeight  = 0.4
	addressWeight = 0.5 // of a URL or an e-mail address
	maxQuoted     = 200 // bytes
)

// quotes are the marks that values stand in.
var quotes = map[rune]rune{'"': '"', '“': '”', '‘': '’', '\'': '\'', '「': '」', '『': '』', '《': '》'}

// valueSpans returns the values in normalized text, in order, none within another.
func valueSpans(text string) []span {
	var spans []span
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		end := 0
		if mark, ok := quotes[r]; ok && opensQuote(text, at, r) {
			end = closingQuote(text, at+size, mark)
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

// opensQuote tells an opening mark from an apostrophe.
func opensQuote(text string, at int, mark rune) bool {
	if mark != '\'' {
		return true
	}
	return at == 0 || strings.IndexByte(" \t\n([{=:,", text[at-1]) >= 0
}

// closingQuote returns where the quoted text that starts at the given byte ends, with
// its closing mark, or 0 if it does not.
func closingQuote(text string, start int, mark rune) int {
	quoted := clip(text[start:], maxQuoted)
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
