// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package wordsplit splits texts into the words that the recorded tables of vectors have. What makes
// the tables and what reads them must split alike.
package wordsplit

import (
	"regexp"
	"strings"
)

var (
	camel = regexp.MustCompile(`([a-z])([A-Z])`)
	runs  = regexp.MustCompile(`[A-Za-z]+|\p{Han}+`)
)

// Split returns the words of a text: runs of Latin letters, split at camelCase, and characters
// and pairs of characters of Chinese.
func Split(text string) (words []string) {
	for _, run := range runs.FindAllString(camel.ReplaceAllString(text, "$1 $2"), -1) {
		if run[0] < 0x80 {
			words = append(words, strings.ToLower(run))
			continue
		}
		all := []rune(run)
		for i := range all {
			words = append(words, string(all[i]))
			if i > 0 {
				words = append(words, string(all[i-1:i+1]))
			}
		}
	}
	return words
}
