// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The SearchLoad protocol: search_tools shows candidates, load_tool loads.

import (
	"context"
	"math"
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/toolnames"
)

const (
	// maxShort bounds the description of a candidate, in runes.
	maxShort = 150
	// maxNearOnLoad is how many near names an unknown name gets.
	maxNearOnLoad = 3
)

type candidate struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Score       float64 `json:"score"`
}

type candidatesAnswer struct {
	Results       []candidate `json:"results"`
	AlreadyLoaded []string    `json:"already_loaded,omitempty"`
	Hint          string      `json:"hint,omitempty"`
}

type loadAnswer struct {
	Loaded        []string `json:"loaded"`
	AlreadyLoaded []string `json:"already_loaded,omitempty"`
	Hint          string   `json:"hint,omitempty"`
}

func (g *group) searchLoadTools() []*metaTool {
	return []*metaTool{
		{group: g, name: toolnames.SearchTools, text: "search_tools", params: queryParams, answer: searchTools},
		{
			group: g, name: toolnames.Load, text: "load_tool", answer: loadTools,
			params: func() map[string]*schema.ParameterInfo {
				return map[string]*schema.ParameterInfo{
					"tool_name":  {Type: schema.String},
					"tool_names": {Type: schema.Array, ElemInfo: &schema.ParameterInfo{Type: schema.String}},
				}
			},
		},
	}
}

func searchTools(ctx context.Context, r *run, a arguments) (string, error) {
	f, err := r.searcher(r.turn().findable).find(ctx, queriesOf(a), a.number(limitKeys...), candidateSize)
	answer := candidatesAnswer{Results: []candidate{}, AlreadyLoaded: f.loaded, Hint: f.hint()}
	for _, x := range f.found {
		answer.Results = append(answer.Results, candidate{x.entry.info.Name, short(x.entry.info.Desc), math.Round(x.score*100) / 100})
	}
	return encode(answer), err
}

// candidateSize is the bytes of a candidate, which may stand under already_loaded as well.
func candidateSize(e *entry) int {
	const rest = `{"name":,"description":,"score":1234567.89},`
	return nameSize(e) + jsonSize(short(e.info.Desc)) + len(rest)
}

func loadTools(ctx context.Context, r *run, a arguments) (string, error) {
	s, f := r.searcher(r.turn().mayLoad), searchResult{seen: r.notes.seenSet(ctx)}
	s.selectByName(ctx, namesToLoad(a, s.known(ctx)), &f)
	f.bound(nameSize)
	f.markLoaded()
	answer := loadAnswer{Loaded: difference(f.names(), f.loaded), AlreadyLoaded: f.loaded}
	if answer.Loaded == nil {
		answer.Loaded = []string{}
	}
	for i := range f.unknown {
		f.unknown[i].near = f.unknown[i].near[:min(len(f.unknown[i].near), maxNearOnLoad)]
	}
	if answer.Hint = f.hint(); f.asked == 0 {
		answer.Hint = render("no-name", promptData{})
	}
	return encode(answer), ctx.Err()
}

// namesToLoad are the names that a call of load_tool asks for.
func namesToLoad(a arguments, known func(string) bool) (names []string) {
	for _, text := range append(a.texts("tool_name", "name"), a.texts("tool_names", "names", "tools")...) {
		for _, name := range splitNames(text, known) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// askedToLoad are the tools that a call of load_tool in a history asked for.
func (c *catalog) askedToLoad(a arguments) (names []string) {
	any := func(*entry) bool { return true }
	for _, name := range namesToLoad(a, func(name string) bool { return c.lookup(name) != nil }) {
		if e := c.resolve(name, any); e != nil && len(names) < maxNames {
			names = append(names, e.info.Name)
		}
	}
	return names
}

// short is the beginning of a description.
func short(s string) string {
	r := []rune(s)
	if len(r) <= maxShort {
		return s
	}
	return string(r[:maxShort-1]) + "…"
}
