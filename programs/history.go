// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// Histories that the user's code rebuilt from the events of a run. They contain the calls of
// programs, which are removed here, as they are in the run's own requests.

import (
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/prompt"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/programs/internal/journal"
)

// repairHistory returns a history without the calls that programs made, with one result for each
// run_code call. It returns msgs itself if nothing changes.
func repairHistory[M adk.MessageType](msgs []M) []M {
	runs := func(msg M) bool {
		return slices.ContainsFunc(message.Calls(msg), func(c message.ToolCall) bool { return c.Name == toolnames.Run })
	}
	if !slices.ContainsFunc(msgs, runs) {
		return msgs
	}
	h := historyRepair[M]{}
	for _, msg := range msgs {
		if message.IsNil(msg) {
			continue
		}
		h.add(msg)
	}
	h.closeRound()
	if !h.isChanged {
		return msgs
	}
	return h.repaired
}

// historyRepair builds a history without the calls of programs.
type historyRepair[M adk.MessageType] struct {
	repaired     []M
	headIndex    int             // of the last message with run_code calls
	openPrograms []string        // ids of programs without an output so far
	hasCalls     map[string]bool // ids of programs that made calls
	directIDs    map[string]bool // ids of the model's own calls in that message
	isChanged    bool
}

// add adds the next message of the original history.
func (h *historyRepair[M]) add(msg M) {
	calls := message.Calls(msg)
	if len(calls) > 0 && !slices.ContainsFunc(calls, func(c message.ToolCall) bool { return !h.isProgramCall(c.ID) }) {
		for _, c := range calls {
			id, _ := h.programOf(c.ID)
			h.hasCalls[id] = true
		}
		h.isChanged = true // the answer of a program turn
		return
	}
	if len(calls) > 0 {
		h.closeRound()
		msg = h.openRound(msg)
	}
	for _, p := range message.Results(msg) {
		id, isInner := h.programOf(p.ID())
		if !isInner || !strings.HasSuffix(p.ID(), "-end") {
			continue
		}
		h.repaired, _ = replaceResult(h.repaired, id, message.WithoutCalls(msg, func(other string) bool { return other != p.ID() }))
		h.openPrograms = slices.DeleteFunc(h.openPrograms, func(open string) bool { return open == id })
		h.isChanged = true
		msg = message.WithoutCalls(msg, func(other string) bool { return other == p.ID() })
		if message.IsNil(msg) {
			return
		}
	}
	kept := message.WithoutCalls(msg, h.isProgramCall)
	h.isChanged = h.isChanged || kept != msg
	if !message.IsNil(kept) {
		h.repaired = append(h.repaired, kept)
	}
}

// openRound notes the programs of a message of the model, and returns the message with unique ids
// of calls.
func (h *historyRepair[M]) openRound(msg M) M {
	h.hasCalls, h.directIDs = map[string]bool{}, map[string]bool{}
	unique := message.WithUniqueCallIDs(msg)
	for _, c := range message.Calls(unique) {
		h.directIDs[c.ID] = true
		if c.Name == toolnames.Run {
			h.openPrograms = append(h.openPrograms, c.ID)
		}
	}
	if h.openPrograms == nil {
		return msg
	}
	h.headIndex, h.isChanged = len(h.repaired), h.isChanged || unique != msg
	return unique
}

// isProgramCall reports whether an id is that of a call of an open program.
func (h *historyRepair[M]) isProgramCall(id string) bool {
	_, ok := h.programOf(id)
	return ok
}

// programOf returns the open program that made a call.
func (h *historyRepair[M]) programOf(id string) (program string, ok bool) {
	for _, open := range h.openPrograms {
		rest, ok := strings.CutPrefix(id, open)
		if !ok || h.directIDs[id] {
			continue
		}
		if strings.HasPrefix(rest, journal.CollisionMark) { // where the usual ids were taken
			const length = len(journal.CollisionMark) + 16
			rest = rest[min(len(rest), length):]
		}
		if k := (journal.Kept{}); rest == k.EndID() || k.CallNumber(rest) > 0 {
			return open, true
		}
	}
	return "", false
}

// closeRound writes a result for each program whose output is missing, and sorts the results.
func (h *historyRepair[M]) closeRound() {
	for _, id := range h.openPrograms {
		for i, msg := range slices.Backward(h.repaired) {
			results := message.Results(msg)
			at := slices.IndexFunc(results, func(p message.Part) bool { return p.ID() == id })
			if at < 0 {
				continue
			}
			if isStartedNotice(results[at], id) {
				text := "unstarted"
				if h.hasCalls[id] {
					text = "unfinished"
				}
				h.repaired[i] = message.Replace(msg, func(p message.Part) []message.Part {
					if p.Kind != message.Result || p.ID() != id {
						return nil
					}
					return []message.Part{message.NewResult(id, toolnames.Run, message.NewText(render(text, promptData{})))}
				})
				h.isChanged = true
			}
			break
		}
	}
	h.openPrograms = nil
	h.order()
}

// order puts the results of a message with programs into the order of its calls.
func (h *historyRepair[M]) order() {
	place := map[string]int{}
	if len(h.repaired) == 0 {
		return
	}
	for i, c := range message.Calls(h.repaired[h.headIndex]) {
		place[c.ID] = i + 1
	}
	of := func(msg M) int {
		if results := message.Results(msg); len(results) == 1 {
			return place[results[0].ID()]
		}
		return 0
	}
	results := h.repaired[min(h.headIndex+1, len(h.repaired)):]
	if end := slices.IndexFunc(results, func(msg M) bool { return of(msg) == 0 }); end >= 0 {
		results = results[:end]
	}
	compare := func(a, b M) int { return of(a) - of(b) }
	if !slices.IsSortedFunc(results, compare) {
		slices.SortStableFunc(results, compare)
		h.isChanged = true
	}
}

// isStartedNotice reports whether a result of run_code only says that the program started, in
// either language.
func isStartedNotice(p message.Part, id string) bool {
	text := textOf(p)
	for _, language := range []*prompt.Texts{prompts.English(), prompts.Chinese()} {
		before, _, _ := strings.Cut(language.Render("begun", promptData{Name: id}), id)
		if strings.HasPrefix(text, before) && strings.Contains(text, id) {
			return true
		}
	}
	return false
}

// textOf returns a result as a program reads it.
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
		return strings.TrimPrefix(text.String()+"\n"+render("media", promptData{Words: media}), "\n")
	}
	return text.String()
}

// replaceResult replaces the result of the run_code call id by the result in another message.
func replaceResult[M adk.MessageType](msgs []M, id string, with M) (next []M, isPlaced bool) {
	for i, msg := range slices.Backward(msgs) {
		results := message.Results(msg)
		if !slices.ContainsFunc(results, func(p message.Part) bool { return p.ID() == id }) {
			continue
		}
		output := message.Results(with)[0]
		next = slices.Clone(msgs)
		next[i] = message.Replace(msg, func(p message.Part) []message.Part {
			if p.Kind != message.Result || p.ID() != id {
				return nil
			}
			return []message.Part{message.NewResult(id, toolnames.Run, output.Parts().All()...)}
		})
		return next, true
	}
	return msgs, false
}
