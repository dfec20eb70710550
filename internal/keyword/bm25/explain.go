// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file explains the score of a document.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/leanctx/leanctx/internal/keyword"
)

// aboutFactor is what word vectors add.
const aboutFactor = "nearness of what it is about to the query, by word vectors"

// Explain says why Search gives a document, which is known by the Doc of its hit, its score
// for text. It costs as much as a search.
func (x *Index) Explain(text string, doc int) keyword.Explanation {
	acc := x.accumulator()
	defer acc.release()
	inner := x.Ordinal(doc)
	q := acc.parser.parse(text)
	e := keyword.Explanation{Name: x.Name(doc)}
	importance, covered := 0.0, 0.0
	for i := range q.terms {
		w := &q.terms[i]
		t, cover := acc.explainTerm(w, inner)
		e.Terms = append(e.Terms, t)
		importance += float64(w.importance * w.weight)
		covered += cover
	}
	if covered == 0 {
		return e
	}
	ctx := context.Background() // never ends
	_ = acc.scoreWhole(ctx, q)
	clauses, _ := acc.scoreClauses(ctx, q)
	e.Factors = []keyword.Factor{
		{Name: "words of its name in the query", Value: 1 + float64(nameBonus*acc.nameCoverage(inner, inQuery))},
		{Name: "share of the query it answers", Value: math.Sqrt(covered / importance)},
	}
	k := acc.find(inner)
	if k == nil {
		e.Factors = append(e.Factors, keyword.Factor{Name: "lacks what is required", Value: 0})
		return e
	}
	e.Score = acc.finalScore(k, q, clauses)
	if whole := acc.score(k); e.Score != whole {
		e.Factors = append(e.Factors, keyword.Factor{Name: "answers a clause of the query, or is named in it", Value: e.Score / whole})
	}
	byWords := e.Score
	candidates := acc.candidates(q, clauses, maxReordered)
	e.Score *= acc.reorder(q, clauses, candidates)
	if at := slices.IndexFunc(candidates, func(c scored) bool { return c.doc == inner }); at >= 0 {
		e.Score = candidates[at].score
	}
	if e.Score != byWords {
		e.Factors = append(e.Factors, keyword.Factor{Name: aboutFactor, Value: e.Score / byWords})
	}
	return e
}

// explainTerm returns what matches a term in a document, and how much of the term's
// importance that covers.
func (acc *accumulator) explainTerm(w *term, doc uint32) (t keyword.TermExplanation, covered float64) {
	t = keyword.TermExplanation{Term: w.written, Required: w.required}
	for _, m := range w.expansions {
		lengths, p, ok := acc.x.posting(m.token, doc)
		if !ok {
			continue
		}
		score := w.weight * m.weight * acc.weight(lengths, p.counts, acc.idf(m.token))
		t.Matches = append(t.Matches, keyword.Match{Field: fieldsOf(p.counts), Relation: m.relation, Word: acc.x.text(m.token), Score: score})
		t.Score = max(t.Score, score)
		covered = max(covered, coveredImportance(w, m.weight))
	}
	slices.SortStableFunc(t.Matches, func(a, b keyword.Match) int { return cmp.Compare(b.Score, a.Score) })
	return t, covered
}

// fieldsOf names the fields in which a token occurs, and how often.
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

// Written returns the words of texts as they stand there, by the tokens that stand for
// them. Of several words with one token the first is kept.
func Written(texts ...string) map[string]string {
	words, stems := map[string]string{}, stemmer{}
	keep := func(token, word string) {
		if _, known := words[token]; !known {
			words[token] = word
		}
	}
	for _, text := range texts {
		eachRun(normalize(text), func(r run) {
			if r.unspaced || len(r.text) > maxWordBytes {
				return
			}
			eachPart(r.text, func(part string) { keep(stems.stem(part), part) })
			keep(stems.stem(r.text), r.text)
		})
	}
	return words
}
