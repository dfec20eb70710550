// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

// The rules know one protocol, tool_search(query). This file translates the search protocols of agents to
// it, and the calls of the rules back.

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// offered opens a message that describes tools for the user's message before it.
const offered = "<tools-for-this-request>\n"

// protocol describes how this agent offers tool search, as derived from the schemas of its tools. The zero
// value is an agent without it.
type protocol struct {
	search string // the search tool
	key    string // the parameter of the search tool
	load   string // the tool that loads what a search showed
	call   string // the tool that calls what a search described
	run    string // the tool that runs programs, which call what a search described

	candidates map[string]toolView // shown by searches, without parameters
	described  []*schema.ToolInfo  // shown by searches, with all that a call needs
}

// detectProtocol recognizes the search tools.
func detectProtocol(tools []*schema.ToolInfo) (w protocol) {
	for _, info := range tools {
		if info == nil || !isAbout(info.Name, "tool", "run") {
			continue
		}
		t := viewTool(info)
		switch {
		case t.hasParam("code", "string") && best("run", t.nameWords) == 1:
			w.run = t.name
		case !isAbout(info.Name, "tool"):
		case t.hasParam(patternKey, "string"):
			w.search, w.key = t.name, patternKey
		case t.hasParam("query", "string") && best("search", t.nameWords) == 1:
			w.search, w.key = t.name, "query"
		case t.hasParam("tool_names", "array") && best("load", t.nameWords) == 1:
			w.load = t.name
		case t.hasParam("name", "string") && t.hasParam("arguments", "object") && best("call", t.nameWords) == 1:
			w.call = t.name
		}
	}
	return w
}

// isAbout reports whether a tool without a server prefix has one of the words in its name.
func isAbout(name string, words ...string) bool {
	t := nameOnly(name)
	return len(t.server) == 0 && slices.ContainsFunc(words, func(word string) bool { return best(word, t.nameWords) == 1 })
}

// isMeta reports whether a tool belongs to the search protocol.
func (w *protocol) isMeta(name string) bool {
	return slices.Contains([]string{w.search, w.load, w.call, w.run}, name)
}

func (t toolView) hasParam(name, kind string) bool {
	return slices.ContainsFunc(t.params, func(p param) bool { return p.name == name && p.kind == kind })
}

// plain reports whether no translation is needed.
func (w *protocol) plain() bool {
	return w.search == "" || w.search == searchTool && w.key == "query" && w.load == "" && w.call == "" && w.run == ""
}

// tools returns the tools that the rules see: described tools become callable, and of the protocol's tools only
// the search remains.
func (w *protocol) tools(infos []*schema.ToolInfo) (out []*schema.ToolInfo) {
	if w.plain() {
		return infos
	}
	for _, info := range infos {
		if info != nil && !w.isMeta(info.Name) {
			out = append(out, info)
		}
	}
	return append(append(out, &schema.ToolInfo{Name: searchTool}), w.described...)
}

// translate converts a conversation to tool_search(query), and records the tools that its searches returned.
func (w *protocol) translate(turns []Turn) []Turn {
	if w.plain() {
		return turns
	}
	plainly := map[string]func(text string) string{} // converts a result, by call ID
	out := slices.Clone(turns)
	for i := range out {
		t := &out[i]
		if tools, ok := strings.CutPrefix(t.Text, offered); ok {
			tools, _, _ = strings.Cut(tools, "\n</")
			w.plainResult(tools)
		}
		t.Calls, t.Results = slices.Clone(t.Calls), slices.Clone(t.Results)
		for j, c := range t.Calls {
			switch c.Name {
			case w.search, w.load:
				plainly[c.ID] = w.plainResult
			case w.run:
				plainly[c.ID] = printed
			default:
				delete(plainly, c.ID) // a provider may give an id again
			}
			t.Calls[j] = w.plainCall(c)
		}
		for j, r := range t.Results {
			if translated := plainly[r.ID]; translated != nil {
				t.Results[j].Text = translated(r.Text)
			}
		}
	}
	return out
}

func (w *protocol) plainCall(c Call) Call {
	var args map[string]json.RawMessage
	_ = json.Unmarshal([]byte(c.Args), &args)
	text := func(key string) (s string) {
		_ = json.Unmarshal(args[key], &s)
		return s
	}
	switch c.Name {
	case w.search:
		query := text(w.key)
		if w.key == patternKey {
			query = queryOfPattern(query)
		}
		return Call{c.ID, searchTool, encodeArgs("query", query)}
	case w.load:
		var names []string
		_ = json.Unmarshal(args["tool_names"], &names)
		return Call{c.ID, searchTool, encodeArgs("query", selectPrefix+strings.Join(names, ","))}
	case w.call:
		return Call{c.ID, text("name"), string(args["arguments"])}
	case w.run:
		if call, ok := callIn(c.ID, text("code")); ok {
			return call
		}
	}
	return c
}

// plainResult returns the names in the answer of a search or load call.
func (w *protocol) plainResult(text string) string {
	type searchHit struct {
		Name, Description, Call string
		Parameters              json.RawMessage
	}
	var r struct {
		Results, Tools        []searchHit
		SelectedTools, Loaded []string
	}
	_ = json.Unmarshal([]byte(text), &r)
	names := slices.Concat([]string{}, r.SelectedTools, r.Loaded)
	for _, x := range r.Results {
		t := nameOnly(x.Name)
		t.descWords, t.chinese = tokens(x.Description), isHan(x.Description)
		if w.candidates == nil {
			w.candidates = map[string]toolView{}
		}
		w.candidates[x.Name], names = t, append(names, x.Name)
	}
	for _, x := range r.Tools {
		info := &schema.ToolInfo{Name: x.Name, Desc: x.Description, ParamsOneOf: parametersOf(x.Parameters)}
		if x.Call != "" {
			info = signedTool(x.Name, x.Call)
		}
		w.describe(info)
		names = append(names, x.Name)
	}
	return encodeArgs("matches", names)
}

func (w *protocol) describe(info *schema.ToolInfo) {
	if !w.isDescribed(info.Name) {
		w.described = append(w.described, info)
	}
}

func (w *protocol) isDescribed(name string) bool {
	return slices.ContainsFunc(w.described, func(d *schema.ToolInfo) bool { return d.Name == name })
}

// parametersOf reads a JSON schema; nil if it is not one.
func parametersOf(raw json.RawMessage) *schema.ParamsOneOf {
	js, err := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{}).ToJSONSchema()
	if err != nil || json.Unmarshal(raw, js) != nil {
		return nil
	}
	return schema.NewParamsOneOfByJSONSchema(js)
}

// write converts the calls of the rules to this protocol.
func (w *protocol) write(r reply) reply {
	if w.plain() {
		return r
	}
	calls := slices.Clone(r.calls)
	for i, c := range calls {
		switch {
		case c.Name == searchTool:
			calls[i] = w.searchCall(c)
		case w.run != "" && w.isDescribed(c.Name):
			calls[i] = Call{c.ID, w.run, encodeArgs("code", programOf(c))}
		case w.isDescribed(c.Name):
			args, _ := json.Marshal(map[string]any{"name": c.Name, "arguments": json.RawMessage(c.Args)})
			calls[i] = Call{c.ID, w.call, string(args)}
		}
	}
	return reply{text: r.text, calls: calls}
}

func (w *protocol) searchCall(c Call) Call {
	query := queryOf(c.Args)
	names, byName := strings.CutPrefix(query, selectPrefix)
	switch {
	case w.key == patternKey:
		return Call{c.ID, w.search, encodeArgs(w.key, patternOfQuery(query))}
	case w.load != "" && byName:
		return Call{c.ID, w.load, encodeArgs("tool_names", strings.Split(names, ","))}
	}
	return Call{c.ID, w.search, encodeArgs(w.key, query)}
}

func encodeArgs(key string, value any) string {
	args, _ := json.Marshal(map[string]any{key: value})
	return string(args)
}

// loadFound loads the best search results, where loading is a separate step.
func loadFound(s *situation, p *progress) (action, bool) {
	if s.way.load == "" || len(p.calls) > 0 || len(p.searches) > maxSearches {
		return action{}, false
	}
	if names := s.promising(p); len(names) > 0 {
		c := s.searchCall(p, selectPrefix+strings.Join(names, ","))
		return action{call: &c}, true
	}
	return action{}, false
}

// promising returns at most two candidates for a step that are not loaded yet.
func (s *situation) promising(p *progress) (names []string) {
	var fits []fit
	requested := map[string]bool{}
	for _, t := range s.visible {
		requested[t.name] = true
	}
	for _, search := range p.searches {
		loads, isLoad := strings.CutPrefix(search.query, selectPrefix)
		for _, name := range strings.Split(loads, ",") {
			requested[name] = requested[name] || isLoad
		}
		for _, name := range search.found {
			if t, ok := s.way.candidates[name]; ok {
				fits = append(fits, fit{tool: t, score: s.wordFit(p, t) - s.excess(p, t) - s.order(p, t)})
			}
		}
	}
	slices.SortStableFunc(fits, func(a, b fit) int { return cmp.Compare(b.score, a.score) })
	for _, f := range fits {
		good := f.score >= lastScore && f.score >= 0.85*fits[0].score
		if good && !requested[f.tool.name] && len(names) < 2 {
			requested[f.tool.name] = true
			names = append(names, f.tool.name)
		}
	}
	return names
}
