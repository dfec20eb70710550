// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package session keeps a conversation that a provider stores on its server in step
// with what a middleware makes of it.
//
// The adapters of such providers send only what follows the last message that has
// a response id, and the provider adds the rest from memory. What a middleware
// changed before that message would never arrive. So every response that the
// provider keeps is marked with what the middleware had done to its request. A
// later request builds on it only if the middleware would do the same now; otherwise
// the message loses its response id, one whole request follows, and the session
// continues from there.
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

// Any reports whether a provider keeps the conversation up to any of the messages.
func Any[M Message](msgs []M) bool {
	return slices.ContainsFunc(msgs, isKept[M])
}

// Restart returns the messages without the response ids that must not be built on.
// It calls stale, in order, for each message that has one; tools is true where the
// provider keeps the tools as well. The messages that it is given never change: one
// that loses its id is a copy with everything else in it. If none does, the same
// slice is returned.
func Restart[M Message](msgs []M, stale func(i int, tools bool) bool) []M {
	next := msgs
	for i, m := range msgs {
		extra := extraOf(m)
		kept, tools := keeps(extra)
		if !kept || !stale(i, tools) {
			continue
		}
		if &next[0] == &msgs[0] {
			next = slices.Clone(msgs)
		}
		next[i] = withExtra(m, without(extra))
	}
	return next
}

// MarkOf is the mark under a key of Extra; "" if there is none.
func MarkOf[M Message](m M, key string) string {
	mark, _ := extraOf(m)[key].(string)
	return mark
}

// marked returns a copy of a response that the provider keeps, with the mark.
func marked[M Message](m M, key, mark string) M {
	extra := maps.Clone(extraOf(m))
	extra[key] = mark
	return withExtra(m, extra)
}

func isKept[M Message](m M) bool {
	kept, _ := keeps(extraOf(m))
	return kept
}

// keeps reports whether some provider keeps the conversation up to a message, and
// the tools.
func keeps(extra map[string]any) (kept, tools bool) {
	if len(extra) == 0 {
		return false, false
	}
	for i := range adapters {
		if a := &adapters[i]; a.keeps(extra) {
			kept, tools = true, tools || a.tools
		}
	}
	return kept, tools
}

func without(extra map[string]any) map[string]any {
	next := maps.Clone(extra)
	for i := range adapters {
		if a := &adapters[i]; a.keeps(extra) {
			delete(next, a.id)
		}
	}
	return next
}

// extraOf is the Extra map of a message. With withExtra it is all that knows the message
// types.
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
