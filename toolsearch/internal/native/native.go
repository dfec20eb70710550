// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package native is what providers do of tool search themselves: which adapter a model has, and by
// which rules ([Choose]); a history that another model or adapter wrote, in a form that this one takes
// ([Rewrite]); and the tools that a model call sends, with a provider's own search or without
// ([Lists]). It holds plain data and asks nobody but the functions that it is given.
package native

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/safe"
)

// ErrUnsupported is the error for a model without a tool search of its own, or without the one that is
// asked for.
var ErrUnsupported = errors.New("the model has no native tool search")

// The adapters, which package toolsearch describes. Hosted is one of two, by the model.
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
	Adapter string // "" without one, or as Eino has it

	Native        bool // results and tools travel in the provider's form
	DeferAll      bool // all hidden tools go out as deferred ones
	SearchTool    bool // the search tool goes out as the model's own search tool
	ClientRuns    bool // this module answers searches
	ProviderLoads bool // tools are loaded where we cannot see it
	ReturnOnce    bool // a tool may be returned only once in a conversation
	EmptyAsText   bool // a search that found nothing is answered with text
	HintAsText    bool // ... if there is advice
	NoteOnEmpty   bool // ... or with an empty list, and a message with advice
	AcceptsHosted bool // the history may hold searches that the provider ran

	acceptsNative       bool // the history may hold results in the provider's form
	requiresMarkedCalls bool // ... but only for calls of the provider's own kind, and no others for those
}

// Plain are the rules where the provider has no part in the search.
var NoNative = Rules{ClientRuns: true}

// rulesOf are the rules by adapter; "" is Eino's behaviour.
var rulesByAdapter = map[string]Rules{
	"":                  {Native: true, DeferAll: true, SearchTool: true, ClientRuns: true, ProviderLoads: true, HintAsText: true, AcceptsHosted: true, acceptsNative: true},
	ClaudeHosted:        {Native: true, DeferAll: true, ProviderLoads: true, AcceptsHosted: true},
	ClaudeClient:        {Native: true, SearchTool: true, ClientRuns: true, ReturnOnce: true, EmptyAsText: true, acceptsNative: true},
	OpenAIHosted:        {Native: true, DeferAll: true, ProviderLoads: true, AcceptsHosted: true},
	OpenAIClient:        {Native: true, SearchTool: true, ClientRuns: true, NoteOnEmpty: true, acceptsNative: true, requiresMarkedCalls: true},
	AgenticClaudeClient: {Native: true, DeferAll: true, SearchTool: true, ClientRuns: true, EmptyAsText: true, acceptsNative: true},
}

// agentic are the adapters that speak *schema.AgenticMessage.
var agenticAdapters = []string{OpenAIHosted, OpenAIClient, AgenticClaudeClient}

// mostTools is how many tools a provider takes, by the type of the model.
var maxToolsByModelType = map[string]int{"OpenAI": 128, "AgenticOpenAI/Chat": 128, "AgenticOpenAI/Responses": 128, "DeepSeek": 128, "Gemini": 512, "AgenticGemini": 512}

// searchesOf maps the types that eino-ext's adapters report to what they can do: this module searches,
// and its ranking, Filter and gate apply; or the provider searches. No adapter fits models that can do
// neither.
var adaptersByModelType = map[string]struct{ client, hosted string }{
	"Claude":                  {ClaudeClient, ClaudeHosted},
	"AgenticClaude":           {client: AgenticClaudeClient},
	"AgenticOpenAI/Responses": {OpenAIClient, OpenAIHosted},

	"OpenAI": {}, "AgenticOpenAI/Chat": {}, "Ark": {}, "ResponsesAPI": {}, "AgenticArk": {}, "Ollama": {},
	"DeepSeek": {}, "Qwen": {}, "Gemini": {}, "Qianfan": {}, "OpenRouter": {},
}

// MostTools is how many tools the provider of a model takes in a request; 0 if that is unknown.
func MaxTools(model any) int { return maxToolsByModelType[einorun.TypeOf(model)] }

// Choose returns the rules for an adapter, or those that follow from a model, where the provider takes
// part in the search of an agent of a message type. An error that wraps ErrUnsupported is about the
// model, any other about the adapter.
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

// adapterFor returns the adapter that is asked for, or that follows from the model. An unknown type of
// model, such as a wrapper, accepts any.
func adapterFor(asked string, model any) (string, error) {
	if safe.IsNil(model) {
		if asked == Hosted {
			return "", fmt.Errorf("%w: Native is Hosted, which needs Model: set it, or name the adapter", ErrUnsupported)
		}
		return asked, nil
	}
	typ := einorun.ReportedType(model)
	can, known := adaptersByModelType[typ]
	switch {
	case asked == "" && can.client != "":
		return can.client, nil
	case asked == "" || asked == Hosted && can.client == "":
		return "", unsupportedError(model, typ)
	case asked == Hosted && can.hosted != "":
		return can.hosted, nil
	case asked == Hosted || known && rulesByAdapter[asked].Native && asked != can.client && asked != can.hosted:
		return "", fmt.Errorf("%w: Native is %q, which %T (%s) cannot do", ErrUnsupported, asked, model, typ)
	}
	return asked, nil
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
