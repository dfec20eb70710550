// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file spells out numbers in English.

import "strings"

var (
	smallWords = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	tensWords  = strings.Fields("- - twenty thirty forty fifty sixty seventy eighty ninety")
)

// inWords spells out a number of at most 15 digits.
func inWords(n int64) string {
	if n < 0 {
		return "minus " + inWords(-n)
	}
	if n < 1000 {
		return hundredsInWords(n)
	}
	var out []string
	for _, scale := range []struct {
		size int64
		name string
	}{{1e12, "trillion"}, {1e9, "billion"}, {1e6, "million"}, {1e3, "thousand"}} {
		if n >= scale.size {
			out = append(out, hundredsInWords(n/scale.size), scale.name)
			n %= scale.size
		}
	}
	if n > 0 {
		out = append(out, hundredsInWords(n))
	}
	return strings.Join(out, " ")
}

func hundredsInWords(n int64) string {
	switch {
	case n >= 100 && n%100 == 0:
		return smallWords[n/100] + " hundred"
	case n >= 100:
		return smallWords[n/100] + " hundred " + hundredsInWords(n%100)
	case n < 20:
		return smallWords[n]
	case n%10 == 0:
		return tensWords[n/10]
	}
	return tensWords[n/10] + "-" + smallWords[n%10]
}
