// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file says what an index is, and holds the specified one.

import (
	"context"
	"strings"
	"sync"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/keyword"
	"github.com/leanctx/leanctx/internal/safe"
)

// Index ranks the tools it was made of. It must be safe for concurrent use.
type Index interface {
	// Search returns the tools that fit, best first, without duplicates. An error, as
	// well as a panic, makes the specified keyword score answer instead.
	Search(ctx context.Context, q Query) ([]Result, error)
}

// Query is what an index is asked.
type Query struct {
	// Text is what the model wrote: words, of which those with a leading + are required.
	Text string
	// Limit is the most results wanted. Zero or less: all.
	Limit int
}

// Result is one ranked tool.
type Result struct {
	// Name is the tool's name.
	Name string
	// Score is higher for a better fit; its scale is the index's own.
	Score float64
}

// IndexFunc makes an index of tools. It may keep the slice and must not change the
// tools. Its error becomes New's. Those of this package return at once and build at the
// first search, which takes that much longer; searches that come meanwhile wait for it.
type IndexFunc func(ctx context.Context, tools []*schema.ToolInfo) (Index, error)

// Explainer is what an Index can also be: it says why a tool scored what it did, as
// text for a person.
type Explainer interface {
	// Explain returns "" for a tool that the index does not know.
	Explain(q Query, name string) string
}

// KeywordIndex is the specified score, and gives the same answers as Eino on every
// input. For each keyword a tool gets the highest of 10 (a part of its name equals the
// keyword), 5 (a part contains it), 3 (the name contains it) and 2 (the description
// contains it); the sum over the keywords ranks the tools, and names break ties. It
// ignores case. Names are split at underscores and at camelCase boundaries. A keyword
// with a leading + must match.
func KeywordIndex(_ context.Context, tools []*schema.ToolInfo) (Index, error) {
	return keywordIndex{newWords(tools)}, nil
}

// atFirstUse builds a value when it is first wanted, once for all who want it, so that a
// middleware whose tools nobody searches costs next to nothing. A panic is an error.
func atFirstUse[T any](build func() T) func() (T, error) {
	return sync.OnceValues(func() (T, error) {
		return safe.Value("toolsearch: building the index", func() (T, error) { return build(), nil })
	})
}

// builder is an index that is built when it is first asked. A time limit for searching
// begins after that.
type builder interface{ build() error }

func build(x Index) error {
	if b, ok := x.(builder); ok {
		return b.build()
	}
	return nil
}

// wordIndex is the specified score over tools, and what is known of their names.
type wordIndex struct {
	get func() (*keyword.Index, error)
}

func newWords(tools []*schema.ToolInfo) wordIndex {
	return wordIndex{atFirstUse(func() *keyword.Index { return keyword.New(documents(tools, false)) })}
}

// index is empty where it could not be built.
func (w wordIndex) index() *keyword.Index {
	if x, err := w.get(); err == nil {
		return x
	}
	return keyword.New(nil)
}

type keywordIndex struct{ wordIndex }

func (k keywordIndex) build() error {
	_, err := k.get()
	return err
}

func (k keywordIndex) Search(ctx context.Context, q Query) ([]Result, error) {
	x, err := k.get()
	if err != nil {
		return nil, err
	}
	hits, err := x.Search(ctx, keyword.Parse(q.Text), q.Limit)
	if err != nil {
		return nil, err
	}
	return results(hits, x.Name), nil
}

func (k keywordIndex) Explain(q Query, name string) string {
	x := k.index()
	doc, ok := x.Lookup(name)
	if !ok {
		return ""
	}
	return x.Explain(keyword.Parse(q.Text), doc).String()
}

func (k keywordIndex) terms(q Query, name string) []leanctx.Term {
	x := k.index()
	doc, ok := x.Lookup(name)
	if !ok {
		return nil
	}
	return eventTerms(x.Explain(keyword.Parse(q.Text), doc))
}

// eventTerms are the terms of a score that count, for an event.
func eventTerms(x keyword.Explanation) []leanctx.Term {
	var terms []leanctx.Term
	for _, t := range x.Terms {
		if len(t.Matches) > 0 {
			terms = append(terms, leanctx.Term{Text: t.Term, Field: t.Matches[0].Field, Relation: t.Matches[0].Relation, Score: t.Score})
		}
	}
	return terms
}

func results(hits []keyword.Hit, name func(int) string) []Result {
	out := make([]Result, len(hits))
	for i, h := range hits {
		out[i] = Result{name(h.Doc), h.Score}
	}
	return out
}

// server is the part of an MCP style name (server__tool) before the first double
// underscore; "" where there is none.
func server(name string) string {
	s, rest, ok := strings.Cut(name, "__")
	if !ok || rest == "" {
		return ""
	}
	return s
}
