// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
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

	bytes           int // of the conversation
	raw             []json.RawMessage
	thoughts        Thoughts
	beta            string // the header
	droppedThinking int    // blocks of thinking
	missingThinking int    // answers whose thinking could have come back
	issued          issued
	prefix          []byte // what thinking in the answer is bound to
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

// isHosted reports whether the provider runs the tool.
func (t messagesTool) isHosted() bool { return strings.HasPrefix(t.Type, "tool_search_tool_") }

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
	r := Request{Stream: q.Stream, Prompt: q.bytes, Dropped: q.droppedThinking, Missing: q.missingThinking}
	for _, m := range q.Messages {
		for _, b := range m.Content {
			if isThought(b.Type) {
				r.Thoughts++
			}
		}
	}
	for _, t := range q.Tools {
		if t.isHosted() {
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
		if t.isHosted() {
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

// maxBreakpoints is the most places to cache up to in one request.
const maxBreakpoints = 4

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

func (q *messages) refusal() string {
	return firstProblem(q, needsFields, needsToolDefinitions, needsUniqueTools, needsOneToolNotDeferred,
		needsFewBreakpoints, needsContent, needsPairs, needsSearchResults, needsDeclaredReferences, (*messages).checkThoughts)
}

// firstProblem is what the first check finds that finds anything.
func firstProblem[Q any](q Q, checks ...func(Q) string) string {
	for _, check := range checks {
		if problem := check(q); problem != "" {
			return problem
		}
	}
	return ""
}

func needsFields(q *messages) string {
	switch {
	case q.Model == "":
		return "model: Field required"
	case q.MaxTokens <= 0:
		return "max_tokens: Field required"
	case len(q.Messages) == 0:
		return "messages: at least one message is required"
	case q.Messages[0].Role != "user":
		return "messages: first message must use the \"user\" role"
	}
	return ""
}

func needsToolDefinitions(q *messages) string {
	for i, t := range q.Tools {
		switch {
		case t.isHosted() && t.Name != "tool_search_tool_bm25" && t.Name != "tool_search_tool_regex":
			return fmt.Sprintf("tools.%d: unknown tool name %q", i, t.Name)
		case t.isHosted() && t.DeferLoading:
			return fmt.Sprintf("tools.%d: the tool search tool cannot be deferred", i)
		case t.isHosted():
		case t.Type != "" && t.Type != "custom":
			return fmt.Sprintf("tools.%d: unknown tool type %q", i, t.Type)
		case !toolName.MatchString(t.Name):
			return fmt.Sprintf("tools.%d.custom.name: String should match pattern %q", i, toolName)
		case t.InputSchema == nil || t.InputSchema.Type != "object":
			return fmt.Sprintf("tools.%d.custom.input_schema.type: Field required", i)
		case t.DeferLoading && len(t.CacheControl) > 0:
			return fmt.Sprintf("Tool %q cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use prompt caching.", t.Name)
		}
	}
	return ""
}

func needsUniqueTools(q *messages) string {
	seen := map[string]bool{}
	for _, t := range q.Tools {
		if seen[t.Name] {
			return "tools: Tool names must be unique."
		}
		seen[t.Name] = true
	}
	return ""
}

func needsOneToolNotDeferred(q *messages) string {
	for _, t := range q.Tools {
		if !t.DeferLoading {
			return ""
		}
	}
	if len(q.Tools) > 0 {
		return "All tools have defer_loading set. At least one tool must be non-deferred."
	}
	return ""
}

func needsFewBreakpoints(q *messages) string {
	n := 0
	for _, t := range q.Tools {
		if len(t.CacheControl) > 0 {
			n++
		}
	}
	for _, m := range q.Messages {
		for _, b := range m.Content {
			if len(b.CacheControl) > 0 {
				n++
			}
		}
	}
	if n > maxBreakpoints {
		return fmt.Sprintf("A maximum of %d blocks with cache_control may be provided. Found %d.", maxBreakpoints, n)
	}
	return ""
}

func needsContent(q *messages) string {
	for i, m := range q.Messages {
		switch {
		case m.Role != "user" && m.Role != "assistant":
			return fmt.Sprintf("messages.%d.role: unexpected %q", i, m.Role)
		case len(m.Content) == 0:
			return fmt.Sprintf("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
		for _, b := range m.Content {
			if problem := needsText(append(content{b}, b.inner()...)); problem != "" {
				return problem
			}
			if b.Type == "tool_result" && string(b.Content) == "[]" {
				return fmt.Sprintf("messages.%d: tool_result: content must not be empty", i)
			}
		}
	}
	return ""
}

// needsText holds for the blocks of a message and for those within a result.
func needsText(blocks content) string {
	for _, b := range blocks {
		switch {
		case b.Type == "text" && b.Text == "":
			return "messages: text content blocks must be non-empty"
		case b.Type == "text" && strings.TrimSpace(b.Text) == "":
			return "messages: text content blocks must contain non-whitespace text"
		}
	}
	return ""
}

// needsPairs holds calls and results of the client's tools together.
func needsPairs(q *messages) string {
	open := map[string]bool{}
	for i, m := range q.Messages {
		for _, b := range m.Content {
			if b.Type != "tool_result" {
				continue
			}
			waits, called := open[b.ToolUseID]
			if !called {
				return fmt.Sprintf("messages.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, b.ToolUseID)
			}
			if !waits {
				return fmt.Sprintf("messages.%d: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", i, b.ToolUseID)
			}
			open[b.ToolUseID] = false
		}
		for id, waits := range open {
			if waits {
				return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i-1, id)
			}
		}
		clear(open)
		for _, b := range m.Content {
			if b.Type == "tool_use" {
				open[b.ID] = true
			}
		}
		if len(open) > 0 && len(q.Tools) == 0 {
			return "Requests which include `tool_use` or `tool_result` blocks must define tools"
		}
	}
	if len(open) > 0 {
		return "messages: the last message must not leave `tool_use` blocks without results"
	}
	return ""
}

// needsSearchResults holds calls and results of the provider's search together.
func needsSearchResults(q *messages) string {
	for i, m := range q.Messages {
		open := ""
		for _, b := range m.Content {
			switch b.Type {
			case "server_tool_use":
				if q.hostedName() == "" {
					return fmt.Sprintf("messages.%d: server tool %q is not declared", i, b.Name)
				}
				open = b.ID
			case "tool_search_tool_result":
				if open == "" || b.ToolUseID != open {
					return fmt.Sprintf("messages.%d: unexpected `tool_search_tool_result` block: %s", i, b.ToolUseID)
				}
				open = ""
			}
		}
		if open != "" {
			return fmt.Sprintf("messages.%d: `tool_search_tool_bm25` tool use with id `%s` was found without a corresponding `tool_search_tool_result` block", i, open)
		}
	}
	return ""
}

func needsDeclaredReferences(q *messages) string {
	deferred := map[string]bool{}
	for _, t := range q.Tools {
		deferred[t.Name] = t.DeferLoading
	}
	for _, m := range q.Messages {
		for _, b := range m.Content {
			for _, name := range b.references() {
				isDeferred, declared := deferred[name]
				if !declared {
					return fmt.Sprintf("Tool reference %q has no corresponding tool definition", name)
				}
				if !isDeferred {
					return fmt.Sprintf("Tool reference %q must be a tool with defer_loading=true", name)
				}
			}
		}
	}
	return ""
}

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
			q.missingThinking++
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
			q.droppedThinking++
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
