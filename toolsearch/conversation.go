// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The conversation: what it says about hidden tools, and what it is told of them.
//
// Each message is read once, into a line: what it says of tools, which is folded into the facts, and
// whether it is one of ours, which are recognised here and replaced: the list of hidden tools, and
// announcements of changes. With tools that come and go, the list stays as written, and
// each change is announced at the end of the conversation: rewriting the list would invalidate the
// provider's prompt cache from there on.

import (
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/toolsearch/internal/found"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/internal/told"
	"github.com/einolean/einolean/toolsearch/internal/turn"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// kind is what a message is to hidden tools.
type kind uint8

const (
	other   kind = iota
	asks         // a user's
	list         // the list of hidden tools
	change       // a change of it
	offer        // tools for the user's message before it
	mixed        // one of these, and something else
	instead      // it is marked as a list but lists nothing, and stands for it
	kinds
)

// line is a message of a conversation, as it was read.
type line[M adk.MessageType] struct {
	msg  M
	kind kind
	text string // unless it is of another kind
	view wire.View

	wish  *wish  // what a user asks for
	offer string // the message that should follow, with the tools for it
}

// lineOf reads a message.
func lineOf[M adk.MessageType](msg M) line[M] {
	l := line[M]{msg: msg, view: wire.ViewOf(msg)}
	s := wire.TextOf(msg)
	switch {
	case s.Only && told.IsList(s.Text, s.Marked):
		l.kind = list
	case s.Only && told.IsChange(s.Text, s.Marked):
		l.kind = change
	case s.Only && say.IsOffer(s.Text):
		l.kind = offer
	case s.Marked && told.Holds(s.Text):
		l.kind = mixed
	case s.Marked:
		l.kind = instead
	case s.User:
		l.kind = asks
	default:
		return l
	}
	l.text = s.Text
	return l
}

// transcript is the conversation of a run. It keeps the messages alive: an equal pointer is then the
// same message.
type transcript[M adk.MessageType] struct {
	lines    []line[M]
	count    [kinds]int
	ours     []int // positions of lists, changes and offers
	isEdited bool  // the lines are not the messages that were read
	texts    []string

	heard    int // lines that the facts know of
	facts    turn.Facts
	forUsers forUsers
}

// read brings the lines up to date with the messages. If these are others than before, the facts are
// forgotten; what was read of a message that is still there holds.
func (t *transcript[M]) read(msgs []M) {
	same := 0
	for same < min(len(t.lines), len(msgs)) && t.lines[same].msg == msgs[same] {
		same++
	}
	if same < len(t.lines) {
		t.forget()
		t.rebuild(same, func(l line[M]) { t.add(l) })
	}
	for _, msg := range msgs[same:] {
		t.add(lineOf(msg))
	}
	t.isEdited = false
}

func (t *transcript[M]) add(l line[M]) {
	if t.count[l.kind]++; l.kind == list || l.kind == change || l.kind == offer {
		t.ours = append(t.ours, len(t.lines))
	}
	t.lines = append(t.lines, l)
}

// rebuild makes new lines of the first ones.
func (t *transcript[M]) rebuild(most int, put func(line[M])) {
	was := t.lines[:most]
	t.lines, t.ours, t.count, t.isEdited = make([]line[M], 0, most+2), nil, [kinds]int{}, true
	for _, l := range was {
		put(l)
	}
}

// forget makes the facts begin at the first line.
func (t *transcript[M]) forget() {
	for i := range t.lines {
		t.lines[i].wish, t.lines[i].offer = nil, ""
	}
	t.heard, t.facts, t.forUsers = 0, t.facts.Anew(), forUsers{}
}

// hear adds what new lines say to the facts, and the tools that users ask for.
func (t *transcript[M]) hear(r *run) {
	if t.heard == len(t.lines) {
		return
	}
	known := r.heard()
	for ; t.heard < len(t.lines); t.heard++ {
		l := &t.lines[t.heard]
		if l.wish != nil {
			l.offer = t.forUsers.load(r, known, &t.facts, l.text, *l.wish)
		}
		t.facts.Add(l.view, known)
	}
}

// replace takes other messages for those that are there, one for one.
func (t *transcript[M]) replace(r *run, msgs []M) {
	for i, msg := range msgs {
		if was := t.lines[i]; was.msg != msg {
			t.lines[i] = lineOf(msg)
			t.lines[i].wish = was.wish
			t.heard, t.isEdited = 0, true
		}
	}
	if t.heard == 0 {
		t.facts, t.forUsers = t.facts.Anew(), forUsers{}
		t.hear(r)
	}
}

// write returns the messages: those that were read, if no line is another.
func (t *transcript[M]) write(read []M) []M {
	if !t.isEdited {
		return read
	}
	msgs := make([]M, len(t.lines))
	for i := range t.lines {
		msgs[i] = t.lines[i].msg
	}
	return msgs
}

// is reports whether the lines are these messages.
func (t *transcript[M]) is(msgs []M) bool {
	return slices.EqualFunc(t.lines, msgs, func(l line[M], msg M) bool { return l.msg == msg })
}

// heard is what the facts ask of the run.
func (r *run) heard() turn.Run {
	return turn.Run{
		Has: func(name string) bool { return r.catalog().Lookup(name) != nil }, Owns: func(name string) bool { return r.own[name] != nil },
		Note: r.noted, ByHand: r.byHand, Asked: func(a lenient.Arguments) []string { return found.Asked(r.catalog().Tools, a) },
		Miss: func(name string) {
			if r.catalog().changes {
				r.noteHad(name)
			}
		},
	}
}

// putOffers puts exactly the offers that users' messages call for, each after its message.
func (t *transcript[M]) putOffers() {
	last, isRight := "", true
	for i := range t.lines {
		l := &t.lines[i]
		said := ""
		if l.kind == offer {
			said = l.text
		}
		isRight, last = isRight && said == last, l.offer
	}
	if isRight && last == "" {
		return
	}
	t.rebuild(len(t.lines), func(l line[M]) {
		if l.kind != offer {
			t.add(l)
		}
		if l.offer != "" {
			t.say(offer, wire.Note[M](l.offer), l.offer)
		}
	})
}

// say adds a message of ours, which says nothing that the facts need.
func (t *transcript[M]) say(k kind, msg M, text string) {
	t.add(line[M]{msg: msg, kind: k, text: text})
	t.heard, t.isEdited = len(t.lines), true
}

// putNote puts a hint for the model at the end.
func (t *transcript[M]) putNote(text string) {
	if len(t.lines) > 0 {
		if last := wire.TextOf(t.lines[len(t.lines)-1].msg); last.Only && last.Text == text {
			return
		}
	}
	t.say(other, wire.Note[M](text), "")
}

// putList leaves exactly one list, with the text, and no changes of it. It replaces the first list, or
// else goes before the first message that is not a system message. An empty text means no list. Every
// message that says anything else stays.
func (t *transcript[M]) putList(text string) {
	if t.holds(text) {
		return
	}
	place := func(l line[M]) bool { return l.kind == list }
	if t.count[list] == 0 {
		place = func(l line[M]) bool { return !wire.IsSystem(l.msg) }
	}
	isPut := text == ""
	put := func() {
		isPut = true
		t.say(list, wire.Reminder[M](text), text)
	}
	t.rebuild(len(t.lines), func(l line[M]) {
		if !isPut && place(l) {
			put()
		}
		if l.kind != list && l.kind != change {
			t.add(l)
		}
	})
	if !isPut {
		put()
	}
	t.heard = len(t.lines)
}

// holds reports whether the conversation has this list, and no other.
func (t *transcript[M]) holds(text string) bool {
	switch n := t.count[list] + t.count[change]; {
	case text == "" || n > 1:
		return text == "" && n == 0
	case t.count[list] == 1:
		return slices.Equal(t.told(), []string{text})
	}
	return t.count[change] == 0 && slices.ContainsFunc(t.lines, func(l line[M]) bool { return l.kind == mixed && strings.Contains(l.text, text) })
}

// told are the list and the changes of it; none if there is not one list before any change. The slice
// holds until the next call.
func (t *transcript[M]) told() []string {
	t.texts = t.texts[:0]
	for _, i := range t.ours {
		switch l := &t.lines[i]; {
		case t.count[list] != 1 || l.kind == change && len(t.texts) == 0:
			return nil
		case l.kind != offer:
			t.texts = append(t.texts, l.text)
		}
	}
	return t.texts
}

// remind puts the list of hidden tools and its changes into the conversation, and returns the list.
func (t *transcript[M]) remind(d *told.Told, c told.Call, changes bool) (names string) {
	if t.count[instead] > 0 && t.count[list]+t.count[mixed] == 0 { // as Eino has it
		return ""
	}
	if !changes {
		names = d.List(c)
		t.putList(names)
		return names
	}
	names, delta, isNew := d.Next(c, t.told())
	switch {
	case isNew:
		t.putList(names)
	case delta != "":
		t.say(change, wire.Reminder[M](delta), delta)
	}
	return names
}
