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

	"github.com/cloudwego/eino/schema"
)

// Message is either message type.
type Message interface {
	*schema.Message | *schema.AgenticMessage
}

// Any reports whether a provider keeps the conversation up to any of the messages.
func Any[M Message](msgs []M) bool {
	c := codecFor[M]()
	for _, m := range msgs {
		if kept, _ := keeps(c.extra(m)); kept {
			return true
		}
	}
	return false
}

// Restart returns the messages without the response ids that must not be built on.
// It calls stale, in order, for each message that has one; tools is true where the
// provider keeps the tools as well. The messages that it is given never change: one
// that loses its id is a copy with everything else in it. If none does, the same
// slice is returned.
func Restart[M Message](msgs []M, stale func(i int, tools bool) bool) []M {
	c := codecFor[M]()
	next := msgs
	for i, m := range msgs {
		extra := c.extra(m)
		kept, tools := keeps(extra)
		if !kept || !stale(i, tools) {
			continue
		}
		if &next[0] == &msgs[0] {
			next = append([]M(nil), msgs...)
		}
		next[i] = c.with(m, without(extra))
	}
	return next
}

// MarkOf is the mark under a key of Extra; "" if there is none.
func MarkOf[M Message](m M, key string) string {
	mark, _ := codecFor[M]().extra(m)[key].(string)
	return mark
}

// marked returns a copy of a response that the provider keeps, with the mark.
func marked[M Message](m M, key, mark string) M {
	c := codecFor[M]()
	extra := maps.Clone(c.extra(m))
	extra[key] = mark
	return c.with(m, extra)
}

func isKept[M Message](m M) bool {
	kept, _ := keeps(codecFor[M]().extra(m))
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

// codec reads and replaces the Extra map of a message.
type codec[M Message] interface {
	extra(M) map[string]any
	with(M, map[string]any) M
}

// codecFor is the package's one switch on the message type.
func codecFor[M Message]() codec[M] {
	var c any
	switch any(*new(M)).(type) {
	case *schema.Message:
		c = plain{}
	case *schema.AgenticMessage:
		c = agentic{}
	}
	return c.(codec[M])
}

type plain struct{}

func (plain) extra(m *schema.Message) map[string]any {
	if m == nil {
		return nil
	}
	return m.Extra
}

func (plain) with(m *schema.Message, extra map[string]any) *schema.Message {
	next := *m
	next.Extra = extra
	return &next
}

type agentic struct{}

func (agentic) extra(m *schema.AgenticMessage) map[string]any {
	if m == nil {
		return nil
	}
	return m.Extra
}

func (agentic) with(m *schema.AgenticMessage, extra map[string]any) *schema.AgenticMessage {
	next := *m
	next.Extra = extra
	return &next
}
