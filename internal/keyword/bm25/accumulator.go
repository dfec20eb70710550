// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/keyword/bm25/postings"
	"github.com/einolean/einolean/internal/keyword/names"
)

const (
	nameBonus   = 0.6 // for a name whose every word is in the query
	serverBonus = 0.4 // for a document whose server the query names
)

// docState is the state of a document while a query, or a clause of it, is being scored.
type docState struct {
	total          float64 // of the terms before the current one
	best           float64 // score of the current term
	importance     float64 // of the earlier terms that matched
	bestImportance float64 // of the current term
	terms          uint64  // of the first maxOpen, those that matched
	term           int16   // the current term, counted from 1
	met            int16   // requirements, in order
	carried        bool    // a term matched that is more than a character of a word
}

// candidate is a document that meets a query's requirements, with its scores.
type candidate struct {
	doc            uint32
	terms          uint64  // of the first maxOpen, those that match
	isAnswer       bool    // it is an answer to a clause, or named
	total, covered float64 // the sum over the terms, and the share of the query
	score          float64 // 0 means not computed yet
}

// accumulator is the scratch memory of a search. Indexes share it: a thousand of them need
// only as much as their concurrent searches.
type accumulator struct {
	postings.Finder // its view is that of the values below
	x               *postings.View

	parser queryParser
	norms  postings.Norms
	scores
	marks
	scratch
}

// scores are those of documents.
type scores struct {
	states   []docState // of a block of documents
	first    uint32     // the first document of the block
	touched  []uint32   // documents of the block that match a term
	eligible []candidate
	place    []uint32 // index of each document in eligible, plus 1
	top      float64  // the highest score in eligible
}

// marks say what the query mentions.
type marks struct {
	mentions  []uint8  // by token: the scopes in which it stands for a term
	mentioned []uint32 // tokens with a mention
	servers   bool     // the query has words of a server's name
}

// scratch is memory for one step after another.
type scratch struct {
	shares        [maxOpen]float64
	best          names.TopK[scored]
	terms         []term // of a clause
	pending       []pendingPostings
	proofs        []proof
	countedTokens []uint32             // tokens counted as evidence for a document
	clauseFits    []map[uint32]float64 // of the clauses
}

var accumulators = sync.Pool{New: func() any {
	acc := &accumulator{}
	acc.parser = newQueryParser(&acc.Finder)
	acc.best = names.NewTopK(0, acc.compare)
	return acc
}}

// accumulatorOf returns scratch memory for a search of x, with what is known about words.
func accumulatorOf(x *postings.View, words *analysis.Lexicon) *accumulator {
	acc := accumulators.Get().(*accumulator)
	if acc.x == x {
		return acc
	}
	acc.x, acc.parser.x, acc.parser.l = x, x, words
	acc.Finder.Reset(x)
	acc.norms.Reset(x)
	acc.states, acc.place = postings.Grown(acc.states, min(x.Numbers(), scoredAtOnce)), postings.Grown(acc.place, x.Numbers())
	acc.mentions = postings.Grown(acc.mentions, x.Tokens)
	return acc
}

const (
	inQuery uint8 = 1 << iota // scopes: the text in which a token stands for a term
	inClause
	asWritten // the token is a term of the query, in this or another form or spelling
)

// release clears the state of the search, and returns the memory.
func (acc *accumulator) release() {
	for i := range acc.eligible {
		acc.place[acc.eligible[i].doc] = 0
	}
	for _, token := range acc.mentioned {
		acc.mentions[token] = 0
	}
	acc.eligible, acc.mentioned, acc.top, acc.servers = acc.eligible[:0], acc.mentioned[:0], 0, false
	acc.parser.forget()
	clear(acc.terms[:cap(acc.terms)])

	accumulators.Put(acc)
}

// mark notes that a token stands for a term.
func (acc *accumulator) mark(token uint32, s uint8) {
	if acc.mentions[token] == 0 {
		acc.mentioned = append(acc.mentioned, token)
	}
	acc.mentions[token] |= s
}

// unmark removes the marks in a scope.
func (acc *accumulator) unmark(s uint8) {
	for _, token := range acc.mentioned {
		acc.mentions[token] &^= s
	}
}

// saturation sets how fast further occurrences stop counting.
const saturation = 1.2

// weight returns what a token with these counts and this inverse document frequency
// scores in a document.
func (acc *accumulator) weight(lengths *postings.Lengths, c postings.Counts, idf float64) float64 {
	frequency := acc.norms.Frequency(lengths, c)
	return float64(float32(idf * frequency * (saturation + 1) / (frequency + saturation)))
}

// match is a token that stands for a term.
type match struct {
	term                    int16 // counted from 1
	weight, idf, importance float64
	nameIDF                 float64 // the idf in names, if it is higher
	carries                 bool    // it is more than a character of a word
}

// pendingPostings are those postings of a match in a segment whose documents are still to be scored.
type pendingPostings struct {
	match
	shard *postings.Shard
	rest  []postings.Posting
}

// add records that the documents below end with a token match a term.
func (acc *accumulator) add(m *pendingPostings, end uint32) {
	p := m.shard
	for i, u := range m.rest {
		doc := p.FirstDoc + u.Doc
		if doc >= end {
			m.rest = m.rest[i:]
			return
		}
		if !p.Has(u.Doc) {
			continue
		}
		s := &acc.states[doc-acc.first]
		if s.term != m.term {
			if s.term == 0 {
				acc.touched = append(acc.touched, doc)
			}
			s.total += s.best
			s.importance += s.bestImportance
			s.best, s.bestImportance, s.term = 0, 0, m.term
		}
		s.terms |= 1 << (m.term - 1) // 0 beyond maxOpen
		s.carried = s.carried || m.carries
		idf := m.idf
		if u.Counts.InName() {
			idf = m.nameIDF
		}
		s.best = max(s.best, m.weight*acc.weight(&p.Lengths[u.Doc], u.Counts, idf))
		s.bestImportance = max(s.bestImportance, m.importance)
	}
	m.rest = nil
}

// keep keeps the scores of the touched documents that meet all requirements, given the
// importance of all terms.
func (acc *accumulator) keep(q *parsedQuery, importance float64) {
	for _, doc := range acc.touched {
		s := &acc.states[doc-acc.first]
		if int(s.met) != len(q.required) || q.needsWords && !s.carried {
			continue
		}
		acc.eligible = append(acc.eligible, candidate{doc: doc, terms: s.terms, total: s.total + s.best,
			covered: (s.importance + s.bestImportance) / importance})
		acc.place[doc] = uint32(len(acc.eligible))
	}
}

// findTop finds the highest score of the documents that were kept.
func (acc *accumulator) findTop() {
	for i := range acc.eligible {
		if k := &acc.eligible[i]; acc.maxScore(k) > acc.top {
			acc.top = max(acc.top, acc.score(k))
		}
	}
}

// find returns a document that was kept, or nil.
func (acc *accumulator) find(doc uint32) *candidate {
	if at := acc.place[doc]; at > 0 {
		return &acc.eligible[at-1]
	}
	return nil
}

// score returns the score of a document for the whole query.
func (acc *accumulator) score(k *candidate) float64 {
	if k.score == 0 {
		k.score = finalScore(k.total, acc.naming(k.doc, inQuery), k.covered)
	}
	return k.score
}

// maxScore returns an upper bound of a document's score, so that most documents need no check of their names.
func (acc *accumulator) maxScore(k *candidate) float64 {
	return finalScore(k.total, acc.mostNaming(), k.covered)
}

func finalScore(total, naming, covered float64) float64 { return total * naming * math.Sqrt(covered) }

func (acc *accumulator) mostNaming() float64 {
	if acc.servers {
		return 1 + nameBonus + serverBonus
	}
	return 1 + nameBonus
}

// naming returns the factor for a document whose name, or server, the text of a scope has.
func (acc *accumulator) naming(doc uint32, s uint8) float64 {
	factor := 1 + float64(nameBonus*acc.nameCoverage(doc, s))
	if acc.servers && acc.isServerNamed(doc) {
		factor += serverBonus
	}
	return factor
}

// isServerNamed reports whether the query has the name of a document's server, or every word of it.
func (acc *accumulator) isServerNamed(doc uint32) bool {
	p := acc.x.PartOfDoc(doc)
	isNamed := func(id uint32) bool { return acc.mentions[p.FirstToken+id]&asWritten != 0 }
	words, fullName := p.ServerOf(doc - p.FirstDoc)
	if fullName != postings.NoToken && isNamed(fullName) {
		return true
	}
	return len(words) > 0 && !slices.ContainsFunc(words, func(id uint32) bool { return !isNamed(id) })
}

// nameCoverage returns the share of a document's name that is mentioned in a scope,
// weighted by idf.
func (acc *accumulator) nameCoverage(doc uint32, s uint8) float64 {
	covered, all := 0.0, 0.0
	p, tokens := acc.x.NameOf(doc)
	for _, id := range tokens {
		idf := acc.IDF(p.FirstToken + id)
		all += idf
		if acc.mentions[p.FirstToken+id]&s != 0 {
			covered += idf
		}
	}
	if all == 0 {
		return 0
	}
	return covered / all
}

// newBest returns an empty best of n, in the memory of the one before.
func (acc *accumulator) newBest(n int) *names.TopK[scored] {
	acc.best.Reset(n)
	return &acc.best
}

// compare puts the higher score first, and then the smaller name.
func (acc *accumulator) compare(a, b scored) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	}
	return acc.x.Compare(a.doc, b.doc)
}

// mayEnter reports whether a document with a score of at most most can be among the best.
func (acc *accumulator) mayEnter(most float64) bool {
	last, full := acc.best.Last()
	return !full || most >= last.score
}

// scoreWhole scores the whole query, and keeps the scores of all documents that meet
// its requirements.
func (acc *accumulator) scoreWhole(ctx context.Context, q *parsedQuery) error {
	err := acc.accumulate(ctx, q.terms, inQuery, func(importance float64) {
		acc.countRequired(q.required)
		acc.keep(q, importance)
	})
	if err != nil {
		return err
	}
	acc.findTop()
	for _, doc := range q.named {
		if k := acc.find(doc); k != nil {
			k.isAnswer = true
		}
	}
	return ctx.Err()
}

// scoreClauses scores each clause of a query on its own.
func (acc *accumulator) scoreClauses(ctx context.Context, q *parsedQuery) ([]clause, error) {
	if len(q.clauses) == 0 {
		return nil, nil
	}
	clauses := make([]clause, 0, len(q.clauses))
	most := 0.0
	for _, positions := range q.clauses {
		hits, err := acc.scoreClause(ctx, q, positions)
		if err != nil {
			return nil, err
		}
		if len(hits) == 0 {
			continue
		}
		c := clause{weight: hits[0].score, fit: acc.fit(len(clauses))}
		for _, h := range hits {
			c.fit[h.doc] = h.score / hits[0].score
			acc.find(h.doc).isAnswer = true
		}
		most = max(most, c.weight)
		clauses = append(clauses, c)
	}
	for i := range clauses {
		// The root lowers the weight of clauses such as greetings, whose answers are weak,
		// without silencing them.
		clauses[i].weight = math.Sqrt(clauses[i].weight / most)
	}
	return clauses, nil
}

func (acc *accumulator) scoreClause(ctx context.Context, q *parsedQuery, positions []int) ([]scored, error) {
	terms := acc.terms[:0]
	for _, at := range positions {
		terms = append(terms, q.terms[at])
	}
	acc.terms = terms
	defer acc.unmark(inClause)
	hits := acc.newBest(clauseHits)
	err := acc.accumulate(ctx, terms, inClause, func(importance float64) {
		for _, doc := range acc.touched {
			s := &acc.states[doc-acc.first]
			total, covered := s.total+s.best, (s.importance+s.bestImportance)/importance
			if acc.find(doc) != nil && acc.mayEnter(finalScore(total, acc.mostNaming(), covered)) {
				hits.Add(scored{doc: doc, score: finalScore(total, acc.naming(doc, inClause), covered)})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return hits.Sorted(), nil
}

// fit returns an empty fit for the nth clause.
func (acc *accumulator) fit(n int) map[uint32]float64 {
	if n == len(acc.clauseFits) {
		acc.clauseFits = append(acc.clauseFits, make(map[uint32]float64, clauseHits))
	}
	clear(acc.clauseFits[n])
	return acc.clauseFits[n]
}

// finalScore combines a document's scores for the whole query and for its clauses. A
// document that the query names is above all others.
func (acc *accumulator) finalScore(k *candidate, q *parsedQuery, clauses []clause) float64 {
	score := acc.score(k)
	if !k.isAnswer {
		return score
	}
	score += float64(acc.top * bonus(clauses, k.doc))
	if slices.Contains(q.named, k.doc) {
		score += acc.top * (1 + clauseBonus)
	}
	return score
}

func (acc *accumulator) choose(q *parsedQuery, clauses []clause, limit int) []scored {
	most := len(acc.eligible)
	if limit > 0 {
		most = min(limit, most)
	}
	seen := min(max(most, reordered), len(acc.eligible))
	candidates := acc.candidates(q, clauses, seen)
	places := newPlaces(acc.x, clauses, acc.sharesOf(q), acc.top)
	chosen := places.fill(candidates, seen)
	first := chosen[:min(reordered, len(chosen))]
	acc.preferOperation(q.operation, first)
	acc.preferDirection(first)
	acc.demoteDeprecated(q, first)
	return acc.withNeeded(q, chosen[:min(most, len(chosen))], limit)
}

// sharesOf returns the shares of the first terms in the query.
func (acc *accumulator) sharesOf(q *parsedQuery) []float64 {
	all := 0.0
	for i := range q.terms {
		all += float64(q.terms[i].importance * q.terms[i].weight)
	}
	shares := acc.shares[:min(maxOpen, len(q.terms))]
	for i := range shares {
		shares[i] = q.terms[i].importance * q.terms[i].weight / all
	}
	return shares
}

// candidates returns the documents with the highest scores, in order, among which are those for
// the first n places.
func (acc *accumulator) candidates(q *parsedQuery, clauses []clause, n int) []scored {
	least := acc.leastFor(n, clauses)
	candidates := acc.newBest(min(n+spare, len(acc.eligible)))
	for i := range acc.eligible {
		k := &acc.eligible[i]
		if most := acc.maxScore(k); k.isAnswer || most >= least && acc.mayEnter(most) {
			candidates.Add(scored{doc: k.doc, terms: k.terms, score: acc.finalScore(k, q, clauses)})
		}
	}
	return candidates.Sorted()
}

// leastFor is a score below which no document gets one of n places: a better one is always left,
// whatever words are open.
func (acc *accumulator) leastFor(n int, clauses []clause) float64 {
	if len(clauses) > 0 || n > maxDiversified || n >= len(acc.eligible) {
		return 0
	}
	best := acc.newBest(n)
	for i := range acc.eligible {
		if k := &acc.eligible[i]; acc.mayEnter(acc.maxScore(k)) {
			best.Add(scored{doc: k.doc, score: acc.score(k)})
		}
	}
	last, _ := best.Last()
	return last.score*nearlyEqual*nearlyEqual - acc.top*openBonus
}

func (acc *accumulator) hits(q *parsedQuery, chosen []scored) []keyword.Hit {
	hits := make([]keyword.Hit, len(chosen))
	for i, s := range chosen {
		evidence := acc.evidence(q, s.doc)
		sure := acc.confidence(q, s.doc, evidence)
		if answer := s.neededBy; answer > 0 {
			sure = max(sure, neededShare*acc.confidence(q, answer-1, acc.evidence(q, answer-1)))
		}
		hits[i] = keyword.Hit{Doc: acc.x.Position(s.doc), Score: s.score, Evidence: evidence, Confidence: sure}
	}
	return hits
}

// scoredAtOnce is the number of documents in a block. All terms go through one block before the next, so that the
// states of its documents stay in the processor's cache.
const scoredAtOnce = 4096

// accumulate adds up the scores of terms, one block of documents after another, and calls visit with the importance of
// all terms while the block has its states. It stops if ctx ends.
func (acc *accumulator) accumulate(ctx context.Context, terms []term, s uint8, visit func(importance float64)) error {
	importance, err := acc.findPostings(ctx, terms, s)
	defer clear(acc.pending) // it holds on to segments
	if err != nil {
		return err
	}
	for first := 0; first < acc.x.Numbers(); first += scoredAtOnce {
		if first > 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		acc.first = uint32(first)
		for i := range acc.pending {
			if len(acc.pending[i].rest) > 0 {
				acc.add(&acc.pending[i], uint32(first+scoredAtOnce))
			}
		}
		visit(importance)
		for _, doc := range acc.touched {
			acc.states[doc-acc.first] = docState{}
		}
		acc.touched = acc.touched[:0]
	}
	return nil
}

// findPostings finds the postings of what stands for terms, and returns the importance of the terms.
func (acc *accumulator) findPostings(ctx context.Context, terms []term, s uint8) (importance float64, err error) {
	acc.pending = acc.pending[:0]
	for i := range terms {
		w := &terms[i]
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		importance += float64(w.importance * w.weight)
		for _, m := range w.expansions {
			idf := acc.IDF(m.token)
			found := match{
				term: int16(i + 1), weight: w.weight * m.weight, idf: idf, nameIDF: acc.nameIDF(m.token, idf),
				importance: coveredImportance(w, m.weight), carries: !w.half,
			}
			scope := s
			if s == inQuery && m.weight >= weightSplit {
				scope |= asWritten
			}
			acc.x.EachShard(m.token, func(p *postings.Shard, id uint32) {
				acc.mark(p.FirstToken+id, scope)
				acc.servers = acc.servers || scope&asWritten != 0 && p.ServerWords.Has(id)
				acc.pending = append(acc.pending, pendingPostings{match: found, shard: p, rest: p.Postings(id)})
			})
		}
	}
	return importance, nil
}

// nameShare is the least idf of a word in a name, relative to its idf among names: what a tool is about may be
// a parameter of many others.
const nameShare = 0.5

// nameIDF returns the idf of a token in a name, given the one over all fields.
func (acc *accumulator) nameIDF(token uint32, idf float64) float64 {
	return max(idf, nameShare*float64(acc.x.NameIDF(token)))
}

// countRequired counts the requirements that each touched document meets, in order.
func (acc *accumulator) countRequired(required [][]uint32) {
	for i, tokens := range required {
		for _, token := range tokens {
			acc.x.EachShard(token, func(p *postings.Shard, id uint32) {
				posts := p.Postings(id)
				start, _ := slices.BinarySearchFunc(posts, acc.first, func(u postings.Posting, first uint32) int {
					return cmp.Compare(p.FirstDoc+u.Doc, first)
				})
				for _, u := range posts[start:] {
					at := p.FirstDoc + u.Doc - acc.first
					if at >= scoredAtOnce {
						break
					}
					if s := &acc.states[at]; s.term > 0 && int(s.met) == i {
						s.met++
					}
				}
			})
		}
	}
}

// findRequired returns the document of the same server that finds what one of the first answers requires, and
// that answer. ok is false if there is none, or if the query contains a value that may be the required one.
func (acc *accumulator) findRequired(q *parsedQuery, chosen []scored) (finder uint32, answer scored, ok bool) {
	if len(q.required) > 0 || slices.ContainsFunc(q.terms, givesValue) {
		return 0, answer, false
	}
	for _, candidate := range chosen[:min(len(chosen), needingPlaces)] {
		p := acc.x.PartOfDoc(candidate.doc)
		for _, kind := range p.NeedsOf(candidate.doc - p.FirstDoc) {
			finder, ok := acc.x.FinderOf(p.FirstToken+kind, candidate.doc)
			if ok && acc.confidence(q, candidate.doc, acc.evidence(q, candidate.doc)) >= neededFrom {
				return finder, candidate, true
			}
		}
	}
	return 0, answer, false
}

// withNeeded puts what an answer requires among the first answers, if it is not there. All
// answers are wanted if limit is not positive.
func (acc *accumulator) withNeeded(q *parsedQuery, chosen []scored, limit int) []scored {
	place := min(len(chosen), neededPlace)
	if limit > 0 && limit <= place {
		return chosen
	}
	finder, answer, ok := acc.findRequired(q, chosen)
	if !ok || slices.ContainsFunc(chosen[:min(len(chosen), neededPlace+1)], func(c scored) bool { return c.doc == finder }) {
		return chosen
	}
	chosen = slices.DeleteFunc(chosen, func(c scored) bool { return c.doc == finder })
	chosen = slices.Insert(chosen, place, scored{doc: finder, score: acc.neededScore(finder, answer), neededBy: answer.doc + 1})
	if limit > 0 {
		chosen = chosen[:min(limit, len(chosen))]
	}
	return chosen
}

// neededScore is the score of a document that finds what an answer requires.
func (acc *accumulator) neededScore(finder uint32, answer scored) float64 {
	score := neededShare * answer.score
	if k := acc.find(finder); k != nil {
		return max(score, acc.score(k))
	}
	return score
}

// confidence returns how sure it is that a document with some evidence is meant.
func (acc *accumulator) confidence(q *parsedQuery, doc uint32, evidence float64) float64 {
	if slices.Contains(q.named, doc) {
		return 1
	}
	c := calibration
	c.Offset += q.caution
	return c.Of(evidence, acc.x.Len(), acc.x.DescriptionWords())
}

// explainScore sets the score of a document that matches a term.
func (acc *accumulator) explainScore(e *keyword.Explanation, q *parsedQuery, clauses []clause, doc uint32) {
	k := acc.find(doc)
	if k == nil {
		e.Factors = append(e.Factors, keyword.Factor{Name: "lacks what is required", Value: 0})
		return
	}
	e.Score = acc.finalScore(k, q, clauses)
	if plainScore := acc.score(k); e.Score != plainScore {
		e.Factors = append(e.Factors, keyword.Factor{Name: "answers a clause of the query, or is named in it",
			Value: e.Score / plainScore})
	}
}

// explainTerm returns what matches a term in a document, and how much of the term's
// importance that covers.
func (acc *accumulator) explainTerm(w *term, doc uint32) (t keyword.TermExplanation, covered float64) {
	t = keyword.TermExplanation{Term: w.source, Required: w.required}
	for _, m := range w.expansions {
		lengths, p, ok := acc.x.Posting(m.token, doc)
		if !ok {
			continue
		}
		idf := acc.IDF(m.token)
		if p.Counts.InName() {
			idf = acc.nameIDF(m.token, idf)
		}
		score := w.weight * m.weight * acc.weight(lengths, p.Counts, idf)
		t.Matches = append(t.Matches, keyword.Match{Field: p.Counts.Fields(), Relation: m.relation, Word: acc.x.Text(m.token), Score: score})
		t.Score = max(t.Score, score)
		covered = max(covered, coveredImportance(w, m.weight))
	}
	slices.SortStableFunc(t.Matches, func(a, b keyword.Match) int { return cmp.Compare(b.Score, a.Score) })
	return t, covered
}

const (
	// neededFrom is the confidence of an answer from which what it requires is looked for, among
	// the first needingPlaces.
	neededFrom    = 0.4
	needingPlaces = 2
	// neededPlace is where the document that finds what is required is put at the latest, counted
	// from 0.
	neededPlace = 4
	// neededShare is its score and its confidence at the least, relative to the answer that
	// requires it.
	neededShare = 0.5
)
