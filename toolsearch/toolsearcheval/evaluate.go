// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/toolsearch/index"
)

// depth is how many results of each query are evaluated.
const depth = 10

// Measures are the quality of an index over some cases. Each is an average over the
// queries that it applies to, between 0 and 1, and 0 if it applies to none.
type Measures struct {
	// Queries is how many cases there were.
	Queries int `json:"queries"`
	// Recall1, Recall5 and Recall10 are the share of the relevant tools among the first 1,
	// 5 and 10 results.
	Recall1  float64 `json:"recall_at_1"`
	Recall5  float64 `json:"recall_at_5"`
	Recall10 float64 `json:"recall_at_10"`
	// NDCG10 is the normalised discounted cumulative gain of the first 10 results, a
	// relevant tool counting 1 (Järvelin and Kekäläinen, ACM TOIS 2002).
	NDCG10 float64 `json:"ndcg_at_10"`
	// MRR is the mean reciprocal rank of the first relevant result.
	MRR float64 `json:"mrr"`
	// NoMatch is the share of the queries without a relevant tool that got no result.
	NoMatch float64 `json:"no_match"`
	// Unanswerable is how many queries have no relevant tool.
	Unanswerable int `json:"unanswerable"`
}

// CaseResult is the outcome of one query.
type CaseResult struct {
	// Case is the graded query.
	Case Case
	// Results are the first 10 results.
	Results []index.Result
	// Rank is the place of the first relevant result, counted from 1. 0: none of the first
	// 10 results is relevant.
	Rank int
	// Missing are the relevant tools that are not among the first 5 results.
	Missing []string

	measures Measures // of this query alone
}

// Report is the outcome of an evaluation. Printing it gives a table by kind.
type Report struct {
	// Measures are those over all cases.
	Measures
	// Kinds are the measures over the cases of each Case.Kind.
	Kinds map[string]Measures
	// Cases are the outcomes in the order of the cases.
	Cases []CaseResult

	index index.Index
}

// Evaluate builds an index of the tools and runs the cases, one after another. The error
// is that of the index, or lists the mistakes in the cases: names of tools that are not in
// the catalogue, and repeated IDs or names.
func Evaluate(ctx context.Context, newIndex index.Func, tools []*schema.ToolInfo, cases []Case) (*Report, error) {
	if err := check(tools, cases); err != nil {
		return nil, err
	}
	x, err := newIndex(ctx, tools)
	if err != nil {
		return nil, fmt.Errorf("toolsearcheval: building the index: %w", err)
	}
	r := &Report{Cases: make([]CaseResult, 0, len(cases)), index: x}
	for _, c := range cases {
		results, err := x.Search(ctx, index.Query{Text: c.Query, Limit: depth})
		if err != nil {
			return nil, fmt.Errorf("toolsearcheval: searching %.80q: %w", c.Query, err)
		}
		r.Cases = append(r.Cases, grade(c, results))
	}
	r.average()
	return r, nil
}

// average computes the measures over all cases from those of each.
func (r *Report) average() {
	all, kinds := &sum{}, map[string]*sum{}
	for _, c := range r.Cases {
		all.add(c.measures)
		if kinds[c.Case.Kind] == nil {
			kinds[c.Case.Kind] = &sum{}
		}
		kinds[c.Case.Kind].add(c.measures)
	}
	r.Measures, r.Kinds = all.mean(), map[string]Measures{}
	for kind, s := range kinds {
		r.Kinds[kind] = s.mean()
	}
}

// grade measures one query.
func grade(c Case, results []index.Result) CaseResult {
	results = results[:min(depth, len(results))]
	out := CaseResult{Case: c, Results: results, measures: Measures{Queries: 1}}
	m := &out.measures
	if len(c.Relevant) == 0 {
		m.Unanswerable = 1
		if len(results) == 0 {
			m.NoMatch = 1
		}
		return out
	}
	total, ideal := float64(len(c.Relevant)), 0.0
	for i := range min(len(c.Relevant), depth) {
		ideal += gain(i)
	}
	for i, place := range places(c, results) {
		if place < 0 || place >= 5 {
			out.Missing = append(out.Missing, c.Relevant[i])
		}
		if place < 0 {
			continue
		}
		m.Recall10 += 1 / total
		if place < 5 {
			m.Recall5 += 1 / total
		}
		if place < 1 {
			m.Recall1 += 1 / total
		}
		m.NDCG10 += gain(place) / ideal
		if out.Rank == 0 || place < out.Rank-1 {
			out.Rank = place + 1
		}
	}
	if out.Rank > 0 {
		m.MRR = 1 / float64(out.Rank)
	}
	return out
}

// gain is what a relevant result is worth at a place, counted from 0.
func gain(place int) float64 { return 1 / math.Log2(float64(place+2)) }

// places are where the relevant tools, or equivalents of them, were found, from 0; -1:
// nowhere. A result counts for one relevant tool only, first of all for itself.
func places(c Case, results []index.Result) []int {
	out := make([]int, len(c.Relevant))
	for i := range out {
		out[i] = -1
	}
	for place, r := range results {
		i := slices.Index(c.Relevant, r.Name)
		if i < 0 {
			i = slices.IndexFunc(c.Relevant, func(name string) bool {
				return out[slices.Index(c.Relevant, name)] < 0 && slices.Contains(c.Equivalent[name], r.Name)
			})
		}
		if i >= 0 && out[i] < 0 {
			out[i] = place
		}
	}
	return out
}

// sum adds up measures.
type sum struct{ Measures }

func (s *sum) add(m Measures) {
	s.Queries += m.Queries
	s.Unanswerable += m.Unanswerable
	s.Recall1 += m.Recall1
	s.Recall5 += m.Recall5
	s.Recall10 += m.Recall10
	s.NDCG10 += m.NDCG10
	s.MRR += m.MRR
	s.NoMatch += m.NoMatch
}

func (s *sum) mean() Measures {
	m := s.Measures
	answerable := float64(max(1, m.Queries-m.Unanswerable))
	for _, v := range []*float64{&m.Recall1, &m.Recall5, &m.Recall10, &m.NDCG10, &m.MRR} {
		*v /= answerable
	}
	m.NoMatch /= float64(max(1, m.Unanswerable))
	return m
}

// check lists everything that is wrong: a misspelt name would count as a miss for ever.
func check(tools []*schema.ToolInfo, cases []Case) error {
	var wrong []error
	known := map[string]bool{}
	for i, t := range tools {
		if t == nil {
			wrong = append(wrong, fmt.Errorf("toolsearcheval: tools[%d] is nil", i))
			continue
		}
		known[t.Name] = true
	}
	ids := map[string]bool{}
	for _, c := range cases {
		if c.ID != "" && ids[c.ID] {
			wrong = append(wrong, fmt.Errorf("toolsearcheval: two cases have the ID %q", c.ID))
		}
		ids[c.ID] = true
		for _, problem := range problems(c, known) {
			wrong = append(wrong, fmt.Errorf("toolsearcheval: case %q (%.60q) %w", c.ID, c.Query, problem))
		}
	}
	return errors.Join(wrong...)
}

// problems are what is wrong with one case.
func problems(c Case, known map[string]bool) (wrong []error) {
	for i, name := range c.Relevant {
		if !known[name] {
			wrong = append(wrong, fmt.Errorf("names the tool %q, which is not in the catalogue", name))
		}
		if slices.Contains(c.Relevant[:i], name) {
			wrong = append(wrong, fmt.Errorf("names the tool %q twice", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Equivalent)) {
		if !slices.Contains(c.Relevant, name) {
			wrong = append(wrong, fmt.Errorf("has equivalents of %q, which is not among its relevant tools", name))
		}
		for _, other := range c.Equivalent[name] {
			if !known[other] {
				wrong = append(wrong, fmt.Errorf("names the tool %q, which is not in the catalogue", other))
			}
		}
	}
	return wrong
}

// Ranks is a text with a line for each case, in their order: the place of the first
// relevant result, the case's ID, and its query. A dash means that no relevant tool is
// among the first 10 results. A case without a relevant tool has "none" if it got no
// result, as it should, and "some" otherwise.
func (r *Report) Ranks() string {
	var b strings.Builder
	for _, c := range r.Cases {
		place := fmt.Sprint(c.Rank)
		switch {
		case len(c.Case.Relevant) == 0 && len(c.Results) == 0:
			place = "none"
		case len(c.Case.Relevant) == 0:
			place = "some"
		case c.Rank == 0:
			place = "-"
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%4s  %-14s %s", place, c.Case.ID, oneLine(c.Case.Query)), " ") + "\n")
	}
	return b.String()
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
