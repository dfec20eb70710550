// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Lexicon is the linguistic knowledge about words, as tokens. It is immutable.
type Lexicon struct {
	stop        map[string]bool
	politeness  map[string]bool     // Chinese phrases that ask for nothing
	forms       map[string][]string // other forms of the same word
	equivalents map[string][]string // words of the same meaning
	synonyms    map[string][]string // words of a similar meaning
	related     map[string][]string // words of tools that a query with this word may mean
	phrases     map[string][]Phrase // by their first word
	incidental  map[string]bool     // words that say little about which tool to call, not as tokens
	commonVerbs map[string]bool     // verbs of the tools of every field, as words and as tokens
	// meanings maps a Chinese word to English tokens. A translation of several words has
	// one slice for each of them, which holds the alternatives.
	meanings map[string][][]string
	longest  map[rune]int // characters of the longest Chinese entry, by the first
	// chinese maps an English token to Chinese words of two characters, which are tokens.
	chinese map[string][]string
}

// IsStop reports whether a token says nothing of its own.
func (l *Lexicon) IsStop(token string) bool { return l.stop[token] }

// IsIncidental reports whether a word, as written but in small letters, says little about which
// tool to call.
func (l *Lexicon) IsIncidental(word string) bool { return l.incidental[word] }

// IsCommonVerb reports whether a word, or a token, is a verb of the tools of every field.
func (l *Lexicon) IsCommonVerb(word string) bool { return l.commonVerbs[word] }

// Forms returns the other forms of the word that a token is of.
func (l *Lexicon) Forms(token string) []string { return l.forms[token] }

// Equivalents returns the words of the same meaning as a token.
func (l *Lexicon) Equivalents(token string) []string { return l.equivalents[token] }

// Synonyms returns the words of a meaning similar to that of a token.
func (l *Lexicon) Synonyms(token string) []string { return l.synonyms[token] }

// Related returns the words of tools that a query with a token may mean.
func (l *Lexicon) Related(token string) []string { return l.related[token] }

// Chinese returns the Chinese words of two characters, which are tokens, for an English token.
func (l *Lexicon) Chinese(token string) []string { return l.chinese[token] }

// Meanings returns the English tokens for a Chinese word: for each word of its translation the
// alternatives, of which the first is the meaning. They are nil if the word is not known.
func (l *Lexicon) Meanings(word string) [][]string { return l.meanings[word] }

// Phrases returns the phrases that begin with a token.
func (l *Lexicon) Phrases(token string) []Phrase { return l.phrases[token] }

func (l *Lexicon) isWord(text string) bool { return l.meanings[text] != nil || l.politeness[text] }

//go:embed stopwords_en.txt
var stopWordsEnglish string

//go:embed stopwords_zh.txt
var stopWordsChinese string

// StopWords returns the words that say nothing, and no others.
var StopWords = sync.OnceValue(func() *Lexicon { return ReadLexicon(embed.FS{}) })

// ReadLexicon reads the lists of words, one file for each kind. Missing files are empty lists.
func ReadLexicon(files fs.FS) *Lexicon {
	l := &Lexicon{
		stop:        make(map[string]bool),
		politeness:  make(map[string]bool),
		forms:       make(map[string][]string),
		equivalents: make(map[string][]string),
		synonyms:    make(map[string][]string),
		related:     make(map[string][]string),
		phrases:     make(map[string][]Phrase),
		incidental:  make(map[string]bool),
		commonVerbs: make(map[string]bool),
		meanings:    make(map[string][][]string),
		chinese:     make(map[string][]string),
		longest:     make(map[rune]int),
	}
	s := make(Stemmer)
	each := func(name string, visit func(fields []string)) {
		text, _ := fs.ReadFile(files, name)
		EachLine(string(text), visit)
	}
	EachLine(stopWordsEnglish, func(word []string) { l.stop[s.Stem(word[0])] = true })
	EachLine(stopWordsChinese, func(word []string) { l.stop[word[0]] = true })
	each("politeness_zh.txt", func(word []string) {
		l.politeness[word[0]] = true
		l.noteLength(word[0])
	})
	each("forms_en.txt", func(group []string) { addGroup(l.forms, s, group) })
	each("equivalents_en.txt", func(line []string) { addEquivalents(l.equivalents, s, line) })
	each("synonyms_en.txt", func(group []string) { addGroup(l.synonyms, s, group) })
	each("related_en.txt", func(entry []string) {
		for _, word := range entry[1:] {
			addNew(l.related, s.Stem(entry[0]), s.Stem(word))
		}
	})
	each("incidental.txt", func(words []string) {
		for _, word := range words {
			l.incidental[word] = true
		}
	})
	each("common_verbs_en.txt", func(verbs []string) {
		for _, verb := range verbs {
			l.commonVerbs[verb], l.commonVerbs[s.Stem(verb)] = true, true
		}
	})
	each("phrases_en.txt", func(entry []string) { l.addPhrase(s, entry) })
	each("zh_en.txt", func(entry []string) { l.addTranslations(s, entry[0], entry[1:]) })
	return l
}

// addGroup maps each word of a group to the others.
func addGroup(list map[string][]string, s Stemmer, group []string) {
	for _, one := range group {
		for _, other := range group {
			addNew(list, s.Stem(one), s.Stem(other))
		}
	}
}

// addEquivalents maps the first word of a line to the others, or after a "=", each word
// to the others.
func addEquivalents(list map[string][]string, s Stemmer, line []string) {
	if line[0] == "=" {
		addGroup(list, s, line[1:])
		return
	}
	for _, word := range line[1:] {
		addNew(list, s.Stem(line[0]), s.Stem(word))
	}
}

// addTranslations reads the translations of a word. '+' joins the parts of one.
func (l *Lexicon) addTranslations(s Stemmer, word string, translations []string) {
	groups := l.meanings[word]
	for _, translation := range translations {
		i := 0
		for part := range strings.SplitSeq(translation, "+") {
			stem := s.Stem(part)
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
	l.meanings[word] = groups
	l.noteLength(word)
}

func (l *Lexicon) noteLength(word string) {
	first, _ := utf8.DecodeRuneInString(word)
	l.longest[first] = max(l.longest[first], utf8.RuneCountInString(word))
}

// addNew adds word to the list of another word, unless it is there already.
func addNew(list map[string][]string, key, word string) {
	if key != word {
		list[key] = appendNew(list[key], word)
	}
}

func appendNew(words []string, word string) []string {
	if slices.Contains(words, word) {
		return words
	}
	return append(words, word)
}

// Phrase is several words with a meaning of their own.
type Phrase struct {
	Text     string
	Words    []string // stems, at least two
	Meanings []string // stems
	Ignored  bool     // its words have no part in the meaning
	Open     bool     // other words may precede the last one
}

// addPhrase reads a line such as "set up = create arrange": the words, whether they are
// ignored (=) or not (+), and the meanings. A '~' before the last word makes the phrase
// open.
func (l *Lexicon) addPhrase(s Stemmer, fields []string) {
	at := slices.IndexFunc(fields, func(f string) bool { return f == "=" || f == "+" })
	p := Phrase{Ignored: fields[at] == "="}
	for _, word := range fields[:at] {
		if word == "~" {
			p.Open = true
		} else {
			p.Words = append(p.Words, s.Stem(word))
		}
	}
	p.Text = strings.Join(p.Words, " ")
	for _, word := range fields[at+1:] {
		p.Meanings = appendNew(p.Meanings, s.Stem(word))
	}
	l.phrases[p.Words[0]] = append(l.phrases[p.Words[0]], p)
}
