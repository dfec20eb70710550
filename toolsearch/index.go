// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Indexes: the interface, KeywordIndex and BM25Index, rankings of several merged by Fuse, an Eino
// retriever behind the search, and what is read of each tool.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25"
	"github.com/einolean/einolean/internal/keyword/bm25/lists"
	"github.com/einolean/einolean/internal/keyword/names"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// Index ranks the tools that it was made from. It must be safe for concurrent use.
type Index interface {
	// Search returns the tools that fit, best first, without duplicates. If it fails or
	// panics, Eino's keyword score answers instead.
	Search(ctx context.Context, q Query) ([]Result, error)
}

// Query is what an index is asked.
type Query struct {
	// Text is what the model wrote: words, of which those with a leading + are required.
	Text string
	// Limit is the largest number of results wanted. If zero or less, all are.
	Limit int
}

// Result is one ranked tool.
type Result struct {
	// Name is the tool's name.
	Name string
	// Score is higher for a better fit; its scale is the index's own. If it is not a number, 0.
	Score float64
	// Confidence is how likely it is, from 0 to 1, that the tool serves the query, assuming
	// that no tool serves one query in two. It means the same for every query, catalogue and
	// index. If zero and Config.MinConfidence is set, it becomes the highest confidence that
	// BM25Index has for the tool or for one further down. If BM25Index finds none of the
	// tools, it stays unknown, and no result is refused for it.
	Confidence float64
}

// IndexFunc makes an index of tools. It may keep the slice and must not change the
// tools. Its error becomes New's. Those of this package return at once. Their index is built
// in the background when the first run starts; a search that arrives meanwhile waits for it.
type IndexFunc func(ctx context.Context, tools []*schema.ToolInfo) (Index, error)

// KeywordIndex ranks exactly as Eino does, on every input. For each keyword a tool gets
// the highest of 10 (a part of its name equals the
// keyword), 5 (a part contains it), 3 (the name contains it) and 2 (the description
// contains it); the sum over the keywords ranks the tools, and names break ties. It
// ignores case. Names are split at underscores and at camelCase boundaries. A keyword
// with a leading + must match.
func KeywordIndex(ctx context.Context, tools []*schema.ToolInfo) (Index, error) {
	return keywordIndex{hidden.SetOf(ctx, tools)}, nil
}

// build builds an index that is built on first use. The time limit of a search starts after that.
func build(x Index) error {
	if b, ok := x.(interface{ build() error }); ok {
		return b.build()
	}
	return nil
}

// keywordIndex is the specified score over tools, with their names for suggestions.
type keywordIndex struct{ tools *hidden.Set }

// index is empty if it could not be built.
func (k keywordIndex) index() *keyword.Index {
	if x, err := k.tools.Score(); err == nil {
		return x
	}
	return keyword.New(nil)
}

func (k keywordIndex) build() error {
	_, err := k.tools.Score()
	return err
}

func (k keywordIndex) Search(ctx context.Context, q Query) ([]Result, error) {
	x, err := k.tools.Score()
	if err != nil {
		return nil, err
	}
	hits, err := x.Search(ctx, keyword.Parse(q.Text), q.Limit)
	if err != nil {
		return nil, err
	}
	return resultsOf(hits, x.Name), nil
}

func (k keywordIndex) terms(q Query, name string) []einolean.Term {
	x := k.index()
	doc, ok := x.Lookup(name)
	if !ok {
		return nil
	}
	return scoring(x.Explain(keyword.Parse(q.Text), doc))
}

// scoring are the terms that add to a score.
func scoring(x keyword.Explanation) []einolean.Term {
	var terms []einolean.Term
	for _, t := range x.Terms {
		if len(t.Matches) > 0 {
			terms = append(terms, einolean.Term{Text: t.Term, Field: t.Matches[0].Field, Relation: t.Matches[0].Relation, Score: t.Score})
		}
	}
	return terms
}

func resultsOf(hits []keyword.Hit, name func(int) string) []Result {
	out := make([]Result, len(hits))
	for i, h := range hits {
		out[i] = Result{Name: name(h.Doc), Score: h.Score, Confidence: h.Confidence}
	}
	return out
}

// firstOf returns the first results of a ranking; all if limit is not positive.
func firstOf(found []Result, limit int) []Result {
	if limit > 0 && len(found) > limit {
		return found[:limit]
	}
	return found
}

// BM25Index ranks tools by BM25F (Robertson and Zaragoza, "The Probabilistic Relevance
// Framework: BM25 and Beyond", 2009) over name, server, description, the names and
// descriptions of parameters, enum values, and the phrases of toolset.PhrasesKey. It needs no model and no service.
//
// It reads whole sentences as well as keywords, in any case and width (NFKC), English
// words in any form, and Chinese, Japanese and Korean without spaces. If no tool has a
// word, it tries likely misspellings; some synonyms, and English words for Chinese ones,
// count a little. Words with a leading + must match. If tools of several servers fit
// equally well, each server gets a place.
//
// The index is built once, at the first search. Its answers are the same on every
// machine. The work for a query, and the part of each schema that is read, are bounded.
func BM25Index(ctx context.Context, tools []*schema.ToolInfo) (Index, error) {
	return bm25Index{hidden.SetOf(ctx, tools)}, nil
}

// words are the lists, read on first use.
var words = sync.OnceValue(func() *bm25.Words { return bm25.ReadWords(lists.Files) })

// bm25Of is the index of a set.
func bm25Of(s *hidden.Set) (*bm25.Index, error) {
	return hidden.Indexed(s, func(tools []*hidden.Tool) *bm25.Segment {
		docs := make([]keyword.Doc, len(tools))
		for i, e := range tools {
			docs[i] = keyword.Doc{
				Name: e.Info.Name, Server: toolnames.Server(e.Info.Name), Description: e.Info.Desc,
				Params: indexedParams(e.Info), Phrases: phrases(e.Info),
			}
		}
		return bm25.NewSegment(docs)
	}, func(all []hidden.Selected[*bm25.Segment]) *bm25.Index {
		parts := make([]bm25.Part, len(all))
		for i, p := range all {
			parts[i] = bm25.Part{Segment: p.Segment, Has: p.Has}
		}
		return bm25.Join(words(), parts...)
	})
}

type bm25Index struct{ tools *hidden.Set }

func (b bm25Index) build() error {
	_, err := bm25Of(b.tools)
	return err
}

func (b bm25Index) Search(ctx context.Context, q Query) ([]Result, error) {
	x, err := bm25Of(b.tools)
	if err != nil {
		return nil, err
	}
	hits, err := x.Search(ctx, q.Text, q.Limit)
	if err != nil {
		return nil, err
	}
	return resultsOf(hits, x.Name), nil
}

// ratedDepth is how many results are searched for the confidence of another ranking.
const ratedDepth = 200

// rate sets the confidence of another index's results: the highest of the tool itself and those
// further down. If no tool has one, it stays unknown.
func (b bm25Index) rate(ctx context.Context, text string, found []Result) error {
	if len(found) == 0 {
		return nil
	}
	known, err := b.Search(ctx, Query{Text: text, Limit: max(ratedDepth, len(found))})
	if err != nil {
		return err
	}
	sure := make(map[string]float64, len(known))
	for _, r := range known {
		sure[r.Name] = r.Confidence
	}
	for i, r := range found {
		found[i].Confidence = sure[r.Name]
	}
	raise(found)
	return nil
}

// rateUnknown returns a copy with confidence for those results that have none.
func (b bm25Index) rateUnknown(ctx context.Context, text string, found []Result) []Result {
	unknown := func(r Result) bool { return r.Confidence == 0 }
	if !slices.ContainsFunc(found, unknown) {
		return found
	}
	rated := slices.Clone(found)
	if b.rate(ctx, text, rated) != nil {
		return found
	}
	for i, r := range found {
		if !unknown(r) {
			rated[i].Confidence = r.Confidence
		}
	}
	return rated
}

// raise gives each result the highest confidence at its place or further down. Those after the
// last known one get the lowest. If none is known, all stay unknown.
func raise(found []Result) {
	best, least := 0.0, 1.0
	for i := len(found) - 1; i >= 0; i-- {
		if c := found[i].Confidence; c > 0 {
			best, least = max(best, c), min(least, c)
		}
		found[i].Confidence = best
	}
	for i := len(found) - 1; i >= 0 && best > 0 && found[i].Confidence == 0; i-- {
		found[i].Confidence = least
	}
}

func (b bm25Index) terms(q Query, name string) []einolean.Term {
	x, err := bm25Of(b.tools)
	if err != nil {
		return nil
	}
	doc, ok := x.Lookup(name)
	if !ok {
		return nil
	}
	return scoring(x.Explain(q.Text, doc))
}

const (
	// partTimeout is how long Fuse waits for a part without a TimeLimit.
	partTimeout = 2 * time.Second

	// fuseK is the constant of reciprocal-rank fusion (Cormack, Clarke and Büttcher, SIGIR
	// 2009), which damps the first places. They use 60, for lists of 1,000 documents; for
	// the short lists of a tool search a smaller one keeps the first places apart.
	fuseK = 10

	// fuseDepth is the fewest results to ask of each part: a tool in the middle of two
	// lists may belong at the top.
	fuseDepth = 30
)

// Fuse merges the rankings of several indexes by reciprocal rank: a tool scores the sum of
// 1/(10+place) over the parts that found it, places counted from 1. Its confidence is that
// of the part that is surest of it. All parts are asked at the same time, and each has two
// seconds, or its TimeLimit. A part that returns an error, panics or takes longer is left
// out, and OnEvent gets an event; if none answers, Eino's keyword score does.
func Fuse(parts ...IndexFunc) IndexFunc {
	return func(ctx context.Context, tools []*schema.ToolInfo) (Index, error) {
		if len(parts) == 0 {
			return nil, errors.New("Fuse needs at least one part")
		}
		fused := make(fusedIndex, len(parts))
		for i, p := range parts {
			if p == nil {
				p = KeywordIndex
			}
			x, err := makeIndex(ctx, p, tools)
			if err != nil {
				return nil, fmt.Errorf("part %d of Fuse: %w", i, err)
			}
			if _, limited := x.(*limitedIndex); !limited {
				x = &limitedIndex{Index: x, limit: partTimeout}
			}
			fused[i] = x
		}
		return fused, nil
	}
}

// TimeLimit gives an index a time limit for each search. It matters most for an engine
// behind a network. If d is zero or less, it is two seconds.
func TimeLimit(d time.Duration, f IndexFunc) IndexFunc {
	if d <= 0 {
		d = partTimeout
	}
	return func(ctx context.Context, tools []*schema.ToolInfo) (Index, error) {
		if f == nil {
			f = KeywordIndex
		}
		x, err := makeIndex(ctx, f, tools)
		if err != nil {
			return nil, err
		}
		return &limitedIndex{Index: x, limit: d}, nil
	}
}

type limitedIndex struct {
	Index
	limit time.Duration
	gate  safe.Gate
}

func (x *limitedIndex) build() error { return build(x.Index) }

// Search returns when the index answers or its time is over. An index that goes on after
// that is left to finish, and not asked meanwhile; its answer is dropped.
func (x *limitedIndex) Search(ctx context.Context, q Query) ([]Result, error) {
	if err := x.build(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, x.limit)
	defer cancel()
	results, err := safe.Through(ctx, &x.gate, "the index", func() ([]Result, error) { return searchIndex(ctx, x.Index, q) })
	if err == safe.ErrBusy || ctx.Err() != nil && err == ctx.Err() {
		return nil, fmt.Errorf("toolsearch: index did not answer: %w", err)
	}
	return results, err
}

func (x *limitedIndex) terms(q Query, name string) []einolean.Term { return Explain(x.Index, q, name) }

type fusedIndex []Index

func (parts fusedIndex) build() error {
	for _, x := range parts {
		_ = build(x) // a part that cannot be built reports it in a search
	}
	return nil
}

func (parts fusedIndex) Search(ctx context.Context, q Query) ([]Result, error) {
	limit := q.Limit
	if q.Limit > 0 {
		q.Limit = max(fuseDepth, 2*q.Limit)
	}
	merged, failed := map[string]Result{}, 0
	results, errs := parts.askAll(ctx, q)
	for i, err := range errs {
		if err != nil {
			failed++
			if ctx.Err() == nil {
				hidden.Failed(ctx, fmt.Errorf("part %d of Fuse: %w", i, err))
			}
			continue
		}
		for place, r := range results[i] {
			merged[r.Name] = Result{
				Name: r.Name, Score: merged[r.Name].Score + 1/float64(fuseK+place+1),
				Confidence: max(merged[r.Name].Confidence, r.Confidence),
			}
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if failed == len(parts) {
		return nil, errors.New("toolsearch: no part of Fuse answered")
	}
	found := slices.SortedFunc(maps.Values(merged), func(a, b Result) int { // equal ones are in the order of their names
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Name, b.Name))
	})
	return firstOf(found, limit), nil
}

// askAll asks all parts at once.
func (parts fusedIndex) askAll(ctx context.Context, q Query) (results [][]Result, errs []error) {
	results, errs = make([][]Result, len(parts)), make([]error, len(parts))
	var asking sync.WaitGroup
	for i, x := range parts {
		asking.Go(func() { results[i], errs[i] = x.Search(ctx, q) })
	}
	asking.Wait()
	return results, errs
}

// terms are those of the first part that can tell.
func (parts fusedIndex) terms(q Query, name string) []einolean.Term {
	for _, x := range parts {
		if terms := Explain(x, q, name); len(terms) > 0 {
			return terms
		}
	}
	return nil
}

// makeIndex calls an IndexFunc.
func makeIndex(ctx context.Context, f IndexFunc, infos []*schema.ToolInfo) (Index, error) {
	x, err := safe.Value("the function", func() (Index, error) { return f(ctx, infos) })
	if err == nil && safe.IsNil(x) {
		err = errors.New("the function returned nil")
	}
	return x, err
}

// Explain returns what each word of a query adds to the score of a tool; nothing if the index does
// not know the tool, or is none of this package.
func Explain(x Index, q Query, name string) []einolean.Term {
	t, ok := x.(interface {
		terms(q Query, name string) []einolean.Term
	})
	if !ok {
		return nil
	}
	terms, _ := safe.Value("the index", func() ([]einolean.Term, error) { return t.terms(q, name), nil })
	return terms
}

// searchIndex asks an index. Its numbers become finite here: events, logs and comparisons
// rely on that.
func searchIndex(ctx context.Context, x Index, q Query) ([]Result, error) {
	found, err := safe.Value("toolsearch: the index", func() ([]Result, error) { return x.Search(ctx, q) })
	if slices.ContainsFunc(found, func(r Result) bool { return r != finite(r) }) {
		found = slices.Clone(found)
		for i, r := range found {
			found[i] = finite(r)
		}
	}
	return found, err
}

// finite returns a result with the nearest score that is a number, and a confidence from 0 to
// 1. What is no number becomes 0, which is the lowest score and an unknown confidence.
func finite(r Result) Result {
	number := func(x, least, most float64) float64 {
		if math.IsNaN(x) {
			return 0
		}
		return min(max(x, least), most)
	}
	return Result{Name: r.Name, Score: number(r.Score, -math.MaxFloat64, math.MaxFloat64), Confidence: number(r.Confidence, 0, 1)}
}

// phrases are the further ways to ask for a tool.
func phrases(info *schema.ToolInfo) []string {
	switch list := info.Extra[toolset.PhrasesKey].(type) {
	case string:
		return []string{list}
	case []string:
		return list[:min(len(list), maxPhrases)]
	case []any:
		var texts []string
		for _, v := range list[:min(len(list), maxPhrases)] {
			if text, ok := v.(string); ok {
				texts = append(texts, text)
			}
		}
		return texts
	}
	return nil
}

const (
	maxPhrases     = 32
	maxPhraseBytes = 512
)

// What is indexed of a schema; more would drown what the tool is about.
const (
	maxIndexedDepth = 3
	maxIndexed      = 100 // parameters
	maxIndexedBytes = 16 << 10
)

// indexedParams are the parameters of a tool for an index: names, descriptions and enum
// values, nested ones as well.
func indexedParams(info *schema.ToolInfo) (params []keyword.Param) {
	size := 0
	toolschema.Each(info.ParamsOneOf, func(part toolschema.Param) bool {
		p := keyword.Param{Name: part.Name, Description: part.Description, Enum: enumTexts(part.Enum), Required: part.Required && part.Depth == 1}
		size += len(p.Name) + len(p.Description)
		for _, v := range p.Enum {
			size += len(v)
		}
		if len(params) == maxIndexed || size > maxIndexedBytes {
			return false
		}
		if part.Depth <= maxIndexedDepth {
			params = append(params, p)
		}
		return true
	})
	return params
}

// enumTexts are the values of an enum that are texts or numbers.
func enumTexts(values []any) []string {
	const most = 50
	var out []string
	for _, v := range values {
		switch v.(type) {
		case string, float64, int, int64, json.Number:
			if len(out) < most {
				out = append(out, fmt.Sprint(v))
			}
		}
	}
	return out
}

var nameMarks = strings.NewReplacer("__", " ", "_", " ", "-", " ", ".", " ")

// documentText is all that is indexed of a tool, as one text.
func documentText(info *schema.ToolInfo) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s", info.Name, nameMarks.Replace(info.Name), info.Desc)
	for _, phrase := range phrases(info) {
		fmt.Fprintf(&b, "\n%s", names.Clip(phrase, maxPhraseBytes))
	}
	for _, p := range indexedParams(info) {
		fmt.Fprintf(&b, "\n%s: %s", p.Name, p.Description)
		if len(p.Enum) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(p.Enum, ", "))
		}
	}
	return b.String()
}

// ToolNameKey is the key of a document's MetaData that holds its tool's name.
const ToolNameKey = "tool_name"

// RetrieverIndex searches with an Eino retriever: Elasticsearch, Milvus, Redis or any
// other engine that holds the documents which ToolDocuments made. A document belongs to
// the tool that its MetaData names under ToolNameKey, and otherwise to the tool that its
// ID names. Documents of unknown tools and repeated ones are dropped.
//
// The retriever gets the words of the query, opts, and the number of results wanted as its
// top k. Words with a leading + are then looked for in names and descriptions. A document
// without a score gets one by its place. If the retriever fails, Eino's keyword score
// answers.
//
// A tool's confidence is the highest that BM25Index has for it or for a tool further down,
// since the retriever ranks it above those. If BM25Index finds none of the tools, the
// confidence is unknown.
func RetrieverIndex(r retriever.Retriever, opts ...retriever.Option) IndexFunc {
	return func(ctx context.Context, tools []*schema.ToolInfo) (Index, error) {
		if safe.IsNil(r) {
			return nil, fmt.Errorf("RetrieverIndex got no retriever")
		}
		all := hidden.SetOf(ctx, tools)
		return retrieverIndex{r, opts, keywordIndex{all}, bm25Index{all}}, nil
	}
}

type retrieverIndex struct {
	r     retriever.Retriever
	opts  []retriever.Option
	words keywordIndex
	sure  bm25Index
}

func (x retrieverIndex) build() error {
	_, err := x.words.tools.Score()
	return err
}

// moreForRequired is how many times more documents are requested when some are dropped
// afterwards.
const moreForRequired = 4

func (x retrieverIndex) Search(ctx context.Context, q Query) ([]Result, error) {
	terms := keyword.Parse(q.Text).Terms
	text, required := wanted(terms)
	if text == "" {
		return nil, nil
	}
	limit := q.Limit
	if limit <= 0 {
		limit = x.words.index().Len()
	}
	topK := limit
	if len(required.Terms) > 0 {
		topK = min(x.words.index().Len(), limit*moreForRequired)
	}
	opts := append(append([]retriever.Option(nil), x.opts...), retriever.WithTopK(topK))
	docs, err := x.r.Retrieve(ctx, text, opts...)
	if err != nil {
		return nil, fmt.Errorf("toolsearch: retrieving %.80q: %w", text, err)
	}
	found, err := x.require(ctx, required, x.toolsOf(docs))
	if err != nil {
		return nil, err
	}
	found = firstOf(found, limit)
	return found, x.sure.rate(ctx, q.Text, found)
}

// wanted returns the words of a query without their marks, and the required ones.
func wanted(terms []keyword.Term) (text string, required keyword.Query) {
	words := make([]string, len(terms))
	for i, t := range terms {
		words[i] = t.Text
		if t.Required {
			required.Terms = append(required.Terms, t)
		}
	}
	return strings.Join(words, " "), required
}

// toolsOf returns the known tools of documents, each once.
func (x retrieverIndex) toolsOf(docs []*schema.Document) []Result {
	found := make([]Result, 0, len(docs))
	seen := map[string]bool{}
	for place, d := range docs {
		if d == nil {
			continue
		}
		name, _ := d.MetaData[ToolNameKey].(string)
		if _, known := x.words.index().Lookup(name); !known {
			name = d.ID
		}
		if _, known := x.words.index().Lookup(name); !known || seen[name] {
			continue
		}
		seen[name] = true
		score := d.Score()
		if score == 0 || math.IsNaN(score) {
			score = 1 / float64(place+1)
		}
		found = append(found, Result{Name: name, Score: score})
	}
	return found
}

// require keeps the tools that contain every required word.
func (x retrieverIndex) require(ctx context.Context, required keyword.Query, found []Result) ([]Result, error) {
	if len(required.Terms) == 0 {
		return found, nil
	}
	hits, err := x.words.index().Search(ctx, required, 0)
	if err != nil {
		return nil, err
	}
	has := make(map[string]bool, len(hits))
	for _, h := range hits {
		has[x.words.index().Name(h.Doc)] = true
	}
	kept := found[:0]
	for _, f := range found {
		if has[f.Name] {
			kept = append(kept, f)
		}
	}
	return kept, nil
}

// ToolDocuments makes the documents that fill the engine behind a retriever: one call of
// any Eino indexer stores a catalogue. Each holds the tool's name, the words of the name,
// its description, its phrases (toolset.PhrasesKey) and its parameters; its ID and
// MetaData[ToolNameKey] are the tool's name. The documents are the caller's.
func ToolDocuments(ctx context.Context, tools []tool.BaseTool) ([]*schema.Document, error) {
	var wrong problems
	docs := make([]*schema.Document, 0, len(tools))
	for i, t := range tools {
		info, err := hidden.ReadInfo(ctx, t)
		if err != nil {
			wrong.add(fieldAt("tools", i), "%w", err)
			continue
		}
		docs = append(docs, &schema.Document{ID: info.Name, Content: documentText(info), MetaData: map[string]any{
			ToolNameKey: info.Name, "server": toolnames.Server(info.Name),
		}})
	}
	return docs, wrong.err()
}
