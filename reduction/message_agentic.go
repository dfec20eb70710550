// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The codec of *schema.AgenticMessage.

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// agentic is the codec of *schema.AgenticMessage, whose calls and results are blocks
// of a message. Results of the provider's own tools do not count: they belong to the
// provider.
type agentic struct{}

func (agentic) view(m *schema.AgenticMessage) view {
	if m == nil {
		return view{}
	}
	v := view{processed: isMarked(m.Extra, processedKey), ours: isMarked(m.Extra, oursKey)}
	for i, b := range m.ContentBlocks {
		switch {
		case b == nil:
		case b.FunctionToolCall != nil && m.Role == schema.AgenticRoleTypeAssistant:
			c := b.FunctionToolCall
			v.calls = append(v.calls, call{index: i, id: c.CallID, name: c.Name, args: c.Arguments})
		case b.FunctionToolResult != nil && m.Role == schema.AgenticRoleTypeUser:
			r := b.FunctionToolResult
			texts, moved := agenticTexts(r)
			v.results = append(v.results, result{index: i, id: r.CallID, name: r.Name, texts: texts, moved: moved, handled: isMarked(b.Extra, processedKey)})
		case b.UserInputText != nil && isMovedMedium(b.UserInputText.Text):
			v.moved = append(v.moved, b.UserInputText.Text)
		case b.ToolSearchFunctionToolResult != nil && m.Role == schema.AgenticRoleTypeUser:
			r := b.ToolSearchFunctionToolResult
			v.results = append(v.results, result{index: i, id: r.CallID, name: r.Name, search: true})
		}
	}
	return v
}

func (agentic) said(m *schema.AgenticMessage) (user, model string) {
	if m == nil {
		return "", ""
	}
	var users, models []string
	for _, b := range m.ContentBlocks {
		switch {
		case b == nil:
		case b.UserInputText != nil && m.Role == schema.AgenticRoleTypeUser:
			users = append(users, b.UserInputText.Text)
		case b.AssistantGenText != nil && m.Role == schema.AgenticRoleTypeAssistant:
			models = append(models, b.AssistantGenText.Text)
		}
	}
	return strings.Join(users, "\n"), strings.Join(models, "\n")
}

func (agentic) calls(m *schema.AgenticMessage) bool {
	return m != nil && m.Role == schema.AgenticRoleTypeAssistant && slices.ContainsFunc(m.ContentBlocks, func(b *schema.ContentBlock) bool {
		return b != nil && b.FunctionToolCall != nil
	})
}

func (agentic) resultSize(m *schema.AgenticMessage, k int) int {
	if m == nil || m.Role != schema.AgenticRoleTypeUser {
		return -1
	}
	for _, b := range m.ContentBlocks {
		if b == nil || b.FunctionToolResult == nil {
			continue
		}
		if k--; k >= 0 {
			continue
		}
		n := 0
		for _, c := range b.FunctionToolResult.Content {
			if c != nil && c.Text != nil {
				n += len(c.Text.Text)
			}
		}
		return n
	}
	return -1
}

func (agentic) eachNoticed(msgs []*schema.AgenticMessage, f func(result)) {
	for _, m := range msgs {
		if m == nil || m.Role != schema.AgenticRoleTypeUser {
			continue
		}
		for i, b := range m.ContentBlocks {
			if b == nil || b.FunctionToolResult == nil {
				continue
			}
			r := b.FunctionToolResult
			if slices.ContainsFunc(r.Content, blockEndsLikeNotice) {
				texts, _ := agenticTexts(r)
				f(result{index: i, id: r.CallID, name: r.Name, texts: texts})
			}
		}
	}
}

func blockEndsLikeNotice(c *schema.FunctionToolResultContentBlock) bool {
	return c != nil && c.Text != nil && endsLikeNotice(c.Text.Text)
}

// agenticTexts are the texts of a result, and the references to its media.
func agenticTexts(r *schema.FunctionToolResult) (texts, moved []string) {
	texts = make([]string, 0, len(r.Content))
	for _, c := range r.Content {
		switch {
		case c == nil || c.Text == nil:
		case isMovedMedium(c.Text.Text):
			moved = append(moved, c.Text.Text)
		default:
			texts = append(texts, c.Text.Text)
		}
	}
	return texts, moved
}

func (agentic) media(m *schema.AgenticMessage) (out []*reference) {
	if m == nil || m.Role != schema.AgenticRoleTypeUser {
		return nil
	}
	for i, b := range m.ContentBlocks {
		switch {
		case b == nil:
		case b.FunctionToolResult != nil:
			for k, c := range b.FunctionToolResult.Content {
				if c == nil {
					continue
				}
				if part := blockPart(c); mediumOf(&part) != nil {
					out = append(out, &reference{result: i, part: k, medium: &part})
				}
			}
		case hasMedium(b):
			c := &schema.FunctionToolResultContentBlock{Image: b.UserInputImage, Audio: b.UserInputAudio, Video: b.UserInputVideo, File: b.UserInputFile, Extra: b.Extra}
			if part := blockPart(c); mediumOf(&part) != nil {
				out = append(out, &reference{result: -1, part: i, medium: &part})
			}
		}
	}
	return out
}

// move replaces a medium by a text, in a copy of its block.
func (agentic) move(blocks []*schema.ContentBlock, moved *reference) {
	text := &schema.UserInputText{Text: moved.text}
	if moved.result < 0 {
		blocks[moved.part] = &schema.ContentBlock{Type: schema.ContentBlockTypeUserInputText, UserInputText: text}
		return
	}
	res := ownResult(blocks, moved.result)
	res.Content = slices.Clone(res.Content)
	res.Content[moved.part] = &schema.FunctionToolResultContentBlock{Type: schema.FunctionToolResultContentBlockTypeText, Text: text}
}

// ownResult copies a result and its block into m, and returns the result.
func ownResult(blocks []*schema.ContentBlock, i int) *schema.FunctionToolResult {
	blocks[i] = copied(blocks[i])
	blocks[i].FunctionToolResult = copied(blocks[i].FunctionToolResult)
	return blocks[i].FunctionToolResult
}

func (agentic) result(m *schema.AgenticMessage, index int) *schema.ToolResult {
	out := &schema.ToolResult{}
	for _, c := range m.ContentBlocks[index].FunctionToolResult.Content {
		if c != nil {
			out.Parts = append(out.Parts, blockPart(c))
		}
	}
	return out
}

// blockPart is a content block as a tool would have returned it.
func blockPart(c *schema.FunctionToolResultContentBlock) schema.ToolOutputPart {
	common := func(url, data, mime string) schema.MessagePartCommon {
		return schema.MessagePartCommon{URL: pointer(url), Base64Data: pointer(data), MIMEType: mime}
	}
	switch {
	case c.Text != nil:
		return schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: c.Text.Text, Extra: c.Extra}
	case c.Image != nil:
		return mediaPart(schema.ToolPartTypeImage, common(c.Image.URL, c.Image.Base64Data, c.Image.MIMEType), c.Extra)
	case c.Audio != nil:
		return mediaPart(schema.ToolPartTypeAudio, common(c.Audio.URL, c.Audio.Base64Data, c.Audio.MIMEType), c.Extra)
	case c.Video != nil:
		return mediaPart(schema.ToolPartTypeVideo, common(c.Video.URL, c.Video.Base64Data, c.Video.MIMEType), c.Extra)
	case c.File != nil:
		return mediaPart(schema.ToolPartTypeFile, common(c.File.URL, c.File.Base64Data, c.File.MIMEType), c.Extra)
	}
	return schema.ToolOutputPart{Type: schema.ToolPartType(c.Type), Extra: c.Extra}
}

func (c agentic) apply(m *schema.AgenticMessage, e edit) *schema.AgenticMessage {
	out := *m
	out.Extra = maps.Clone(m.Extra)
	if e.mark {
		out.Extra = marked(m.Extra, processedKey, oursKey)
	}
	out.ContentBlocks = slices.Clone(m.ContentBlocks)
	for i, args := range e.args {
		block := copied(out.ContentBlocks[i])
		block.FunctionToolCall = copied(block.FunctionToolCall)
		block.FunctionToolCall.Arguments = args
		out.ContentBlocks[i] = block
	}
	for _, moved := range e.media {
		c.move(out.ContentBlocks, moved)
	}
	for _, r := range e.results {
		res := ownResult(out.ContentBlocks, r.index)
		res.Content = c.content(res.Content, r)
		if block := out.ContentBlocks[r.index]; r.mark {
			block.Extra = marked(block.Extra, processedKey)
		}
	}
	return &out
}

// content returns the blocks that replace those of a result.
func (agentic) content(before []*schema.FunctionToolResultContentBlock, r replacement) []*schema.FunctionToolResultContentBlock {
	if r.keep {
		return before
	}
	if r.parts == nil {
		return noticeBlocks(before, r.text)
	}
	out := make([]*schema.FunctionToolResultContentBlock, 0, len(r.parts))
	for i := range r.parts {
		out = append(out, partBlock(before, &r.parts[i]))
	}
	return slices.DeleteFunc(out, func(b *schema.FunctionToolResultContentBlock) bool { return b == nil })
}

// noticeBlocks is withNotice for the blocks of a message.
func noticeBlocks(blocks []*schema.FunctionToolResultContentBlock, notice string) []*schema.FunctionToolResultContentBlock {
	return oneText(blocks, func(b **schema.FunctionToolResultContentBlock) bool {
		return *b != nil && (*b).Text != nil && !isMovedMedium((*b).Text.Text)
	}, func(b **schema.FunctionToolResultContentBlock) {
		with := **b
		with.Text = &schema.UserInputText{Text: notice}
		*b = &with
	})
}

// partBlock turns a part from a handler into a block. A medium that was in the
// message before is taken from there, with everything that a tool result cannot
// express.
func partBlock(before []*schema.FunctionToolResultContentBlock, p *schema.ToolOutputPart) *schema.FunctionToolResultContentBlock {
	for _, b := range before {
		if b == nil {
			continue
		}
		if old := blockPart(b); samePart(&old, p) {
			return b
		}
	}
	if p.Type == schema.ToolPartTypeText {
		return &schema.FunctionToolResultContentBlock{Type: schema.FunctionToolResultContentBlockTypeText,
			Text: &schema.UserInputText{Text: p.Text}, Extra: p.Extra}
	}
	return mediaBlock(p)
}

// mediaBlock is nil for a part that no block can hold.
func mediaBlock(p *schema.ToolOutputPart) *schema.FunctionToolResultContentBlock {
	c := mediumOf(p)
	if c == nil {
		return nil
	}
	url, data, mime := deref(c.URL), deref(c.Base64Data), c.MIMEType
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

func (agentic) clone(m *schema.AgenticMessage) *schema.AgenticMessage { return own(m) }

// copied points to a copy of what p points to, or is nil.
func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	out := *p
	return &out
}

// withoutResults keeps the user's own content of a message with results.
func (agentic) withoutResults(m *schema.AgenticMessage) (*schema.AgenticMessage, bool) {
	out := *m
	out.Extra = maps.Clone(m.Extra)
	out.ContentBlocks = slices.DeleteFunc(slices.Clone(m.ContentBlocks), isResult)
	return &out, slices.ContainsFunc(out.ContentBlocks, func(b *schema.ContentBlock) bool { return b != nil })
}

func (a agentic) onlyResults(m *schema.AgenticMessage) *schema.AgenticMessage {
	out := a.clone(m)
	out.ContentBlocks = slices.DeleteFunc(out.ContentBlocks, func(b *schema.ContentBlock) bool { return !isResult(b) })
	return out
}

func isResult(b *schema.ContentBlock) bool {
	return b != nil && (b.FunctionToolResult != nil || b.ToolSearchFunctionToolResult != nil)
}

func (agentic) weigh(w *weight, m *schema.AgenticMessage) (usage int) {
	if m == nil {
		return 0
	}
	w.tokens += messageOverhead
	if m.Role == schema.AgenticRoleTypeAssistant {
		if m.ResponseMeta != nil && m.ResponseMeta.TokenUsage != nil {
			usage = m.ResponseMeta.TokenUsage.PromptTokens
		}
		w.edited = isMarked(m.Extra, processedKey)
	}
	for _, b := range m.ContentBlocks {
		if b != nil {
			weighBlock(w, b)
		}
	}
	return usage
}

// weighBlock weighs what the model reads of a block. The most common kinds come first.
func weighBlock(w *weight, b *schema.ContentBlock) {
	switch {
	case b.FunctionToolResult != nil:
		weighResult(w, b.FunctionToolResult)
	case b.FunctionToolCall != nil:
		w.call(b.FunctionToolCall.Name, b.FunctionToolCall.Arguments)
	case b.AssistantGenText != nil:
		w.text(b.AssistantGenText.Text)
	case b.UserInputText != nil:
		w.result(b.UserInputText.Text)
	case b.Reasoning != nil:
		w.text(b.Reasoning.Text)
	case b.ToolSearchFunctionToolResult != nil:
		w.text(b.ToolSearchFunctionToolResult.Name)
		w.search(b.ToolSearchFunctionToolResult.Result)
	case hasMedium(b):
		w.tokens += mediaTokens
	default:
		weighProvider(w, b)
	}
}

func weighResult(w *weight, r *schema.FunctionToolResult) {
	w.text(r.Name)
	for _, c := range r.Content {
		switch {
		case c == nil:
		case c.Text != nil:
			w.result(c.Text.Text)
		default:
			w.tokens += mediaTokens
		}
	}
}

func hasMedium(b *schema.ContentBlock) bool {
	return b.UserInputImage != nil || b.UserInputAudio != nil || b.UserInputVideo != nil || b.UserInputFile != nil ||
		b.AssistantGenImage != nil || b.AssistantGenAudio != nil || b.AssistantGenVideo != nil
}

// weighProvider weighs the calls and results of the provider's own tools.
func weighProvider(w *weight, b *schema.ContentBlock) {
	switch {
	case b.ServerToolCall != nil:
		w.text(b.ServerToolCall.Name)
		weighValue(w, b.ServerToolCall.Arguments)
	case b.ServerToolResult != nil:
		w.text(b.ServerToolResult.Name)
		weighValue(w, b.ServerToolResult.Content)
	case b.MCPToolCall != nil:
		w.call(b.MCPToolCall.Name, b.MCPToolCall.Arguments)
	case b.MCPToolResult != nil:
		w.text(b.MCPToolResult.Name)
		w.text(b.MCPToolResult.Content)
	case b.MCPListToolsResult != nil:
		weighTools(w, b.MCPListToolsResult.Tools)
	case b.MCPToolApprovalRequest != nil:
		w.call(b.MCPToolApprovalRequest.Name, b.MCPToolApprovalRequest.Arguments)
	case b.MCPToolApprovalResponse != nil:
		w.text(b.MCPToolApprovalResponse.Reason)
	}
}

func weighTools(w *weight, items []*schema.MCPListToolsItem) {
	for _, t := range items {
		if t == nil {
			continue
		}
		w.tokens += toolOverhead
		w.text(t.Name)
		w.text(t.Description)
		if t.InputSchema != nil {
			w.tokens += w.sizes.of(t.InputSchema, func() int64 { return schemaTokens(schema.NewParamsOneOfByJSONSchema(t.InputSchema)) })
		}
	}
}

// weighValue weighs a value from a component. Only values that are neither text nor bytes
// must be marshalled for that; those that cannot be count as nothing.
func weighValue(w *weight, v any) {
	defer func() { _ = recover() }()
	switch v := v.(type) {
	case nil:
	case string:
		w.text(v)
	case []byte:
		w.bytes(v)
	case json.RawMessage:
		w.bytes(v)
	default:
		text, _ := json.Marshal(v)
		w.bytes(text)
	}
}
