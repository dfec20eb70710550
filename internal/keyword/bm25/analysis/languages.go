// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Language is the English name of a language. Empty: it is not known.
type Language string

// The languages that are known by more than their function words.
const (
	English  Language = "English"
	Chinese  Language = "Chinese"
	Japanese Language = "Japanese"
	Korean   Language = "Korean"
	Russian  Language = "Russian"
)

// HasOwnLetters reports whether a language has letters that none of the others has.
func (l Language) HasOwnLetters() bool { return l.IsUnspaced() || l == Russian }

// HasFunctionWord reports whether a word is a function word of a language.
func (l Language) HasFunctionWord(word string) bool {
	g := grammars()
	in := g.languagesOf(word)
	return in != 0 && in&g.bit(l) != 0
}

// IsUnspaced reports whether a language is written without spaces between words.
func (l Language) IsUnspaced() bool { return l == Chinese || l == Japanese || l == Korean }

//go:embed languages.txt
var languagesText string

// languageSet is a set of languages, by their places in grammar.languages.
type languageSet uint16

// maxLanguages is how many a languageSet can have.
const maxLanguages = 16

// grammar knows the function words of languages, which say nothing of their own, in small letters.
type grammar struct {
	languages []Language // the first is English
	words     map[string]languageSet
}

var grammars = sync.OnceValue(func() *grammar {
	g := &grammar{words: make(map[string]languageSet)}
	read := func(l Language, words []string) {
		if len(g.languages) == 0 || g.languages[len(g.languages)-1] != l {
			g.languages = append(g.languages, l)
		}
		for _, word := range words {
			g.words[strings.ToLower(Normalize(word))] |= 1 << (len(g.languages) - 1)
		}
	}
	EachLine(stopWordsEnglish, func(line []string) { read(English, line) })
	EachLine(stopWordsChinese, func(line []string) { read(Chinese, line) })
	EachLine(languagesText, func(line []string) { read(Language(line[0]), line[1:]) })
	return g
})

// bit returns the set of one language, or the empty set.
func (g *grammar) bit(l Language) languageSet {
	for i, other := range g.languages {
		if other == l {
			return 1 << i
		}
	}
	return 0
}

// winner returns the language with the most votes, or none if the next one has more than a share of them.
// English wins a tie.
func (g *grammar) winner(v *[maxLanguages]int, share float64) Language {
	best, next := 0, 0
	for i := 1; i < len(g.languages); i++ {
		if v[i] > v[best] {
			best, next = i, v[best]
		} else {
			next = max(next, v[i])
		}
	}
	if v[best] == 0 || float64(next) > share*float64(v[best]) {
		return ""
	}
	return g.languages[best]
}

// LanguageOf returns the language of a text: by its script or, in one that languages share, by
// which of them most of its function words are.
func LanguageOf(text string) Language { return LanguageOfNormalized(Normalize(text), "") }

// minVotes is the number of function words that identify a language other than English and the likely one. A
// single one may be an English word.
const minVotes = 2

// LanguageOfNormalized is LanguageOf of normalized text, where one function word is enough for a
// likely language.
func LanguageOfNormalized(text string, likely Language) Language {
	g := grammars()
	var v [maxLanguages]int
	unspaced, words, cyrillic, byScript := 0, 0, 0, Chinese
	EachRun(text, func(word Run) {
		if !word.Unspaced {
			words++
			g.vote(&v, word.Text)
			if r, _ := utf8.DecodeRuneInString(word.Text); unicode.Is(unicode.Cyrillic, r) {
				cyrillic++
			}
			return
		}
		for _, r := range word.Text {
			unspaced++
			switch {
			case unicode.In(r, unicode.Hiragana, unicode.Katakana):
				byScript = Japanese
			case unicode.Is(unicode.Hangul, r):
				byScript = Korean
			case !unicode.Is(unicode.Han, r) && byScript == Chinese:
				byScript = ""
			}
		}
	})
	switch {
	case unspaced > words:
		return byScript
	case 2*cyrillic > words:
		return Russian
	}
	for i := 1; i < len(g.languages); i++ {
		if v[i] < minVotes && g.languages[i] != likely {
			v[i] = 0
		}
	}
	return g.winner(&v, 1)
}

// vote counts a word for each language that has it as a function word.
func (g *grammar) vote(v *[maxLanguages]int, word string) {
	in := g.languagesOf(word)
	for i := range g.languages {
		v[i] += int(in >> i & 1)
	}
}

// languagesOf returns the languages in which a word is a function word.
func (g *grammar) languagesOf(word string) languageSet {
	var letters [MaxWordBytes]byte
	if len(word) > len(letters) {
		return 0
	}
	if !IsASCII(word) {
		return g.words[strings.ToLower(word)]
	}
	for i := range len(word) {
		letters[i] = word[i]
		if 'A' <= word[i] && word[i] <= 'Z' {
			letters[i] += 'a' - 'A'
		}
	}
	return g.words[string(letters[:len(word)])]
}

// clearly is the share of the function words of the catalogue's language up to which another one
// may have some: languages share words, and names have those of others.
const clearly = 0.7

// LanguageOfMost returns the language that most of a number of texts are in, which are in scripts
// without spaces or not, "" if none is; users says how many of them have a word with a stem.
func LanguageOfMost(texts int, unspaced bool, users func(stem string) int) Language {
	g := grammars()
	var v [maxLanguages]int
	s := make(Stemmer)
	for word, in := range g.words {
		n := users(s.Stem(word))
		if n == 0 {
			continue
		}
		for i, l := range g.languages {
			if l.IsUnspaced() == unspaced {
				v[i] += n * int(in>>i&1)
			}
		}
	}
	most := g.winner(&v, clearly)
	for i, l := range g.languages {
		if l == most && 2*v[i] < texts {
			return ""
		}
	}
	return most
}

// SaysLittle reports whether a token without spaces has Japanese letters of inflection and
// particles, rather than of a word's own.
func SaysLittle(token string) bool {
	return strings.ContainsFunc(token, func(r rune) bool { return r >= 0x3041 && r <= 0x309f }) // Hiragana
}
