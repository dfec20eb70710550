// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Reconstructing conversations from the requests that einoleantest and window recorded.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/dev/replay"
	"github.com/einolean/einolean/window"
)

// growingConversation is a conversation that grows from request to request. A message is identified by its
// calls or its text, so that a result that a later request truncates or clears keeps its first content.
type growingConversation struct {
	agent string
	first string
	msgs  []*schema.Message
	known map[string]bool
	last  string // the newest answer: what goes on shows it
}

// identity returns the key that identifies a message in later requests.
func identity(m *schema.Message) string {
	switch {
	case m.Role == schema.Tool && m.ToolCallID != "":
		return "result " + m.ToolCallID
	case len(m.ToolCalls) > 0 && m.ToolCalls[0].ID != "":
		return "call " + m.ToolCalls[0].ID
	}
	media, _ := json.Marshal([]any{m.UserInputMultiContent, m.AssistantGenMultiContent})
	calls, _ := json.Marshal(m.ToolCalls)
	return string(m.Role) + " " + m.Content + string(media) + string(calls)
}

// grow adds a request and its answer, nil if it failed, to its conversation: one that earlier requests began,
// or a new one. Agents that run side by side have a conversation each.
func grow(all []*growingConversation, agent string, request []*schema.Message, answer *schema.Message) []*growingConversation {
	conversation := conversationOf(all, agent, request)
	if !slices.Contains(all, conversation) {
		all = append(all, conversation)
	}
	for _, m := range request {
		if id := identity(m); !conversation.known[id] {
			conversation.known[id] = true
			conversation.msgs = append(conversation.msgs, m)
		}
	}
	if answer != nil {
		conversation.last = identity(answer)
		conversation.known[conversation.last] = true
		conversation.msgs = append(conversation.msgs, answer)
	}
	return all
}

// conversationOf returns the conversation of a request: one with the same beginning whose newest answer it
// contains, or a new one.
func conversationOf(all []*growingConversation, agent string, request []*schema.Message) *growingConversation {
	first, begun := agent+"\x00", false
	visible := map[string]bool{}
	for _, m := range request {
		id := identity(m)
		if visible[id] = true; !begun {
			first += id
		}
		begun = begun || m.Role != schema.System
	}
	for _, c := range slices.Backward(all) {
		if c.first == first && (c.last == "" || visible[c.last]) {
			return c
		}
	}
	return &growingConversation{agent: agent, first: first, known: map[string]bool{}}
}

// replayable returns the conversations of a file that can be replayed.
func replayable(file string, conversations []*growingConversation) (all []loaded, err error) {
	for _, c := range conversations {
		conversation := replay.New(c.msgs)
		if conversation.Calls() == 0 {
			continue
		}
		name := file
		if len(conversations) > 1 {
			name = strings.TrimSpace(fmt.Sprintf("%s, %d %s", name, len(all)+1, c.agent))
		}
		all = append(all, loaded{Recorded: replay.Recorded{Name: name, Conversation: conversation}})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("it holds no answer of a model")
	}
	return all, nil
}

// exchanges reads the lines that einoleantest.Recorder saves.
func exchanges(name string, rows []json.RawMessage) ([]loaded, error) {
	var all []*growingConversation
	for i, row := range rows {
		var r recording
		if err := decode(row, &r); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		var request messages
		for k, raw := range r.Messages {
			if err := request.add(raw); err != nil {
				return nil, fmt.Errorf("entry %d, message %d: %w", i+1, k+1, err)
			}
		}
		answer, err := joinChunks(r.Answer)
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", i+1, err)
		}
		if r.Error != "" {
			answer = nil
		}
		all = grow(all, "", request, answer)
	}
	return replayable(name, all)
}

// joinChunks concatenates the recorded chunks of an answer.
func joinChunks(chunks []json.RawMessage) (*schema.Message, error) {
	var plain []*schema.Message
	var agentic []*schema.AgenticMessage
	for _, raw := range chunks {
		var err error
		if bytes.Contains(raw, []byte(`"content_blocks"`)) {
			var m schema.AgenticMessage
			err = decode(raw, &m)
			agentic = append(agentic, &m)
		} else {
			var m schema.Message
			err = decode(raw, &m)
			plain = append(plain, &m)
		}
		if err != nil {
			return nil, err
		}
	}
	var merged any
	var err error
	switch {
	case len(agentic) > 0:
		merged, err = schema.ConcatAgenticMessages(agentic)
	case len(plain) > 0:
		merged, err = schema.ConcatMessages(plain)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(merged)
	if err != nil {
		return nil, err
	}
	var m messages
	if err := m.add(text); err != nil || len(m) == 0 {
		return nil, err
	}
	return m[len(m)-1], nil
}

// windows reads a file of window.Collector.WriteJSON or window.Config.Log. It omits what only einolean added,
// and restores what einolean removed from results. Where a text was recorded only in part, filler of the same
// length replaces the rest. note receives the errors of lines that cannot be read.
func windows(name string, text []byte, note func(error)) (all []loaded, filled int, err error) {
	read, err := window.ReadJSON(bytes.NewReader(text))
	switch {
	case err != nil && len(read) == 0:
		return nil, 0, err
	case err != nil:
		note(err)
	}
	for _, c := range read {
		w := windowReader{c: c, helped: map[string]bool{}, filled: map[string]bool{}}
		for _, call := range c.Calls {
			w.call(call)
		}
		label := name
		if len(read) > 1 {
			label += ", " + c.ID
		}
		converted, err := replayable(label, w.all)
		if err != nil {
			return nil, 0, err
		}
		all, filled = append(all, converted...), filled+len(w.filled)
	}
	if len(all) == 0 {
		return nil, 0, fmt.Errorf("it holds no conversation")
	}
	return all, filled, nil
}

// windowReader converts the parts of recorded windows to messages.
type windowReader struct {
	c      *window.Conversation
	all    []*growingConversation
	helped map[string]bool // calls of search and read tools
	filled map[string]bool // results and texts that were recorded only in part
}

// call adds a model call.
func (w *windowReader) call(c *window.ModelCall) {
	help := map[string]bool{}
	parts := c.Parts()
	for _, p := range parts {
		switch {
		case p.Category == window.HelpTools:
			help[p.Label] = true
		case p.Category == window.Assistant && p.CallID != "" && help[p.Label]:
			w.helped[p.CallID] = true
		}
	}
	var request messages
	for _, p := range parts {
		w.part(&request, p)
	}
	answer := messages{{Role: schema.Assistant, Content: c.Answer}}
	for _, use := range c.Did {
		if w.helped[use.CallID] = help[use.Tool]; !help[use.Tool] {
			answer.call(use.CallID, use.Tool, use.Arguments)
		}
	}
	if c.Error != "" || c.Unfinished || c.Without == nil { // no answer, or a call that only einolean caused
		w.all = grow(w.all, c.Agent, request, nil)
		return
	}
	w.all = grow(w.all, c.Agent, request, answer[0])
}

// part adds a part of a request to its messages. Tool names, search results and pages exist only because of
// einolean, so they are omitted.
func (w *windowReader) part(dst *messages, p window.Part) {
	text := w.text(p)
	medium := p.Tokens > 0 && p.Bytes > 0 && w.c.Texts[p.Text] == "" && p.Text != 0
	switch p.Category {
	case window.System:
		dst.addText(schema.System, text)
	case window.User:
		dst.addText(schema.User, text)
	case window.Assistant:
		w.assistant(dst, p, text)
		return
	case window.Result, window.ResultTruncated, window.ResultCleared, window.Program:
		if last := len(*dst) - 1; last < 0 || (*dst)[last].Role != schema.Tool || (*dst)[last].ToolCallID != p.CallID {
			*dst = append(*dst, schema.ToolMessage("", p.CallID, schema.WithToolName(p.Label)))
		}
		(*dst)[len(*dst)-1].Content += text
	default:
		return
	}
	if medium {
		m := (*dst)[len(*dst)-1]
		m.Content = ""
		id := fmt.Sprint("text ", p.Text)
		part{Type: "image", raw: json.RawMessage(`{"url":"` + id + `"}`)}.addTo(m)
	}
}

// assistant adds the model's text or a call. Reasoning is omitted because it is not sent again.
func (w *windowReader) assistant(dst *messages, p window.Part, text string) {
	switch {
	case p.CallID != "" && !w.helped[p.CallID]:
		dst.call(p.CallID, p.Label, text)
	case p.CallID == "" && p.Label == "":
		dst.addText(schema.Assistant, text)
	}
}

const (
	notice = "<persisted-output>" // prefix of the notice that replaces a result
	filler = "The rest of this text is not in the recording. "
)

// text returns the text of a part as it was without einolean.
func (w *windowReader) text(p window.Part) string {
	text, size, id := w.c.Texts[p.Text], p.Bytes, fmt.Sprint("text ", p.Text)
	switch p.Category {
	case window.Assistant:
		return text // the earlier answer was recorded in the same way
	case window.ResultTruncated, window.ResultCleared:
		id = "result " + p.CallID
		if p.Omission != nil {
			text, size = w.c.Texts[p.Omission.Text], cmp.Or(p.Omission.Bytes, p.Omission.Before*bytesOfToken)
		}
		if strings.HasPrefix(text, notice) {
			text = ""
		}
	case window.Result, window.Program:
		id = "result " + p.CallID
	}
	if missing := size - len(text); missing > bytesOfToken &&
		!(text == "" && p.Text != 0 && p.Category != window.ResultTruncated && p.Category != window.ResultCleared) {
		w.filled[id] = true
		text += strings.Repeat(filler, missing/len(filler)+1)[:missing]
	}
	return text
}

// bytesOfToken is the approximate number of bytes of a token.
const bytesOfToken = 4
