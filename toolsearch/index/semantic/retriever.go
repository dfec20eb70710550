// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package semantic

// An Eino retriever as an index, and the documents for it.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/ranking"
	"github.com/einolean/einolean/toolsearch/internal/tooltext"
)

// ToolNameKey is the key of a document's MetaData that holds its tool's name.
const ToolNameKey = "tool_name"

// Retriever searches with an Eino retriever: Elasticsearch, Milvus, Redis or any
// other engine that holds the documents which Documents made. A document belongs to
// the tool that its MetaData names under ToolNameKey, and otherwise to the tool that its
// ID names. Documents of unknown tools and repeated ones are dropped.
//
// The retriever gets the words of the query, opts, and the number of results wanted as its
// top k. Words with a leading + are then looked for in names and descriptions. A document
// without a score gets one by its place. If the retriever fails, Eino's keyword score
// answers.
//
// A tool's confidence is the highest that BM25 has for it or for a tool further down,
// since the retriever ranks it above those. If BM25 finds none of the tools, the
// confidence is unknown.
func Retriever(r retriever.Retriever, opts ...retriever.Option) index.Func {
	return func(ctx context.Context, tools []*schema.ToolInfo) (index.Index, error) {
		if safe.IsNil(r) {
			return nil, errors.New("semantic: Retriever: the retriever is nil")
		}
		words, err := index.BM25(ctx, tools)
		if err != nil {
			return nil, err
		}
		return retrieverIndex{r, opts, catalog.SetOf(ctx, tools), words}, nil
	}
}

type retrieverIndex struct {
	retriever retriever.Retriever
	opts      []retriever.Option
	tools     *catalog.Set
	words     index.Index // rates what the retriever finds
}

// Build implements what [catalog.Build] asks.
func (x retrieverIndex) Build(catalog.InternalOnly) error {
	_, err := x.tools.Score()
	return err
}

// names are the tools, to look them up; none if the index of their names could not be built.
func (x retrieverIndex) names() *keyword.Index {
	if names, err := x.tools.Score(); err == nil {
		return names
	}
	return keyword.New(nil)
}

// moreForRequired is how many times more documents are requested when some are dropped
// afterwards.
const moreForRequired = 4

func (x retrieverIndex) Search(ctx context.Context, q index.Query) ([]index.Result, error) {
	terms := keyword.Parse(q.Text).Terms
	text, required := splitRequired(terms)
	if text == "" {
		return nil, nil
	}
	limit, all := q.Limit, x.names().Len()
	if limit <= 0 {
		limit = all
	}
	topK := limit
	if len(required.Terms) > 0 {
		topK = min(all, limit*moreForRequired)
	}
	opts := append(append([]retriever.Option(nil), x.opts...), retriever.WithTopK(topK))
	docs, err := x.retriever.Retrieve(ctx, text, opts...)
	if err != nil {
		return nil, fmt.Errorf("semantic: retrieving %.80q: %w", text, err)
	}
	found, err := x.require(ctx, required, x.toolsOf(docs))
	if err != nil {
		return nil, err
	}
	found = ranking.First(found, limit)
	if len(found) == 0 {
		return found, nil
	}
	return rate(ctx, x.words, q.Text, found)
}

// rate sets the confidence of results that have none to that of an index by words.
func rate(ctx context.Context, words index.Index, text string, found []index.Result) ([]index.Result, error) {
	if err := catalog.Build(words); err != nil {
		return nil, err
	}
	rater, ok := words.(interface {
		RateUnknown(ctx context.Context, _ catalog.InternalOnly, text string, found []index.Result) []index.Result
	})
	if !ok {
		return found, nil
	}
	return rater.RateUnknown(ctx, catalog.InternalOnly{}, text, found), ctx.Err()
}

// splitRequired returns the words of a query without their marks, and the required ones.
func splitRequired(terms []keyword.Term) (text string, required keyword.Query) {
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
func (x retrieverIndex) toolsOf(docs []*schema.Document) []index.Result {
	found := make([]index.Result, 0, len(docs))
	seen, tools := map[string]bool{}, x.names()
	for place, d := range docs {
		if d == nil {
			continue
		}
		name, _ := d.MetaData[ToolNameKey].(string)
		if _, known := tools.Lookup(name); !known {
			name = d.ID
		}
		if _, known := tools.Lookup(name); !known || seen[name] {
			continue
		}
		seen[name] = true
		score := d.Score()
		if score == 0 || math.IsNaN(score) {
			score = 1 / float64(place+1)
		}
		found = append(found, index.Result{Name: name, Score: score})
	}
	return found
}

// require keeps the tools that contain every required word.
func (x retrieverIndex) require(ctx context.Context, required keyword.Query, found []index.Result) ([]index.Result, error) {
	if len(required.Terms) == 0 {
		return found, nil
	}
	tools := x.names()
	hits, err := tools.Search(ctx, required, 0)
	if err != nil {
		return nil, err
	}
	has := make(map[string]bool, len(hits))
	for _, h := range hits {
		has[tools.Name(h.Doc)] = true
	}
	kept := found[:0]
	for _, f := range found {
		if has[f.Name] {
			kept = append(kept, f)
		}
	}
	return kept, nil
}

// Documents makes the documents that fill the engine behind a retriever: one call of
// any Eino indexer stores a catalog. Each holds the tool's name, the words of the name,
// its description, its phrases (toolset.PhrasesKey) and its parameters; its ID and
// MetaData[ToolNameKey] are the tool's name. The documents are the caller's.
func Documents(ctx context.Context, tools []tool.BaseTool) ([]*schema.Document, error) {
	var wrong []error
	docs := make([]*schema.Document, 0, len(tools))
	for i, t := range tools {
		info, err := catalog.ReadInfo(ctx, t)
		if err != nil {
			wrong = append(wrong, &einolean.FieldError{Package: "semantic", Field: fmt.Sprintf("tools[%d]", i), Err: err})
			continue
		}
		docs = append(docs, &schema.Document{ID: info.Name, Content: tooltext.Document(info), MetaData: map[string]any{
			ToolNameKey: info.Name, "server": toolnames.Server(info.Name),
		}})
	}
	return docs, errors.Join(wrong...)
}
