// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package truncate

// What has arrived of a stream: its text, the chunks that are buffered, and its last bytes.

import (
	"unicode/utf8"

	"github.com/einolean/einolean/internal/display"
)

// receivedText is the text that has arrived so far.
type receivedText struct {
	texts  []string // all text, as long as it may have to be stored
	bytes  int      // length of all text
	passed int      // bytes of it that were passed on
}

// boundary returns how many bytes come before an offset without splitting a character. It is at least the number of
// bytes that were passed on.
func (r *receivedText) boundary(offset int) int {
	from := max(0, offset-utf8.UTFMax)
	around := bytesBetween(r.texts, from, offset+utf8.UTFMax)
	if at := from + display.Floor(around, offset-from); at >= r.passed {
		return at
	}
	return from + display.Ceil(around, r.passed-from)
}

// bytesBetween returns the bytes between two offsets of consecutive texts.
func bytesBetween(texts []string, from, to int) string {
	var out []byte
	for _, t := range texts {
		if from < len(t) && to > 0 {
			out = append(out, t[max(0, from):min(to, len(t))]...)
		}
		from, to = from-len(t), to-len(t)
	}
	return string(out)
}

// chunkBuffer holds chunks that were not passed on yet.
type chunkBuffer[T any] struct {
	chunks  []T
	forJSON int // the first chunks that only wait for the end of JSON
}

func (b *chunkBuffer[T]) add(chunk T) { b.chunks = append(b.chunks, chunk) }

// addForJSON adds a chunk. All chunks now only wait for the end of JSON.
func (b *chunkBuffer[T]) addForJSON(chunk T) {
	b.add(chunk)
	b.forJSON = len(b.chunks)
}

// isOnlyForJSON reports whether all chunks only wait for the end of JSON.
func (b *chunkBuffer[T]) isOnlyForJSON() bool { return len(b.chunks) == b.forJSON }

// joined returns all chunks as one.
func (b *chunkBuffer[T]) joined() T { return join(b.chunks) }

// take empties the buffer and returns all chunks as one.
func (b *chunkBuffer[T]) take() T {
	out := b.joined()
	b.chunks = nil
	return out
}

// tail holds the last bytes of its input.
type tail struct {
	max       int
	buf       []byte
	truncated bool // the input was longer than buf
}

// skip adds the bytes of texts after the first n bytes.
func (t *tail) skip(texts []string, n int) {
	for _, s := range texts {
		t.add(s[min(max(n, 0), len(s)):])
		n -= len(s)
	}
}

func (t *tail) add(s string) {
	if len(s) > t.max {
		s, t.buf, t.truncated = s[len(s)-t.max:], t.buf[:0], true
	}
	if t.buf = append(t.buf, s...); len(t.buf) > 2*t.max {
		t.trim()
	}
}

func (t *tail) trim() {
	if drop := len(t.buf) - t.max; drop > 0 {
		t.buf, t.truncated = append(t.buf[:0], t.buf[drop:]...), true
	}
}

// text returns the tail, starting at a whole character.
func (t *tail) text() string {
	t.trim()
	from := 0
	for t.truncated && from < min(utf8.UTFMax-1, len(t.buf)) && !utf8.RuneStart(t.buf[from]) {
		from++
	}
	return string(t.buf[from:])
}
