// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The providers' own tool search: the adapters that speak to it, the rules of each, and which one a
// configuration means. A history that another model or adapter wrote is adapted to the run, or to a model
// without search.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/adkrun"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/turn"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// ErrNativeUnsupported is the error of New for a Model without its own tool search, or
// without the one that Native names. The message names the models that have one.
var ErrNativeUnsupported = errors.New("the model has no native tool search")

// Adapter names the expectations of an adapter and its provider for native tool search:
// where the hidden tools go, who searches, and what a result looks like. A history may
// come from any adapter: messages that this one does not accept are rewritten, on a copy.
//
// If the provider searches (the hosted ones), it also loads, unseen: calls are not held
// back as unloaded, and UnloadAfter has no effect. Filter always applies.
type Adapter string

const (
	// Hosted is the provider's own search: ClaudeHosted or OpenAIHosted, by the type of
	// Model. It needs Model; New refuses a Model without hosted search with
	// ErrNativeUnsupported.
	Hosted Adapter = "hosted"
	// ClaudeHosted is eino-ext's claude adapter with Anthropic's own search: all hidden
	// tools go out with defer_loading, and the provider finds and loads them. Message.Extra
	// must be kept with the history, as it is in memory or in gob; after JSON the model
	// searches again. Set a cache breakpoint on a tool of the agent's own rather than
	// automatic cache control, which would mark a deferred tool. Up to v0.1.25, the adapter
	// omits a type that the provider requires, and cannot stream: see
	// adapters/claude.
	ClaudeHosted Adapter = "claude hosted"
	// ClaudeClient is eino-ext's claude adapter with this package's search: found tools are
	// returned as references, and each only once in a conversation.
	ClaudeClient Adapter = "claude client"
	// OpenAIHosted is eino-ext's agenticopenai adapter (Responses API) with OpenAI's own
	// search over all hidden tools. The model still sees their names and descriptions,
	// so this saves only their parameters.
	OpenAIHosted Adapter = "openai hosted"
	// OpenAIClient is eino-ext's agenticopenai adapter (Responses API) with this package's
	// search: definitions travel in the search's output.
	OpenAIClient Adapter = "openai client"
	// AgenticClaudeClient is eino-ext's agenticclaude adapter with this package's search:
	// all hidden tools go out with defer_loading in every call, and results refer to them.
	AgenticClaudeClient Adapter = "agentic claude client"
)

// rules are the consequences of an Adapter.
type rules struct {
	name Adapter
	err  error // the model cannot search; matters only if there is something to hide

	native        bool // results and tools travel in the provider's form
	deferAll      bool // all hidden tools go out as deferred ones
	searchTool    bool // the search tool goes out as the model's own search tool
	clientRuns    bool // this package answers searches
	providerLoads bool // tools are loaded where we cannot see it
	newOnly       bool // a tool may be returned only once in a conversation
	emptyAsText   bool // a search that found nothing is answered with text
	noteOnEmpty   bool // ... or with an empty list, and a message with advice
	acceptsNative bool // the history may hold results in the provider's form
	pairs         bool // ... but only for calls of the provider's own kind, and no others for those
	hosted        bool // the history may hold searches that the provider ran
}

// plainRules are those when this package searches, in words.
var plainRules = rules{clientRuns: true}

// rulesOf are the rules by adapter; "" with UseModelToolSearch is Eino's behaviour.
var rulesOf = map[Adapter]rules{
	"":                  {native: true, deferAll: true, searchTool: true, clientRuns: true, providerLoads: true, acceptsNative: true, hosted: true},
	ClaudeHosted:        {native: true, deferAll: true, providerLoads: true, hosted: true},
	ClaudeClient:        {native: true, searchTool: true, clientRuns: true, newOnly: true, emptyAsText: true, acceptsNative: true},
	OpenAIHosted:        {native: true, deferAll: true, providerLoads: true, hosted: true},
	OpenAIClient:        {native: true, searchTool: true, clientRuns: true, noteOnEmpty: true, acceptsNative: true, pairs: true},
	AgenticClaudeClient: {native: true, deferAll: true, searchTool: true, clientRuns: true, emptyAsText: true, acceptsNative: true},
}

// agenticAdapters are those whose adapters speak *schema.AgenticMessage.
var agenticAdapters = []Adapter{OpenAIHosted, OpenAIClient, AgenticClaudeClient}

// maxToolsOfModel is how many tools a provider takes, by the type of the model.
var maxToolsOfModel = map[string]int{"OpenAI": 128, "AgenticOpenAI/Chat": 128, "AgenticOpenAI/Responses": 128, "DeepSeek": 128, "Gemini": 512, "AgenticGemini": 512}

// searchesOfModel maps the types that eino-ext's adapters report to what they can do:
// this package searches, and its ranking, Filter and gate apply; or the provider searches. No adapter
// fits models that can do neither.
var searchesOfModel = map[string]struct{ client, hosted Adapter }{
	"Claude":                  {ClaudeClient, ClaudeHosted},
	"AgenticClaude":           {client: AgenticClaudeClient},
	"AgenticOpenAI/Responses": {OpenAIClient, OpenAIHosted},

	"OpenAI": {}, "AgenticOpenAI/Chat": {}, "Ark": {}, "ResponsesAPI": {}, "AgenticArk": {}, "Ollama": {},
	"DeepSeek": {}, "Qwen": {}, "Gemini": {}, "Qianfan": {}, "OpenRouter": {},
}

// chooseRules finds the rules for UseModelToolSearch, or reports an error in the configuration.
func chooseRules(cfg *Config, agentic, hides bool, wrong *problems) rules {
	if cfg.Protocol != Keyword {
		wrong.add("UseModelToolSearch", "it goes with the Keyword protocol only, not with %v", cfg.Protocol)
	}
	name, err := adapterFor(cfg)
	if err != nil {
		if hides {
			wrong.add("Model", "%w", err)
		}
		return rules{err: err, clientRuns: true}
	}
	c, ok := rulesOf[name]
	if !ok {
		wrong.add("Native", "%q is unknown: use Hosted, ClaudeHosted, ClaudeClient, OpenAIHosted, OpenAIClient or AgenticClaudeClient", name)
		return c
	}
	if name != "" && slices.Contains(agenticAdapters, name) != agentic {
		wrong.add("Native", "the adapter %q does not fit the message type of this agent: %s", name, adapterHint(agentic))
	}
	c.name = name
	return c
}

// adapterFor returns the adapter that Native names, or that follows from Model. An unknown type
// of Model, such as a wrapper, accepts any Native.
func adapterFor(cfg *Config) (Adapter, error) {
	if safe.IsNil(cfg.Model) {
		if cfg.Native == Hosted {
			return "", fmt.Errorf("%w: Native is Hosted, which needs Model: set it, or name the adapter", ErrNativeUnsupported)
		}
		return cfg.Native, nil
	}
	typ := adkrun.ReportedType(cfg.Model)
	can, known := searchesOfModel[typ]
	switch {
	case cfg.Native == "" && can.client != "":
		return can.client, nil
	case cfg.Native == "" || cfg.Native == Hosted && can.client == "":
		return "", unsupported(cfg.Model, typ)
	case cfg.Native == Hosted && can.hosted != "":
		return can.hosted, nil
	case cfg.Native == Hosted || known && rulesOf[cfg.Native].native && cfg.Native != can.client && cfg.Native != can.hosted:
		return "", fmt.Errorf("%w: Native is %q, which %T (%s) cannot do", ErrNativeUnsupported, cfg.Native, cfg.Model, typ)
	}
	return cfg.Native, nil
}

func adapterHint(agentic bool) string {
	if agentic {
		return "for *schema.AgenticMessage use OpenAIHosted, OpenAIClient or AgenticClaudeClient"
	}
	return "for *schema.Message use ClaudeHosted or ClaudeClient"
}

func unsupported(model any, typ string) error {
	if typ == "" {
		typ = "of unknown type"
	}
	var can []string
	for t, s := range searchesOfModel {
		if s.client != "" {
			can = append(can, t)
		}
	}
	slices.Sort(can)
	return fmt.Errorf("%w: Model is %T (%s); supported models: %s; for a wrapped model set Native, and for any other leave UseModelToolSearch false",
		ErrNativeUnsupported, model, typ, strings.Join(can, ", "))
}

// historyEditor adapts a history to a run: search results in the form that the adapter accepts,
// naming only tools that this call declares. With plainRules and no tools it makes plain text and
// calls of everything.
type historyEditor struct {
	rules    rules
	catalog  *catalog
	show     []string // names
	pairs    wire.Pairs
	results  []*schema.ToolInfo      // the tools in all results in a provider's form
	returned turn.Names              // names, by the results so far
	findable func(*hidden.Tool) bool // the model may know of the tool
	declared func(string) bool       // this call declares the tool
}

// newEditor returns a constructor of the editor for a model call that shows these tools.
func newEditor(ctx context.Context, r *run, rules rules, show []string) func(wire.Pairs) wire.Editor {
	return func(p wire.Pairs) wire.Editor {
		return &historyEditor{
			rules: rules, catalog: r.catalog(), show: show, pairs: p,
			findable: func(e *hidden.Tool) bool { return r.allows(ctx, FilterRequest{Tool: e.Info}, PhaseSearch, PhaseLoad) },
			declared: func(name string) bool {
				e := r.catalog().Lookup(name)
				return r.own[name] != nil && e == nil || e != nil && (slices.Contains(show, name) || rules.deferAll && r.allows(ctx, FilterRequest{Tool: e.Info}, PhaseSearch, PhaseLoad, PhaseActive))
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
	h.results = append(h.results, tools...)
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
			h.returned.Add(t.Name)
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
	e := h.catalog.Lookup(t.Name)
	switch {
	case e == nil && ours:
		return nil
	case e == nil:
		return t
	case !slices.Contains(h.show, t.Name):
		return nil
	case e.IsCurrent(t):
		return t
	}
	return toolschema.WithOwnParams(deferrable(e))
}

// namesText turns a result in the provider's form into text, without tools that the model may
// not know of.
func (h *historyEditor) namesText(tools []*schema.ToolInfo) string {
	names := []string{}
	for _, t := range tools {
		if e := h.catalog.Lookup(t.Name); e == nil || h.findable(e) {
			names = append(names, t.Name)
		}
	}
	return h.Words(names)
}

// Words is the result of a search as text.
func (h *historyEditor) Words(names []string) string {
	return encode(answer{Matches: append([]string{}, names...)})
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
	return adapted[M]{m, func(input []M, opts []model.Option) ([]M, []model.Option) { return withoutSearch(input, opts) }}
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

// withoutTool takes the search tool out of a request.
func withoutTool[M adk.MessageType](input []M, opts []model.Option) ([]M, []model.Option) {
	return input, append(slices.Clip(opts), model.WithToolSearchTool(nil))
}

// withoutSearch returns the input and the options without any part of a provider's own search.
func withoutSearch[M adk.MessageType](input []M, opts []model.Option) ([]M, []model.Option) {
	plain := historyEditor{rules: plainRules, catalog: &catalog{}}
	next := wire.Each(wire.RewriteAll(input, func(wire.Pairs) wire.Editor { return &plain }), func(m M) M { return wire.Edit(m, withArguments) })
	o := model.GetCommonOptions(&model.Options{}, opts...)
	if o.ToolSearchTool == nil && len(o.DeferredTools) == 0 {
		return next, opts // tools that the history loaded are in the list, or no longer exist
	}
	return next, append(slices.Clip(opts), model.WithTools(ordinaryTools(o, plain.results)), model.WithDeferredTools(nil), model.WithToolSearchTool(nil))
}

// withArguments gives a call without arguments an empty object.
func withArguments(c wire.Call) wire.Call {
	if strings.TrimSpace(c.Args) == "" {
		c.Args = "{}"
	}
	return c
}

// ordinaryTools returns the tools of a request as ordinary ones, each once. If there is a
// search tool, it handles deferred ones until a search in the history has loaded them.
func ordinaryTools(o *model.Options, loaded []*schema.ToolInfo) []*schema.ToolInfo {
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

// deferrable is a copy of a tool's info that may be deferred: providers refuse a deferred tool that
// is also a place to cache up to.
func deferrable(e *hidden.Tool) *schema.ToolInfo {
	dup := toolschema.ShallowInfo(e.Safe)
	if dup.ParamsOneOf == nil {
		dup.ParamsOneOf = noParams()
	}
	for _, key := range cacheKeys {
		delete(dup.Extra, key)
	}
	return dup
}

// noParams replaces missing parameters, which some adapters cannot send.
func noParams() *schema.ParamsOneOf {
	return schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{})
}

// cacheKeys are the keys of ToolInfo.Extra under which the claude and the agenticclaude
// adapter keep a cache breakpoint.
var cacheKeys = []string{"_eino_claude_breakpoint", "_eino_claude_breakpoint_ttl", "_agenticclaude_cache_control_ttl"}
