// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file makes a history that another model or another adapter wrote fit this run.

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/bytedance/sonic"
	"github.com/cloudwego/eino/schema"
)

// pairs says of each tool call, by id, what it and its result look like.
type pairs map[string]pair

type pair struct {
	name   string
	marked bool // the call is one of a provider's own kind of search tool
	native bool // the result is in a provider's own form
}

func (p pairs) add(v view) {
	for _, c := range v.calls {
		p[c.id] = pair{name: c.name, marked: c.marked}
	}
	for _, r := range v.results {
		x := p[r.id]
		x.native = x.native || r.native
		p[r.id] = x
	}
}

// historyEditor makes a history fit a run: results of searches in the
// form that the adapter takes, naming only tools that this call declares.
type historyEditor struct {
	rules    rules
	catalog  *catalog
	show     visibleSet
	pairs    pairs
	returned set               // by the results so far
	findable func(*entry) bool // the model may know of the tool
	declared func(string) bool // this call declares the tool
}

func (r *run) editor(ctx context.Context, show visibleSet, p pairs) editor {
	return &historyEditor{
		rules: r.group.rules, catalog: r.group.cat, show: show, pairs: p,
		findable: func(e *entry) bool { return r.loadable(ctx, e) },
		declared: func(name string) bool {
			e := r.group.cat.byName[name]
			return r.own[name] && e == nil || e != nil && (show.has(name) || r.defers(ctx, e))
		},
	}
}

// unmark keeps the marks of calls for adapters that need them, where the result fits.
func (h *historyEditor) unmark(id string) bool {
	needed := h.rules.pairs || h.rules.name == "" && h.rules.acceptsNative
	return !needed || !h.pairs[id].native
}

func (h *historyEditor) hosted(tools []string) bool {
	for _, name := range tools {
		if !h.declared(name) {
			return false
		}
	}
	return h.rules.hosted
}

func (h *historyEditor) result(id, name string, tools []*schema.ToolInfo) ([]*schema.ToolInfo, string) {
	if !h.rules.acceptsNative || h.rules.pairs && !h.pairs[id].marked {
		return nil, h.words(tools)
	}
	if name == "" {
		name = h.pairs[id].name
	}
	kept := []*schema.ToolInfo{}
	var again []string
	for _, t := range tools {
		if h.rules.newOnly && h.returned[t.Name] {
			again = append(again, t.Name)
			continue
		}
		if own := h.current(t, isMetaTool(name)); own != nil {
			kept = append(kept, own)
			h.returned.add(t.Name)
		}
	}
	if len(kept) > 0 || !h.rules.emptyAsText {
		return kept, ""
	}
	if len(again) > 0 {
		return nil, say("already-loaded", hint{Words: again})
	}
	return nil, h.words(nil)
}

// current is the definition of a tool as of now; nil for one that this call may not show.
// What another search returned, of tools that are not ours, is not ours to judge.
func (h *historyEditor) current(t *schema.ToolInfo, ours bool) *schema.ToolInfo {
	e := h.catalog.byName[t.Name]
	switch {
	case e == nil && ours:
		return nil
	case e == nil:
		return t
	case !h.show.has(t.Name):
		return nil
	case e.isCurrent(t):
		return t
	}
	own := e.native()
	own.ParamsOneOf = copyParams(own.ParamsOneOf)
	return own
}

func (e *entry) isCurrent(t *schema.ToolInfo) bool {
	return t.Desc == e.info.Desc && t.ParamsOneOf != nil && schemaText(t) == e.parameters()
}

// words is the result of a search as text.
func (h *historyEditor) words(tools []*schema.ToolInfo) string {
	names := []string{}
	for _, t := range tools {
		if e := h.catalog.byName[t.Name]; e == nil || h.findable(e) {
			names = append(names, t.Name)
		}
	}
	return encode(matchesAnswer{Matches: names})
}

// jsonOf is a value as JSON, or the text that is there in its place while a run may stop.
func jsonOf(v any) (string, error) {
	if text, packed := v.(string); packed {
		return text, nil
	}
	return sonic.ConfigStd.MarshalToString(v)
}

// referredInEvents returns the tools that the events of claude's hosted search refer to.
func referredInEvents(events any) []string {
	var list []struct {
		Content struct {
			ToolReferences []struct{ ToolName string }
		}
	}
	names := []string{}
	if text, err := jsonOf(events); err != nil || sonic.ConfigStd.UnmarshalFromString(text, &list) != nil {
		return names
	}
	for _, ev := range list {
		for _, ref := range ev.Content.ToolReferences {
			names = append(names, ref.ToolName)
		}
	}
	return names
}

// hostedSearch reports whether a value of an adapter's own type is the call or the result
// of a search that the provider ran, and which tools it refers to.
func hostedSearch(v any) (names []string, ok bool) {
	text, err := jsonOf(v)
	if err != nil {
		return nil, false
	}
	var fields map[string]json.RawMessage
	if sonic.ConfigStd.UnmarshalFromString(text, &fields) != nil {
		return nil, false
	}
	for key, value := range fields {
		if strings.HasPrefix(key, "tool_search") {
			names, ok = append(names, referred(value)...), true
		}
	}
	return names, ok
}

// referred are the tools in a result of agenticopenai's or agenticclaude's hosted search.
func referred(result []byte) (names []string) {
	var r struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
		SearchResult struct {
			References []struct {
				Name string `json:"tool_name"`
			} `json:"tool_references"`
		} `json:"search_result"`
	}
	if sonic.ConfigStd.Unmarshal(result, &r) != nil {
		return nil
	}
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	for _, t := range r.SearchResult.References {
		names = append(names, t.Name)
	}
	return names
}
