// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import "unicode/utf8"

// reading says how words of a text that no document has are to be understood.
type reading uint8

const (
	plain       reading = iota // in the language of the documents, or it is not known
	unspaced                   // in their language, which has no spaces
	fromChinese                // translated into their English
	intoChinese                // translated from English into theirs
	unread                     // in a language from which no list leads to theirs
)

const strangeCharacter = 0.12

// significance is how much a term says about whether a document is meant. It does not change
// scores: there, all documents lack the same words.
type significance struct {
	found   float64 // of a match
	missing float64 // of no match, compared with a match
}

var (
	significant = significance{1, 1}
	// incidental words belong to the conversation, or are values: "please", "tomorrow",
	// "10:30".
	incidental = significance{0.6, 0.2}
	// commonVerb is for verbs of tools in every field, such as "list". Having it says little;
	// having another verb says much.
	commonVerb = significance{0.7, 2.5}
	// properName is for a name, which is a value unless a tool has it.
	properName = significance{1, 0.2}
	// unknownWord is for a word that no tool has: the query is about something else.
	unknownWord = significance{1.3, 2.5}
	// unreadWord is for a word of which nobody can tell whether a tool has it in its language,
	// and untranslatedWord for one whose translation no tool has: tools may say it otherwise.
	unreadWord       = significance{1, 0.4}
	untranslatedWord = significance{1.3, 0.8}
	// character is for a single character without spaces, or two neighbours: most are not
	// words, and the meaning of the words among them counts separately.
	character = significance{1, 0.4}
	// ownCharacter and ownPair are for those in the language of the tools, where nothing else
	// tells what is meant: any text shares some of them. strangeCharacter is for those that no
	// tool has, which have little importance.
	ownCharacter = significance{1, 1.4}
	ownPair      = significance{0.5, 0.25}
	// acrossWords is for two neighbours that belong to different words: that no tool has them says nothing.
	acrossWords = significance{0.5, 0}
)

// unknown returns the significance of a word that no document has, translated or not.
func (r reading) unknown(translated bool) significance {
	switch {
	case r == intoChinese && translated:
		return untranslatedWord
	case r == unread, r == intoChinese:
		return unreadWord
	}
	return unknownWord
}

// characters returns the significance of a character without spaces or two: whether documents
// have them, and whether they belong to different words; rarest is the importance of a word that
// no document has.
func (r reading) characters(text string, known, across bool, rarest float64) significance {
	switch {
	case r != unspaced:
		return character
	case across:
		return acrossWords
	case !known:
		return significance{1, strangeCharacter * rarest * rarest}
	case utf8.RuneCountInString(text) == 1:
		return ownCharacter
	}
	return ownPair
}
