// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Adapts a history that another model or adapter wrote to this run, or to a model without
// search, and tells a provider that keeps the conversation on its server what has changed.

import (
	"context"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/session"
	"github.com/leanctx/leanctx/internal/toolnames"
	"github.com/leanctx/leanctx/toolsearch/internal/wire"
)

// historyEditor adapts a history to a run: search results in the form that the adapter accepts,
// naming only tools that this call declares.
type historyEditor struct {
	rules    rules
	catalog  *catalog
	show     visibleSet
	pairs    wire.Pairs
	returned stringSet         // by the results so far
	findable func(*entry) bool // the model may know of the tool
	declared func(string) bool // this call declares the tool
}

// newEditor returns a constructor of the editor for a model call that shows these tools.
func newEditor(ctx context.Context, r *run, rules rules, show visibleSet) func(wire.Pairs) wire.Editor {
	return func(p wire.Pairs) wire.Editor {
		return &historyEditor{
			rules: rules, catalog: r.group().cat, show: show, pairs: p,
			findable: func(e *entry) bool { return r.turn().loadableBySearch(ctx, e) },
			declared: func(name string) bool {
				e := r.group().cat.lookup(name)
				return r.agent.own[name] && e == nil || e != nil && (show.has(name) || r.turn().defers(ctx, e))
			},
		}
	}
}

// Unmark keeps the marks of calls for adapters that need them, where the result fits.
func (h *historyEditor) Unmark(id string) bool {
	needed := h.rules.pairs || h.rules.name == "" && h.rules.acceptsNative
	return !needed || !h.pairs[id].Native
}

func (h *historyEditor) Hosted(tools []string) bool {
	return h.rules.hosted && !slices.ContainsFunc(tools, func(name string) bool { return !h.declared(name) })
}

func (h *historyEditor) Result(id, name string, tools []*schema.ToolInfo) ([]*schema.ToolInfo, string) {
	if !h.rules.acceptsNative || h.rules.pairs && !h.pairs[id].Marked {
		return nil, h.namesText(tools)
	}
	if name == "" {
		name = h.pairs[id].Name
	}
	kept := []*schema.ToolInfo{}
	var again []string
	for _, t := range tools {
		if h.rules.newOnly && h.returned[t.Name] {
			again = append(again, t.Name)
			continue
		}
		if dup := h.current(t, toolnames.IsSearchTool(name)); dup != nil {
			kept = append(kept, dup)
			h.returned.add(t.Name)
		}
	}
	if len(kept) > 0 || !h.rules.emptyAsText {
		return kept, ""
	}
	if len(again) > 0 {
		return nil, render("already-loaded", promptData{Words: again})
	}
	return nil, h.namesText(nil)
}

// current returns the current definition of a tool; nil if this call may not show it. Tools of
// another search, which are not ours, stay as they are.
func (h *historyEditor) current(t *schema.ToolInfo, ours bool) *schema.ToolInfo {
	e := h.catalog.lookup(t.Name)
	switch {
	case e == nil && ours:
		return nil
	case e == nil:
		return t
	case !h.show.has(t.Name):
		return nil
	case e.isCurrent(t):
		return t
	}
	return withOwnParams(e.native())
}

// namesText turns a result in the provider's form into text, without tools that the model may
// not know of.
func (h *historyEditor) namesText(tools []*schema.ToolInfo) string {
	names := []string{}
	for _, t := range tools {
		if e := h.catalog.lookup(t.Name); e == nil || h.findable(e) {
			names = append(names, t.Name)
		}
	}
	return h.Words(names)
}

// Words is the result of a search as text.
func (h *historyEditor) Words(names []string) string { return encode(matchesAnswer{Matches: names}) }

// sessionKey marks, in Extra, a response that the provider keeps: its value describes the
// hidden tools in the request.
const sessionKey = "__leanctx_toolsearch_session__"

// sent describes the hidden tools in a request. The zero value is a request that this package
// did not see.
type sent struct {
	list  string
	names []string // names of those that it shows
}

func (s sent) mark() string {
	return digest(s.list) + "." + digest(strings.Join(slices.Sorted(slices.Values(s.names)), "\n"))
}

// continued returns messages from which no model call continues a response whose request had
// another reminder or, if the provider keeps the tools as well, other hidden tools than this
// one.
func continued[M adk.MessageType](msgs []M, now sent) []M {
	if !session.Any(msgs) {
		return msgs
	}
	list, names, _ := strings.Cut(now.mark(), ".")
	return session.Restart(msgs, func(i int, keepsTools bool) bool {
		was, with, _ := strings.Cut(session.MarkOf(msgs[i], sessionKey), ".")
		return was != list || keepsTools && with != names
	})
}

// restarted returns messages in which no response can be continued from the first difference
// on.
func restarted[M adk.MessageType](before, after []M) []M {
	if wire.SameList(before, after) {
		return after
	}
	for at := range after {
		if at == len(before) || after[at] != before[at] {
			return session.Restart(after, func(i int, _ bool) bool { return i >= at })
		}
	}
	return after
}

// Portable wraps a model without tool search of its own so that it can take over a
// conversation from one that has: as the failover model of an agent in native mode, or in
// an agent that no longer has this middleware.
//
//	ModelFailoverConfig: &adk.ModelFailoverConfig[*schema.Message]{
//		GetFailoverModel: func(context.Context, *adk.FailoverContext[*schema.Message]) (model.BaseModel[*schema.Message], []*schema.Message, error) {
//			return toolsearch.Portable(otherModel), nil, nil
//		},
//	}
//
// Portable changes nothing that it is given; the model gets copies in which
//
//   - results of a search in the provider's form are text ({"matches":["name"]}), calls of
//     the search tool are ordinary calls, and records of a provider's own search are gone;
//   - the search tool is an ordinary tool, followed by the tools that the conversation's
//     results loaded, so the model can keep searching and calling;
//   - if there is no search tool (ClaudeHosted, OpenAIHosted), all deferred tools are
//     ordinary tools, which may be many.
//
// Calls without arguments get an empty object, and tools without parameters an empty
// schema, since adapters differ in how they send none.
//
// A request without any of these reaches the model as it is. Other options, answers and
// errors pass through; so does the model's type, and whether it runs callbacks by itself.
// The wrapper is as safe for concurrent use as the model, which must not be nil.
func Portable[M adk.MessageType](m model.BaseModel[M]) model.BaseModel[M] {
	c, _ := wire.CodecFor[M]()
	return portable[M]{m, c}
}

type portable[M adk.MessageType] struct {
	model model.BaseModel[M]
	codec wire.Codec[M]
}

// Generate asks the model.
func (p portable[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	input, opts = p.withoutSearch(input, opts)
	return p.model.Generate(ctx, input, opts...)
}

// Stream asks the model.
func (p portable[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	input, opts = p.withoutSearch(input, opts)
	return p.model.Stream(ctx, input, opts...)
}

// GetType is the type that the model reports, or else its type in Go.
func (p portable[M]) GetType() string { return typeOf(p.model) }

// IsCallbacksEnabled reports whether the model runs callbacks by itself.
func (p portable[M]) IsCallbacksEnabled() bool { return runsCallbacks(p.model) }

// withoutSearch returns the input and the options without any part of a provider's own search.
func (p portable[M]) withoutSearch(input []M, opts []model.Option) ([]M, []model.Option) {
	var e plainEditor
	next := wire.Each(wire.RewriteAll(p.codec, input, func(wire.Pairs) wire.Editor { return &e }), p.codec.Complete)
	o := model.GetCommonOptions(&model.Options{}, opts...)
	if o.ToolSearchTool == nil && len(o.DeferredTools) == 0 {
		return next, opts // tools that the history loaded are in the list, or no longer exist
	}
	all := append([]model.Option(nil), opts...) // the caller's slice may have spare capacity
	all = append(all, model.WithTools(e.ordinaryTools(o)), model.WithDeferredTools(nil), model.WithToolSearchTool(nil))
	return next, all
}

// plainEditor turns a history into plain text and calls, and collects the tools that its
// searches loaded.
type plainEditor struct{ loaded []*schema.ToolInfo }

func (e *plainEditor) Unmark(string) bool   { return true }
func (e *plainEditor) Hosted([]string) bool { return false }

func (e *plainEditor) Result(_, _ string, tools []*schema.ToolInfo) ([]*schema.ToolInfo, string) {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	e.loaded = append(e.loaded, tools...)
	return nil, e.Words(names)
}

func (e *plainEditor) Words(names []string) string { return encode(matchesAnswer{Matches: names}) }

// ordinaryTools returns the tools of a request as ordinary ones, each once. If there is a
// search tool, it handles deferred ones until they are loaded.
func (e *plainEditor) ordinaryTools(o *model.Options) []*schema.ToolInfo {
	all := append([]*schema.ToolInfo(nil), o.Tools...)
	if o.ToolSearchTool == nil {
		all = append(all, o.DeferredTools...)
	} else {
		all = append(all, o.ToolSearchTool)
	}
	next, seen := []*schema.ToolInfo{}, map[string]bool{}
	for _, t := range append(all, e.loaded...) {
		if t != nil && !seen[t.Name] {
			seen[t.Name] = true
			next = append(next, withParams(t))
		}
	}
	return next
}

// withParams returns a tool with a schema: some adapters send a missing one as null, which not
// every provider accepts.
func withParams(t *schema.ToolInfo) *schema.ToolInfo {
	if t.ParamsOneOf != nil {
		return t
	}
	dup := *t
	dup.ParamsOneOf = noParams()
	return &dup
}
