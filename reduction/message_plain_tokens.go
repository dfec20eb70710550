// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file weighs *schema.Message.

import "github.com/cloudwego/eino/schema"

func (plain) tokens(msgs []*schema.Message, sizes *schemaSizes) (n int64) {
	for _, m := range msgs {
		if m != nil {
			n += plainWeight(m, sizes).tokens()
		}
	}
	return n
}

// plainWeight counts text as Eino does, with a separator after each piece, and
// what Eino leaves out: media, the deprecated MultiContent, search results.
func plainWeight(m *schema.Message, sizes *schemaSizes) weight {
	w := weight{bytes: len(m.Role) + len(m.ReasoningContent) + len(m.Content) + 3}
	if m.Role == schema.Assistant {
		for i := range m.ToolCalls {
			f := &m.ToolCalls[i].Function
			w.bytes += len(f.Name) + len(f.Arguments) + 1
		}
	}
	if len(m.UserInputMultiContent) > 0 {
		w.input(m.UserInputMultiContent, sizes)
	}
	if len(m.AssistantGenMultiContent) > 0 {
		w.output(m.AssistantGenMultiContent)
	}
	if len(m.MultiContent) > 0 {
		w.old(m)
	}
	return w
}

func (w *weight) input(parts []schema.MessageInputPart, sizes *schemaSizes) {
	for i := range parts {
		switch p := &parts[i]; p.Type {
		case schema.ChatMessagePartTypeText:
			w.bytes += len(p.Text) + 1
		case schema.ChatMessagePartTypeToolSearchResult:
			w.search(p.ToolSearchResult, sizes)
		default:
			w.media++
		}
	}
}

func (w *weight) output(parts []schema.MessageOutputPart) {
	for i := range parts {
		switch p := &parts[i]; p.Type {
		case schema.ChatMessagePartTypeText:
			w.bytes += len(p.Text) + 1
		case schema.ChatMessagePartTypeReasoning:
			if p.Reasoning != nil {
				w.bytes += len(p.Reasoning.Text) + 1
			}
		default:
			w.media++
		}
	}
}

// old weighs the field that was there before the two others.
func (w *weight) old(m *schema.Message) {
	for i := range m.MultiContent {
		if p := &m.MultiContent[i]; p.Type == schema.ChatMessagePartTypeText {
			w.bytes += len(p.Text) + 1
		} else {
			w.media++
		}
	}
}

// search weighs the definitions that a search returned.
func (w *weight) search(r *schema.ToolSearchResult, sizes *schemaSizes) {
	if r == nil {
		return
	}
	for _, t := range r.Tools {
		w.bytes += toolBytes(t, sizes)
	}
}
