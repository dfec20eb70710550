// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import "github.com/leanctx/leanctx/internal/keyword"

const (
	nameEvidence   = 1 // for a name whose every word is in the query
	serverEvidence = 1 // for a document whose server the query names
)

var calibration = keyword.Calibration{Evidence: 4.00, Size: -10.60, Length: -1.00, Offset: 9.91}

const (
	// slack is added to the importance of a query, in words that no document has: what the rest
	// of a short query says tells less against a document.
	slack = 1.5
	// matching and breadth are exponents of what matches, and of the length of the query, relative
	// to what it says in all. At 1, a word that a document lacks would cost no more in a long query
	// than in a short one; at 0, a long query would be unsure of every document.
	matching = 0.75
	breadth  = 0.7
)

// tells returns how much a match says by its relation, relative to the word itself: if words
// are only similar, the query may mean something else.
func tells(relation string) float64 {
	switch relation {
	case relatedTo, partOf:
		return 0.5
	case synonymOf:
		return 0.7
	case translationOf:
		return 0.9
	}
	return 1
}

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
	// character is for a single character without spaces, or two neighbours: most are not
	// words, and the meaning of the words among them counts separately.
	character = significance{1, 0.4}
)
