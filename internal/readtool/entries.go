// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// The entries of a text: commits, mails, sections, and what a log writes.

import (
	"bytes"
	"regexp"

	"github.com/einolean/einolean/internal/preview"
)

// entryReader finds where entries begin, and how long they are.
type entryReader struct {
	level   func(line []byte) int // of the line that begins an entry; negative of all others
	inEntry bool                  // an entry goes on
	// Their first lines say only that an entry begins.
	hasBareTitles bool
	isLog         bool   // they are those of a log
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
	for whole <= recordBytes && bytes.HasPrefix(b[whole:], stamp) {
		whole += e.entryLength(b[whole:], lineLength(b[whole:]))
	}
	if whole > recordBytes {
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

// entryLength is how long an entry is with the lines that have no level, more than recordBytes if it is
// too long.
func (e *entryReader) entryLength(b []byte, first int) (n int) {
	for n = first; n < len(b) && n <= recordBytes; {
		line := b[n : n+lineLength(b[n:])]
		if e.level(line) >= 0 {
			break
		}
		n += len(line)
	}
	return n
}

// commitLevel is the level of a line of a history with changes.
func commitLevel(line []byte) int {
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

func headingLevel(line []byte) int {
	if headingLine.Match(line) {
		return bytes.IndexByte(line, ' ')
	}
	return -1
}

func regexpLevel(re *regexp.Regexp) func(line []byte) int {
	return func(line []byte) int {
		if re.Match(line) {
			return 0
		}
		return -1
	}
}
