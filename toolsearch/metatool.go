// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The search tools as Eino sees them: their arguments, and their answers in each protocol and in the
// provider's form.

import (
	"context"
	"slices"
	"strings"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/found"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/internal/slots"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

// toolsOf are the search tools of each protocol, the one that searches first. Where the agent has programs,
// another takes its place, which answers with signatures.
var toolsOf = [protocols]struct {
	tools        []metaTool
	withPrograms metaTool
}{
	Keyword: {
		tools:        []metaTool{{metaInfo{name: toolnames.Search, text: "tool_search", params: queryParams}, toFind, found.Keyword}},
		withPrograms: metaTool{metaInfo{name: toolnames.Search, text: "tool_search_code", params: queryParams}, toFind, found.Sign},
	},
	Regexp: {
		tools:        []metaTool{{metaInfo{name: toolnames.Search, text: "tool_search_regexp", params: patternParams}, toFind, found.Regexp}},
		withPrograms: metaTool{metaInfo{name: toolnames.Search, text: "tool_search_regexp", params: patternParams}, toFind, found.SignMatches},
	},
	SearchLoad: {
		tools: []metaTool{
			{metaInfo{name: toolnames.SearchTools, text: "search_tools", params: queryParams}, toSearch, found.Candidates},
			{metaInfo{name: toolnames.Load, text: "load_tool", params: namesParams}, toLoad, found.Load},
		},
		withPrograms: metaTool{metaInfo{name: toolnames.SearchTools, text: "tool_search_code", params: queryParams}, toFind, found.Sign},
	},
	SearchCall: {
		tools:        []metaTool{{metaInfo{name: toolnames.Search, text: "tool_search_call", params: queryParams}, toFind, found.Describe}},
		withPrograms: metaTool{metaInfo{name: toolnames.Search, text: "tool_search_code", params: queryParams}, toFind, found.Sign},
	},
}

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
	to way // the tools that it returns
	// answer returns the answer for the model. Its only error is the context's.
	answer func(context.Context, found.Search, lenient.Arguments) (string, error)
}

// InvokableRun answers a search. Whatever the model wrote, the answer is text for it.
func (t *metaTool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	r := t.runFor(ctx)
	text, err := t.answer(ctx, r.search(ctx, t.to), lenient.Decode(args))
	if id := compose.GetToolCallID(ctx); id != "" && err == nil {
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
	texts, params, data := say.Prompts.Current(), t.params(), t.catalog.describing
	for key, p := range params {
		p.Desc = texts.Say(t.text+"."+key, data)
	}
	return &schema.ToolInfo{Name: t.name, Desc: texts.Say(t.text, data), ParamsOneOf: schema.NewParamsOneOfByParams(params)}, nil
}

func (t *metaInfo) madeFor() *catalog { return t.catalog }

// searchTools are those of a run. With programs in the agent, the one that searches answers with signatures,
// unless the provider reads its answers. Where the provider searches, none is shown, but a model that copies
// an older call of one from the history still gets an answer.
func searchTools(r *run) (tools []tool.BaseTool) {
	of := &toolsOf[r.cfg.Protocol]
	for i, t := range of.tools {
		if i == 0 && r.signs && !r.rules.Native {
			t = of.withPrograms
		}
		if t.catalog = r.start; r.rules.Native && r.rules.ClientRuns {
			tools = append(tools, nativeTool{&t})
		} else {
			tools = append(tools, &t)
		}
	}
	if r.protocol.hasCallTool {
		call := &callTool{metaInfo{catalog: r.start, name: toolnames.Call, text: "call_tool", params: callParams}}
		tools = append(tools, r.slots.Calling(call)...)
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

func patternParams() map[string]*schema.ParameterInfo {
	return map[string]*schema.ParameterInfo{"regex_pattern": {Type: schema.String, Required: true}}
}

func namesParams() map[string]*schema.ParameterInfo {
	return map[string]*schema.ParameterInfo{
		"tool_name":  {Type: schema.String},
		"tool_names": {Type: schema.Array, ElemInfo: &schema.ParameterInfo{Type: schema.String}},
	}
}

func callParams() map[string]*schema.ParameterInfo {
	return map[string]*schema.ParameterInfo{
		"name":      {Type: schema.String, Required: true},
		"arguments": {Type: schema.Object, Required: true},
	}
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
	s := r.search(ctx, toFind)
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
	r.Note(compose.GetToolCallID(ctx), turn.Note{IsOurs: true, Loaded: names}) // an empty answer is also ours
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{
		Type: schema.ToolPartTypeToolSearchResult, ToolSearchResult: &schema.ToolSearchResult{Tools: infos},
	}}}, nil
}

// callTool runs a hidden tool by its name. It is listed in two forms, of which a round of calls shows the
// model the one with the kind of result of the tool that is called: see [slots.Slots.Calling].
type callTool struct{ metaInfo }

// CallOf reads the arguments of call_tool. Eino tells the callbacks of its answers.
func (t *callTool) CallOf(ctx context.Context, args string) slots.Call {
	return callView{t.runFor(ctx)}.byName(ctx, args)
}
