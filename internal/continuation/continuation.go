// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package continuation invalidates provider state of answers when a middleware changes the history before them.
//
// There are two kinds of provider state:
//
//   - Some providers store the conversation. Their adapters send only the messages after the last one with a response
//     id, so a change before that message would never reach the provider.
//   - Newer Claude models sign their thinking. They reject thinking that comes back after another system prompt, other
//     tools or other messages.
//
// Every such answer is marked with what the middleware did to its request. A later request contains the response id
// or the thinking only if the middleware would do the same to everything before it. Otherwise the message is sent
// without. A stored conversation is then sent in full once, and continues from there. Thinking before the change is
// lost.
package continuation

import (
	"maps"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
)

// Continuation is the kind of provider state that an answer depends on.
type Continuation int

const (
	// None: the answer has no provider state.
	None Continuation = iota
	// Stored: the provider stores the messages up to the answer.
	Stored
	// StoredWithTools: the provider stores the tools as well.
	StoredWithTools
	// SignedThinking: the answer has thinking that is valid only after the same tools and messages.
	SignedThinking
)

// Any reports whether any message depends on provider state.
func Any[M adk.MessageType](msgs []M) bool {
	return slices.ContainsFunc(msgs, func(m M) bool { return kindOf(m) != None })
}

func hasSignedThinking[M adk.MessageType](msgs []M) bool {
	return slices.ContainsFunc(msgs, func(m M) bool { return kindOf(m) == SignedThinking })
}

// AnyStored reports whether a provider stores the conversation up to any of the messages.
func AnyStored[M adk.MessageType](msgs []M) bool {
	return slices.ContainsFunc(msgs, func(m M) bool { t := kindOf(m); return t == Stored || t == StoredWithTools })
}

// DropStale returns the messages without provider state that is no longer valid. It calls stale, in order, for each
// message with provider state. The messages are not modified: a message that loses its state is a copy. If none does,
// the same slice is returned. changed reports that the state of the newest answer was stale.
func DropStale[M adk.MessageType](msgs []M, stale func(i int, t Continuation) bool) (next []M, changed bool) {
	next = msgs
	hasStaleThinking, last := false, -1
	for i, m := range msgs {
		if isAnswer(m) {
			last = i
		}
		t := kindOf(m)
		if t == None {
			continue
		}
		last = i
		if changed = stale(i, t); !changed {
			continue
		}
		if &next[0] == &msgs[0] {
			next = slices.Clone(msgs)
		}
		next[i], hasStaleThinking = Released(m), hasStaleThinking || t == SignedThinking
	}
	if hasStaleThinking { // answers without thinking have a mark too
		changed = stale(last, SignedThinking)
	}
	return next, changed
}

// MarkOf returns the mark that the Extra map of a message has under a key, empty if it has none.
func MarkOf[M adk.MessageType](m M, key string) string {
	mark, _ := message.Extra(m)[key].(string)
	return mark
}

// kindOf returns the strictest kind of provider state of a message.
func kindOf[M adk.MessageType](m M) (t Continuation) {
	if extra := message.Extra(m); len(extra) > 0 {
		for i := range adapters {
			if a := &adapters[i]; a.matches(extra) {
				t = max(t, a.kind)
			}
		}
	}
	if message.IsFromClaude(m) {
		for p := message.Parts(m); p.Next(); {
			if isThinking(p.Part) {
				return SignedThinking
			}
		}
	}
	return t
}

// Released returns a copy of a message without its provider state.
func Released[M adk.MessageType](m M) M {
	t, extra := kindOf(m), message.Extra(m)
	next := maps.Clone(extra)
	for i := range adapters {
		if a := &adapters[i]; a.matches(extra) {
			delete(next, a.id)
		}
	}
	if m = message.WithExtra(m, next); t == SignedThinking {
		return message.Without(m, isThinking, ellipsis)
	}
	return m
}

// ellipsis is the text of an answer that has nothing but thinking.
const ellipsis = "…"

// Marked returns a copy of an answer with a mark.
func Marked[M adk.MessageType](m M, key, mark string) M {
	extra := maps.Clone(message.Extra(m))
	if extra == nil {
		extra = map[string]any{}
	}
	extra[key] = mark
	return message.WithExtra(m, extra)
}

func isAnswer[M adk.MessageType](m M) bool { return message.Role(m) == schema.Assistant }

func isThinking(p message.Part) bool { return p.Kind == message.Reasoning }

// adapter describes how the messages of one model adapter show their provider state. All keys are keys of Extra.
type adapter struct {
	name      string
	id        string   // without this key, there is no provider state
	extraKeys []string // one of these keys must exist too; empty: id is enough
	kind      Continuation
}

// The keys of ark, of which early versions wrote the last.
const (
	arkIDKey      = "ark-response-id"
	arkExpiryKey  = "ark-response-cache-expire-at"
	arkCachingKey = "ark-response-caching"
)

// adapters are the adapters whose messages have provider state. No other code knows their keys.
var adapters = []adapter{
	{
		name:      "eino-ext/components/model/ark", // since v0.1.30, on the Responses API with SessionCache
		id:        arkIDKey,
		extraKeys: []string{arkExpiryKey, arkCachingKey}, // every response has an id, but only one with an expiry is built on
		kind:      StoredWithTools,
	},
	{
		name: "eino-ext/components/model/agenticopenai", // v0.2.2, with EnableAutoCache
		// The id itself is in the response's metadata, which also tells the adapter
		// that the message is its own. It must stay.
		id:   "_eino_ext_agenticopenai_auto_cached",
		kind: Stored,
	},
	{
		name: "eino-ext/components/model/claude",
		// It sends thinking only with its signature.
		id:   "_eino_claude_thinking_signature",
		kind: SignedThinking,
	},
	{
		name: "einolean/adapters/claude",
		id:   "_einolean_claude_thinking",
		kind: SignedThinking,
	},
}

func (a *adapter) matches(extra map[string]any) bool {
	if id, ok := extra[a.id]; !ok || id == "" {
		return false
	}
	for _, key := range a.extraKeys {
		if _, ok := extra[key]; ok {
			return true
		}
	}
	return len(a.extraKeys) == 0
}
