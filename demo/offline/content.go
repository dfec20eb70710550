// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import "strings"

// content returns the words that describe a step, without data. Capitalized words and units may be either, so
// they are returned separately.
func content(text string, found []value) (words, soft []string) {
	b := []byte(text)
	for _, v := range found {
		if v.kind.soft() {
			soft = append(soft, tokens(text[v.start:v.end])...)
		}
		if v.kind != numeral {
			mask(b[v.start:v.end])
		}
	}
	for _, w := range tokens(strings.ReplaceAll(string(b), "\x00", " ")) {
		if !stopWords[w] && !isNumber(w) && (len(w) > 1 || isHan(w)) {
			words = append(words, w)
		}
	}
	return unique(words), unique(soft)
}

func unique(words []string) (out []string) {
	present := map[string]bool{}
	for _, w := range words {
		if !present[w] {
			present[w] = true
			out = append(out, w)
		}
	}
	return out
}

// impliedWords returns words that the data and phrases of a step imply.
func impliedWords(text string, found []value) (out []string) {
	count := map[kind]int{}
	for _, v := range found {
		count[v.kind]++
		if v.kind == unit {
			out = append(out, unitKinds[strings.ToLower(v.text)]...)
		}
		if words := speaksOf[v.kind]; !v.kind.soft() && v.kind != numeral && v.kind != number {
			out = append(out, words[0])
		}
	}
	switch {
	case count[unit] >= 2:
		return append(out, "convert")
	case count[moment] > 0 && count[proper]+count[zone] > 1:
		out = append(out, "convert", "zone")
	}
	return append(out, expandPhrases(text)...)
}
