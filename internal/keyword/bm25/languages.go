// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

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
func (l Language) HasOwnLetters() bool { return l.isUnspaced() || l == Russian }

// isUnspaced reports whether a language is written without spaces between words.
func (l Language) isUnspaced() bool { return l == Chinese || l == Japanese || l == Korean }

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
			g.words[strings.ToLower(normalize(word))] |= 1 << (len(g.languages) - 1)
		}
	}
	eachLine(stopWordsEnglish, func(line []string) { read(English, line) })
	eachLine(stopWordsChinese, func(line []string) { read(Chinese, line) })
	eachLine(languagesText, func(line []string) { read(Language(line[0]), line[1:]) })
	return g
})

// set is the set of one language.
func (g *grammar) set(l Language) languageSet {
	for i, other := range g.languages {
		if other == l {
			return 1 << i
		}
	}
	return 0
}

// most returns the language with the most votes, English if it has as many, and none where the
// next one has more than a share of them.
func (g *grammar) most(v *[maxLanguages]int, share float64) Language {
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
func LanguageOf(text string) Language { return languageOf(normalize(text), "") }

// enough is how many function words tell a language that is neither English nor likely: one may be
// an English word, or none.
const enough = 2

// languageOf is LanguageOf, where one function word is enough for a likely language.
func languageOf(text string, likely Language) Language {
	g := grammars()
	var v [maxLanguages]int
	unspaced, words, cyrillic, byScript := 0, 0, 0, Chinese
	eachRun(text, func(word run) {
		if !word.unspaced {
			words++
			g.vote(&v, word.text)
			if r, _ := utf8.DecodeRuneInString(word.text); unicode.Is(unicode.Cyrillic, r) {
				cyrillic++
			}
			return
		}
		for _, r := range word.text {
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
		if v[i] < enough && g.languages[i] != likely {
			v[i] = 0
		}
	}
	return g.most(&v, 1)
}

// vote counts a word for each language that has it as a function word.
func (g *grammar) vote(v *[maxLanguages]int, word string) {
	in := g.of(word)
	for i := range g.languages {
		v[i] += int(in >> i & 1)
	}
}

// of returns the languages of which a word is a function word.
func (g *grammar) of(word string) languageSet {
	var letters [maxWordBytes]byte
	if len(word) > len(letters) {
		return 0
	}
	if !isASCII(word) {
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

// Language returns the language of the descriptions, if most are in one.
func (x *Index) Language() Language { return x.language() }

func (x *Index) findLanguage() Language {
	mostly := 4*x.unspaced > 3*x.Len() // of the documents are written without spaces
	if !mostly && 4*x.unspaced > x.Len() {
		return ""
	}
	g := grammars()
	var v [maxLanguages]int
	s := make(stemmer)
	for word, in := range g.words {
		id, ok := x.find(s.stem(word))
		if !ok {
			continue
		}
		for i, l := range g.languages {
			if l.isUnspaced() == mostly {
				v[i] += x.users(id) * int(in>>i&1)
			}
		}
	}
	most := g.most(&v, clearly)
	for i, l := range g.languages {
		if l == most && 2*v[i] < x.Len() {
			return ""
		}
	}
	return most
}

// saysLittle reports whether a token without spaces has Japanese letters of inflection and
// particles, rather than of a word's own.
func saysLittle(token string) bool { return strings.ContainsFunc(token, isHiragana) }

func isHiragana(r rune) bool { return r >= 0x3041 && r <= 0x309f }
