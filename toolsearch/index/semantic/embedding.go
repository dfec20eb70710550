// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package semantic

// An index by the meaning of words: vectors of an embedder, and how they are kept.

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/names"
	"github.com/einolean/einolean/internal/lru"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/vectors"
	"github.com/einolean/einolean/internal/warn"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/ranking"
	"github.com/einolean/einolean/toolsearch/internal/tooltext"
)

const (
	// embedQueryTime is how long a search waits for the vector of its query.
	embedQueryTime = time.Second
	// maxLateQueries is how many times in a row an embedder may be late or fail before it is
	// left alone for embedPause.
	maxLateQueries = 3
	embedPause     = 30 * time.Second
	// maxCachedQueries is how many queries keep their vectors, since a model repeats queries.
	maxCachedQueries = 256
	// vectorWeight is the weight, relative to the best score by words, of a similarity as high
	// as chance puts the nearest, when the words say nothing.
	vectorWeight = 0.3
	// wordsOnlyConfidence is the confidence from which the words alone decide.
	wordsOnlyConfidence = 0.9
	// vectorScore is the score of the nearest tools when no word matches: about that of one
	// word in a description.
	vectorScore = 5.0
	// wordsDepth is how many results by words are considered.
	wordsDepth = 200
	// vectorDepth is how many of the nearest tools are considered.
	vectorDepth = 30
	// minStandout is how far above the others a tool must be to be found by its vector alone,
	// relative to where chance would put the nearest of as many: some tool is always the
	// nearest.
	minStandout = 0.8
)

// Embedding ranks tools by BM25 and, the less sure that is of its answer, also by
// the similarity of their embeddings to the query's: for words in another language, or for
// a need that no word of the tool names. A tool that the words find moves up by how far its
// similarity exceeds that of the other tools; any other tool is added if it is much nearer
// than the rest. Scores are on the scale of BM25. If that has a confidence of .9 or
// more, the query is not embedded.
//
// The first search starts embedding the tools in the background, in batches, with the words
// of [Documents]. BM25 answers searches until that is done, and whenever the
// embedder fails or takes longer than a second. After three such failures in a row it is
// not asked for 30 seconds. An embedder that cannot find tools by their own names is disabled.
// For each query with letters beyond ASCII, a control (the same letters reversed) checks that the
// embedder understands the language; if it does not, only BM25 answers. The background work takes half an hour at most, and
// stops within 30 seconds once the index is garbage: with its middleware, which remembers the
// last 64 sets of tools that a Source had. Its context has no values of a search's. Only
// BM25 considers words with a leading +. Vectors take one byte per
// dimension; the query is compared with all of them, which is exact, and takes about 10 ms
// for 100,000 tools of 256 dimensions.
//
// model names the embedding model, and is part of every key in the store: another model must have
// another name. Embedding fails if it is empty or e is nil. If files can be read, vectors are kept
// there, one file for each version of the catalog, and only new or changed tools are embedded. If
// files is nil, vectors are computed once in each process. Where the embedder fails, BM25 answers. Its
// failures are not reported to OnEvent, but logged to slog.Default, at most one of a kind per minute:
// embedder_failed and embedder_disabled.
func Embedding(model string, e embedding.Embedder, files store.Backend) index.Func {
	return func(ctx context.Context, tools []*schema.ToolInfo) (index.Index, error) {
		if model == "" {
			return nil, errors.New("semantic: Embedding: the name of the model is empty")
		}
		if safe.IsNil(e) {
			return nil, errors.New("semantic: Embedding: the embedder is nil")
		}
		if safe.IsNil(files) {
			files = nil
		}
		reader, _ := store.As[store.Reader](files)
		words, err := index.BM25(ctx, tools)
		if err != nil {
			return nil, err
		}
		return &embeddingIndex{
			words: words, infos: tools,
			source:  vectors.Source{Model: model, Embedder: e, Gate: &safe.Gate{}, Writer: files, Reader: reader},
			queries: lru.Map[string, []float64]{MaxEntries: maxCachedQueries},
		}, nil
	}
}

type embeddingIndex struct {
	words  index.Index // BM25
	infos  []*schema.ToolInfo
	source vectors.Source // read only: searches use it without the lock

	mu            sync.Mutex
	vectors       *vectors.Named // of the tools; nil: not there yet
	ignoresStored bool           // the stored vectors have other dimensions than the queries
	isBuilding    bool
	notUntil      time.Time // for the embedder
	late          int       // failures in a row
	queries       lru.Map[string, []float64]
}

// Build builds the index by words.
func (x *embeddingIndex) Build(catalog.InternalOnly) error { return catalog.Build(x.words) }

// Terms are those of the index by words.
func (x *embeddingIndex) Terms(q index.Query, name string) []einolean.Term {
	return index.Explain(x.words, q, name)
}

// RateUnknown rates results as the index by words does.
func (x *embeddingIndex) RateUnknown(
	ctx context.Context, _ catalog.InternalOnly, text string, found []index.Result,
) []index.Result {
	rated, err := rate(ctx, x.words, text, found)
	if err != nil {
		return found
	}
	return rated
}

// Search never fails but by the context, or where the words do.
func (x *embeddingIndex) Search(ctx context.Context, q index.Query) ([]index.Result, error) {
	tools := x.ready()
	if tools == nil || strings.TrimSpace(q.Text) == "" || hasRequired(q.Text) {
		return x.words.Search(ctx, q)
	}
	wide := q
	if q.Limit > 0 { // the nearest may stand further down by words
		wide.Limit = max(wordsDepth, 2*q.Limit)
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
		return ranking.First(found, q.Limit), nil
	}
	near, err := x.nearness(ctx, tools, q, found)
	if err != nil || near == nil {
		return ranking.First(found, q.Limit), ctx.Err()
	}
	return ranking.First(blend(found, near, weight), q.Limit), nil
}

// nearness compares a query with the tools that the words find, in their order, then with the
// nearest of all, as far as they stand out. A score says how far a tool's similarity to the query is
// above the others: 1 is where chance alone would put the nearest. It returns nil if the embedder
// does not know the language of the query.
func (x *embeddingIndex) nearness(
	ctx context.Context, tools *vectors.Named, q index.Query, found []index.Result,
) ([]index.Result, error) {
	v, err := x.embed(ctx, q.Text)
	if err != nil || v == nil {
		return nil, err
	}
	places := make([]int, 0, len(found))
	for _, r := range found {
		places = append(places, tools.Places[r.Name])
	}
	nearest, those, err := tools.Compare(v, max(vectorDepth, 2*q.Limit), places)
	if errors.Is(err, vectors.ErrDimensions) {
		x.discardVectors(tools)
	}
	if err != nil {
		return nil, err
	}
	chance := max(1, math.Sqrt(2*math.Log(float64(tools.Len()))))
	all := make([]index.Result, 0, len(those)+len(nearest))
	for _, n := range those {
		all = append(all, index.Result{Name: tools.Names[n.At], Score: max(0, float64(n.Deviations)/chance)})
	}
	for _, n := range nearest {
		if beyond := float64(n.Deviations) / chance; beyond >= minStandout {
			all = append(all, index.Result{Name: tools.Names[n.At], Score: beyond})
		}
	}
	return all, nil
}

// discardVectors discards vectors whose dimensions are not those of the queries. The next search embeds the tools again,
// without the stored vectors, which are of another model. Of several searches with the same vectors, the first does it.
func (x *embeddingIndex) discardVectors(old *vectors.Named) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.vectors != old:
	case x.ignoresStored: // as before: the model is of no use
		x.vectors = &vectors.Named{}
	default:
		x.vectors, x.ignoresStored = nil, true
	}
}

func hasRequired(text string) bool {
	return slices.ContainsFunc(keyword.Parse(text).Terms, func(t keyword.Term) bool { return t.Required })
}

// vectorWeightAt falls with the confidence of the best answer by words, faster at first.
func vectorWeightAt(confidence float64) float64 {
	doubt := max(0, 1-confidence/wordsOnlyConfidence)
	return vectorWeight * doubt * doubt
}

// blend adds vector scores to a ranking by words, whose order may differ from that of its
// scores: each place counts as the best score from there on. near begins with the tools of the
// ranking. Tools that only the vectors found get the confidence of the result after them.
func blend(lexical, near []index.Result, weight float64) []index.Result {
	blended, known := slices.Clone(lexical), make(map[string]bool, len(lexical))
	top := 0.0
	for i := len(blended) - 1; i >= 0; i-- {
		top = max(top, blended[i].Score)
		blended[i].Score = top
		known[blended[i].Name] = true
	}
	if top == 0 {
		top = vectorScore
	}
	for i, n := range near {
		score := top * weight * n.Score
		switch {
		case i < len(lexical):
			blended[i].Score += score
		case !known[n.Name]:
			blended = append(blended, index.Result{Name: n.Name, Score: score})
		}
	}
	slices.SortStableFunc(blended, func(a, b index.Result) int { return cmp.Compare(b.Score, a.Score) })
	ranking.RaiseConfidence(blended, func(r *index.Result) *float64 { return &r.Confidence })
	return blended
}

// embed returns the vector of a query, or an error within embedQueryTime.
func (x *embeddingIndex) embed(ctx context.Context, text string) ([]float64, error) {
	x.mu.Lock()
	v, known := x.queries.Get(text)
	resting := time.Now().Before(x.notUntil)
	x.mu.Unlock()
	if known {
		return v, nil
	}
	if resting {
		return nil, errors.New("the embedder is paused after failures")
	}
	inside, cancel := context.WithTimeout(ctx, embedQueryTime)
	defer cancel()
	all, err := x.source.Embed(inside, withControls(text))
	if err == nil {
		v = reliableVector(all)
	}
	if ctx.Err() == nil { // a cancelled caller says nothing about the embedder
		x.note(text, v, err)
		if err != nil {
			x.warn("embedder_failed", "a query was answered by its words only: "+safe.ErrorText(err))
		}
	}
	return v, err
}

// warn logs a problem of the embedder. No lock may be held: it calls the user's logger.
func (x *embeddingIndex) warn(kind, text string) {
	warn.Send(context.Background(), slog.LevelWarn, kind, warn.Text("semantic: Embedding: "+x.source.Model+": "+text))
}

// withControls returns a query, and if it is not all in ASCII, two texts that show whether the
// embedder knows its language: one that means the same, the query twice, and one that means
// nothing, with the letters of the words that are not in ASCII backwards.
func withControls(text string) []string {
	foreign := false
	nothing := foreignWord.ReplaceAllStringFunc(text, func(word string) string {
		foreign = true
		letters := []rune(word)
		slices.Reverse(letters)
		return string(letters)
	})
	if !foreign {
		return []string{text}
	}
	return []string{text, text + "\n" + text, nothing}
}

// foreignWord is a word with a letter that is not in ASCII.
var foreignWord = regexp.MustCompile(`[A-Za-z]*[^\P{L}A-Za-z][\p{L}\p{M}]*`)

const (
	// minSameCosine is the lowest cosine of a query with one that means the same. It must exceed the cosine with one that
	// means nothing by minCosineGap.
	minSameCosine = .5
	minCosineGap  = .03
)

// reliableVector returns the vector of a query with controls, or nil if the embedder does not tell
// them apart: to a model of another language, all texts in this one are alike, or noise.
func reliableVector(all [][]float64) []float64 {
	if len(all) == 1 {
		return all[0]
	}
	if same := vectors.Cosine(all[0], all[1]); same < minSameCosine || same-vectors.Cosine(all[0], all[2]) < minCosineGap {
		return nil
	}
	return all[0]
}

func (x *embeddingIndex) note(text string, v []float64, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err != nil {
		if x.late++; x.late >= maxLateQueries {
			x.late, x.notUntil = 0, time.Now().Add(embedPause)
		}
		return
	}
	x.late = 0
	x.queries.Put(text, v)
}

// ready returns the vectors of the tools, and starts building them if necessary. It returns nil
// until they are ready, and if they are of no use.
func (x *embeddingIndex) ready() *vectors.Named {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.vectors == nil && !x.isBuilding && !time.Now().Before(x.notUntil) {
		x.isBuilding = true
		source := x.source
		source.IsAnew = x.ignoresStored
		go buildVectors(weak.Make(x), source, x.infos)
	}
	if x.vectors == nil || !x.vectors.IsUseful {
		return nil
	}
	return x.vectors
}

const (
	embedAllTime = 30 * time.Minute
	maxEmbedded  = 4 << 10 // bytes of one text
)

// buildVectors builds the vectors of an index. If that fails, a later search tries again. It
// does not keep the index alive, and stops once the index is unreachable.
func buildVectors(of weak.Pointer[embeddingIndex], source vectors.Source, tools []*schema.ToolInfo) {
	ctx, cancel := context.WithTimeout(context.Background(), embedAllTime) // that of a search would keep its run, and with it the index
	defer cancel()
	source.Wanted = func() bool { return of.Value() != nil }
	made, err := safe.Wait(ctx, "semantic: embedding the tools", func() (*vectors.Named, error) {
		texts := make([]vectors.Text, len(tools))
		for i, info := range tools {
			texts[i] = vectors.Text{Name: info.Name, Content: names.Clip(tooltext.Document(info), maxEmbedded),
				Probe: tooltext.NameWords(info.Name)}
		}
		return source.Load(ctx, texts)
	})
	x := of.Value()
	if x == nil {
		return
	}
	x.finishBuilding(made, err)
	switch {
	case err != nil:
		x.warn("embedder_failed", "the tools have no vectors yet: "+safe.ErrorText(err))
	case !made.IsUseful:
		x.warn("embedder_disabled", "it does not find tools by their own names: only words find tools")
	}
}

func (x *embeddingIndex) finishBuilding(made *vectors.Named, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.isBuilding = false
	if err != nil {
		x.notUntil = time.Now().Add(embedPause)
		return
	}
	x.vectors = made
}
