// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Whether two texts are the same JSON value, in little memory however long they are.

import (
	"hash/maphash"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/jsontext"
)

// valueHash identifies a JSON value, regardless of the order of members, white space, escapes and the
// notation of numbers. A collision of two values is pure chance: the seeds are random.
type valueHash [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// hashKind hashes a text of a kind.
func hashKind(kind byte, text string) (s valueHash) {
	for i, seed := range seeds {
		var h maphash.Hash
		h.SetSeed(seed)
		_ = h.WriteByte(kind) // never an error, as with every write to a hash
		_, _ = h.WriteString(text)
		s[i] = h.Sum64()
	}
	return s
}

// combine returns a hash that depends on both hashes, in this order.
func (h valueHash) combine(kind byte, next valueHash) (out valueHash) {
	for i, seed := range seeds {
		out[i] = maphash.Comparable(seed, [3]uint64{uint64(kind), h[i], next[i]})
	}
	return out
}

// hashString hashes a text as a JSON string.
func hashString(text string) valueHash { return hashKind('"', text) }

// hashJSON hashes a JSON text; ok is false if it is invalid or too deep.
func hashJSON(text string) (s valueHash, ok bool) {
	r := hashReader{text: text}
	s, ok = r.readValue(0)
	r.skipSpace()
	return s, ok && r.offset == len(text)
}

// maxHashDepth is how many levels a value may have that is hashed.
const maxHashDepth = 1000

// hashReader reads a text that may be JSON.
type hashReader struct {
	text   string
	offset int
}

func (r *hashReader) skipSpace() {
	for r.offset < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.offset]) >= 0 {
		r.offset++
	}
}

// accept skips a sign and reports whether it follows.
func (r *hashReader) accept(sign byte) bool {
	r.skipSpace()
	if r.offset >= len(r.text) || r.text[r.offset] != sign {
		return false
	}
	r.offset++
	return true
}

func (r *hashReader) readValue(level int) (s valueHash, ok bool) {
	r.skipSpace()
	if level > maxHashDepth || r.offset >= len(r.text) {
		return s, false
	}
	switch r.text[r.offset] {
	case '{':
		return r.readObject(level)
	case '[':
		return r.readList(level)
	case '"':
		text, ok := r.readString()
		return hashString(text), ok
	}
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(r.text[r.offset:], word) {
			r.offset += len(word)
			return hashKind('w', word), true
		}
	}
	return r.readNumber()
}

// readObject hashes an object. The order of its members is ignored.
func (r *hashReader) readObject(level int) (s valueHash, ok bool) {
	r.offset++
	if r.accept('}') {
		return hashKind('{', ""), true
	}
	for {
		if r.skipSpace(); r.offset >= len(r.text) || r.text[r.offset] != '"' {
			return s, false
		}
		name, ok := r.readString()
		if !ok || !r.accept(':') {
			return s, false
		}
		v, ok := r.readValue(level + 1)
		if !ok {
			return s, false
		}
		member := hashString(name).combine(':', v)
		s[0], s[1] = s[0]+member[0], s[1]+member[1]
		if r.accept('}') {
			return s.combine('{', valueHash{}), true
		}
		if !r.accept(',') {
			return s, false
		}
	}
}

func (r *hashReader) readList(level int) (s valueHash, ok bool) {
	r.offset++
	s = hashKind('[', "")
	for first := true; !r.accept(']'); first = false {
		if !first && !r.accept(',') {
			return s, false
		}
		v, ok := r.readValue(level + 1)
		if !ok {
			return s, false
		}
		s = s.combine(',', v)
	}
	return s, true
}

// readString reads a string. One with half of a surrogate pair is returned as it is written.
func (r *hashReader) readString() (text string, ok bool) {
	start := r.offset + 1
	escaped := false
	for i := start; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			r.offset = i + 1
			raw := r.text[start:i]
			if !escaped {
				return raw, true
			}
			text = jsontext.Unescape(raw)
			if strings.Count(text, string(utf8.RuneError)) != strings.Count(raw, string(utf8.RuneError)) {
				return "\\" + raw, true
			}
			return text, true
		case c < ' ':
			return "", false
		case c == '\\':
			escaped = true
			n := 1
			if i+1 < len(r.text) && r.text[i+1] == 'u' {
				n = 5
			}
			if i+n >= len(r.text) || !isEscape(r.text[i+1:i+n+1]) {
				return "", false
			}
			i += n
		}
	}
	return "", false
}

func isEscape(s string) bool {
	if s[0] == 'u' {
		_, err := strconv.ParseUint(s[1:], 16, 32)
		return err == nil
	}
	return strings.IndexByte(`"\/bfnrt`, s[0]) >= 0
}

// readNumber hashes a number: its digits and its power of ten, without zeros at either end.
func (r *hashReader) readNumber() (s valueHash, ok bool) {
	start := r.offset
	if r.offset < len(r.text) && r.text[r.offset] == '-' {
		r.offset++
	}
	sign := r.text[start:r.offset]
	integer := r.readDigits()
	fraction := ""
	if r.offset < len(r.text) && r.text[r.offset] == '.' {
		r.offset++
		if fraction = r.readDigits(); fraction == "" {
			return s, false
		}
	}
	exponent, ok := r.readExponent()
	if !ok || integer == "" || len(integer) > 1 && integer[0] == '0' {
		return s, false
	}
	power, err := strconv.ParseInt(exponent, 10, 32)
	if err != nil {
		return hashKind('e', r.text[start:r.offset]), true
	}
	digits := strings.TrimLeft(integer+fraction, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return hashKind('0', sign), true
	}
	power += int64(len(digits) - len(short) - len(fraction))
	return hashKind('0', sign+short+"e"+strconv.FormatInt(power, 10)), true
}

// readExponent reads the power of ten of a number, "0" where none is written.
func (r *hashReader) readExponent() (power string, ok bool) {
	if r.offset >= len(r.text) || r.text[r.offset] != 'e' && r.text[r.offset] != 'E' {
		return "0", true
	}
	r.offset++
	begin := r.offset
	if r.offset < len(r.text) && (r.text[r.offset] == '+' || r.text[r.offset] == '-') {
		r.offset++
	}
	if r.readDigits() == "" {
		return "", false
	}
	return r.text[begin:r.offset], true
}

func (r *hashReader) readDigits() string {
	start := r.offset
	for r.offset < len(r.text) && r.text[r.offset] >= '0' && r.text[r.offset] <= '9' {
		r.offset++
	}
	return r.text[start:r.offset]
}
