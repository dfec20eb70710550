// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"slices"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/window/internal/parts"
)

// eventNotes is what events reported about results and tools. It determines the categories of
// pieces. The collector's mutex guards it.
type eventNotes struct {
	hash        func(string) uint64
	grow        func(bytes int64)        // counts what is kept in addition
	outputs     map[uint64]resultOutcome // by the hash of the call ID
	paths       map[uint64]bool          // hashes of those that notices name
	loadedTools map[uint64]bool          // of the names of tools that events reported as loaded
	hiddenTools Hidden                   // according to events about the catalogue
}

func newEventNotes(hash func(string) uint64, grow func(bytes int64)) eventNotes {
	return eventNotes{hash: hash, grow: grow, outputs: map[uint64]resultOutcome{}, paths: map[uint64]bool{}, loadedTools: map[uint64]bool{}}
}

// maxNotes is how many outputs, paths, tools, runs and pending events of one conversation are kept.
const maxNotes = 10_000

// Approximate bytes of memory, without strings.
const (
	outputCost = 128
	noteCost   = 48
)

// note records an event; kept is the event as it may be kept. It reports whether categories of
// parts may have changed.
func (h *eventNotes) note(e, kept einolean.Event) bool {
	switch e.Kind {
	case einolean.KindCatalogChanged:
		if e.Tools != nil {
			h.hiddenTools = Hidden{Tools: e.Tools.AddedCount, Tokens: int(e.Tools.Tokens)}
		}
	case einolean.KindToolsLoaded, einolean.KindToolsPrefetched:
		if e.Tools != nil {
			for _, name := range e.Tools.Added {
				h.remember(h.loadedTools, h.hash(name))
			}
			return true
		}
	case einolean.KindResultTruncated:
		return h.noteResult("cut", e, kept)
	case einolean.KindResultCleared:
		return h.noteResult("cleared", e, kept)
	case einolean.KindResultReferred:
		return h.noteResult("referred", e, kept)
	case einolean.KindResultRead:
		return h.noteResult("read", e, kept)
	case einolean.KindProgramEnded:
		return h.noteProgram(e, kept)
	}
	return false
}

// remember adds to a set.
func (h *eventNotes) remember(set map[uint64]bool, hash uint64) {
	if !set[hash] && len(set) < maxNotes {
		set[hash] = true
		h.grow(noteCost)
	}
}

// noteResult records what a middleware did with a result.
func (h *eventNotes) noteResult(rule string, e, kept einolean.Event) bool {
	if e.Output == nil || e.CallID == "" {
		return false
	}
	call := h.hash(e.CallID)
	old, ok := h.outputs[call]
	if !ok && len(h.outputs) >= maxNotes || rule == "read" && old.rule != "" { // a page that was cut or cleared is no longer a page
		return false
	}
	now := resultOutcome{rule: rule, bytes: e.Output.Before.Bytes, path: kept.Output.Path, stored: e.Output.Path != "", program: old.program}
	if old.rule == "cut" { // the tool returned an even longer one
		now.bytes = max(now.bytes, old.bytes)
		if !now.stored {
			now.path, now.stored = old.path, old.stored
		}
	}
	h.setOutput(call, now)
	return true
}

// noteProgram records what a program read.
func (h *eventNotes) noteProgram(e, kept einolean.Event) bool {
	call := h.hash(e.CallID)
	now, ok := h.outputs[call]
	if e.Output == nil || e.Program == nil || e.CallID == "" || !ok && len(h.outputs) >= maxNotes {
		return false
	}
	now.program = &programRead{tokens: int(e.Output.Before.Tokens), calls: kept.Program.Calls}
	h.setOutput(call, now)
	return true
}

// setOutput sets the outcome of a call's result.
func (h *eventNotes) setOutput(call uint64, now resultOutcome) {
	if old, ok := h.outputs[call]; ok {
		h.grow(-old.size())
	}
	h.outputs[call] = now
	h.grow(now.size())
}

// outcome returns the outcome of the result in a piece.
func (h *eventNotes) outcome(p *piece) resultOutcome { return h.outputs[p.ID] }

// isReadCall reports whether a call reads stored content back: an event said so, or the call
// names a path from a notice.
func (h *eventNotes) isReadCall(p *parts.Part) bool {
	return h.outputs[p.ID].rule == "read" || slices.ContainsFunc(p.PathHashes, func(path uint64) bool { return h.paths[path] })
}

// classify finds out what a piece is. Helps are the calls so far that only einolean needs,
// by the hash of their ID; the results of programs are known as such if the run has any.
func (h *eventNotes) classify(p *piece, helps map[uint64]bool, programs bool) {
	switch p.Kind {
	case parts.Tool:
		p.category, p.onlyEinolean = p.base, p.base == HelpTools
		if p.base == OwnTools && h.loadedTools[h.hash(p.Tool)] {
			p.category = LoadedTools
		}
	case parts.Call:
		p.category, p.onlyEinolean = Assistant, parts.Searches(p.Tool) || h.isReadCall(p.Part)
		helps[p.ID] = p.onlyEinolean
	case parts.Result:
		if p.Notice.Path != "" {
			h.remember(h.paths, p.Notice.PathHash)
		}
		p.category = h.category(p, helps[p.ID], programs && p.Tool == toolnames.Run)
		p.onlyEinolean = p.category == Found || p.category == Page
	default:
		p.category = messageCategory(p)
		p.onlyEinolean = p.category == Reminder || p.category == Found
	}
}

// category returns the category of a result; help is true if only einolean needed its
// call, program if a program may have returned it.
func (h *eventNotes) category(p *piece, help, program bool) Category {
	o := h.outputs[p.ID]
	switch {
	case o.rule == "referred", p.Notice.Rule == "cleared":
		return ResultCleared
	case p.Notice.Rule == "cut":
		return ResultTruncated
	case help && parts.Searches(p.Tool):
		return Found
	case help, o.rule == "read":
		return Page
	case (program || o.program != nil) && p.Label == "":
		return Program
	}
	return Result
}

// messageCategory returns the category of a text of a message.
func messageCategory(p *piece) Category {
	switch {
	case p.Kind == parts.System:
		return System
	case p.Kind == parts.Assistant:
		return Assistant
	case parts.IsReminder(p.Text):
		return Reminder
	case parts.IsOffer(p.Text):
		return Found
	}
	return User
}

// size counts anew what is kept.
func (h *eventNotes) size() int64 {
	n := int64(noteCost * (len(h.paths) + len(h.loadedTools)))
	for _, o := range h.outputs {
		n += o.size()
	}
	return n
}

// forget drops all notes.
func (h *eventNotes) forget() {
	clear(h.outputs)
	clear(h.paths)
	clear(h.loadedTools)
}

func (o resultOutcome) size() int64 {
	n := int64(outputCost + len(o.path))
	if o.program != nil {
		n += 48
		for _, c := range o.program.calls {
			n += int64(40 + len(c.Tool))
		}
	}
	return n
}
