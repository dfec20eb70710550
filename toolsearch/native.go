// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The providers' own tool search: the adapters that speak to it, and the rules of each.

import (
	"errors"
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
	// examples/native/mended.
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
	neverLoads    bool // the tool list never changes
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
