// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
)

type request struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	Stream    bool      `json:"stream,omitempty"`
	System    []block   `json:"system,omitempty"`
	Messages  []message `json:"messages"`
	Tools     []tool    `json:"tools,omitempty"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type tool struct {
	Type         string          `json:"type"`
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	DeferLoading bool            `json:"defer_loading,omitempty"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	ToolName  string          `json:"tool_name,omitempty"`
	Content   *[]block        `json:"content,omitempty"` // of a tool_result: written even if empty
}

func (m *Model) request(input []*schema.AgenticMessage, o *model.Options) (*request, error) {
	q := &request{Model: m.Name, MaxTokens: 1000}
	for _, msg := range input {
		blocks, err := toBlocks(msg)
		if err != nil {
			return nil, err
		}
		switch {
		case msg.Role == schema.AgenticRoleTypeSystem:
			q.System = append(q.System, blocks...)
		case msg.Role == schema.AgenticRoleTypeUser && onlyResults(blocks) && len(q.Messages) > 0 && onlyResults(q.Messages[len(q.Messages)-1].Content):
			last := &q.Messages[len(q.Messages)-1]
			last.Content = append(last.Content, blocks...)
		default:
			q.Messages = append(q.Messages, message{string(msg.Role), blocks})
		}
	}
	err := q.addTools(o.Tools, false)
	if err == nil {
		err = q.addTools(o.DeferredTools, true)
	}
	if err == nil && o.ToolSearchTool != nil {
		err = q.addTools([]*schema.ToolInfo{o.ToolSearchTool}, false)
	}
	return q, err
}

func onlyResults(blocks []block) bool {
	for _, b := range blocks {
		if b.Type != "tool_result" {
			return false
		}
	}
	return len(blocks) > 0
}

func (q *request) addTools(infos []*schema.ToolInfo, deferred bool) error {
	for _, info := range infos {
		s, err := info.ToJSONSchema()
		if err != nil || s == nil {
			return fmt.Errorf("standin: describing tool %q: it has no schema: %w", info.Name, err)
		}
		text, err := json.Marshal(map[string]any{"type": "object", "properties": s.Properties, "required": s.Required})
		if err != nil {
			return fmt.Errorf("standin: describing tool %q: %w", info.Name, err)
		}
		q.Tools = append(q.Tools, tool{"custom", info.Name, info.Desc, text, deferred})
	}
	return nil
}

func toBlocks(msg *schema.AgenticMessage) ([]block, error) {
	blocks := []block{}
	for _, b := range msg.ContentBlocks {
		switch {
		case b.UserInputText != nil:
			blocks = append(blocks, block{Type: "text", Text: b.UserInputText.Text})
		case b.AssistantGenText != nil:
			blocks = append(blocks, block{Type: "text", Text: b.AssistantGenText.Text})
		case b.FunctionToolCall != nil:
			c := b.FunctionToolCall
			blocks = append(blocks, block{Type: "tool_use", ID: c.CallID, Name: c.Name, Input: input(c.Arguments)})
		case b.FunctionToolResult != nil:
			inner := []block{}
			for _, c := range b.FunctionToolResult.Content {
				if c.Text == nil {
					return nil, fmt.Errorf("standin: a tool result of type %q cannot be sent", c.Type)
				}
				inner = append(inner, block{Type: "text", Text: c.Text.Text})
			}
			blocks = append(blocks, block{Type: "tool_result", ToolUseID: b.FunctionToolResult.CallID, Content: &inner})
		case b.ToolSearchFunctionToolResult != nil:
			refs := []block{}
			for _, t := range b.ToolSearchFunctionToolResult.Result.Tools {
				refs = append(refs, block{Type: "tool_reference", ToolName: t.Name})
			}
			blocks = append(blocks, block{Type: "tool_result", ToolUseID: b.ToolSearchFunctionToolResult.CallID, Content: &refs})
		default:
			return nil, fmt.Errorf("standin: a block of type %q cannot be sent", b.Type)
		}
	}
	return blocks, nil
}

func input(arguments string) json.RawMessage {
	if arguments == "" {
		return json.RawMessage("{}")
	}
	return json.RawMessage(arguments)
}

func fromBlock(b block) (*schema.ContentBlock, error) {
	switch b.Type {
	case "text":
		return schema.NewContentBlock(&schema.AssistantGenText{Text: b.Text}), nil
	case "tool_use":
		return schema.NewContentBlock(&schema.FunctionToolCall{CallID: b.ID, Name: b.Name, Arguments: string(b.Input)}), nil
	}
	return nil, fmt.Errorf("standin: a block of type %q cannot be read", b.Type)
}

// readEvents passes on each piece of a streamed answer, until the callee has enough.
func readEvents(body io.Reader, enough func(*schema.AgenticMessage) bool) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		b, err := fromEvent([]byte(data))
		if err != nil {
			return err
		}
		if b != nil && enough(&schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{b}}) {
			return nil
		}
	}
	return lines.Err()
}

func fromEvent(data []byte) (*schema.ContentBlock, error) {
	var ev struct {
		Type         string `json:"type"`
		Index        int    `json:"index"`
		ContentBlock block  `json:"content_block"`
		Delta        struct {
			Type        string `json:"type"`
			Text        string `json:"text"`
			PartialJSON string `json:"partial_json"`
		} `json:"delta"`
	}
	if err := json.Unmarshal(data, &ev); err != nil {
		return nil, fmt.Errorf("standin: reading an event: %w", err)
	}
	meta := &schema.StreamingMeta{Index: ev.Index}
	switch {
	case ev.Type == "content_block_start" && ev.ContentBlock.Type == "tool_use":
		return schema.NewContentBlockChunk(&schema.FunctionToolCall{CallID: ev.ContentBlock.ID, Name: ev.ContentBlock.Name}, meta), nil
	case ev.Type == "content_block_delta" && ev.Delta.Type == "text_delta":
		return schema.NewContentBlockChunk(&schema.AssistantGenText{Text: ev.Delta.Text}, meta), nil
	case ev.Type == "content_block_delta" && ev.Delta.Type == "input_json_delta":
		return schema.NewContentBlockChunk(&schema.FunctionToolCall{Arguments: ev.Delta.PartialJSON}, meta), nil
	case ev.Type == "content_block_start" && ev.ContentBlock.Type != "text":
		return nil, fmt.Errorf("standin: a block of type %q cannot be read", ev.ContentBlock.Type)
	}
	return nil, nil
}
