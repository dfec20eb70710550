// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Conversations, made of the requests that einoleantest and window recorded.

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

// grown is a conversation that grows from request to request. A message is known by its
// calls or by its text, so that a result that a later request shows cut or cleared stays
// as it was seen first.
type grown struct {
	agent string
	first string
	msgs  []*schema.Message
	known map[string]bool
	last  string // the newest answer: what goes on shows it
}

// identity is what a message is known by in later requests.
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

// grow adds a request and its answer, nil if it failed, to its conversation: one of those that the
// requests before make, in the order in which they were sent, or a new one. Agents at work side by
// side have a conversation each.
func grow(all []*grown, agent string, request []*schema.Message, answer *schema.Message) []*grown {
	to := conversationOf(all, agent, request)
	if !slices.Contains(all, to) {
		all = append(all, to)
	}
	for _, m := range request {
		if id := identity(m); !to.known[id] {
			to.known[id] = true
			to.msgs = append(to.msgs, m)
		}
	}
	if answer != nil {
		to.last = identity(answer)
		to.known[to.last] = true
		to.msgs = append(to.msgs, answer)
	}
	return all
}

// conversationOf is the conversation that a request belongs to: one that began in the same way
// and whose newest answer it shows, or else a new one.
func conversationOf(all []*grown, agent string, request []*schema.Message) *grown {
	first, begun := agent+"\x00", false
	shown := map[string]bool{}
	for _, m := range request {
		id := identity(m)
		if shown[id] = true; !begun {
			first += id
		}
		begun = begun || m.Role != schema.System
	}
	for _, c := range slices.Backward(all) {
		if c.first == first && (c.last == "" || shown[c.last]) {
			return c
		}
	}
	return &grown{agent: agent, first: first, known: map[string]bool{}}
}

// replayable are the conversations of a file, for a replay.
func replayable(file string, from []*grown) (all []loaded, err error) {
	for _, c := range from {
		conversation := replay.New(c.msgs)
		if conversation.Calls() == 0 {
			continue
		}
		name := file
		if len(from) > 1 {
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
	var all []*grown
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
		answer, err := joined(r.Answer)
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

// joined is an answer that was recorded in chunks.
func joined(chunks []json.RawMessage) (*schema.Message, error) {
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
	var whole any
	var err error
	switch {
	case len(agentic) > 0:
		whole, err = schema.ConcatAgenticMessages(agentic)
	case len(plain) > 0:
		whole, err = schema.ConcatMessages(plain)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return nil, err
	}
	var m messages
	if err := m.add(text); err != nil || len(m) == 0 {
		return nil, err
	}
	return m[len(m)-1], nil
}

// windows reads what window.Collector.WriteJSON or window.Config.Log wrote. What only
// einolean needs is left out, and what it removed from results is restored; where a text was
// not kept whole, filler of the same length stands in for the rest. note is told of lines that
// cannot be read.
func windows(name string, text []byte, note func(error)) (all []loaded, filled int, err error) {
	read, err := window.ReadJSON(bytes.NewReader(text))
	switch {
	case err != nil && len(read) == 0:
		return nil, 0, err
	case err != nil:
		note(err)
	}
	for _, c := range read {
		w := seen{c: c, helped: map[string]bool{}, filled: map[string]bool{}}
		for _, call := range c.Calls {
			w.call(call)
		}
		of := name
		if len(read) > 1 {
			of += ", " + c.ID
		}
		more, err := replayable(of, w.all)
		if err != nil {
			return nil, 0, err
		}
		all, filled = append(all, more...), filled+len(w.filled)
	}
	if len(all) == 0 {
		return nil, 0, fmt.Errorf("it holds no conversation")
	}
	return all, filled, nil
}

// seen makes messages of the parts of windows.
type seen struct {
	c      *window.Conversation
	all    []*grown
	helped map[string]bool // calls that only searched or read back
	filled map[string]bool // results and texts that were not kept whole
}

// call adds a call.
func (w *seen) call(c *window.ModelCall) {
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
	if c.Error != "" || c.Unfinished || c.Without == nil { // it gave no answer, or would not have been asked
		w.all = grow(w.all, c.Agent, request, nil)
		return
	}
	w.all = grow(w.all, c.Agent, request, answer[0])
}

// part adds a part of a request to its messages. Names of tools, answers of searches and
// pages are only there because of einolean.
func (w *seen) part(to *messages, p window.Part) {
	text := w.text(p)
	medium := p.Tokens > 0 && p.Bytes > 0 && w.c.Texts[p.Text] == "" && p.Text != 0
	switch p.Category {
	case window.System:
		to.say(schema.System, text)
	case window.User:
		to.say(schema.User, text)
	case window.Assistant:
		w.assistant(to, p, text)
		return
	case window.Result, window.ResultCut, window.ResultCleared, window.Program:
		if last := len(*to) - 1; last < 0 || (*to)[last].Role != schema.Tool || (*to)[last].ToolCallID != p.CallID {
			*to = append(*to, schema.ToolMessage("", p.CallID, schema.WithToolName(p.Label)))
		}
		(*to)[len(*to)-1].Content += text
	default:
		return
	}
	if medium {
		m := (*to)[len(*to)-1]
		m.Content = ""
		id := fmt.Sprint("text ", p.Text)
		part{Type: "image", raw: json.RawMessage(`{"url":"` + id + `"}`)}.into(m)
	}
}

// assistant adds what the model said, or a call. Its reasoning is not sent again.
func (w *seen) assistant(to *messages, p window.Part, text string) {
	switch {
	case p.CallID != "" && !w.helped[p.CallID]:
		to.call(p.CallID, p.Label, text)
	case p.CallID == "" && p.Label == "":
		to.say(schema.Assistant, text)
	}
}

const (
	notice = "<persisted-output>" // begins what stands for a result that was taken out
	filler = "The rest of this text is not in the recording. "
)

// text is the text of a part as it was without einolean.
func (w *seen) text(p window.Part) string {
	text, size, id := w.c.Texts[p.Text], p.Bytes, fmt.Sprint("text ", p.Text)
	switch p.Category {
	case window.Assistant:
		return text // the answer that it was is kept in the same way
	case window.ResultCut, window.ResultCleared:
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
	if missing := size - len(text); missing > bytesOfToken && !(text == "" && p.Text != 0 && p.Category != window.ResultCut && p.Category != window.ResultCleared) {
		w.filled[id] = true
		text += strings.Repeat(filler, missing/len(filler)+1)[:missing]
	}
	return text
}

// bytesOfToken is about how many bytes of a text are a token.
const bytesOfToken = 4
