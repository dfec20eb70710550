// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Messages of both types, made and read for every other test.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/adktest"
)

// part is one part of a tool result: text, or something that must stay.
type part struct {
	text   string
	medium string // "image", "audio", "video", "file"
	search bool   // the answer of a native tool search
	data   string // of the medium, in base64; if empty, that of a small picture
}

func text(s string) part { return part{text: s} }

// answer is a tool result as it stands in a message.
type answer struct {
	id, name string
	texts    []string
	others   string // everything else, rendered
}

func (a answer) joined() string { return strings.Join(a.texts, "") }

// shape builds and reads messages of one type.
type shape[M adk.MessageType] interface {
	result(id, name string, parts ...part) M
	// sent is a message of the user with a picture.
	sent(data string) M
	// media lists the data of a message's images and files.
	media(m M) []string
	// merge puts the results of messages into one; false if the type cannot.
	merge(msgs ...M) (M, bool)
	answers(m M) []answer
	// rest renders everything but the texts of results and the marks.
	rest(m M) string
	withExtra(m M, key string, value any) M
	// copy is deep.
	copy(m M) M
}

var (
	_ shape[*schema.Message]        = plainShape{}
	_ shape[*schema.AgenticMessage] = agenticShape{}
)

func shapeOf[M adk.MessageType]() shape[M] {
	var s any
	switch any(*new(M)).(type) {
	case *schema.Message:
		s = plainShape{}
	case *schema.AgenticMessage:
		s = agenticShape{}
	}
	return s.(shape[M])
}

func copyAll[M adk.MessageType](msgs []M) []M {
	out := make([]M, len(msgs))
	for i, m := range msgs {
		out[i] = shapeOf[M]().copy(m)
	}
	return out
}

var png = "iVBORw0KGgo="

type plainShape struct{}

func (plainShape) result(id, name string, parts ...part) *schema.Message {
	if len(parts) == 1 && parts[0].medium == "" && !parts[0].search {
		return adktest.Result[*schema.Message](id, name, parts[0].text)
	}
	m := schema.ToolMessage("", id, schema.WithToolName(name))
	for i, p := range parts {
		m.UserInputMultiContent = append(m.UserInputMultiContent, inputPart(p, i))
	}
	return m
}

func (plainShape) media(m *schema.Message) (out []string) {
	for _, p := range m.UserInputMultiContent {
		switch {
		case p.Image != nil:
			out = append(out, *p.Image.Base64Data)
		case p.File != nil:
			out = append(out, *p.File.Base64Data)
		}
	}
	return out
}

func (plainShape) sent(data string) *schema.Message {
	m := schema.UserMessage("")
	m.UserInputMultiContent = []schema.MessageInputPart{inputPart(part{text: "look"}, 0), inputPart(part{medium: "image", data: data}, 1)}
	return m
}

func inputPart(p part, i int) schema.MessageInputPart {
	data := cmp.Or(p.data, png)
	common := schema.MessagePartCommon{Base64Data: &data, MIMEType: "image/png"}
	extra := map[string]any{"part": fmt.Sprint(i)}
	switch {
	case p.search:
		return schema.MessageInputPart{Type: schema.ChatMessagePartTypeToolSearchResult, ToolSearchResult: &schema.ToolSearchResult{Tools: []*schema.ToolInfo{{Name: "found"}}}}
	case p.medium == "image":
		return schema.MessageInputPart{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: common, Detail: schema.ImageURLDetailHigh}, Extra: extra}
	case p.medium == "audio":
		return schema.MessageInputPart{Type: schema.ChatMessagePartTypeAudioURL, Audio: &schema.MessageInputAudio{MessagePartCommon: common}, Extra: extra}
	case p.medium == "video":
		return schema.MessageInputPart{Type: schema.ChatMessagePartTypeVideoURL, Video: &schema.MessageInputVideo{MessagePartCommon: common}, Extra: extra}
	case p.medium == "file":
		return schema.MessageInputPart{Type: schema.ChatMessagePartTypeFileURL, File: &schema.MessageInputFile{MessagePartCommon: common, Name: "report.pdf"}, Extra: extra}
	}
	return schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: p.text, Extra: extra}
}

func (plainShape) merge(...*schema.Message) (*schema.Message, bool) { return nil, false }

func (plainShape) answers(m *schema.Message) []answer {
	if m == nil || m.Role != schema.Tool {
		return nil
	}
	a := answer{id: m.ToolCallID, name: m.ToolName}
	if len(m.UserInputMultiContent) == 0 {
		a.texts = []string{m.Content}
	}
	for _, p := range m.UserInputMultiContent {
		if p.Type == schema.ChatMessagePartTypeText {
			a.texts = append(a.texts, p.Text)
		} else {
			a.others += render(p)
		}
	}
	return []answer{a}
}

func (s plainShape) rest(m *schema.Message) string {
	if m == nil {
		return "nil"
	}
	c := *m
	if c.Role == schema.Tool {
		c.Content, c.UserInputMultiContent = "", nil
	}
	c.Extra = withoutMarks(c.Extra)
	return render(c)
}

func (plainShape) withExtra(m *schema.Message, key string, value any) *schema.Message {
	c := *m
	c.Extra = map[string]any{key: value}
	for k, v := range m.Extra {
		c.Extra[k] = v
	}
	return &c
}

func (plainShape) copy(m *schema.Message) *schema.Message { return deepCopy(m) }

type agenticShape struct{}

func (agenticShape) result(id, name string, parts ...part) *schema.AgenticMessage {
	r := &schema.FunctionToolResult{CallID: id, Name: name}
	for i, p := range parts {
		if p.search {
			return &schema.AgenticMessage{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{
				schema.NewContentBlock(&schema.ToolSearchFunctionToolResult{CallID: id, Name: name, Result: &schema.ToolSearchResult{Tools: []*schema.ToolInfo{{Name: "found"}}}}),
			}}
		}
		r.Content = append(r.Content, contentBlock(p, i))
	}
	return &schema.AgenticMessage{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{schema.NewContentBlock(r)}}
}

func (agenticShape) media(m *schema.AgenticMessage) (out []string) {
	for _, b := range m.ContentBlocks {
		if b.UserInputImage != nil {
			out = append(out, b.UserInputImage.Base64Data)
		}
		if b.FunctionToolResult == nil {
			continue
		}
		for _, c := range b.FunctionToolResult.Content {
			switch {
			case c.Image != nil:
				out = append(out, c.Image.Base64Data)
			case c.File != nil:
				out = append(out, c.File.Base64Data)
			}
		}
	}
	return out
}

func (agenticShape) sent(data string) *schema.AgenticMessage {
	return &schema.AgenticMessage{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{
		schema.NewContentBlock(&schema.UserInputText{Text: "look"}),
		schema.NewContentBlock(&schema.UserInputImage{Base64Data: data, MIMEType: "image/png"})}}
}

func contentBlock(p part, i int) *schema.FunctionToolResultContentBlock {
	b := &schema.FunctionToolResultContentBlock{Type: schema.FunctionToolResultContentBlockType(p.medium), Extra: map[string]any{"part": fmt.Sprint(i)}}
	png := cmp.Or(p.data, png)
	switch p.medium {
	case "image":
		b.Image = &schema.UserInputImage{Base64Data: png, MIMEType: "image/png", Detail: schema.ImageURLDetailHigh}
	case "audio":
		b.Audio = &schema.UserInputAudio{Base64Data: png, MIMEType: "audio/wav"}
	case "video":
		b.Video = &schema.UserInputVideo{Base64Data: png, MIMEType: "video/mp4"}
	case "file":
		b.File = &schema.UserInputFile{Base64Data: png, MIMEType: "application/pdf", Name: "report.pdf"}
	default:
		b.Type, b.Text = schema.FunctionToolResultContentBlockTypeText, &schema.UserInputText{Text: p.text}
	}
	return b
}

func (agenticShape) merge(msgs ...*schema.AgenticMessage) (*schema.AgenticMessage, bool) {
	out := &schema.AgenticMessage{Role: schema.AgenticRoleTypeUser}
	for _, m := range msgs {
		out.ContentBlocks = append(out.ContentBlocks, m.ContentBlocks...)
	}
	return out, true
}

func (agenticShape) answers(m *schema.AgenticMessage) []answer {
	var out []answer
	if m == nil {
		return nil
	}
	for _, b := range m.ContentBlocks {
		switch {
		case b == nil:
		case b.FunctionToolResult != nil:
			a := answer{id: b.FunctionToolResult.CallID, name: b.FunctionToolResult.Name}
			for _, c := range b.FunctionToolResult.Content {
				if c.Text != nil {
					a.texts = append(a.texts, c.Text.Text)
				} else {
					a.others += render(c)
				}
			}
			out = append(out, a)
		case b.ToolSearchFunctionToolResult != nil:
			out = append(out, answer{id: b.ToolSearchFunctionToolResult.CallID, name: b.ToolSearchFunctionToolResult.Name, others: render(b)})
		}
	}
	return out
}

func (s agenticShape) rest(m *schema.AgenticMessage) string {
	if m == nil {
		return "nil"
	}
	c := s.copy(m)
	for _, b := range c.ContentBlocks {
		if b != nil && b.FunctionToolResult != nil {
			b.FunctionToolResult.Content = nil
			b.Extra = withoutMarks(b.Extra)
		}
	}
	c.Extra = withoutMarks(c.Extra)
	return render(c)
}

func (agenticShape) withExtra(m *schema.AgenticMessage, key string, value any) *schema.AgenticMessage {
	c := *m
	c.Extra = map[string]any{key: value}
	for k, v := range m.Extra {
		c.Extra[k] = v
	}
	return &c
}

func (agenticShape) copy(m *schema.AgenticMessage) *schema.AgenticMessage { return deepCopy(m) }

func withoutMarks(extra map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range extra {
		if k != processedKey && k != oursKey {
			out[k] = v
		}
	}
	return out
}

const (
	processedKey = "_reduction_mw_processed"
	oursKey      = "__leanctx_reduction__"
)

func render(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
