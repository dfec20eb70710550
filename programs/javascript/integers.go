// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// Numbers that a JavaScript Number cannot hold.

import (
	"math/big"
	"regexp"
	"strings"
)

// hasLargeNumber reports whether a text has so many digits in a row, or so large an exponent, that a
// Number may not hold it. Results without them are parsed faster.
func hasLargeNumber(text string) bool {
	const minDigits = 16
	run := 0
	for i := range len(text) {
		switch c := text[i]; {
		case isDigit(c):
			if run++; run == minDigits {
				return true
			}
		case c|0x20 == 'e' && isLargeExponent(text[i+1:]):
			return true
		default:
			run = 0
		}
	}
	return false
}

// isLargeExponent reports whether a text begins with a positive exponent of three digits.
func isLargeExponent(text string) bool {
	text = strings.TrimPrefix(text, "+")
	return len(text) > 2 && isDigit(text[0]) && isDigit(text[1]) && isDigit(text[2])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

var integerLiteral = regexp.MustCompile(`0[xX][\da-fA-F_]+|[1-9][\d_]*`)

// exactIntegers turns integer literals of a program that a Number would round into BigInts.
func exactIntegers(code string) string {
	masked := mask(code)
	var b strings.Builder
	kept := 0
	for _, at := range integerLiteral.FindAllStringIndex(masked, -1) {
		if at[0] > 0 && isWordByte(masked[at[0]-1]) || at[1] < len(masked) && isWordByte(masked[at[1]]) {
			continue
		}
		n, ok := new(big.Int).SetString(masked[at[0]:at[1]], 0)
		if ok && n.BitLen() > 53 {
			b.WriteString(code[kept:at[1]] + "n")
			kept = at[1]
		}
	}
	return b.String() + code[kept:]
}

// isWordByte reports whether a byte beside digits makes them part of another token.
func isWordByte(c byte) bool {
	return c == '.' || c == '_' || c == '$' || c >= 0x80 || isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z'
}
