// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The search tools as Eino sees them: their arguments, and their answers in each protocol and
// in the provider's form. How call_tool runs a tool is in calltool.go.

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/bytedance/sonic"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/lenient"
	"github.com/leanctx/leanctx/internal/toolnames"
	"github.com/leanctx/leanctx/toolsearch/internal/wire"
)

// metaTool is a search tool. It is immutable; its answers depend on the run.
type metaTool struct {
	group *group
	name  string
	text  string // the text that describes it; texts whose names start with it describe its parameters
	// params are its parameters, without their descriptions.
	params func() map[string]*schema.ParameterInfo
	// answer returns the answer for the model. Its only error is the context's.
	answer func(context.Context, *run, arguments) (string, error)
}

// InvokableRun answers a search. Whatever the model wrote, the answer is text for it.
func (t *metaTool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	r := t.runFor(ctx)
	text, err := t.answer(ctx, r, decodeArguments(args))
	if id := callID(ctx); id != "" && err == nil {
		r.notes.noteAnswer(id, loadedBy(text))
	}
	return text, err
}

// runFor returns the run of the context, or a new one if the tool is called outside a run.
func (t *metaTool) runFor(ctx context.Context) *run {
	if r := runOf(ctx); r != nil && r.agent.start == t.group {
		return r
	}
	return newRun(agent{start: t.group})
}

// Info describes the tool, in the language that is set.
func (t *metaTool) Info(context.Context) (*schema.ToolInfo, error) { return t.info(), nil }

func (t *metaTool) info() *schema.ToolInfo {
	say, data := prompts.Current(), t.descriptionData()
	params := t.params()
	for key, p := range params {
		p.Desc = renderIn(say, t.text+"."+key, data)
	}
	return &schema.ToolInfo{Name: t.name, Desc: renderIn(say, t.text, data), ParamsOneOf: schema.NewParamsOneOfByParams(params)}
}

// descriptionData is the data for the descriptions of the search tools.
func (t *metaTool) descriptionData() promptData {
	g := t.group
	cfg := &g.settings.cfg
	return promptData{
		Limit: cfg.MaxResults, Total: mostResults(cfg), Native: g.settings.rules.native,
		Unloads: cfg.UnloadAfter > 0, Ungated: cfg.AllowUnloadedCalls, Partial: cfg.CatalogLimit > 0 || !g.isUnfiltered(),
	}
}

// arguments are the decoded arguments of a search tool.
type arguments struct{ decoded lenient.Arguments }

// decodeArguments never fails: arguments that are not JSON are a text.
func decodeArguments(text string) arguments { return arguments{lenient.Decode(text)} }

// texts returns the texts under the first key that holds any, or else those of arguments that
// are not an object.
func (a arguments) texts(keys ...string) []string {
	if texts := a.decoded.Texts(keys...); len(texts) > 0 {
		return texts
	}
	return a.decoded.Bare()
}

// number returns the whole number under the first key that holds one, or zero. A negative one
// becomes -1.
func (a arguments) number(keys ...string) int {
	return int(max(-1, min(a.decoded.Number(keys...), math.MaxInt32)))
}

// raw returns the value under the first key present, as the model wrote it: decoding loses
// digits of long numbers. If no key is present, it returns "".
func (a arguments) raw(keys ...string) string { return a.decoded.Raw(keys...) }

// metaMarker is a search tool of this package. It knows the group it was made for.
type metaMarker interface{ madeFor() *group }

func (t *metaTool) madeFor() *group { return t.group }

// metaTools are the search tools of the group's protocol.
func (g *group) metaTools() []*metaTool {
	tools := [...]func() []*metaTool{Keyword: keywordTools, Regexp: regexpTools, SearchLoad: searchLoadTools, SearchCall: searchCallTools}[g.settings.cfg.Protocol]()
	for _, m := range tools {
		m.group = g
	}
	return tools
}

// queryParams are the parameters of a search by words.
func queryParams() map[string]*schema.ParameterInfo {
	return map[string]*schema.ParameterInfo{
		"query":       {Type: schema.String, Required: true},
		"max_results": {Type: schema.Integer},
	}
}

// keywordTools is the search tool of the Keyword protocol.
func keywordTools() []*metaTool {
	return []*metaTool{{
		name: toolnames.Search, text: "tool_search", params: queryParams,
		answer: func(ctx context.Context, r *run, a arguments) (string, error) {
			f, err := newSearcher(r, r.turn().loadableBySearch).find(ctx, queriesOf(a), a.number(limitKeys...), nameSize)
			return encode(matchesAnswer{Matches: f.names(), AlreadyLoaded: f.alreadyLoaded, Hint: f.hint()}), err
		},
	}}
}

// matchesAnswer is the answer of tool_search. The key "matches" is Eino's; the others are
// omitted if empty.
type matchesAnswer struct {
	Matches       []string `json:"matches"`
	AlreadyLoaded []string `json:"already_loaded,omitempty"`
	Hint          string   `json:"hint,omitempty"`
}

// Keys that models use for the parameters by mistake.
var (
	queryKeys = []string{"query", "queries", "q", "keywords", "keyword", "search", "name", "names", "tool_name", "tool_names", "text"}
	limitKeys = []string{"max_results", "limit", "top_k", "n"}
)

func queriesOf(a arguments) []string { return a.texts(queryKeys...) }

// calledName is the name that a call of call_tool asks for.
func calledName(a arguments) string { return firstName(a.texts("name", "tool_name", "tool")) }

// argumentKeys are the keys that models use for the arguments, the right one and common
// mistakes.
var argumentKeys = []string{"arguments", "args", "parameters", "params", "input", "tool_input", "tool_arguments"}

// selectedAnswer is the answer of tool_search in the Regexp protocol.
type selectedAnswer struct {
	Selected      []string `json:"selectedTools"`
	AlreadyLoaded []string `json:"already_loaded,omitempty"`
	Hint          string   `json:"hint,omitempty"`
}

func regexpTools() []*metaTool {
	return []*metaTool{{
		name: toolnames.Search, text: "tool_search_regexp",
		params: func() map[string]*schema.ParameterInfo {
			return map[string]*schema.ParameterInfo{"regex_pattern": {Type: schema.String, Required: true}}
		},
		answer: func(ctx context.Context, r *run, a arguments) (string, error) {
			pattern := firstName(a.texts("regex_pattern", "pattern", "regex", "query"))
			f, note := newSearcher(r, r.turn().loadableBySearch).matchNames(ctx, pattern)
			return encode(selectedAnswer{Selected: f.names(), AlreadyLoaded: f.alreadyLoaded, Hint: note}), ctx.Err()
		},
	}}
}

const (
	// maxShort bounds the description of a candidate, in runes.
	maxShort = 150
	// maxNearOnLoad is the most near names for an unknown name.
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

func searchLoadTools() []*metaTool {
	return []*metaTool{
		{name: toolnames.SearchTools, text: "search_tools", params: queryParams, answer: searchTools},
		{
			name: toolnames.Load, text: "load_tool", answer: loadTools,
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
	f, err := newSearcher(r, r.turn().findable).find(ctx, queriesOf(a), a.number(limitKeys...), candidateSize)
	answer := candidatesAnswer{Results: []candidate{}, AlreadyLoaded: f.alreadyLoaded, Hint: f.hint()}
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

// short is the beginning of a description.
func short(s string) string {
	r := []rune(s)
	if len(r) <= maxShort {
		return s
	}
	return string(r[:maxShort-1]) + "…"
}

func loadTools(ctx context.Context, r *run, a arguments) (string, error) {
	s, f := newSearcher(r, r.turn().loadableByName), searchResult{visible: r.notes.visibleNames(ctx)}
	s.selectByName(ctx, namesToLoad(a, s.knows(ctx)), &f)
	f.bound(nameSize)
	f.markLoaded()
	s.noteMissing(ctx, &f)
	answer := loadAnswer{Loaded: difference(f.names(), f.alreadyLoaded), AlreadyLoaded: f.alreadyLoaded}
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

type describedTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

type describedAnswer struct {
	Tools []describedTool `json:"tools"`
	Hint  string          `json:"hint,omitempty"`
}

func searchCallTools() []*metaTool {
	return []*metaTool{
		{name: toolnames.Search, text: "tool_search_call", params: queryParams, answer: describeTools},
		{
			name: toolnames.Call, text: "call_tool",
			params: func() map[string]*schema.ParameterInfo {
				return map[string]*schema.ParameterInfo{
					"name":      {Type: schema.String, Required: true},
					"arguments": {Type: schema.Object, Required: true},
				}
			},
		},
	}
}

func describeTools(ctx context.Context, r *run, a arguments) (string, error) {
	f, err := newSearcher(r, r.turn().loadableBySearch).find(ctx, queriesOf(a), a.number(limitKeys...), describedSize)
	answer := describedAnswer{Tools: []describedTool{}}
	for _, x := range f.found {
		d, shortened := describe(x.entry)
		if answer.Tools = append(answer.Tools, d); shortened {
			f.cuts = append(f.cuts, render("shortened-tool", promptData{Name: d.Name}))
		}
	}
	answer.Hint = f.hint()
	return encode(answer), err
}

// describe describes a tool for an answer, and reports whether the schema is shortened: each
// tool alone fits into an answer.
func describe(e *entry) (d describedTool, shortened bool) {
	text, shortened := e.shownParameters()
	desc := cutText(e.info.Desc, maxAnswerBytes-describedRest-jsonSize(e.info.Name)-len(text))
	return describedTool{e.info.Name, desc, json.RawMessage(text)}, shortened || len(desc) != len(e.info.Desc)
}

// describedRest is the bytes around the texts of a described tool.
const describedRest = len(`{"name":"description":"parameters":},`)

func describedSize(e *entry) int {
	d, _ := describe(e)
	return describedRest + jsonSize(d.Name) + jsonSize(d.Description) + len(d.Parameters)
}

// nativeTool is the search tool in native mode: its results are the provider's.
type nativeTool struct{ t *metaTool }

func (n nativeTool) madeFor() *group { return n.t.group }

// Info describes the tool.
func (n nativeTool) Info(ctx context.Context) (*schema.ToolInfo, error) { return n.t.Info(ctx) }

// InvokableRun answers a search with the infos of the found tools.
func (n nativeTool) InvokableRun(ctx context.Context, args *schema.ToolArgument, _ ...tool.Option) (*schema.ToolResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, a := n.t.runFor(ctx), decodeArguments(argumentText(args))
	f, err := newSearcher(r, r.turn().loadableBySearch).find(ctx, queriesOf(a), a.number(limitKeys...), nameSize)
	if err != nil {
		return nil, err
	}
	c := r.group().settings.rules
	text, fresh := f.hint(), f.found
	if c.newOnly {
		visible := r.notes.visibleNames(ctx)
		fresh = slices.DeleteFunc(slices.Clone(f.found), func(x foundTool) bool {
			return visible[x.entry.info.Name] || !r.notes.returnsFirst(x.entry.info.Name)
		})
	}
	if len(fresh) == 0 && len(f.found) > 0 {
		text = strings.TrimSpace(render("already-loaded", promptData{Words: f.names()}) + " " + text)
	}
	if len(fresh) == 0 && (c.emptyAsText || c.name == "" && text != "") {
		return textResult(text), nil
	}
	infos := make([]*schema.ToolInfo, len(fresh))
	names := make([]string, len(fresh))
	for i, x := range fresh {
		infos[i], names[i] = r.group().infoOf(x.entry), x.entry.info.Name
	}
	r.notes.noteAnswer(callID(ctx), names) // an empty answer is also ours
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{
		Type: schema.ToolPartTypeToolSearchResult, ToolSearchResult: &schema.ToolSearchResult{Tools: infos},
	}}}, nil
}

// emptyNote is advice after a search that found nothing, for results in the provider's form,
// which have no room for it.
func emptyNote(ctx context.Context, r *run, c *wire.Call) string {
	a := decodeArguments(c.Args)
	f, err := newSearcher(r, r.turn().loadableBySearch).search(ctx, queriesOf(a), a.number(limitKeys...))
	if text := f.hint(); err == nil && text != "" {
		return text
	}
	return render("no-match", promptData{Listed: r.turn().hasList(ctx)})
}

// searchAnswer decodes the answers of the search tools of all protocols, and of Eino's.
type searchAnswer struct {
	Matches  []string `json:"matches"`       // Keyword
	Selected []string `json:"selectedTools"` // Regexp
	Loaded   []string `json:"loaded"`        // load_tool
	Already  []string `json:"already_loaded"`
	Tools    []struct {
		Name string `json:"name"`
	} `json:"tools"` // SearchCall
}

// loadedBy returns the names of the tools that a result of a search tool loaded; nil if it is
// no such result.
func loadedBy(text string) []string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		return nil
	}
	var a searchAnswer
	if sonic.ConfigStd.UnmarshalFromString(text, &a) != nil {
		return nil
	}
	names := append([]string{}, slices.Concat(a.Matches, a.Selected, a.Loaded, a.Already)...)
	for _, t := range a.Tools {
		names = append(names, t.Name)
	}
	return names
}
