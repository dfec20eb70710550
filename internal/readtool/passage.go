// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// Passages, and how long they are.

import "bytes"

// A record of at most recordBytes is a passage; of a longer one, parts of passageBytes.
const recordBytes, passageBytes = 4000, 600

// passage is a part of a file.
type passage struct {
	firstLine, lastLine int64 // lines
	start               int64 // bytes
	text                string
	heading             string // what it stands under, such as the header of its table
	size                int64  // of a record, in the content; text is shorter then
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
