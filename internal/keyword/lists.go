// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file reads what BM25 knows about languages.

import (
	"embed"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed lists/*.txt
var listFiles embed.FS

// lists are the embedded word lists, as tokens.
type lists struct {
	stop     map[string]bool
	fillers  map[string]bool     // of Chinese requests
	forms    map[string][]string // the same word in other forms
	twins    map[string][]string // what says the same
	synonyms map[string][]string // the other tokens of a token's groups
	related  map[string][]string // what a tool may say where a request says the key
	phrases  map[string][]phrase // by their first word
	// lexicon leads from a word in Chinese characters to English tokens. A translation
	// of several words has one slice for each of them; what is in the same slice are
	// alternatives.
	lexicon map[string][][]string
	longest int // word of the lexicon, in runes
	// chinese leads back from an English token to words of two characters, which are
	// tokens.
	chinese map[string][]string
}

// knowledge parses the lists when they are first needed.
var knowledge = sync.OnceValue(func() *lists {
	l := &lists{
		stop:     make(map[string]bool),
		fillers:  make(map[string]bool),
		forms:    make(map[string][]string),
		twins:    make(map[string][]string),
		synonyms: make(map[string][]string),
		related:  make(map[string][]string),
		phrases:  make(map[string][]phrase),
		lexicon:  make(map[string][][]string),
		chinese:  make(map[string][]string),
	}
	s := make(stemmer)
	eachLine("stopwords_en.txt", func(word []string) { l.stop[s.stem(word[0])] = true })
	eachLine("stopwords_zh.txt", func(word []string) { l.stop[word[0]] = true })
	eachLine("fillers_zh.txt", func(word []string) {
		l.fillers[word[0]] = true
		l.longest = max(l.longest, utf8.RuneCountInString(word[0]))
	})
	eachLine("forms_en.txt", func(group []string) { addGroup(l.forms, s, group) })
	eachLine("twins_en.txt", func(line []string) { addTwins(l.twins, s, line) })
	for _, name := range []string{"synonyms_en.txt", "synonyms_zh.txt"} {
		eachLine(name, func(group []string) { addGroup(l.synonyms, s, group) })
	}
	eachLine("related_en.txt", func(entry []string) {
		for _, word := range entry[1:] {
			addNew(l.related, s.stem(entry[0]), s.stem(word))
		}
	})
	eachLine("phrases_en.txt", func(entry []string) { l.addPhrase(s, entry) })
	eachLine("zh_en.txt", func(entry []string) { l.addTranslations(s, entry[0], entry[1:]) })
	return l
})

// eachLine visits the lines of an embedded file that are neither empty nor comments.
func eachLine(name string, visit func(fields []string)) {
	text, err := listFiles.ReadFile("lists/" + name)
	if err != nil {
		panic(err) // it is compiled in
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] != "#" {
			visit(fields)
		}
	}
}

// addGroup makes the words of a group lead to one another.
func addGroup(list map[string][]string, s stemmer, group []string) {
	for _, one := range group {
		for _, other := range group {
			addNew(list, s.stem(one), s.stem(other))
		}
	}
}

// addTwins makes the first word of a line lead to the others, and after a "=" each to
// each.
func addTwins(list map[string][]string, s stemmer, line []string) {
	if line[0] == "=" {
		addGroup(list, s, line[1:])
		return
	}
	for _, word := range line[1:] {
		addNew(list, s.stem(line[0]), s.stem(word))
	}
}

// addTranslations reads the translations of a word, the parts of each joined by '+'.
func (l *lists) addTranslations(s stemmer, word string, translations []string) {
	groups := l.lexicon[word]
	for _, translation := range translations {
		i := 0
		for part := range strings.SplitSeq(translation, "+") {
			stem := s.stem(part)
			if l.stop[stem] && stem != "off" && stem != "on" {
				continue
			}
			if i == len(groups) {
				groups = append(groups, nil)
			}
			groups[i] = appendNew(groups[i], stem)
			if i == 0 && utf8.RuneCountInString(word) == 2 {
				addNew(l.chinese, stem, word)
			}
			i++
		}
	}
	l.lexicon[word] = groups
	l.longest = max(l.longest, utf8.RuneCountInString(word))
}

// addNew adds a word to the list of another one, if it is not there yet.
func addNew(list map[string][]string, of, word string) {
	if of != word {
		list[of] = appendNew(list[of], word)
	}
}

func appendNew(words []string, word string) []string {
	if contains(words, word) {
		return words
	}
	return append(words, word)
}
