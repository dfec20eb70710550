// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
)

// Turn is one message of either type, as the rules see it.
type Turn struct {
	Role    string // "system", "user", "assistant" or, for plain messages with results, "tool"
	Text    string // without the results
	Calls   []Call
	Results []Result
}

// Call is a call that the model made.
type Call struct {
	ID, Name string
	Args     string // JSON
}

// Result is what a tool answered to the call with the same ID.
type Result struct{ ID, Name, Text string }

// Read gives the content of a message; m is not changed.
func Read[M adk.MessageType](m M) Turn {
	t := Turn{Role: string(message.Role(m))}
	for p := message.Parts(m); p.Next(); {
		switch p.Kind {
		case message.Text:
			t.Text += p.Text()
		case message.Call:
			t.Calls = append(t.Calls, Call{p.ID(), p.Name(), p.Text()})
		case message.Result:
			r := Result{ID: p.ID(), Name: p.Name()}
			for q := p.Parts(); q.Next(); {
				if q.Kind == message.Text {
					r.Text += q.Text()
				}
			}
			t.Results = append(t.Results, r)
		}
	}
	return t
}

// User makes a user's message.
func User[M adk.MessageType](text string) M {
	return message.New[M](schema.User, message.NewText(text))
}

// reply is an answer of the model: calls, or else text.
type reply struct {
	text  string
	calls []Call
}

// write converts a reply to a message, or to the messages of a stream. Only text is streamed in pieces.
func write[M adk.MessageType](r reply, pieces int) (out []M) {
	if len(r.calls) > 0 {
		var calls []message.Part
		for _, c := range r.calls {
			calls = append(calls, message.NewCall(c.ID, c.Name, c.Args))
		}
		return []M{message.New[M](schema.Assistant, calls...)}
	}
	if message.IsAgentic[M]() {
		pieces = 1
	}
	runes := []rune(r.text)
	size := max(1, (len(runes)+pieces-1)/pieces)
	for len(runes) > size {
		out = append(out, message.New[M](schema.Assistant, message.NewText(string(runes[:size]))))
		runes = runes[size:]
	}
	return append(out, message.New[M](schema.Assistant, message.NewText(string(runes))))
}
