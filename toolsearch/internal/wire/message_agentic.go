// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bytedance/sonic"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// agentic is the codec of *schema.AgenticMessage.
type agentic struct{}

func (agentic) View(m *schema.AgenticMessage) View {
	if m == nil {
		return View{}
	}
	v := View{Assistant: m.Role == schema.AgenticRoleTypeAssistant}
	for _, b := range m.ContentBlocks {
		switch {
		case b == nil:
		case b.FunctionToolCall != nil:
			v.Calls = append(v.Calls, callIn(b))
		case b.FunctionToolResult != nil:
			r := b.FunctionToolResult
			v.Results = append(v.Results, Result{ID: r.CallID, Name: r.Name, Text: blockText(r.Content), Media: blockMedia(r.Content)})
		case b.ToolSearchFunctionToolResult != nil:
			r := b.ToolSearchFunctionToolResult
			v.Results = append(v.Results, Result{ID: r.CallID, Name: r.Name, Native: true, Tools: toolNames(r.Result)})
		case b.ServerToolCall != nil, b.ServerToolResult != nil:
			v.Hosted = true
		}
	}
	return v
}

func blockText(blocks []*schema.FunctionToolResultContentBlock) string {
	var texts []string
	for _, b := range blocks {
		if b != nil && b.Text != nil {
			texts = append(texts, b.Text.Text)
		}
	}
	return strings.Join(texts, "")
}

// blockMedia are the types of the parts that are no text.
func blockMedia(blocks []*schema.FunctionToolResultContentBlock) (types []string) {
	for _, b := range blocks {
		mime := ""
		switch {
		case b == nil, b.Text != nil:
			continue
		case b.Image != nil:
			mime = b.Image.MIMEType
		case b.Audio != nil:
			mime = b.Audio.MIMEType
		case b.Video != nil:
			mime = b.Video.MIMEType
		case b.File != nil:
			mime = b.File.MIMEType
		}
		types = append(types, cmp.Or(mime, string(b.Type)))
	}
	return types
}

func (agentic) IsSystem(m *schema.AgenticMessage) bool {
	return m != nil && m.Role == schema.AgenticRoleTypeSystem
}

func (agentic) Reminder(text string) *schema.AgenticMessage { return markedAgentic(text, reminderKey) }
func (agentic) Note(text string) *schema.AgenticMessage     { return markedAgentic(text, noteKey) }

func markedAgentic(text, key string) *schema.AgenticMessage {
	m := schema.UserAgenticMessage(text)
	m.Extra = map[string]any{key: true}
	return m
}

func (agentic) Text(m *schema.AgenticMessage) Text {
	if m == nil || m.Role != schema.AgenticRoleTypeUser && !isMarked(m.Extra, reminderKey) {
		return Text{}
	}
	s := Text{Marked: isMarked(m.Extra, reminderKey), User: m.Role == schema.AgenticRoleTypeUser && !isHandlers(m.Extra)}
	texts := 0
	for _, b := range m.ContentBlocks {
		if b != nil && b.UserInputText != nil {
			s.Text += b.UserInputText.Text
			texts++
		}
	}
	s.Only = texts == 1 && len(m.ContentBlocks) == 1
	return s
}

func (agentic) Rewrite(m *schema.AgenticMessage, e Editor) *schema.AgenticMessage {
	if m == nil {
		return m
	}
	keep := keepsHosted(m, e)
	var next []*schema.ContentBlock
	changed := false
	for _, b := range m.ContentBlocks {
		c := b
		if b != nil {
			c = rewriteBlock(b, e, keep)
		}
		if changed = changed || c != b; c != nil {
			next = append(next, c)
		}
	}
	if !changed {
		return m
	}
	if len(next) == 0 { // no provider takes an empty message
		names := e.Words(referredInBlocks(m))
		next = append(next, schema.NewContentBlock(&schema.AssistantGenText{Text: names}))
	}
	c := *m
	c.ContentBlocks = next
	return &c
}

// rewriteBlock returns nil for a block that is left out.
func rewriteBlock(b *schema.ContentBlock, e Editor, keepHosted bool) *schema.ContentBlock {
	switch {
	case b.ToolSearchFunctionToolResult != nil:
		return rewriteSearch(b, e)
	case isMarkedCall(b) && e.Unmark(b.FunctionToolCall.CallID):
		c := *b
		c.Extra = nil // with the id of an item of the special kind
		return &c
	case !keepHosted && isHostedSearch(b):
		return nil
	}
	return b
}

func rewriteSearch(b *schema.ContentBlock, e Editor) *schema.ContentBlock {
	r := b.ToolSearchFunctionToolResult
	kept, text := e.Result(r.CallID, r.Name, toolInfos(r.Result))
	if text != "" {
		return textBlock(b, r.CallID, r.Name, text)
	}
	if r.Result != nil && slices.Equal(r.Result.Tools, kept) {
		return b
	}
	c, own := *b, *r
	own.Result = &schema.ToolSearchResult{Tools: kept}
	c.ToolSearchFunctionToolResult = &own
	return &c
}

func textBlock(b *schema.ContentBlock, id, name, text string) *schema.ContentBlock {
	next := schema.NewContentBlock(&schema.FunctionToolResult{CallID: id, Name: name, Content: []*schema.FunctionToolResultContentBlock{{
		Type: schema.FunctionToolResultContentBlockTypeText, Text: &schema.UserInputText{Text: text},
	}}})
	next.StreamingMeta, next.Extra = b.StreamingMeta, b.Extra
	return next
}

func isMarkedCall(b *schema.ContentBlock) bool {
	return b.FunctionToolCall != nil && isMarked(b.Extra, openAISearchKey)
}

// keepsHosted reports whether the blocks of a search that the provider ran may stay:
// all of a message, or none.
func keepsHosted(m *schema.AgenticMessage, e Editor) bool {
	for _, b := range m.ContentBlocks {
		if b != nil && isHostedSearch(b) {
			return e.Hosted(referredInBlocks(m))
		}
	}
	return true
}

func isHostedSearch(b *schema.ContentBlock) bool {
	switch {
	case b.ServerToolCall != nil:
		_, ok := hostedSearch(b.ServerToolCall.Arguments)
		return ok
	case b.ServerToolResult != nil:
		_, ok := hostedSearch(b.ServerToolResult.Content)
		return ok
	}
	return false
}

func referredInBlocks(m *schema.AgenticMessage) []string {
	names := []string{}
	for _, b := range m.ContentBlocks {
		if b != nil && b.ServerToolResult != nil {
			found, _ := hostedSearch(b.ServerToolResult.Content)
			names = append(names, found...)
		}
	}
	return names
}

func (agentic) Edit(m *schema.AgenticMessage, edit func(Call) Call) *schema.AgenticMessage {
	return eachBlock(m, func(b *schema.ContentBlock) *schema.ContentBlock {
		if b.FunctionToolCall == nil {
			return b
		}
		was := callIn(b)
		now := edit(was)
		if now == was {
			return b
		}
		block, call := *b, *b.FunctionToolCall
		call.Name, call.Arguments = now.Name, now.Args
		block.FunctionToolCall = &call
		return &block
	})
}

func callIn(b *schema.ContentBlock) Call {
	c := b.FunctionToolCall
	return Call{c.CallID, c.Name, c.Arguments, isMarkedCall(b)}
}

// eachBlock applies a function to all blocks of a message. It returns the same message if none
// changes.
func eachBlock(m *schema.AgenticMessage, f func(*schema.ContentBlock) *schema.ContentBlock) *schema.AgenticMessage {
	next := m
	for i := 0; m != nil && i < len(m.ContentBlocks); i++ {
		b := m.ContentBlocks[i]
		if b == nil {
			continue
		}
		other := f(b)
		if other == b {
			continue
		}
		if next == m {
			own := *m
			own.ContentBlocks = slices.Clone(m.ContentBlocks)
			next = &own
		}
		next.ContentBlocks[i] = other
	}
	return next
}

func (agentic) Replace(m *schema.AgenticMessage, with func(Call) []Call) *schema.AgenticMessage {
	next := *m
	next.ContentBlocks = nil
	for _, b := range m.ContentBlocks {
		var others []Call
		if b != nil && b.FunctionToolCall != nil {
			others = with(callIn(b))
		}
		if others == nil {
			next.ContentBlocks = append(next.ContentBlocks, b)
		}
		for _, o := range others {
			next.ContentBlocks = append(next.ContentBlocks, agenticCall(o))
		}
	}
	return &next
}

func agenticCall(c Call) *schema.ContentBlock {
	return schema.NewContentBlock(&schema.FunctionToolCall{CallID: c.ID, Name: c.Name, Arguments: c.Args})
}

func (agentic) Calling(calls []Call) *schema.AgenticMessage {
	m := &schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant}
	for _, c := range calls {
		m.ContentBlocks = append(m.ContentBlocks, agenticCall(c))
	}
	return m
}

func (agentic) Answering(id, name, text string) *schema.AgenticMessage {
	return &schema.AgenticMessage{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{textBlock(&schema.ContentBlock{}, id, name, text)}}
}

func (agentic) Event(m *schema.AgenticMessage, _ string) *adk.TypedAgentEvent[*schema.AgenticMessage] {
	return adk.EventFromAgenticMessage(m, nil, m.Role)
}

func (agentic) Without(m *schema.AgenticMessage, isGone func(id string) bool) *schema.AgenticMessage {
	if m == nil {
		return m
	}
	kept := slices.DeleteFunc(slices.Clone(m.ContentBlocks), func(b *schema.ContentBlock) bool {
		return b != nil && (b.FunctionToolCall != nil && isGone(b.FunctionToolCall.CallID) || b.FunctionToolResult != nil && isGone(b.FunctionToolResult.CallID))
	})
	switch len(kept) {
	case len(m.ContentBlocks):
		return m
	case 0:
		return nil
	}
	next := *m
	next.ContentBlocks = kept
	return &next
}

func (agentic) Pack(m *schema.AgenticMessage) *schema.AgenticMessage {
	return convertHosted(m, func(v any) (any, bool) {
		if _, packed := v.(string); packed {
			return nil, false
		}
		if _, hosted := hostedSearch(v); !hosted {
			return nil, false
		}
		text, err := sonic.ConfigStd.MarshalToString(v)
		return text, err == nil
	})
}

// Unpack makes a map, which the adapters read as well as their own types.
func (agentic) Unpack(m *schema.AgenticMessage) *schema.AgenticMessage {
	return convertHosted(m, func(v any) (any, bool) {
		text, packed := v.(string)
		if _, hosted := hostedSearch(v); !packed || !hosted {
			return nil, false
		}
		var fields map[string]any
		err := sonic.ConfigStd.UnmarshalFromString(text, &fields)
		return fields, err == nil
	})
}

// convertHosted returns a copy in which the values of server tools are converted; the same
// message if there are none.
func convertHosted(m *schema.AgenticMessage, convert func(any) (any, bool)) *schema.AgenticMessage {
	return eachBlock(m, func(b *schema.ContentBlock) *schema.ContentBlock {
		switch {
		case b.ServerToolCall != nil:
			if v, ok := convert(b.ServerToolCall.Arguments); ok {
				c, own := *b, *b.ServerToolCall
				own.Arguments, c.ServerToolCall = v, &own
				return &c
			}
		case b.ServerToolResult != nil:
			if v, ok := convert(b.ServerToolResult.Content); ok {
				c, own := *b, *b.ServerToolResult
				own.Content, c.ServerToolResult = v, &own
				return &c
			}
		}
		return b
	})
}

// hostedSearch reports whether a value of an adapter's own type is the call or the result
// of a search that the provider ran, and which tools it refers to.
func hostedSearch(v any) (names []string, ok bool) {
	text, err := jsonOf(v)
	if err != nil {
		return nil, false
	}
	var fields map[string]json.RawMessage
	if sonic.ConfigStd.UnmarshalFromString(text, &fields) != nil {
		return nil, false
	}
	for key, value := range fields {
		if strings.HasPrefix(key, "tool_search") {
			names, ok = append(names, referred(value)...), true
		}
	}
	return names, ok
}

// referred returns the tools in a result of agenticopenai's or agenticclaude's hosted search.
func referred(result []byte) (names []string) {
	var r struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
		SearchResult struct {
			References []struct {
				Name string `json:"tool_name"`
			} `json:"tool_references"`
		} `json:"search_result"`
	}
	if sonic.ConfigStd.Unmarshal(result, &r) != nil {
		return nil
	}
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	for _, t := range r.SearchResult.References {
		names = append(names, t.Name)
	}
	return names
}
