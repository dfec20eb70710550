// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

func (l *Words) isWord(text string) bool { return l.lexicon[text] != nil || l.politeness[text] }

// Words is what is known about words, as tokens. It is immutable.
type Words struct {
	stop        map[string]bool
	politeness  map[string]bool     // Chinese phrases that ask for nothing
	forms       map[string][]string // other forms of the same word
	equivalents map[string][]string // words of the same meaning
	synonyms    map[string][]string // words of a similar meaning
	related     map[string][]string // words of tools that a query with this word may mean
	phrases     map[string][]phrase // by their first word
	incidental  map[string]bool     // words that say little about which tool to call, not as tokens
	commonVerbs map[string]bool     // verbs of the tools of every field, as words and as tokens
	// lexicon maps a Chinese word to English tokens. A translation of several words has
	// one slice for each of them, which holds the alternatives.
	lexicon map[string][][]string
	longest map[rune]int // characters of the longest Chinese entry, by the first
	// chinese maps an English token to Chinese words of two characters, which are tokens.
	chinese map[string][]string
}

//go:embed stopwords_en.txt
var stopWordsEnglish string

//go:embed stopwords_zh.txt
var stopWordsChinese string

// stopWords are known to every index.
var stopWords = sync.OnceValue(func() *Words { return ReadWords(embed.FS{}) })

// ReadWords reads lists, one file for each kind. Missing files are empty lists.
func ReadWords(files fs.FS) *Words {
	l := &Words{
		stop:        make(map[string]bool),
		politeness:  make(map[string]bool),
		forms:       make(map[string][]string),
		equivalents: make(map[string][]string),
		synonyms:    make(map[string][]string),
		related:     make(map[string][]string),
		phrases:     make(map[string][]phrase),
		incidental:  make(map[string]bool),
		commonVerbs: make(map[string]bool),
		lexicon:     make(map[string][][]string),
		chinese:     make(map[string][]string),
		longest:     make(map[rune]int),
	}
	s := make(stemmer)
	each := func(name string, visit func(fields []string)) {
		text, _ := fs.ReadFile(files, name)
		eachLine(string(text), visit)
	}
	eachLine(stopWordsEnglish, func(word []string) { l.stop[s.stem(word[0])] = true })
	eachLine(stopWordsChinese, func(word []string) { l.stop[word[0]] = true })
	each("politeness_zh.txt", func(word []string) {
		l.politeness[word[0]] = true
		l.noteLength(word[0])
	})
	each("forms_en.txt", func(group []string) { addGroup(l.forms, s, group) })
	each("equivalents_en.txt", func(line []string) { addEquivalents(l.equivalents, s, line) })
	each("synonyms_en.txt", func(group []string) { addGroup(l.synonyms, s, group) })
	each("related_en.txt", func(entry []string) {
		for _, word := range entry[1:] {
			addNew(l.related, s.stem(entry[0]), s.stem(word))
		}
	})
	each("incidental.txt", func(words []string) {
		for _, word := range words {
			l.incidental[word] = true
		}
	})
	each("common_verbs_en.txt", func(verbs []string) {
		for _, verb := range verbs {
			l.commonVerbs[verb], l.commonVerbs[s.stem(verb)] = true, true
		}
	})
	each("phrases_en.txt", func(entry []string) { l.addPhrase(s, entry) })
	each("zh_en.txt", func(entry []string) { l.addTranslations(s, entry[0], entry[1:]) })
	return l
}

// addGroup maps each word of a group to the others.
func addGroup(list map[string][]string, s stemmer, group []string) {
	for _, one := range group {
		for _, other := range group {
			addNew(list, s.stem(one), s.stem(other))
		}
	}
}

// addEquivalents maps the first word of a line to the others, or after a "=", each word
// to the others.
func addEquivalents(list map[string][]string, s stemmer, line []string) {
	if line[0] == "=" {
		addGroup(list, s, line[1:])
		return
	}
	for _, word := range line[1:] {
		addNew(list, s.stem(line[0]), s.stem(word))
	}
}

// addTranslations reads the translations of a word. '+' joins the parts of one.
func (l *Words) addTranslations(s stemmer, word string, translations []string) {
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
	l.noteLength(word)
}

func (l *Words) noteLength(word string) {
	first, _ := utf8.DecodeRuneInString(word)
	l.longest[first] = max(l.longest[first], utf8.RuneCountInString(word))
}

// addNew adds word to the list of another word, unless it is there already.
func addNew(list map[string][]string, of, word string) {
	if of != word {
		list[of] = appendNew(list[of], word)
	}
}

func appendNew(words []string, word string) []string {
	if slices.Contains(words, word) {
		return words
	}
	return append(words, word)
}

// phrase is several words with a meaning of their own.
type phrase struct {
	text    string
	words   []string // stems, at least two
	means   []string // stems
	ignored bool     // its words have no part in the meaning
	open    bool     // other words may precede the last one
}

// addPhrase reads a line such as "set up = create arrange": the words, whether they are
// ignored (=) or not (+), and the meanings. A '~' before the last word makes the phrase
// open.
func (l *Words) addPhrase(s stemmer, fields []string) {
	at := slices.IndexFunc(fields, func(f string) bool { return f == "=" || f == "+" })
	p := phrase{ignored: fields[at] == "="}
	for _, word := range fields[:at] {
		if word == "~" {
			p.open = true
		} else {
			p.words = append(p.words, s.stem(word))
		}
	}
	p.text = strings.Join(p.words, " ")
	for _, word := range fields[at+1:] {
		p.means = appendNew(p.means, s.stem(word))
	}
	l.phrases[p.words[0]] = append(l.phrases[p.words[0]], p)
}
