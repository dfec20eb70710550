// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package wire

// Messages of type *schema.AgenticMessage.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

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
			c := b.FunctionToolCall
			v.Calls = append(v.Calls, Call{c.CallID, c.Name, c.Arguments, isMarkedCall(b)})
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

func (agentic) Complete(m *schema.AgenticMessage) *schema.AgenticMessage {
	next := m
	for i := 0; m != nil && i < len(m.ContentBlocks); i++ {
		b := m.ContentBlocks[i]
		if b == nil || b.FunctionToolCall == nil || strings.TrimSpace(b.FunctionToolCall.Arguments) != "" {
			continue
		}
		if next == m {
			c := *m
			c.ContentBlocks = slices.Clone(m.ContentBlocks)
			next = &c
		}
		block, call := *b, *b.FunctionToolCall
		call.Arguments = "{}"
		block.FunctionToolCall = &call
		next.ContentBlocks[i] = &block
	}
	return next
}

func (agentic) Rename(m *schema.AgenticMessage, name func(Call) string) *schema.AgenticMessage {
	next := m
	for i := 0; m != nil && i < len(m.ContentBlocks); i++ {
		b := m.ContentBlocks[i]
		if b == nil || b.FunctionToolCall == nil {
			continue
		}
		c := b.FunctionToolCall
		other := name(Call{c.CallID, c.Name, c.Arguments, isMarkedCall(b)})
		if other == c.Name {
			continue
		}
		if next == m {
			own := *m
			own.ContentBlocks = slices.Clone(m.ContentBlocks)
			next = &own
		}
		block, call := *b, *c
		call.Name = other
		block.FunctionToolCall = &call
		next.ContentBlocks[i] = &block
	}
	return next
}

func (agentic) Replace(m *schema.AgenticMessage, with func(Call) []Call) *schema.AgenticMessage {
	next := *m
	next.ContentBlocks = nil
	for _, b := range m.ContentBlocks {
		var others []Call
		if b != nil && b.FunctionToolCall != nil {
			c := b.FunctionToolCall
			others = with(Call{c.CallID, c.Name, c.Arguments, isMarkedCall(b)})
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
