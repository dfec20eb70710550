// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The providers' own tool search, as a configuration names it.

import (
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"

	"github.com/einolean/einolean/toolsearch/internal/native"
	"github.com/einolean/einolean/toolsearch/internal/say"
)

// ErrNativeUnsupported is the error of New for a Model without its own tool search, or
// without the one that Native names. The message names the models that have one.
var ErrNativeUnsupported = native.ErrUnsupported

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
	Hosted Adapter = native.Hosted
	// ClaudeHosted is eino-ext's claude adapter with Anthropic's own search: all hidden
	// tools go out with defer_loading, and the provider finds and loads them. Message.Extra
	// must be kept with the history, as it is in memory or in gob; after JSON the model
	// searches again. Set a cache breakpoint on a tool of the agent's own rather than
	// automatic cache control, which would mark a deferred tool. Up to v0.1.25, the adapter
	// omits a type that the provider requires, and cannot stream: see
	// adapters/claude.
	ClaudeHosted Adapter = native.ClaudeHosted
	// ClaudeClient is eino-ext's claude adapter with this package's search: found tools are
	// returned as references, and each only once in a conversation.
	ClaudeClient Adapter = native.ClaudeClient
	// OpenAIHosted is eino-ext's agenticopenai adapter (Responses API) with OpenAI's own
	// search over all hidden tools. The model still sees their names and descriptions,
	// so this saves only their parameters.
	OpenAIHosted Adapter = native.OpenAIHosted
	// OpenAIClient is eino-ext's agenticopenai adapter (Responses API) with this package's
	// search: definitions travel in the search's output.
	OpenAIClient Adapter = native.OpenAIClient
	// AgenticClaudeClient is eino-ext's agenticclaude adapter with this package's search:
	// all hidden tools go out with defer_loading in every call, and results refer to them.
	AgenticClaudeClient Adapter = native.AgenticClaudeClient
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
	return native.Portable(m, say.Matches)
}
