// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file holds the search tools as Eino sees them, and decodes their arguments, which
// are often not quite what the schema asks for. Protocol files say what they answer.

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bytedance/sonic"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

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
	texts, data := current(), t.group.descriptionData()
	params := t.params()
	for key, p := range params {
		p.Desc = texts.say(t.text+"."+key, data)
	}
	return &schema.ToolInfo{Name: t.name, Desc: texts.say(t.text, data), ParamsOneOf: schema.NewParamsOneOfByParams(params)}
}

// queryParams are the parameters of a search by words.
func queryParams() map[string]*schema.ParameterInfo {
	return map[string]*schema.ParameterInfo{
		"query":       {Type: schema.String, Required: true},
		"max_results": {Type: schema.Integer},
	}
}

// descriptionData is what the descriptions of the search tools depend on.
func (g *group) descriptionData() hint {
	h := hint{
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
		case m.group.rules.native && m.group.rules.clientRuns:
			tools = append(tools, nativeTool{m})
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

// arguments are decoded arguments of a search tool. Keys are lower case.
type arguments struct {
	fields map[string]any
	bare   any // the value, where it is not an object
	text   string
}

// decodeArguments never fails: what is not JSON is taken as text.
func decodeArguments(text string) arguments {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	if text == "" {
		return arguments{}
	}
	var m map[string]any
	if sonic.ConfigStd.UnmarshalFromString(text, &m) == nil {
		return arguments{fields: lowerKeys(m), text: text}
	}
	var v any
	if sonic.ConfigStd.UnmarshalFromString(text, &v) == nil {
		return arguments{bare: v}
	}
	return arguments{bare: brokenObject(text)}
}

// raw is the value under the first of the keys that is there, as the model wrote it:
// decoding loses digits of long numbers. "" if there is none.
func (a arguments) raw(keys ...string) string {
	var m map[string]json.RawMessage
	if a.fields == nil || sonic.ConfigStd.UnmarshalFromString(a.text, &m) != nil {
		return ""
	}
	m = lowerKeys(m)
	for _, k := range keys {
		if v, ok := m[k]; ok {
			return string(v)
		}
	}
	return ""
}

// lowerKeys makes keys lower case; where several become one, the lower-case key itself
// wins, and otherwise the first in order.
func lowerKeys[T any](m map[string]T) map[string]T {
	if !hasUpper(m) {
		return m
	}
	lower := make(map[string]T, len(m))
	for _, k := range slices.Backward(slices.Sorted(maps.Keys(m))) {
		lower[strings.ToLower(k)] = m[k]
	}
	for k := range lower {
		if v, ok := m[k]; ok {
			lower[k] = v
		}
	}
	return lower
}

func hasUpper[T any](m map[string]T) bool {
	for k := range m {
		if strings.ToLower(k) != k {
			return true
		}
	}
	return false
}

// brokenObject gives up on text that was meant to be an object, and takes any other
// text as it is.
func brokenObject(text string) any {
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return nil
	}
	return strings.Trim(text, "\"")
}

// texts returns the texts under the first of the keys that is there: a text, a number,
// or a list of them. Without any of the keys the value counts that is not an object.
func (a arguments) texts(keys ...string) []string {
	for _, k := range keys {
		if v, ok := a.fields[k]; ok {
			if t := textsOf(v); len(t) > 0 {
				return t
			}
		}
	}
	return textsOf(a.bare)
}

func textsOf(v any) []string {
	switch v := v.(type) {
	case string:
		if strings.TrimSpace(v) != "" {
			return []string{v}
		}
	case float64:
		return []string{strconv.FormatFloat(v, 'g', -1, 64)}
	case []any:
		var out []string
		for _, e := range v {
			if _, nested := e.([]any); !nested {
				out = append(out, textsOf(e)...)
			}
		}
		return out
	case map[string]any:
		return textsOf(v["query"])
	}
	return nil
}

// number returns the whole number under the first of the keys that holds one: as a
// number, with decimals, or as text. Zero if there is none.
func (a arguments) number(keys ...string) int {
	for _, k := range keys {
		f, ok := a.fields[k].(float64)
		if s, isText := a.fields[k].(string); isText {
			parsed, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
			f, ok = parsed, err == nil
		}
		if ok && !math.IsNaN(f) {
			return int(math.Max(-1, math.Min(f, math.MaxInt32)))
		}
	}
	return 0
}
