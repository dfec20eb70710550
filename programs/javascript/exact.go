// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// Integers that a Number cannot hold.

import (
	"math/big"
	"regexp"
	"strings"
)

// hasLong reports whether a text has so many digits in a row as no Number may hold: a result
// without them is read faster.
func hasLong(text string) bool {
	const least = 16
	run := 0
	for i := range len(text) {
		if c := text[i]; c < '0' || c > '9' {
			run = 0
		} else if run++; run == least {
			return true
		}
	}
	return false
}

var literal = regexp.MustCompile(`0[xX][\da-fA-F_]+|[1-9][\d_]*`)

// exact makes BigInts of the integers of a program that a Number would round.
func exact(code string) string {
	masked := mask(code)
	var b strings.Builder
	kept := 0
	for _, at := range literal.FindAllStringIndex(masked, -1) {
		if at[0] > 0 && isPart(masked[at[0]-1]) || at[1] < len(masked) && isPart(masked[at[1]]) {
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

// isPart reports whether a byte beside digits makes them part of something else.
func isPart(c byte) bool {
	return c == '.' || c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
