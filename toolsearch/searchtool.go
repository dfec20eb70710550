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

	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/history"
	"github.com/einolean/einolean/toolsearch/internal/protocol"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
	"github.com/einolean/einolean/toolsearch/internal/search"
)

// toolsOf are the search tools of each protocol, the one that searches first. Where the agent has programs,
// another takes its place, which answers with signatures.
var toolsOf = [protocols]struct {
	tools        []metaTool
	withPrograms metaTool
}{
	Keyword: {
		tools:        []metaTool{{name: toolnames.Search, text: "tool_search", params: queryParams, to: phasesFind, answer: search.AnswerNames}},
		withPrograms: metaTool{name: toolnames.Search, text: "tool_search_code", params: queryParams, to: phasesFind, answer: search.AnswerSignatures},
	},
	Regexp: {
		tools:        []metaTool{{name: toolnames.Search, text: "tool_search_regexp", params: patternParams, to: phasesFind, answer: search.Regexp}},
		withPrograms: metaTool{name: toolnames.Search, text: "tool_search_regexp", params: patternParams, to: phasesFind, answer: search.SignMatches},
	},
	SearchLoad: {
		tools: []metaTool{
			{name: toolnames.SearchTools, text: "search_tools", params: queryParams, to: phasesSearch, answer: search.Candidates},
			{name: toolnames.Load, text: "load_tool", params: namesParams, to: phasesLoad, answer: search.AnswerLoad},
		},
		withPrograms: metaTool{name: toolnames.SearchTools, text: "tool_search_code", params: queryParams, to: phasesFind, answer: search.AnswerSignatures},
	},
	SearchCall: {
		tools:        []metaTool{{name: toolnames.Search, text: "tool_search_call", params: queryParams, to: phasesFind, answer: search.Describe}},
		withPrograms: metaTool{name: toolnames.Search, text: "tool_search_code", params: queryParams, to: phasesFind, answer: search.AnswerSignatures},
	},
}

// metaTool is a tool that the model of a run gets instead of the hidden ones. It is immutable.
type metaTool struct {
	run  *run
	name string
	text string // the text that describes it; texts whose names start with it describe its parameters
	// params are its parameters, without their descriptions.
	params func() map[string]*schema.ParameterInfo

	to phases // the tools that a search returns
	// answer returns the answer of a search for the model. Its only error is the context's.
	answer func(context.Context, search.Searcher, jsontext.Arguments) (string, error)
}

// InvokableRun answers a search. Whatever the model wrote, the answer is text for it.
func (t *metaTool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	text, err := t.answer(ctx, t.run.search(ctx, t.to), jsontext.DecodeArguments(args))
	if id := compose.GetToolCallID(ctx); id != "" && err == nil {
		t.run.calls.Record(id, runstate.CallOutcome{IsSearch: true, Loaded: history.ParseLoadedNames(text)})
	}
	return text, err
}

// HiddenTools tells package window which tools there are to find. They are read only.
func (t *metaTool) HiddenTools(context.Context) []*schema.ToolInfo {
	return t.run.catalog().tools.Infos()
}

// Info describes the tool, in the language that is set.
func (t *metaTool) Info(context.Context) (*schema.ToolInfo, error) {
	texts, params, data := protocol.Prompts.Current(), t.params(), t.run.settings.promptParams
	for key, p := range params {
		p.Desc = texts.Say(t.text+"."+key, data)
	}
	return &schema.ToolInfo{Name: t.name, Desc: texts.Say(t.text, data), ParamsOneOf: schema.NewParamsOneOfByParams(params)}, nil
}

// madeBy is the instance that put the tool into a list.
func (t *metaTool) owner() *settings { return t.run.settings }

// searchTools are those of a run. With programs in the agent, the one that searches answers with signatures,
// unless the provider reads its answers. Where the provider searches, none is shown, but a model that copies
// an older call of one from the history still gets an answer.
func searchTools(r *run) (tools []tool.BaseTool) {
	of := &toolsOf[r.settings.cfg.Protocol]
	for i, t := range of.tools {
		if i == 0 && r.answersSignatures && !r.settings.rules.Native {
			t = of.withPrograms
		}
		if t.run = r; r.settings.rules.Native && r.settings.rules.ClientRuns {
			tools = append(tools, nativeTool{&t})
		} else {
			tools = append(tools, &t)
		}
	}
	if r.settings.protocol.hasCallTool {
		call := &metaTool{run: r, name: toolnames.Call, text: "call_tool", params: callParams}
		tools = append(tools, r.tools.slots.CallTools(call)...)
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
	r := n.run
	s := r.search(ctx, n.to)
	f, err := search.Find(ctx, s, jsontext.DecodeArguments(args.Text))
	if err != nil {
		return nil, err
	}
	c := r.settings.rules
	text, fresh := f.Hint(), f.Found
	if c.ReturnOnce {
		visible := s.For.Sees()
		fresh = slices.DeleteFunc(slices.Clone(f.Found), func(x search.Hit) bool {
			return visible[x.Info.Name] || !r.calls.MarkReturned(x.Info.Name)
		})
	}
	if len(fresh) == 0 && len(f.Found) > 0 {
		text = strings.TrimSpace(protocol.Text("already-loaded", protocol.Data{Words: f.Names()}) + " " + text)
	}
	if len(fresh) == 0 && (c.EmptyAsText || c.HintAsText && text != "") {
		return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: text}}}, nil
	}
	infos := make([]*schema.ToolInfo, len(fresh))
	names := make([]string, len(fresh))
	for i, x := range fresh {
		infos[i], names[i] = c.Info(x.Tool), x.Info.Name
	}
	r.calls.Record(compose.GetToolCallID(ctx), runstate.CallOutcome{IsSearch: true, Loaded: names}) // an empty answer is also ours
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{
		Type: schema.ToolPartTypeToolSearchResult, ToolSearchResult: &schema.ToolSearchResult{Tools: infos},
	}}}, nil
}
