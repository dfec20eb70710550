// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// Numbers of results that JavaScript cannot hold.

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// exact returns a result in which each number that JavaScript would change is a string: an id of
// twenty digits stays that id. Anything that is not a JSON object or list is returned as it is.
func exact(text string) string {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	if trimmed == "" || trimmed[0] != '{' && trimmed[0] != '[' || !json.Valid([]byte(text)) {
		return text
	}
	var b strings.Builder
	kept := 0
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"':
			i = endOfString(text, i)
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(text) && strings.IndexByte("+-.eE0123456789", text[end]) >= 0 {
				end++
			}
			if !holds(text[i:end]) {
				b.WriteString(text[kept:i])
				b.WriteByte('"')
				b.WriteString(text[i:end])
				b.WriteByte('"')
				kept = end
			}
			i = end
		default:
			i++
		}
	}
	if kept == 0 {
		return text
	}
	b.WriteString(text[kept:])
	return b.String()
}

// endOfString is the place after the string that begins at i, in valid JSON.
func endOfString(text string, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// holds reports whether a number is the same after JavaScript has read and written it. Up to
// fifteen digits always are.
func holds(number string) bool {
	if len(number) <= 15 && !strings.ContainsAny(number, "eE") {
		return true
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || len(number) > 400 {
		return false
	}
	if f == 0 { // to write out 1e-999999 would take long
		digits, _, _ := strings.Cut(strings.ToLower(number), "e")
		return !strings.ContainsAny(digits, "123456789")
	}
	was, ok := new(big.Rat).SetString(number)
	is, ok2 := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return ok && ok2 && was.Cmp(is) == 0
}
