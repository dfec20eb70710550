// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package message

import (
	"maps"

	"github.com/cloudwego/eino/schema"
)

// readBlock makes p a block, which is of no kind if it is nil. The most common kinds come first.
func readBlock(p *Part, b *schema.ContentBlock) {
	p.source = b
	switch {
	case b == nil:
	case b.FunctionToolResult != nil, b.ToolSearchFunctionToolResult != nil:
		p.Kind = Result
	case b.FunctionToolCall != nil:
		p.Kind = Call
	case b.AssistantGenText != nil, b.UserInputText != nil:
		p.Kind = Text
	case b.Reasoning != nil:
		p.Kind = Reasoning
	case b.UserInputImage != nil, b.UserInputAudio != nil, b.UserInputVideo != nil, b.UserInputFile != nil,
		b.AssistantGenImage != nil, b.AssistantGenAudio != nil, b.AssistantGenVideo != nil:
		p.Kind = Medium
	case b.ServerToolCall != nil, b.MCPToolCall != nil, b.MCPToolApprovalRequest != nil:
		p.Kind = ServerCall
	case b.ServerToolResult != nil, b.MCPToolResult != nil, b.MCPListToolsResult != nil, b.MCPToolApprovalResponse != nil:
		p.Kind = ServerResult
	}
}

func blockID(b *schema.ContentBlock) string {
	switch {
	case b == nil:
	case b.FunctionToolResult != nil:
		return b.FunctionToolResult.CallID
	case b.FunctionToolCall != nil:
		return b.FunctionToolCall.CallID
	case b.ToolSearchFunctionToolResult != nil:
		return b.ToolSearchFunctionToolResult.CallID
	}
	return ""
}

func blockName(b *schema.ContentBlock) string {
	switch {
	case b == nil:
	case b.FunctionToolResult != nil:
		return b.FunctionToolResult.Name
	case b.FunctionToolCall != nil:
		return b.FunctionToolCall.Name
	case b.ToolSearchFunctionToolResult != nil:
		return b.ToolSearchFunctionToolResult.Name
	case b.ServerToolCall != nil:
		return b.ServerToolCall.Name
	case b.ServerToolResult != nil:
		return b.ServerToolResult.Name
	case b.MCPToolCall != nil:
		return b.MCPToolCall.Name
	case b.MCPToolResult != nil:
		return b.MCPToolResult.Name
	case b.MCPToolApprovalRequest != nil:
		return b.MCPToolApprovalRequest.Name
	}
	return ""
}

func blockText(b *schema.ContentBlock) string {
	switch {
	case b == nil:
	case b.FunctionToolCall != nil:
		return b.FunctionToolCall.Arguments
	case b.AssistantGenText != nil:
		return b.AssistantGenText.Text
	case b.UserInputText != nil:
		return b.UserInputText.Text
	case b.Reasoning != nil:
		return b.Reasoning.Text
	case b.MCPToolCall != nil:
		return b.MCPToolCall.Arguments
	case b.MCPToolResult != nil:
		return b.MCPToolResult.Content
	case b.MCPToolApprovalRequest != nil:
		return b.MCPToolApprovalRequest.Arguments
	case b.MCPToolApprovalResponse != nil:
		return b.MCPToolApprovalResponse.Reason
	}
	return ""
}

func blockValue(b *schema.ContentBlock) any {
	switch {
	case b == nil:
	case b.ToolSearchFunctionToolResult != nil:
		return b.ToolSearchFunctionToolResult.Result
	case b.ServerToolCall != nil:
		return b.ServerToolCall.Arguments
	case b.ServerToolResult != nil:
		return b.ServerToolResult.Content
	case b.MCPListToolsResult != nil:
		return b.MCPListToolsResult.Tools
	}
	return nil
}

// readBlockItem makes p the nth part of a result. One that is nil is of no kind.
func readBlockItem(p *Part, b *schema.ContentBlock, n int) bool {
	r := b.FunctionToolResult
	if r == nil {
		p.Kind, p.source = Tools, b
		return n == 0 && b.ToolSearchFunctionToolResult != nil
	}
	if n >= len(r.Content) {
		return false
	}
	switch c := r.Content[n]; {
	case c == nil:
		p.source = c
	case c.Text != nil:
		p.Kind, p.source = Text, c
	default:
		p.Kind, p.source = Medium, c
	}
	return true
}

// agenticOf returns a copy of a message with these parts and no others.
func agenticOf(m *schema.AgenticMessage, parts []Part) *schema.AgenticMessage {
	next := *m
	next.Extra = maps.Clone(m.Extra)
	next.ContentBlocks = make([]*schema.ContentBlock, len(parts))
	for i := range parts {
		next.ContentBlocks[i] = block(&parts[i], m.Role)
	}
	return &next
}

// block is a part as a block of a message.
func block(p *Part, of schema.AgenticRoleType) *schema.ContentBlock {
	original, ok := p.source.(*schema.ContentBlock)
	if p.isUnchanged || ok && original == nil {
		return original
	}
	b := copied(original)
	b.Extra = p.Extra()
	switch p.Kind {
	case Call:
		b.Type, b.FunctionToolCall = schema.ContentBlockTypeFunctionToolCall, copied(b.FunctionToolCall)
		b.FunctionToolCall.CallID, b.FunctionToolCall.Name, b.FunctionToolCall.Arguments = p.ID(), p.Name(), p.Text()
	case Result:
		putResult(b, p)
	case Text:
		switch {
		case b.UserInputText != nil:
			b.UserInputText = &schema.UserInputText{Text: p.Text()}
		case b.AssistantGenText != nil:
			b.AssistantGenText = copied(b.AssistantGenText)
			b.AssistantGenText.Text = p.Text()
		case of == schema.AgenticRoleTypeAssistant: // new, or instead of a medium
			return schema.NewContentBlock(&schema.AssistantGenText{Text: p.Text()})
		default:
			return schema.NewContentBlock(&schema.UserInputText{Text: p.Text()})
		}
	case ServerCall:
		if b.ServerToolCall != nil {
			b.ServerToolCall = copied(b.ServerToolCall)
			b.ServerToolCall.Arguments = p.Value()
		}
	case ServerResult:
		if b.ServerToolResult != nil {
			b.ServerToolResult = copied(b.ServerToolResult)
			b.ServerToolResult.Content = p.Value()
		}
	}
	return b
}

// putResult puts a result into a copy of its block.
func putResult(b *schema.ContentBlock, p *Part) {
	parts := p.replacedParts()
	if parts == nil {
		return
	}
	if len(parts) == 1 && parts[0].Kind == Tools {
		found, _ := parts[0].Value().(*schema.ToolSearchResult)
		b.Type, b.FunctionToolResult = schema.ContentBlockTypeToolSearchResult, nil
		b.ToolSearchFunctionToolResult = &schema.ToolSearchFunctionToolResult{CallID: p.ID(), Name: p.Name(), Result: found}
		return
	}
	r := &schema.FunctionToolResult{CallID: p.ID(), Name: p.Name(), Content: make([]*schema.FunctionToolResultContentBlock, 0, len(parts))}
	for i := range parts {
		if c := content(&parts[i]); c != nil {
			r.Content = append(r.Content, c)
		}
	}
	b.Type, b.FunctionToolResult, b.ToolSearchFunctionToolResult = schema.ContentBlockTypeFunctionToolResult, r, nil
}

// content is a part of a result; nil if a result of this type cannot have it.
func content(p *Part) *schema.FunctionToolResultContentBlock {
	var extra map[string]any
	switch of := p.source.(type) {
	case *schema.FunctionToolResultContentBlock:
		switch {
		case p.Kind != Text, of.Text != nil && of.Text.Text == p.Text():
			return of
		case of.Text != nil:
			extra = of.Extra
		}
	case *schema.ToolOutputPart:
		if extra = of.Extra; p.Kind != Text {
			return mediaContent(of)
		}
	}
	return &schema.FunctionToolResultContentBlock{Type: schema.FunctionToolResultContentBlockTypeText, Text: &schema.UserInputText{Text: p.Text()}, Extra: extra}
}

func mediaContent(p *schema.ToolOutputPart) *schema.FunctionToolResultContentBlock {
	c := MediumOf(p)
	if c == nil {
		return nil
	}
	url, data, mime := TextAt(c.URL), TextAt(c.Base64Data), c.MIMEType
	b := &schema.FunctionToolResultContentBlock{Type: schema.FunctionToolResultContentBlockType(p.Type), Extra: p.Extra}
	switch p.Type {
	case schema.ToolPartTypeImage:
		b.Image = &schema.UserInputImage{URL: url, Base64Data: data, MIMEType: mime}
	case schema.ToolPartTypeAudio:
		b.Audio = &schema.UserInputAudio{URL: url, Base64Data: data, MIMEType: mime}
	case schema.ToolPartTypeVideo:
		b.Video = &schema.UserInputVideo{URL: url, Base64Data: data, MIMEType: mime}
	case schema.ToolPartTypeFile:
		b.File = &schema.UserInputFile{URL: url, Base64Data: data, MIMEType: mime}
	}
	return b
}

// copied points to a copy of what p points to, or to something new.
func copied[T any](p *T) *T {
	next := new(T)
	if p != nil {
		*next = *p
	}
	return next
}
