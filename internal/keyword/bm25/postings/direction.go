// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package postings

import (
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
)

// opposites are stop words that may be all that tells the names of two tools apart.
var opposites = map[string]string{
	"to": "from", "from": "to", "in": "out", "out": "in", "up": "down", "down": "up", "on": "off", "off": "on",
	"before": "after", "after": "before", "over": "under", "under": "over",
}

// unspacedTo are the Chinese words for "to" in names such as 数字转罗马数字, the longest first.
var unspacedTo = [...]string{"转换成", "转换为", "转成", "转为", "转"}

// IsDirection reports whether a word is one that names may differ in.
func IsDirection(word string) bool { return opposites[word] != "" }

// Direction is what a name says besides its other words: "to" before "roman" in number_to_roman.
type Direction struct {
	Word string // in small letters
	Next string // the stem of the word behind it, or the text behind it in a script without spaces
	rest string // the stems of the other words, in alphabetical order
}

// IsOpposite reports whether two names are the same but for opposite directions: to_roman and from_roman, or
// roman_to_number and number_to_roman.
func (d Direction) IsOpposite(other Direction) bool {
	return d.rest == other.rest && (opposites[d.Word] == other.Word || d.hasTarget() && d.Word == other.Word && d.Next != other.Next)
}

// hasTarget reports whether the word behind the direction belongs to it.
func (d Direction) hasTarget() bool { return d.Word == "to" || d.Word == "from" }

// directionOf returns the first direction in a name; ok is false if it has none.
func directionOf(stemmer analysis.Stemmer, name string) (d Direction, ok bool) {
	if !hasDirection(name) {
		return d, false // most have none
	}
	var rest []string
	follows := false
	analysis.EachRun(name, func(r analysis.Run) {
		if r.Unspaced {
			source, target, has := cutTo(r.Text)
			if has && !ok {
				d.Word, d.Next, ok = "to", target, true
			}
			rest = append(rest, source, target)
			return
		}
		analysis.EachPart(r.Text, func(part string) {
			stem := stemmer.Stem(part)
			if follows {
				d.Next, follows = stem, false
			}
			if lower := strings.ToLower(part); !ok && IsDirection(lower) {
				d.Word, follows, ok = lower, true, true
				return
			}
			rest = append(rest, stem)
		})
	})
	slices.Sort(rest)
	d.rest = strings.Join(rest, " ")
	return d, ok
}

func hasDirection(name string) (found bool) {
	analysis.EachRun(name, func(r analysis.Run) {
		if r.Unspaced {
			_, _, has := cutTo(r.Text)
			found = found || has
			return
		}
		analysis.EachPart(r.Text, func(part string) { found = found || IsDirection(strings.ToLower(part)) })
	})
	return found
}

// cutTo cuts a run without spaces at its word for "to"; ok is false if it has none, or nothing on a side of it.
func cutTo(run string) (source, target string, ok bool) {
	for _, word := range unspacedTo {
		if source, target, ok = strings.Cut(run, word); ok {
			return source, target, source != "" && target != ""
		}
	}
	return run, "", false
}
