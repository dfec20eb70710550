// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file says why BM25 gives a document its score.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Explain says why Search gives the document at position doc, from 0 to Len()-1, its
// score for text. It costs as much as a search.
func (x *BM25) Explain(text string, doc int) Explanation {
	b := x.scratch.Get().(*board)
	defer x.scratch.Put(b)
	defer b.forget()
	inner := x.inner[doc]
	r := x.read(text, b.shared)
	e := Explanation{Name: x.names[inner]}
	mass, covered := 0.0, 0.0
	for i := range r.wants {
		w := &r.wants[i]
		t, cover := x.explainWant(w, inner)
		e.Terms = append(e.Terms, t)
		mass += float64(w.mass * w.weight)
		covered += cover
	}
	if covered == 0 {
		return e
	}
	ctx := context.Background() // it does not end
	_ = x.scoreWhole(ctx, b, &r)
	pieces, _ := x.scorePieces(ctx, b, &r)
	e.Score = finalScores(b, &r, pieces)(inner)
	e.Factors = []Factor{
		{Name: "words of its name in the request", Value: 1 + float64(nameBonus*x.nameCoverage(x.said(r.wants), inner))},
		{Name: "share of the request it answers", Value: math.Sqrt(covered / mass)},
	}
	if whole := b.whole[inner]; whole == 0 {
		e.Factors = append(e.Factors, Factor{Name: "lacks what is required", Value: 0})
	} else if e.Score != whole {
		e.Factors = append(e.Factors, Factor{Name: "answers a piece of the request, or is named in it", Value: e.Score / whole})
	}
	return e
}

// explainWant lists what matches a want in a document, and how much of the want it
// covers.
func (x *BM25) explainWant(w *want, doc uint32) (t TermExplanation, covered float64) {
	t = TermExplanation{Term: w.text, Required: w.required}
	for _, m := range w.matches {
		p, ok := x.posting(m.token, doc)
		if !ok {
			continue
		}
		score := w.weight * m.weight * float64(p.weight)
		t.Matches = append(t.Matches, Match{Field: fieldsOf(p.counts), Relation: m.relation, Word: x.texts[m.token], Score: score})
		t.Score = max(t.Score, score)
		covered = max(covered, coverMass(w, m.weight))
	}
	slices.SortStableFunc(t.Matches, func(a, b Match) int { return cmp.Compare(b.Score, a.Score) })
	return t, covered
}

// fieldsOf names the fields a token occurs in, with how often.
func fieldsOf(c counts) string {
	var fields []string
	for f := range fieldCount {
		switch n := c.of(f); n {
		case 0:
		case 1:
			fields = append(fields, fieldNames[f])
		default:
			fields = append(fields, fmt.Sprintf("%s (%d times)", fieldNames[f], n))
		}
	}
	return strings.Join(fields, ", ")
}

// Unmatched returns the words of text that stand for nothing in any document, in
// order, each once. Words that say nothing, such as "the", are not among them.
func (x *BM25) Unmatched(text string) []string {
	b := x.scratch.Get().(*board)
	defer x.scratch.Put(b)
	r := x.read(text, b.shared)
	matched := make(map[string]bool)
	var words []string
	for i := range r.wants {
		w := &r.wants[i]
		if _, known := matched[w.word]; !known {
			words = append(words, w.word)
		}
		matched[w.word] = matched[w.word] || len(w.matches) > 0
	}
	return slices.DeleteFunc(words, func(word string) bool { return matched[word] })
}
