// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package refusal reads the errors by which providers refuse a request.
//
// Known sentences of providers are tried first. A rule decides about all other texts: a sentence must speak of the
// input and of a limit. Errors that pass by themselves, such as rate limits, are excluded. In doubt, an error is no
// overflow.
package refusal

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

// Overflow reports whether the text of an error says that a request is too long, and how many tokens the model takes,
// zero if the text does not say.
func Overflow(errText string) (tokens int64, ok bool) {
	text := withoutQuotations(bounded(errText))
	lower := strings.ToLower(text)
	parts := sentences(text)
	if isTransient(parts) {
		return 0, false
	}
	isKnown, hasNumber := false, false
	for _, s := range knownSentences() {
		found := s.pattern.FindStringSubmatch(lower)
		if found == nil {
			continue
		}
		isKnown, hasNumber = true, hasNumber || s.hasNumber
		for _, number := range found[1:] {
			if n := parseNumber(number); n > 0 {
				return n, true
			}
		}
	}
	switch {
	case isKnown && hasNumber:
		return 0, true
	case isKnown || saysTooLong(parts):
		return limitIn(parts), true
	}
	return 0, false
}

// maxText is how many bytes of an error are read: its beginning and its end.
const maxText = 16 << 10

func bounded(text string) string {
	if len(text) <= maxText {
		return text
	}
	return text[:maxText/2] + "\n" + text[len(text)-maxText/2:]
}

//go:embed sentences.txt
var sentenceText string

// knownSentence is how a provider says that a request is too long.
type knownSentence struct {
	pattern   *regexp.Regexp // of a text in lower case
	hasNumber bool
}

var knownSentences = sync.OnceValue(func() (all []knownSentence) {
	for line := range strings.Lines(sentenceText) {
		source, pattern, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(source, "#") {
			continue
		}
		all = append(all, knownSentence{
			pattern:   regexp.MustCompile(strings.ReplaceAll(pattern, "<n>", "("+numberPattern+")")),
			hasNumber: strings.Contains(pattern, "<n>"),
		})
	}
	return all
})
