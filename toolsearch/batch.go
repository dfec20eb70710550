// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What indexes are built from: batches of tools, which catalogues share, and the documents
// that describe each tool.

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/keyword"
	"github.com/leanctx/leanctx/internal/keyword/bm25"
	"github.com/leanctx/leanctx/internal/keyword/names"
	"github.com/leanctx/leanctx/internal/toolschema"
)

// batch is tools that are indexed together: those that arrived at once, or several merged
// batches. Its indexes are built on first use, once for all catalogues that have a tool of
// it. Indexes over several batches answer like one index over all tools.
type batch struct {
	infos     []*schema.ToolInfo
	addresses []*address
	homes     []home
	origin    *origin

	specified func() *keyword.Segment
	bm25      func() *bm25.Segment
	isBuilt   struct{ specified, bm25 atomic.Bool }
	moved     atomic.Int64 // how often tools of it moved to another batch
}

// address says where a definition is indexed. Entries with the same definition share it, in
// sets made from one another.
type address struct{ now atomic.Pointer[home] }

// home is a tool's number in a batch.
type home struct {
	batch *batch
	at    uint32
}

// newBatch makes a batch of tools.
func newBatch(infos []*schema.ToolInfo, addresses []*address, o *origin) *batch {
	b := &batch{infos: infos, addresses: addresses, homes: make([]home, len(infos)), origin: o}
	for i := range b.homes {
		b.homes[i] = home{b, uint32(i)}
	}
	b.specified = sync.OnceValue(func() *keyword.Segment {
		defer b.isBuilt.specified.Store(true)
		return keyword.NewSegment(documents(infos, false))
	})
	b.bm25 = sync.OnceValue(func() *bm25.Segment {
		defer b.isBuilt.bm25.Store(true)
		return bm25.NewSegment(documents(infos, true))
	})
	return b
}

// selection is tools, by their batches.
type selection []*selected

type selected struct {
	*batch
	has names.Set
	n   int
}

// of returns the selection from a batch.
func (s *selection) of(b *batch) *selected {
	for i := len(*s) - 1; i >= 0; i-- { // mostly the last
		if p := (*s)[i]; p.batch == b {
			return p
		}
	}
	p := &selected{batch: b, has: names.NewSet(len(b.infos))}
	*s = append(*s, p)
	return p
}

// add adds a tool with a home.
func (s *selection) add(a *address) {
	h := a.now.Load()
	p := s.of(h.batch)
	p.has.Add(h.at)
	p.n++
}

// subset says which tools of the batch are selected; nil means all.
func (p *selected) subset() names.Set {
	if p.n == len(p.infos) {
		return nil
	}
	return p.has
}

func (s selection) specified() *keyword.Index {
	parts := make([]keyword.Part, len(s))
	for i, p := range s {
		parts[i] = keyword.Part{Segment: p.batch.specified(), Has: p.subset()}
	}
	return keyword.Join(parts...)
}

func (s selection) bm25() *bm25.Index {
	parts := make([]bm25.Part, len(s))
	for i, p := range s {
		parts[i] = bm25.Part{Segment: p.batch.bm25(), Has: p.subset()}
	}
	return bm25.Join(parts...)
}

// info finds a tool by its name with a linear search; nil if there is none.
func (s selection) info(name string) *schema.ToolInfo {
	for _, p := range s {
		part := p.subset()
		for i, info := range p.infos {
			if info.Name == name && (part == nil || part.Has(uint32(i))) {
				return info
			}
		}
	}
	return nil
}

// selectionKey is the key of the tools that an IndexFunc is called with, by their batches.
type selectionKey struct{}

type toolsByBatch struct {
	tools []*schema.ToolInfo
	selection
}

// withSelection returns a context in which our indexes of the tools share what they can.
func withSelection(ctx context.Context, tools []*schema.ToolInfo, s selection) context.Context {
	return context.WithValue(ctx, selectionKey{}, toolsByBatch{tools, s})
}

// selectionOf returns the batches of the tools that an IndexFunc is called with.
func selectionOf(ctx context.Context, tools []*schema.ToolInfo) selection {
	known, _ := ctx.Value(selectionKey{}).(toolsByBatch)
	if len(tools) > 0 && len(known.tools) == len(tools) && &known.tools[0] == &tools[0] {
		return known.selection
	}
	b := newBatch(tools, nil, nil)
	return selection{{batch: b, n: len(tools)}}
}

// origin identifies sets that Update made from one another. A set merges only batches of
// its own origin, so a batch never mixes tools of users whose sets are made apart.
type origin struct{ merging atomic.Bool }

// maxBatches is how many batches of one origin a set may have before it merges them: more
// make searches slow.
const maxBatches = 8

// documents converts the tools for package keyword; rich ones have parameters.
func documents(tools []*schema.ToolInfo, rich bool) []keyword.Doc {
	docs := make([]keyword.Doc, len(tools))
	for i, t := range tools {
		docs[i] = keyword.Doc{Name: t.Name, Server: serverOf(t.Name), Description: t.Desc}
		if rich {
			docs[i].Params, docs[i].Phrases = indexedParams(t), phrases(t)
		}
	}
	return docs
}

// PhrasesKey is the key of a tool's Extra with further ways to ask for it, as people do:
// a []string (or its form after JSON). BM25Index, EmbeddingIndex and ToolDocuments read
// the first 32, and 512 bytes of each.
const PhrasesKey = "search_phrases"

// phrases are the further ways to ask for a tool.
func phrases(info *schema.ToolInfo) []string {
	switch list := info.Extra[PhrasesKey].(type) {
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
		p := keyword.Param{Name: part.Name, Description: part.Description, Enum: enumTexts(part.Enum)}
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
