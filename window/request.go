// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"

	"github.com/einolean/einolean/internal/continuation"
	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/window/internal/parts"
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

	made made
}

// made says who has made what of a request.
type made struct {
	by      string // the key of the conversation
	call    int    // its number
	version int    // of what the conversation knew
}

// agent is what is known of an agent when a run starts.
type agent struct {
	hidden   map[string]int // tokens of the definitions of hidden tools, by name; never changed
	programs bool           // it has package programs
}

// parse reads the request of an agent after q. It needs nothing that the collector's mutex guards.
func parse[M adk.MessageType](c *Config, of agent, q *request, in []M, o *model.Options) *request {
	if q == nil {
		q = &request{places: map[uint64]uint64{}}
	}
	q.same, q.past, q.shown, q.asked, q.question, q.done = 0, nil, map[string]bool{}, "", "", false
	q.kept = continuation.AnyStored(in)
	next := nextOf{c: c, q: q, old: q.pieces}
	next.tools(of, o)
	one := new(parts.Part)
	for _, m := range in {
		parts.Each(m, one, next.say)
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
func (n *nextOf) tools(of agent, o *model.Options) {
	for _, t := range append(append(slices.Clip(o.Tools), o.DeferredTools...), o.ToolSearchTool) {
		if t == nil {
			continue
		}
		n.q.shown[t.Name] = true
		base := OwnTools
		_, hidden := of.hidden[t.Name]
		switch {
		case toolnames.IsSearchTool(t.Name), readtool.IsReadTool(t), of.programs && t.Name == toolnames.Run:
			base = HelpTools
		case hidden:
			base = LoadedTools
		}
		n.read(&parts.Part{Kind: parts.Tool, Tool: t.Name, Info: *t}, base)
	}
}

// say reads a part of a message.
func (n *nextOf) say(p *parts.Part) {
	switch p.Kind {
	case parts.Result:
		if p.Tool == "" {
			p.Tool = n.nameOf(p.CallID)
		}
	case parts.User:
		if !parts.IsReminder(p.Text) && !parts.IsOffer(p.Text) && p.Text != "" {
			n.q.asked = p.Text
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
		if p := all[n.named]; p.Kind == parts.Call {
			n.names[p.CallID] = p.Tool
		}
	}
	return n.names[callID]
}

// read adds a part, that of the request before if it is still there.
func (n *nextOf) read(p *parts.Part, base Category) {
	q := n.q
	if !n.apart && q.same < len(n.old) && n.old[q.same].Equals(p) && n.old[q.same].base == base {
		q.same++
		return
	}
	n.part()
	const near = 8 // parts that may have gone
	for i := range q.past[:min(near, len(q.past))] {
		if old := q.past[i].Part; old.Equals(p) {
			q.past = q.past[i+1:]
			n.add(old, base)
			return
		}
	}
	made := *p
	made.Look(n.c.seed)
	n.add(&made, base)
}

func (n *nextOf) add(p *parts.Part, base Category) {
	occurred := n.q.places[p.Key]
	n.q.places[p.Key]++
	n.q.pieces = append(n.q.pieces, piece{Part: p, base: base, key: p.Key ^ occurred*0x9E3779B97F4A7C15})
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
		key := q.past[i].Part.Key
		if q.places[key]--; q.places[key] == 0 {
			delete(q.places, key)
		}
	}
}

func (n *nextOf) end() {
	n.part()
	n.q.past = nil
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
			c.keepPiece(p, name)
		}
	}
}

// sums adds up the tokens of the request: by category, all of them, and those that only einolean
// needs.
func (q *request) sums() (by map[Category]int, all, help int) {
	by = make(map[Category]int, 8)
	var now Category
	sum := 0
	for i := range q.pieces {
		p := &q.pieces[i]
		if p.category != now {
			by[now] += sum
			now, sum = p.category, 0
		}
		sum += p.Tokens
		all += p.Tokens
		if p.help {
			help += p.Tokens
		}
	}
	by[now] += sum
	delete(by, "")
	return by, all, help
}

// hidden counts the hidden tools that the request does not show.
func (q *request) hidden(heard Hidden, hide map[string]int) (h Hidden) {
	if hide == nil { // they are known only from events
		h = heard
		for i := range q.pieces {
			if p := &q.pieces[i]; p.category == LoadedTools {
				h.Tools, h.Tokens = max(0, h.Tools-1), max(0, h.Tokens-p.Tokens)
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
