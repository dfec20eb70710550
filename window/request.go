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

// request is a request in pieces.
type request struct {
	pieces   []piece         // in the order of the wire
	shown    map[string]bool // names of the tools in it
	asked    string          // the user's latest message
	question string          // the same, as it may be kept
	kept     bool            // on the provider's server
	done     bool            // question has passed the door
}

// parse reads a request. It needs nothing that the collector's mutex guards.
func parse[M adk.MessageType](c *Config, hide map[string]int, in []M, o *model.Options) *request {
	q := &request{shown: map[string]bool{}, kept: session.AnyStored(in)}
	q.pieces = make([]piece, 0, len(o.Tools)+len(o.DeferredTools)+len(in)*5/4+1)
	for _, t := range append(append(slices.Clip(o.Tools), o.DeferredTools...), o.ToolSearchTool) {
		if t == nil {
			continue
		}
		q.shown[t.Name] = true
		p := piece{kind: toolPiece, tool: t.Name, text: definition(t), category: OwnTools}
		_, hidden := hide[t.Name]
		switch {
		case searches(t.Name), t.Name == toolnames.Call, readtool.Made(t):
			p.category, p.help = HelpTools, true
		case hidden:
			p.category = LoadedTools
		}
		q.pieces = append(q.pieces, p)
	}
	names := map[string]string{} // of the calls, since results may lack names
	for _, m := range in {
		for _, p := range pieces(m) {
			switch p.kind {
			case callPiece:
				names[p.callID] = p.tool
			case resultPiece:
				if p.tool == "" {
					p.tool = names[p.callID]
				}
			case userPiece:
				if !isReminder(p.text) && !isOffer(p.text) && p.text != "" {
					q.asked = p.text
				}
			}
			q.pieces = append(q.pieces, p)
		}
	}
	places := make(map[uint64]uint64, len(q.pieces)) // how often a key has occurred
	for i := range q.pieces {
		p := &q.pieces[i]
		p.look(c)
		n := places[p.key]
		places[p.key]++
		p.key ^= n * 0x9E3779B97F4A7C15
	}
	return q
}

// ready finds out the category of each piece, and reports whether everything that is new
// in the conversation has passed the door. The collector's mutex is held.
func (q *request) ready(r *run) bool {
	v := r.conv
	ready := q.done || q.asked == "" || v.asked(r.n)
	helps := map[uint64]bool{} // by the hash of the call ID
	for i := range q.pieces {
		p := &q.pieces[i]
		v.classify(p, helps)
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
