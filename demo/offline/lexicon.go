// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	_ "embed"
	"strings"
	"unicode/utf8"
)

var (
	//go:embed lexicon/stop.txt
	stopText string
	//go:embed lexicon/related.txt
	relatedText string
	//go:embed lexicon/phrases.txt
	phrasesText string
	//go:embed lexicon/verbs.txt
	verbsText string
	//go:embed lexicon/chinese.txt
	chineseText string
	//go:embed lexicon/units.txt
	unitsText string
	//go:embed lexicon/numbers.txt
	numbersText string
)

var (
	stopWords = setOf(strings.Fields(stopText))
	verbs     = setOf(strings.Fields(verbsText))
	relations = readRelations(relatedText, chineseText, unitLines)
	meanings  = readSynonyms(relatedText, chineseText, unitLines)
	phrases   = readPhrases(phrasesText)
	numbers   = readNumbers(numbersText)
	chinese   = readChinese(chineseText, stopText, unitsText)
)

func setOf(words []string) map[string]bool {
	set := map[string]bool{}
	for _, w := range words {
		set[w] = true
	}
	return set
}

// readRelations reads lines of a word and those that it may mean, as stems.
func readRelations(texts ...string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, words := range lines(texts...) {
		key := stem(words[0])
		if out[key] == nil {
			out[key] = map[string]bool{}
		}
		for _, w := range words[1:] {
			out[key][stem(w)] = true
		}
	}
	return out
}

// readSynonyms reads the same lines, in order and with the words as they stand.
func readSynonyms(texts ...string) map[string][]string {
	out := map[string][]string{}
	for _, words := range lines(texts...) {
		out[stem(words[0])] = append(out[stem(words[0])], words[1:]...)
	}
	return out
}

func lines(texts ...string) (out [][]string) {
	for _, line := range strings.Split(strings.Join(texts, "\n"), "\n") {
		if words := strings.Fields(line); len(words) > 1 {
			out = append(out, words)
		}
	}
	return out
}

func readNumbers(text string) map[string]string {
	out := map[string]string{}
	words := strings.Fields(text)
	for i := 0; i+1 < len(words); i += 2 {
		out[words[i]] = words[i+1]
	}
	return out
}

// synonyms are the words that the lexicon lists with a word.
func synonyms(word string) []string { return meanings[stem(word)] }

type phrase struct {
	words    string
	meanings []string
}

// readPhrases reads lines such as: how many = count.
func readPhrases(text string) (out []phrase) {
	for _, line := range strings.Split(text, "\n") {
		if words, translation, ok := strings.Cut(line, "="); ok {
			out = append(out, phrase{strings.TrimSpace(words), strings.Fields(translation)})
		}
	}
	return out
}

// expandPhrases returns the words that the phrases in a text stand for.
func expandPhrases(text string) (out []string) {
	text = " " + strings.Join(tokens(text), " ") + " "
	for _, p := range phrases {
		if strings.Contains(text, " "+p.words+" ") {
			out = append(out, p.meanings...)
		}
	}
	return out
}

// chineseWords is the vocabulary that segments Chinese text.
type chineseWords struct {
	vocabulary map[string]bool
	longest    int // in runes
}

func readChinese(texts ...string) chineseWords {
	c := chineseWords{vocabulary: map[string]bool{}}
	for _, word := range strings.Fields(strings.Join(texts, " ")) {
		if isHan(word) {
			c.vocabulary[word] = true
			c.longest = max(c.longest, utf8.RuneCountInString(word))
		}
	}
	return c
}

// cutHan cuts at the longest word it knows; characters between known words stay together.
func cutHan(runes []rune) (out []string) {
	unknown := ""
	for i := 0; i < len(runes); {
		n := chinese.longest
		for n = min(n, len(runes)-i); n > 0 && !chinese.vocabulary[string(runes[i:i+n])]; n-- {
		}
		if n == 0 {
			unknown += string(runes[i])
			i++
			continue
		}
		if unknown != "" {
			out, unknown = append(out, unknown), ""
		}
		out = append(out, string(runes[i:i+n]))
		i += n
	}
	if unknown != "" {
		out = append(out, unknown)
	}
	return out
}
