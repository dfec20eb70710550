// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"fmt"
	"strings"
)

// fieldsOf names the fields in which a token occurs, and how often.
func fieldsOf(c counts) string {
	var fields []string
	for f := range fieldCount {
		switch n := c.of(f); n {
		case 0:
		case 1:
			fields = append(fields, fieldNames[f])
		default:
			fields = append(fields, fmt.Sprintf("%s (%d times)", fieldNames[f], n))
		}
	}
	return strings.Join(fields, ", ")
}

// Written returns the words of texts as they stand there, by the tokens that stand for
// them. Of several words with one token the first is kept.
func Written(texts ...string) map[string]string {
	words, stems := map[string]string{}, stemmer{}
	keep := func(token, word string) {
		if _, known := words[token]; !known {
			words[token] = word
		}
	}
	for _, text := range texts {
		eachRun(normalize(text), func(r run) {
			if r.unspaced || len(r.text) > maxWordBytes {
				return
			}
			eachPart(r.text, func(part string) { keep(stems.stem(part), part) })
			keep(stems.stem(r.text), r.text)
		})
	}
	return words
}
