// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// This file makes histories that use a provider's own tool search, well formed or not, and
// reads what became of them.

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// What adapters leave in Extra.
const (
	markKey   = "openai-tool-search-tool-call"
	eventsKey = "_eino_claude_tool_search_events"
)

// past is one turn of a history: an answer of the model, and the results of its calls.
type past struct {
	text   string
	calls  []pastCall
	hosted []string // found by the provider's own search; nil: it did not search
}

type pastCall struct {
	id, name string
	marked   bool
	found    []string // what a search returned
	native   bool     // as tools and not as text
	parts    int      // of a native result
	bare     bool     // a native result that is nil
}

// anyPast is a random history over tools that are hidden, gone, or the agent's own.
func anyPast(r *rand.Rand) (turns []past) {
	names := []string{"alpha", "beta", "gamma", "gone", "own"}
	some := func(most int) (list []string) {
		list = []string{}
		for range r.IntN(most + 1) {
			list = append(list, names[r.IntN(len(names))])
		}
		return list
	}
	for i := range 1 + r.IntN(6) {
		p := past{text: []string{"", "so"}[r.IntN(2)]}
		if r.IntN(4) == 0 {
			p.hosted = some(2)
		}
		for j := range r.IntN(3) {
			c := pastCall{id: fmt.Sprintf("c%d_%d", i, j), name: "tool_search", marked: r.IntN(2) == 0, native: r.IntN(2) == 0, found: some(3), parts: 1 + r.IntN(2)}
			if c.native && r.IntN(6) == 0 {
				c.bare, c.found = true, []string{}
			}
			if r.IntN(3) == 0 {
				c = pastCall{id: c.id, name: names[r.IntN(3)]}
			}
			p.calls = append(p.calls, c)
		}
		if p.text == "" && len(p.calls) == 0 {
			p.text = "hm"
		}
		turns = append(turns, p)
	}
	return turns
}

// write makes messages of a history.
func write[M adk.MessageType](turns []past) (list []M) {
	add := func(m any) { list = append(list, m.(M)) }
	_, agentic := any(*new(M)).(*schema.AgenticMessage)
	if agentic {
		add(schema.UserAgenticMessage("please"))
	} else {
		add(schema.UserMessage("please"))
	}
	for _, p := range turns {
		if agentic {
			add(p.agenticAnswer())
		} else {
			add(p.plainAnswer())
		}
		for _, c := range p.calls {
			if agentic {
				add(c.agenticResult())
			} else {
				add(c.plainResult())
			}
		}
	}
	return list
}

// claudeEvent has the fields of the claude adapter's own.
type claudeEvent struct {
	Type, ID, ToolUseID string
	Input               json.RawMessage
	Content             *claudeContent
}

type claudeContent struct {
	ToolReferences []struct{ ToolName string }
}

func (p past) plainAnswer() *schema.Message {
	var calls []schema.ToolCall
	for _, c := range p.calls {
		calls = append(calls, schema.ToolCall{ID: c.id, Function: schema.FunctionCall{Name: c.name, Arguments: "{}"}})
	}
	m := schema.AssistantMessage(p.text, calls)
	m.Extra = map[string]any{"other": 1}
	if p.hosted != nil {
		found := &claudeContent{}
		for _, n := range p.hosted {
			found.ToolReferences = append(found.ToolReferences, struct{ ToolName string }{n})
		}
		m.Extra[eventsKey] = []claudeEvent{{Type: "server_tool_use", ID: "s", Input: json.RawMessage("{}")}, {Type: "tool_search_tool_result", ToolUseID: "s", Content: found}}
	}
	return m
}

func (c pastCall) plainResult() *schema.Message {
	m := schema.ToolMessage("ok", c.id, schema.WithToolName(c.name))
	switch {
	case c.native:
		m.Content = ""
		for i := range c.parts {
			m.UserInputMultiContent = append(m.UserInputMultiContent, schema.MessageInputPart{
				Type: schema.ChatMessagePartTypeToolSearchResult, ToolSearchResult: c.result(i),
			})
		}
	case c.found != nil:
		m.Content = c.matches()
	}
	return m
}

// result is a part of the result; the first part holds the tools.
func (c pastCall) result(part int) *schema.ToolSearchResult {
	if part > 0 || c.bare {
		return nil
	}
	r := &schema.ToolSearchResult{Tools: []*schema.ToolInfo{nil}}
	for _, n := range c.found {
		r.Tools = append(r.Tools, &schema.ToolInfo{Name: n, Desc: "as it was"})
	}
	return r
}

func (c pastCall) matches() string {
	text, err := json.Marshal(map[string]any{"matches": c.found})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (p past) agenticAnswer() *schema.AgenticMessage {
	m := &schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant}
	if p.hosted != nil {
		tools := []any{}
		for _, n := range p.hosted {
			tools = append(tools, map[string]any{"name": n})
		}
		m.ContentBlocks = append(m.ContentBlocks,
			schema.NewContentBlock(&schema.ServerToolCall{Arguments: map[string]any{"tool_search": map[string]any{"arguments": map[string]any{}}}}),
			schema.NewContentBlock(&schema.ServerToolResult{Content: map[string]any{"tool_search": map[string]any{"tools": tools}}}))
	}
	if p.text != "" {
		m.ContentBlocks = append(m.ContentBlocks, schema.NewContentBlock(&schema.AssistantGenText{Text: p.text}))
	}
	for _, c := range p.calls {
		b := schema.NewContentBlock(&schema.FunctionToolCall{CallID: c.id, Name: c.name, Arguments: "{}"})
		if c.marked {
			b.Extra = map[string]any{markKey: true, "openai-item-id": "tsc_" + c.id}
		}
		m.ContentBlocks = append(m.ContentBlocks, b)
	}
	return m
}

func (c pastCall) agenticResult() *schema.AgenticMessage {
	text := "ok"
	if c.found != nil {
		text = c.matches()
	}
	b := schema.NewContentBlock(&schema.FunctionToolResult{CallID: c.id, Name: c.name, Content: []*schema.FunctionToolResultContentBlock{
		{Type: schema.FunctionToolResultContentBlockTypeText, Text: &schema.UserInputText{Text: text}},
	}})
	if c.native {
		b = schema.NewContentBlock(&schema.ToolSearchFunctionToolResult{CallID: c.id, Name: c.name, Result: c.result(0)})
	}
	return &schema.AgenticMessage{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{b}}
}

// reading is what a history says, in order.
type reading struct {
	calls, results []string        // ids
	marked, native map[string]bool // by id
	returned       []string        // names in native results
	texts          map[string]string
	hosted         []string // names that hosted searches refer to
	searches       int      // hosted searches
	empty          int      // messages that hold nothing
}

func read[M adk.MessageType](list []M) reading {
	r := reading{marked: map[string]bool{}, native: map[string]bool{}, texts: map[string]string{}}
	for _, m := range list {
		switch m := any(m).(type) {
		case *schema.Message:
			r.plain(m)
		case *schema.AgenticMessage:
			r.agentic(m)
		}
	}
	return r
}

func (r *reading) plain(m *schema.Message) {
	if events, ok := m.Extra[eventsKey].([]claudeEvent); ok {
		r.searches++
		for _, ref := range events[1].Content.ToolReferences {
			r.hosted = append(r.hosted, ref.ToolName)
		}
	}
	for _, c := range m.ToolCalls {
		r.calls = append(r.calls, c.ID)
	}
	if m.Content == "" && len(m.ToolCalls)+len(m.UserInputMultiContent) == 0 && m.Extra[eventsKey] == nil {
		r.empty++
	}
	if m.Role != schema.Tool {
		return
	}
	r.results = append(r.results, m.ToolCallID)
	r.texts[m.ToolCallID] = m.Content
	for _, p := range m.UserInputMultiContent {
		if p.Type == schema.ChatMessagePartTypeToolSearchResult {
			r.tools(m.ToolCallID, p.ToolSearchResult)
		}
	}
}

func (r *reading) tools(id string, result *schema.ToolSearchResult) {
	if r.native[id] {
		r.texts[id] += "twice" // no adapter takes two
	}
	r.native[id] = true
	if result == nil {
		r.texts[id] += "nil"
		return
	}
	for _, t := range result.Tools {
		if t == nil {
			r.texts[id] += "nil"
			continue
		}
		r.returned = append(r.returned, t.Name)
	}
}

func (r *reading) agentic(m *schema.AgenticMessage) {
	if len(m.ContentBlocks) == 0 {
		r.empty++
	}
	for _, b := range m.ContentBlocks {
		switch {
		case b.FunctionToolCall != nil:
			r.calls = append(r.calls, b.FunctionToolCall.CallID)
			r.marked[b.FunctionToolCall.CallID] = b.Extra[markKey] == true
		case b.FunctionToolResult != nil:
			r.results = append(r.results, b.FunctionToolResult.CallID)
			r.texts[b.FunctionToolResult.CallID] = b.FunctionToolResult.Content[0].Text.Text
		case b.ToolSearchFunctionToolResult != nil:
			s := b.ToolSearchFunctionToolResult
			r.results = append(r.results, s.CallID)
			r.tools(s.CallID, s.Result)
		case b.ServerToolCall != nil:
			r.searches++
		case b.ServerToolResult != nil:
			for _, t := range strings.Split(dump(b.ServerToolResult.Content), `"name":"`)[1:] {
				r.hosted = append(r.hosted, t[:strings.Index(t, `"`)])
			}
		}
	}
}

func dump(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
