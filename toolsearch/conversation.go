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
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/texts"
	"github.com/einolean/einolean/internal/toolnames"
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
	case s.Only && isReminder(s.Text, s.Marked):
		l.kind = list
	case s.Only && isDelta(s.Text, s.Marked):
		l.kind = change
	case s.Only && isOffer(s.Text):
		l.kind = offer
	case s.Marked && holdsList(s.Text):
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
		Note: r.noted, ByHand: r.byHand, Asked: func(a lenient.Arguments) []string { return r.catalog().askedToLoad(a) },
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
	switch told := t.count[list] + t.count[change]; {
	case text == "" || told > 1:
		return text == "" && told == 0
	case t.count[list] == 1:
		return slices.Equal(t.told(nil), []string{text})
	}
	return t.count[change] == 0 && slices.ContainsFunc(t.lines, func(l line[M]) bool { return l.kind == mixed && strings.Contains(l.text, text) })
}

// told appends the list and the changes of it; nothing if there is not one list before any change.
func (t *transcript[M]) told(texts []string) []string {
	if t.count[list] != 1 {
		return texts
	}
	for _, i := range t.ours {
		switch l := &t.lines[i]; {
		case l.kind == change && len(texts) == 0:
			return nil
		case l.kind != offer:
			texts = append(texts, l.text)
		}
	}
	return texts
}

// holdsList reports whether a text has a list in it, or a change of one.
func holdsList(text string) bool {
	return strings.Contains(text, toolnames.ReminderOpen) || strings.Contains(text, toolnames.ChangedOpen)
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

const (
	maxDeltas     = 32 // changes announced before the list is rewritten
	maxDeltaNames = 20 // added names in one; more are counted by server
	// minDeltaBytes of changes, or a quarter of the list if that is more, are announced before
	// the list is rewritten.
	minDeltaBytes = 1000
)

// reminder keeps the messages about hidden tools up to date. It belongs to the hooks.
type reminder struct {
	run         *run
	lines       []string   // as written in the messages: the list, and changes of it
	listed      []string   // all tools as of the last of them; some may be counted only
	named       turn.Names // names that they mention; nil means all that are listed
	catalog     *catalog   // the tools that the run had then
	texts       []string   // as they were found
	stored      turn.Names // paths of lists
	storeFailed bool
}

// remind puts the list of hidden tools and its changes into the conversation, and returns the list. saw
// are the tools that the last model call showed.
func (t *transcript[M]) remind(ctx context.Context, d *reminder, saw []string) string {
	c := d.run.catalog()
	if t.count[instead] > 0 && t.count[list]+t.count[mixed] == 0 { // as Eino has it
		return ""
	}
	if !c.changes {
		text, _ := d.wholeList(ctx, d.run.listable(ctx))
		t.putList(text)
		return text
	}
	if d.texts = t.told(d.texts[:0]); !slices.Equal(d.texts, d.lines) {
		d.lines, d.listed, d.named, d.catalog = slices.Clone(d.texts), nil, nil, nil
	} else if d.catalog == c && !c.filtered {
		return d.lines[0]
	}
	names := d.run.listable(ctx)
	delta, ok := d.change(ctx, names, saw)
	if !ok {
		text, named := d.wholeList(ctx, names)
		d.lines, d.catalog = []string{text}, c
		d.setListed(names, named)
		t.putList(text)
		return text
	}
	d.catalog = c
	if delta != "" {
		d.lines = append(d.lines, delta)
		t.say(change, wire.Reminder[M](delta), delta)
	}
	return d.lines[0]
}

// wholeList returns the list of tools, and the tools that it names.
func (d *reminder) wholeList(ctx context.Context, names []string) (text string, named []string) {
	c := d.run.catalog()
	limit := c.cfg.CatalogLimit
	switch {
	case limit > 0 && len(names) > limit:
	case c.filtered:
		return envelope(names, ""), names
	default: // the same for every run
		return c.reminder(), names
	}
	named = toolnames.Pick(names, limit)
	// How many names each server has, and where the full list is.
	rest := promptData{Limit: limit, Total: len(names), Words: toolnames.CountByServer(names), Path: d.storeNames(ctx, names)}
	return envelope(named, render("rest", rest)), named
}

// storeNames writes the full list to the Backend, once per list and run, and returns its path;
// "" if there is none. After a failure the run does not ask the Backend again: it would delay
// every model call.
func (d *reminder) storeNames(ctx context.Context, names []string) string {
	c := d.run.catalog()
	if c.cfg.Backend == nil {
		return ""
	}
	text := toolnames.Lines(names)
	sum := sha256.Sum256([]byte(text))
	path := fmt.Sprintf("%s/catalog-%x.txt", backend.CatalogDir, sum[:8])
	if d.stored[path] {
		return path
	}
	if d.storeFailed {
		return ""
	}
	if err := writeFile(ctx, c.cfg.Backend, path, text); err != nil {
		d.storeFailed = true
		if d.run.isNew(ctx, storeLine) {
			c.emit(ctx, einolean.Event{Kind: einolean.KindStoreFailed, Err: err})
		}
		return ""
	}
	d.stored.Add(path)
	return path
}

// change returns the text of the changes since the last one, and notes them; "" if nothing
// changed. ok is false if the list must be rewritten.
func (d *reminder) change(ctx context.Context, names, saw []string) (delta string, ok bool) {
	if len(d.lines) == 0 || len(names) == 0 || d.listed == nil && !d.recall(ctx, names) {
		return "", false
	}
	if d.named == nil {
		d.named = turn.Names{}
		d.addNames(d.listed)
	}
	added := difference(names, d.listed)
	removed, isDenied := d.removed(names)
	switch {
	case isDenied:
		return "", false
	case len(added) == 0 && !d.knewAny(removed, saw):
		return "", true // the end of a tool that nobody uses can wait
	}
	limit := d.run.cfg.CatalogLimit
	counted := len(added) > maxDeltaNames || limit > 0 && len(d.named)-len(removed)+len(added) > limit
	delta = d.delta(ctx, names, added, removed, counted)
	if len(removed) > maxDeltaNames || !d.hasRoomFor(delta) {
		return "", false
	}
	d.listed = names
	if !counted {
		d.addNames(added)
	}
	for _, name := range removed {
		delete(d.named, name)
	}
	return delta, true
}

// removed are the names that were announced and no longer exist. isDenied reports that an
// announced tool exists, but the Filter denies it now.
func (d *reminder) removed(names []string) (removed []string, isDenied bool) {
	for _, name := range difference(d.listed, names) {
		isDenied = isDenied || d.run.catalog().Lookup(name) != nil
		if d.named[name] {
			removed = append(removed, name)
		}
	}
	return removed, isDenied
}

// knewAny reports whether the model may call one of the tools without another search.
func (d *reminder) knewAny(names, saw []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return d.run.cfg.Protocol.neverLoads() || slices.Contains(saw, name)
	})
}

// hasRoomFor reports whether one more change costs less than rewriting the list.
func (d *reminder) hasRoomFor(delta string) bool {
	size := len(delta)
	for _, text := range d.lines[1:] {
		size += len(text)
	}
	return len(d.lines) <= maxDeltas && size <= max(minDeltaBytes, len(d.lines[0])/4)
}

// setListed records the contents of a list: all tools, and those that it names.
func (d *reminder) setListed(names, named []string) {
	d.listed, d.named = names, nil
	if len(named) < len(names) {
		d.named = turn.Names{}
		d.addNames(named)
	}
}

func (d *reminder) addNames(names []string) {
	for _, name := range names {
		d.named.Add(name)
	}
}

// recall reconstructs the state from texts that another process wrote. It reports false if they
// do not say everything.
func (d *reminder) recall(ctx context.Context, names []string) bool {
	if whole, shown := d.wholeList(ctx, names); len(d.lines) == 1 && d.lines[0] == whole {
		d.setListed(names, shown)
		return true
	}
	list, _ := toolnames.Reminder(d.lines[0])
	listed := []string{}
	for _, line := range strings.Split(strings.Trim(list, "\n"), "\n") {
		if isRest(line) {
			return false
		}
		listed = append(listed, toolnames.Unescape(line))
	}
	for _, text := range d.lines[1:] {
		added, removed, ok := readDelta(text)
		if !ok {
			return false
		}
		listed = append(slices.DeleteFunc(listed, func(name string) bool { return slices.Contains(removed, name) }), added...)
	}
	d.setListed(listed, listed)
	return true
}

// isRest recognises the line of a list about names that it does not show.
func isRest(line string) bool {
	return strings.HasPrefix(line, "(") && strings.HasSuffix(line, ")") || strings.HasPrefix(line, "（") && strings.HasSuffix(line, "）")
}

// delta is the text of a change.
func (d *reminder) delta(ctx context.Context, names, added, removed []string, counted bool) string {
	var lines []string
	switch {
	case len(added) == 0:
	case counted:
		lines = append(lines, render("changed-counted", promptData{Total: len(added), Words: toolnames.CountByServer(added), Path: d.storeNames(ctx, names)}))
	default:
		lines = append(lines, render("changed-added", promptData{Words: toolnames.InLine(added)}))
	}
	if len(removed) > 0 {
		lines = append(lines, render("changed-removed", promptData{Words: toolnames.InLine(removed)}))
	}
	return toolnames.ChangedOpen + "\n" + strings.Join(lines, "\n") + "\n" + toolnames.ChangedClose
}

// readDelta reads the text of a change, in either language; ok is false if it counts names.
func readDelta(text string) (added, removed []string, ok bool) {
	list, _ := toolnames.Changed(text)
	for _, line := range strings.Split(strings.Trim(list, "\n"), "\n") {
		known := false
		for _, language := range []*texts.Texts{prompts.English(), prompts.Chinese()} {
			if names, is := strings.CutPrefix(line, language.Say("changed-added", promptData{})); is {
				added, known = append(added, toolnames.OutOfLine(names)...), true
			} else if names, is := strings.CutPrefix(line, language.Say("changed-removed", promptData{})); is {
				removed, known = append(removed, toolnames.OutOfLine(names)...), true
			}
		}
		if !known {
			return nil, nil, false
		}
	}
	return added, removed, true
}
