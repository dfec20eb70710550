// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package claude

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/cloudwego/eino/schema"
)

const (
	// thinkingKey is the key, in Extra, of the shape of an answer with thinking, as JSON.
	// einolean takes it out of copies of messages whose thinking the provider would refuse.
	thinkingKey = "_einolean_claude_thinking"
	// budgetKey is its key if the request gave thinking a budget. The models that take one
	// bind no thinking, but want that of the current turn back: einolean never takes it out.
	budgetKey = "_einolean_claude_thinking_with_budget"

	// adaptersKey is the adapter's own, without which it sends no thinking.
	adaptersKey = "_eino_claude_thinking_signature"
)

// part is a block of an answer: one of thinking whole, of any other only what finds it again.
type part struct {
	Type  string          `json:"type"`
	ID    string          `json:"id,omitempty"`    // of a call
	Bytes int             `json:"bytes,omitempty"` // of a text
	Whole json.RawMessage `json:"whole,omitempty"` // of thinking
}

func isThinking(kind string) bool { return kind == "thinking" || kind == "redacted_thinking" }

// partOf is the part of a block as it came.
func partOf(raw json.RawMessage) (p part) {
	var b struct {
		Type, ID, Text string
	}
	if json.Unmarshal(raw, &b) != nil {
		return p
	}
	if isThinking(b.Type) {
		return part{Type: b.Type, Whole: raw}
	}
	return part{Type: b.Type, ID: b.ID, Bytes: len(b.Text)}
}

// exchange is one request and its answer. The adapter's goroutine writes it.
type exchange struct {
	shapes []string // of the assistant's messages in the request; "" without thinking

	mu     sync.Mutex
	budget bool
	parts  []part
}

type exchangeKey struct{}

func newExchange(ctx context.Context, input []*schema.Message) (context.Context, *exchange) {
	x := &exchange{}
	for _, m := range input {
		if m != nil && m.Role == schema.Assistant {
			x.shapes = append(x.shapes, shapeOf(m))
		}
	}
	return context.WithValue(ctx, exchangeKey{}, x), x
}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

func shapeOf(m *schema.Message) string {
	for _, key := range []string{thinkingKey, budgetKey} {
		if s, ok := m.Extra[key].(string); ok {
			return s
		}
	}
	return ""
}

// add notes the next block of the answer.
func (x *exchange) add(raw json.RawMessage) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.parts = append(x.parts, partOf(raw))
}

// addAll notes the blocks of an answer in one piece.
func (x *exchange) addAll(body []byte) {
	var answer struct {
		Content []json.RawMessage `json:"content"`
	}
	if json.Unmarshal(body, &answer) == nil {
		for _, raw := range answer.Content {
			x.add(raw)
		}
	}
}

// finish moves the thinking of a whole answer, or of its last chunk, to a key of ours.
func (x *exchange) finish(m *schema.Message, last bool) *schema.Message {
	if m == nil {
		return nil
	}
	delete(m.Extra, adaptersKey) // what it says of several blocks is wrong
	x.mu.Lock()
	defer x.mu.Unlock()
	thinks := false
	for _, p := range x.parts {
		thinks = thinks || isThinking(p.Type)
	}
	if !last || !thinks {
		return m
	}
	text, err := json.Marshal(x.parts)
	if err != nil {
		return m
	}
	if m.Extra == nil {
		m.Extra = map[string]any{}
	}
	key := thinkingKey
	if x.budget {
		key = budgetKey
	}
	m.Extra[key] = string(text)
	return m
}

// restore puts the thinking of earlier answers back into a request.
func (x *exchange) restore(body []byte) []byte {
	var request map[string]json.RawMessage
	var messages []map[string]json.RawMessage
	if json.Unmarshal(body, &request) != nil || json.Unmarshal(request["messages"], &messages) != nil {
		return body
	}
	var thinking struct{ Type string }
	_ = json.Unmarshal(request["thinking"], &thinking) // there may be none
	x.mu.Lock()
	x.budget = thinking.Type == "enabled"
	x.mu.Unlock()
	k, changed := 0, false
	for _, m := range messages {
		if string(m["role"]) != `"assistant"` || k == len(x.shapes) {
			continue
		}
		var parts []part
		var blocks []map[string]json.RawMessage
		if json.Unmarshal([]byte(x.shapes[k]), &parts) == nil && json.Unmarshal(m["content"], &blocks) == nil {
			if text, err := json.Marshal(arrange(parts, blocks)); err == nil {
				m["content"], changed = text, true
			}
		}
		k++
	}
	if !changed {
		return body
	}
	text, err := json.Marshal(messages)
	if err != nil {
		return body
	}
	request["messages"] = text
	if text, err = json.Marshal(request); err != nil {
		return body
	}
	return text
}

// arrange puts thinking among the blocks of a message where it stood. Blocks that are new or
// changed stay as they are.
func arrange(parts []part, blocks []map[string]json.RawMessage) (out []any) {
	left := splitTexts(parts, blocks)
	for _, p := range parts {
		if p.Whole != nil {
			out = append(out, p.Whole)
			continue
		}
		for i, b := range left {
			if b != nil && text(b["type"]) == p.Type && text(b["id"]) == p.ID {
				out, left[i] = append(out, b), nil
				break
			}
		}
	}
	for _, b := range left {
		if b != nil {
			out = append(out, b)
		}
	}
	return out
}

// splitTexts returns the blocks with the one text that the adapter makes of all in the pieces
// that came; whole, if it is another text by now.
func splitTexts(parts []part, blocks []map[string]json.RawMessage) (out []map[string]json.RawMessage) {
	var sizes []int
	sum := 0
	for _, p := range parts {
		if p.Type == "text" {
			sizes, sum = append(sizes, p.Bytes), sum+p.Bytes
		}
	}
	for _, b := range blocks {
		all := text(b["text"])
		if text(b["type"]) != "text" || len(sizes) < 2 || len(all) != sum {
			out = append(out, b)
			continue
		}
		for k, n := range sizes {
			piece := map[string]json.RawMessage{"type": b["type"]}
			piece["text"], _ = json.Marshal(all[:n]) // a text always can be
			if control := b["cache_control"]; control != nil && k == len(sizes)-1 {
				piece["cache_control"] = control
			}
			out, all = append(out, piece), all[n:]
		}
	}
	return out
}

// text is a JSON string, "" if it is something else.
func text(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s)
	return s
}
