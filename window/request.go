// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"cmp"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"

	"github.com/einolean/einolean/internal/continuation"
	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/window/internal/parts"
)

// request is a request in pieces. The next one of the same run reuses it: the equal pieces at the
// start are neither read nor classified again. So a conversation is read once, however many calls
// it takes.
type request struct {
	pieces        []piece           // in the order of the wire
	equal         int               // so many from the start on are those of the request before
	previous      []piece           // of the request before, from the first that differs
	places        map[uint64]uint64 // how often a key has occurred
	toolNames     map[string]bool   // names of the tools in it
	userText      string            // the user's latest message
	question      string            // the same, as it may be kept
	isStored      bool              // on the provider's server
	questionReady bool              // question is redacted

	recording recordingID
}

// recordingID identifies the recording of a request: the conversation, its call, and the version of
// its notes.
type recordingID struct {
	conversation string // the key of the conversation
	call         int    // its number
	version      int    // of what the conversation knew
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
	q.equal, q.previous, q.toolNames, q.userText, q.question, q.questionReady = 0, nil, map[string]bool{}, "", "", false
	q.isStored = continuation.AnyStored(in)
	next := requestReader{c: c, q: q, oldPieces: q.pieces}
	next.tools(of, o)
	one := new(parts.Part)
	for _, m := range in {
		parts.EachPart(m, one, next.addPart)
	}
	next.finish()
	return q
}

// requestReader reads a request into the previous one. Both share their pieces up to the first
// difference.
type requestReader struct {
	c           *Config
	q           *request
	oldPieces   []piece
	differs     bool              // a piece differed
	names       map[string]string // of the calls up to named, since results may lack names
	namedPieces int
}

// tools adds the definitions of tools.
func (n *requestReader) tools(of agent, o *model.Options) {
	for _, t := range append(append(slices.Clip(o.Tools), o.DeferredTools...), o.ToolSearchTool) {
		if t == nil {
			continue
		}
		n.q.toolNames[t.Name] = true
		base := OwnTools
		_, hidden := of.hidden[t.Name]
		switch {
		case toolnames.IsSearchTool(t.Name), readtool.IsReadTool(t), of.programs && t.Name == toolnames.Run:
			base = HelpTools
		case hidden:
			base = LoadedTools
		}
		n.addOrReuse(&parts.Part{Kind: parts.Tool, Tool: t.Name, Info: *t}, base)
	}
}

// addPart adds a part of a message.
func (n *requestReader) addPart(p *parts.Part) {
	switch p.Kind {
	case parts.Result:
		if p.Tool == "" || p.Tool == toolnames.Call && p.CallID != "" {
			p.Tool = cmp.Or(n.nameOf(p.CallID), p.Tool)
		}
	case parts.User:
		if !parts.IsReminder(p.Text) && !parts.IsOffer(p.Text) && p.Text != "" {
			n.q.userText = p.Text
		}
	}
	n.addOrReuse(p, "")
}

// nameOf returns the tool of an earlier call.
func (n *requestReader) nameOf(callID string) string {
	q := n.q
	all := q.pieces
	if !n.differs {
		all = n.oldPieces[:q.equal]
	}
	if n.names == nil {
		n.names = map[string]string{}
	}
	for ; n.namedPieces < len(all); n.namedPieces++ {
		if p := all[n.namedPieces]; p.Kind == parts.Call {
			n.names[p.CallID] = p.Tool
		}
	}
	return n.names[callID]
}

// addOrReuse adds a part, or reuses the piece of the previous request if it is equal.
func (n *requestReader) addOrReuse(p *parts.Part, base Category) {
	q := n.q
	if !n.differs && q.equal < len(n.oldPieces) && n.oldPieces[q.equal].Equals(p) && n.oldPieces[q.equal].base == base {
		q.equal++
		return
	}
	n.diverge()
	const near = 8 // parts that may have gone
	for i := range q.previous[:min(near, len(q.previous))] {
		if old := q.previous[i].Part; old.Equals(p) {
			q.previous = q.previous[i+1:]
			n.add(old, base)
			return
		}
	}
	clone := *p
	clone.Analyze(n.c.seed)
	n.add(&clone, base)
}

func (n *requestReader) add(p *parts.Part, base Category) {
	occurred := n.q.places[p.Key]
	n.q.places[p.Key]++
	n.q.pieces = append(n.q.pieces, piece{Part: p, base: base, key: p.Key ^ occurred*0x9E3779B97F4A7C15})
}

// diverge marks the current position as the first difference.
func (n *requestReader) diverge() {
	if n.differs {
		return
	}
	q := n.q
	n.differs = true
	q.previous, q.pieces = slices.Clone(n.oldPieces[q.equal:]), n.oldPieces[:q.equal]
	for i := range q.previous {
		key := q.previous[i].Part.Key
		if q.places[key]--; q.places[key] == 0 {
			delete(q.places, key)
		}
	}
}

func (n *requestReader) finish() {
	n.diverge()
	n.q.previous = nil
}

// prepare redacts and shortens the strings of new pieces.
func (q *request) prepare(c *Config) {
	names := map[string]string{}
	name := func(s string) string {
		kept, known := names[s]
		if !known {
			kept = c.keepName(s)
			names[s] = kept
		}
		return kept
	}
	if !q.questionReady {
		q.question, q.questionReady = c.keep(q.userText, questionBytes), true
	}
	for i := range q.pieces {
		if p := &q.pieces[i]; !p.isKnown && !p.isPrepared {
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
		if p.onlyEinolean {
			help += p.Tokens
		}
	}
	by[now] += sum
	delete(by, "")
	return by, all, help
}

// hiddenTools counts the hidden tools that the request does not show.
func (q *request) hiddenTools(heard Hidden, hide map[string]int) (h Hidden) {
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
		if !q.toolNames[name] {
			h.Tools++
			h.Tokens += tokens
		}
	}
	return h
}
