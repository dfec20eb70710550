// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// The words of texts: their endings, camel case, and scripts without spaces.

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/keyword/stem"
)

// stemOf returns the common stem of the forms of a lower-case word.
func stemOf(word []byte) string {
	for _, c := range word {
		if c < 'a' || c > 'z' {
			return string(word)
		}
	}
	return string(stem.English(word))
}

// eachWord visits the words of a text: runs of letters and digits, their parts if they are
// written in camel case, and two neighbours each in scripts without spaces.
func eachWord(text []byte, visit func(word []byte)) {
	for at := 0; at < len(text); {
		if c := text[at]; c < utf8.RuneSelf && !isWordByte(c) {
			at++
			continue
		}
		c, width := utf8.DecodeRune(text[at:])
		switch {
		case isUnspaced(c):
			from := at
			for at < len(text) && isUnspaced(c) {
				at += width
				c, width = utf8.DecodeRune(text[at:])
			}
			eachPair(text[from:at], visit)
		case isWordRune(c):
			at += spacedWord(text[at:], visit)
		default:
			at += width
		}
	}
}

// spacedWord visits the word that a text begins with, and the parts of camel case, and
// returns its length.
func spacedWord(text []byte, visit func(word []byte)) (end int) {
	from, upper := 0, true
	for end < len(text) {
		c, width := rune(text[end]), 1
		if c >= utf8.RuneSelf {
			if c, width = utf8.DecodeRune(text[end:]); !isWordRune(c) || isUnspaced(c) {
				break
			}
		} else if !isWordByte(byte(c)) {
			break
		}
		wasUpper := upper
		if upper = unicode.IsUpper(c); upper && !wasUpper {
			visit(text[from:end])
			from = end
		}
		end += width
	}
	if from > 0 {
		visit(text[from:end])
	}
	visit(text[:end])
	return end
}

// wordBytes are the ASCII letters and digits.
var wordBytes = func() (set [256]bool) {
	for c := byte('0'); c <= '9'; c++ {
		set[c] = true
	}
	for c := byte('a'); c <= 'z'; c++ {
		set[c], set[c-'a'+'A'] = true, true
	}
	return set
}()

func isWordByte(c byte) bool { return wordBytes[c] }

// eachPair visits every two neighbours among characters; a single one alone.
func eachPair(text []byte, visit func(pair []byte)) {
	_, first := utf8.DecodeRune(text)
	if first == len(text) {
		visit(text)
	}
	for from, next := 0, first; next < len(text); {
		_, width := utf8.DecodeRune(text[next:])
		visit(text[from : next+width])
		from, next = next, next+width
	}
}

func isWordRune(c rune) bool {
	if c < utf8.RuneSelf {
		return isWordByte(byte(c))
	}
	return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c))
}

func isUnspaced(c rune) bool {
	return c >= 0x1100 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c - 'A' + 'a'
	}
	return c
}

// shortHash is how much of a hash is shown where it is abbreviated.
const shortHash = 7

// isHash reports whether a word is a hash, such as that of a commit, longer than its usual abbreviation.
func isHash(word string) bool {
	return len(word) > shortHash && strings.ContainsAny(word, "0123456789") && strings.Trim(word, "0123456789abcdef") == ""
}

// stopWords are the words that connect others or ask a question. Words that data has as well, such as "off" and
// "use", are not among them.
var stopWords = func() map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(`a an the this that these those there here and or but if so than then as of to in into at by for from with
		is are was were be been being am do does did has have had having can could should would may might must shall will please
		i you he she it we they me him her us them my your his its our their what which who whom whose when where why how
		什么 怎么 怎样 多少 哪个 哪些 哪里 如何 是否 可以 请问 为何 几个 是多 是什 为什 这个 那个 一个 我们 你们 他们`) {
		set[word] = true
	}
	return set
}()

// isStopWord reports whether a word in lower case says nothing about a topic. Of Chinese, a word is a pair of
// characters, and a particle in it makes it one.
func isStopWord(word string) bool {
	return stopWords[word] || strings.ContainsAny(word, "的了吗呢吧")
}
