// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// Histories that a caller rebuilt from the events of a run. They are well formed for every provider;
// here they lose the calls of programs, as the run's own requests did.

import (
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/programs/internal/journal"
)

// mended is a history with one result for each program. It is the same slice if there is nothing to
// mend.
func mended[M adk.MessageType](msgs []M) []M {
	runs := func(msg M) bool {
		return slices.ContainsFunc(message.Calls(msg), func(c message.ToolCall) bool { return c.Name == toolnames.Run })
	}
	if !slices.ContainsFunc(msgs, runs) {
		return msgs
	}
	h := rebuilt[M]{}
	for _, msg := range msgs {
		if message.IsNil(msg) {
			continue
		}
		h.add(msg)
	}
	h.end()
	if !h.isChanged {
		return msgs
	}
	return h.next
}

// rebuilt is a history without the calls that programs made.
type rebuilt[M adk.MessageType] struct {
	next      []M
	head      int             // where the last message of a model with programs stands
	open      []string        // the ids of the programs whose output may come
	called    map[string]bool // those of them that made calls
	own       map[string]bool // ids of the calls beside them
	isChanged bool
}

// add adds the next message.
func (h *rebuilt[M]) add(msg M) {
	calls := message.Calls(msg)
	if len(calls) > 0 && !slices.ContainsFunc(calls, func(c message.ToolCall) bool { return !h.isInner(c.ID) }) {
		for _, c := range calls {
			id, _ := h.programOf(c.ID)
			h.called[id] = true
		}
		h.isChanged = true // a virtual answer
		return
	}
	if len(calls) > 0 {
		h.end()
		msg = h.begin(msg)
	}
	for _, p := range message.Results(msg) {
		id, isInner := h.programOf(p.ID())
		if !isInner || !strings.HasSuffix(p.ID(), "-end") {
			continue
		}
		h.next, _ = inPlace(h.next, id, message.WithoutCalls(msg, func(other string) bool { return other != p.ID() }))
		h.open = slices.DeleteFunc(h.open, func(open string) bool { return open == id })
		h.isChanged = true
		msg = message.WithoutCalls(msg, func(other string) bool { return other == p.ID() })
		if message.IsNil(msg) {
			return
		}
	}
	kept := message.WithoutCalls(msg, h.isInner)
	h.isChanged = h.isChanged || kept != msg
	if !message.IsNil(kept) {
		h.next = append(h.next, kept)
	}
}

// begin notes the programs of a message of the model, whose calls have ids that tell them apart.
func (h *rebuilt[M]) begin(msg M) M {
	h.called, h.own = map[string]bool{}, map[string]bool{}
	own := message.Apart(msg)
	for _, c := range message.Calls(own) {
		h.own[c.ID] = true
		if c.Name == toolnames.Run {
			h.open = append(h.open, c.ID)
		}
	}
	if h.open == nil {
		return msg
	}
	h.head, h.isChanged = len(h.next), h.isChanged || own != msg
	return own
}

// isInner reports whether one of the open programs made a call.
func (h *rebuilt[M]) isInner(id string) bool {
	_, ok := h.programOf(id)
	return ok
}

// programOf is the open program that made a call.
func (h *rebuilt[M]) programOf(id string) (program string, ok bool) {
	for _, open := range h.open {
		rest, ok := strings.CutPrefix(id, open)
		if !ok || h.own[id] {
			continue
		}
		if strings.HasPrefix(rest, journal.Mark) { // where the usual ids were taken
			const length = len(journal.Mark) + 16
			rest = rest[min(len(rest), length):]
		}
		if k := (journal.SavedProgram{}); rest == k.EndID() || k.Number(rest) > 0 {
			return open, true
		}
	}
	return "", false
}

// end answers the programs that their run did not finish.
func (h *rebuilt[M]) end() {
	for _, id := range h.open {
		for i, msg := range slices.Backward(h.next) {
			results := message.Results(msg)
			at := slices.IndexFunc(results, func(p message.Part) bool { return p.ID() == id })
			if at < 0 {
				continue
			}
			if isBegun(results[at], id) {
				text := "unstarted"
				if h.called[id] {
					text = "unfinished"
				}
				h.next[i] = message.Replace(msg, func(p message.Part) []message.Part {
					if p.Kind != message.Result || p.ID() != id {
						return nil
					}
					return []message.Part{message.NewResult(id, toolnames.Run, message.NewText(say(text, data{})))}
				})
				h.isChanged = true
			}
			break
		}
	}
	h.open = nil
	h.order()
}

// order puts the results of a message with programs into the order of its calls.
func (h *rebuilt[M]) order() {
	place := map[string]int{}
	if len(h.next) == 0 {
		return
	}
	for i, c := range message.Calls(h.next[h.head]) {
		place[c.ID] = i + 1
	}
	of := func(msg M) int {
		if results := message.Results(msg); len(results) == 1 {
			return place[results[0].ID()]
		}
		return 0
	}
	results := h.next[min(h.head+1, len(h.next)):]
	if end := slices.IndexFunc(results, func(msg M) bool { return of(msg) == 0 }); end >= 0 {
		results = results[:end]
	}
	compare := func(a, b M) int { return of(a) - of(b) }
	if !slices.IsSortedFunc(results, compare) {
		slices.SortStableFunc(results, compare)
		h.isChanged = true
	}
}

// isBegun reports whether a result of run_code only says that the program runs, in either language.
func isBegun(p message.Part, id string) bool {
	text := textOf(p)
	for _, say := range []string{prompts.English().Say("begun", data{Name: id}), prompts.Chinese().Say("begun", data{Name: id})} {
		before, _, _ := strings.Cut(say, id)
		if strings.HasPrefix(text, before) && strings.Contains(text, id) {
			return true
		}
	}
	return false
}

// textOf is what a program reads of a result.
func textOf(p message.Part) string {
	var text strings.Builder
	var media []string
	for item := p.Parts(); item.Next(); {
		switch item.Kind {
		case message.Text:
			text.WriteString(item.Text())
		case message.Medium:
			media = append(media, item.MediaType())
		}
	}
	if len(media) > 0 {
		return strings.TrimPrefix(text.String()+"\n"+say("media", data{Words: media}), "\n")
	}
	return text.String()
}

// inPlace returns messages with the result in another message as that of a run_code call.
func inPlace[M adk.MessageType](msgs []M, id string, with M) (next []M, isPlaced bool) {
	for i, msg := range slices.Backward(msgs) {
		results := message.Results(msg)
		if !slices.ContainsFunc(results, func(p message.Part) bool { return p.ID() == id }) {
			continue
		}
		said := message.Results(with)[0]
		next = slices.Clone(msgs)
		next[i] = message.Replace(msg, func(p message.Part) []message.Part {
			if p.Kind != message.Result || p.ID() != id {
				return nil
			}
			return []message.Part{message.NewResult(id, toolnames.Run, said.Parts().All()...)}
		})
		return next, true
	}
	return msgs, false
}
