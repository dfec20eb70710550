// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// Passages, and how long they are.

import "bytes"

const (
	// A record of JSON of at most recordBytes is a passage; of a longer one, parts of passageBytes.
	recordBytes, passageBytes = 4000, 600
	// An entry or block of a text of at most longestEntry is a passage; a longer one is taken apart. An excerpt of it
	// would show a little of everything.
	longestEntry = 2000
)

// passage is a part of a file.
type passage struct {
	firstLine, lastLine int64 // lines
	start               int64 // bytes
	text                string
	heading             string // what it stands under, such as the header of its table
	size                int64  // of a record of JSON, in the content; text is shorter then
	isRecord            bool   // says what it is by itself: a row, an entry, an object
}

func (p passage) end() int64 {
	if p.size > 0 {
		return p.start + p.size
	}
	return p.start + int64(len(p.text))
}

// lineLength is how long the line at the start of a text is, with its end.
func lineLength(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	return len(b)
}
