// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file reads the word lists, and finds the words in text without spaces.

import (
	"embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed lists/*.txt
var listFiles embed.FS

// knowledge is the content of the word lists, as tokens.
type knowledge struct {
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
	longest int // length of the longest Chinese entry, in runes
	// chinese maps an English token to Chinese words of two characters, which are tokens.
	chinese map[string][]string
}

// wordLists parses the lists on first use.
var wordLists = sync.OnceValue(func() *knowledge {
	l := &knowledge{
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
	}
	s := make(stemmer)
	eachLine("stopwords_en.txt", func(word []string) { l.stop[s.stem(word[0])] = true })
	eachLine("stopwords_zh.txt", func(word []string) { l.stop[word[0]] = true })
	eachLine("politeness_zh.txt", func(word []string) {
		l.politeness[word[0]] = true
		l.longest = max(l.longest, utf8.RuneCountInString(word[0]))
	})
	eachLine("forms_en.txt", func(group []string) { addGroup(l.forms, s, group) })
	eachLine("equivalents_en.txt", func(line []string) { addEquivalents(l.equivalents, s, line) })
	for _, name := range []string{"synonyms_en.txt", "synonyms_zh.txt"} {
		eachLine(name, func(group []string) { addGroup(l.synonyms, s, group) })
	}
	eachLine("related_en.txt", func(entry []string) {
		for _, word := range entry[1:] {
			addNew(l.related, s.stem(entry[0]), s.stem(word))
		}
	})
	eachLine("incidental.txt", func(words []string) {
		for _, word := range words {
			l.incidental[word] = true
		}
	})
	eachLine("common_verbs_en.txt", func(verbs []string) {
		for _, verb := range verbs {
			l.commonVerbs[verb], l.commonVerbs[s.stem(verb)] = true, true
		}
	})
	eachLine("phrases_en.txt", func(entry []string) { l.addPhrase(s, entry) })
	eachLine("zh_en.txt", func(entry []string) { l.addTranslations(s, entry[0], entry[1:]) })
	return l
})

// eachLine visits the lines of an embedded file, except empty ones and comments.
func eachLine(name string, visit func(fields []string)) {
	text, err := listFiles.ReadFile("lists/" + name)
	if err != nil {
		panic(err) // the file is embedded
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] != "#" {
			visit(fields)
		}
	}
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
func (l *knowledge) addTranslations(s stemmer, word string, translations []string) {
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

// Costs of the ways to cut a run into words. Few long words beat many short ones, and a
// character that is a word is barely better than one that is not.
const (
	costWord   = 0.5
	costSingle = 1.1
	costGap    = 1.2
)

// maxSegmented is the number of characters that are cut into words at once.
const maxSegmented = 512

// stretch is the position of a word in a text.
type stretch struct{ start, end int }

// segmenter cuts runs without spaces into words of the lexicon, one after the other, and
// keeps its memory.
type segmenter struct {
	l     *knowledge
	text  string
	words []stretch // of the lexicon, and politeness

	offsets []int // of the characters, and of the end
	cost    []float64
	from    []int // start of the last word of a prefix, at the least cost
}

// cutRun finds the words of a run, and the politeness in it.
func (s *segmenter) cutRun(l *knowledge, text string) {
	s.l, s.text, s.words, s.offsets = l, text, s.words[:0], s.offsets[:0]
	for at := range text {
		if len(s.offsets) == maxSegmented {
			s.cut(at)
		}
		s.offsets = append(s.offsets, at)
	}
	s.cut(len(text))
}

// eachWord visits the words, in order. It leaves out politeness and characters that belong
// to no word.
func (s *segmenter) eachWord(visit func(word string)) {
	for _, at := range s.words {
		if word := s.text[at.start:at.end]; !s.l.politeness[word] {
			visit(word)
		}
	}
}

// eachRest visits the parts of the run between its politeness.
func (s *segmenter) eachRest(visit func(part string)) {
	start := 0
	for _, at := range s.words {
		if s.l.politeness[s.text[at.start:at.end]] {
			visit(s.text[start:at.start])
			start = at.end
		}
	}
	visit(s.text[start:])
}

func (l *knowledge) isWord(text string) bool { return l.lexicon[text] != nil || l.politeness[text] }

// cut finds the words between the offsets and an end at the least cost.
func (s *segmenter) cut(end int) {
	offsets := append(s.offsets, end)
	cost, from := grown(s.cost, len(offsets)), grown(s.from, len(offsets))
	s.offsets, s.cost, s.from = offsets[:0], cost, from
	cost[0] = 0
	for end := 1; end < len(offsets); end++ {
		cost[end], from[end] = cost[end-1]+costGap, end-1
		for size := 1; size <= min(s.l.longest, end); size++ {
			price := cost[end-size] + costWord
			if size == 1 {
				price = cost[end-size] + costSingle
			}
			if price <= cost[end] && s.l.isWord(s.text[offsets[end-size]:offsets[end]]) {
				cost[end], from[end] = price, end-size
			}
		}
	}
	first := len(s.words)
	for end := len(offsets) - 1; end > 0; end = from[end] {
		if at := (stretch{start: offsets[from[end]], end: offsets[end]}); s.l.isWord(s.text[at.start:at.end]) {
			s.words = append(s.words, at)
		}
	}
	slices.Reverse(s.words[first:])
}
