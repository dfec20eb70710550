// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package session keeps answers that a provider ties to their request in step with what a
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
package session

import (
	"maps"
	"slices"

	"github.com/cloudwego/eino/schema"
)

// Message is either message type.
type Message interface {
	*schema.Message | *schema.AgenticMessage
}

// Tie says what a provider ties an answer to.
type Tie int

const (
	// Free answers are tied to nothing.
	Free Tie = iota
	// Stored answers continue the messages that the provider stores.
	Stored
	// StoredWithTools answers continue its tools as well.
	StoredWithTools
	// Bound answers hold thinking that is bound to the tools and messages before it.
	Bound
)

// Any reports whether any of the messages is tied.
func Any[M Message](msgs []M) bool {
	return slices.ContainsFunc(msgs, func(m M) bool { return tieOf(m) != Free })
}

func anyBound[M Message](msgs []M) bool {
	return slices.ContainsFunc(msgs, func(m M) bool { return tieOf(m) == Bound })
}

// AnyStored reports whether a provider stores the conversation up to any of the messages.
func AnyStored[M Message](msgs []M) bool {
	return slices.ContainsFunc(msgs, func(m M) bool { t := tieOf(m); return t == Stored || t == StoredWithTools })
}

// Release returns the messages without the ties that no longer hold. It calls stale, in order,
// for each message that has one. The messages that it is given never change: one that is
// released is a copy with everything else in it. If none is, the same slice is returned.
// changed reports that the newest answer was stale: what it was tied to has changed since.
func Release[M Message](msgs []M, stale func(i int, t Tie) bool) (next []M, changed bool) {
	next = msgs
	bound, last := false, -1
	for i, m := range msgs {
		if isAnswer(m) {
			last = i
		}
		t := tieOf(m)
		if t == Free {
			continue
		}
		last = i
		if changed = stale(i, t); !changed {
			continue
		}
		if &next[0] == &msgs[0] {
			next = slices.Clone(msgs)
		}
		next[i], bound = released(m), bound || t == Bound
	}
	if bound { // answers without thinking are marked too
		changed = stale(last, Bound)
	}
	return next, changed
}

// MarkOf is the mark under a key of Extra; "" if there is none.
func MarkOf[M Message](m M, key string) string {
	mark, _ := extraOf(m)[key].(string)
	return mark
}

// tieOf is the strictest tie of a message.
func tieOf[M Message](m M) (t Tie) {
	if extra := extraOf(m); len(extra) > 0 {
		for i := range adapters {
			if a := &adapters[i]; a.ties(extra) {
				t = max(t, a.tie)
			}
		}
	}
	if isClaudes(m) && slices.ContainsFunc(any(m).(*schema.AgenticMessage).ContentBlocks, isThinking) {
		return Bound
	}
	return t
}

// released returns a copy of a message without its ties.
func released[M Message](m M) M {
	t, extra := tieOf(m), extraOf(m)
	next := maps.Clone(extra)
	for i := range adapters {
		if a := &adapters[i]; a.ties(extra) {
			delete(next, a.id)
		}
	}
	if m = withExtra(m, next); t == Bound {
		dropThinking(m)
	}
	return m
}

// ellipsis stands for thinking that never came to an answer: no provider takes an empty message.
const ellipsis = "…"

// dropThinking takes the thinking out of the blocks of a copy of a message.
func dropThinking[M Message](m M) {
	switch m := any(m).(type) {
	case *schema.Message:
		if m.Content == "" && len(m.ToolCalls)+len(m.AssistantGenMultiContent)+len(m.MultiContent) == 0 {
			m.Content = ellipsis
		}
	case *schema.AgenticMessage:
		m.ContentBlocks = slices.DeleteFunc(slices.Clone(m.ContentBlocks), isThinking)
		if len(m.ContentBlocks) == 0 {
			m.ContentBlocks = []*schema.ContentBlock{schema.NewContentBlock(&schema.AssistantGenText{Text: ellipsis})}
		}
	}
}

// marked returns a copy of an answer with the mark.
func marked[M Message](m M, key, mark string) M {
	extra := maps.Clone(extraOf(m))
	if extra == nil {
		extra = map[string]any{}
	}
	extra[key] = mark
	return withExtra(m, extra)
}

func isAnswer[M Message](m M) bool {
	switch m := any(m).(type) {
	case *schema.Message:
		return m != nil && m.Role == schema.Assistant
	case *schema.AgenticMessage:
		return m != nil && m.Role == schema.AgenticRoleTypeAssistant
	}
	return false
}

// isClaudes reports whether an adapter of Claude made a message with blocks. Its signatures are
// bound, and no other provider's.
func isClaudes[M Message](m M) bool {
	a, ok := any(m).(*schema.AgenticMessage)
	return ok && a != nil && a.ResponseMeta != nil && a.ResponseMeta.ClaudeExtension != nil
}

func isThinking(b *schema.ContentBlock) bool { return b != nil && b.Reasoning != nil }

// extraOf is the Extra map of a message. With the functions after it, it is all that knows the
// message types.
func extraOf[M Message](m M) map[string]any {
	switch m := any(m).(type) {
	case *schema.Message:
		if m != nil {
			return m.Extra
		}
	case *schema.AgenticMessage:
		if m != nil {
			return m.Extra
		}
	}
	return nil
}

// withExtra returns a copy of a message that has another Extra map.
func withExtra[M Message](m M, extra map[string]any) M {
	var next any
	switch m := any(m).(type) {
	case *schema.Message:
		with := *m
		with.Extra, next = extra, &with
	case *schema.AgenticMessage:
		with := *m
		with.Extra, next = extra, &with
	}
	return next.(M)
}
