// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package postings

import (
	"strings"

	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/keyword/names"
)

const (
	maxOpeningBytes = 120 // of a description that may say that the tool is deprecated
	maxBefore       = 40  // bytes before the word
)

// deprecations are words that say that something should not be used any more.
var deprecations = [...]string{"deprecated", "obsolete", "已废弃", "已弃用", "已过时"}

// replacing words say that it is another tool.
var replacing = [...]string{"replac", "instead of", "successor", "supersede", "取代", "替代", "代替"}

// isDeprecated reports whether a description begins by saying that the tool itself is deprecated.
func isDeprecated(description string) bool {
	opening, _, _ := strings.Cut(strings.ToLower(names.Clip(strings.TrimSpace(description), maxOpeningBytes)), ". ")
	for _, word := range deprecations {
		at := strings.Index(opening, word)
		if at < 0 || at > maxBefore {
			continue
		}
		before := opening[:at]
		for _, other := range replacing {
			if strings.Contains(before, other) {
				return false
			}
		}
		return !strings.HasSuffix(before, "not ") && !strings.Contains(before, " a ") && !strings.Contains(before, "list")
	}
	return false
}

// hasName reports whether a text has the name of a tool, with or without its server. Without it, a name of one word may
// be any word of the text, and does not count.
func hasName(text, name string) bool {
	if hasWord(text, name) {
		return true
	}
	_, short, ok := strings.Cut(name, "__")
	return ok && strings.ContainsAny(short, "_-") && hasWord(text, short)
}

// hasWord reports whether a word stands in a text and is no part of a longer name.
func hasWord(text, word string) bool {
	for rest := text; word != ""; {
		at := strings.Index(rest, word)
		if at < 0 {
			return false
		}
		end := at + len(word)
		if (at == 0 || !isNameByte(rest[at-1])) && (end == len(rest) || !isNameByte(rest[end])) {
			return true
		}
		rest = rest[end:]
	}
	return false
}

func isNameByte(c byte) bool {
	return c == '_' || c == '-' || analysis.IsLetter(c) || analysis.IsDigit(c)
}
