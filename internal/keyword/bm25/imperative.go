// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import "strings"

// toolVerbs are the stop words that are also verbs of tools: to like a post, to make a folder. The other verbs among
// the stop words (give, tell, help, use) are what people ask of an assistant, whatever the tool.
var toolVerbs = map[string]bool{"like": true, "make": true}

// imperativeOpenings are the words before an imperative or an infinitive in a sentence.
var imperativeOpenings = [...]string{"to", "please", "can you", "could you", "would you", "will you", "and", "then"}

// notVerbs are words that follow when a tool verb is not the action asked for: "like to know", "make sure".
var notVerbs = [...]string{"to", "sure"}

// isImperative reports whether the current word is a stop word that says here what to do: it begins a sentence ("Like
// the video") or follows the opening of one ("please make a folder").
func (q *queryParser) isImperative(word string) bool {
	if len(word) != len(q.word.Text) || !toolVerbs[strings.ToLower(word)] {
		return false
	}
	end := q.word.Start + len(q.word.Text)
	for _, next := range notVerbs {
		if strings.HasPrefix(q.text[end:], " "+next+" ") {
			return false
		}
	}
	before := strings.ToLower(strings.TrimRight(q.text[:q.word.Start], " \t\r\n\"'"))
	if before == "" || strings.IndexByte(".?!:;,", before[len(before)-1]) >= 0 {
		return true
	}
	for _, opening := range imperativeOpenings {
		if rest, ok := strings.CutSuffix(before, opening); ok && (rest == "" || rest[len(rest)-1] == ' ') {
			return true
		}
	}
	return false
}
