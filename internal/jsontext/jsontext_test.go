// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package jsontext

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The end is where encoding/json stops, whatever the value is and whatever follows it.
func TestValueEnd_AgreesWithDecoder(t *testing.T) {
	for _, value := range []string{
		`{}`, `[]`, `""`, `0`, `-1.5e+3`, `true`, `false`, `null`, `"a, b: {c} [d] \" \\"`, `"\\"`, `"é\u00e9"`,
		`{"a":{"b":[1,"}",{}]},"c":"]"}`, "[ 1 ,\n { \"x\" : [ ] }\t, \"[\" ]", `[[[]],[]]`, `{"":""}`,
	} {
		require.Equal(t, len(value), ValueEnd(value, 0), value)
		for _, follows := range []string{`,"x":1`, `]`, `}`, ` `, "\n", `:1`, `,`} {
			text := `[` + value + follows
			var raw json.RawMessage
			d := json.NewDecoder(strings.NewReader(text[1:]))
			require.NoError(t, d.Decode(&raw))
			require.Equal(t, 1+len(raw), ValueEnd(text, 1), text)
		}
	}
}

// However a value is cut into pieces, the scanner finds the piece in which it ends.
func TestValueScanner_FindsEndInPieces(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 3))
	for range 5000 {
		value := strings.TrimSpace(random(r, 0))
		if !strings.ContainsRune(`{["`, rune(value[0])) {
			continue
		}
		text := value + []string{"", " ", "}", `"x`, "{}", "[[", `\\"`}[r.IntN(7)]
		var p ValueScanner
		for at := 0; at < len(text); {
			n := 1 + r.IntN(min(5, len(text)-at))
			require.Equal(t, at < len(value) && len(value) <= at+n, p.Add(text[at:at+n]), "seed %d: %q at %d", seed, text, at)
			at += n
		}
	}
}

func TestUnescape_KeepsInvalidEscapes(t *testing.T) {
	for raw, want := range map[string]string{
		`plain`: "plain", `a\n\"\\\/\u00e9\ud83d\ude00z`: "a\n\"\\/é😀z", `\ud83d\u0041`: "\ufffdA", `\ud83d\ud83d\ude00`: "\ufffd😀",
		`\ude00\ud83d`: "\ufffd\ufffd", `\x\`: `\x`, `\u12`: `\u12`, `\u12g4`: `\u12g4`, "\\u123\x11": "\\u123\x11", `\ud83d\uzzzz`: "\ufffd\\uzzzz",
	} {
		require.Equal(t, want, Unescape(raw), raw)
	}
}

// broken is where a text stops being the start of a JSON value, its length if it does not; whole is true
// if a value ends there. plain is false if a string in it has an escape or a byte that JSON has not.
func broken(s string) (at int, whole, plain bool) {
	var open []byte
	var place Place
	for {
		if at = Space(s, at); at == len(s) || place == PlaceAfterValue(0) {
			return at, place == PlaceAfterValue(0) && at == len(s), true
		}
		token, next := place.Next(s[at])
		n := 1
		switch token {
		case Invalid:
			return at, false, true
		case Open:
			open = append(open, s[at])
		case Close:
			in := byte(0)
			if open = open[:len(open)-1]; len(open) > 0 {
				in = open[len(open)-1]
			}
			next = PlaceAfterValue(in)
		case Key, Text:
			end, ok := StringEnd(s, at)
			if !ok || !json.Valid([]byte(s[at:end])) {
				return end, false, false
			}
			n = end - at
		case Number:
			var d NumberPlace
			n, d = d.Read(s[at:])
			if !d.IsComplete() {
				return at + n, false, true
			}
		case Word:
			word := WordAt(s[at])
			for n = 0; n < len(word) && at+n < len(s) && s[at+n] == word[n]; {
				n++
			}
			if n < len(word) {
				return at + n, false, true
			}
		}
		at, place = at+n, next
	}
}

// random writes a random value, with white space.
func random(r *rand.Rand, depth int) string {
	space := func() string { return strings.Repeat(string(" \n\t\r"[r.IntN(4)]), r.IntN(3)) }
	k := r.IntN(9)
	if depth > 4 {
		k = 2 + r.IntN(7)
	}
	switch k {
	case 0, 1:
		var items []string
		for range r.IntN(4) {
			item := space() + random(r, depth+1) + space()
			if k == 0 {
				item = space() + []string{`"a"`, `"}"`, `"\""`, `"b\u00e9\\"`, `""`}[r.IntN(5)] + space() + ":" + item
			}
			items = append(items, item)
		}
		return "{["[k:k+1] + strings.Join(items, ",") + space() + "}]"[k:k+1]
	case 2, 3:
		return []string{`"text"`, `"[1,2]"`, `"\\"`, `"中\n"`, `"\"\""`}[r.IntN(5)]
	case 4, 5, 6:
		return []string{"0", "-1", "1.50", "1e9", "-0.0E+3", "1234567890"}[r.IntN(6)]
	}
	return []string{"true", "false", "null"}[r.IntN(3)]
}

// However a text is damaged, the first invalid byte is the one that encoding/json reports.
func TestPlace_IsInvalidWhereDecoderFails(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	compared := 0
	for range 50_000 {
		text := []byte(random(r, 0))
		for range r.IntN(3) {
			text[r.IntN(len(text))] = `{}[],:"e0-+.1tn `[r.IntN(16)]
		}
		text = text[:len(text)-r.IntN(2)*r.IntN(len(text))]
		at, whole, plain := broken(string(text))
		if !plain {
			continue
		}
		compared++
		require.Equal(t, json.Valid(text), whole, "seed %d: %q", seed, text)
		if at == len(text) { // it goes on
			continue
		}
		var wrong *json.SyntaxError
		require.ErrorAs(t, json.Unmarshal(text, new(any)), &wrong, "seed %d: %q", seed, text)
		_, size := utf8.DecodeRune(text[at:]) // some versions of Go give the first byte of a rune, some its last
		require.Contains(t, []int{at, at + size - 1}, int(wrong.Offset)-1, "seed %d: %q: %v", seed, text, wrong)
	}
	require.Greater(t, compared, 10_000, "seed %d", seed)
}

// compacted writes a valid value again, from its members and items.
func compacted(s string) string {
	s = strings.Trim(s, " \n\t\r")
	var parts []string
	switch s[0] {
	case '{':
		key, value, at, ok := Member(s, 1)
		for ; ok; key, value, at, ok = Member(s, at) {
			parts = append(parts, `"`+key+`":`+compacted(value))
		}
		return "{" + strings.Join(parts, ",") + s[at:]
	case '[':
		value, at, ok := Item(s, 1)
		for ; ok; value, at, ok = Item(s, at) {
			parts = append(parts, compacted(value))
		}
		return "[" + strings.Join(parts, ",") + s[at:]
	}
	return s
}

// Members and items are everything between the brackets.
func TestMemberItem_CoverTheText(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 2))
	for range 5000 {
		text := random(r, 0)
		var want bytes.Buffer
		require.NoError(t, json.Compact(&want, []byte(text)), "seed %d", seed)
		require.Equal(t, want.String(), compacted(text), "seed %d: %q", seed, text)
	}
}
