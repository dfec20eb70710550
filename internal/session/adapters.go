// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package session

// The table of the model adapters whose provider ties an answer to its request. Nothing else knows
// their keys.

// adapter says how the messages of one model adapter show what the provider ties them to. All
// keys are of a message's Extra.
type adapter struct {
	name string
	id   string   // without it, the answer is tied to nothing
	with []string // keys of which one must be there as well; none: id is enough
	tie  Tie
}

var adapters = []adapter{
	{
		name: "eino-ext/components/model/ark", // since v0.1.30, on the Responses API with SessionCache
		id:   "ark-response-id",
		// Every response has an id, but only one with an expiry is built on. Early
		// versions wrote the second key.
		with: []string{"ark-response-cache-expire-at", "ark-response-caching"},
		tie:  StoredWithTools,
	},
	{
		name: "eino-ext/components/model/agenticopenai", // v0.2.2, with EnableAutoCache
		// The id itself is in the response's metadata, which also tells the adapter
		// that the message is its own. It must stay.
		id:  "_eino_ext_agenticopenai_auto_cached",
		tie: Stored,
	},
	{
		name: "eino-ext/components/model/claude",
		// It sends thinking only with its signature.
		id:  "_eino_claude_thinking_signature",
		tie: Bound,
	},
	{
		name: "leanctx/examples/native/mended",
		id:   "_leanctx_claude_thinking",
		tie:  Bound,
	},
}

func (a *adapter) ties(extra map[string]any) bool {
	if id, ok := extra[a.id]; !ok || id == "" {
		return false
	}
	for _, key := range a.with {
		if _, ok := extra[key]; ok {
			return true
		}
	}
	return len(a.with) == 0
}
