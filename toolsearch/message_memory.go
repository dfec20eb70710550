// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file remembers, within a run, what the messages say about loaded tools, so that a
// model call reads only the messages that are new.

import (
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
)

// memory is what the messages seen so far said. It holds the messages themselves, so that
// an equal pointer is the same message.
type memory[M adk.MessageType] struct {
	codec     codec[M]
	seen      []M
	evidence  evidence
	done      *adk.TypedChatModelAgentState[M] // what the last hook returned
	given     adk.TypedChatModelAgentState[M]  // what was in it
	reminders []int                            // positions of messages that are reminders
	mixed     []int                            // positions of messages that hold one, and something else
}

// read brings the memory up to date with the messages.
func (m *memory[M]) read(msgs []M, r *run) {
	if len(m.seen) > len(msgs) || !slices.Equal(m.seen, msgs[:len(m.seen)]) {
		m.seen, m.reminders, m.mixed = m.seen[:0], nil, nil
		m.evidence = evidence{former: m.evidence.former, started: m.evidence.started}
	}
	if !m.evidence.started {
		m.noteFormer(msgs)
	}
	for i := len(m.seen); i < len(msgs); i++ {
		switch s := m.codec.said(msgs[i]); {
		case s.only && isReminder(s.text, s.marked):
			m.reminders = append(m.reminders, i)
		case s.marked:
			m.mixed = append(m.mixed, i)
		}
		m.evidence.add(m.codec.view(msgs[i]), r)
	}
	m.seen = append(m.seen, msgs[len(m.seen):]...)
}

// noteFormer notes the results that are there before the first model call of a run.
func (m *memory[M]) noteFormer(msgs []M) {
	for _, msg := range msgs[len(m.seen):] {
		for _, res := range m.codec.view(msg).results {
			m.evidence.former.add(res.id)
		}
	}
}

// isDone reports whether a state is what the last hook returned, with nothing new in it: the
// instance is in the agent twice.
func (m *memory[M]) isDone(s *adk.TypedChatModelAgentState[M]) bool {
	return s == m.done && slices.Equal(s.Messages, m.given.Messages) &&
		slices.Equal(s.ToolInfos, m.given.ToolInfos) && slices.Equal(s.DeferredToolInfos, m.given.DeferredToolInfos)
}

// withReminder returns the messages with exactly one reminder, which has the text: where
// the first one is, or else before the first message that is not a system message.
// An empty text means no reminder. The slice handed in is not changed, and no message is
// left out that says anything else.
func (m *memory[M]) withReminder(msgs []M, text string) []M {
	if m.remindedWith(msgs, text) {
		return msgs
	}
	at := m.reminderPlace(msgs)
	next := make([]M, 0, len(msgs)+1)
	for i, msg := range msgs {
		if i == at && text != "" {
			next = append(next, m.codec.reminder(text))
		}
		if !slices.Contains(m.reminders, i) {
			next = append(next, msg)
		}
	}
	if at == len(msgs) && text != "" {
		next = append(next, m.codec.reminder(text))
	}
	return next
}

func (m *memory[M]) remindedWith(msgs []M, text string) bool {
	if text == "" || len(m.reminders) > 1 {
		return text == "" && len(m.reminders) == 0
	}
	if len(m.reminders) == 1 {
		return m.codec.said(msgs[m.reminders[0]]).text == text
	}
	return slices.ContainsFunc(m.mixed, func(i int) bool { return strings.Contains(m.codec.said(msgs[i]).text, text) })
}

func (m *memory[M]) reminderPlace(msgs []M) int {
	if len(m.reminders) > 0 {
		return m.reminders[0]
	}
	for i, msg := range msgs {
		if !m.codec.isSystem(msg) {
			return i
		}
	}
	return len(msgs)
}

// withNote returns the messages with a hint for the model at the end.
func (m *memory[M]) withNote(msgs []M, text string) []M {
	if len(msgs) > 0 {
		if last := m.codec.said(msgs[len(msgs)-1]); last.only && last.text == text {
			return msgs
		}
	}
	return append(slices.Clone(msgs), m.codec.note(text))
}

// fit returns the messages in a form that the run's provider takes. The slice handed in is
// not changed.
func (m *memory[M]) fit(msgs []M, edit func(pairs) editor) []M {
	if !m.evidence.native {
		return msgs
	}
	return rewriteAll(m.codec, msgs, edit)
}

// rewriteAll returns the same slice if no message changes.
func rewriteAll[M adk.MessageType](c codec[M], msgs []M, edit func(pairs) editor) []M {
	p := pairs{}
	for _, msg := range msgs {
		p.add(c.view(msg))
	}
	e := edit(p)
	return each(msgs, func(msg M) M { return c.rewrite(msg, e) })
}

// each applies a function to all messages. It returns the same slice if none changes.
func each[M adk.MessageType](msgs []M, f func(M) M) []M {
	next := msgs
	for i, msg := range msgs {
		other := f(msg)
		if other == msg {
			continue
		}
		if &next[0] == &msgs[0] {
			next = slices.Clone(msgs)
		}
		next[i] = other
	}
	return next
}
