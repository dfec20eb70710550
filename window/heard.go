// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"slices"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/window/internal/parts"
)

// heard is what events said about results and tools, and what pieces of requests are by that. The
// collector's mutex guards it.
type heard struct {
	hash    func(string) uint64
	grow    func(bytes int64) // counts what is kept in addition
	outputs map[uint64]output // by the hash of the call ID
	paths   map[uint64]bool   // hashes of those that notices name
	loaded  map[uint64]bool   // of the names of tools that events reported as loaded
	hidden  Hidden            // according to events about the catalogue
}

func newHeard(hash func(string) uint64, grow func(bytes int64)) heard {
	return heard{hash: hash, grow: grow, outputs: map[uint64]output{}, paths: map[uint64]bool{}, loaded: map[uint64]bool{}}
}

// most outputs, paths, tools, runs and waiting events of one conversation that are kept.
const most = 10_000

// Approximate bytes of memory, without strings.
const (
	outputCost = 128
	noteCost   = 48
)

// note records what an event says; kept is the event as it may be kept. It reports whether parts
// may be other than they were.
func (h *heard) note(e, kept einolean.Event) bool {
	switch e.Kind {
	case einolean.KindCatalogChanged:
		if e.Tools != nil {
			h.hidden = Hidden{Tools: e.Tools.AddedCount, Tokens: int(e.Tools.Tokens)}
		}
	case einolean.KindToolsLoaded, einolean.KindToolsPrefetched:
		if e.Tools != nil {
			for _, name := range e.Tools.Added {
				h.remember(h.loaded, h.hash(name))
			}
			return true
		}
	case einolean.KindResultCut:
		return h.became("cut", e, kept)
	case einolean.KindResultCleared:
		return h.became("cleared", e, kept)
	case einolean.KindResultReferred:
		return h.became("referred", e, kept)
	case einolean.KindResultRead:
		return h.became("read", e, kept)
	case einolean.KindProgramEnded:
		return h.ran(e, kept)
	}
	return false
}

// remember adds to a set.
func (h *heard) remember(set map[uint64]bool, hash uint64) {
	if !set[hash] && len(set) < most {
		set[hash] = true
		h.grow(noteCost)
	}
}

func (h *heard) became(rule string, e, kept einolean.Event) bool {
	if e.Output == nil || e.CallID == "" {
		return false
	}
	call := h.hash(e.CallID)
	old, known := h.outputs[call]
	if !known && len(h.outputs) >= most || rule == "read" && old.rule != "" { // a page that was cut or cleared is no longer a page
		return false
	}
	now := output{rule: rule, bytes: e.Output.Before.Bytes, path: kept.Output.Path, stored: e.Output.Path != "", read: old.read}
	if old.rule == "cut" { // the tool returned an even longer one
		now.bytes = max(now.bytes, old.bytes)
		if !now.stored {
			now.path, now.stored = old.path, old.stored
		}
	}
	h.learn(call, now)
	return true
}

// ran records what a program read.
func (h *heard) ran(e, kept einolean.Event) bool {
	call := h.hash(e.CallID)
	now, known := h.outputs[call]
	if e.Output == nil || e.Program == nil || e.CallID == "" || !known && len(h.outputs) >= most {
		return false
	}
	now.read = &programRead{tokens: int(e.Output.Before.Tokens), calls: kept.Program.Calls}
	h.learn(call, now)
	return true
}

// learn notes the outcome of a call's result.
func (h *heard) learn(call uint64, now output) {
	if old, known := h.outputs[call]; known {
		h.grow(-old.size())
	}
	h.outputs[call] = now
	h.grow(now.size())
}

// outcome is what became of the result of a piece.
func (h *heard) outcome(p *piece) output { return h.outputs[p.ID] }

// reads reports whether a call reads stored content back: an event said so, or the call
// names a path from a notice.
func (h *heard) reads(p *parts.Part) bool {
	return h.outputs[p.ID].rule == "read" || slices.ContainsFunc(p.Named, func(path uint64) bool { return h.paths[path] })
}

// classify finds out what a piece is. Helps are the calls so far that only einolean needs,
// by the hash of their ID; the results of programs are known as such if the run has any.
func (h *heard) classify(p *piece, helps map[uint64]bool, programs bool) {
	switch p.Kind {
	case parts.Tool:
		p.category, p.help = p.base, p.base == HelpTools
		if p.base == OwnTools && h.loaded[h.hash(p.Tool)] {
			p.category = LoadedTools
		}
	case parts.Call:
		p.category, p.help = Assistant, parts.Searches(p.Tool) || h.reads(p.Part)
		helps[p.ID] = p.help
	case parts.Result:
		if p.Notice.Path != "" {
			h.remember(h.paths, p.Notice.Named)
		}
		p.category = h.category(p, helps[p.ID], programs && p.Tool == toolnames.Run)
		p.help = p.category == Found || p.category == Page
	default:
		p.category = talk(p)
		p.help = p.category == Reminder || p.category == Found
	}
}

// category returns the category of a result; help is true if only einolean needed its
// call, program if a program may have returned it.
func (h *heard) category(p *piece, help, program bool) Category {
	o := h.outputs[p.ID]
	switch {
	case o.rule == "referred", p.Notice.Rule == "cleared":
		return ResultCleared
	case p.Notice.Rule == "cut":
		return ResultCut
	case help && parts.Searches(p.Tool):
		return Found
	case help, o.rule == "read":
		return Page
	case (program || o.read != nil) && p.Label == "":
		return Program
	}
	return Result
}

// talk is the category of what somebody said.
func talk(p *piece) Category {
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
func (h *heard) size() int64 {
	n := int64(noteCost * (len(h.paths) + len(h.loaded)))
	for _, o := range h.outputs {
		n += o.size()
	}
	return n
}

// forget drops what is known.
func (h *heard) forget() {
	clear(h.outputs)
	clear(h.paths)
	clear(h.loaded)
}

func (o output) size() int64 {
	n := int64(outputCost + len(o.path))
	if o.read != nil {
		n += 48
		for _, c := range o.read.calls {
			n += int64(40 + len(c.Tool))
		}
	}
	return n
}
