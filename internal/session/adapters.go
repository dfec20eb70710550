// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package session

// This file is the table of the model adapters that let their provider keep the
// conversation. Nothing else knows their keys.

// adapter says how the messages of one model adapter show that the provider keeps
// the conversation up to them. All keys are of a message's Extra.
type adapter struct {
	name string
	id   string   // the adapter builds on a message that has it; taking it off ends that
	with []string // keys of which one must be there as well; none: id is enough
	// tools is true where the provider keeps the tools with the conversation: the
	// adapter declares none in a request that builds on a response.
	tools bool
}

var adapters = []adapter{
	{
		name: "eino-ext/components/model/ark", // since v0.1.30, on the Responses API with SessionCache
		id:   "ark-response-id",
		// Every response has an id, but only one with an expiry is built on. Early
		// versions wrote the second key.
		with:  []string{"ark-response-cache-expire-at", "ark-response-caching"},
		tools: true,
	},
	{
		name: "eino-ext/components/model/agenticopenai", // v0.2.2, with EnableAutoCache
		// The id itself is in the response's metadata, which also tells the adapter
		// that the message is its own. It must stay.
		id: "_eino_ext_agenticopenai_auto_cached",
	},
}

func (a *adapter) keeps(extra map[string]any) bool {
	if _, ok := extra[a.id]; !ok {
		return false
	}
	for _, key := range a.with {
		if _, ok := extra[key]; ok {
			return true
		}
	}
	return len(a.with) == 0
}
