// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math"
	"slices"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/postings"
	"github.com/einolean/einolean/internal/keyword/operations"
)

const (
	nameEvidence   = 1   // for a name whose every word is in the query
	serverEvidence = 0.3 // for a document whose server the query names: most requests that it cannot serve do so as well
)

// A document whose operation is known and is not the requested one is probably not meant: who asks to delete a
// channel is not served by the tools that list channels and create them. The factors are for its evidence. A request
// to read says less, as many words for reading are used otherwise. Their logarithms times calibration.Evidence, -2 and
// -1, are about what fits over the tuning halves give for the two cases.
const (
	otherThanWrite = 0.55
	otherThanRead  = 0.75
)

// calibration was fitted to the requests of command confidence and to the tuning halves of all pairs of languages
// that `make recall` lists, together.
var calibration = keyword.Calibration{Evidence: 3.3, Size: -8.2, Length: -1.7, Offset: 9.5}

const (
	// translationCaution is for a query that was translated: the lists know only some of the words that tools may use.
	translationCaution = 1.2
	// inflection is for Japanese: without its endings and particles a request has few characters, and
	// another one shares some of them.
	inflection = -3
)

// relationWeight returns the weight of a match by its relation, relative to the word itself. A similar word may
// mean something else in the query.
func relationWeight(relation string) float64 {
	switch relation {
	case partOf:
		return 0.5
	case relatedTo:
		return 0.6
	case synonymOf:
		return 0.7
	case translationOf:
		return 0.9
	}
	return 1
}

const (
	// slack is added to the importance of a query, in words that no document has: what the rest
	// of a short query says tells less against a document.
	slack = 1.5
	// matching and breadth are exponents of what matches, and of the length of the query, relative
	// to what it says in all. At 1, a word that a document lacks would cost no more in a long query
	// than in a short one; at 0, a long query would be unsure of every document.
	matching = 0.75
	breadth  = 0.7
	// agreement is the exponent of the number of terms that match: one rare word may match by chance, several
	// hardly do.
	agreement = 0.45
)

// proof is what the terms of a query say for a document: the scores of their matches, how much
// of their importance the matches cover, and how much the rest says against it. all is the
// importance of every term, and matches the number of terms that match, each by its covered share.
type proof struct{ score, covered, missing, all, matches float64 }

func (p *proof) add(other proof) {
	p.score += other.score
	p.covered += other.covered
	p.missing += other.missing
	p.all += other.all
	p.matches += other.matches
}

// evidence grows with what matches, and falls with what the rest of the query says against the
// document; rarest is the importance of a word that no document has.
func (p *proof) evidence(rarest float64) float64 {
	if p.covered == 0 {
		return 0
	}
	found := math.Pow(p.score*p.covered, matching) * math.Pow(p.matches, agreement)
	return found * math.Pow(float64(slack*rarest)+p.all, breadth) / (p.covered + p.missing)
}

// evidence returns how much a query speaks for a document: all of it, or one of its clauses.
func (acc *accumulator) evidence(q *parsedQuery, doc uint32) float64 {
	total := proof{missing: q.foreign}
	proofs := postings.Grown(acc.proofs, len(q.terms))
	acc.proofs, acc.countedTokens = proofs, acc.countedTokens[:0]
	for i := range q.terms {
		proofs[i] = acc.proofOf(&q.terms[i], doc)
		total.add(proofs[i])
	}
	nameFactor := 1 + float64(nameEvidence*acc.nameCoverage(doc, inQuery))
	if acc.servers && acc.isServerNamed(doc) {
		nameFactor += serverEvidence
	}
	rarest := keyword.RarestIDF(acc.x.Len())
	most := total.evidence(rarest)
	for i, positions := range q.clauses {
		part := proof{missing: q.foreignIn[i]}
		for _, at := range positions {
			part.add(proofs[at])
		}
		// A request of several acts is meant for a tool that does one of them.
		most = max(most, part.evidence(rarest))
	}
	return most * nameFactor * operationFactor(q.operation, acc.operationOf(doc))
}

// operationFactor is the factor for the evidence of a document with an operation.
func operationFactor(requested, operation operations.Operation) float64 {
	switch {
	case requested == operations.Unknown, operation == operations.Unknown, requested == operation:
		return 1
	case requested != operations.Read:
		return otherThanWrite
	case operation == operations.Run:
		return 1 // to run something is how many tools read
	}
	return otherThanRead
}

// proofOf returns what a term says for a document: nothing, if a term before it said the same in another
// word or language.
func (acc *accumulator) proofOf(w *term, doc uint32) proof {
	score, cover, token := acc.matchOf(w, doc)
	if token != postings.NoToken {
		if slices.Contains(acc.countedTokens, token) {
			return proof{}
		}
		acc.countedTokens = append(acc.countedTokens, token)
	}
	cover *= w.significance.found
	all := float64(w.importance * w.weight * w.significance.found)
	p := proof{score: float64(w.significance.found * score), covered: cover,
		missing: max(0, all-cover) * w.significance.missing, all: all}
	if cover > 0 {
		p.matches = cover / all
	}
	return p
}

// matchOf returns how much the matches of a term in a document say, how much of its importance they cover,
// and the token that says most, or if none matches, the first that stands for the term.
func (acc *accumulator) matchOf(w *term, doc uint32) (score, cover float64, token uint32) {
	token = postings.NoToken
	for i := range w.expansions {
		m := &w.expansions[i]
		if token == postings.NoToken {
			token = m.token
		}
		lengths, p, ok := acc.x.Posting(m.token, doc)
		if !ok {
			continue
		}
		relevance := relationWeight(m.relation)
		if s := relevance * w.weight * m.weight * acc.weight(lengths, p.Counts, acc.IDF(m.token)); s > score {
			score, token = s, m.token
		}
		cover = max(cover, relevance*coveredImportance(w, m.weight))
	}
	return score, cover, token
}
