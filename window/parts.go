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
	OwnTools        Category = "own_tools"      // definitions of the agent's own tools
	HelpTools       Category = "help_tools"     // definitions of search, read and program tools
	LoadedTools     Category = "loaded_tools"   // definitions of hidden tools that were loaded
	System          Category = "system"         // the instruction
	Reminder        Category = "reminder"       // the list of hidden tools
	User            Category = "user"           // user messages
	Assistant       Category = "assistant"      // model output and tool calls
	Found           Category = "found"          // search results
	Result          Category = "result"         // results of tools, whole
	ResultTruncated Category = "result_cut"     // results truncated on return
	ResultCleared   Category = "result_cleared" // results cleared later, or references to equal ones
	Program         Category = "program"        // output of programs
	Page            Category = "page"           // content that was read back
)

// Categories returns all categories in their order. The slice belongs to the caller.
func Categories() []Category {
	return []Category{OwnTools, HelpTools, LoadedTools, System, Reminder, User, Assistant, Found, Result,
		ResultTruncated, ResultCleared, Program, Page}
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
	case now == ResultTruncated:
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
	// Omission is what a result lacks. If nil, the part is no result, or whole. It must not
	// be changed.
	Omission *Omission `json:"left,omitempty"`
}

// Omission is a result that the window holds only in part, or not at all, or the program that
// read results in the model's place.
type Omission struct {
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
	// Calls are those that the program made, by tool. If Unknown is set, no event says what it
	// read, and Before equals After.
	Calls   []einolean.ProgramCalls `json:"calls,omitempty"`
	Unknown bool                    `json:"unknown,omitempty"`
	// Stored says that the whole result is in the store, and Path is its file, as Config.Texts allows.
	Stored bool   `json:"stored,omitempty"`
	Path   string `json:"path,omitempty"`
	// Text is the key of the whole result in [Conversation.Texts], if an earlier
	// window had it. If zero, none had.
	Text int `json:"text,omitempty"`
}

// OmittedTokens counts what results lack in a window.
type OmittedTokens struct {
	// Results counts the results that are not whole, those of programs not included.
	Results int `json:"results,omitempty"`
	// Cut, Cleared, Referred and Program are the tokens that they lack, by [Omission.Rule].
	Cut      int `json:"cut,omitempty"`
	Cleared  int `json:"cleared,omitempty"`
	Referred int `json:"referred,omitempty"`
	Program  int `json:"program,omitempty"`
}

// Total is how many tokens of results are not in the window.
func (l OmittedTokens) Total() int { return l.Cut + l.Cleared + l.Referred + l.Program }

func (l *OmittedTokens) add(one *Omission) {
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

	category     Category
	onlyEinolean bool  // only einolean needs it
	slot         int32 // that holds it
	isKnown      bool  // the conversation has it
	isPrepared   bool  // what follows is redacted

	stored struct{ text, name, id, path string }
}

// release notes the slot that holds the piece, and drops what the slot now holds.
func (p *piece) release(slot int32) {
	p.slot, p.isKnown, p.isPrepared = slot, true, false
	p.stored = struct{ text, name, id, path string }{}
}

// resultOutcome is what happened to a tool call's result, according to events.
type resultOutcome struct {
	rule    string // "cut", "cleared", "referred" or "read"; "" of a program whose output is whole
	bytes   int    // that the tool returned
	path    string // as it may be kept
	stored  bool
	program *programRead
}

// programRead is what the calls of a program returned to it.
type programRead struct {
	tokens int
	calls  []einolean.ProgramCalls // as they may be kept
}

// callSlots are the parts of a call in a book: the ranges of their slots in order, those of the new
// ones, and how many parts from the start are equal to the call before.
type callSlots struct {
	slots, newSlots [][2]int32
	equalParts      int
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
	id            int32
	key           uint64
	lastCall      int            // the newest call that has it
	wholeTokens   int            // the tokens of the whole result
	contents      []*slotContent // its contents, oldest first
	loggedContent *slotContent   // what the log says that it holds
}

// slotContent is a content of a slot.
type slotContent struct {
	Part
	firstCall int // the first call that has it
	hash      uint64
	text      string
}

// Approximate bytes of memory, without strings.
const (
	slotCost = 160
	keptCost = 224
)

func (k *slotContent) size() int64 {
	n := keptCost + len(k.text) + len(k.Label) + len(k.CallID)
	if k.Omission != nil {
		n += 144 + len(k.Omission.Path)
	}
	return int64(n)
}

// matches reports whether a content is that of a piece.
func (k *slotContent) matches(p *piece) bool { return k.hash == p.Hash && k.Category == p.category }

// putAll stores the pieces of a call, and returns the ranges of their slots. Those before settled
// stay as they were in the call before.
func (b *book) putAll(pieces []piece, settled, call int, outcome func(*piece) resultOutcome) [][2]int32 {
	ids := make([]int32, len(pieces))
	for i := range pieces {
		p := &pieces[i]
		if i < settled {
			at, _ := b.indexOf(p.slot)
			b.slots[at].lastCall = call
			ids[i] = p.slot
			continue
		}
		ids[i] = b.addPiece(p, call, outcome(p))
	}
	return ranges(ids)
}

// addPiece stores a piece in its slot.
func (b *book) addPiece(p *piece, call int, o resultOutcome) int32 {
	s := b.find(p.key)
	if s == nil {
		s = b.add(p.key)
	}
	if now := s.contentAt(call); now == nil || !now.matches(p) {
		b.bytes += s.setContent(b.content(p, s, o, call), call)
	}
	s.lastCall = call
	if p.category == Result {
		s.wholeTokens = max(s.wholeTokens, p.Tokens)
	}
	p.release(s.id)
	return s.id
}

// content is a piece as a slot keeps it.
func (b *book) content(p *piece, s *slot, o resultOutcome, call int) *slotContent {
	k := &slotContent{hash: p.Hash, text: p.stored.text, firstCall: call, Part: Part{Category: p.category, Label: p.stored.name, CallID: p.stored.id, Bytes: len(p.Text) + p.Media, Tokens: p.Tokens}}
	if !b.textless {
		b.lastText++
		k.Part.Text = b.lastText
	}
	if p.category == ResultTruncated || p.category == ResultCleared || p.category == Program {
		k.Omission = s.omissionOf(p, o)
	}
	return k
}

// containsPiece reports whether a slot holds exactly this piece in a call.
func (b *book) containsPiece(p *piece, call int) bool {
	s := b.find(p.key)
	if s == nil {
		return false
	}
	now := s.contentAt(call)
	return now != nil && now.matches(p)
}

// omissionOf returns what a result lacks, according to events or else to its notice.
func (s *slot) omissionOf(p *piece, o resultOutcome) *Omission {
	l := &Omission{Rule: o.rule, Tool: p.stored.name, CallID: p.stored.id, After: p.Tokens, Path: o.path, Stored: o.stored}
	bytes := o.bytes
	if o.rule == "" || o.rule == "read" {
		l.Rule, l.Path, l.Stored, bytes = "cleared", p.stored.path, p.Notice.Path != "", p.Notice.Bytes
		if p.category == ResultTruncated {
			l.Rule = "cut"
		}
	}
	l.Bytes = bytes
	switch {
	case p.category == Program:
		l.Rule, l.Path, l.Stored, l.Bytes = "program", "", false, 0
	case s.wholeTokens > 0:
		l.Before = s.wholeTokens
	default:
		l.Before = s.tokensOf(bytes, p)
	}
	if o.program != nil {
		l.Before, l.Calls = max(l.Before, o.program.tokens), o.program.calls
	} else {
		l.Unknown = p.category == Program
	}
	l.Before = max(l.Before, l.After)
	for _, old := range slices.Backward(s.contents) {
		if old.Category == Result || old.Category == ResultTruncated && l.Text == 0 {
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
	for _, k := range s.contents {
		if k.Category == ResultTruncated {
			return bytes * k.Tokens / max(1, k.Bytes)
		}
	}
	if p.category == ResultTruncated {
		return bytes * p.Tokens / max(1, len(p.Text))
	}
	return bytes / aToken
}

// indexOf returns the index of a slot, and whether it exists.
func (b *book) indexOf(id int32) (int, bool) {
	if i := int(id) - 1; i < len(b.slots) && i >= 0 && b.slots[i].id == id { // none before it is gone
		return i, true
	}
	return slices.BinarySearchFunc(b.slots, id, func(s slot, id int32) int { return int(s.id) - int(id) })
}

// find returns the slot that a key identifies, nil if there is none. It is valid until
// slots are added or removed.
func (b *book) find(key uint64) *slot {
	id, ok := b.byKey[key]
	if !ok {
		return nil
	}
	i, _ := b.indexOf(id)
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

// eachSlot passes on every slot in the ranges that is there, in order, with its place among
// all of them.
func (b *book) eachSlot(ranges [][2]int32, use func(place int, s *slot)) {
	before := 0
	for _, r := range ranges {
		i, _ := b.indexOf(r[0])
		for ; i < len(b.slots) && b.slots[i].id <= r[1]; i++ {
			use(before+int(b.slots[i].id-r[0]), &b.slots[i])
		}
		before += int(r[1]) - int(r[0]) + 1
	}
}

// contentAt returns the content of a slot in a call, or nil.
func (s *slot) contentAt(call int) *slotContent {
	for _, k := range slices.Backward(s.contents) {
		if k.firstCall <= call {
			return k
		}
	}
	return nil
}

// setContent makes k the content of a slot in a call, and in no earlier and no later one that is
// known, and returns how many bytes more are kept.
func (s *slot) setContent(k *slotContent, call int) (grown int64) {
	now := s.contentAt(call)
	if now != nil && now.hash == k.hash && now.Category == k.Category {
		return 0
	}
	var all []*slotContent
	add := func(k *slotContent, from int) {
		if k.firstCall != from {
			next := *k
			next.firstCall, k = from, &next
		}
		all = append(all, k)
		grown += k.size()
	}
	put := false
	for _, old := range s.contents {
		if old.firstCall > call && !put {
			put = true
			add(k, call)
			if now != nil && old.firstCall > call+1 {
				add(now, call+1)
			}
		}
		if old.firstCall != call {
			all = append(all, old)
			continue
		}
		grown -= old.size()
	}
	if !put {
		add(k, call)
		if now != nil && s.lastCall > call {
			add(now, call+1)
		}
	}
	s.contents = all
	return grown
}

// drop forgets what only a call needs whose successor with parts is next.
func (b *book) drop(of callSlots, call, next int) {
	dead := false
	b.eachSlot(of.slots, func(_ int, s *slot) {
		old := 0
		for old+1 < len(s.contents) && s.contents[old+1].firstCall <= next {
			b.bytes -= s.contents[old].size()
			old++
		}
		if old > 0 { // a part of the slice would hold on to the rest
			s.contents = slices.Clone(s.contents[old:])
		}
		if s.lastCall > call {
			return
		}
		dead = true
		for _, k := range s.contents {
			b.bytes -= k.size()
		}
		b.bytes -= slotCost
		delete(b.byKey, s.key)
		s.contents = nil
	})
	if dead {
		b.slots = slices.DeleteFunc(b.slots, func(s slot) bool { return s.contents == nil })
	}
}

// parts returns the parts of a call: all of them, or only those that are new.
func (b *book) parts(of callSlots, call int, all bool) (parts []Part) {
	if b == nil {
		return nil
	}
	isNew := func(id int32) bool {
		return slices.ContainsFunc(of.newSlots, func(r [2]int32) bool { return r[0] <= id && id <= r[1] })
	}
	ranges := of.newSlots
	if all {
		ranges = of.slots
	}
	b.eachSlot(ranges, func(place int, s *slot) {
		k := s.contentAt(call)
		if k == nil {
			return
		}
		p := k.Part
		switch {
		case all && place < of.equalParts:
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
func (b *book) pick(of callSlots) *book {
	some := &book{}
	b.eachSlot(of.slots, func(_ int, s *slot) { some.slots = append(some.slots, *s) })
	slices.SortFunc(some.slots, func(a, b slot) int { return int(a.id) - int(b.id) })
	return some
}

// setLogged sets the content of a slot that was read from a log, for all later calls.
func (b *book) setLogged(id int32, k *slotContent) {
	i, ok := b.indexOf(id)
	if !ok {
		b.slots = slices.Insert(b.slots, i, slot{id: id})
	}
	b.slots[i].loggedContent = k
}

// readSlots returns the places of a call by what the log says, as far as the lines of its slots were not
// lost.
func (b *book) readSlots(call int, slots [][2]int32, same int, fresh [][2]int32) (of callSlots) {
	var all, added []int32
	b.eachSlot(slots, func(place int, s *slot) {
		if place < same {
			of.equalParts++
		}
		k := *s.loggedContent
		k.firstCall = call
		s.setContent(&k, call)
		s.lastCall = max(s.lastCall, call)
		all = append(all, s.id)
	})
	b.eachSlot(fresh, func(_ int, s *slot) { added = append(added, s.id) })
	of.slots, of.newSlots = ranges(all), ranges(added)
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
		for _, k := range b.slots[i].contents {
			if k.Part.Text != 0 {
				all[k.Part.Text] = k.text
			}
		}
	}
	return all
}

// eachOmission calls use with the latest missing part of each result.
func (b *book) eachOmission(use func(*Omission)) {
	for i := range b.slots {
		for _, k := range slices.Backward(b.slots[i].contents) {
			if k.Omission != nil {
				use(k.Omission)
				break
			}
		}
	}
}

// omittedTokens counts what the results of a call lack.
func (b *book) omittedTokens(of callSlots, call int) (out OmittedTokens) {
	b.eachSlot(of.slots, func(_ int, s *slot) {
		if k := s.contentAt(call); k.Omission != nil {
			out.add(k.Omission)
		}
	})
	return out
}
