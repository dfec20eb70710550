// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

// The ways in which an agent may let its model search for tools are shown to the rules as one and
// the same, tool_search(query); what the rules want is put into the way's own terms.

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// offered opens a message that describes tools for the user's message before it.
const offered = "<tools-for-this-request>\n"

// way is how this agent searches, as the schemas of its tools say. The zero value is an
// agent that does not.
type way struct {
	search string // the tool that searches, and
	key    string // its parameter
	load   string // the tool that loads what a search showed
	call   string // the tool that calls what a search described
	run    string // the tool that runs programs, which call what a search described

	candidates map[string]toolView // shown by searches, without parameters
	described  []*schema.ToolInfo  // shown by searches, with all that a call needs
}

// wayOf recognises the tools that are about tools.
func wayOf(tools []*schema.ToolInfo) (w way) {
	for _, info := range tools {
		if info == nil || !isAbout(info.Name, "tool", "run") {
			continue
		}
		t := viewTool(info)
		switch {
		case t.takes("code", "string") && best("run", t.own) == 1:
			w.run = t.name
		case !isAbout(info.Name, "tool"):
		case t.takes(patternKey, "string"):
			w.search, w.key = t.name, patternKey
		case t.takes("query", "string") && best("search", t.own) == 1:
			w.search, w.key = t.name, "query"
		case t.takes("tool_names", "array") && best("load", t.own) == 1:
			w.load = t.name
		case t.takes("name", "string") && t.takes("arguments", "object") && best("call", t.own) == 1:
			w.call = t.name
		}
	}
	return w
}

// isAbout reports whether a tool of no server has one of the words in its name.
func isAbout(name string, words ...string) bool {
	t := nameOnly(name)
	return len(t.server) == 0 && slices.ContainsFunc(words, func(word string) bool { return best(word, t.own) == 1 })
}

// isMeta reports whether a tool is one of those about tools.
func (w *way) isMeta(name string) bool {
	return slices.Contains([]string{w.search, w.load, w.call, w.run}, name)
}

func (t toolView) takes(name, kind string) bool {
	return slices.ContainsFunc(t.params, func(p param) bool { return p.name == name && p.kind == kind })
}

// plain reports whether the rules' own terms are the way's.
func (w *way) plain() bool {
	return w.search == "" || w.search == searchTool && w.key == "query" && w.load == "" && w.call == "" && w.run == ""
}

// tools are what the rules see: those that were described may be called like any other,
// and of those about tools only the search is left.
func (w *way) tools(shown []*schema.ToolInfo) (out []*schema.ToolInfo) {
	if w.plain() {
		return shown
	}
	for _, info := range shown {
		if info != nil && !w.isMeta(info.Name) {
			out = append(out, info)
		}
	}
	return append(append(out, &schema.ToolInfo{Name: searchTool}), w.described...)
}

// read puts a conversation into the rules' terms, and notes what its searches showed.
func (w *way) read(turns []Turn) []Turn {
	if w.plain() {
		return turns
	}
	plainly := map[string]func(text string) string{} // how a result is read, by the call's id
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
			if read := plainly[r.ID]; read != nil {
				t.Results[j].Text = read(r.Text)
			}
		}
	}
	return out
}

func (w *way) plainCall(c Call) Call {
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
		if made, ok := callIn(c.ID, text("code")); ok {
			return made
		}
	}
	return c
}

// plainResult keeps the names of what a search or a load answers.
func (w *way) plainResult(text string) string {
	type shown struct {
		Name, Description, Call string
		Parameters              json.RawMessage
	}
	var r struct {
		Results, Tools        []shown
		SelectedTools, Loaded []string
	}
	_ = json.Unmarshal([]byte(text), &r)
	names := slices.Concat([]string{}, r.SelectedTools, r.Loaded)
	for _, x := range r.Results {
		t := nameOnly(x.Name)
		t.about, t.chinese = tokens(x.Description), isHan(x.Description)
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

func (w *way) describe(info *schema.ToolInfo) {
	if !w.isDescribed(info.Name) {
		w.described = append(w.described, info)
	}
}

func (w *way) isDescribed(name string) bool {
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

// write puts what the rules want into the way's terms.
func (w *way) write(r reply) reply {
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

func (w *way) searchCall(c Call) Call {
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

// loadFound loads the best of what a search showed, where that is a step of its own.
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

// promising are the candidates for a step that are not loaded yet, two at most.
func (s *situation) promising(p *progress) (names []string) {
	var fits []fit
	asked := map[string]bool{}
	for _, t := range s.visible {
		asked[t.name] = true
	}
	for _, search := range p.searches {
		loads, isLoad := strings.CutPrefix(search.query, selectPrefix)
		for _, name := range strings.Split(loads, ",") {
			asked[name] = asked[name] || isLoad
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
		if good && !asked[f.tool.name] && len(names) < 2 {
			asked[f.tool.name] = true
			names = append(names, f.tool.name)
		}
	}
	return names
}
