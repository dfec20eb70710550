// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Thoughts is what a model on Anthropic's API does with its thinking.
type Thoughts int

const (
	// Unchecked thinking may come back anywhere.
	Unchecked Thoughts = iota
	// Bound thinking comes back behind the same system prompt, tools and messages, or not at
	// all. Deferred tools do not count.
	Bound
)

// The request field and the header that make the server drop what it would refuse.
const (
	dropBlock  = "drop_block"
	bindingAPI = "thinking-binding-controls-2026-08-01"
)

// thinkingConfig is the request's thinking.
type thinkingConfig struct {
	Type    string `json:"type"`
	Binding struct {
		Mismatch string `json:"prefix_mismatch_behavior"`
	} `json:"block_binding"`
}

func isThought(kind string) bool { return kind == "thinking" || kind == "redacted_thinking" }

// issued are the answers with thinking of one server, by what stood before them and what else
// they say.
type issued map[[sha256.Size]byte]bool

func (s issued) key(prefix []byte, rest any) [sha256.Size]byte {
	text, _ := json.Marshal(rest) // what came as JSON becomes JSON again
	return sha256.Sum256(fmt.Appendf(nil, "%s %s", prefix, text))
}

// issue remembers an answer.
func (q *messages) issue(content []object) {
	var rest []map[string]any
	text, _ := json.Marshal(content)
	_ = json.Unmarshal(text, &rest)
	all := len(rest)
	rest = slices.DeleteFunc(rest, func(b map[string]any) bool { return isThought(b["type"].(string)) })
	if len(rest) < all {
		q.issued[q.issued.key(q.prefix, rest)] = true
	}
}

// signature is that of the kth block of the answer to a conversation.
func signature(conversation []byte, k int, text string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %q %s", k, text, conversation))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// thoughtsOf are the signed blocks of a turn.
func (q *messages) thoughtsOf(t Turn) (list []object) {
	for k, text := range t.Thinking {
		if rest, ok := strings.CutPrefix(text, Redacted); ok {
			list = append(list, object{"type": "redacted_thinking", "data": signature(q.prefix, k, "") + " " + rest})
			continue
		}
		list = append(list, object{"type": "thinking", "thinking": text, "signature": signature(q.prefix, k, text)})
	}
	return list
}

// Redacted begins the text of thinking that only the provider can read.
const Redacted = "redacted:"

// checkThoughts checks every block of thinking, drops those that may be dropped, and
// remembers the conversation that the answer's own thinking is bound to.
func (q *messages) checkThoughts() string {
	prefix, err := q.beforeMessages()
	if err != nil {
		return err.Error()
	}
	for i, raw := range q.raw {
		var m struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return err.Error()
		}
		var blocks []map[string]any
		if json.Unmarshal(m.Content, &blocks) != nil { // a text
			prefix = fmt.Appendf(prefix, "%s %s\n", m.Role, m.Content)
			continue
		}
		kept, problem := q.checkMessage(i, blocks, prefix)
		if problem != "" {
			return problem
		}
		text, err := json.Marshal(kept)
		if err != nil {
			return err.Error()
		}
		prefix = fmt.Appendf(prefix, "%s %s\n", m.Role, text)
	}
	q.prefix = prefix
	return q.lacksThought()
}

// checkMessage returns the blocks of a message that count.
func (q *messages) checkMessage(i int, blocks []map[string]any, prefix []byte) (kept []map[string]any, problem string) {
	defer func() {
		if !slices.ContainsFunc(blocks, func(b map[string]any) bool { return isThought(b["type"].(string)) }) && q.issued[q.issued.key(prefix, kept)] {
			q.missing++
		}
	}()
	k := 0
	for at, b := range blocks {
		delete(b, "cache_control")
		kind, _ := b["type"].(string)
		if !isThought(kind) {
			kept = append(kept, b)
			continue
		}
		text, _ := b["thinking"].(string)
		sign, _ := b["signature"].(string)
		if kind == "redacted_thinking" {
			sign, _, _ = strings.Cut(fmt.Sprint(b["data"]), " ")
		}
		switch {
		case sign == "":
			return nil, fmt.Sprintf("messages.%d.content.%d.thinking.signature: Field required", i, at)
		case q.thoughts != Bound || sign == signature(prefix, k, text):
			kept = append(kept, b)
		case q.Thinking.Binding.Mismatch == dropBlock && strings.Contains(q.beta, bindingAPI):
			q.dropped++
		default:
			return nil, fmt.Sprintf("messages.%d.content.%d: The block is bound to a different conversation", i, at)
		}
		k++
	}
	return kept, ""
}

// beforeMessages is what comes before all messages: the system prompt, and the tools.
func (q *messages) beforeMessages() ([]byte, error) {
	list := []any{q.System}
	for _, t := range q.Tools {
		if t.DeferLoading {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(t.raw, &fields); err != nil {
			return nil, err
		}
		delete(fields, "cache_control")
		list = append(list, fields)
	}
	return json.Marshal(list)
}

// lacksThought is why the API refuses a request with a thinking budget: the answer whose calls
// have just run must begin with its thinking.
func (q *messages) lacksThought() string {
	last := len(q.Messages) - 2
	if q.Thinking.Type != "enabled" || last < 0 || q.Messages[last].Role != "assistant" {
		return ""
	}
	content := q.Messages[last].Content
	calls := false
	for _, b := range content {
		calls = calls || b.Type == "tool_use"
	}
	if !calls || isThought(content[0].Type) {
		return ""
	}
	return fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block", last, content[0].Type)
}
