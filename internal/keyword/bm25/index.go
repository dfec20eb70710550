// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/keyword/bm25/postings"
)

// Index answers queries by BM25F over names, servers, descriptions and parameters, as
// the package comment describes. It is immutable and safe for concurrent use.
//
// It is a view of segments, which other indexes may have as well. Its answers are those of
// an index of its documents alone.
type Index struct {
	*postings.View
	words *analysis.Lexicon
}

// New indexes docs, with what is known about words; nil: only which say nothing. The Doc of a hit is
// the position in this slice. Names need not be distinct. It reads as much of each document as NewSegment.
func New(words *analysis.Lexicon, docs []keyword.Doc) *Index {
	return Join(words, postings.Part{Segment: postings.NewSegment(docs)})
}

// Join returns the index of parts of segments, with words as New. The Doc of a hit counts through all
// documents of the segments, one after another, including those that the index has not.
// It costs as much as there are documents in the segments that it has not.
func Join(words *analysis.Lexicon, parts ...postings.Part) *Index {
	if words == nil {
		words = analysis.StopWords()
	}
	return &Index{View: postings.NewView(parts), words: words}
}

func (x *Index) accumulator() *accumulator { return accumulatorOf(x.View, x.words) }

// Search returns the documents that answer text best, best first, at most limit of
// them. If limit is zero or less, it returns all. The text is anything
// from two keywords to several sentences, in English, Chinese or both; a word with a
// leading '+' must match. A text of several clauses is also answered clause by clause,
// and documents of one server do not displace equally good ones of other servers, so
// the order is not always that of the scores.
//
// The only error is that of ctx. Search reads the first 32 KB of text and at most 256
// distinct words of it.
func (x *Index) Search(ctx context.Context, text string, limit int) ([]keyword.Hit, error) {
	acc := x.accumulator()
	defer acc.release()
	q := acc.parser.parse(text)
	if len(q.terms) == 0 {
		return []keyword.Hit{}, ctx.Err()
	}
	if err := acc.scoreWhole(ctx, q); err != nil {
		return nil, err
	}
	clauses, err := acc.scoreClauses(ctx, q)
	if err != nil {
		return nil, err
	}
	return acc.hits(q, acc.choose(q, clauses, limit)), nil
}

// IsRequestFor reports whether a text may ask for a document, which is known by the Doc of its hit. Small talk does not:
// all that a document has of it are function words, and words of any conversation, such as "today" and "exactly". A text
// with a value, such as a number or a quotation, is more than that. It takes less time than a search.
func (x *Index) IsRequestFor(text string, doc int) bool {
	acc := x.accumulator()
	defer acc.release()
	q, inner := acc.parser.parse(text), uint32(x.Ordinal(doc))
	if slices.Contains(q.named, inner) || len(acc.parser.spans) > 0 || strings.ContainsAny(text, "0123456789") {
		return true
	}
	if acc.parser.keepAll {
		return false
	}
	return slices.ContainsFunc(q.terms, func(w term) bool {
		if w.significance == incidental || w.half {
			return false
		}
		_, cover, _ := acc.matchOf(&w, inner)
		return cover > 0
	})
}

// Explain says why Search gives a document, which is known by the Doc of its hit, its score
// for text. It costs as much as a search.
func (x *Index) Explain(text string, doc int) keyword.Explanation {
	acc := x.accumulator()
	defer acc.release()
	q, inner := acc.parser.parse(text), x.Ordinal(doc)
	e := keyword.Explanation{Name: x.Name(doc)}
	importance, covered := 0.0, 0.0
	for i := range q.terms {
		w := &q.terms[i]
		t, cover := acc.explainTerm(w, inner)
		e.Terms = append(e.Terms, t)
		importance += float64(w.importance * w.weight)
		covered += cover
	}
	ctx := context.Background() // never ends
	_ = acc.scoreWhole(ctx, q)
	clauses, _ := acc.scoreClauses(ctx, q)
	if covered > 0 {
		e.Factors = []keyword.Factor{
			{Name: "words of its name, or its server, in the query", Value: acc.naming(inner, inQuery)},
			{Name: "share of the query it answers", Value: math.Sqrt(covered / importance)},
		}
		acc.explainScore(&e, q, clauses, inner)
	}
	for _, c := range acc.choose(q, clauses, neededPlace+1) {
		switch {
		case c.doc != inner:
		case c.neededBy > 0:
			e.Score = c.score
			e.Factors = append(e.Factors, keyword.Factor{Name: "finds what " + x.NameAt(c.neededBy-1) + " requires", Value: 1})
		case c.score > e.Score:
			e.Factors = append(e.Factors, keyword.Factor{Name: "has the direction of the query", Value: c.score / e.Score})
			e.Score = c.score
		}
	}
	return e
}
