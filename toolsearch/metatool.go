// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The search tools as Eino sees them: their arguments, and their answers in each protocol and in the
// provider's form.

import (
	"context"
	"slices"
	"strings"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/toolsearch/internal/found"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/internal/slots"
	"github.com/einolean/einolean/toolsearch/internal/turn"
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
	phases []Phase // that a tool must be allowed in
	// answer returns the answer for the model. Its only error is the context's.
	answer func(context.Context, found.Search, lenient.Arguments) (string, error)
}

// InvokableRun answers a search. Whatever the model wrote, the answer is text for it.
func (t *metaTool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	r := t.runFor(ctx)
	text, err := t.answer(ctx, r.search(ctx, t.phases...), lenient.Decode(args))
	if id := callID(ctx); id != "" && err == nil {
		r.Note(id, turn.Note{IsOurs: true, Loaded: turn.Loaded(text)})
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
		Limit: cfg.MaxResults, Total: found.Most(cfg.MaxResults), Native: t.catalog.rules.Native,
		Calls: cfg.Protocol == SearchCall, Unloads: cfg.UnloadAfter > 0, Ungated: cfg.AllowUnloadedCalls, Partial: cfg.CatalogLimit > 0 || t.catalog.filtered,
	}
	for key, p := range params {
		p.Desc = texts.Say(t.text+"."+key, data)
	}
	return &schema.ToolInfo{Name: t.name, Desc: texts.Say(t.text, data), ParamsOneOf: schema.NewParamsOneOfByParams(params)}, nil
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
		if first.phases = toLoad; p == Regexp {
			first.answer = found.SignMatches
		} else {
			first.answer, first.text = found.Sign, "tool_search_code"
		}
	}
	return tools
}

// toLoad are the phases of a search that loads what it finds.
var toLoad = []Phase{PhaseSearch, PhaseLoad}

// queryParams are the parameters of a search by words.
func queryParams() map[string]*schema.ParameterInfo {
	return map[string]*schema.ParameterInfo{
		"query":       {Type: schema.String, Required: true},
		"max_results": {Type: schema.Integer},
	}
}

// keywordTools is the search tool of the Keyword protocol.
func keywordTools() []*metaTool {
	return []*metaTool{{metaInfo{name: toolnames.Search, text: "tool_search", params: queryParams}, toLoad, found.Keyword}}
}

func regexpTools() []*metaTool {
	return []*metaTool{{metaInfo{name: toolnames.Search, text: "tool_search_regexp", params: func() map[string]*schema.ParameterInfo {
		return map[string]*schema.ParameterInfo{"regex_pattern": {Type: schema.String, Required: true}}
	}}, toLoad, found.Regexp}}
}

func searchLoadTools() []*metaTool {
	return []*metaTool{
		{metaInfo{name: toolnames.SearchTools, text: "search_tools", params: queryParams}, []Phase{PhaseSearch}, found.Candidates},
		{metaInfo{name: toolnames.Load, text: "load_tool", params: func() map[string]*schema.ParameterInfo {
			return map[string]*schema.ParameterInfo{
				"tool_name":  {Type: schema.String},
				"tool_names": {Type: schema.Array, ElemInfo: &schema.ParameterInfo{Type: schema.String}},
			}
		}}, []Phase{PhaseLoad}, found.Load},
	}
}

func searchCallTools() []*metaTool {
	return []*metaTool{{metaInfo{name: toolnames.Search, text: "tool_search_call", params: queryParams}, toLoad, found.Describe}}
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
	s := r.search(ctx, toLoad...)
	f, err := found.Find(ctx, s, a)
	if err != nil {
		return nil, err
	}
	c := r.rules
	text, fresh := f.Hint(), f.Found
	if c.NewOnly {
		visible := s.For.Sees()
		fresh = slices.DeleteFunc(slices.Clone(f.Found), func(x found.Tool) bool {
			return visible[x.Info.Name] || !r.ReturnsFirst(x.Info.Name)
		})
	}
	if len(fresh) == 0 && len(f.Found) > 0 {
		text = strings.TrimSpace(say.Text("already-loaded", say.Data{Words: f.Names()}) + " " + text)
	}
	if len(fresh) == 0 && (c.EmptyAsText || c.HintAsText && text != "") {
		return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: text}}}, nil
	}
	infos := make([]*schema.ToolInfo, len(fresh))
	names := make([]string, len(fresh))
	for i, x := range fresh {
		infos[i], names[i] = c.Info(x.Tool), x.Info.Name
	}
	r.Note(callID(ctx), turn.Note{IsOurs: true, Loaded: names}) // an empty answer is also ours
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{
		Type: schema.ToolPartTypeToolSearchResult, ToolSearchResult: &schema.ToolSearchResult{Tools: infos},
	}}}, nil
}

// argumentKeys are the keys that models use for the arguments, the right one and common
// mistakes.
var argumentKeys = []string{"arguments", "args", "parameters", "params", "input", "tool_input", "tool_arguments"}

// argumentsFor returns the arguments to pass to a tool, or the problem with them, for the model.
func argumentsFor(e *hidden.Tool, raw string) (args, problem string) {
	args, err := e.Arguments(raw)
	switch {
	case err == hidden.ErrNoObject:
		problem = say.Text("no-object", say.Data{})
	case err != nil:
		problem = toolschema.Problem(err)
	}
	return args, problem
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
	e := r.catalog().Resolve(name, func(e *hidden.Tool) bool { return r.allows(ctx, FilterRequest{Tool: e.Info}, PhaseLoad, PhaseCall) })
	if e == nil {
		if denied := r.catalog().Resolve(name, func(*hidden.Tool) bool { return true }); denied != nil {
			r.emitDeniedCall(ctx, denied, PhaseCall, PhaseLoad)
		}
		return answer(r.noSuchTool(ctx, name))
	}
	text, problem := argumentsFor(e, a.Raw(argumentKeys...))
	if problem != "" {
		return answer(say.Text("bad-arguments", say.Schema(e, problem)))
	}
	r.Note(callID(ctx), turn.Note{Tool: e.Info.Name})
	ctx = callbacks.ReuseHandlers(ctx, &callbacks.RunInfo{Name: e.Info.Name, Type: e.Type(), Component: components.ComponentOfTool})
	return slots.Running(ctx, slots.Tool{Name: e.Info.Name, Desc: e.Info.Desc, Tool: e.Value, Type: e.Type()}, text)
}
