// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The search tools as Eino sees them, and their arguments. What they answer is in the file
// of each protocol.

import (
	"context"
	"math"
	"slices"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/lenient"
	"github.com/leanctx/leanctx/internal/toolnames"
)

// isMetaTool reports whether a name is that of a search tool of any protocol.
func isMetaTool(name string) bool {
	switch name {
	case toolnames.Search, toolnames.SearchTools, toolnames.Load, toolnames.Call:
		return true
	}
	return false
}

// metaMarker is a search tool of this package. It tells which group it was made for.
type metaMarker interface{ madeFor() *group }

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

func (t *metaTool) madeFor() *group { return t.group }

// Info describes the tool, in the language that is set.
func (t *metaTool) Info(context.Context) (*schema.ToolInfo, error) { return t.info(), nil }

func (t *metaTool) info() *schema.ToolInfo {
	say, data := prompts.Current(), t.group.descriptionData()
	params := t.params()
	for key, p := range params {
		p.Desc = renderIn(say, t.text+"."+key, data)
	}
	return &schema.ToolInfo{Name: t.name, Desc: renderIn(say, t.text, data), ParamsOneOf: schema.NewParamsOneOfByParams(params)}
}

// queryParams are the parameters of a search by words.
func queryParams() map[string]*schema.ParameterInfo {
	return map[string]*schema.ParameterInfo{
		"query":       {Type: schema.String, Required: true},
		"max_results": {Type: schema.Integer},
	}
}

// descriptionData is what the descriptions of the search tools depend on.
func (g *group) descriptionData() promptData {
	h := promptData{
		Limit: g.cfg.MaxResults, Total: g.mostResults(), Native: g.rules.native,
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
	if id := callID(ctx); id != "" && err == nil {
		r.notes.answer(id, loadedBy(text))
	}
	return text, err
}

// run is the run of the context, or, where the tool is called outside of one, a new one.
func (t *metaTool) run(ctx context.Context) *run {
	if r := runOf(ctx); r != nil && r.agent.start == t.group {
		return r
	}
	return newRun(t.group, agent{})
}

func appendMetas(tools []tool.BaseTool, metas []*metaTool, live *slots) []tool.BaseTool {
	for _, m := range metas {
		// Where the provider searches, the tool is not shown; a model that copies an older
		// call of it from the history gets an answer all the same.
		switch {
		case m.group.rules.native && m.group.rules.clientRuns:
			tools = append(tools, nativeTool{m})
		case m.name == toolnames.Call && live != nil:
			tools = append(tools, plainCallSlot{plainCall{m}, callSlot{live, m, false}}, enhancedCallSlot{enhancedCall{m}, callSlot{live, m, true}})
		case m.name == toolnames.Call:
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
	return slices.ContainsFunc(g.metaTools(), func(m *metaTool) bool { return m.name == name })
}

// keywordTools is the search tool of the Keyword protocol.
func (g *group) keywordTools() []*metaTool {
	return []*metaTool{{
		group: g, name: toolnames.Search, text: "tool_search", params: queryParams,
		answer: func(ctx context.Context, r *run, a arguments) (string, error) {
			f, err := r.searcher(r.turn().loadable).find(ctx, queriesOf(a), a.number(limitKeys...), nameSize)
			return f.matches(), err
		},
	}}
}

// What models call the parameters when they do not look.
var (
	queryKeys = []string{"query", "queries", "q", "keywords", "keyword", "search", "name", "names", "tool_name", "tool_names", "text"}
	limitKeys = []string{"max_results", "limit", "top_k", "n"}
)

func queriesOf(a arguments) []string { return a.texts(queryKeys...) }

// arguments are the decoded arguments of a search tool.
type arguments struct{ decoded lenient.Arguments }

// decodeArguments never fails: what is not JSON is a text.
func decodeArguments(text string) arguments { return arguments{lenient.Decode(text)} }

// texts returns the texts under the first of the keys that holds any, or else those of
// arguments that are not an object.
func (a arguments) texts(keys ...string) []string {
	if texts := a.decoded.Texts(keys...); len(texts) > 0 {
		return texts
	}
	return a.decoded.Bare()
}

// number returns the whole number under the first of the keys that holds one, or zero. A
// negative one becomes -1.
func (a arguments) number(keys ...string) int {
	return int(max(-1, min(a.decoded.Number(keys...), math.MaxInt32)))
}

// raw returns the value under the first of the keys that is there, as the model wrote it:
// decoding loses digits of long numbers. If there is none, it returns "".
func (a arguments) raw(keys ...string) string { return a.decoded.Raw(keys...) }
