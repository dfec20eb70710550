// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package search searches hidden tools: what a model asks for goes in, and the text that it reads comes out.
// It knows no agent: whom it may tell of what, it asks the functions that it is given.
package search

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

// Tools are hidden tools with their indexes, and found by name. They are immutable.
type Tools struct {
	*catalog.Set
	*Indexes
}

// Ranks are the indexes of tools, shared by sets of tools that look the same.
type Indexes struct {
	tools      *catalog.Set
	keyword    index.Index           // Eino's score, for the answer when the index fails
	index      index.Index           // set by Make
	making     sync.Once             // the function works, and only runs with these tools wait for it
	broken     atomic.Pointer[error] // why it failed, once it has: then index is Eino's score
	building   sync.Once
	confidence func() rater // rates results without a confidence
}

// rater is BM25 as package index has it: it knows how likely it is that a tool serves a query.
type rater interface {
	RateUnknown(ctx context.Context, _ catalog.Door, text string, found []index.Result) []index.Result
}

// NewRanks are the indexes of tools like these.
func NewRanks(tools *catalog.Set) *Indexes {
	ctx := tools.Indexing(context.Background())
	specified, _ := index.Keyword(ctx, tools.Infos())
	return &Indexes{tools: tools, keyword: specified, confidence: sync.OnceValue(func() rater {
		x, _ := index.BM25(ctx, tools.Infos())
		return x.(rater)
	})}
}

// Make makes the index, once. If it cannot be made, the specified score answers, and each search
// reports why.
func (k *Indexes) BuildIndex(ctx context.Context, f index.Func) {
	k.making.Do(func() {
		if k.index = k.keyword; f == nil || k.tools.Len() == 0 {
			return
		}
		x, err := safe.NonNil("the function", func() (index.Index, error) { return f(k.tools.Indexing(ctx), k.tools.Infos()) })
		if err != nil {
			k.broken.Store(&err)
			return
		}
		k.index = x
	})
}

// Err is why the index could not be made.
func (k *Indexes) Err() error {
	if err := k.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// Build makes the index ready in the background, once.
func (k *Indexes) WarmUp() {
	k.building.Do(func() { go func(x index.Index) { _ = catalog.Build(x) }(k.index) })
}

// IndexName is the type of the index.
func (k *Indexes) IndexName() string { return nameOf(k.index) }

func nameOf(x index.Index) string { return strings.TrimPrefix(fmt.Sprintf("%T", x), "*") }

// ask fails only with the context's error: if the index fails, the specified score
// answers.
func (k *Indexes) query(ctx context.Context, q index.Query, t *trace) ([]index.Result, error) {
	var results []index.Result
	err := k.Err()
	if err == nil {
		results, err = searchIndex(ctx, k.index, q)
	}
	if err == nil || ctx.Err() != nil {
		if t != nil {
			t.answered(k.index, false)
		}
		return results, ctx.Err()
	}
	catalog.Failed(ctx, err)
	if t != nil {
		t.answered(k.keyword, true)
	}
	return k.keyword.Search(ctx, q)
}

// searchIndex asks an index. Its numbers become finite here: events, logs and comparisons
// rely on that.
func searchIndex(ctx context.Context, x index.Index, q index.Query) ([]index.Result, error) {
	found, err := safe.Value("toolsearch: the index", func() ([]index.Result, error) { return x.Search(ctx, q) })
	if slices.ContainsFunc(found, func(r index.Result) bool { return r != finite(r) }) {
		found = slices.Clone(found)
		for i, r := range found {
			found[i] = finite(r)
		}
	}
	return found, err
}

// finite returns a result with the nearest score that is a number, and a confidence from 0 to
// 1. Anything else becomes 0, which is the lowest score and an unknown confidence.
func finite(r index.Result) index.Result {
	number := func(x, least, most float64) float64 {
		if math.IsNaN(x) {
			return 0
		}
		return min(max(x, least), most)
	}
	return index.Result{Name: r.Name, Score: number(r.Score, -math.MaxFloat64, math.MaxFloat64), Confidence: number(r.Confidence, 0, 1)}
}

// score is Eino's score, which also finds names; empty if it could not be built.
func (k *Indexes) score() *keyword.Index {
	if x, err := k.tools.Score(); err == nil {
		return x
	}
	return keyword.New(nil)
}

// at is the tool at a position of the score.
func (t Tools) at(doc int) *catalog.Tool { return t.Lookup(t.score().Name(doc)) }

// Resolve finds the tool that a model means by a name: the name itself, or, if only one tool
// matches, the name in another case or with other separators. It considers only tools that may
// be found; nil if there is none.
func (t Tools) Resolve(name string, may func(*catalog.Tool) bool) *catalog.Tool {
	for _, n := range []string{name, toolnames.Unescape(name)} {
		if e := t.Lookup(n); e != nil && may(e) {
			return e
		}
	}
	if doc, ok := t.score().Resolve(name, func(doc int) bool { return may(t.at(doc)) }); ok {
		return t.at(doc)
	}
	return nil
}

// maxNear bounds a suggested name, in bytes. Providers refuse longer ones.
const maxNear = 256

// Near returns the names closest to an unknown one, among tools that may be found.
func (t Tools) Near(name string, limit int, may func(*catalog.Tool) bool) []string {
	for ask := 4 * limit; ; ask = 0 {
		var names []string
		docs := t.score().Suggest(name, ask)
		for _, doc := range docs {
			if e := t.at(doc); len(names) < limit && len(e.Info.Name) <= maxNear && may(e) {
				names = append(names, e.Info.Name)
			}
		}
		if len(names) == limit || len(docs) < ask || ask == 0 {
			return names
		}
	}
}
