// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package window

// This file parses requests. It is the only one that knows both message types.

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/toolnames"
)

// piece is one part of a message before it has a category.
type piece struct {
	kind   pieceKind
	tool   string // of a call or a result
	callID string
	text   string
	media  int // bytes that are not text
	label  string
}

type pieceKind uint8

const (
	systemPiece pieceKind = iota
	userPiece
	assistantPiece
	callPiece
	resultPiece
)

// pieces parses one message.
func pieces[M adk.MessageType](m M) []piece {
	switch m := any(m).(type) {
	case *schema.Message:
		return plainPieces(m)
	case *schema.AgenticMessage:
		return agenticPieces(m)
	}
	return nil
}

func plainPieces(m *schema.Message) (all []piece) {
	if m == nil {
		return nil
	}
	base := piece{kind: userPiece}
	switch m.Role {
	case schema.System:
		base.kind = systemPiece
	case schema.Assistant:
		base.kind = assistantPiece
	case schema.Tool:
		base.kind, base.tool, base.callID = resultPiece, m.ToolName, m.ToolCallID
	}
	add := func(text, label string, media int) {
		if text != "" || media > 0 {
			p := base
			p.label, p.text, p.media = label, text, media
			all = append(all, p)
		}
	}
	add(m.ReasoningContent, "reasoning", 0)
	add(m.Content, "", 0)
	for _, c := range m.MultiContent {
		add(anyContent(c.Type, c.Text, c))
	}
	for _, c := range m.UserInputMultiContent {
		add(anyContent(c.Type, c.Text, c))
	}
	for _, c := range m.AssistantGenMultiContent {
		add(anyContent(c.Type, c.Text, c))
	}
	for _, c := range m.ToolCalls {
		all = append(all, piece{kind: callPiece, tool: c.Function.Name, callID: c.ID, text: c.Function.Arguments})
	}
	if len(all) == 0 {
		all = append(all, base) // a result may be empty
	}
	return all
}

// anyContent reads one part of a message that has several: its text, or the kind of
// media and its size in bytes.
func anyContent(kind schema.ChatMessagePartType, of string, part any) (text, label string, media int) {
	if kind == schema.ChatMessagePartTypeText || of != "" {
		return of, "", 0
	}
	return "", mediaLabel(string(kind)), jsonSize(part)
}

// mediaLabel is "image" of "image_url".
func mediaLabel(kind string) string {
	label, _, _ := strings.Cut(kind, "_url")
	return label
}

func jsonSize(v any) int {
	b, _ := json.Marshal(v) // empty on an error
	return len(b)
}

func agenticPieces(m *schema.AgenticMessage) (all []piece) {
	if m == nil {
		return nil
	}
	talk := userPiece
	switch m.Role {
	case schema.AgenticRoleTypeSystem:
		talk = systemPiece
	case schema.AgenticRoleTypeAssistant:
		talk = assistantPiece
	}
	for _, b := range m.ContentBlocks {
		if b != nil {
			all = append(all, blockPieces(b, talk)...)
		}
	}
	return all
}

func blockPieces(b *schema.ContentBlock, talk pieceKind) []piece {
	switch {
	case b.UserInputText != nil:
		return []piece{{kind: talk, text: b.UserInputText.Text}}
	case b.AssistantGenText != nil:
		return []piece{{kind: talk, text: b.AssistantGenText.Text}}
	case b.Reasoning != nil:
		return []piece{{kind: talk, label: "reasoning", text: b.Reasoning.Text}}
	case b.FunctionToolCall != nil:
		c := b.FunctionToolCall
		return []piece{{kind: callPiece, tool: c.Name, callID: c.CallID, text: c.Arguments}}
	case b.FunctionToolResult != nil:
		return resultPieces(b.FunctionToolResult)
	case b.ToolSearchFunctionToolResult != nil:
		r := b.ToolSearchFunctionToolResult
		text, _ := json.Marshal(r.Result)
		return []piece{{kind: resultPiece, tool: r.Name, callID: r.CallID, text: string(text)}}
	}
	return []piece{{kind: talk, label: mediaLabel(string(b.Type)), media: jsonSize(b)}}
}

func resultPieces(r *schema.FunctionToolResult) (all []piece) {
	base := piece{kind: resultPiece, tool: r.Name, callID: r.CallID}
	var text strings.Builder
	for _, c := range r.Content {
		switch {
		case c == nil:
		case c.Text != nil:
			text.WriteString(c.Text.Text)
		default:
			p := base
			p.label, p.media = string(c.Type), jsonSize(c)
			all = append(all, p)
		}
	}
	if p := base; text.Len() > 0 || len(all) == 0 {
		p.text = text.String()
		all = append([]piece{p}, all...)
	}
	return all
}

// answer is a model's answer: its text, its tool calls and the reported usage.
func answer[M adk.MessageType](m M) (text string, calls []piece, usage *schema.TokenUsage) {
	for _, p := range pieces(m) {
		switch p.kind {
		case callPiece:
			calls = append(calls, p)
		case assistantPiece:
			if p.label == "" {
				text += p.text
			}
		}
	}
	switch m := any(m).(type) {
	case *schema.Message:
		if m != nil && m.ResponseMeta != nil {
			usage = m.ResponseMeta.Usage
		}
	case *schema.AgenticMessage:
		if m != nil && m.ResponseMeta != nil {
			usage = m.ResponseMeta.TokenUsage
		}
	}
	return text, calls, usage
}

// join joins the chunks of a stream into one answer.
func join[M adk.MessageType](chunks []M) (M, error) {
	var whole any
	var err error
	switch all := any(chunks).(type) {
	case []*schema.Message:
		whole, err = schema.ConcatMessages(all)
	case []*schema.AgenticMessage:
		whole, err = schema.ConcatAgenticMessages(all)
	}
	m, _ := whole.(M)
	return m, err
}

// definition is the text of a tool's definition, as most adapters send it.
func definition(t *schema.ToolInfo) string {
	var parameters any
	if t.ParamsOneOf != nil {
		parameters, _ = t.ToJSONSchema()
	}
	text, err := json.Marshal(struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Parameters  any    `json:"parameters,omitempty"`
	}{t.Name, t.Desc, parameters})
	if err != nil {
		return t.Name + " " + t.Desc
	}
	return string(text)
}

// searches reports whether package toolsearch uses a tool to find, load or call
// others.
func searches(tool string) bool {
	return tool == toolnames.Search || tool == toolnames.SearchTools || tool == toolnames.Load
}

// isReminder recognises the message that lists hidden tools, also Eino's, and one that
// reports changes of the list.
func isReminder(text string) bool {
	_, lists := toolnames.Reminder(text)
	_, changes := toolnames.Changed(text)
	return lists || changes
}

// isOffer recognises the message that describes tools for a user's message.
func isOffer(text string) bool {
	_, is := toolnames.Offer(text)
	return is
}

// notice is what the text in place of a result says: it serves histories without
// events.
type notice struct {
	category Category // "" if it is not a notice
	path     string
	bytes    int // bytes that the tool returned, 0 if not stated
}

const (
	noticeOpen  = "<persisted-output>"
	noticeClose = "</persisted-output>"
)

// readNotice recognises notices of both languages, and Eino's.
func readNotice(text string) notice {
	if !strings.HasSuffix(text, noticeClose) {
		if strings.HasPrefix(text, "[Earlier result removed") || strings.HasPrefix(text, "[Old tool result") {
			return notice{category: ResultCleared}
		}
		return notice{}
	}
	at := strings.LastIndex(text, noticeOpen)
	if strings.HasPrefix(text, noticeOpen) {
		at = 0
	}
	if at < 0 {
		return notice{}
	}
	n, inner := notice{category: ResultCut}, text[at+len(noticeOpen):]
	if at == 0 && !strings.HasPrefix(inner, "\n") {
		n.category = ResultCleared
	}
	line, _, _ := strings.Cut(strings.TrimPrefix(inner, "\n"), "\n")
	if i := strings.Index(line, ": /"); i >= 0 {
		n.path, _, _ = strings.Cut(line[i+2:], ". ")
		line = line[:i]
	}
	if i := strings.IndexAny(line, "0123456789"); i >= 0 {
		line = line[i:]
		n.bytes, _ = strconv.Atoi(line[:len(line)-len(strings.TrimLeft(line, "0123456789"))])
	}
	return n
}
