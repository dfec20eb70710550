// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package continuation keeps answers that a provider ties to their request in step with what a
// middleware makes of the conversation.
//
// There are two kinds. Some providers store the conversation: their adapters send only what
// follows the last message that has a response id, and the provider adds the rest from memory,
// so what a middleware changed before that message would never arrive. And newer Claude models
// bind their thinking to everything before it: they refuse thinking that comes back behind
// another system prompt, other tools or other messages.
//
// So every such answer is marked with what the middleware had done to its request. A later
// request contains the response id, or the thinking, only if the middleware would do the same
// now to everything before it; otherwise the message goes out without. A stored conversation is
// then sent whole once, and continues from there; thinking is lost up to the change.
package continuation

import (
	"maps"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
)

// Tie says what a provider ties an answer to.
type Continuation int

const (
	// Free answers are tied to nothing.
	None Continuation = iota
	// Stored answers continue the messages that the provider stores.
	Stored
	// StoredWithTools answers continue its tools as well.
	StoredWithTools
	// Bound answers hold thinking that is bound to the tools and messages before it.
	SignedThinking
)

// Any reports whether any of the messages is tied.
func Any[M adk.MessageType](msgs []M) bool {
	return slices.ContainsFunc(msgs, func(m M) bool { return tieOf(m) != None })
}

func anyBound[M adk.MessageType](msgs []M) bool {
	return slices.ContainsFunc(msgs, func(m M) bool { return tieOf(m) == SignedThinking })
}

// AnyStored reports whether a provider stores the conversation up to any of the messages.
func AnyStored[M adk.MessageType](msgs []M) bool {
	return slices.ContainsFunc(msgs, func(m M) bool { t := tieOf(m); return t == Stored || t == StoredWithTools })
}

// Release returns the messages without the ties that no longer hold. It calls stale, in order,
// for each message that has one. The messages that it is given never change: one that is
// released is a copy with everything else in it. If none is, the same slice is returned.
// changed reports that the newest answer was stale: what it was tied to has changed since.
func DropStale[M adk.MessageType](msgs []M, stale func(i int, t Continuation) bool) (next []M, changed bool) {
	next = msgs
	bound, last := false, -1
	for i, m := range msgs {
		if isAnswer(m) {
			last = i
		}
		t := tieOf(m)
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
		next[i], bound = Released(m), bound || t == SignedThinking
	}
	if bound { // answers without thinking are marked too
		changed = stale(last, SignedThinking)
	}
	return next, changed
}

// MarkOf is the mark under a key of Extra; "" if there is none.
func MarkOf[M adk.MessageType](m M, key string) string {
	mark, _ := message.Extra(m)[key].(string)
	return mark
}

// tieOf is the strictest tie of a message.
func tieOf[M adk.MessageType](m M) (t Continuation) {
	if extra := message.Extra(m); len(extra) > 0 {
		for i := range adapters {
			if a := &adapters[i]; a.ties(extra) {
				t = max(t, a.tie)
			}
		}
	}
	if message.IsClaudes(m) {
		for p := message.Parts(m); p.Next(); {
			if isThinking(p.Part) {
				return SignedThinking
			}
		}
	}
	return t
}

// Released returns a copy of a message without its ties.
func Released[M adk.MessageType](m M) M {
	t, extra := tieOf(m), message.Extra(m)
	next := maps.Clone(extra)
	for i := range adapters {
		if a := &adapters[i]; a.ties(extra) {
			delete(next, a.id)
		}
	}
	if m = message.WithExtra(m, next); t == SignedThinking {
		return message.Without(m, isThinking, ellipsis)
	}
	return m
}

// ellipsis stands for thinking that never came to an answer.
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

// adapter says how the messages of one model adapter show what the provider ties them to. All
// keys are of a message's Extra.
type adapter struct {
	name string
	id   string   // without it, the answer is tied to nothing
	with []string // keys of which one must be there as well; none: id is enough
	tie  Continuation
}

// The keys of ark, of which early versions wrote the last.
const (
	arkIDKey      = "ark-response-id"
	arkExpiryKey  = "ark-response-cache-expire-at"
	arkCachingKey = "ark-response-caching"
)

// adapters are those whose provider ties an answer to its request. Nothing else knows their keys.
var adapters = []adapter{
	{
		name: "eino-ext/components/model/ark", // since v0.1.30, on the Responses API with SessionCache
		id:   arkIDKey,
		with: []string{arkExpiryKey, arkCachingKey}, // every response has an id, but only one with an expiry is built on
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
		tie: SignedThinking,
	},
	{
		name: "einolean/adapters/claude",
		id:   "_einolean_claude_thinking",
		tie:  SignedThinking,
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
