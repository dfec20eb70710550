// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The search tools as Eino sees them: their arguments, and their answers in each protocol and in the
// provider's form.

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/internal/slots"
	"github.com/einolean/einolean/toolsearch/internal/turn"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// metaInfo describes a tool that the model gets instead of the hidden ones. It is immutable.
type metaInfo struct {
	catalog *catalog
	name    string
	text    string // the text that describes it; texts whose names start with it describe its parameters
	// params are its parameters, without their descriptions.
	params func() map[string]*schema.ParameterInfo
}

// metaTool is a search tool. Its answers depend on the run.
type metaTool struct {
	metaInfo
	// answer returns the answer for the model. Its only error is the context's.
	answer func(context.Context, *run, lenient.Arguments) (string, error)
}

// InvokableRun answers a search. Whatever the model wrote, the answer is text for it.
func (t *metaTool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	r := t.runFor(ctx)
	text, err := t.answer(ctx, r, lenient.Decode(args))
	if id := callID(ctx); id != "" && err == nil {
		r.note(id, turn.Note{IsOurs: true, Loaded: turn.Loaded(text)})
	}
	return text, err
}

// HiddenTools tells package window which tools there are to find. They are read only.
func (t *metaInfo) HiddenTools(ctx context.Context) []*schema.ToolInfo {
	return t.runFor(ctx).catalog().Infos()
}

// runFor returns the run of the context, or a new one if the tool is called outside a run.
func (t *metaInfo) runFor(ctx context.Context) *run {
	if r := runOf(ctx); r != nil && r.start == t.catalog {
		return r
	}
	return newRun(t.catalog)
}

// Info describes the tool, in the language that is set.
func (t *metaInfo) Info(context.Context) (*schema.ToolInfo, error) {
	texts, params, cfg := say.Prompts.Current(), t.params(), &t.catalog.cfg
	data := say.Search{
		Limit: cfg.MaxResults, Total: mostResults(cfg), Native: t.catalog.rules.Native,
		Calls: cfg.Protocol == SearchCall, Unloads: cfg.UnloadAfter > 0, Ungated: cfg.AllowUnloadedCalls, Partial: cfg.CatalogLimit > 0 || t.catalog.filtered,
	}
	for key, p := range params {
		p.Desc = texts.Say(t.text+"."+key, data)
	}
	return &schema.ToolInfo{Name: t.name, Desc: texts.Say(t.text, data), ParamsOneOf: schema.NewParamsOneOfByParams(params)}, nil
}

// textsOf returns the texts under the first key that holds any, or else those of arguments that
// are not an object.
func textsOf(a lenient.Arguments, keys ...string) []string {
	if texts := a.Texts(keys...); len(texts) > 0 {
		return texts
	}
	return a.Bare()
}

func firstName(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// splitNames splits a list of names. The result is not nil, and holds each name once.
func splitNames(list string, known func(string) bool) []string {
	if name := strings.TrimSpace(list); known(name) {
		return []string{name}
	}
	names := []string{}
	seen := map[string]bool{}
	add := func(name string) {
		if name != "" && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); known(part) {
			add(part)
			continue
		}
		for _, word := range strings.FieldsFunc(part, isListSeparator) {
			add(strings.TrimFunc(word, isQuote))
		}
	}
	return names
}

func isListSeparator(r rune) bool {
	return r == ',' || r == ';' || r == '，' || r == '、' || unicode.IsSpace(r)
}

func isQuote(r rune) bool { return strings.ContainsRune("\"'`“”‘’「」[]()", r) }

// limitOf returns the number of results that a search asks for, or zero. A negative one becomes -1.
func limitOf(a lenient.Arguments) int {
	return int(max(-1, min(a.Number("max_results", "limit", "top_k", "n"), math.MaxInt32)))
}

func (t *metaInfo) madeFor() *catalog { return t.catalog }

// searchTools are those of the catalogue's protocol. With programs in the agent, the one that searches
// answers with signatures, unless the provider reads its answers.
func (c *catalog) searchTools(signs bool) []*metaTool {
	p := c.cfg.Protocol
	tools := [...]func() []*metaTool{Keyword: keywordTools, Regexp: regexpTools, SearchLoad: searchLoadTools, SearchCall: searchCallTools}[p]()
	for _, t := range tools {
		t.catalog = c
	}
	if first := tools[0]; signs && !c.rules.Native {
		first.answer = signTools
		if p == Regexp {
			first.answer = signMatches
		} else {
			first.text = "tool_search_code"
		}
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
		metaInfo: metaInfo{name: toolnames.Search, text: "tool_search", params: queryParams},
		answer: func(ctx context.Context, r *run, a lenient.Arguments) (string, error) {
			f, err := newSearcher(r, PhaseSearch, PhaseLoad).find(ctx, queriesOf(a), limitOf(a), nameSize)
			return say.JSON(answer{Matches: f.names(), AlreadyLoaded: f.alreadyLoaded, Hint: f.hint()}), err
		},
	}}
}

// queriesOf are the searches that a call asks for, under the right key or one that models use by
// mistake.
func queriesOf(a lenient.Arguments) []string {
	return textsOf(a, "query", "queries", "q", "keywords", "keyword", "search", "name", "names", "tool_name", "tool_names", "text")
}

// argumentKeys are the keys that models use for the arguments, the right one and common
// mistakes.
var argumentKeys = []string{"arguments", "args", "parameters", "params", "input", "tool_input", "tool_arguments"}

// patternOf is the pattern that a call asks for.
func patternOf(a lenient.Arguments) string {
	return firstName(textsOf(a, "regex_pattern", "pattern", "regex", "query"))
}

func regexpTools() []*metaTool {
	return []*metaTool{{
		metaInfo: metaInfo{name: toolnames.Search, text: "tool_search_regexp", params: func() map[string]*schema.ParameterInfo {
			return map[string]*schema.ParameterInfo{"regex_pattern": {Type: schema.String, Required: true}}
		}},
		answer: func(ctx context.Context, r *run, a lenient.Arguments) (string, error) {
			f, note := newSearcher(r, PhaseSearch, PhaseLoad).matchNames(ctx, patternOf(a))
			return say.JSON(answer{Selected: f.names(), AlreadyLoaded: f.alreadyLoaded, Hint: note}), ctx.Err()
		},
	}}
}

const (
	// maxShort bounds the description of a candidate, in runes.
	maxShort = 150
	// maxNearOnLoad is the most near names for an unknown name.
	maxNearOnLoad = 3
)

func searchLoadTools() []*metaTool {
	return []*metaTool{
		{metaInfo: metaInfo{name: toolnames.SearchTools, text: "search_tools", params: queryParams}, answer: nameCandidates},
		{
			metaInfo: metaInfo{name: toolnames.Load, text: "load_tool", params: func() map[string]*schema.ParameterInfo {
				return map[string]*schema.ParameterInfo{
					"tool_name":  {Type: schema.String},
					"tool_names": {Type: schema.Array, ElemInfo: &schema.ParameterInfo{Type: schema.String}},
				}
			}},
			answer: loadTools,
		},
	}
}

func nameCandidates(ctx context.Context, r *run, a lenient.Arguments) (string, error) {
	f, err := newSearcher(r, PhaseSearch).find(ctx, queriesOf(a), limitOf(a), candidateSize)
	out := answer{Results: []describedTool{}, AlreadyLoaded: f.alreadyLoaded, Hint: f.hint()}
	for _, x := range f.found {
		score, desc := math.Round(x.score*100)/100, display.Clip(x.Info.Desc, maxShort)
		out.Results = append(out.Results, describedTool{Name: x.Info.Name, Description: &desc, Score: &score})
	}
	return say.JSON(out), err
}

// candidateSize is the bytes of a candidate, which may stand under already_loaded as well.
func candidateSize(e *hidden.Tool) int {
	const rest = `{"name":,"description":,"score":1234567.89},`
	return nameSize(e) + say.Size(display.Clip(e.Info.Desc, maxShort)) + len(rest)
}

func loadTools(ctx context.Context, r *run, a lenient.Arguments) (string, error) {
	s, f := newSearcher(r, PhaseLoad), searchResult{visible: r.visible(ctx)}
	s.selectByName(ctx, namesToLoad(a, s.knows(ctx)), &f)
	f.bound(nameSize)
	s.noteMissing(&f)
	out := answer{Loaded: turn.Difference(f.names(), f.alreadyLoaded), AlreadyLoaded: f.alreadyLoaded}
	for i, u := range f.unknown {
		f.unknown[i].Near = u.Near[:min(len(u.Near), maxNearOnLoad)]
	}
	if out.Hint = f.hint(); f.asked == 0 {
		out.Hint = say.Text("no-name", say.Data{})
	}
	return say.JSON(out), ctx.Err()
}

// namesToLoad are the names that a call of load_tool asks for.
func namesToLoad(a lenient.Arguments, known func(string) bool) (names []string) {
	for _, text := range append(textsOf(a, "tool_name", "name"), textsOf(a, "tool_names", "names", "tools")...) {
		for _, name := range splitNames(text, known) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// askedToLoad are the tools that a call of load_tool in a history asked for.
func (c *catalog) askedToLoad(a lenient.Arguments) (names []string) {
	any := func(*hidden.Tool) bool { return true }
	for _, name := range namesToLoad(a, c.has) {
		if e := c.resolve(name, any); e != nil && len(names) < maxNames {
			names = append(names, e.Info.Name)
		}
	}
	return names
}

func searchCallTools() []*metaTool {
	return []*metaTool{{metaInfo: metaInfo{name: toolnames.Search, text: "tool_search_call", params: queryParams}, answer: describeTools}}
}

func describeTools(ctx context.Context, r *run, a lenient.Arguments) (string, error) {
	f, err := newSearcher(r, PhaseSearch, PhaseLoad).find(ctx, queriesOf(a), limitOf(a), describedSize)
	out := answer{Tools: []describedTool{}}
	for _, x := range f.found {
		d, shortened := describe(x.Tool)
		if out.Tools = append(out.Tools, d); shortened {
			f.cuts = append(f.cuts, say.Text("shortened-tool", say.Data{Name: d.Name}))
		}
	}
	out.Hint = f.hint()
	return say.JSON(out), err
}

// describe describes a tool for an answer, and reports whether the schema is shortened: each
// tool alone fits into an answer.
func describe(e *hidden.Tool) (d describedTool, shortened bool) {
	text, shortened := e.Shown()
	desc := say.Cut(e.Info.Desc, maxAnswerBytes-describedRest-say.Size(e.Info.Name)-len(text))
	return describedTool{Name: e.Info.Name, Description: &desc, Parameters: json.RawMessage(text)}, shortened || len(desc) != len(e.Info.Desc)
}

// describedRest is the bytes around the texts of a described tool.
const describedRest = len(`{"name":"description":"parameters":},`)

func describedSize(e *hidden.Tool) int {
	d, _ := describe(e)
	return describedRest + say.Size(d.Name) + say.Size(*d.Description) + len(d.Parameters)
}

// nativeTool is the search tool in native mode: its results are the provider's.
type nativeTool struct{ *metaTool }

// InvokableRun answers a search with the infos of the found tools.
func (n nativeTool) InvokableRun(ctx context.Context, args *schema.ToolArgument, _ ...tool.Option) (*schema.ToolResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if args == nil {
		args = &schema.ToolArgument{}
	}
	r, a := n.runFor(ctx), lenient.Decode(args.Text)
	f, err := newSearcher(r, PhaseSearch, PhaseLoad).find(ctx, queriesOf(a), limitOf(a), nameSize)
	if err != nil {
		return nil, err
	}
	c := r.rules
	text, fresh := f.hint(), f.found
	if c.NewOnly {
		visible := r.visible(ctx)
		fresh = slices.DeleteFunc(slices.Clone(f.found), func(x foundTool) bool {
			return visible[x.Info.Name] || !r.returnsFirst(x.Info.Name)
		})
	}
	if len(fresh) == 0 && len(f.found) > 0 {
		text = strings.TrimSpace(say.Text("already-loaded", say.Data{Words: f.names()}) + " " + text)
	}
	if len(fresh) == 0 && (c.EmptyAsText || c.HintAsText && text != "") {
		return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: text}}}, nil
	}
	infos := make([]*schema.ToolInfo, len(fresh))
	names := make([]string, len(fresh))
	for i, x := range fresh {
		infos[i], names[i] = c.Info(x.Tool), x.Info.Name
	}
	r.note(callID(ctx), turn.Note{IsOurs: true, Loaded: names}) // an empty answer is also ours
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{
		Type: schema.ToolPartTypeToolSearchResult, ToolSearchResult: &schema.ToolSearchResult{Tools: infos},
	}}}, nil
}

// emptyNote is advice after a search that found nothing, for results in the provider's form,
// which have no room for it.
func emptyNote(ctx context.Context, r *run, c *wire.Call) string {
	a := lenient.Decode(c.Args)
	f, err := newSearcher(r, PhaseSearch, PhaseLoad).search(ctx, queriesOf(a), limitOf(a))
	if text := f.hint(); err == nil && text != "" {
		return text
	}
	return say.Text("no-match", say.Data{Listed: len(r.listable(ctx)) > 0})
}

// callTool runs a hidden tool by its name. It is listed in two forms, of which a round of calls shows the
// model the one with the kind of result of the tool that is called: see [slots.Slots.Calling].
type callTool struct{ metaInfo }

func newCallTool(c *catalog) *callTool {
	return &callTool{metaInfo{catalog: c, name: toolnames.Call, text: "call_tool", params: func() map[string]*schema.ParameterInfo {
		return map[string]*schema.ParameterInfo{
			"name":      {Type: schema.String, Required: true},
			"arguments": {Type: schema.Object, Required: true},
		}
	}}}
}

// CallOf reads the arguments of call_tool. Eino tells the callbacks of its answers.
func (t *callTool) CallOf(ctx context.Context, args string) slots.Call {
	answer := func(text string) slots.Call { return slots.Answering(ctx, text) }
	r, a := t.runFor(ctx), lenient.Decode(args)
	name := toolnames.Called(a)
	if name == "" || ctx.Err() != nil {
		return answer(say.Text("no-call-name", say.Data{}))
	}
	e := r.catalog().resolve(name, func(e *hidden.Tool) bool { return r.allows(ctx, FilterRequest{Tool: e.Info}, PhaseLoad, PhaseCall) })
	if e == nil {
		if denied := r.catalog().resolve(name, func(*hidden.Tool) bool { return true }); denied != nil {
			r.emitDeniedCall(ctx, denied, PhaseCall, PhaseLoad)
		}
		return answer(r.noSuchTool(ctx, name))
	}
	text, problem := say.Arguments(e, a.Raw(argumentKeys...))
	if problem != "" {
		return answer(say.Text("bad-arguments", say.Schema(e, problem)))
	}
	r.note(callID(ctx), turn.Note{Tool: e.Info.Name})
	ctx = callbacks.ReuseHandlers(ctx, &callbacks.RunInfo{Name: e.Info.Name, Type: e.Type(), Component: components.ComponentOfTool})
	return slots.Running(ctx, slots.Tool{Name: e.Info.Name, Desc: e.Info.Desc, Tool: e.Value, Type: e.Type()}, text)
}
