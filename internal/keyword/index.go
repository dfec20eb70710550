// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package keyword

import (
	"cmp"
	"context"
	"math"
	"strings"
	"sync"

	"github.com/einolean/einolean/internal/keyword/names"
)

// Doc describes one tool. The zero value is a document without a name that no query
// finds.
type Doc struct {
	// Name is the full name, with the server's prefix if it has one.
	Name string
	// Server is the name of the server that the tool comes from. If empty, it is what
	// precedes "__" in Name.
	Server string
	// Description is prose in any language.
	Description string
	// Params are the tool's parameters.
	Params []Param
	// Phrases are further ways to ask for the tool. The specified score does not read them.
	Phrases []string
	// Hints are what the tool's server says about it. The specified score does not read them.
	Hints Hints
}

// Hints are what a tool's server says about it.
type Hints struct {
	// ReadOnly says that the tool changes nothing.
	ReadOnly bool
	// Additive says that it changes something, but destroys nothing.
	Additive bool
}

// Param is a parameter of a [Doc].
type Param struct {
	// Name is the parameter's own name, without those of the objects around it.
	Name string
	// Description is prose in any language. It may be empty.
	Description string
	// Enum lists the allowed values, if there are any.
	Enum []string
	// Required says that a call must have it.
	Required bool
}

// NewNames returns the list of the documents' names.
func NewNames(docs []Doc) *names.List {
	list := make([]string, len(docs))
	for i := range docs {
		list[i] = docs[i].Name
	}
	return names.NewList(list)
}

// Segment is the words of documents that were read together. It is immutable and safe for
// concurrent use.
type Segment struct {
	*names.List
	lower      []string // names in lower case, by ordinal
	vocabulary vocabulary
	parts      postings // words that are parts of names
	compounds  postings // words that are name segments of several parts
	prose      postings // words of descriptions
}

// Index answers queries by the specified score. It reads names and descriptions
// only. It is immutable and safe for concurrent use.
type Index struct {
	*names.Catalog
	parts []part
}

// Part is what an index has of a segment.
type Part struct {
	*Segment
	// Has is the set of the positions of its documents. If nil, all.
	Has names.Set
}

type part struct {
	*Segment
	live  names.Set // ordinals; nil: all
	first uint32    // what the catalog adds to ordinals
}

// New indexes docs; Hit.Doc is the position in this slice. Names need not be
// distinct. Building takes time and memory in proportion to the text.
func New(docs []Doc) *Index { return Join(Part{Segment: NewSegment(docs)}) }

// Join returns the index of parts of segments, whose answers are those of an index of its
// documents alone. Hit.Doc counts through all documents of the segments, one after another,
// including those that the index has not.
func Join(parts ...Part) *Index {
	lists := make([]names.Part, len(parts))
	for i, p := range parts {
		lists[i] = names.Part{List: p.List, Has: p.Has}
	}
	x := &Index{Catalog: names.Join(lists...), parts: make([]part, len(parts))}
	for i, p := range parts {
		live, first := x.Part(i)
		x.parts[i] = part{p.Segment, live, first}
	}
	return x
}

// NewSegment reads docs.
func NewSegment(docs []Doc) *Segment {
	s := &Segment{List: NewNames(docs), lower: make([]string, len(docs))}
	var parts, compounds, prose collector
	var words names.IDs
	for i := range s.lower {
		doc := uint32(i)
		name := s.NameAt(doc)
		s.lower[i] = strings.ToLower(name)
		for _, segment := range segments(name) {
			camel := names.CamelParts(segment)
			for _, part := range camel {
				parts.add(words.ID(strings.ToLower(part)), doc)
			}
			if len(camel) > 1 {
				compounds.add(words.ID(strings.ToLower(segment)), doc)
			}
		}
		for _, word := range strings.Fields(strings.ToLower(docs[s.Position(doc)].Description)) {
			prose.add(words.ID(word), doc)
		}
	}
	s.vocabulary = newVocabulary(words.Words())
	s.parts = newPostings(len(words.Words()), parts.uses)
	s.compounds = newPostings(len(words.Words()), compounds.uses)
	s.prose = newPostings(len(words.Words()), prose.uses)
	return s
}

// collector gathers the uses of words, one per word and document. Documents come in
// order.
type collector struct {
	uses [][2]uint32 // each a word and a document
	last []uint32    // per word: the last document that used it, plus 1
}

func (c *collector) add(word, doc uint32) {
	for int(word) >= len(c.last) {
		c.last = append(c.last, 0)
	}
	if c.last[word] != doc+1 {
		c.last[word] = doc + 1
		c.uses = append(c.uses, [2]uint32{word, doc})
	}
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
	var terms []Term
	terms, t.counts = countTerms(q.Terms, t.counts[:0])
	for i, term := range terms {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.start(t.counts[i], term.Required)
		required += t.needed
		for at := range x.parts {
			x.parts[at].match(term.Text, t)
		}
	}
	return x.hits(t, x.top(t, required, limit)), ctx.Err()
}

// top returns the best documents of the tally: the higher score first, and then the smaller name.
func (x *Index) top(t *tally, required int32, limit int) []uint32 {
	if limit <= 0 || limit > len(t.touched) {
		limit = len(t.touched)
	}
	best := names.NewTopK(limit, func(a, b uint32) int {
		if one, other := t.cells[a].total, t.cells[b].total; one != other {
			return cmp.Compare(other, one)
		}
		return x.Compare(a, b)
	})
	least := int32(0) // what a document must score to come in
	for _, doc := range t.touched {
		if c := &t.cells[doc]; c.required != required || c.total < least {
			continue
		}
		best.Add(doc)
		if last, full := best.Last(); full {
			least = t.cells[last].total
		}
	}
	return best.Sorted()
}

// hits makes the hits of found documents of the tally.
func (x *Index) hits(t *tally, found []uint32) []Hit {
	hits := make([]Hit, len(found))
	for i, doc := range found {
		score := float64(t.cells[doc].total)
		evidence := score * math.Pow(score/float64(t.most), evidenceSlope)
		hits[i] = Hit{Doc: x.Position(doc), Score: score, Evidence: evidence, Confidence: calibration.Of(evidence, x.Len(), 0)}
	}
	return hits
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

// countTerms merges terms that differ only in case, in lower case, and drops empty ones. It
// appends to counts how often each occurs.
func countTerms(terms []Term, counts []int32) ([]Term, []int32) {
	merged := make([]Term, 0, len(terms))
	places := make(map[string]int)
	for _, term := range terms {
		if term.Text == "" {
			continue
		}
		term.Text = strings.ToLower(term.Text)
		if at, known := places[term.Text]; known {
			counts[at]++
			merged[at].Required = merged[at].Required || term.Required
			continue
		}
		places[term.Text] = len(merged)
		merged, counts = append(merged, term), append(counts, 1)
	}
	return merged, counts
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
	counts  []int32 // of the query's terms
	count   int32   // how often the current term occurs
	needed  int32   // 1 if the current term is required
	most    int32   // what a document scores whose name has all terms so far
}

var tallies = sync.Pool{New: func() any { return &tally{} }}

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

// reset prepares the tally for the next query. It costs as much as this one touched.
func (t *tally) reset() {
	for _, doc := range t.touched {
		t.cells[doc] = cell{}
	}
	t.touched = t.touched[:0]
	t.term, t.most = 0, 0
}

// Explain says why Search gives the document at position doc its score. It is slower than
// Search, since it looks at the words of the index for every term.
func (x *Index) Explain(q Query, doc int) Explanation {
	inner := x.Ordinal(doc)
	e := Explanation{Name: x.NameAt(inner)}
	missing := false
	for _, term := range q.Terms {
		if term.Text == "" {
			continue
		}
		t := x.parts[x.PartOf(inner)].explainTerm(strings.ToLower(term.Text), inner)
		t.Required = term.Required
		missing = missing || term.Required && t.Score == 0
		e.Score += t.Score
		e.Terms = append(e.Terms, t)
	}
	if missing {
		e.Score = 0
	}
	return e
}

// explainTerm returns the best match of a term; of several the first word in order.
func (p *part) explainTerm(term string, number uint32) TermExplanation {
	doc := number - p.first
	t := TermExplanation{Term: term}
	note := func(score float64, field, relation, word string) {
		if score > t.Score || score == t.Score && score > 0 && word < t.Matches[0].Word {
			t.Score = score
			t.Matches = []Match{{Field: field, Relation: relation, Word: word, Score: score}}
		}
	}
	if strings.Contains(p.lower[doc], term) {
		note(scoreInName, "name", "contains", p.lower[doc])
	}
	words, _ := p.vocabulary.candidates(term)
	for _, word := range words {
		text := p.vocabulary.words[word]
		switch {
		case !strings.Contains(text, term):
		case p.parts.has(word, doc) && text == term:
			note(scorePart, "name part", "equals", text)
		case p.parts.has(word, doc):
			note(scoreInPart, "name part", "contains", text)
		case p.prose.has(word, doc):
			note(scoreInProse, "description", "contains", text)
		}
	}
	return t
}
