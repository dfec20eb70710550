// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// The entries of a text: commits, mails, sections, and what a log writes.

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/preview"
)

// entryLevel returns the level of the entry that a text begins with. It is negative if none begins there.
type entryLevel func(text []byte) int

// entryReader finds where entries begin, and how long they are.
type entryReader struct {
	level   entryLevel
	inEntry bool // the text continues an entry that was not read to its end
	// Their first lines say only that an entry begins.
	hasBareTitles bool
	isLog         bool   // they are those of a log
	isMarkup      bool   // they begin with an element, such as a paragraph of a page
	busyStamp     string // the second and source of too many entries
}

// momentLength returns the length of the entry at the start of a text. In a log it includes the entries behind it
// with the same second and source, unless these are too long.
func (e *entryReader) momentLength(b []byte) int {
	first := lineLength(b)
	n := e.entryLength(b, first)
	if !e.isLog {
		return n
	}
	stamp := stampOf(b[:first])
	if len(stamp) == 0 || string(stamp) == e.busyStamp {
		return n
	}
	whole := n
	for whole <= longestEntry && bytes.HasPrefix(b[whole:], stamp) {
		whole += e.entryLength(b[whole:], lineLength(b[whole:]))
	}
	if whole > longestEntry {
		e.busyStamp = string(stamp)
		return n
	}
	return whole
}

// stampOf is the line of a log up to the second, with a source before that; empty if it has none near its
// start.
func stampOf(line []byte) []byte {
	const near, seconds = 48, len("00:00")
	for i := 2; i+seconds < min(len(line), near); i++ {
		if line[i] == ':' && line[i+3] == ':' && digit(line[i-1]) && digit(line[i+1]) && digit(line[i+2]) && digit(line[i+4]) && digit(line[i+5]) {
			return line[:i+1+seconds]
		}
	}
	return nil
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// entryLength is how long an entry is with the lines that have no level, more than longestEntry if it is
// too long.
func (e *entryReader) entryLength(b []byte, first int) (n int) {
	for n = first; n < len(b) && n <= longestEntry; {
		if e.level(b[n:]) >= 0 {
			break
		}
		n += lineLength(b[n:])
	}
	return n
}

// commitLevel is the level in a history with changes.
func commitLevel(text []byte) int {
	line := text[:lineLength(text)]
	switch {
	case preview.CommitLine.Match(line):
		return 0
	case bytes.HasPrefix(line, []byte("diff --git ")), bytes.HasPrefix(line, []byte("--- a/")):
		return 1
	case bytes.HasPrefix(line, []byte("@@ ")):
		return 2
	}
	return -1
}

var headingLine = regexp.MustCompile(`^#{1,6} \S`)

func headingLevel(text []byte) int {
	line := text[:lineLength(text)]
	if headingLine.Match(line) {
		return bytes.IndexByte(line, ' ')
	}
	return -1
}

// underlinedLevel is the level of a heading with a rule of equal marks below it, as in reStructuredText and
// Markdown. It follows the mark.
func underlinedLevel(text []byte) int {
	const marks, longest = "=-~^\"'`+*#", 120
	first := lineLength(text)
	title := bytes.TrimSpace(text[:first])
	rule := bytes.TrimRight(text[first:first+lineLength(text[first:])], " \r\n")
	if len(rule) < 3 || len(title) > longest || indentOf(text[:first]) != 0 || utf8.RuneCount(rule) < utf8.RuneCount(title)-2 {
		return -1
	}
	level := strings.IndexByte(marks, rule[0])
	if level < 0 || len(bytes.Trim(rule, marks[level:level+1])) > 0 || len(bytes.Trim(title, marks)) == 0 {
		return -1
	}
	return level
}

func regexpLevel(re *regexp.Regexp) entryLevel {
	return func(text []byte) int {
		if re.Match(text[:lineLength(text)]) {
			return 0
		}
		return -1
	}
}
