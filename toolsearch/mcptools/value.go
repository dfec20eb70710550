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

// sum stands for a JSON value: the same for the same value, whatever the order of members, white
// space, escapes and the notation of numbers. Two values have one only by chance, which no server
// can help.
type sum [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// of is the sum of something of a kind.
func of(kind byte, text string) (s sum) {
	for i, seed := range seeds {
		var h maphash.Hash
		h.SetSeed(seed)
		_ = h.WriteByte(kind) // never an error, as with every write to a hash
		_, _ = h.WriteString(text)
		s[i] = h.Sum64()
	}
	return s
}

// with is a sum that depends on both, in this order.
func (s sum) with(kind byte, next sum) (out sum) {
	for i, seed := range seeds {
		out[i] = maphash.Comparable(seed, [3]uint64{uint64(kind), s[i], next[i]})
	}
	return out
}

// sumOfString is the sum of a text as a value.
func sumOfString(text string) sum { return of('"', text) }

// sumOf is the sum of a text of JSON; ok is false if it is none, or too deep.
func sumOf(text string) (s sum, ok bool) {
	r := reader{text: text}
	s, ok = r.value(0)
	r.space()
	return s, ok && r.at == len(text)
}

// deepest is how many levels a value has that is compared.
const deepest = 1000

// reader reads a text that may be JSON.
type reader struct {
	text string
	at   int
}

func (r *reader) space() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// next reports whether a sign follows, and passes over it.
func (r *reader) next(sign byte) bool {
	r.space()
	if r.at >= len(r.text) || r.text[r.at] != sign {
		return false
	}
	r.at++
	return true
}

func (r *reader) value(level int) (s sum, ok bool) {
	r.space()
	if level > deepest || r.at >= len(r.text) {
		return s, false
	}
	switch r.text[r.at] {
	case '{':
		return r.object(level)
	case '[':
		return r.list(level)
	case '"':
		text, ok := r.string()
		return sumOfString(text), ok
	}
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(r.text[r.at:], word) {
			r.at += len(word)
			return of('w', word), true
		}
	}
	return r.number()
}

// object reads an object. The order of its members is of no importance, unless a name repeats.
func (r *reader) object(level int) (s sum, ok bool) {
	r.at++
	if r.next('}') {
		return of('{', ""), true
	}
	for {
		if r.space(); r.at >= len(r.text) || r.text[r.at] != '"' {
			return s, false
		}
		name, ok := r.string()
		if !ok || !r.next(':') {
			return s, false
		}
		v, ok := r.value(level + 1)
		if !ok {
			return s, false
		}
		member := sumOfString(name).with(':', v)
		s[0], s[1] = s[0]+member[0], s[1]+member[1]
		if r.next('}') {
			return s.with('{', sum{}), true
		}
		if !r.next(',') {
			return s, false
		}
	}
}

func (r *reader) list(level int) (s sum, ok bool) {
	r.at++
	s = of('[', "")
	for first := true; !r.next(']'); first = false {
		if !first && !r.next(',') {
			return s, false
		}
		v, ok := r.value(level + 1)
		if !ok {
			return s, false
		}
		s = s.with(',', v)
	}
	return s, true
}

// string reads a string. One with half of a character is what is written.
func (r *reader) string() (text string, ok bool) {
	start := r.at + 1
	escaped := false
	for i := start; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			r.at = i + 1
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

// number reads a number. Its sum is that of its digits and of its power of ten, without zeros at
// either end.
func (r *reader) number() (s sum, ok bool) {
	start := r.at
	if r.at < len(r.text) && r.text[r.at] == '-' {
		r.at++
	}
	sign := r.text[start:r.at]
	whole := r.digits()
	fraction := ""
	if r.at < len(r.text) && r.text[r.at] == '.' {
		r.at++
		if fraction = r.digits(); fraction == "" {
			return s, false
		}
	}
	exponent, ok := r.exponent()
	if !ok || whole == "" || len(whole) > 1 && whole[0] == '0' {
		return s, false
	}
	power, err := strconv.ParseInt(exponent, 10, 32)
	if err != nil {
		return of('e', r.text[start:r.at]), true
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return of('0', sign), true
	}
	power += int64(len(digits) - len(short) - len(fraction))
	return of('0', sign+short+"e"+strconv.FormatInt(power, 10)), true
}

// exponent reads the power of ten of a number, "0" where none is written.
func (r *reader) exponent() (power string, ok bool) {
	if r.at >= len(r.text) || r.text[r.at] != 'e' && r.text[r.at] != 'E' {
		return "0", true
	}
	r.at++
	begin := r.at
	if r.at < len(r.text) && (r.text[r.at] == '+' || r.text[r.at] == '-') {
		r.at++
	}
	if r.digits() == "" {
		return "", false
	}
	return r.text[begin:r.at], true
}

func (r *reader) digits() string {
	start := r.at
	for r.at < len(r.text) && r.text[r.at] >= '0' && r.text[r.at] <= '9' {
		r.at++
	}
	return r.text[start:r.at]
}
