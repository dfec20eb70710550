// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"unicode/utf8"
)

// maxRunes is the longest word that is compared.
const maxRunes = 64

// Distance returns the number of typing errors that turn a into b if that is at
// most limit, and a greater number otherwise. An error is a character inserted, left
// out, replaced, or swapped with its neighbour. A word of more than 64 characters is
// far from every other.
func Distance(a, b string, limit int) int {
	var bufferA, bufferB [maxRunes]rune
	as, okA := decode(a, &bufferA)
	bs, okB := decode(b, &bufferB)
	if !okA || !okB || len(as)-len(bs) > limit || len(bs)-len(as) > limit {
		return limit + 1
	}
	var rows [3][maxRunes + 1]int // the one before last, the last, the current
	for j := range len(bs) + 1 {
		rows[1][j] = j
	}
	for i := 1; i <= len(as); i++ {
		rows[2][0] = i
		least := i
		for j := 1; j <= len(bs); j++ {
			cost := min(rows[1][j], rows[2][j-1]) + 1
			if as[i-1] == bs[j-1] {
				cost = min(cost, rows[1][j-1])
			} else {
				cost = min(cost, rows[1][j-1]+1)
			}
			if i > 1 && j > 1 && as[i-1] == bs[j-2] && as[i-2] == bs[j-1] {
				cost = min(cost, rows[0][j-2]+1)
			}
			rows[2][j] = cost
			least = min(least, cost)
		}
		if least > limit {
			return limit + 1
		}
		rows[0], rows[1] = rows[1], rows[2]
	}
	return rows[1][len(bs)]
}

func decode(s string, buffer *[maxRunes]rune) ([]rune, bool) {
	if len(s) > maxRunes*utf8.UTFMax {
		return nil, false
	}
	n := 0
	for _, r := range s {
		if n == maxRunes {
			return nil, false
		}
		buffer[n] = r
		n++
	}
	return buffer[:n], true
}
