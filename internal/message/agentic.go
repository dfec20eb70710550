// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package message

import "github.com/cloudwego/eino/schema"

// agenticParts yields the blocks of a *schema.AgenticMessage. One that is nil is of no kind.
func agenticParts(m *schema.AgenticMessage, yield func(Part) bool) {
	if m == nil {
		return
	}
	for i, b := range m.ContentBlocks {
		p := Part{of: b}
		if b != nil {
			p = blockPart(b)
		}
		p.Index = i
		if !yield(p) {
			return
		}
	}
}

// blockPart is a block as a part. The most common kinds come first.
func blockPart(b *schema.ContentBlock) Part {
	p := Part{Extra: b.Extra, of: b}
	switch {
	case b.FunctionToolResult != nil:
		p.Kind, p.ID, p.Name = Result, b.FunctionToolResult.CallID, b.FunctionToolResult.Name
	case b.FunctionToolCall != nil:
		c := b.FunctionToolCall
		p.Kind, p.ID, p.Name, p.Text = Call, c.CallID, c.Name, c.Arguments
	case b.AssistantGenText != nil:
		p.Kind, p.Text = Text, b.AssistantGenText.Text
	case b.UserInputText != nil:
		p.Kind, p.Text = Text, b.UserInputText.Text
	case b.Reasoning != nil:
		p.Kind, p.Text = Reasoning, b.Reasoning.Text
	case b.ToolSearchFunctionToolResult != nil:
		p.Kind, p.ID, p.Name = Result, b.ToolSearchFunctionToolResult.CallID, b.ToolSearchFunctionToolResult.Name
	case b.UserInputImage != nil, b.UserInputAudio != nil, b.UserInputVideo != nil, b.UserInputFile != nil,
		b.AssistantGenImage != nil, b.AssistantGenAudio != nil, b.AssistantGenVideo != nil:
		p.Kind = Medium
	default:
		serverPart(&p, b)
	}
	return p
}

// serverPart is for blocks of tools that the provider runs.
func serverPart(p *Part, b *schema.ContentBlock) {
	switch {
	case b.ServerToolCall != nil:
		p.Kind, p.Name, p.Value = ServerCall, b.ServerToolCall.Name, b.ServerToolCall.Arguments
	case b.ServerToolResult != nil:
		p.Kind, p.Name, p.Value = ServerResult, b.ServerToolResult.Name, b.ServerToolResult.Content
	case b.MCPToolCall != nil:
		p.Kind, p.Name, p.Text = ServerCall, b.MCPToolCall.Name, b.MCPToolCall.Arguments
	case b.MCPToolResult != nil:
		p.Kind, p.Name, p.Text = ServerResult, b.MCPToolResult.Name, b.MCPToolResult.Content
	case b.MCPListToolsResult != nil:
		p.Kind, p.Value = ServerResult, b.MCPListToolsResult.Tools
	case b.MCPToolApprovalRequest != nil:
		p.Kind, p.Name, p.Text = ServerCall, b.MCPToolApprovalRequest.Name, b.MCPToolApprovalRequest.Arguments
	case b.MCPToolApprovalResponse != nil:
		p.Kind, p.Text = ServerResult, b.MCPToolApprovalResponse.Reason
	}
}

// agenticItems yields the parts of a result.
func agenticItems(b *schema.ContentBlock, yield func(Part) bool) {
	if b.FunctionToolResult == nil {
		if r := b.ToolSearchFunctionToolResult; r != nil {
			yield(Part{Kind: Tools, Value: r.Result, of: b})
		}
		return
	}
	for i, c := range b.FunctionToolResult.Content {
		if c == nil {
			continue
		}
		p := Part{Kind: Medium, Index: i, of: c}
		if c.Text != nil {
			p.Kind, p.Text = Text, c.Text.Text
		}
		if !yield(p) {
			return
		}
	}
}

// agenticOf returns a copy of a message with these parts and no others.
func agenticOf(m *schema.AgenticMessage, parts []Part) *schema.AgenticMessage {
	next := *m
	next.ContentBlocks = make([]*schema.ContentBlock, len(parts))
	for i := range parts {
		next.ContentBlocks[i] = block(&parts[i], m.Role)
	}
	return &next
}

// block is a part as a block of a message.
func block(p *Part, of schema.AgenticRoleType) *schema.ContentBlock {
	was, is := p.of.(*schema.ContentBlock)
	if p.kept || is && was == nil {
		return was
	}
	b := copied(was)
	b.Extra = p.Extra
	switch p.Kind {
	case Call:
		b.Type, b.FunctionToolCall = schema.ContentBlockTypeFunctionToolCall, copied(b.FunctionToolCall)
		b.FunctionToolCall.CallID, b.FunctionToolCall.Name, b.FunctionToolCall.Arguments = p.ID, p.Name, p.Text
	case Result:
		putResult(b, p)
	case Text:
		switch {
		case b.UserInputText != nil:
			b.UserInputText = &schema.UserInputText{Text: p.Text}
		case b.AssistantGenText != nil:
			b.AssistantGenText = copied(b.AssistantGenText)
			b.AssistantGenText.Text = p.Text
		case of == schema.AgenticRoleTypeAssistant: // new, or instead of a medium
			return schema.NewContentBlock(&schema.AssistantGenText{Text: p.Text})
		default:
			return schema.NewContentBlock(&schema.UserInputText{Text: p.Text})
		}
	case ServerCall:
		if b.ServerToolCall != nil {
			b.ServerToolCall = copied(b.ServerToolCall)
			b.ServerToolCall.Arguments = p.Value
		}
	case ServerResult:
		if b.ServerToolResult != nil {
			b.ServerToolResult = copied(b.ServerToolResult)
			b.ServerToolResult.Content = p.Value
		}
	}
	return b
}

// putResult puts a result into a copy of its block.
func putResult(b *schema.ContentBlock, p *Part) {
	if len(p.parts) == 1 && p.parts[0].Kind == Tools {
		found, _ := p.parts[0].Value.(*schema.ToolSearchResult)
		b.Type, b.FunctionToolResult = schema.ContentBlockTypeToolSearchResult, nil
		b.ToolSearchFunctionToolResult = &schema.ToolSearchFunctionToolResult{CallID: p.ID, Name: p.Name, Result: found}
		return
	}
	if p.parts == nil {
		return
	}
	r := &schema.FunctionToolResult{CallID: p.ID, Name: p.Name, Content: make([]*schema.FunctionToolResultContentBlock, 0, len(p.parts))}
	for i := range p.parts {
		if c := content(&p.parts[i]); c != nil {
			r.Content = append(r.Content, c)
		}
	}
	b.Type, b.FunctionToolResult, b.ToolSearchFunctionToolResult = schema.ContentBlockTypeFunctionToolResult, r, nil
}

// content is a part of a result; nil if a result of this type cannot have it.
func content(p *Part) *schema.FunctionToolResultContentBlock {
	var extra map[string]any
	switch of := p.of.(type) {
	case *schema.FunctionToolResultContentBlock:
		switch {
		case p.Kind != Text, of.Text != nil && of.Text.Text == p.Text:
			return of
		case of.Text != nil:
			extra = of.Extra
		}
	case *schema.ToolOutputPart:
		if extra = of.Extra; p.Kind != Text {
			return mediaContent(of)
		}
	}
	return &schema.FunctionToolResultContentBlock{Type: schema.FunctionToolResultContentBlockTypeText, Text: &schema.UserInputText{Text: p.Text}, Extra: extra}
}

func mediaContent(p *schema.ToolOutputPart) *schema.FunctionToolResultContentBlock {
	c := MediumOf(p)
	if c == nil {
		return nil
	}
	url, data, mime := textAt(c.URL), textAt(c.Base64Data), c.MIMEType
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
