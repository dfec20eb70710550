// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package message

import (
	"slices"

	"github.com/cloudwego/eino/adk"
)

// Map applies a function to all messages. It returns the same slice if no message changes.
func Map[M adk.MessageType](msgs []M, f func(M) M) []M {
	next := msgs
	for i, msg := range msgs {
		other := f(msg)
		if other == msg {
			continue
		}
		if SameSlice(next, msgs) {
			next = slices.Clone(msgs)
		}
		next[i] = other
	}
	return next
}

// SameSlice reports whether two slices share their elements, and not only equal ones.
func SameSlice[M adk.MessageType](a, b []M) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// CommonPrefix returns how many messages are the same at the beginning of two lists.
func CommonPrefix[M adk.MessageType](a, b []M) int {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	for i, msg := range a {
		if msg != b[i] {
			return i
		}
	}
	return n
}

// EditCalls returns a copy of a message with other ids, names or arguments in its calls. It is the same message if
// none changes.
func EditCalls[M adk.MessageType](m M, edit func(ToolCall) ToolCall) M {
	return Edit(m, func(p Part) (Part, bool) {
		if p.Kind != Call {
			return p, false
		}
		before := ToolCall{p.ID(), p.Name(), p.Text()}
		after := edit(before)
		if after == before {
			return p, false
		}
		return p.WithCall(after.ID, after.Name, after.Args), true
	})
}

// RenameTools returns a copy of a message with other tool names in its calls and results. It is the same message if
// none changes.
func RenameTools[M adk.MessageType](m M, rename func(id, name string) string) M {
	return Edit(m, func(p Part) (Part, bool) {
		if p.Kind != Call && p.Kind != Result {
			return p, false
		}
		name := rename(p.ID(), p.Name())
		if name == p.Name() {
			return p, false
		}
		if p = p.WithCall(p.ID(), name, p.Text()); p.Kind == Result {
			p = p.With(p.Parts().All()...)
		}
		return p, true
	})
}
