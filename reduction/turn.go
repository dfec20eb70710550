// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The user's turns in a history.

import (
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
)

// turn is the user's turn to which a request belongs. It depends on the history alone, so a resumed run goes on in
// the turn that it began. The zero value is the turn of an empty history.
type turn struct {
	start    int  // index of the first message of the turn
	previous int  // where the turn before begins; start if there is none
	isStart  bool // the request is the first one of the turn
	hasTurns bool
}

func turnOf[M adk.MessageType](msgs []M) (t turn) {
	for i, m := range msgs {
		t = nextTurn(t, i, m)
	}
	return t
}

// nextTurn returns the turn after one more message.
func nextTurn[M adk.MessageType](t turn, index int, m M) turn {
	switch {
	case !isUserMessage(m):
		t.isStart = t.isStart && (message.Role(m) == schema.System || isInserted(m))
	case t.isStart: // several messages of the user's one after another
	case t.hasTurns:
		t.previous, t.start, t.isStart = t.start, index, true
	default:
		t = turn{start: index, previous: index, isStart: true, hasTurns: true}
	}
	return t
}

// startsTurn reports whether a request is the first one of a turn.
func startsTurn[M adk.MessageType](msgs []M) bool {
	for i := len(msgs) - 1; i >= 0; i-- {
		switch m := msgs[i]; {
		case isUserMessage(m):
			return true
		case message.Role(m) != schema.System && !isInserted(m):
			return false
		}
	}
	return false
}

// agentContext is how the messages of another agent begin when Eino hands them on as messages of the user's.
const agentContext = "For context: ["

// isUserMessage reports whether the user has sent a message: not a tool, another agent or a middleware.
func isUserMessage[M adk.MessageType](m M) bool {
	if message.Role(m) != schema.User || message.IsFromHandler(message.Extra(m)) {
		return false
	}
	isFirst := true
	for p := message.Parts(m); p.Next(); isFirst = false {
		if p.Kind == message.Result || isFirst && p.Kind == message.Text && strings.HasPrefix(p.Text(), agentContext) {
			return false
		}
	}
	return true
}

// isInserted reports whether a handler has inserted a message of the user's role.
func isInserted[M adk.MessageType](m M) bool {
	if message.Role(m) != schema.User || !message.IsFromHandler(message.Extra(m)) {
		return false
	}
	for p := message.Parts(m); p.Next(); {
		if p.Kind == message.Result {
			return false
		}
	}
	return true
}
