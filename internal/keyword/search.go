// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file answers queries by the specified score.

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Hit is a document that was found.
type Hit struct {
	// Doc is its position in the slice that the index was built from.
	Doc int
	// Score is above 0. What it means depends on the scorer.
	Score float64
}

// Search returns the documents with the highest scores, best first, at most limit
// of them; all of them if limit is 0 or less. The only error is that of ctx, which
// is looked at before every term. The hits are the caller's.
func (x *Index) Search(ctx context.Context, q Query, limit int) ([]Hit, error) {
	t := x.scratch.Get().(*tally)
	defer x.scratch.Put(t)
	defer t.reset()
	required := int32(0)
	for _, term := range countTerms(q.Terms) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.start(term.count, term.required)
		required += t.needed
		x.match(term.text, t)
	}
	return x.hits(top(t, required, limit)), ctx.Err()
}

// countedTerm is a term in lower case with the number of times it occurs.
type countedTerm struct {
	text     string
	required bool
	count    int32
}

// manyTerms is the number of terms from which a map finds repetitions faster than
// comparing does.
const manyTerms = 16

// countTerms merges terms that differ in nothing but case. An empty term is none.
func countTerms(terms []Term) []countedTerm {
	counted := make([]countedTerm, 0, len(terms))
	var seen map[string]int
	if len(terms) > manyTerms {
		seen = make(map[string]int, len(terms))
	}
	for _, term := range terms {
		if term.Text == "" {
			continue
		}
		text := strings.ToLower(term.Text)
		if at := findTerm(counted, seen, text); at >= 0 {
			counted[at].count++
			counted[at].required = counted[at].required || term.Required
			continue
		}
		if seen != nil {
			seen[text] = len(counted)
		}
		counted = append(counted, countedTerm{text: text, required: term.Required, count: 1})
	}
	return counted
}

func findTerm(counted []countedTerm, seen map[string]int, text string) int {
	if seen == nil {
		return slices.IndexFunc(counted, func(c countedTerm) bool { return c.text == text })
	}
	if at, ok := seen[text]; ok {
		return at
	}
	return -1
}

// ranked is a document's inner number with its score.
type ranked struct {
	doc   uint32
	score int32
}

// compareRanked puts the better one first. Inner numbers are in the order of names.
func compareRanked(a, b ranked) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	return cmp.Compare(a.doc, b.doc)
}

// top returns the best of the tally, in order.
func top(t *tally, required int32, limit int) []ranked {
	if limit <= 0 || limit > len(t.touched) {
		limit = len(t.touched)
	}
	best := newTopK(limit, compareRanked)
	for _, doc := range t.touched {
		if c := t.cells[doc]; c.required == required {
			best.add(ranked{doc: doc, score: c.total})
		}
	}
	return best.sorted()
}

func (x *Index) hits(found []ranked) []Hit {
	hits := make([]Hit, len(found))
	for i, r := range found {
		hits[i] = Hit{Doc: x.place[r.doc], Score: float64(r.score)}
	}
	return hits
}
