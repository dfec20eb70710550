// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package search finds hidden tools: by words, by names, or by a rule about names. It returns plain results: what a model
// reads of them is up to package protocol. What the model may see is up to the caller, who implements Access.
package search

import (
	"context"
	"slices"
	"strings"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

// The limits of one call. The rest is ignored, and the result says so.
const (
	maxResults = 100  // tools per query: loaded tools are part of every later request
	maxNames   = 100  // names in one call, for the same reason
	maxQueries = 20   // queries in one call
	maxWords   = 1000 // words in one query
)

// MaxNear is the largest number of similar names in an answer.
const MaxNear = 5

// Searcher searches the hidden tools for one call.
type Searcher struct {
	Tools   Tools
	Limits  Limits
	Access  Access
	Missing []string                       // servers whose tools are unavailable now
	Report  func(einolean.Search, []error) // is called for each search, with the errors of the index; may be nil

	trace *trace // of the search that runs; nil if nobody listens
}

// Limits are the configured limits of every search.
type Limits struct {
	MaxResults       int     // tools for a query that gives no number
	MinConfidence    float64 // 0 means none
	MinRelativeScore float64 // of the best score, for a query that gives no number; 0 means none
}

// Access is what the caller of a search may see.
type Access interface {
	MayFind(*catalog.Tool) bool // the search may return the tool
	MayHint(*catalog.Tool) bool // a hint may mention the tool, which nobody asked for by its name
	MayKnow(name string) bool   // the caller may know of the tool, even where it may not find it
	Visible() toolnames.Set     // tools that the model sees already
	ListedNames() []string      // names that the model may read
}

// Query is what a call of a search tool asks for.
type Query struct {
	Texts []string // each holds words, or names after "select:"
	Limit int      // tools for each text; 0 or less means Limits.MaxResults
}

// MaxResults returns how many tools one query may return, given the number for queries that ask for none.
func MaxResults(defaultResults int) int { return max(maxResults, defaultResults) }

// Find runs a query, and reports it. All tools that it returns fit into the space of one answer. Its only error is the
// context's.
func (s Searcher) Find(ctx context.Context, q Query, space Space) (Result, error) {
	ctx, s.trace = s.startTrace(ctx)
	r, err := s.Search(ctx, q)
	r.fit(space)
	r.MissingServers = s.missingServers(&r, q.Texts)
	if err == nil {
		s.trace.report(strings.Join(q.Texts, "\n"), &r)
	}
	return r, err
}

// Search runs a query without limiting the size of the result or reporting it. Its only error is the context's.
func (s Searcher) Search(ctx context.Context, q Query) (Result, error) {
	r := Result{visible: s.Access.Visible(), isRated: s.Limits.MinConfidence > 0}
	texts, limit, minRelativeScore := q.Texts, q.Limit, 0.0
	if limit <= 0 {
		limit, minRelativeScore = s.Limits.MaxResults, s.Limits.MinRelativeScore
	}
	if len(texts) > maxQueries {
		texts = texts[:maxQueries]
		r.exceed(QueryLimit, maxQueries)
	}
	for _, text := range texts {
		if err := s.searchText(ctx, text, limit, minRelativeScore, &r); err != nil {
			return r, err
		}
	}
	return r, nil
}

// searchText adds what one text of a query finds.
func (s Searcher) searchText(ctx context.Context, text string, limit int, minRelativeScore float64, r *Result) error {
	names, words := parseText(text, s.mayFindName)
	if names != nil {
		s.selectByName(names, r)
		return ctx.Err()
	}
	if words = firstWords(words, maxWords); words == "" {
		return ctx.Err()
	}
	r.Requests++
	atMost := MaxResults(s.Limits.MaxResults)
	limited := ranking{visible: r.visible, limit: min(limit, atMost+1)} // one more, to see whether there are more
	ranked, err := s.rank(ctx, words, limited)
	if ranked.unseen > atMost {
		ranked.hits = ranked.hits[:len(ranked.hits)-1]
		r.exceed(ResultLimit, atMost)
	}
	s.explain(words, ranked.hits, maxTerms-len(r.Hits))
	if s.Limits.MinConfidence > 0 && s.allBelowConfidence(ranked.hits) {
		r.LowConfidence = append(r.LowConfidence, ranked.hits[:min(len(ranked.hits), MaxNear)]...)
		r.Languages = s.languages(words)
		return err
	}
	r.addHits(dropFarBehind(ranked.hits, minRelativeScore))
	if err == nil && len(r.Hits) == 0 {
		r.Languages = s.languages(words)
		r.Unmatched = s.unmatched(ctx, words)
		r.Near = s.suggest(words)
		r.HasList = len(s.Access.ListedNames()) > 0
	}
	return err
}

// rank asks the index, and asks for more results while too few of them may be returned. Results of the first answer keep
// their places: an index may rank a longer list in another order.
func (s Searcher) rank(ctx context.Context, words string, ranked ranking) (ranking, error) {
	for limit := ranked.limit; ; limit *= 4 {
		results, err := s.Tools.query(ctx, index.Query{Text: words, Limit: limit}, s.trace)
		if err != nil {
			return ranking{}, err
		}
		if s.Limits.MinConfidence > 0 {
			results = s.Tools.confidence().RateUnknown(ctx, catalog.InternalOnly{}, words, results)
		}
		ranked.hits = slices.Grow(ranked.hits, min(ranked.limit, len(results)))
		for _, x := range results {
			t := s.Tools.Lookup(x.Name)
			if !ranked.isFull() && t != nil && x.Score >= 0 && s.Access.MayFind(t) && !containsTool(ranked.hits, t) {
				ranked.add(Hit{Tool: t, Score: x.Score, confidence: x.Confidence})
			}
		}
		if ranked.isFull() || len(results) < limit {
			return ranked, nil
		}
	}
}

// ranking collects the hits of one text. Tools that the model already sees keep their rank but do not count towards the
// limit.
type ranking struct {
	visible toolnames.Set
	limit   int // of hits that the model does not see
	hits    []Hit
	unseen  int // hits that the model does not see
}

func (k *ranking) isFull() bool { return k.unseen == k.limit }

func (k *ranking) add(x Hit) {
	if !k.visible[x.Info.Name] {
		k.unseen++
	} else if len(k.hits) >= k.limit {
		return
	}
	k.hits = append(k.hits, x)
}

// dropFarBehind returns the hits without those whose score is below a share of the best one's.
func dropFarBehind(hits []Hit, share float64) []Hit {
	best := 0.0
	for _, x := range hits {
		best = max(best, x.Score)
	}
	return slices.DeleteFunc(hits, func(x Hit) bool { return x.Score < share*best })
}

// allBelowConfidence reports whether a search found tools, and each with a confidence that is known and too low.
func (s Searcher) allBelowConfidence(hits []Hit) bool {
	return len(hits) > 0 && !slices.ContainsFunc(hits, func(x Hit) bool {
		return x.confidence == 0 || x.confidence >= s.Limits.MinConfidence
	})
}

// explain adds to the first hits, at most so many, the terms that they match, if the search is reported.
func (s Searcher) explain(words string, hits []Hit, count int) {
	if s.trace == nil {
		return
	}
	for i := range min(len(hits), max(count, 0)) {
		hits[i].terms = index.Explain(s.Tools.index, index.Query{Text: words}, hits[i].Info.Name)
	}
}

// prefetchMinConfidence is the confidence in the best hit from which a text asks for tools. It is low: an unneeded tool
// costs a few hundred tokens, a missing one a model call.
const prefetchMinConfidence = 0.02

// SearchForPrefetch returns the tools that a text probably asks for, at most count, best first. It returns none if no
// confidence is high enough or, with MinConfidence, if the text is small talk.
func (s Searcher) SearchForPrefetch(ctx context.Context, text string, count int) []Hit {
	if text = firstWords(text, maxWords); text == "" {
		return nil
	}
	ranked, err := s.rank(ctx, text, ranking{limit: count})
	isLikely := func(x Hit) bool {
		return x.confidence >= prefetchMinConfidence && (s.Limits.MinConfidence <= 0 ||
			s.Tools.confidence().IsRequestFor(catalog.InternalOnly{}, text, x.Info.Name))
	}
	if err != nil || !slices.ContainsFunc(ranked.hits, isLikely) {
		return nil
	}
	return ranked.hits
}

// Rule is a search for all tools that a rule selects.
type Rule struct {
	Text    string // as the model wrote it
	Words   string // words in it, for suggestions where it selects nothing
	Selects func(*catalog.Tool) bool
}

// FindByRule returns the tools that a rule selects, in the order of the catalog, and reports the search. All of them fit
// into the space of one answer. Its only error is the context's.
func (s Searcher) FindByRule(ctx context.Context, rule Rule, space Space) (Result, error) {
	_, s.trace = s.startTrace(ctx)
	r := Result{visible: s.Access.Visible(), Requests: 1}
	atMost := MaxResults(s.Limits.MaxResults)
	selected := ranking{visible: r.visible, limit: atMost}
	for t := range s.Tools.All() {
		if !rule.Selects(t) || !s.Access.MayFind(t) {
			continue
		}
		if selected.isFull() && !selected.visible[t.Info.Name] {
			r.exceed(ResultLimit, atMost)
			break
		}
		selected.add(Hit{Tool: t})
	}
	r.Hits = selected.hits
	r.fit(space)
	r.MissingServers = s.missingServers(&r, []string{rule.Text})
	if !r.HasFound() {
		r.Near, r.Languages = s.suggest(rule.Words), s.languages(rule.Words)
	}
	s.trace.report(rule.Text, &r)
	return r, ctx.Err()
}
