// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
)

// scorer is a way to rank documents.
type scorer struct {
	name string
	// newSearch also returns how many words a description has, if the scorer asks for that.
	newSearch func([]keyword.Doc) (find search, words float64)
}

type search func(text string) ([]keyword.Hit, error)

var scorers = []scorer{
	{"bm25", func(docs []keyword.Doc) (search, float64) {
		x := bm25.New(analysis.ReadLexicon(analysis.Lists()), docs)
		return func(text string) ([]keyword.Hit, error) { return x.Search(context.Background(), text, 1) }, x.DescriptionWords()
	}},
	{"keyword", func(docs []keyword.Doc) (search, float64) {
		x := keyword.New(docs)
		return func(text string) ([]keyword.Hit, error) {
			return x.Search(context.Background(), keyword.Parse(text), 1)
		}, 0
	}},
}

// outcome says what is known of the first answer to a request.
type outcome int

const (
	right      outcome = iota // to a request of the catalogue's own field
	outOfScope                // to a foreign request, which no tool serves
	silent                    // no answer to a foreign request, as it should be
)

// answer is the first answer to a request.
type answer struct {
	outcome
	catalogue, origin, asker string
	heldout                  bool
	size                     string // how large a sample of the catalogue was asked
	features                 []float64
	weight                   float64 // in a fit
	confidence               float64 // the scorer's own, or by a fit without this origin; 0 where there is no answer
}

// The most that one catalogue is asked.
const (
	mostOwn     = 300
	mostForeign = 150 // from each field
	sampled     = 60  // tools in all samples of one size
)

// byName is the size of a whole catalogue of which nothing is known but names.
const byName = "names"

var sampleSizes = []int{1, 3, 10, 30, 100}

// collectAnswers asks every catalogue. The samples are the same in each run.
func collectAnswers(s scorer, catalogues []catalog) (answers []*answer, err error) {
	for i := range catalogues {
		a := asker{scorer: s, c: &catalogues[i], random: rand.New(rand.NewPCG(1, uint64(i)))}
		if a.findStrangers(catalogues); len(a.strangers) == 0 {
			continue
		}
		a.collect(catalogues[i].docs, "all", a.some(len(a.c.queries), mostOwn), a.some(len(a.strangers), len(a.strangers)))
		for _, n := range sampleSizes {
			if 2*n <= len(a.c.docs) {
				for range max(2, sampled/n) {
					a.askSample(n)
				}
			}
		}
		a.collect(onlyNames(catalogues[i].docs), byName, a.some(len(a.c.queries), mostOwn), a.some(len(a.strangers), len(a.strangers)))
		if a.err != nil {
			return nil, a.err
		}
		answers = append(answers, a.answers...)
	}
	return answers, nil
}

func onlyNames(docs []keyword.Doc) []keyword.Doc {
	named := make([]keyword.Doc, len(docs))
	for i, d := range docs {
		named[i] = keyword.Doc{Name: d.Name, Server: d.Server}
	}
	return named
}

type asker struct {
	scorer
	c         *catalog
	random    *rand.Rand
	strangers []stranger
	answers   []*answer
	err       error
}

// stranger is a request of another field.
type stranger struct {
	query
	from string
}

// some are at most most numbers below n, in random order.
func (a *asker) some(n, most int) []int { return a.random.Perm(n)[:min(n, most)] }

func (a *asker) findStrangers(catalogues []catalog) {
	for _, other := range catalogues {
		if !slices.Contains(foreign[other.name], a.c.name) || other.heldout != a.c.heldout && (other.heldout || other.origin == "own") {
			continue
		}
		for _, i := range a.some(len(other.queries), mostForeign) {
			if q := other.queries[i]; isRequest(q.Query) {
				a.strangers = append(a.strangers, stranger{q, other.name})
			}
		}
	}
}

// isRequest reports whether a text says enough to tell what it is about: anybody has
// something to "search" for.
func isRequest(text string) bool {
	if r, _ := utf8.DecodeRuneInString(text); r >= 0x2e80 {
		return utf8.RuneCountInString(text) >= 6
	}
	return len(strings.Fields(text)) >= 3
}

// askSample asks n tools, among which are those that some of the own requests need.
func (a *asker) askSample(n int) {
	var docs []keyword.Doc
	var own []int
	in := map[string]bool{}
	add := func(d keyword.Doc) {
		if !in[d.Name] {
			in[d.Name] = true
			docs = append(docs, d)
		}
	}
	for _, i := range a.some(len(a.c.queries), max(1, n/2)) {
		q := a.c.queries[i]
		if len(docs)+len(q.Relevant) > n {
			continue
		}
		own = append(own, i)
		for _, d := range a.c.docs {
			if slices.Contains(q.Relevant, d.Name) {
				add(d)
			}
		}
	}
	for len(docs) < n {
		add(a.c.docs[a.random.IntN(len(a.c.docs))])
	}
	a.collect(docs, fmt.Sprint(n), own, a.some(len(a.strangers), max(n, 5)))
}

// site is what a scorer makes of documents.
type site struct {
	docs  []keyword.Doc
	find  search
	words float64
}

func (a *asker) collect(docs []keyword.Doc, size string, own, strangers []int) {
	s := site{docs: docs}
	s.find, s.words = a.newSearch(docs)
	for _, i := range own {
		a.grade(s, &answer{size: size, asker: a.c.name, outcome: right}, a.c.queries[i])
	}
	for _, i := range strangers {
		a.grade(s, &answer{size: size, asker: a.strangers[i].from, outcome: outOfScope}, a.strangers[i].query)
	}
}

// grade keeps an answer, unless it is wrong and the request is of the catalogue's own.
func (a *asker) grade(s site, x *answer, q query) {
	x.catalogue, x.origin, x.heldout = a.c.name, a.c.origin, a.c.heldout
	hits, err := s.find(q.Query)
	switch {
	case err != nil:
		a.err = err
		return
	case len(hits) == 0 && x.outcome == right, len(hits) > 0 && x.outcome == right && !q.isAnsweredBy(s.docs[hits[0].Doc].Name):
		return
	case len(hits) == 0:
		x.outcome = silent
	default:
		x.features, x.confidence = features(hits[0].Evidence, len(s.docs), s.words), hits[0].Confidence
	}
	a.answers = append(a.answers, x)
}
