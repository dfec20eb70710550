// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package native

import (
	"context"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/adkrun"
	"github.com/einolean/einolean/internal/session"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/internal/turn"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// History is what decides how a conversation's searches reach a model.
type History struct {
	Rules    Rules
	Tools    *hidden.Set // those that are hidden
	Shown    []string    // names of those that the model call shows
	Findable func(*hidden.Tool) bool
	Declared func(name string) bool // the call declares the tool, in full or deferred
}

// Rewrite returns the messages with results of searches in the form that the adapter accepts, and with
// only those tools that the call declares. No answer is tied to anything from the first change on. It
// returns the same slice if nothing changes.
func Rewrite[M adk.MessageType](msgs []M, h History) []M {
	next := wire.RewriteAll(msgs, func(p wire.Pairs) wire.Editor { return &editor{History: h, pairs: p} })
	if wire.SameList(msgs, next) {
		return msgs
	}
	for at := range next {
		if next[at] != msgs[at] {
			next, _ = session.Release(next, func(i int, _ session.Tie) bool { return i >= at })
			break
		}
	}
	return next
}

// editor adapts a history. With plain rules and no tools it makes plain text and calls of everything.
type editor struct {
	History
	pairs    wire.Pairs
	results  []*schema.ToolInfo // the tools in all results in a provider's form
	returned turn.Names         // names, by the results so far
}

// Unmark keeps the marks of calls for adapters that need them, where the result fits.
func (h *editor) Unmark(id string) bool {
	needed := h.Rules.pairs || h.Rules.Adapter == "" && h.Rules.acceptsNative
	return !needed || !h.pairs[id].Native
}

// Hosted keeps what a provider's search left if each of its tools is declared.
func (h *editor) Hosted(tools []string) (text string, stays bool) {
	if h.Rules.Hosted && !slices.ContainsFunc(tools, func(name string) bool { return !h.Declared(name) }) {
		return "", true
	}
	return say.Matches(tools), false
}

// Result keeps a result in the provider's form, or makes it text.
func (h *editor) Result(id, name string, tools []*schema.ToolInfo) (kept []*schema.ToolInfo, text string) {
	h.results = append(h.results, tools...)
	if !h.Rules.acceptsNative || h.Rules.pairs && !h.pairs[id].Marked {
		return nil, h.inWords(tools)
	}
	if name == "" {
		name = h.pairs[id].Name
	}
	kept = []*schema.ToolInfo{}
	var again []string
	for _, t := range tools {
		if h.Rules.NewOnly && h.returned[t.Name] {
			again = append(again, t.Name)
			continue
		}
		if dup := h.current(t, toolnames.IsSearchTool(name)); dup != nil {
			kept = append(kept, dup)
			h.returned.Add(t.Name)
		}
	}
	if len(kept) > 0 || !h.Rules.EmptyAsText {
		return kept, ""
	}
	if len(again) > 0 {
		return nil, say.Text("already-loaded", say.Data{Words: again})
	}
	return nil, h.inWords(nil)
}

// current returns the current definition of a tool; nil if the call may not show it. Tools of another
// search, which are not ours, stay as they are.
func (h *editor) current(t *schema.ToolInfo, ours bool) *schema.ToolInfo {
	e := h.Tools.Lookup(t.Name)
	switch {
	case e == nil && ours:
		return nil
	case e == nil:
		return t
	case !slices.Contains(h.Shown, t.Name):
		return nil
	case e.IsCurrent(t):
		return t
	}
	return toolschema.WithOwnParams(deferrable(e))
}

// inWords turns a result in the provider's form into text, without tools that the model may not know of.
func (h *editor) inWords(tools []*schema.ToolInfo) string {
	names := []string{}
	for _, t := range tools {
		if e := h.Tools.Lookup(t.Name); e == nil || h.Findable(e) {
			names = append(names, t.Name)
		}
	}
	return say.Matches(names)
}

// Portable wraps a model without tool search of its own so that it can take over a conversation from
// one that has.
func Portable[M adk.MessageType](m model.BaseModel[M]) model.BaseModel[M] {
	return adapted[M]{m, withoutSearch[M]}
}

// Unsearched wraps a model so that it is not offered a search.
func Unsearched[M adk.MessageType](m model.BaseModel[M]) model.BaseModel[M] {
	return adapted[M]{m, func(input []M, opts []model.Option) ([]M, []model.Option) {
		return input, append(slices.Clip(opts), model.WithToolSearchTool(nil))
	}}
}

// adapted is a model that gets its requests in another form.
type adapted[M adk.MessageType] struct {
	model model.BaseModel[M]
	adapt func([]M, []model.Option) ([]M, []model.Option)
}

// Generate asks the model.
func (a adapted[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	input, opts = a.adapt(input, opts)
	return a.model.Generate(ctx, input, opts...)
}

// Stream asks the model.
func (a adapted[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	input, opts = a.adapt(input, opts)
	return a.model.Stream(ctx, input, opts...)
}

// GetType is the type that the model reports, or else its type in Go.
func (a adapted[M]) GetType() string { return adkrun.TypeOf(a.model) }

// IsCallbacksEnabled reports whether the model runs callbacks by itself.
func (a adapted[M]) IsCallbacksEnabled() bool { return adkrun.RunsCallbacks(a.model) }

// withoutSearch returns the input and the options without any part of a provider's own search.
func withoutSearch[M adk.MessageType](input []M, opts []model.Option) ([]M, []model.Option) {
	plain := editor{History: History{Rules: Plain}}
	next := wire.Each(wire.RewriteAll(input, func(wire.Pairs) wire.Editor { return &plain }), func(m M) M { return wire.Edit(m, withArguments) })
	o := model.GetCommonOptions(&model.Options{}, opts...)
	if o.ToolSearchTool == nil && len(o.DeferredTools) == 0 {
		return next, opts // tools that the history loaded are in the list, or no longer exist
	}
	return next, append(slices.Clip(opts), model.WithTools(ordinary(o, plain.results)), model.WithDeferredTools(nil), model.WithToolSearchTool(nil))
}

// withArguments gives a call without arguments an empty object.
func withArguments(c wire.Call) wire.Call {
	if strings.TrimSpace(c.Args) == "" {
		c.Args = "{}"
	}
	return c
}

// ordinary returns the tools of a request as ordinary ones, without repetition. If there is a search
// tool, it handles deferred ones until a search in the history has loaded them.
func ordinary(o *model.Options, loaded []*schema.ToolInfo) []*schema.ToolInfo {
	more := o.DeferredTools
	if o.ToolSearchTool != nil {
		more = []*schema.ToolInfo{o.ToolSearchTool}
	}
	next, seen := []*schema.ToolInfo{}, map[string]bool{}
	for _, t := range slices.Concat(o.Tools, more, loaded) {
		if t != nil && !seen[t.Name] {
			seen[t.Name] = true
			next = append(next, withParams(t))
		}
	}
	return next
}

// withParams returns a tool with a schema: some adapters send a missing one as null, which not every
// provider accepts.
func withParams(t *schema.ToolInfo) *schema.ToolInfo {
	if t.ParamsOneOf != nil {
		return t
	}
	dup := *t
	dup.ParamsOneOf = noParams()
	return &dup
}
