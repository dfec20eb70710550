// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// A wrapper for a model, so that it takes what is meant for a provider's own search.

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/toolsearch/internal/wire"
)

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
// What it is given is not changed; the model gets copies in which
//
//   - results of a search in the provider's form are text ({"matches":["name"]}), calls of
//     the search tool are ordinary calls, and what a provider searched by itself is gone;
//   - the search tool is an ordinary tool, followed by the tools that the conversation's
//     results loaded, so that the model can go on searching and calling;
//   - where there is no search tool (ClaudeHosted, OpenAIHosted), all deferred tools are
//     ordinary ones: that is many tools.
//
// Calls without arguments have an empty object, and those tools that take no parameters an
// empty schema, since adapters differ in how they send none.
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
	input, opts = p.plain(input, opts)
	return p.model.Generate(ctx, input, opts...)
}

// Stream asks the model.
func (p portable[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	input, opts = p.plain(input, opts)
	return p.model.Stream(ctx, input, opts...)
}

// GetType is the type that the model reports, or else its type in Go.
func (p portable[M]) GetType() string { return typeOf(p.model) }

// IsCallbacksEnabled reports whether the model runs callbacks by itself.
func (p portable[M]) IsCallbacksEnabled() bool { return runsCallbacks(p.model) }

// plain returns the input and the options without anything that belongs to a provider's
// own search.
func (p portable[M]) plain(input []M, opts []model.Option) ([]M, []model.Option) {
	var e plainEditor
	next := wire.Each(wire.RewriteAll(p.codec, input, func(wire.Pairs) wire.Editor { return &e }), p.codec.Complete)
	o := model.GetCommonOptions(&model.Options{}, opts...)
	if o.ToolSearchTool == nil && len(o.DeferredTools) == 0 {
		return next, opts // what the history loaded is among the tools, or no longer exists
	}
	own := append([]model.Option(nil), opts...) // the caller's slice may have room at its end
	own = append(own, model.WithTools(e.tools(o)), model.WithDeferredTools(nil), model.WithToolSearchTool(nil))
	return next, own
}

// plainEditor makes a history one of plain text and calls, and collects what its searches
// loaded.
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

// tools are the tools of a request as ordinary ones, each once. Where there is a search
// tool, deferred ones are left to it until they are loaded.
func (e *plainEditor) tools(o *model.Options) []*schema.ToolInfo {
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

// withParams is a tool with a schema: some adapters send none as null, which not every
// provider takes.
func withParams(t *schema.ToolInfo) *schema.ToolInfo {
	if t.ParamsOneOf != nil {
		return t
	}
	own := *t
	own.ParamsOneOf = noParams()
	return &own
}
