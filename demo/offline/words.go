// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"strings"
	"unicode"
)

// tokens cuts text to lower-case words. A hyphen before a number joins, as in
// sha-256; other hyphens cut. Chinese text is cut by the lexicon.
func tokens(text string) []string {
	var out []string
	runes := []rune(text)
	for i := 0; i < len(runes); {
		end := i
		for end < len(runes) && class(runes[end]) == class(runes[i]) {
			end++
		}
		switch class(runes[i]) {
		case han:
			out = append(out, cutHan(runes[i:end])...)
		case letter:
			end = joinNumber(runes, end)
			out = append(out, strings.ToLower(strings.ReplaceAll(string(runes[i:end]), "-", "")))
		}
		i = end
	}
	return out
}

// joinNumber moves the end of a word over -256.
func joinNumber(runes []rune, end int) int {
	next := end
	if next < len(runes) && runes[next] == '-' {
		next++
		for next < len(runes) && unicode.IsDigit(runes[next]) {
			next++
		}
		if next > end+1 && (next == len(runes) || class(runes[next]) != letter) {
			return next
		}
	}
	return end
}

type runeClass int

const (
	other runeClass = iota
	letter
	han
)

func class(r rune) runeClass {
	switch {
	case r < unicode.MaxASCII:
		if 'a' <= r|' ' && r|' ' <= 'z' || '0' <= r && r <= '9' {
			return letter
		}
		return other
	case unicode.Is(unicode.Han, r):
		return han
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		return letter
	}
	return other
}

// isHan reports whether text has a Chinese character.
func isHan(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return class(r) == han })
}

// nameWords cuts an identifier at underscores, hyphens and dots. A
// number is also joined to the word before it: sha_256 is sha, 256 and sha256.
func nameWords(name string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, strings.ToLower(b.String()))
			b.Reset()
		}
	}
	for _, r := range name {
		if class(r) == other {
			flush()
			continue
		}
		b.WriteRune(r)
	}
	flush()
	for i := 1; i < len(out); i++ {
		if isNumber(out[i]) && !isNumber(out[i-1]) {
			out = append(out, out[i-1]+out[i])
		}
	}
	return out
}

func isNumber(word string) bool {
	return word != "" && strings.IndexFunc(word, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
}

// endings lists suffixes of English words with their replacements. The first match wins.
var endings = []struct{ end, replacement string }{
	{"'s", ""}, {"ies", "y"}, {"sses", "ss"}, {"ches", "ch"}, {"shes", "sh"}, {"xes", "x"},
	{"ing", ""}, {"ied", "y"}, {"ed", ""}, {"s", ""},
}

// stem removes the plural, -ing, -ed and a final e from an English word.
func stem(word string) string {
	if word == "" || !strings.ContainsRune("sgd", rune(word[len(word)-1])) {
		return withoutE(word)
	}
	for _, e := range endings {
		base, ok := strings.CutSuffix(word, e.end)
		if !ok || len(base)+len(e.replacement) < 3 || (e.end == "s" && strings.ContainsAny(base[len(base)-1:], "sui")) {
			continue
		}
		word = base + e.replacement
		if n := len(word); (e.end == "ing" || e.end == "ed") && word[n-1] == word[n-2] && word[n-1] != 's' && word[n-1] != 'l' {
			word = word[:n-1]
		}
		break
	}
	return withoutE(word)
}

func withoutE(word string) string {
	if len(word) > 3 {
		return strings.TrimSuffix(word, "e")
	}
	return word
}

// similarity estimates from 0 to 1 how likely a means b. It considers equal words, equal stems, related words
// of the lexicon, and long common prefixes.
func similarity(a, b string) float64 { return parseWord(a).similarity(b) }

// wordForms is a word prepared for many comparisons.
type wordForms struct {
	word, stem string
	related    map[string]bool // stems
	long       bool            // a common beginning says something
}

func parseWord(word string) wordForms {
	s := wordForms{word: word, stem: stem(word)}
	s.related = relations[s.stem]
	s.long = len(s.stem) >= 5 && !isHan(word) && !isNumber(word)
	return s
}

func (s wordForms) similarity(word string) float64 {
	if s.word == word {
		return 1
	}
	if word == "" || len(s.related) == 0 && s.word[:min(1, len(s.word))] != word[:1] {
		return 0 // fast path: most pairs end here
	}
	other := stem(word)
	switch {
	case s.stem == other:
		return 1
	case s.related[other]:
		return 0.8
	case s.long:
		common := commonPrefix(s.stem, other)
		if common >= 5 && common*10 >= 7*max(len(s.stem), len(other)) {
			return 0.6
		}
	}
	return 0
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// best returns the highest similarity of a word to any other word.
func best(word string, others []string) float64 {
	s, top := parseWord(word), 0.0
	for _, o := range others {
		top = max(top, s.similarity(o))
	}
	return top
}
