// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"slices"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/window/internal/parts"
)

// Category says what a part is.
type Category string

// The categories, in the order in which views show them.
const (
	OwnTools      Category = "own_tools"      // definitions of the agent's own tools
	HelpTools     Category = "help_tools"     // of the tools that search, read back and run programs
	LoadedTools   Category = "loaded_tools"   // of hidden tools that were loaded
	System        Category = "system"         // the instruction
	Reminder      Category = "reminder"       // the list of hidden tools
	User          Category = "user"           // what the user said
	Assistant     Category = "assistant"      // what the model said and called
	Found         Category = "found"          // answers of a search
	Result        Category = "result"         // results of tools, whole
	ResultCut     Category = "result_cut"     // cut when they returned
	ResultCleared Category = "result_cleared" // cleared later, or a reference to an equal one
	Program       Category = "program"        // what a program of the model printed
	Page          Category = "page"           // content that was read back
)

// Categories returns all categories in their order. The slice belongs to the caller.
func Categories() []Category {
	return []Category{OwnTools, HelpTools, LoadedTools, System, Reminder, User, Assistant, Found, Result, ResultCut, ResultCleared, Program, Page}
}

// cause names what ended an equal prefix, by the category there now and then.
func cause(now, then Category) string {
	switch {
	case now == LoadedTools:
		return "tools_loaded"
	case then == OwnTools || then == HelpTools || then == LoadedTools:
		return "tools_unloaded"
	case now == Reminder || then == Reminder:
		return "reminder"
	case now == ResultCleared:
		return "result_cleared"
	case now == ResultCut:
		return "result_cut"
	}
	return "other"
}

// Part is one piece of a request.
type Part struct {
	// Category says what it is.
	Category Category `json:"category"`
	// Label is the tool's name, or what kind of content it is.
	Label string `json:"label,omitempty"`
	// CallID is set for calls and results.
	CallID string `json:"call_id,omitempty"`
	// Bytes is its size, and Tokens an estimate.
	Bytes  int `json:"bytes"`
	Tokens int `json:"tokens"`
	// Text is the key of its text in [Conversation.Texts]. If zero, no text is kept.
	Text int `json:"text,omitempty"`
	// State compares it with the call before: "same" if everything from the start up to it
	// is equal, "new" if that call did not have it, and "moved" if it did, but something
	// before it has changed.
	State string `json:"-"`
	// Left is what a result lacks. If nil, the part is no result, or whole. It must not
	// be changed.
	Left *Left `json:"left,omitempty"`
}

// Left is a result that the window holds only in part, or not at all, or the program that
// read results in the model's place.
type Left struct {
	// Rule is "cut", "cleared", "referred", or "program": a program of the model read it.
	Rule string `json:"rule"`
	// Tool and CallID are the call whose result it is.
	Tool   string `json:"tool,omitempty"`
	CallID string `json:"call_id,omitempty"`
	// Before is how many tokens the tool returned, of a program all that its calls returned,
	// and After how many are in the window.
	Before int `json:"before"`
	After  int `json:"after"`
	// Bytes is the size of the whole result. If zero, it is not known.
	Bytes int `json:"bytes,omitempty"`
	// Calls are those that the program made, by tool, and Unknown says that nobody told what
	// it read: Before then is After.
	Calls   []einolean.ProgramCalls `json:"calls,omitempty"`
	Unknown bool                    `json:"unknown,omitempty"`
	// Stored says that the whole result is stored, and Path where, as Config.Texts allows.
	Stored bool   `json:"stored,omitempty"`
	Path   string `json:"path,omitempty"`
	// Text is the key of the whole result in [Conversation.Texts], if an earlier
	// window had it. If zero, none had.
	Text int `json:"text,omitempty"`
}

// LeftOut counts what results lack in a window.
type LeftOut struct {
	// Results counts the results that are not whole, those of programs not included.
	Results int `json:"results,omitempty"`
	// Cut, Cleared, Referred and Program are the tokens that they lack, by [Left.Rule].
	Cut      int `json:"cut,omitempty"`
	Cleared  int `json:"cleared,omitempty"`
	Referred int `json:"referred,omitempty"`
	Program  int `json:"program,omitempty"`
}

// Tokens is how many tokens of results are not in the window.
func (l LeftOut) Tokens() int { return l.Cut + l.Cleared + l.Referred + l.Program }

func (l *LeftOut) add(one *Left) {
	missing := one.Before - one.After
	if one.Rule == "program" {
		l.Program += missing
		return
	}
	l.Results++
	switch one.Rule {
	case "cut":
		l.Cut += missing
	case "referred":
		l.Referred += missing
	default:
		l.Cleared += missing
	}
}

// piece is one part of a request: what it says, and what becomes of it.
type piece struct {
	*parts.Part
	key  uint64   // that of what it says, unless another part of the request has it
	base Category // of a definition, as the run knows it

	category Category
	help     bool  // only einolean needs it
	slot     int32 // that holds it
	known    bool  // the conversation has it
	done     bool  // what follows has passed the door

	kept struct{ text, name, id, path string }
}

// held notes the slot that holds the piece. What was to be kept of it is the slot's now.
func (p *piece) held(slot int32) {
	p.slot, p.known, p.done = slot, true, false
	p.kept = struct{ text, name, id, path string }{}
}

// output is the outcome of a tool call's result, according to events.
type output struct {
	rule   string // "cut", "cleared", "referred" or "read"; "" of a program whose output is whole
	bytes  int    // that the tool returned
	path   string // as it may be kept
	stored bool
	read   *programRead
}

// programRead is what the calls of a program returned to it.
type programRead struct {
	tokens int
	calls  []einolean.ProgramCalls // as they may be kept
}

// places are where a book has the parts of a call: the ranges of their slots in their order, those of
// the new ones, and how many parts are equal to the call before from the start on.
type places struct {
	slots, fresh [][2]int32
	same         int
}

// book holds the parts of requests. A part has a slot: a result keeps its slot when it is
// cut or cleared, and only the slot's content changes. Requests that grow therefore are
// few ranges of slots, however long they are.
type book struct {
	slots    []slot           // by their IDs
	byKey    map[uint64]int32 // the IDs of slots by what identifies a part
	lastSlot int32
	lastText int
	bytes    int64 // approximate
	textless bool  // texts are not kept
}

// slot is the place of one part. Snapshots share its contents, which never change.
type slot struct {
	id     int32
	key    uint64
	last   int     // the newest call that has it
	whole  int     // the tokens of the whole result
	kept   []*kept // its contents, oldest first
	logged *kept   // what the log says that it holds
}

// kept is a content of a slot.
type kept struct {
	Part
	from int // the first call that has it
	hash uint64
	text string
}

// Approximate bytes of memory, without strings.
const (
	slotCost = 160
	keptCost = 224
)

func (k *kept) size() int64 {
	n := keptCost + len(k.text) + len(k.Label) + len(k.CallID)
	if k.Left != nil {
		n += 144 + len(k.Left.Path)
	}
	return int64(n)
}

// is reports whether a content is that of a piece.
func (k *kept) is(p *piece) bool { return k.hash == p.Hash && k.Category == p.category }

// hold keeps the pieces of a call, and returns the ranges of their slots. Those before settled stay
// as they were in the call before.
func (b *book) hold(pieces []piece, settled, call int, outcome func(*piece) output) [][2]int32 {
	ids := make([]int32, len(pieces))
	for i := range pieces {
		p := &pieces[i]
		if i < settled {
			at, _ := b.at(p.slot)
			b.slots[at].last = call
			ids[i] = p.slot
			continue
		}
		ids[i] = b.put(p, call, outcome(p))
	}
	return ranges(ids)
}

// put keeps a piece in its slot.
func (b *book) put(p *piece, call int, o output) int32 {
	s := b.find(p.key)
	if s == nil {
		s = b.add(p.key)
	}
	if now := s.in(call); now == nil || !now.is(p) {
		b.bytes += s.set(b.content(p, s, o, call), call)
	}
	s.last = call
	if p.category == Result {
		s.whole = max(s.whole, p.Tokens)
	}
	p.held(s.id)
	return s.id
}

// content is a piece as a slot keeps it.
func (b *book) content(p *piece, s *slot, o output, call int) *kept {
	k := &kept{hash: p.Hash, text: p.kept.text, from: call, Part: Part{Category: p.category, Label: p.kept.name, CallID: p.kept.id, Bytes: len(p.Text) + p.Media, Tokens: p.Tokens}}
	if !b.textless {
		b.lastText++
		k.Part.Text = b.lastText
	}
	if p.category == ResultCut || p.category == ResultCleared || p.category == Program {
		k.Left = s.left(p, o)
	}
	return k
}

// has reports whether a slot holds just this piece in a call.
func (b *book) has(p *piece, call int) bool {
	s := b.find(p.key)
	if s == nil {
		return false
	}
	now := s.in(call)
	return now != nil && now.is(p)
}

// left is what a result lacks, by its outcome according to events or else by its notice.
func (s *slot) left(p *piece, o output) *Left {
	l := &Left{Rule: o.rule, Tool: p.kept.name, CallID: p.kept.id, After: p.Tokens, Path: o.path, Stored: o.stored}
	bytes := o.bytes
	if o.rule == "" || o.rule == "read" {
		l.Rule, l.Path, l.Stored, bytes = "cleared", p.kept.path, p.Notice.Path != "", p.Notice.Bytes
		if p.category == ResultCut {
			l.Rule = "cut"
		}
	}
	l.Bytes = bytes
	switch {
	case p.category == Program:
		l.Rule, l.Path, l.Stored, l.Bytes = "program", "", false, 0
	case s.whole > 0:
		l.Before = s.whole
	default:
		l.Before = s.tokensOf(bytes, p)
	}
	if o.read != nil {
		l.Before, l.Calls = max(l.Before, o.read.tokens), o.read.calls
	} else {
		l.Unknown = p.category == Program
	}
	l.Before = max(l.Before, l.After)
	for _, old := range slices.Backward(s.kept) {
		if old.Category == Result || old.Category == ResultCut && l.Text == 0 {
			l.Text = old.Part.Text
		}
		if old.Category == Result {
			l.Bytes = old.Bytes
			break
		}
	}
	return l
}

// tokensOf is about how many tokens a result of some bytes has that no window had: as many
// for a byte as what is left of it.
func (s *slot) tokensOf(bytes int, p *piece) int {
	const aToken = 4 // bytes of most texts
	for _, k := range s.kept {
		if k.Category == ResultCut {
			return bytes * k.Tokens / max(1, k.Bytes)
		}
	}
	if p.category == ResultCut {
		return bytes * p.Tokens / max(1, len(p.Text))
	}
	return bytes / aToken
}

// at returns the index of a slot, and whether it is there.
func (b *book) at(id int32) (int, bool) {
	if i := int(id) - 1; i < len(b.slots) && i >= 0 && b.slots[i].id == id { // none before it is gone
		return i, true
	}
	return slices.BinarySearchFunc(b.slots, id, func(s slot, id int32) int { return int(s.id) - int(id) })
}

// find returns the slot that a key identifies, nil if there is none. It is valid until
// slots are added or removed.
func (b *book) find(key uint64) *slot {
	id, known := b.byKey[key]
	if !known {
		return nil
	}
	i, _ := b.at(id)
	return &b.slots[i]
}

// add adds a slot.
func (b *book) add(key uint64) *slot {
	if b.byKey == nil {
		b.byKey = map[uint64]int32{}
	}
	b.lastSlot++
	b.byKey[key] = b.lastSlot
	b.slots = append(b.slots, slot{id: b.lastSlot, key: key})
	b.bytes += slotCost
	return &b.slots[len(b.slots)-1]
}

// each passes on every slot in the ranges that is there, in order, with its place among
// all of them.
func (b *book) each(ranges [][2]int32, use func(place int, s *slot)) {
	before := 0
	for _, r := range ranges {
		i, _ := b.at(r[0])
		for ; i < len(b.slots) && b.slots[i].id <= r[1]; i++ {
			use(before+int(b.slots[i].id-r[0]), &b.slots[i])
		}
		before += int(r[1]) - int(r[0]) + 1
	}
}

// in returns the content that a slot has in a call, nil if it has none.
func (s *slot) in(call int) *kept {
	for _, k := range slices.Backward(s.kept) {
		if k.from <= call {
			return k
		}
	}
	return nil
}

// set makes k the content of a slot in a call, and in no earlier and no later one that is
// known, and returns how many bytes more are kept.
func (s *slot) set(k *kept, call int) (grown int64) {
	now := s.in(call)
	if now != nil && now.hash == k.hash && now.Category == k.Category {
		return 0
	}
	var all []*kept
	add := func(k *kept, from int) {
		if k.from != from {
			next := *k
			next.from, k = from, &next
		}
		all = append(all, k)
		grown += k.size()
	}
	put := false
	for _, old := range s.kept {
		if old.from > call && !put {
			put = true
			add(k, call)
			if now != nil && old.from > call+1 {
				add(now, call+1)
			}
		}
		if old.from != call {
			all = append(all, old)
			continue
		}
		grown -= old.size()
	}
	if !put {
		add(k, call)
		if now != nil && s.last > call {
			add(now, call+1)
		}
	}
	s.kept = all
	return grown
}

// drop forgets what only a call needs whose successor with parts is next.
func (b *book) drop(of places, call, next int) {
	dead := false
	b.each(of.slots, func(_ int, s *slot) {
		old := 0
		for old+1 < len(s.kept) && s.kept[old+1].from <= next {
			b.bytes -= s.kept[old].size()
			old++
		}
		if old > 0 { // a part of the slice would hold on to the rest
			s.kept = slices.Clone(s.kept[old:])
		}
		if s.last > call {
			return
		}
		dead = true
		for _, k := range s.kept {
			b.bytes -= k.size()
		}
		b.bytes -= slotCost
		delete(b.byKey, s.key)
		s.kept = nil
	})
	if dead {
		b.slots = slices.DeleteFunc(b.slots, func(s slot) bool { return s.kept == nil })
	}
}

// parts returns the parts of a call: all of them, or only those that are new.
func (b *book) parts(of places, call int, all bool) (parts []Part) {
	if b == nil {
		return nil
	}
	isNew := func(id int32) bool {
		return slices.ContainsFunc(of.fresh, func(r [2]int32) bool { return r[0] <= id && id <= r[1] })
	}
	ranges := of.fresh
	if all {
		ranges = of.slots
	}
	b.each(ranges, func(place int, s *slot) {
		k := s.in(call)
		if k == nil {
			return
		}
		p := k.Part
		switch {
		case all && place < of.same:
			p.State = "same"
		case !all || isNew(s.id):
			p.State = "new"
		default:
			p.State = "moved"
		}
		parts = append(parts, p)
	})
	return parts
}

// pick returns a book that holds only what a call needs.
func (b *book) pick(of places) *book {
	some := &book{}
	b.each(of.slots, func(_ int, s *slot) { some.slots = append(some.slots, *s) })
	slices.SortFunc(some.slots, func(a, b slot) int { return int(a.id) - int(b.id) })
	return some
}

// hear notes what the log says of a slot: the calls that it has from now on see that.
func (b *book) hear(id int32, k *kept) {
	i, known := b.at(id)
	if !known {
		b.slots = slices.Insert(b.slots, i, slot{id: id})
	}
	b.slots[i].logged = k
}

// read returns the places of a call by what the log says, as far as the lines of its slots were not
// lost.
func (b *book) read(call int, slots [][2]int32, same int, fresh [][2]int32) (of places) {
	var all, added []int32
	b.each(slots, func(place int, s *slot) {
		if place < same {
			of.same++
		}
		k := *s.logged
		k.from = call
		s.set(&k, call)
		s.last = max(s.last, call)
		all = append(all, s.id)
	})
	b.each(fresh, func(_ int, s *slot) { added = append(added, s.id) })
	of.slots, of.fresh = ranges(all), ranges(added)
	return of
}

// ranges returns numbers as ranges, in their order.
func ranges(ids []int32) (all [][2]int32) {
	for _, id := range ids {
		if last := len(all) - 1; last >= 0 && all[last][1] == id-1 {
			all[last][1] = id
			continue
		}
		all = append(all, [2]int32{id, id})
	}
	return slices.Clip(all)
}

// texts returns the texts by their IDs.
func (b *book) texts() map[int]string {
	all := make(map[int]string, len(b.slots))
	for i := range b.slots {
		for _, k := range b.slots[i].kept {
			if k.Part.Text != 0 {
				all[k.Part.Text] = k.text
			}
		}
	}
	return all
}

// lacks passes on what results lack, each as it was last.
func (b *book) lacks(use func(*Left)) {
	for i := range b.slots {
		for _, k := range slices.Backward(b.slots[i].kept) {
			if k.Left != nil {
				use(k.Left)
				break
			}
		}
	}
}

// leftOut counts what the results of a call lack.
func (b *book) leftOut(of places, call int) (out LeftOut) {
	b.each(of.slots, func(_ int, s *slot) {
		if k := s.in(call); k.Left != nil {
			out.add(k.Left)
		}
	})
	return out
}
