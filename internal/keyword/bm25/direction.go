// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/keyword/bm25/postings"
)

// unspacedDirections are Chinese words for the directions that names may differ in. What is to or from something
// depends on the adjacent word, so their words may be ambiguous alone.
var unspacedDirections = map[string][]string{
	"to":     {"转换成", "转换为", "转成", "转为", "换算成", "换算为", "换成", "变成", "变为", "改成", "译成", "译为", "转", "到", "至"},
	"from":   {"从", "由", "转自", "来自"},
	"before": {"之前", "以前", "早于"}, "after": {"之后", "以后", "晚于"},
	"up": {"调高", "调大", "上调", "向上", "往上", "升高"}, "down": {"调低", "调小", "下调", "向下", "往下", "降低"},
	"in": {"放大", "登录", "移入", "转入", "流入"}, "out": {"缩小", "登出", "移出", "转出", "流出"},
	"on": {"打开", "开启"}, "off": {"关闭", "关掉"},
	"over": {"超过", "高于"}, "under": {"低于", "不足"},
}

// directionBonus is the score of an answer with the direction of the query, relative to one with the opposite.
const directionBonus = 1.1

// preferDirection moves an answer before one of its server whose name has the opposite direction and is the same
// otherwise, if the query says its direction: "number to roman" asks for to_roman, not for from_roman. Its score shows
// that it matches a word more, so that the order holds where scores are combined with others.
func (acc *accumulator) preferDirection(chosen []scored) {
	if !acc.parser.hasDirection() {
		return
	}
	isMeant := func(c, other scored) bool {
		direction, ok := acc.directionOf(c.doc)
		otherDirection, both := acc.directionOf(other.doc)
		return ok && both && direction.IsOpposite(otherDirection) && acc.x.Server(c.doc) == acc.x.Server(other.doc) &&
			acc.parser.expressesDirection(direction) && !acc.parser.expressesDirection(otherDirection)
	}
	promote(chosen, isMeant)
	for i := range chosen {
		for _, other := range chosen[i+1:] {
			if isMeant(chosen[i], other) {
				chosen[i].score = max(chosen[i].score, directionBonus*other.score)
			}
		}
	}
}

func (acc *accumulator) directionOf(doc uint32) (d postings.Direction, ok bool) {
	p := acc.x.PartOfDoc(doc)
	return p.DirectionOf(doc - p.FirstDoc)
}

// hasDirection reports whether the query has a word of a direction, or text in which one may be.
func (q *queryParser) hasDirection() bool {
	return slices.ContainsFunc(q.words, func(w stemmedWord) bool {
		return w.Unspaced || postings.IsDirection(strings.ToLower(w.Text))
	})
}

// expressesDirection reports whether the query expresses a direction. "A to B" implies "from A" as well.
func (q *queryParser) expressesDirection(d postings.Direction) bool {
	for i, w := range q.words {
		next, after := q.wordAfter(i)
		switch lower := strings.ToLower(w.Text); {
		case lower == d.Word && (d.Next == "" || next == d.Next || d.Word != "to" && d.Word != "from"):
			return true
		case d.Word == "from" && w.stem == d.Next && after == "to":
			return true
		}
	}
	return q.expressesUnspaced(d)
}

// wordAfter returns the stem of the word after the ith, without an article, and the next word itself.
func (q *queryParser) wordAfter(i int) (stem, word string) {
	for _, w := range q.words[i+1:] {
		lower := strings.ToLower(w.Text)
		if word == "" {
			word = lower
		}
		if lower != "a" && lower != "an" && lower != "the" {
			return w.stem, word
		}
	}
	return "", word
}

// expressesUnspaced is expressesDirection of Chinese text: 数字转成罗马数字 is "to roman", and implies "from number".
func (q *queryParser) expressesUnspaced(d postings.Direction) bool {
	hasTarget := d.Word == "to" || d.Word == "from"
	if q.hasAround(unspacedDirections[d.Word], func(_, after string) bool { return !hasTarget || q.beginsWith(after, d.Next) }) {
		return true
	}
	return d.Word == "from" && q.hasAround(unspacedDirections["to"], func(before, _ string) bool {
		return q.endsWith(before, d.Next)
	})
}

// hasAround reports whether the query has one of some words between texts that fit.
func (q *queryParser) hasAround(words []string, fits func(before, after string) bool) bool {
	for _, word := range words {
		for at := 0; ; {
			n := strings.Index(q.text[at:], word)
			if n < 0 {
				break
			}
			if fits(q.text[:at+n], q.text[at+n+len(word):]) {
				return true
			}
			at += n + len(word)
		}
	}
	return false
}

// longestMeant is the number of characters of the longest word without spaces that may mean what a name says.
const longestMeant = 6

// beginsWith reports whether a text begins with a word that is what a name says, or means it.
func (q *queryParser) beginsWith(text, said string) bool {
	text = strings.TrimLeft(text, " \"'")
	if first := leadingWord(text); first != "" {
		return q.Stem(first) == said
	}
	end := 0
	for range longestMeant {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
		if q.means(text[:end], said) {
			return true
		}
	}
	return analysis.StartsUnspaced(said) && strings.HasPrefix(text, said)
}

// endsWith is beginsWith at the end of a text.
func (q *queryParser) endsWith(text, said string) bool {
	text = strings.TrimRight(text, " \"'")
	start := len(text)
	for start > 0 && isAlphanumeric(text[start-1]) {
		start--
	}
	if start < len(text) {
		return q.Stem(text[start:]) == said
	}
	for range longestMeant {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
		if q.means(text[start:], said) {
			return true
		}
	}
	return analysis.StartsUnspaced(said) && strings.HasSuffix(text, said)
}

// means reports whether a Chinese word means an English one, which is given by its stem.
func (q *queryParser) means(word, stem string) bool {
	return slices.ContainsFunc(q.l.Meanings(word), func(alternatives []string) bool { return slices.Contains(alternatives, stem) })
}

func leadingWord(text string) string {
	end := 0
	for end < len(text) && isAlphanumeric(text[end]) {
		end++
	}
	return text[:end]
}

func isAlphanumeric(c byte) bool { return analysis.IsLetter(c) || analysis.IsDigit(c) }
