// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The evidence of hidden tools in a conversation: which ones the model has loaded or used.
// The hooks keep it, and each model call reads only new messages. Its messages of ours are recognised
// here, and replaced.

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/lenient"
	"github.com/leanctx/leanctx/internal/texts"
	"github.com/leanctx/leanctx/internal/toolnames"
	"github.com/leanctx/leanctx/toolsearch/internal/wire"
)

// transcript is what the messages of a run have said so far. It keeps the messages alive: an
// equal pointer is then the same message.
type transcript[M adk.MessageType] struct {
	run       *run
	messages  []M
	evidence  evidence
	reminders []int // positions of messages that are reminders
	deltas    []int // positions of messages that tell of changes in the list
	offered   []int // positions of messages that describe tools for a user's message
	mixed     []int // positions of messages that hold one, and something else

	// prefetch loads tools for the text of a user's message at a position. If nil, no tools
	// are prefetched.
	prefetch func(ctx context.Context, v *evidence, at int, text string)
}

// read brings the transcript up to date with the messages.
func (t *transcript[M]) read(ctx context.Context, msgs []M) {
	if len(t.messages) > len(msgs) || !slices.Equal(t.messages, msgs[:len(t.messages)]) {
		t.forget()
	}
	for i := len(t.messages); i < len(msgs); i++ {
		switch s := wire.TextOf(msgs[i]); {
		case s.Only && isReminder(s.Text, s.Marked):
			t.reminders = append(t.reminders, i)
		case s.Only && isDelta(s.Text, s.Marked):
			t.deltas = append(t.deltas, i)
		case s.Only && isOffer(s.Text):
			t.offered = append(t.offered, i)
		case s.Marked:
			t.mixed = append(t.mixed, i)
		case s.User && t.prefetch != nil:
			t.prefetch(ctx, &t.evidence, i, s.Text)
		}
		t.evidence.add(wire.ViewOf(msgs[i]), t.run)
	}
	t.messages = append(t.messages, msgs[len(t.messages):]...)
}

// isReminder recognises a reminder by its envelope, since stores drop Extra. An unmarked one
// must have no other tags inside: it could hold more than names.
func isReminder(text string, marked bool) bool {
	list, ok := toolnames.Reminder(text)
	return ok && (marked || !strings.Contains(list, toolnames.ReminderOpen) && !strings.Contains(list, toolnames.ReminderClose))
}

// isDelta recognises a change of the list by its envelope. An unmarked one must have no
// other tags inside.
func isDelta(text string, marked bool) bool {
	lines, ok := toolnames.Changed(text)
	return ok && (marked || !strings.Contains(lines, "<") && !strings.Contains(lines, ">"))
}

// isOffer recognises an offer by its envelope and its form, since stores drop Extra.
func isOffer(text string) bool {
	tools, ok := toolnames.Offer(text)
	var offer answer
	return ok && json.Unmarshal([]byte(tools), &offer) == nil && len(offer.Tools) > 0
}

// forget makes the next reading begin at the first message.
func (t *transcript[M]) forget() {
	t.messages, t.reminders, t.deltas, t.offered, t.mixed = t.messages[:0], nil, nil, nil, nil
	t.evidence = evidence{former: t.evidence.former, started: t.evidence.started, version: t.evidence.version + 1}
}

// withNote returns the messages with a hint for the model at the end.
func (t *transcript[M]) withNote(msgs []M, text string) []M {
	if len(msgs) > 0 {
		if last := wire.TextOf(msgs[len(msgs)-1]); last.Only && last.Text == text {
			return msgs
		}
	}
	return append(slices.Clone(msgs), wire.Note[M](text))
}

// withReminder returns the messages with exactly one reminder, which has the text, and no
// changes of it. It replaces the first reminder, or else goes before the first message that is
// not a system message. An empty text means no reminder. withReminder does not change the
// slice, and keeps every message that says anything else.
func (t *transcript[M]) withReminder(msgs []M, text string) []M {
	if t.remindedWith(msgs, text) {
		return msgs
	}
	at := t.reminderPlace(msgs)
	next := make([]M, 0, len(msgs)+1)
	for i, msg := range msgs {
		if i == at && text != "" {
			next = append(next, wire.Reminder[M](text))
		}
		if !slices.Contains(t.reminders, i) && !slices.Contains(t.deltas, i) {
			next = append(next, msg)
		}
	}
	if at == len(msgs) && text != "" {
		next = append(next, wire.Reminder[M](text))
	}
	return next
}

func (t *transcript[M]) remindedWith(msgs []M, text string) bool {
	if text == "" || len(t.reminders) > 1 || len(t.deltas) > 0 {
		return text == "" && len(t.reminders)+len(t.deltas) == 0
	}
	if len(t.reminders) == 1 {
		return wire.TextOf(msgs[t.reminders[0]]).Text == text
	}
	return slices.ContainsFunc(t.mixed, func(i int) bool { return strings.Contains(wire.TextOf(msgs[i]).Text, text) })
}

func (t *transcript[M]) reminderPlace(msgs []M) int {
	if len(t.reminders) > 0 {
		return t.reminders[0]
	}
	for i, msg := range msgs {
		if !wire.IsSystem(msg) {
			return i
		}
	}
	return len(msgs)
}

// isTold reports whether the messages hold exactly these texts: the list, and changes of it.
func (t *transcript[M]) isTold(msgs []M, lines []string) bool {
	if len(t.reminders) != 1 || len(lines) != 1+len(t.deltas) || wire.TextOf(msgs[t.reminders[0]]).Text != lines[0] {
		return false
	}
	for k, i := range t.deltas {
		if wire.TextOf(msgs[i]).Text != lines[k+1] {
			return false
		}
	}
	return true
}

// toldTexts are the list and the changes of it in the messages; none if there is no list, or
// more than one.
func (t *transcript[M]) toldTexts(msgs []M) (texts []string) {
	if len(t.reminders) != 1 {
		return nil
	}
	texts = append(texts, wire.TextOf(msgs[t.reminders[0]]).Text)
	for _, i := range t.deltas {
		texts = append(texts, wire.TextOf(msgs[i]).Text)
	}
	return texts
}

// withOffers returns the messages with exactly the offers that the user's messages call for,
// each after its message. It does not change the slice.
func (t *transcript[M]) withOffers(msgs []M) []M {
	offers := t.evidence.offers
	isOffer := func(at int) bool { return offers[at-1] != "" && offers[at-1] == wire.TextOf(msgs[at]).Text }
	if len(t.offered) == len(offers) && !slices.ContainsFunc(t.offered, func(at int) bool { return !isOffer(at) }) {
		return msgs
	}
	next := make([]M, 0, len(msgs)+len(offers))
	for i, msg := range msgs {
		if !slices.Contains(t.offered, i) {
			next = append(next, msg)
		}
		if text := offers[i]; text != "" {
			next = append(next, wire.Note[M](text))
		}
	}
	return next
}

// evidence is what a conversation says about hidden tools. The zero value is that of an
// empty conversation.
type evidence struct {
	version    int // grows with each change
	modelCalls int
	order      []string       // names, by first evidence
	last       map[string]int // name -> model calls before its last evidence
	calls      []wire.Call    // of the last assistant message that has any
	native     bool           // some message holds parts of a provider's own search
	natively   stringSet      // names that results in a provider's own form return
	textually  stringSet      // names that results in words return
	emptyCall  *wire.Call     // the newest search, if its answer was empty and in that form
	former     stringSet      // ids of results that were there before the first model call
	started    bool           // that call is over
	earlier    []earlier      // by the last message that has calls

	// What the messages of users loaded.
	asked      int // messages
	prefetched stringSet
	offers     map[int]string // what describes tools after a user's message, by its position, for a protocol that never loads tools
	report     *leanctx.Event // of the last message, until the model answers it
}

// add reads one more message.
func (v *evidence) add(msg wire.View, r *run) {
	if msg.Assistant {
		v.modelCalls++
		v.emptyCall, v.report = nil, nil
	}
	if len(msg.Calls) > 0 {
		v.calls, v.earlier = msg.Calls, nil
	}
	v.native = v.native || msg.Hosted
	for _, c := range msg.Calls {
		v.native = v.native || c.Marked
		if !r.call(c.ID).refused {
			name := calledTool(r, c)
			last, known := v.last[name]
			v.earlier = append(v.earlier, earlier{c.ID, name, last, known})
			v.use(name, r.catalog())
		}
	}
	for _, res := range msg.Results {
		v.addResult(res, r)
	}
}

// addResult reads the result of a call. In this run, only answers of our search tools load
// tools; their calls are known by id, whatever name the model used. Among earlier results,
// as at the start of a run and after a resume, those with the name of a search tool count.
func (v *evidence) addResult(res wire.Result, r *run) {
	if !v.started {
		v.former.add(res.ID)
	}
	note := r.call(res.ID)
	if !note.isOurs && res.ID != "" && v.started && !v.former[res.ID] && !r.byHand() {
		v.native = v.native || res.Native
		return
	}
	if res.Native {
		v.native = true
		if len(res.Tools) == 0 {
			v.emptyCall = v.callOf(res.ID)
		}
		for _, name := range res.Tools {
			v.load(name, r)
			v.natively.add(name)
		}
		return
	}
	names := note.loaded
	if !note.isOurs {
		names = v.formerly(res, r)
	}
	for _, name := range names {
		v.load(name, r)
		v.textually.add(name)
	}
}

// formerly returns the tools that a result from before this run loaded.
func (v *evidence) formerly(res wire.Result, r *run) []string {
	c := v.callOf(res.ID)
	if res.Name == "" && c != nil {
		res.Name = c.Name
	}
	if isDenial(res.Text, c) {
		v.undo(res.ID)
	}
	if r.own[res.Name] != nil || !toolnames.IsSearchTool(res.Name) {
		return nil
	}
	names := loadedBy(res.Text)
	if names == nil && res.Name == toolnames.Load && c != nil {
		return r.catalog().askedToLoad(lenient.Decode(c.Args)) // its answer was cut or cleared
	}
	return names
}

// isDenial reports whether a result is our answer to a call of a tool that the caller may
// not use, in either language.
func isDenial(text string, c *wire.Call) bool {
	if c == nil {
		return false
	}
	name := c.Name
	if name == toolnames.Call {
		name = calledName(lenient.Decode(c.Args))
	}
	for _, t := range []*texts.Texts{prompts.English(), prompts.Chinese()} {
		for _, answer := range []string{"no-such-tool", "not-allowed"} {
			before, _, ok := strings.Cut(renderIn(t, answer, promptData{Name: name}), name)
			if ok && name != "" && strings.HasPrefix(text, before+name) {
				return true
			}
		}
	}
	return false
}

// calledTool is the name of the tool that a call is for: call_tool has it in its arguments,
// and an alias is known from the call that reached the tool.
func calledTool(r *run, c wire.Call) string {
	if r.catalog().lookup(c.Name) != nil || r.own[c.Name] != nil {
		return c.Name
	}
	if c.Name == toolnames.Call {
		return calledName(lenient.Decode(c.Args))
	}
	return r.call(c.ID).tool
}

func (v *evidence) callOf(id string) *wire.Call {
	if i := slices.IndexFunc(v.calls, func(c wire.Call) bool { return c.ID == id }); i >= 0 {
		return &v.calls[i]
	}
	return nil
}

// earlier is the evidence of a tool before a call of it, for undo.
type earlier struct {
	id, name string
	last     int
	known    bool
}

// undo takes back the evidence of a call.
func (v *evidence) undo(id string) {
	for _, t := range v.earlier {
		switch {
		case t.id != id:
		case t.known:
			v.last[t.name] = t.last
		default:
			delete(v.last, t.name)
			v.version++
			v.order = slices.DeleteFunc(slices.Clone(v.order), func(name string) bool { return name == t.name })
		}
	}
}

// load is use for a tool that a search returned. If the tool no longer exists, it is noted
// as gone.
func (v *evidence) load(name string, r *run) {
	if r.catalog().changes && r.catalog().lookup(name) == nil {
		r.noteHad(name)
	}
	v.use(name, r.catalog())
}

func (v *evidence) use(name string, c *catalog) {
	if c.lookup(name) == nil {
		return
	}
	if v.last == nil {
		v.last = map[string]int{}
	}
	if _, known := v.last[name]; !known {
		v.order = append(v.order, name)
		v.version++
	}
	v.last[name] = v.modelCalls
}

// isSearch reports whether a message holds a search for tools, ours or the provider's.
func (t *transcript[M]) isSearch(msg M) bool {
	v := wire.ViewOf(msg)
	return v.Hosted || slices.ContainsFunc(v.Calls, func(c wire.Call) bool {
		return c.Marked || toolnames.IsSearchTool(c.Name) && c.Name != toolnames.Call && t.run.own[c.Name] == nil
	})
}
