// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package keyword

import (
	"strings"
)

// Term is one word of a [Query].
type Term struct {
	// Text is the word as written, without the mark that makes it required. In a
	// parsed query it is not empty and has no white space.
	Text string
	// Required excludes every document that the term does not match.
	Required bool
}

// Query is a parsed keyword query. The zero value finds nothing.
type Query struct {
	// Terms are the words as written, in order, with repetitions.
	Terms []Term
}

// Parse splits text at white space into terms. A leading '+' makes a term required
// and is not part of it; a lone '+' is ignored. Every text is a valid query.
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

// String returns text from which [Parse] returns the same query, if the query came
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

// segments cuts a name at its underscores and drops empty segments.
func segments(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == '_' })
}
