// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file reads the text of a keyword query.

import "strings"

// Term is one word of a [Query].
type Term struct {
	// Text is the word as it was written, without the mark that makes it required.
	// It holds no white space and is not empty in a parsed query.
	Text string
	// Required leaves out every document that the term does not match.
	Required bool
}

// Query is what a search asks for. The zero value asks for nothing and finds
// nothing.
type Query struct {
	// Terms are the words in the order they were written, repetitions included.
	Terms []Term
}

// Parse splits text at white space into terms. A leading '+' makes a term
// required and is not part of it; a '+' alone is ignored. Any text is a query.
func Parse(text string) Query {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return Query{}
	}
	terms := make([]Term, 0, len(fields))
	for _, field := range fields {
		word, required := strings.CutPrefix(field, "+")
		if word != "" {
			terms = append(terms, Term{Text: word, Required: required})
		}
	}
	if len(terms) == 0 {
		return Query{}
	}
	return Query{Terms: terms}
}

// String writes the query so that [Parse] reads it back unchanged, if it came
// from Parse.
func (q Query) String() string {
	var b strings.Builder
	for i, term := range q.Terms {
		if i > 0 {
			b.WriteByte(' ')
		}
		if term.Required {
			b.WriteByte('+')
		}
		b.WriteString(term.Text)
	}
	return b.String()
}
