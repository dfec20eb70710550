// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

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

// Tools are hidden tools with their indexes. They are immutable.
type Tools struct {
	*catalog.Set
	*Indexes
}

// Indexes are the indexes of tools. Sets of tools that look the same share them.
type Indexes struct {
	tools      *catalog.Set
	keyword    index.Index           // Eino's score, which answers if the index fails
	index      index.Index           // set by BuildIndex
	buildOnce  sync.Once             // only runs with these tools wait for the user's function
	buildError atomic.Pointer[error] // nil unless the function has failed: then index is Eino's score
	warmUpOnce sync.Once
	confidence func() rater // rates results without a confidence
}

// rater is the BM25 index of package index: it estimates how likely it is that a tool serves a query, and tells requests
// from small talk.
type rater interface {
	IsRequestFor(_ catalog.InternalOnly, text, name string) bool
	RateUnknown(ctx context.Context, _ catalog.InternalOnly, text string, found []index.Result) []index.Result
}

// NewIndexes returns the indexes of tools. BuildIndex must be called before the first search.
func NewIndexes(tools *catalog.Set) *Indexes {
	ctx := tools.IndexContext(context.Background())
	keywordIndex, _ := index.Keyword(ctx, tools.Infos())
	return &Indexes{tools: tools, keyword: keywordIndex, confidence: sync.OnceValue(func() rater {
		x, _ := index.BM25(ctx, tools.Infos())
		return x.(rater)
	})}
}

// BuildIndex calls the user's function for the index, once. If it fails, Eino's score answers, and each search reports the
// error.
func (k *Indexes) BuildIndex(ctx context.Context, f index.Func) {
	k.buildOnce.Do(func() {
		if k.index = k.keyword; f == nil || k.tools.Len() == 0 {
			return
		}
		x, err := safe.NonNil("the function", func() (index.Index, error) { return f(k.tools.IndexContext(ctx), k.tools.Infos()) })
		if err != nil {
			k.buildError.Store(&err)
			return
		}
		k.index = x
	})
}

// Err returns the error of BuildIndex.
func (k *Indexes) Err() error {
	if err := k.buildError.Load(); err != nil {
		return *err
	}
	return nil
}

// WarmUp prepares the index in the background, once.
func (k *Indexes) WarmUp() {
	k.warmUpOnce.Do(func() { go func(x index.Index) { _ = catalog.Build(x) }(k.index) })
}

// IndexName returns the type of the index.
func (k *Indexes) IndexName() string { return typeName(k.index) }

func typeName(x index.Index) string { return strings.TrimPrefix(fmt.Sprintf("%T", x), "*") }

// query asks the index or, if it fails, Eino's score. Its only error is the context's.
func (k *Indexes) query(ctx context.Context, q index.Query, t *trace) ([]index.Result, error) {
	var results []index.Result
	err := k.Err()
	if err == nil {
		results, err = searchIndex(ctx, k.index, q)
	}
	if err == nil || ctx.Err() != nil {
		t.setIndex(k.index, false)
		return results, ctx.Err()
	}
	catalog.ReportFailure(ctx, err)
	t.setIndex(k.keyword, true)
	return k.keyword.Search(ctx, q)
}

// searchIndex asks an index. Its numbers become finite, as events, logs and comparisons require.
func searchIndex(ctx context.Context, x index.Index, q index.Query) ([]index.Result, error) {
	results, err := safe.Value("toolsearch: the index", func() ([]index.Result, error) { return x.Search(ctx, q) })
	if slices.ContainsFunc(results, func(r index.Result) bool { return r != finite(r) }) {
		results = slices.Clone(results)
		for i, r := range results {
			results[i] = finite(r)
		}
	}
	return results, err
}

// finite returns a result with a finite score and a confidence from 0 to 1. What is not a number becomes 0, which is an
// unknown confidence.
func finite(r index.Result) index.Result {
	clamp := func(x, low, high float64) float64 {
		if math.IsNaN(x) {
			return 0
		}
		return min(max(x, low), high)
	}
	r.Score, r.Confidence = clamp(r.Score, -math.MaxFloat64, math.MaxFloat64), clamp(r.Confidence, 0, 1)
	return r
}

// score returns Eino's score, which also finds similar names. It is empty if it could not be built.
func (k *Indexes) score() *keyword.Index {
	if x, err := k.tools.Score(); err == nil {
		return x
	}
	return keyword.New(nil)
}

// toolOf returns the tool of a document of the score.
func (t Tools) toolOf(doc int) *catalog.Tool { return t.Lookup(t.score().Name(doc)) }

// Resolve returns the tool that a model means by a name: the tool of that name or, if there is exactly one, the tool whose
// name differs only in case and separators. It ignores tools that the caller may not find, and returns nil if no tool is
// left.
func (t Tools) Resolve(name string, mayFind func(*catalog.Tool) bool) *catalog.Tool {
	for _, n := range []string{name, toolnames.Unescape(name)} {
		if e := t.Lookup(n); e != nil && mayFind(e) {
			return e
		}
	}
	if doc, ok := t.score().Resolve(name, func(doc int) bool { return mayFind(t.toolOf(doc)) }); ok {
		return t.toolOf(doc)
	}
	return nil
}

// maxSuggestedName is the largest length of a suggested name, in bytes. Providers refuse longer ones.
const maxSuggestedName = 256

// Near returns the names most similar to an unknown one, of tools that the caller may find.
func (t Tools) Near(name string, limit int, mayFind func(*catalog.Tool) bool) []string {
	for ask := 4 * limit; ; ask = 0 {
		var names []string
		docs := t.score().Suggest(name, ask)
		for _, doc := range docs {
			if e := t.toolOf(doc); len(names) < limit && len(e.Info.Name) <= maxSuggestedName && mayFind(e) {
				names = append(names, e.Info.Name)
			}
		}
		if len(names) == limit || len(docs) < ask || ask == 0 {
			return names
		}
	}
}
