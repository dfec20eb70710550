// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The providers' own tool search: the adapters that speak to it, and the rules of each.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leanctx/leanctx/internal/safe"
)

// ErrNativeUnsupported is the error of New for a Model that has no tool search of its
// own, or not the one that Native names. The message names those that have one.
var ErrNativeUnsupported = errors.New("the model has no native tool search")

// Adapter is what an adapter and its provider expect of a native tool search: where the
// hidden tools go, who searches, and what a result looks like. A history may come from any
// adapter: what this one does not accept is rewritten on a copy.
//
// Where the provider searches (the hosted ones) it also loads, unseen: calls are not held
// back as unloaded, and UnloadAfter has no effect. Filter holds everywhere.
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
	// automatic cache control, which would mark a deferred tool. Up to v0.1.25 the adapter
	// leaves out what the provider requires, and cannot stream: see examples/native/mended.
	ClaudeHosted Adapter = "claude hosted"
	// ClaudeClient is eino-ext's claude adapter with this package's search: found tools are
	// returned as references, and each only once in a conversation.
	ClaudeClient Adapter = "claude client"
	// OpenAIHosted is eino-ext's agenticopenai adapter (Responses API) with OpenAI's own
	// search over all hidden tools. The model sees their names and descriptions all the
	// same, so that it saves their parameters only.
	OpenAIHosted Adapter = "openai hosted"
	// OpenAIClient is eino-ext's agenticopenai adapter (Responses API) with this package's
	// search: definitions travel in the search's output.
	OpenAIClient Adapter = "openai client"
	// AgenticClaudeClient is eino-ext's agenticclaude adapter with this package's search:
	// all hidden tools go out with defer_loading in every call, and results refer to them.
	AgenticClaudeClient Adapter = "agentic claude client"
)

// rules are what follows from an Adapter.
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
	noteOnEmpty   bool // ... or with an empty list, and a message that says what to do
	acceptsNative bool // the history may hold results in the provider's form
	pairs         bool // ... but only for calls of the provider's own kind, and no others for those
	hosted        bool // the history may hold searches that the provider ran
	neverLoads    bool // the tool list never changes
}

// plainRules are those where this package searches, in words.
var plainRules = rules{clientRuns: true}

// rulesOf are the rules by adapter; "" with UseModelToolSearch is what Eino does.
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

// modelSearches are the two ways of a model: the one in which this package searches, so that
// its ranking, Filter and gate hold, and the one in which the provider does, if it can.
type modelSearches struct{ client, hosted Adapter }

// searchesOfModel maps the types that eino-ext's adapters report to what they can do. Those
// with none have no native search: no adapter fits them.
var searchesOfModel = map[string]modelSearches{
	"Claude":                  {ClaudeClient, ClaudeHosted},
	"AgenticClaude":           {client: AgenticClaudeClient},
	"AgenticOpenAI/Responses": {OpenAIClient, OpenAIHosted},

	"OpenAI": {}, "AgenticOpenAI/Chat": {}, "Ark": {}, "ResponsesAPI": {}, "AgenticArk": {}, "Ollama": {},
	"DeepSeek": {}, "Qwen": {}, "Gemini": {}, "Qianfan": {}, "OpenRouter": {},
}

// chooseRules finds the rules for a configuration, or says what is wrong with it.
func chooseRules(cfg *Config, agentic, hides bool, wrong *problems) rules {
	if !cfg.UseModelToolSearch {
		if cfg.Native != "" {
			wrong.add("Native", "it is %q, but UseModelToolSearch is false", cfg.Native)
		}
		return rules{clientRuns: true, neverLoads: cfg.Protocol == SearchCall}
	}
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

// adapterFor is the adapter that Native names, or that follows from Model. A Model of a
// type that is not known, such as a wrapped one, goes with whatever Native says.
func adapterFor(cfg *Config) (Adapter, error) {
	if safe.IsNil(cfg.Model) {
		if cfg.Native == Hosted {
			return "", fmt.Errorf("%w: Native is Hosted, which needs Model: set it, or name the adapter", ErrNativeUnsupported)
		}
		return cfg.Native, nil
	}
	typ := reportedType(cfg.Model)
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
	return fmt.Errorf("%w: Model is %T (%s); models that have: %s; for a wrapped model set Native, and for any other leave UseModelToolSearch false",
		ErrNativeUnsupported, model, typ, strings.Join(can, ", "))
}
