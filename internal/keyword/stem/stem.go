// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package stem removes the endings of English words by the Porter2 algorithm
// (https://snowballstem.org/algorithms/english/stemmer.html), in the memory of the word: a
// search meets a stem for each of its words and for each two neighbours, and most of them
// are in no index.
package stem

import (
	"bytes"
	"slices"
)

// porter2 is a word that loses its endings, step by step. 'Y' is a y that is a consonant.
type porter2 struct {
	word []byte
	// r1 is the start of the region after the first consonant that follows a vowel, and r2
	// the same within that region. Only endings in them are removed.
	r1, r2 int
}

// rule is an ending and its replacement.
type rule struct{ old, new string }

// irregular are the stems of words that the steps get wrong.
var irregular = map[string]string{
	"skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie",
	"idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
	"sky": "sky", "news": "news", "howe": "howe", "atlas": "atlas", "cosmos": "cosmos", "bias": "bias", "andes": "andes",
	"inning": "inning", "innings": "inning", "outing": "outing", "outings": "outing",
	"canning": "canning", "cannings": "canning", "herring": "herring", "herrings": "herring",
	"earring": "earring", "earrings": "earring",
	"proceed": "proceed", "proceeds": "proceed", "proceeded": "proceed", "proceeding": "proceed",
	"exceed": "exceed", "exceeds": "exceed", "exceeded": "exceed", "exceeding": "exceed",
	"succeed": "succeed", "succeeds": "succeed", "succeeded": "succeed", "succeeding": "succeed",
}

// English returns the stem of a word of small ASCII letters, which it changes. The stem
// is no longer than the word.
func English(word []byte) []byte {
	if len(word) <= 2 {
		return word
	}
	if stem, ok := irregular[string(word)]; ok {
		return append(word[:0], stem...)
	}
	w := porter2{word: word}
	w.markRegions()
	w.removePlural()
	w.removePast()
	w.replaceY()
	w.shortenSuffix()
	w.removeSuffix()
	w.removeLast()
	for i, c := range w.word {
		if c == 'Y' {
			w.word[i] = 'y'
		}
	}
	return w.word
}

func isVowel(c byte) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u', 'y':
		return true
	}
	return false
}

// markRegions finds the consonants among the y, and the regions.
func (w *porter2) markRegions() {
	for i, c := range w.word {
		if c == 'y' && (i == 0 || isVowel(w.word[i-1])) {
			w.word[i] = 'Y'
		}
	}
	w.r1 = w.regionAfter(0)
	for _, prefix := range []string{"gener", "commun", "arsen"} {
		if bytes.HasPrefix(w.word, []byte(prefix)) {
			w.r1 = len(prefix)
		}
	}
	w.r2 = w.regionAfter(w.r1)
}

func (w *porter2) regionAfter(start int) int {
	for i := start + 1; i < len(w.word); i++ {
		if isVowel(w.word[i-1]) && !isVowel(w.word[i]) {
			return i + 1
		}
	}
	return len(w.word)
}

// find returns the first of endings that the word has, or the zero rule.
func (w *porter2) find(endings []rule) rule {
	for _, e := range endings {
		if n := len(w.word) - len(e.old); n >= 0 && string(w.word[n:]) == e.old {
			return e
		}
	}
	return rule{}
}

// replace puts what follows from an ending in its place.
func (w *porter2) replace(e rule) {
	w.word = append(w.word[:len(w.word)-len(e.old)], e.new...)
	w.r1, w.r2 = min(w.r1, len(w.word)), min(w.r2, len(w.word))
}

// inR1 reports whether an ending is in r1.
func (w *porter2) inR1(e rule) bool { return e.old != "" && len(w.word)-len(e.old) >= w.r1 }

// inR2 reports whether an ending is in r2.
func (w *porter2) inR2(e rule) bool { return e.old != "" && len(w.word)-len(e.old) >= w.r2 }

// fromEnd returns the nth byte from the end, counted from 1, or 0.
func (w *porter2) fromEnd(n int) byte {
	if n > len(w.word) {
		return 0
	}
	return w.word[len(w.word)-n]
}

// endsShort reports whether the first n bytes end in a short syllable: a vowel between
// consonants of which the second is no w, x or Y, or a vowel at the beginning and a
// consonant.
func (w *porter2) endsShort(n int) bool {
	switch {
	case n < 2 || isVowel(w.word[n-1]) || !isVowel(w.word[n-2]):
		return false
	case n == 2:
		return true
	}
	return bytes.IndexByte([]byte("wxY"), w.word[n-1]) < 0 && !isVowel(w.word[n-3])
}

var plurals = []rule{{"sses", "ss"}, {"ied", "i"}, {"ies", "i"}, {"us", "us"}, {"ss", "ss"}, {"s", ""}}

func (w *porter2) removePlural() {
	e := w.find(plurals)
	switch e.old {
	case "ied", "ies":
		if len(w.word) <= 4 { // ties
			e.new = "ie"
		}
	case "s":
		if !slices.ContainsFunc(w.word[:max(0, len(w.word)-2)], isVowel) { // gas
			return
		}
	}
	w.replace(e)
}

var (
	pasts  = []rule{{"eedly", "ee"}, {"ingly", ""}, {"edly", ""}, {"ing", ""}, {"eed", "ee"}, {"ed", ""}}
	before = []rule{
		{"at", "ate"}, {"bl", "ble"}, {"iz", "ize"}, {"bb", "b"}, {"dd", "d"}, {"ff", "f"}, {"gg", "g"},
		{"mm", "m"}, {"nn", "n"}, {"pp", "p"}, {"rr", "r"}, {"tt", "t"},
	}
)

// removePast removes "ed" and "ing", and restores the stem before them.
func (w *porter2) removePast() {
	e := w.find(pasts)
	switch {
	case e.new != "":
		if w.inR1(e) {
			w.replace(e)
		}
		return
	case e.old == "" || !slices.ContainsFunc(w.word[:len(w.word)-len(e.old)], isVowel):
		return
	}
	r1, r2 := w.r1, w.r2
	w.replace(e)
	e = w.find(before)
	w.replace(e)
	w.r1, w.r2 = min(r1, len(w.word)), min(r2, len(w.word))
	if e.old == "" && w.r1 == len(w.word) && w.endsShort(len(w.word)) { // hoping
		w.word = append(w.word, 'e')
		w.r1, w.r2 = len(w.word), len(w.word)
	}
}

// replaceY replaces a y at the end by an i, after a consonant that is not the first letter.
func (w *porter2) replaceY() {
	if last := w.fromEnd(1); len(w.word) > 2 && (last == 'y' || last == 'Y') && !isVowel(w.fromEnd(2)) {
		w.word[len(w.word)-1] = 'i'
	}
}

// doubles are endings made of several.
var doubles = []rule{
	{"ational", "ate"}, {"fulness", "ful"}, {"iveness", "ive"}, {"ization", "ize"}, {"ousness", "ous"},
	{"biliti", "ble"}, {"lessli", "less"}, {"tional", "tion"}, {"alism", "al"}, {"aliti", "al"}, {"ation", "ate"},
	{"entli", "ent"}, {"fulli", "ful"}, {"iviti", "ive"}, {"ousli", "ous"}, {"anci", "ance"}, {"abli", "able"},
	{"alli", "al"}, {"ator", "ate"}, {"enci", "ence"}, {"izer", "ize"}, {"bli", "ble"}, {"ogi", "og"}, {"li", ""},
}

// more are endings that shorten what doubles left.
var more = []rule{
	{"ational", "ate"}, {"tional", "tion"}, {"alize", "al"}, {"icate", "ic"}, {"ative", ""},
	{"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""},
}

func (w *porter2) shortenSuffix() {
	if e := w.find(doubles); w.inR1(e) && (e.old != "li" || bytes.IndexByte([]byte("cdeghkmnrt"), w.fromEnd(3)) >= 0) &&
		(e.old != "ogi" || w.fromEnd(4) == 'l') {
		w.replace(e)
	}
	if e := w.find(more); w.inR1(e) && (e.old != "ative" || w.inR2(e)) {
		w.replace(e)
	}
}

var suffixes = []rule{
	{old: "ement"}, {old: "ance"}, {old: "ence"}, {old: "able"}, {old: "ible"}, {old: "ment"},
	{old: "ent"}, {old: "ant"}, {old: "ism"}, {old: "ate"}, {old: "iti"}, {old: "ous"}, {old: "ive"},
	{old: "ize"}, {old: "ion"}, {old: "al"}, {old: "er"}, {old: "ic"},
}

func (w *porter2) removeSuffix() {
	e := w.find(suffixes)
	if w.inR2(e) && (e.old != "ion" || w.fromEnd(4) == 's' || w.fromEnd(4) == 't') {
		w.replace(e)
	}
}

// removeLast removes an e at the end, and the second of two l.
func (w *porter2) removeLast() {
	last := len(w.word) - 1
	switch {
	case last < w.r1:
	case w.word[last] == 'e' && (w.r2 <= last || !w.endsShort(last)),
		w.word[last] == 'l' && w.r2 <= last && w.fromEnd(2) == 'l':
		w.word = w.word[:last]
	}
}
