// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"encoding/json"
	"strings"
)

// messages is a request of the Messages API.
type messages struct {
	Model     string          `json:"model"`
	MaxTokens int             `json:"max_tokens"`
	Stream    bool            `json:"stream"`
	System    json.RawMessage `json:"system"`
	Messages  []message       `json:"messages"`
	Tools     []messagesTool  `json:"tools"`
	Thinking  thinkingConfig  `json:"thinking"`

	bytes    int // of the conversation
	raw      []json.RawMessage
	thoughts Thoughts
	beta     string // the header
	dropped  int    // blocks of thinking
	missing  int    // answers whose thinking could have come back
	issued   issued
	prefix   []byte // what thinking in the answer is bound to
}

type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// messagesTool is a tool of the client's, or one that the provider runs.
type messagesTool struct {
	Type         string          `json:"type"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  *inputSchema    `json:"input_schema"`
	DeferLoading bool            `json:"defer_loading"`
	CacheControl json.RawMessage `json:"cache_control"`

	raw []byte
}

type inputSchema struct {
	Type string `json:"type"`
}

func (t *messagesTool) UnmarshalJSON(data []byte) error {
	type fields messagesTool
	t.raw = append([]byte(nil), data...)
	return json.Unmarshal(data, (*fields)(t))
}

// hosted reports whether the provider runs the tool.
func (t messagesTool) hosted() bool { return strings.HasPrefix(t.Type, "tool_search_tool_") }

// content is a list of blocks; a text is a list of one.
type content []block

type block struct {
	Type         string          `json:"type"`
	Text         string          `json:"text"`
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	ToolUseID    string          `json:"tool_use_id"`
	ToolName     string          `json:"tool_name"`
	Content      json.RawMessage `json:"content"`
	CacheControl json.RawMessage `json:"cache_control"`
}

func (c *content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = content{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(data, (*[]block)(c))
}

// inner are the blocks within a result of a tool.
func (b block) inner() (list content) {
	if len(b.Content) > 0 {
		_ = json.Unmarshal(b.Content, &list) // what is not a list holds no blocks
	}
	return list
}

// references are the tools that a result, of the client's or of the provider's search,
// refers to.
func (b block) references() (names []string) {
	var own struct {
		References content `json:"tool_references"`
	}
	list := b.inner()
	if b.Type == "tool_search_tool_result" && json.Unmarshal(b.Content, &own) == nil {
		list = own.References
	}
	for _, x := range list {
		if x.ToolName != "" {
			names = append(names, x.ToolName)
		}
	}
	return names
}

func readMessages(body []byte) (conversation, error) {
	var q messages
	var parts struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := decode(body, &q, &parts); err != nil {
		return nil, err
	}
	q.raw, q.bytes = parts.Messages, len(q.System)+2+len(parts.Messages)
	for _, m := range parts.Messages {
		q.bytes += len(m)
	}
	return &q, nil
}

func (q *messages) facts() Request {
	r := Request{Stream: q.Stream, Prompt: q.bytes, Dropped: q.dropped, Missing: q.missing}
	for _, m := range q.Messages {
		for _, b := range m.Content {
			if isThought(b.Type) {
				r.Thoughts++
			}
		}
	}
	for _, t := range q.Tools {
		if t.hosted() {
			r.Search = "hosted"
			continue
		}
		r.Tools = append(r.Tools, Tool{t.Name, t.Description, t.DeferLoading, len(t.raw), t.raw})
	}
	seen := map[string]bool{}
	for _, m := range q.Messages {
		for _, b := range m.Content {
			for _, name := range b.references() {
				if t := tool(r.Tools, name); t != nil && !seen[name] {
					seen[name] = true
					r.Loaded = append(r.Loaded, *t)
				}
			}
		}
	}
	return r
}

func tool(tools []Tool, name string) *Tool {
	for i := range tools {
		if tools[i].Name == name {
			return &tools[i]
		}
	}
	return nil
}

// seesSearch: a search tool of the client's is a tool like any other here.
func (q *messages) seesSearch(string) bool { return false }

// messagesAnswer is a message of the model.
type messagesAnswer struct {
	ID         string   `json:"id"`
	Type       string   `json:"type"`
	Role       string   `json:"role"`
	Model      string   `json:"model"`
	Content    []object `json:"content"`
	StopReason string   `json:"stop_reason"`
	Usage      object   `json:"usage"`
}

func (q *messages) answer(t Turn, found []Tool, id func(string) string) any {
	a := messagesAnswer{
		ID: id("msg"), Type: "message", Role: "assistant", Model: q.Model, Content: []object{}, StopReason: "end_turn",
		Usage: object{"input_tokens": q.facts().Tokens(), "output_tokens": 10},
	}
	if t.Search != "" {
		use := id("srvtoolu")
		refs := []object{}
		for _, x := range found {
			refs = append(refs, object{"type": "tool_reference", "tool_name": x.Name})
		}
		a.Content = append(a.Content,
			object{"type": "server_tool_use", "id": use, "name": q.hostedName(), "input": object{"query": t.Search}, "caller": object{"type": "direct"}},
			object{"type": "tool_search_tool_result", "tool_use_id": use, "content": object{"type": "tool_search_tool_search_result", "tool_references": refs}})
	}
	thoughts := q.thoughtsOf(t)
	a.Content = append(a.Content, thoughts[:min(1, len(thoughts))]...)
	if t.Text != "" {
		a.Content = append(a.Content, object{"type": "text", "text": t.Text})
	}
	a.Content = append(a.Content, thoughts[min(1, len(thoughts)):]...)
	for _, c := range t.Calls {
		a.StopReason = "tool_use"
		a.Content = append(a.Content, object{"type": "tool_use", "id": id("toolu"), "name": c.Name, "input": json.RawMessage(arguments(c))})
	}
	q.issue(a.Content)
	return a
}

func (q *messages) hostedName() string {
	for _, t := range q.Tools {
		if t.hosted() {
			return t.Name
		}
	}
	return ""
}

func (a messagesAnswer) events() []event {
	start := a
	start.Content, start.StopReason = []object{}, ""
	list := []event{{"message_start", object{"message": start}}}
	for i, b := range a.Content {
		head, deltas := pieces(b)
		list = append(list, event{"content_block_start", object{"index": i, "content_block": head}})
		for _, d := range deltas {
			list = append(list, event{"content_block_delta", object{"index": i, "delta": d}})
		}
		list = append(list, event{"content_block_stop", object{"index": i}})
	}
	return append(list,
		event{"message_delta", object{"delta": object{"stop_reason": a.StopReason, "stop_sequence": nil}, "usage": object{"output_tokens": 10}}},
		event{"message_stop", object{}})
}

// pieces splits a block into its start, which holds no text and no arguments, and these.
func pieces(b object) (head object, deltas []object) {
	head = object{}
	for k, v := range b {
		head[k] = v
	}
	switch b["type"] {
	case "text":
		head["text"] = ""
		for _, s := range halves(b["text"].(string)) {
			deltas = append(deltas, object{"type": "text_delta", "text": s})
		}
	case "thinking":
		head["thinking"], head["signature"] = "", ""
		for _, s := range halves(b["thinking"].(string)) {
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": s})
		}
		deltas = append(deltas, object{"type": "signature_delta", "signature": b["signature"]})
	case "tool_use", "server_tool_use":
		input, err := json.Marshal(b["input"])
		if err != nil {
			return head, nil
		}
		head["input"] = object{}
		for _, s := range halves(string(input)) {
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": s})
		}
	}
	return head, deltas
}
