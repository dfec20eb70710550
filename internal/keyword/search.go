// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file answers queries by the specified score.

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/leanctx/leanctx/internal/keyword/names"
)

// Hit is a document that a search found.
type Hit struct {
	// Doc is its position in the slice that the index was built from.
	Doc int
	// Score is greater than 0. Its meaning depends on the scorer.
	Score float64
	// Evidence is how much of the whole query speaks for the document. It grows with the
	// number of the words that match and with the size of the catalogue.
	Evidence float64
	// Confidence is how likely it is, from 0 to 1, that the document is what the query
	// asks for, if half of all queries ask for something that no document does. It means
	// the same for every query, catalogue and scorer.
	Confidence float64
}

// Search returns the documents with the highest scores, best first, at most limit
// of them. If limit is zero or less, it returns all. Its only error is that of ctx,
// which it checks before every term. The caller owns the hits.
func (x *Index) Search(ctx context.Context, q Query, limit int) ([]Hit, error) {
	t := tallies.Get().(*tally)
	defer tallies.Put(t)
	defer t.reset()
	if n := x.Numbers(); n > len(t.cells) {
		t.cells = make([]cell, n+n/8)
	}
	required := int32(0)
	for _, term := range countTerms(q.Terms) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.start(term.count, term.required)
		required += t.needed
		for i := range x.parts {
			x.parts[i].match(term.text, t)
		}
	}
	return x.hits(x.top(t, required, limit), t.most), ctx.Err()
}

// countedTerm is a term in lower case with the number of times it occurs.
type countedTerm struct {
	text     string
	required bool
	count    int32
}

// manyTerms is the number of terms above which a map finds repetitions faster than
// comparing each pair.
const manyTerms = 16

// countTerms merges terms that differ only in case, and drops empty ones.
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

// ranked is a document's number with its score.
type ranked struct {
	doc   uint32
	score int32
}

// compareRanked puts the higher score first, and then the smaller name.
func (x *Index) compareRanked(a, b ranked) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	return x.Compare(a.doc, b.doc)
}

// top returns the best documents of the tally, in order.
func (x *Index) top(t *tally, required int32, limit int) []ranked {
	if limit <= 0 || limit > len(t.touched) {
		limit = len(t.touched)
	}
	best := names.NewTopK(limit, x.compareRanked)
	for _, doc := range t.touched {
		if c := t.cells[doc]; c.required == required {
			best.Add(ranked{doc: doc, score: c.total})
		}
	}
	return best.Sorted()
}

// hits makes the hits of a query that scores at most most.
func (x *Index) hits(found []ranked, most int32) []Hit {
	hits := make([]Hit, len(found))
	for i, r := range found {
		score := float64(r.score)
		evidence := score * math.Pow(score/float64(most), evidenceSlope)
		hits[i] = Hit{Doc: x.Position(r.doc), Score: score, Evidence: evidence, Confidence: calibration.Of(evidence, x.Len())}
	}
	return hits
}

// The scores of a term, by the best place where it is found.
const (
	scorePart     = 10 // a part of the name is the term
	scoreInPart   = 5  // a part of the name contains it
	scoreInName   = 3  // the name contains it, across parts
	scoreInProse  = 2  // the description contains it
	scoreNotFound = 0
)

// cell is the state of a document during a search.
type cell struct {
	total    int32 // a query would need 400 MB of text to overflow it
	best     int32 // of the current term
	term     int32 // the last term that matched, counted from 1
	required int32 // number of required terms that matched
}

// tally adds up the scores of all documents for one query. Indexes share the memory of
// unused ones.
type tally struct {
	cells   []cell
	touched []uint32 // documents with a cell that is not zero
	term    int32
	count   int32 // how often the current term occurs
	needed  int32 // 1 if the current term is required
	most    int32 // what a document scores whose name has all terms so far
}

var tallies = sync.Pool{New: func() any { return &tally{} }}

// start begins the next term.
func (t *tally) start(count int32, required bool) {
	t.term++
	t.count = count
	t.most += scorePart * count
	t.needed = 0
	if required {
		t.needed = 1
	}
}

// found records that the current term scores score in doc.
func (t *tally) found(doc uint32, score int32) {
	c := &t.cells[doc]
	if c.term != t.term {
		if c.term == 0 {
			t.touched = append(t.touched, doc)
		}
		c.term = t.term
		c.best = scoreNotFound
		c.required += t.needed
	}
	if score > c.best {
		c.total += (score - c.best) * t.count
		c.best = score
	}
}

// found records what the current term scores in documents of the segment, as far as the
// index has them.
func (p *part) found(t *tally, docs []uint32, score int32) {
	for _, doc := range docs {
		if p.live == nil || p.live.Has(doc) {
			t.found(p.first+doc, score)
		}
	}
}

// reset prepares the tally for the next query. It costs as much as this one touched.
func (t *tally) reset() {
	for _, doc := range t.touched {
		t.cells[doc] = cell{}
	}
	t.touched = t.touched[:0]
	t.term, t.most = 0, 0
}

// match records what term scores in every document that it matches. A document in
// which it matches in several places is recorded several times. term is in lower case
// and not empty.
func (p *part) match(term string, t *tally) {
	words, exact := p.vocabulary.candidates(term)
	for _, word := range words {
		text := p.vocabulary.words[word]
		if !exact && !strings.Contains(text, term) {
			continue
		}
		score := int32(scoreInPart)
		if len(text) == len(term) {
			score = scorePart
		}
		p.found(t, p.parts.of(word), score)
		p.found(t, p.compounds.of(word), scoreInName)
		p.found(t, p.prose.of(word), scoreInProse)
	}
	if strings.Contains(term, "_") {
		p.matchAcrossSegments(term, t)
	}
}

// matchAcrossSegments records the documents whose names contain a term that has an
// underscore. No word of a name has one, so the longest stretch of the term without
// an underscore narrows down the names to compare.
func (p *part) matchAcrossSegments(term string, t *tally) {
	stretch := ""
	for _, s := range segments(term) {
		if len(s) > len(stretch) {
			stretch = s
		}
	}
	if stretch == "" {
		for doc, name := range p.lower {
			if strings.Contains(name, term) {
				p.found(t, []uint32{uint32(doc)}, scoreInName)
			}
		}
		return
	}
	words, exact := p.vocabulary.candidates(stretch)
	for _, word := range words {
		if exact || strings.Contains(p.vocabulary.words[word], stretch) {
			p.matchNames(p.parts.of(word), term, t)
			p.matchNames(p.compounds.of(word), term, t)
		}
	}
}

func (p *part) matchNames(docs []uint32, term string, t *tally) {
	for _, doc := range docs {
		if strings.Contains(p.lower[doc], term) {
			p.found(t, []uint32{doc}, scoreInName)
		}
	}
}
