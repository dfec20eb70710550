// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package native supports the tool search of model providers:
//
//   - [Choose] returns the adapter of a model, and its rules,
//   - [Lists] returns the tools that a model call sends, with a provider's own search or without,
//   - [Rewrite] changes a history that another model or adapter wrote to a form that this one accepts,
//   - [Portable] removes all traces of a provider's search for a model that has none.
package native

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/safe"
)

// ErrUnsupported is the error for a model without tool search of its own, or without the requested one.
var ErrUnsupported = errors.New("the model has no native tool search")

// The adapters, which package toolsearch documents. Hosted is one of two, depending on the model.
const (
	Hosted              = "hosted"
	ClaudeHosted        = "claude hosted"
	ClaudeClient        = "claude client"
	OpenAIHosted        = "openai hosted"
	OpenAIClient        = "openai client"
	AgenticClaudeClient = "agentic claude client"
)

// Rules are what an adapter and its provider expect.
type Rules struct {
	Adapter string // "" for none, and for Eino's behavior

	Native        bool // results and tools have the provider's form
	DeferAll      bool // all hidden tools go out as deferred ones
	SearchTool    bool // the search tool goes out as the model's own search tool
	ClientRuns    bool // this module answers searches
	ProviderLoads bool // the provider loads tools, which the history may not show
	ReturnOnce    bool // a tool may be returned only once in a conversation
	EmptyAsText   bool // a search without matches is answered with text
	HintAsText    bool // a search without matches is answered with text, if there is advice
	NoteOnEmpty   bool // a search without matches is answered with an empty list, and a message has the advice
	AcceptsHosted bool // the history may have searches that the provider ran

	acceptsNative       bool // the history may have results in the provider's form
	requiresMarkedCalls bool // such a result needs a call of the provider's own kind, and the other way round
}

// NoNative is the rules without a provider's tool search.
var NoNative = Rules{ClientRuns: true}

// rulesByAdapter has the rules of each adapter; "" is Eino's behavior.
var rulesByAdapter = map[string]Rules{
	"": {
		Native: true, DeferAll: true, SearchTool: true, ClientRuns: true, ProviderLoads: true, HintAsText: true,
		AcceptsHosted: true, acceptsNative: true,
	},
	ClaudeHosted: {Native: true, DeferAll: true, ProviderLoads: true, AcceptsHosted: true},
	ClaudeClient: {Native: true, SearchTool: true, ClientRuns: true, ReturnOnce: true, EmptyAsText: true, acceptsNative: true},
	OpenAIHosted: {Native: true, DeferAll: true, ProviderLoads: true, AcceptsHosted: true},
	OpenAIClient: {
		Native: true, SearchTool: true, ClientRuns: true, NoteOnEmpty: true, acceptsNative: true, requiresMarkedCalls: true,
	},
	AgenticClaudeClient: {
		Native: true, DeferAll: true, SearchTool: true, ClientRuns: true, EmptyAsText: true, acceptsNative: true,
	},
}

// agenticAdapters are the adapters for *schema.AgenticMessage.
var agenticAdapters = []string{OpenAIHosted, OpenAIClient, AgenticClaudeClient}

// maxToolsByModelType is how many tools a provider accepts in a request.
var maxToolsByModelType = map[string]int{
	"OpenAI": 128, "AgenticOpenAI/Chat": 128, "AgenticOpenAI/Responses": 128, "DeepSeek": 128,
	"Gemini": 512, "AgenticGemini": 512,
}

// adaptersByModelType maps the types that eino-ext's models report to the adapter with which this module searches, and
// to the one with which the provider does. Models with neither have no tool search.
var adaptersByModelType = map[string]struct{ client, hosted string }{
	"Claude":                  {ClaudeClient, ClaudeHosted},
	"AgenticClaude":           {client: AgenticClaudeClient},
	"AgenticOpenAI/Responses": {OpenAIClient, OpenAIHosted},

	"OpenAI": {}, "AgenticOpenAI/Chat": {}, "Ark": {}, "ResponsesAPI": {}, "AgenticArk": {}, "Ollama": {},
	"DeepSeek": {}, "Qwen": {}, "Gemini": {}, "Qianfan": {}, "OpenRouter": {},
}

// MaxToolsPerRequest returns how many tools the provider of a model accepts in a request; 0 if that is unknown.
func MaxToolsPerRequest(model any) int { return maxToolsByModelType[einorun.TypeOf(model)] }

// Choose returns the rules of an adapter; if that is "", those of the adapter that fits the model. An error that wraps
// ErrUnsupported is about the model, any other about the adapter.
func Choose(adapter string, model any, isAgentic bool) (Rules, error) {
	name, err := adapterFor(adapter, model)
	if err != nil {
		return NoNative, err
	}
	rules, known := rulesByAdapter[name]
	if !known {
		return rules, fmt.Errorf("%q is unknown: use Hosted, ClaudeHosted, ClaudeClient, OpenAIHosted, OpenAIClient or AgenticClaudeClient", name)
	}
	if rules.Adapter = name; name != "" && slices.Contains(agenticAdapters, name) != isAgentic {
		fitting := "for *schema.Message use ClaudeHosted or ClaudeClient"
		if isAgentic {
			fitting = "for *schema.AgenticMessage use OpenAIHosted, OpenAIClient or AgenticClaudeClient"
		}
		return rules, fmt.Errorf("the adapter %q does not fit the message type of this agent: %s", name, fitting)
	}
	return rules, nil
}

// adapterFor returns the requested adapter, or the one that follows from the model. A model of an unknown type, such as
// a wrapper, accepts any.
func adapterFor(requested string, model any) (string, error) {
	if safe.IsNil(model) {
		if requested == Hosted {
			return "", fmt.Errorf("%w: Native is Hosted, which needs Model: set it, or name the adapter", ErrUnsupported)
		}
		return requested, nil
	}
	typ := einorun.ReportedType(model)
	adapters, known := adaptersByModelType[typ]
	switch {
	case requested == "" && adapters.client != "":
		return adapters.client, nil
	case requested == "" || requested == Hosted && adapters.client == "":
		return "", unsupportedError(model, typ)
	case requested == Hosted && adapters.hosted != "":
		return adapters.hosted, nil
	case requested == Hosted,
		known && rulesByAdapter[requested].Native && requested != adapters.client && requested != adapters.hosted:
		return "", unsupportedAdapterError(requested, typ)
	}
	return requested, nil
}

// adapterUnsupported is an ErrUnsupported about the adapter: the model may have another tool search.
type adapterUnsupported string

func (e adapterUnsupported) Error() string { return string(e) }

// Is reports whether an error is ErrUnsupported.
func (adapterUnsupported) Is(target error) bool { return target == ErrUnsupported }

// unsupportedAdapterError returns the error for an adapter that does not fit a model of a known type.
func unsupportedAdapterError(requested, typ string) error {
	var fitting []string
	if a := adaptersByModelType[typ]; a.client != "" {
		fitting = append(fitting, strconv.Quote(a.client))
		if a.hosted != "" {
			fitting = append(fitting, strconv.Quote(a.hosted))
		}
	}
	hint := "leave UseModelToolSearch false"
	if len(fitting) > 0 {
		hint = "set Native to " + strings.Join(fitting, " or ") + ", or leave it empty"
	}
	return adapterUnsupported(fmt.Sprintf("a model of type %s does not support Native %q: %s", typ, requested, hint))
}

func unsupportedError(model any, typ string) error {
	if typ == "" {
		typ = "of unknown type"
	}
	var can []string
	for t, s := range adaptersByModelType {
		if s.client != "" {
			can = append(can, t)
		}
	}
	slices.Sort(can)
	return fmt.Errorf("%w: Model is %T (%s); supported models: %s; for a wrapped model set Native, and for any other leave UseModelToolSearch false",
		ErrUnsupported, model, typ, strings.Join(can, ", "))
}
