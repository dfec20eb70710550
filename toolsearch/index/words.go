// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package index

// Indexes by words: Eino's keyword score, and BM25.

import (
	"context"
	"slices"
	"sync"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/keyword/bm25/postings"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/ranking"
	"github.com/einolean/einolean/toolsearch/internal/tooltext"
)

// Keyword ranks exactly as Eino does, on every input. For each keyword a tool gets the
// highest of 10 (a part of its name equals the keyword), 5 (a part contains it), 3 (the name
// contains it) and 2 (the description contains it); the sum over the keywords ranks the tools, and names break ties. It
// ignores case. Names are split at underscores and at camelCase boundaries. A keyword
// with a leading + must match.
func Keyword(ctx context.Context, tools []*schema.ToolInfo) (Index, error) {
	return keywordIndex{catalog.SetOf(ctx, tools)}, nil
}

// keywordIndex is the specified score over tools, with their names for suggestions.
type keywordIndex struct{ tools *catalog.Set }

// index is empty if it could not be built.
func (k keywordIndex) index() *keyword.Index {
	if x, err := k.tools.Score(); err == nil {
		return x
	}
	return keyword.New(nil)
}

func (k keywordIndex) Build(catalog.InternalOnly) error {
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

// Terms implements what [Explain] asks.
func (k keywordIndex) Terms(q Query, name string) []einolean.Term {
	x := k.index()
	doc, ok := x.Lookup(name)
	if !ok {
		return nil
	}
	return scoringTerms(x.Explain(keyword.Parse(q.Text), doc))
}

// scoringTerms returns the terms that add to a score.
func scoringTerms(x keyword.Explanation) []einolean.Term {
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

// BM25 ranks tools by BM25F (Robertson and Zaragoza, "The Probabilistic Relevance
// Framework: BM25 and Beyond", 2009) over name, server, description, the names and
// descriptions of parameters, enum values, and the phrases of toolset.PhrasesKey. It needs
// no model and no service.
//
// It reads whole sentences as well as keywords, in any case and width (NFKC), English
// words in any form, and Chinese, Japanese and Korean without spaces. If no tool has a
// word, it tries likely misspellings; some synonyms, and English words for Chinese ones,
// count a little. Words with a leading + must match. If tools of several servers fit
// equally well, each server gets a place. Among the first five results, tools that do what is
// asked for (read, create, update or delete) stand before others with similar scores; what a
// tool does is known by its MCP hints, its name and its description.
//
// The index is built once, in the background when the first run starts, or by a search that comes
// earlier. Its answers are the same on every
// machine. The work for a query, and the part of each schema that is read, are bounded.
func BM25(ctx context.Context, tools []*schema.ToolInfo) (Index, error) {
	return bm25Index{catalog.SetOf(ctx, tools)}, nil
}

// words are the lists, read on first use.
var words = sync.OnceValue(func() *analysis.Lexicon { return analysis.ReadLexicon(analysis.Lists()) })

// bm25Of is the index of a set.
func bm25Of(s *catalog.Set) (*bm25.Index, error) {
	return catalog.IndexOf(s, func(tools []*catalog.Tool) *postings.Segment {
		docs := make([]keyword.Doc, len(tools))
		for i, e := range tools {
			docs[i] = keyword.Doc{
				Name: e.Info.Name, Server: toolnames.Server(e.Info.Name), Description: e.Info.Desc,
				Params: tooltext.Params(e.Info), Phrases: tooltext.Phrases(e.Info), Hints: tooltext.Hints(e.Info),
			}
		}
		return postings.NewSegment(docs)
	}, func(all []catalog.Selection[*postings.Segment]) *bm25.Index {
		parts := make([]postings.Part, len(all))
		for i, p := range all {
			parts[i] = postings.Part{Segment: p.Segment, Live: p.Has}
		}
		return bm25.Join(words(), parts...)
	})
}

type bm25Index struct{ tools *catalog.Set }

func (b bm25Index) Build(catalog.InternalOnly) error {
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
	confidences := make(map[string]float64, len(known))
	for _, r := range known {
		confidences[r.Name] = r.Confidence
	}
	for i, r := range found {
		found[i].Confidence = confidences[r.Name]
	}
	ranking.RaiseConfidence(found, func(r *Result) *float64 { return &r.Confidence })
	return nil
}

// RateUnknown returns a copy with confidence for those results that have none.
func (b bm25Index) RateUnknown(ctx context.Context, _ catalog.InternalOnly, text string, found []Result) []Result {
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

// IsRequestFor reports whether a text may ask for the tool, rather than be small talk.
func (b bm25Index) IsRequestFor(_ catalog.InternalOnly, text, name string) bool {
	x, err := bm25Of(b.tools)
	if err != nil {
		return true
	}
	doc, ok := x.Lookup(name)
	return !ok || x.IsRequestFor(text, doc)
}

// Terms implements what [Explain] asks.
func (b bm25Index) Terms(q Query, name string) []einolean.Term {
	x, err := bm25Of(b.tools)
	if err != nil {
		return nil
	}
	doc, ok := x.Lookup(name)
	if !ok {
		return nil
	}
	return scoringTerms(x.Explain(q.Text, doc))
}
