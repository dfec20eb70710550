// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file holds the search tools as Eino sees them; protocol files say what they answer.

import (
	"context"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

// The names of the search tools.
const (
	searchToolName  = "tool_search"  // Keyword, Regexp, SearchCall
	searchToolsName = "search_tools" // SearchLoad
	loadToolName    = "load_tool"    // SearchLoad
	callToolName    = "call_tool"    // SearchCall
)

// isMetaTool reports whether a name is that of a search tool of any protocol.
func isMetaTool(name string) bool {
	switch name {
	case searchToolName, searchToolsName, loadToolName, callToolName:
		return true
	}
	return false
}

// metaMarker is a search tool of this package. It tells which group it was made for.
type metaMarker interface{ groupOf() *group }

// metaTool is a search tool. It is immutable; what it answers depends on the run.
type metaTool struct {
	group *group
	name  string
	text  string // the text that describes it; texts that start with it describe its parameters
	// params are its parameters, without their descriptions.
	params func() map[string]*schema.ParameterInfo
	// answer is what the model gets. Its only error is the context's.
	answer func(context.Context, *run, arguments) (string, error)
}

func (t *metaTool) groupOf() *group { return t.group }

// Info describes the tool, in the language that is set.
func (t *metaTool) Info(context.Context) (*schema.ToolInfo, error) { return t.info(), nil }

func (t *metaTool) info() *schema.ToolInfo {
	texts, facts := current(), t.group.facts()
	params := t.params()
	for key, p := range params {
		p.Desc = texts.say(t.text+"."+key, facts)
	}
	return &schema.ToolInfo{Name: t.name, Desc: texts.say(t.text, facts), ParamsOneOf: schema.NewParamsOneOfByParams(params)}
}

// queryParams are the parameters of a search by words.
func queryParams() map[string]*schema.ParameterInfo {
	return map[string]*schema.ParameterInfo{
		"query":       {Type: schema.String, Required: true},
		"max_results": {Type: schema.Integer},
	}
}

// facts are what the descriptions of the search tools depend on.
func (g *group) facts() hint {
	h := hint{
		Limit: g.cfg.MaxResults, Total: g.mostResults(), Native: g.contract.native,
		Unloads: g.cfg.UnloadAfter > 0, Ungated: g.cfg.AllowUnloadedCalls, Partial: g.cfg.CatalogLimit > 0,
	}
	for _, m := range g.members {
		h.Partial = h.Partial || m.cfg.Filter != nil
	}
	return h
}

// InvokableRun answers a search. Whatever the model wrote, the answer is text for it.
func (t *metaTool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	r := t.run(ctx)
	text, err := t.answer(ctx, r, decodeArguments(args))
	if id := compose.GetToolCallID(ctx); id != "" && err == nil {
		r.answer(id, loadedBy(text))
	}
	return text, err
}

// run is the run of the context, or, where the tool is called outside of one, a new one.
func (t *metaTool) run(ctx context.Context) *run {
	if r := runOf(ctx); r != nil && r.group == t.group {
		return r
	}
	return &run{group: t.group}
}

func appendMetas(tools []tool.BaseTool, metas []*metaTool) []tool.BaseTool {
	for _, m := range metas {
		// Where the provider searches, the tool is not shown; a model that copies an older
		// call of it from the history gets an answer all the same.
		switch {
		case m.group.contract.native && m.group.contract.clientRuns:
			tools = append(tools, nativeTool{m})
		case m.name == callToolName:
			tools = append(tools, m.group.callTool(m))
		default:
			tools = append(tools, m)
		}
	}
	return tools
}

// metaTools are the search tools of the group's protocol.
func (g *group) metaTools() []*metaTool {
	switch g.cfg.Protocol {
	case Regexp:
		return g.regexpTools()
	case SearchLoad:
		return g.searchLoadTools()
	case SearchCall:
		return g.searchCallTools()
	}
	return g.keywordTools()
}

// usesMetaName reports whether one of the group's search tools has the name.
func (g *group) usesMetaName(name string) bool {
	for _, m := range g.metaTools() {
		if m.name == name {
			return true
		}
	}
	return false
}

// keywordTools is the search tool of the Keyword protocol.
func (g *group) keywordTools() []*metaTool {
	return []*metaTool{{
		group: g, name: searchToolName, text: "tool_search", params: queryParams,
		answer: func(ctx context.Context, r *run, a arguments) (string, error) {
			f, err := r.find(ctx, queriesOf(a), a.number(limitKeys...), r.loadable, nameSize)
			return r.matches(&f), err
		},
	}}
}

// What models call the parameters when they do not look.
var (
	queryKeys = []string{"query", "queries", "q", "keywords", "keyword", "search", "name", "names", "tool_name", "tool_names", "text"}
	limitKeys = []string{"max_results", "maxresults", "limit", "top_k", "topk", "n"}
)

func queriesOf(a arguments) []string { return a.texts(queryKeys...) }

// loadable reports whether a search that loads may return a tool.
func (r *run) loadable(ctx context.Context, e *entry) bool {
	return r.allowed(ctx, e, PhaseSearch) && r.allowed(ctx, e, PhaseLoad)
}
