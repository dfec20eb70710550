// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/lexicon"
	"github.com/einolean/einolean/internal/keyword/bm25/tokenize"
	"github.com/einolean/einolean/internal/keyword/names"
)

var accumulators = sync.Pool{New: func() any {
	acc := &accumulator{}
	acc.parser = newQueryParser(&acc.finder)
	acc.best = names.NewTopK(0, acc.compare)
	return acc
}}

// accumulator returns scratch memory for a search of x.
func (x *Index) accumulator() *accumulator {
	acc := accumulators.Get().(*accumulator)
	if acc.x == x {
		return acc
	}
	acc.x, acc.parser.l = x, x.words
	docs, tokens := x.Numbers(), x.tokens
	acc.states, acc.place = grown(acc.states, docs), grown(acc.place, docs)
	acc.mentions, acc.shared, acc.idfs = grown(acc.mentions, tokens), grown(acc.shared, tokens), grown(acc.idfs, tokens)
	clear(acc.idfs)
	for f := range fieldCount {
		for length := range acc.norms[f] {
			acc.norms[f][length] = x.norm(f, length)
		}
	}
	return acc
}

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

// diversify orders candidates, which are in the order of their scores. Each place goes
// to the best one left, where answers to clauses and words that are still open count more;
// shares are those of the first terms in the query. Among nearly equal ones, it goes to the one whose server has the fewest places so far.
func (x *Index) diversify(candidates []scored, clauses []clause, shares []float64, top float64, limit int) []scored {
	p := x.newPlaces(clauses, shares, top)
	p.used = make(map[string]int)
	chosen := make([]scored, 0, len(candidates))
	front := candidates[:min(len(candidates), maxDiversified+spare)]
	rest := candidates[len(front):]
	for len(chosen) < min(limit, maxDiversified) && len(front) > 0 {
		at := p.next(front)
		pick := front[at]
		front = slices.Delete(front, at, at+1)
		chosen = append(chosen, pick)
		for i := range clauses {
			p.open[i] *= 1 - clauses[i].fit[pick.doc]
		}
		p.done |= pick.terms
		if server := x.server(pick.doc); server != "" {
			p.used[server]++
		}
	}
	chosen = append(append(chosen, front...), rest...)
	return chosen[:min(limit, len(chosen))]
}

func (x *Index) newPlaces(clauses []clause, shares []float64, top float64) places {
	p := places{x: x, clauses: clauses, shares: shares, open: make([]float64, len(clauses)), top: top}
	for i := range p.open {
		p.open[i] = 1
	}
	return p
}

// finderOf returns the document that finds what is named by a token for a document of the same
// server: the one whose name has the fewest words besides, and does not require it itself.
func (x *Index) finderOf(kind, of uint32) (best uint32, ok bool) {
	server, least := x.server(of), 0
	if server == "" {
		return 0, false
	}
	x.each(kind, func(p *part, id uint32) {
		for _, u := range p.of(id) {
			doc := p.firstDoc + u.doc
			if u.counts.of(fieldName) == 0 || doc == of || !p.has(u.doc) || p.serverNames[p.servers[u.doc]] != server ||
				slices.Contains(p.needsOf(u.doc), id) {
				continue
			}
			words := p.nameOf(u.doc)
			if !slices.ContainsFunc(words, func(word uint32) bool { return finding[p.tokens.Word(word)] }) {
				continue
			}
			if !ok || len(words) < least || len(words) == least && x.Compare(doc, best) < 0 {
				best, least, ok = doc, len(words), true
			}
		}
	})
	return best, ok
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
		if c.doc == inner && c.neededBy > 0 {
			e.Score = c.score
			e.Factors = append(e.Factors, keyword.Factor{Name: "finds what " + x.NameAt(c.neededBy-1) + " requires", Value: 1})
		}
	}
	return e
}

// Index answers queries by BM25F over names, servers, descriptions and parameters, as
// the package comment describes. It is immutable and safe for concurrent use.
//
// It is a view of segments, which other indexes may have as well. Its answers are those of
// an index of its documents alone.
type Index struct {
	*names.Catalog
	words    *lexicon.Words
	parts    []part
	tokens   int // of all segments, also those that no document of the index uses
	unspaced int // documents with text in a script without spaces
	average  [fieldCount]float64
	language func() lexicon.Language // of the descriptions, found on first use
}

// Part is what an index has of a segment.
type Part struct {
	*Segment
	// Has is the set of the positions of its documents. If nil, all.
	Has names.Set
}

// part is a part of an index. A document is known by its ordinal in the segment, plus
// firstDoc; a token by its number there, plus firstToken.
type part struct {
	*Segment
	live                 names.Set // ordinals; nil means all
	firstDoc, firstToken uint32
}

// New indexes docs, with what is known about words; nil: only which say nothing. The Doc of a hit is the position in this slice. Names need not be
// distinct. It reads as much of each document as NewSegment.
func New(words *lexicon.Words, docs []keyword.Doc) *Index {
	return Join(words, Part{Segment: NewSegment(docs)})
}

// Join returns the index of parts of segments, with words as New. The Doc of a hit counts through all
// documents of the segments, one after another, including those that the index has not.
// It costs as much as there are documents in the segments that it has not.
func Join(words *lexicon.Words, parts ...Part) *Index {
	if words == nil {
		words = lexicon.StopWords()
	}
	lists := make([]names.Part, len(parts))
	for i, p := range parts {
		lists[i] = names.Part{List: p.List, Has: p.Has}
	}
	x := &Index{Catalog: names.Join(lists...), words: words, parts: make([]part, len(parts))}
	var total [fieldCount]int
	for i, p := range parts {
		live, first := x.Part(i)
		x.parts[i] = part{p.Segment, live, first, uint32(x.tokens)}
		x.tokens += p.tokens.Len()
		x.unspaced += p.unspaced.Count()
		for f, n := range p.total {
			total[f] += n
		}
		if live != nil {
			live.EachMissing(p.Segment.Len(), func(doc int) {
				if p.unspaced.Has(uint32(doc)) {
					x.unspaced--
				}
				for f, n := range p.lengths[doc] {
					total[f] -= int(n)
				}
			})
		}
	}
	for f := range x.average {
		x.average[f] = float64(total[f]) / float64(max(1, x.Len()))
	}
	x.language = sync.OnceValue(x.findLanguage)
	return x
}

// Language returns the language of the descriptions, if most are in one.
func (x *Index) Language() lexicon.Language { return x.language() }

func (x *Index) findLanguage() lexicon.Language {
	mostly := 4*x.unspaced > 3*x.Len() // of the documents are written without spaces
	if !mostly && 4*x.unspaced > x.Len() {
		return ""
	}
	return lexicon.LanguageOfMost(x.Len(), mostly, func(stem string) int {
		token, ok := x.find(stem)
		if !ok {
			return 0
		}
		return x.users(token)
	})
}

// DescriptionWords returns how many words a description has on average.
func (x *Index) DescriptionWords() float64 { return x.average[fieldDescription] }

func (x *Index) partOfDoc(doc uint32) *part { return &x.parts[x.PartOf(doc)] }

func (x *Index) partOfToken(token uint32) *part {
	if len(x.parts) == 1 {
		return &x.parts[0]
	}
	return &x.parts[sort.Search(len(x.parts), func(i int) bool { return x.parts[i].firstToken > token })-1]
}

// server returns the name of a document's server, "" if it has none.
func (x *Index) server(doc uint32) string {
	p := x.partOfDoc(doc)
	return p.serverNames[p.servers[doc-p.firstDoc]]
}

// nameOf returns the distinct tokens of a document's name.
func (x *Index) nameOf(doc uint32) (p *part, tokens []uint32) {
	p = x.partOfDoc(doc)
	return p, p.nameOf(doc - p.firstDoc)
}

// find returns the number that a token has in the first segment in which a document of the
// index uses it; ok is false if there is none.
func (x *Index) find(text string) (token uint32, ok bool) {
	for i := range x.parts {
		p := &x.parts[i]
		if id, ok := p.tokens.Find(text); ok && p.isUsed(id) {
			return p.firstToken + id, true
		}
	}
	return 0, false
}

// findBytes is find of a text that may change afterwards.
func (x *Index) findBytes(text []byte) (token uint32, ok bool) {
	for i := range x.parts {
		p := &x.parts[i]
		if id, ok := p.tokens.FindBytes(text); ok && p.isUsed(id) {
			return p.firstToken + id, true
		}
	}
	return 0, false
}

// text returns the text of a token.
func (x *Index) text(token uint32) string {
	p := x.partOfToken(token)
	return p.tokens.Word(token - p.firstToken)
}

// each visits the segments that have a token, with its number there.
func (x *Index) each(token uint32, visit func(p *part, id uint32)) {
	own := x.partOfToken(token)
	visit(own, token-own.firstToken)
	if len(x.parts) == 1 {
		return
	}
	text := own.tokens.Word(token - own.firstToken)
	for i := range x.parts {
		p := &x.parts[i]
		if id, ok := p.tokens.Find(text); ok && p != own {
			visit(p, id)
		}
	}
}

// users returns how many documents use a token.
func (x *Index) users(token uint32) (n int) {
	x.each(token, func(p *part, id uint32) { n += p.users(id) })
	return n
}

// idf returns the inverse document frequency of a token.
func (x *Index) idf(token uint32) float32 {
	all := x.Len()
	if tokenize.StartsUnspaced(x.text(token)) {
		// A Chinese word is rare among English documents, which does not make it
		// significant.
		all = x.unspaced
	}
	return float32(idf(x.users(token), all))
}

// has reports whether the index has a document of the segment.
func (p *part) has(doc uint32) bool { return p.live == nil || p.live.Has(doc) }

// users returns how many of the index's documents in the segment use a token.
func (p *part) users(id uint32) int {
	posts := p.of(id)
	if p.live == nil {
		return len(posts)
	}
	n := 0
	for _, u := range posts {
		if p.live.Has(u.doc) {
			n++
		}
	}
	return n
}

func (p *part) isUsed(id uint32) bool {
	return p.live == nil || slices.ContainsFunc(p.of(id), func(u posting) bool { return p.live.Has(u.doc) })
}

// isNameWord reports whether a token is one of the name of a document of the index.
func (p *part) isNameWord(id uint32) bool {
	return p.nameWords.Has(id) && (p.live == nil || slices.ContainsFunc(p.of(id), func(u posting) bool {
		return p.live.Has(u.doc) && slices.Contains(p.nameOf(u.doc), id)
	}))
}

// posting returns the posting of a token in a document, and the lengths of its fields.
func (x *Index) posting(token, doc uint32) (lengths *[fieldCount]uint16, found posting, ok bool) {
	in := x.partOfDoc(doc)
	x.each(token, func(p *part, id uint32) {
		if p == in {
			lengths = &p.lengths[doc-p.firstDoc]
			found, ok = p.posting(id, doc-p.firstDoc)
		}
	})
	return lengths, found, ok
}

// This package converts each product in a sum to float64, which keeps compilers from
// fusing the two operations: fused ones round once instead of twice, and the order of
// equally good documents would differ between machines.

// norm returns the weight of one occurrence in a field of this length.
func (x *Index) norm(f field, length int) float64 {
	relative := float64(length) / x.average[f]
	return fieldWeights[f] / (1 - fieldSlopes[f] + float64(fieldSlopes[f]*relative))
}

// idf returns the inverse document frequency of a token.
func idf(users, all int) float64 {
	d := float64(users)
	return math.Log(1 + (float64(all)-d+0.5)/(d+0.5))
}

// saturation sets how fast further occurrences stop counting.
const saturation = 1.2

// grown returns memory for n values: those that were zero stay zero. It has room for the
// next indexes of a growing catalogue.
func grown[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]T, n, n+n/8)
}

// findNameWord returns the number of a token that is one of a name.
func (x *Index) findNameWord(text string) (token uint32, ok bool) {
	for i := range x.parts {
		p := &x.parts[i]
		if id, has := p.tokens.Find(text); has && p.isNameWord(id) {
			return x.find(text)
		}
	}
	return 0, false
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

const (
	nameEvidence   = 1   // for a name whose every word is in the query
	serverEvidence = 1.5 // for a document whose server the query names
	// clauseEvidence is what one clause says on its own, relative to a whole query that says it: a
	// request of several acts is meant for a tool that does one of them.
	clauseEvidence = 0.6
)

var calibration = keyword.Calibration{Evidence: 3.96, Size: -9.93, Length: -0.88, Offset: 8.50}

const (
	// translation is for a query that was translated: the lists know only some of the words that tools
	// may use.
	translation = 0.9
	// inflection is for Japanese: without its endings and particles a request has few characters, and
	// another one shares some of them.
	inflection = -2
)

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

// proof is what the terms of a query say for a document: the scores of their matches, how much
// of their importance the matches cover, and how much the rest says against it. all is the
// importance of every term.
type proof struct{ score, covered, missing, all float64 }

func (p *proof) add(other proof) {
	p.score += other.score
	p.covered += other.covered
	p.missing += other.missing
	p.all += other.all
}

// evidence grows with what matches, and falls with what the rest of the query says against the
// document; rarest is the importance of a word that no document has.
func (p *proof) evidence(rarest float64) float64 {
	if p.covered == 0 {
		return 0
	}
	return math.Pow(p.score*p.covered, matching) * math.Pow(float64(slack*rarest)+p.all, breadth) / (p.covered + p.missing)
}
