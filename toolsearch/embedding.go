// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// An index by the meaning of words: vectors of an embedder, and how they are kept.

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"weak"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/keyword"
	"github.com/leanctx/leanctx/internal/keyword/names"
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
	// keptQueries is how many queries keep their vectors, since a model repeats queries.
	keptQueries = 256
	// vectorWeight is the weight, relative to the best score by words, of a similarity as high
	// as chance puts the nearest, when the words say nothing.
	vectorWeight = 0.5
	// unsure is the confidence from which the words alone decide.
	unsure = 0.9
	// vectorScore is the score of the nearest tools when no word matches: about that of one
	// word in a description.
	vectorScore = 5.0
	// vectorDepth is how many of the nearest tools are considered.
	vectorDepth = 30
	// outstanding is how far above the others a tool must be to be found by its vector alone,
	// relative to where chance would put the nearest of as many: some tool is always the
	// nearest.
	outstanding = 0.8
)

// EmbeddingIndex ranks tools by BM25Index and, the less sure that is of its answer, also by
// the similarity of their embeddings to the query's: for words in another language, or for
// a need that no word of the tool names. A tool that the words find moves up by how far its
// similarity exceeds that of the other tools; any other tool is added if it is much nearer
// than the rest. Scores are on the scale of BM25Index. If that has a confidence of .9 or
// more, the query is not embedded.
//
// The first search starts embedding the tools in the background, in batches, with the words
// of ToolDocuments. BM25Index answers searches until that is done, and whenever the
// embedder fails or takes longer than a second. After three such failures in a row it is
// not asked for 30 seconds. An embedder that does not find tools by their own names is not
// used at all. The background work takes half an hour at most, and stops within 30 seconds
// once the index is garbage: with its middleware, or with the set of tools that a Source
// has replaced. Only BM25Index considers words with a leading +. Vectors take one byte per
// dimension; the query is compared with all of them, which is exact, and takes about 10 ms
// for 100,000 tools of 256 dimensions.
//
// model names the embedding model, and is part of every key in the store: another model
// must have another name. If store can read, vectors are kept there, one file for each
// version of the catalogue, and only new or changed tools are embedded. If nil, they are
// computed once in each process. Unlike failures of Fuse's parts, those of the embedder are
// not reported to OnEvent.
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
	near, err := x.nearness(ctx, tools, q, found)
	if err != nil {
		return firstOf(found, q.Limit), ctx.Err()
	}
	return firstOf(blend(found, near, weight), q.Limit), nil
}

// nearTool is a tool, and how far its similarity to the query is above the others: 1 is where
// chance alone would put the nearest.
type nearTool struct {
	name   string
	beyond float64
}

// nearness compares a query with the tools that the words find, in their order, then with the
// nearest of all, as far as they stand out.
func (x *embeddingIndex) nearness(ctx context.Context, tools *toolVectors, q Query, found []Result) ([]nearTool, error) {
	v, err := x.embed(ctx, q.Text)
	if err != nil {
		return nil, err
	}
	places := make([]int, 0, len(found))
	for _, r := range found {
		places = append(places, tools.places[r.Name])
	}
	nearest, those, err := tools.set.Compare(v, max(vectorDepth, 2*q.Limit), places)
	if err != nil {
		return nil, err
	}
	chance := max(1, math.Sqrt(2*math.Log(float64(tools.set.Len()))))
	all := make([]nearTool, 0, len(those)+len(nearest))
	for _, n := range those {
		all = append(all, nearTool{tools.names[n.At], max(0, float64(n.Deviations)/chance)})
	}
	for _, n := range nearest {
		if beyond := float64(n.Deviations) / chance; beyond >= outstanding {
			all = append(all, nearTool{tools.names[n.At], beyond})
		}
	}
	return all, nil
}

func hasRequired(text string) bool {
	return slices.ContainsFunc(keyword.Parse(text).Terms, func(t keyword.Term) bool { return t.Required })
}

// vectorWeightAt falls with the confidence of the best answer by words, faster at first: at
// medium confidence, the table of word vectors has already contributed.
func vectorWeightAt(sure float64) float64 {
	doubt := max(0, 1-sure/unsure)
	return vectorWeight * doubt * doubt
}

// blend adds vector scores to a ranking by words, whose order may differ from that of its
// scores: each place counts as the best score from there on. near begins with the tools of the
// ranking. Tools that only the vectors found get the confidence of the result after them.
func blend(lexical []Result, near []nearTool, weight float64) []Result {
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
		score := top * weight * n.beyond
		switch {
		case i < len(lexical):
			blended[i].Score += score
		case !known[n.name]:
			blended = append(blended, Result{Name: n.name, Score: score})
		}
	}
	slices.SortStableFunc(blended, func(a, b Result) int { return cmp.Compare(b.Score, a.Score) })
	raise(blended)
	return blended
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
		return nil, errors.New("the embedder is paused after failures")
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
	if ctx.Err() == nil { // a cancelled caller says nothing about the embedder
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

// ready returns the vectors of the tools, and starts building them if necessary. It returns nil
// until they are ready, and if they are of no use.
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

// buildVectors builds the vectors of an index. If that fails, a later search tries again. It
// does not keep the index alive, and stops once the index is unreachable.
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
	places map[string]int // of the names
	set    *vectors.Set
	useful bool // tools are found by their names
}

func (t *toolVectors) namesOf(near []vectors.Neighbour) []string {
	names := make([]string, len(near))
	for i, n := range near {
		names[i] = t.names[n.At]
	}
	return names
}

const (
	embedBatch     = 64               // texts in one call
	embedBatchTime = 30 * time.Second // for one call
	embedAllTime   = 30 * time.Minute
	maxEmbedded    = 4 << 10 // bytes of one text
	// probed is how many tools are searched by their names to check the vectors, and probeDepth
	// the number of nearest tools among which each must be.
	probed     = 32
	probeDepth = 3
	probeShare = 0.5
)

// vectorSource makes the vectors of tools.
type vectorSource struct {
	model    string
	embedder embedding.Embedder
	store    Backend
	tools    []*schema.ToolInfo
	wanted   func() bool // reports whether the vectors are still needed; asked before each batch
}

var errUnwanted = errors.New("toolsearch: the vectors are no longer needed")

// load takes stored vectors, embeds the rest, and stores the whole.
func (s vectorSource) load(ctx context.Context) (*toolVectors, error) {
	texts, keys := make([]string, len(s.tools)), make([]vectors.Key, len(s.tools))
	t := &toolVectors{names: make([]string, len(s.tools)), places: make(map[string]int, len(s.tools)), set: &vectors.Set{}}
	for i, info := range s.tools {
		texts[i], t.names[i] = names.Clip(documentText(info), maxEmbedded), info.Name
		keys[i], t.places[info.Name] = vectors.KeyOf(texts[i]), i
	}
	path := s.path(keys)
	old := s.stored(ctx, path)
	fresh, err := s.embedMissing(ctx, texts, keys, old)
	if err != nil {
		return nil, err
	}
	for i, key := range keys {
		from := old
		if _, ok := fresh.at[key]; ok {
			from = fresh
		}
		if err := t.set.Copy(from.set, from.at[key]); err != nil {
			return nil, fmt.Errorf("toolsearch: the vector of %q: %w", t.names[i], err)
		}
	}
	if fresh.set.Len() == 0 {
		t.useful = true // the stored vectors were
		return t, nil
	}
	if t.useful, err = s.findsByName(ctx, t); t.useful {
		s.files().save(ctx, path, vectors.Encode(keys, t.set))
	}
	return t, err
}

// keyed are vectors by the text that they represent.
type keyed struct {
	at  map[vectors.Key]int
	set *vectors.Set
}

// embedMissing embeds the texts that old lacks, each once.
func (s vectorSource) embedMissing(ctx context.Context, texts []string, keys []vectors.Key, old keyed) (keyed, error) {
	fresh := keyed{map[vectors.Key]int{}, &vectors.Set{}}
	var missing []int
	for i, key := range keys {
		_, known := old.at[key]
		if _, twice := fresh.at[key]; !known && !twice {
			fresh.at[key] = len(missing)
			missing = append(missing, i)
		}
	}
	for batch := range slices.Chunk(missing, embedBatch) {
		part := make([]string, len(batch))
		for i, at := range batch {
			part[i] = texts[at]
		}
		all, err := s.embed(ctx, part)
		if err != nil {
			return fresh, err
		}
		for i, v := range all {
			if err := fresh.set.Add(v); err != nil {
				return fresh, fmt.Errorf("toolsearch: the vector of %q: %w", s.tools[batch[i]].Name, err)
			}
		}
	}
	if old.set.Len() > 0 && fresh.set.Len() > 0 && old.set.Dimensions() != fresh.set.Dimensions() {
		// The model has changed under its name, so the stored vectors are useless.
		return s.embedMissing(ctx, texts, keys, keyed{nil, &vectors.Set{}})
	}
	return fresh, nil
}

func (s vectorSource) embed(ctx context.Context, texts []string) ([][]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, embedBatchTime)
	defer cancel()
	if !s.wanted() {
		return nil, errUnwanted
	}
	return within(ctx, func() ([][]float64, error) { return embedTexts(ctx, s.embedder, texts) })
}

// findsByName reports whether the vectors find tools by the words of their names, the least
// that they must do.
func (s vectorSource) findsByName(ctx context.Context, t *toolVectors) (bool, error) {
	var probes []int
	step := max(1, len(s.tools)/probed)
	for i := 0; i < len(s.tools) && len(probes) < probed; i += step {
		probes = append(probes, i)
	}
	if len(probes) == 0 {
		return false, nil
	}
	texts := make([]string, len(probes))
	for i, at := range probes {
		texts[i] = nameMarks.Replace(s.tools[at].Name)
	}
	all, err := s.embed(ctx, texts)
	if err != nil {
		return false, err
	}
	found := 0
	for i, v := range all {
		near, err := t.set.Nearest(v, max(1, min(probeDepth, len(s.tools)/4)))
		if err != nil {
			return false, err
		}
		if slices.Contains(t.namesOf(near), s.tools[probes[i]].Name) {
			found++
		}
	}
	return float64(found) >= probeShare*float64(len(probes)), nil
}

// files are where the vectors are kept.
func (s vectorSource) files() versions {
	sum := sha256.Sum256([]byte(s.model))
	return versions{s.store, fmt.Sprintf("vectors-%x-", sum[:8])}
}

func (s vectorSource) path(keys []vectors.Key) string {
	texts := make([]string, len(keys))
	for i, key := range keys {
		texts[i] = string(key[:])
	}
	return s.files().path(texts)
}

// stored returns the vectors of this version of the catalogue, or else of the last one. It is
// empty if neither can be read.
func (s vectorSource) stored(ctx context.Context, path string) keyed {
	keys, set, err := vectors.Decode(s.files().stored(ctx, path))
	if err != nil {
		return keyed{nil, &vectors.Set{}}
	}
	at := make(map[vectors.Key]int, len(keys))
	for i, key := range keys {
		at[key] = i
	}
	return keyed{at, set}
}

// versions are files of one kind, one for each version of a catalogue.
type versions struct {
	store  Backend // nil: nothing is kept
	prefix string  // of the names
}

// path is the file of a catalogue, by the keys of its texts.
func (v versions) path(keys []string) string {
	h := sha256.New()
	for _, key := range slices.Sorted(slices.Values(keys)) {
		h.Write([]byte(key))
	}
	return fmt.Sprintf("%s/%s%x.txt", backend.CatalogDir, v.prefix, h.Sum(nil)[:8])
}

// latest is the file that names the last version written.
func (v versions) latest() string {
	return fmt.Sprintf("%s/%slatest.txt", backend.CatalogDir, v.prefix)
}

// stored returns the file of this version, or else the last one written; "" if neither can be
// read.
func (v versions) stored(ctx context.Context, path string) string {
	if text := v.read(ctx, path); text != "" {
		return text
	}
	path = strings.TrimSpace(v.read(ctx, v.latest()))
	if !strings.HasPrefix(path, backend.CatalogDir+"/"+v.prefix) {
		return ""
	}
	return v.read(ctx, path)
}

// wholeFile is more lines than any file has.
const wholeFile = 1 << 30

// read returns the content of a file, or "" if it cannot be read.
func (v versions) read(ctx context.Context, path string) string {
	r, ok := v.store.(backend.Reader)
	if !ok {
		return ""
	}
	content, err := safe.Value("toolsearch: reading "+path, func() (*filesystem.FileContent, error) {
		return r.Read(ctx, &filesystem.ReadRequest{FilePath: path, Offset: 1, Limit: wholeFile})
	})
	if err != nil || content == nil {
		return ""
	}
	return content.Content
}

// save stores a file. If that fails, the next process rebuilds its content.
func (v versions) save(ctx context.Context, path, text string) {
	if _, readable := v.store.(backend.Reader); !readable {
		return
	}
	if writeFile(ctx, v.store, path, text) == nil {
		_ = writeFile(ctx, v.store, v.latest(), path+"\n")
	}
}
