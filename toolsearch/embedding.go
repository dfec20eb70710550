// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// An index by meaning beside the index by words: the search.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/keyword"
	"github.com/leanctx/leanctx/internal/safe"
	"github.com/leanctx/leanctx/internal/vectors"
)

const (
	// embedQueryTime is how long a search waits for the vector of its query.
	embedQueryTime = time.Second
	// mostLate is how many times in a row an embedder may be late or fail before it is
	// left alone for embedPause.
	mostLate   = 3
	embedPause = 30 * time.Second
	// keptQueries is how many queries keep their vectors: a model asks again.
	keptQueries = 256
	// vectorWeight is what a place among the nearest vectors counts, beside the same place
	// among the words, where the words say nothing.
	vectorWeight = 0.8
	// unsure is the confidence from which on the words alone decide: below it lie few of
	// their right answers.
	unsure = 0.12
	// vectorDepth is how many of the nearest tools are looked at.
	vectorDepth = 30
)

// EmbeddingIndex ranks tools by BM25Index and, where that is not sure of its answer, also
// by how near their embeddings are to that of the query: for words in another language, or
// for a need that no word of the tool names.
//
// The tools are embedded in the background when the first search comes, in batches, with
// the words of ToolDocuments; searches are answered by BM25Index until that is done, and
// whenever the embedder fails or takes longer than a second. After three such failures in a
// row it is not asked for 30 seconds. An embedder by which tools are not found by their own
// names is not used at all. The work in the background takes half an hour at most, and stops
// within 30 seconds once the index is garbage: with its middleware, or with the set of tools
// that a Source has replaced. Words with a leading + are left to BM25Index. Vectors are kept in
// one byte a dimension and compared with all, which is exact, and takes about 10 ms for
// 100,000 tools of 256 dimensions.
//
// The model is the name of what the embedder computes, and part of every key in the store:
// another model must have another name. If store can read, vectors are kept there, one file
// for each version of the catalogue, and only what is new or changed is embedded. If nil,
// they are computed once in each process. Unlike those of Fuse, a failure of the embedder is
// not told to OnEvent.
func EmbeddingIndex(model string, e embedding.Embedder, store Backend) IndexFunc {
	return func(ctx context.Context, tools []*schema.ToolInfo) (Index, error) {
		if model == "" {
			return nil, errors.New("EmbeddingIndex needs the name of the model")
		}
		if safe.IsNil(e) {
			return nil, errors.New("EmbeddingIndex got no embedder")
		}
		if safe.IsNil(store) {
			store = nil
		}
		return &embeddingIndex{embedder: e, words: newBM25(selectionOf(ctx, tools)), source: vectorSource{model: model, embedder: e, store: store, tools: tools}}, nil
	}
}

type embeddingIndex struct {
	embedder embedding.Embedder
	words    bm25Index
	source   vectorSource

	mu       sync.Mutex
	tools    *toolVectors // nil: not there yet
	building bool
	notUntil time.Time // for the embedder
	late     int       // failures in a row
	queries  map[string][]float64
}

func (x *embeddingIndex) build() error { return x.words.build() }

func (x *embeddingIndex) terms(q Query, name string) []leanctx.Term { return x.words.terms(q, name) }

// Explain explains the part of the words.
func (x *embeddingIndex) Explain(q Query, name string) string { return x.words.Explain(q, name) }

// Search never fails but by the context, or where the words do.
func (x *embeddingIndex) Search(ctx context.Context, q Query) ([]Result, error) {
	tools := x.ready(ctx)
	if tools == nil || strings.TrimSpace(q.Text) == "" || hasRequired(q.Text) {
		return x.words.Search(ctx, q)
	}
	wide := q
	if q.Limit > 0 { // the nearest may stand further down by words
		wide.Limit = max(ratedDepth, 2*q.Limit)
	}
	found, err := x.words.Search(ctx, wide)
	if err != nil {
		return nil, err
	}
	weight := vectorWeight
	if len(found) > 0 {
		weight = vectorWeightAt(found[0].Confidence)
	}
	if weight == 0 {
		return firstOf(found, q.Limit), nil
	}
	near, err := x.near(ctx, tools, q)
	if err != nil {
		return firstOf(found, q.Limit), ctx.Err()
	}
	return firstOf(blend(found, near, weight), q.Limit), nil
}

// near returns the names of the tools that are nearest to a query.
func (x *embeddingIndex) near(ctx context.Context, tools *toolVectors, q Query) ([]string, error) {
	v, err := x.embed(ctx, q.Text)
	if err != nil {
		return nil, err
	}
	return tools.nearest(v, max(vectorDepth, 2*q.Limit))
}

func hasRequired(text string) bool {
	return slices.ContainsFunc(keyword.Parse(text).Terms, func(t keyword.Term) bool { return t.Required })
}

// vectorWeightAt is what a place among the nearest counts. It falls with the confidence of
// the best answer by words.
func vectorWeightAt(sure float64) float64 { return vectorWeight * max(0, 1-sure/unsure) }

// blend adds the nearest tools to a ranking by words. What only the vectors found has the
// confidence of what stands after it.
func blend(lexical []Result, near []string, weight float64) []Result {
	merged := make(map[string]Result, len(lexical)+len(near))
	for place, r := range lexical {
		merged[r.Name] = Result{Name: r.Name, Score: 1 / float64(fuseK+place+1), Confidence: r.Confidence}
	}
	for place, name := range near {
		r := merged[name]
		merged[name] = Result{Name: name, Score: r.Score + weight/float64(fuseK+place+1), Confidence: r.Confidence}
	}
	found := make([]Result, 0, len(merged))
	for _, r := range merged {
		found = append(found, r)
	}
	sortByScore(found)
	raise(found)
	return found
}

// embed returns the vector of a query, or an error within embedQueryTime.
func (x *embeddingIndex) embed(ctx context.Context, text string) ([]float64, error) {
	x.mu.Lock()
	v, known := x.queries[text]
	resting := time.Now().Before(x.notUntil)
	x.mu.Unlock()
	if known {
		return v, nil
	}
	if resting {
		return nil, errors.New("the embedder is left alone")
	}
	inside, cancel := context.WithTimeout(ctx, embedQueryTime)
	defer cancel()
	v, err := within(inside, func() ([]float64, error) {
		all, err := embedTexts(inside, x.embedder, []string{text})
		if err != nil {
			return nil, err
		}
		return all[0], nil
	})
	if ctx.Err() == nil { // a caller who leaves says nothing of the embedder
		x.note(text, v, err)
	}
	return v, err
}

func (x *embeddingIndex) note(text string, v []float64, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err != nil {
		if x.late++; x.late >= mostLate {
			x.late, x.notUntil = 0, time.Now().Add(embedPause)
		}
		return
	}
	x.late = 0
	if x.queries == nil || len(x.queries) >= keptQueries {
		x.queries = make(map[string][]float64)
	}
	x.queries[text] = v
}

// embedTexts asks an embedder, and checks that there is a vector for each text.
func embedTexts(ctx context.Context, e embedding.Embedder, texts []string) ([][]float64, error) {
	all, err := safe.Value("toolsearch: the embedder", func() ([][]float64, error) { return e.EmbedStrings(ctx, texts) })
	if err != nil {
		return nil, err
	}
	if len(all) != len(texts) {
		return nil, fmt.Errorf("toolsearch: the embedder returned %d vectors for %d texts", len(all), len(texts))
	}
	return all, nil
}

// ready returns the vectors of the tools, and starts to make them if nobody has. It is nil
// while they are not there, and where they are of no use.
func (x *embeddingIndex) ready(ctx context.Context) *toolVectors {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.tools == nil && !x.building && !time.Now().Before(x.notUntil) {
		x.building = true
		go buildVectors(context.WithoutCancel(ctx), weak.Make(x), x.source)
	}
	if x.tools == nil || !x.tools.useful {
		return nil
	}
	return x.tools
}

// buildVectors makes the vectors of an index. Where that fails, a later search tries again.
// It does not keep the index alive, and stops once nobody else does: nothing would be left
// to ask for them.
func buildVectors(ctx context.Context, of weak.Pointer[embeddingIndex], source vectorSource) {
	ctx, cancel := context.WithTimeout(ctx, embedAllTime)
	defer cancel()
	source.wanted = func() bool { return of.Value() != nil }
	tools, err := safe.Value("toolsearch: embedding the tools", func() (*toolVectors, error) { return source.load(ctx) })
	x := of.Value()
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.building = false
	if err != nil {
		x.notUntil = time.Now().Add(embedPause)
		return
	}
	x.tools = tools
}

// toolVectors are the vectors of tools.
type toolVectors struct {
	names  []string
	set    *vectors.Set
	useful bool // tools are found by their names
}

// nearest returns the names of the nearest tools.
func (t *toolVectors) nearest(v []float64, k int) ([]string, error) {
	near, err := t.set.Nearest(v, k)
	names := make([]string, len(near))
	for i, n := range near {
		names[i] = t.names[n.At]
	}
	return names, err
}
