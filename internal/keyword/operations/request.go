// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
)

// OfRequest returns what the clauses of a request ask for, or Unknown if they ask for different operations.
func OfRequest(clauses func(visit func(clause string))) Operation {
	whole, disagree := Unknown, false
	clauses(func(text string) {
		op := ofClause(text)
		disagree = disagree || op != Unknown && whole != Unknown && op != whole
		if whole == Unknown {
			whole = op
		}
	})
	if disagree {
		return Unknown
	}
	return whole
}

// ofClause returns the operation of the first verb of a clause. A clause that asks a question reads.
func ofClause(text string) (op Operation) {
	before, first, asks := "", true, false
	analysis.EachRun(text, func(r analysis.Run) {
		switch {
		case op != Unknown:
		case r.Unspaced:
			op = ofChinese(r.Text, first)
			first = false
		default:
			word := strings.ToLower(r.Text)
			found := verbs()[word]
			switch {
			case found == question && first:
				asks = true
			case found != Unknown && found < question && !precedesNoun[before]:
				op = found
			}
			first = first && isPolite[word]
			if !precedesSubject[before] { // after "do I" stands a verb
				before = word
			}
		}
	})
	if asks && (op == Unknown || !asksForWay(text)) {
		return Read
	}
	return op
}

// precedesNoun has words after which a verb's word is a noun: "the update", "of order".
var precedesNoun = setOf("a an the my our your his her its their this that these those any some all each every no latest last next new " +
	"of for in on at by with from about into as or i we they he she it")

// precedesSubject has verbs that precede the subject of a question.
var precedesSubject = setOf("do can could should may must")

// isPolite has words that precede what a request asks for.
var isPolite = setOf("please can could would will you i we want need d like to help me " +
	"kindly hi hello hey let s ok okay so now just then first also and")

// ways precede a verb for what is asked: who asks how to delete a file wants to delete it.
var ways = [...]string{"how to ", "how do i ", "how can i ", "how can we ", "how do we ", "way to ", "possible to "}

func asksForWay(text string) bool {
	text = strings.ToLower(text)
	for _, way := range ways {
		if strings.Contains(text, way) {
			return true
		}
	}
	return false
}

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// ofChinese returns the operation of a run of Chinese: Read for a question, or that of its first verb; after
// 把, which puts the object first, that of its last verb. A verb of one character counts at the start, and before what
// follows a verb; most others are halves of words.
func ofChinese(text string, first bool) (op Operation) {
	start, noun, objectFirst := first, false, false
	for at := 0; at < len(text); {
		found, size := longestEntry(text[at:])
		_, one := utf8.DecodeRuneInString(text[at:])
		switch {
		case found == question:
			if !isPoliteQuestion(text[at:at+size], text) {
				return Read
			}
		case found == Unknown || found == other || noun || op != Unknown && !objectFirst:
		case size > one || start || at+size == len(text) || followsVerb(text[at+size:]):
			op = found
		}
		objectFirst = objectFirst || strings.HasPrefix(text[at:], "把")
		noun = size == 0 && strings.HasPrefix(text[at:], "的") // after 的 a verb is a noun
		if polite := politeness(text[at:]); polite > 0 && size == 0 {
			size, one = polite, polite
		} else {
			start = false
		}
		at += max(size, one)
	}
	return op
}

// isPoliteQuestion reports whether a question word only makes a request polite: 能删除吗.
func isPoliteQuestion(word, text string) bool {
	return (word == "吗" || word == "怎么" || word == "如何") && (word != "吗" || strings.ContainsAny(text, "能可好行"))
}

// followsVerb reports whether a text begins with what stands behind verbs rather than in words: an aspect,
// a result, a number or a measure word.
func followsVerb(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return strings.ContainsRune("一个条张份次件封篇了掉成到为下给上出两几些这那我", r)
}

// politeness returns the size of the words of courtesy that a text begins with.
func politeness(text string) int {
	for _, word := range [...]string{"请", "帮", "我", "麻烦", "你", "想", "要", "能", "不能", "可以", "给", "把", "先", "再", "然后", "并"} {
		if strings.HasPrefix(text, word) {
			return len(word)
		}
	}
	return 0
}
