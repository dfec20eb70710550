// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"

	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/internal/session"
	"github.com/einolean/einolean/internal/toolnames"
)

// request is a request in pieces. The next one of the same run goes on from it: what stands in
// both at the start is neither read nor classified again, so a conversation is read once, however
// many calls it takes.
type request struct {
	pieces   []piece           // in the order of the wire
	same     int               // so many from the start on are those of the request before
	past     []piece           // of the request before, from the first that differs
	places   map[uint64]uint64 // how often a key has occurred
	shown    map[string]bool   // names of the tools in it
	asked    string            // the user's latest message
	question string            // the same, as it may be kept
	kept     bool              // on the provider's server
	done     bool              // question has passed the door

	// What the conversation made of it.
	made struct {
		by      *conversation
		call    int // its number
		version int // of what the conversation knew
	}
}

// parse reads the next request of a run. It needs nothing that the collector's mutex guards.
func parse[M adk.MessageType](c *Config, r *run, in []M, o *model.Options) *request {
	q := r.past.Swap(nil) // two requests at once do not share it
	if q == nil {
		q = &request{places: map[uint64]uint64{}}
	}
	q.same, q.past, q.shown, q.asked, q.question, q.done = 0, nil, map[string]bool{}, "", "", false
	q.kept = session.AnyStored(in)
	next := nextOf{c: c, q: q, old: q.pieces}
	next.tools(r, o)
	one := new(said)
	for _, m := range in {
		parts(m, one, next.say)
	}
	next.end()
	return q
}

// nextOf reads a request into the one before. They have their pieces in common, up to the first
// that differs.
type nextOf struct {
	c     *Config
	q     *request
	old   []piece
	apart bool              // a piece differed
	names map[string]string // of the calls up to named, since results may lack names
	named int
}

// tools reads the definitions of tools.
func (n *nextOf) tools(r *run, o *model.Options) {
	for _, t := range append(append(slices.Clip(o.Tools), o.DeferredTools...), o.ToolSearchTool) {
		if t == nil {
			continue
		}
		n.q.shown[t.Name] = true
		base := OwnTools
		_, hidden := r.hidden[t.Name]
		switch {
		case searches(t.Name), t.Name == toolnames.Call, readtool.Made(t), r.programs && t.Name == toolnames.Run:
			base = HelpTools
		case hidden:
			base = LoadedTools
		}
		n.read(&said{kind: toolPiece, tool: t.Name, info: *t}, base)
	}
}

// say reads a part of a message.
func (n *nextOf) say(p *said) {
	switch p.kind {
	case resultPiece:
		if p.tool == "" {
			p.tool = n.nameOf(p.callID)
		}
	case userPiece:
		if !isReminder(p.text) && !isOffer(p.text) && p.text != "" {
			n.q.asked = p.text
		}
	}
	n.read(p, "")
}

// nameOf is the tool of a call so far.
func (n *nextOf) nameOf(callID string) string {
	q := n.q
	all := q.pieces
	if !n.apart {
		all = n.old[:q.same]
	}
	if n.names == nil {
		n.names = map[string]string{}
	}
	for ; n.named < len(all); n.named++ {
		if p := all[n.named]; p.kind == callPiece {
			n.names[p.callID] = p.tool
		}
	}
	return n.names[callID]
}

// read adds a part, that of the request before if it is still there.
func (n *nextOf) read(p *said, base Category) {
	q := n.q
	if !n.apart && q.same < len(n.old) && n.old[q.same].equals(p) && n.old[q.same].base == base {
		q.same++
		return
	}
	n.part()
	const near = 8 // parts that may have gone
	for i := range q.past[:min(near, len(q.past))] {
		if old := q.past[i].said; old.equals(p) {
			q.past = q.past[i+1:]
			n.add(old, base)
			return
		}
	}
	made := *p
	made.look(n.c)
	n.add(&made, base)
}

func (n *nextOf) add(p *said, base Category) {
	occurred := n.q.places[p.key]
	n.q.places[p.key]++
	n.q.pieces = append(n.q.pieces, piece{said: p, base: base, key: p.key ^ occurred*0x9E3779B97F4A7C15})
}

// part notes that the requests differ from here on.
func (n *nextOf) part() {
	if n.apart {
		return
	}
	q := n.q
	n.apart = true
	q.past, q.pieces = slices.Clone(n.old[q.same:]), n.old[:q.same]
	for i := range q.past {
		key := q.past[i].said.key
		if q.places[key]--; q.places[key] == 0 {
			delete(q.places, key)
		}
	}
}

func (n *nextOf) end() {
	n.part()
	n.q.past = nil
}

// settled is how many pieces from the start on are still what the conversation made of them in
// its last call.
func (q *request) settled(v *conversation, lastCall int) int {
	if q.made.by != v || q.made.call != lastCall || q.made.version != v.version {
		return 0
	}
	return q.same
}

// ready finds out the category of each piece, and reports whether everything that is new
// in the conversation has passed the door. The collector's mutex is held.
func (q *request) ready(r *run) bool {
	v := r.conv
	ready := q.done || q.asked == "" || v.asked(r.n)
	from := q.settled(v, v.lastCall)
	helps := map[uint64]bool{} // calls that only einolean needs, by the hash of their ID
	for i := range q.pieces[:from] {
		if p := &q.pieces[i]; p.kind == callPiece {
			helps[p.id] = p.help
		}
	}
	for i := from; i < len(q.pieces); i++ {
		p := &q.pieces[i]
		v.classify(p, helps, r.programs)
		s := v.book.find(p.key)
		p.known = false
		if s != nil {
			now := s.in(v.lastCall)
			p.known = now != nil && now.hash == p.hash && now.Category == p.category
		}
		ready = ready && (p.known || p.done)
	}
	return ready
}

// talk is the category of what somebody said.
func talk(p *piece) Category {
	switch {
	case p.kind == systemPiece:
		return System
	case p.kind == assistantPiece:
		return Assistant
	case isReminder(p.text):
		return Reminder
	case isOffer(p.text):
		return Found
	}
	return User
}

// keep lets what is new pass the door.
func (q *request) keep(c *Config) {
	names := map[string]string{}
	name := func(s string) string {
		kept, known := names[s]
		if !known {
			kept = c.keepName(s)
			names[s] = kept
		}
		return kept
	}
	if !q.done {
		q.question, q.done = c.keep(q.asked, questionBytes), true
	}
	for i := range q.pieces {
		if p := &q.pieces[i]; !p.known && !p.done {
			p.keep(c, name)
		}
	}
}

// hidden counts the hidden tools that the request does not show.
func (q *request) hidden(v *conversation, hide map[string]int) (h Hidden) {
	if hide == nil { // they are known only from events
		h = v.hidden
		for i := range q.pieces {
			if p := &q.pieces[i]; p.category == LoadedTools {
				h.Tools, h.Tokens = max(0, h.Tools-1), max(0, h.Tokens-p.tokens)
			}
		}
		return h
	}
	for name, tokens := range hide {
		if !q.shown[name] {
			h.Tools++
			h.Tokens += tokens
		}
	}
	return h
}
