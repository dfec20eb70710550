// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// Texts as the tokens by which BM25Index knows their words.

import (
	"regexp"
	"strings"

	"github.com/kljensen/snowball/english"
)

var (
	// humps are where one word of camelCase ends and the next begins.
	humps   = regexp.MustCompile(`([a-z])([A-Z])|([A-Z])([A-Z][a-z])`)
	letters = regexp.MustCompile(`[A-Za-z]+`)
	// noText is what of Markdown and HTML nobody reads.
	noText = regexp.MustCompile(`<[^>]*>|https?://\S+|\]\([^)]*\)|&[a-z]+;|['’]s\b`)
)

const (
	longestWord = 20  // letters; a longer one is data, or several words
	longestText = 300 // words
)

// stems are the stems of words, by the words.
type stems map[string]string

// of returns the stem of a word.
func (s stems) of(word string) string {
	stem, ok := s[word]
	if !ok {
		stem = english.Stem(word, true)
		s[strings.Clone(word)] = stem
	}
	return stem
}

// text returns the stems of a text with spaces between them.
func (s stems) text(text string) string {
	var out []string
	text = humps.ReplaceAllString(noText.ReplaceAllString(text, " "), "$1$3 $2$4")
	for _, word := range letters.FindAllString(text, -1) {
		if len(word) <= longestWord && len(out) < longestText {
			out = append(out, s.of(word))
		}
	}
	return strings.Join(out, " ")
}

// texts returns the stems of texts, each of at least three words and once.
func (s stems) texts(texts []string) []string {
	out := make([]string, 0, len(texts))
	for _, text := range texts {
		if text = s.text(text); strings.Count(text, " ") >= 2 {
			out = append(out, text)
		}
	}
	return unique(out)
}
