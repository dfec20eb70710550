// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package postings

import (
	"strings"

	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
)

// opposites are stop words that may be all that tells the names of two tools apart.
var opposites = map[string]string{
	"to": "from", "from": "to", "in": "out", "out": "in", "up": "down", "down": "up", "on": "off", "off": "on",
	"before": "after", "after": "before", "over": "under", "under": "over",
}

// IsDirection reports whether a word is one that names may differ in.
func IsDirection(word string) bool { return opposites[word] != "" }

// Direction is what a name says besides its other words: "to" before "roman" in number_to_roman.
type Direction struct {
	Word string // in small letters
	Next string // the stem of the word behind it
	rest string // the stems of the other words
}

// IsOpposite reports whether two names are the same but for opposite directions.
func (d Direction) IsOpposite(other Direction) bool {
	return opposites[d.Word] == other.Word && d.rest == other.rest
}

// directionOf returns the first direction in a name; ok is false if it has none.
func directionOf(stemmer analysis.Stemmer, name string) (d Direction, ok bool) {
	if !hasDirection(name) {
		return d, false // most have none
	}
	var rest strings.Builder
	follows := false
	analysis.EachRun(name, func(r analysis.Run) {
		analysis.EachPart(r.Text, func(part string) {
			stem := stemmer.Stem(part)
			if follows {
				d.Next, follows = stem, false
			}
			if lower := strings.ToLower(part); !ok && IsDirection(lower) {
				d.Word, follows, ok = lower, true, true
				return
			}
			rest.WriteString(stem + " ")
		})
	})
	d.rest = rest.String()
	return d, ok
}

func hasDirection(name string) (found bool) {
	analysis.EachRun(name, func(r analysis.Run) {
		analysis.EachPart(r.Text, func(part string) { found = found || IsDirection(strings.ToLower(part)) })
	})
	return found
}
