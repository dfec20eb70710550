// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package transcript reads the messages of a conversation, each once, and keeps those that say what there
// is of hidden tools: the list of their names, its changes, and offers. It knows no agent and no tools.
package transcript

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/session"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
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
	msg   M
	kind  kind
	text  string // unless it is of another kind
	view  wire.View
	offer string // the message that should follow, with tools for what a user asks
	noted
}

// noted is what became of the calls of a line in this run, by id, as it was known when the line was heard first: an
// id may be that of a later call as well.
type noted struct {
	notes   map[string]turn.Note
	isHeard bool
}

// of returns a run that knows this of calls. It asks the run of a line that was not heard before. What is noted of
// the last round is of the newest calls; of older ones may be anything, if the run may know of them.
func (k *noted) of(run turn.Run, v *wire.View, newest, mayKnow bool) turn.Run {
	note := func(id string) {
		if n := run.Note(id); !n.IsNothing() && (newest && n.IsLast || !newest && mayKnow) {
			if k.notes == nil {
				k.notes = map[string]turn.Note{}
			}
			k.notes[id] = n
		}
	}
	if !k.isHeard {
		for i := range v.Calls {
			note(v.Calls[i].ID)
		}
		for i := range v.Results {
			note(v.Results[i].ID)
		}
	}
	k.isHeard = true
	run.Note = func(id string) turn.Note { return k.notes[id] }
	return run
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

// Transcript is the conversation of a run, as it was read. It keeps the messages alive: an equal pointer is then
// the same message. What it puts in is put in as lines and not read again.
type Transcript[M adk.MessageType] struct {
	Facts turn.Facts // what the lines say of tools, as far as they were heard

	lines    []line[M]
	count    [kinds]int
	ours     []int // positions of lists, changes and offers
	newest   int   // position of the newest calls
	isEdited bool  // the lines are not the messages that were read
	texts    []string
	round    []int // positions of the lines that are heard next

	heard, asked int // lines that the facts know of, and those of them that are a user's
}

// Read brings the lines up to date with the messages. If these are others than before, the facts are
// forgotten; what was read of a message that is still there holds.
func (t *Transcript[M]) Read(msgs []M) (forgot bool) {
	same := 0
	for same < min(len(t.lines), len(msgs)) && t.lines[same].msg == msgs[same] {
		same++
	}
	was := map[M]line[M](nil)
	if forgot = same < len(t.lines); forgot {
		t.Forget()
		was = make(map[M]line[M], len(t.lines)-same)
		for _, l := range t.lines[same:] {
			was[l.msg] = l
		}
		t.rebuild(same, t.add)
	}
	for _, msg := range msgs[same:] {
		l, isKnown := was[msg]
		if !isKnown {
			l = lineOf(msg)
		}
		t.add(l)
	}
	t.isEdited = false
	return forgot
}

func (t *Transcript[M]) add(l line[M]) {
	if t.count[l.kind]++; l.kind == list || l.kind == change || l.kind == offer {
		t.ours = append(t.ours, len(t.lines))
	}
	if len(l.view.Calls) > 0 {
		t.newest = len(t.lines)
	}
	t.lines = append(t.lines, l)
}

// rebuild makes new lines of the first ones.
func (t *Transcript[M]) rebuild(most int, put func(line[M])) {
	was := t.lines[:most]
	t.lines, t.ours, t.count, t.newest, t.isEdited = make([]line[M], 0, most+2), nil, [kinds]int{}, 0, true
	for _, l := range was {
		put(l)
	}
}

// Forget makes the facts begin at the first line.
func (t *Transcript[M]) Forget() {
	for i := range t.lines {
		t.lines[i].offer = ""
	}
	t.heard, t.asked, t.Facts = 0, 0, t.Facts.Anew()
}

// Asks are the texts of users' messages.
func (t *Transcript[M]) Asks() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range t.lines {
			if l := &t.lines[i]; l.kind == asks && !yield(l.text) {
				return
			}
		}
	}
}

// Hear adds what new lines say to the facts, where known is what else there is to know of tools. What users
// ask for is met first: meet, if there is one, gets the number of a user's message among those of users,
// with its text, and returns the offer that should follow it.
func (t *Transcript[M]) Hear(known func() turn.Run, meet func(n int, text string) (offer string)) {
	if t.heard == len(t.lines) {
		return
	}
	// Before its first model call, as when it is resumed, a run knows only of the newest calls. Later a line may
	// be new to it because a handler copied it.
	for run := known(); t.heard < len(t.lines); t.heard += len(t.round) {
		t.nextRound()
		for _, i := range t.round {
			l := &t.lines[i]
			if l.kind == asks && meet != nil {
				l.offer = meet(t.asked, l.text)
				t.asked++
			}
			t.Facts.Add(l.view, l.of(run, &l.view, i >= t.newest, t.Facts.Started))
		}
	}
}

// nextRound finds the lines that are heard next: one, or all results of a round in the order of its calls. In a
// history that was made of events they stand in the order in which the tools ended.
func (t *Transcript[M]) nextRound() {
	t.round = append(t.round[:0], t.heard)
	if t.heard == 0 || len(t.lines[t.heard-1].view.Calls) < 2 || len(t.lines[t.heard].view.Results) == 0 {
		return
	}
	for i := t.heard + 1; i < len(t.lines) && len(t.lines[i].view.Results) > 0 && len(t.lines[i].view.Calls) == 0; i++ {
		t.round = append(t.round, i)
	}
	calls := t.lines[t.heard-1].view.Calls
	place := func(i int) int {
		return slices.IndexFunc(calls, func(c wire.Call) bool { return c.ID == t.lines[i].view.Results[0].ID })
	}
	slices.SortStableFunc(t.round, func(a, b int) int { return cmp.Compare(place(a), place(b)) })
}

// Replace takes other messages for those that are there, one for one. If any is another, the facts are
// forgotten.
func (t *Transcript[M]) Replace(msgs []M) (forgot bool) {
	for i, msg := range msgs {
		if t.lines[i].msg != msg {
			was := t.lines[i].noted
			t.lines[i] = lineOf(msg)
			t.lines[i].noted, forgot = was, true
		}
	}
	if forgot {
		t.Forget()
		t.isEdited = true
	}
	return forgot
}

// Write returns the messages: those that were read, if no line is another.
func (t *Transcript[M]) Write(read []M) []M {
	if !t.isEdited {
		return read
	}
	msgs := make([]M, len(t.lines))
	for i := range t.lines {
		msgs[i] = t.lines[i].msg
	}
	return msgs
}

// Is reports whether the lines are these messages.
func (t *Transcript[M]) Is(msgs []M) bool {
	return slices.EqualFunc(t.lines, msgs, func(l line[M], msg M) bool { return l.msg == msg })
}

// PutOffers leaves exactly the offers that users' messages call for, each after its message.
func (t *Transcript[M]) PutOffers() {
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
			t.say(offer, l.offer)
		}
	})
	t.heard = len(t.lines)
}

// say adds a message of ours, which says nothing that the facts need.
func (t *Transcript[M]) say(k kind, text string) {
	t.add(line[M]{msg: wire.Note[M](text, k == list || k == change), kind: k, text: text})
	t.heard, t.isEdited = len(t.lines), true
}

// PutNote puts a hint for the model at the end.
func (t *Transcript[M]) PutNote(text string) {
	if len(t.lines) > 0 {
		if last := wire.TextOf(t.lines[len(t.lines)-1].msg); last.Only && last.Text == text {
			return
		}
	}
	t.say(other, text)
}

// PutList leaves exactly one list, with the text, and no changes of it. It replaces the first list, or
// else goes before the first message that is not a system message. An empty text means no list. Every
// message that says anything else stays.
func (t *Transcript[M]) PutList(text string) {
	if t.holds(text) {
		return
	}
	place := func(l line[M]) bool { return l.kind == list }
	if t.count[list] == 0 {
		place = func(l line[M]) bool { return message.Role(l.msg) != schema.System }
	}
	isPut := text == ""
	put := func() {
		isPut = true
		t.say(list, text)
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
func (t *Transcript[M]) holds(text string) bool {
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
func (t *Transcript[M]) told() []string {
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

// Tell puts the list of hidden tools and, if they change, its changes into the conversation, and returns
// the list.
func (t *Transcript[M]) Tell(d *told.Told, c told.Call) (names string) {
	if t.count[instead] > 0 && t.count[list]+t.count[mixed] == 0 { // as Eino has it
		return ""
	}
	names, delta, isNew := d.Next(c, t.told())
	switch {
	case isNew:
		t.PutList(names)
	case delta != "":
		t.say(change, delta)
	}
	return names
}

// Request is the request that goes out with a list of hidden tools, the names of those that it shows,
// all its tools and its messages.
func (t *Transcript[M]) Request(list string, names []string, tools []*schema.ToolInfo, msgs []M) Request[M] {
	return Request[M]{list, names, tools, msgs, t.ours}
}

// sessionKey marks, in Extra, an answer that the provider ties to its request: its value
// describes what this module put there.
const sessionKey = "__einolean_toolsearch_session__"

// Request is what this module put into a request. The zero value is a request that it did not see.
type Request[M adk.MessageType] struct {
	list  string
	names []string           // of the hidden tools that it shows
	tools []*schema.ToolInfo // all tools, in the order of the wire
	msgs  []M
	told  []int // positions of this module's messages
}

// mark describes the request in three parts: the list, the hidden tools, and, for an answer that
// is bound to it, every tool and message as it went out.
func (s Request[M]) mark(t session.Tie) string {
	mark := hidden.Digest(s.list) + "." + hidden.Digest(strings.Join(slices.Sorted(slices.Values(s.names)), "\n"))
	if t == session.Bound {
		mark += "." + boundTo(definitions(s.tools), s.texts())
	}
	return mark
}

// texts are this module's messages.
func (s Request[M]) texts() (texts []string) {
	for _, i := range s.told {
		texts = append(texts, wire.TextOf(s.msgs[i]).Text)
	}
	return texts
}

func boundTo(tools string, told []string) string { return hidden.Digest(tools + say.JSON(told)) }

// definitions are tools as they go out.
func definitions(tools []*schema.ToolInfo) string {
	h := sha256.New()
	for _, t := range tools {
		if t == nil {
			continue
		}
		params, _ := t.ToJSONSchema() // one that cannot be read is not sent either
		text, _ := json.Marshal(params)
		fmt.Fprintf(h, "%q %q %s\n", t.Name, t.Desc, text)
	}
	return string(h.Sum(nil))
}

// Keeper releases what is tied to another list, other tools or, if it is bound to them, to another
// message of this module than the request has. changed hears of it.
func (s Request[M]) Keeper(changed func(context.Context)) session.Keeper[M] {
	return session.Keeper[M]{
		Key:  sessionKey,
		Mark: func(_ []M, t session.Tie) string { return s.mark(t) },
		Stale: func(msgs []M) func(int, session.Tie, string) bool {
			short := strings.Split(s.mark(session.Stored), ".")
			before := s.before(msgs)
			tools := sync.OnceValue(func() string { return definitions(s.tools) })
			return func(i int, t session.Tie, mark string) bool {
				was := strings.Split(mark, ".")
				switch t {
				case session.Stored:
					return was[0] != short[0]
				case session.StoredWithTools:
					return len(was) < 2 || !slices.Equal(was[:2], short)
				}
				return len(was) < 3 || was[2] != boundTo(tools(), before(i))
			}
		},
		Changed: changed,
	}
}

// before returns a function that finds this module's texts before a message of the request.
func (s Request[M]) before(msgs []M) func(i int) []string {
	var at []int
	all, texts := s.told, s.texts()
	for i, m := range msgs {
		if len(at) < len(all) && m == s.msgs[all[len(at)]] {
			at = append(at, i)
		}
	}
	if len(at) < len(all) { // a later handler copied them
		at = all
	}
	return func(i int) []string {
		n, _ := slices.BinarySearch(at, i)
		return texts[:n]
	}
}
