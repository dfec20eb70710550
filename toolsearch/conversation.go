// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The conversation: what it says about hidden tools, and what it is told of them.
//
// The evidence is which tools the model has loaded or used. The hooks keep it, and each model call
// reads only new messages. Messages of ours are recognised here, and replaced: the list of hidden
// tools, and announcements of changes. With tools that come and go, the list stays as written, and
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
	"github.com/einolean/einolean/internal/texts"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/turn"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// transcript is what the messages of a run have said so far. It keeps the messages alive: an
// equal pointer is then the same message.
type transcript[M adk.MessageType] struct {
	run       *run
	messages  []M
	facts     turn.Facts
	forUsers  forUsers
	reminders []int // positions of messages that are reminders
	deltas    []int // positions of messages that tell of changes in the list
	offered   []int // positions of messages that describe tools for a user's message
	mixed     []int // positions of messages that hold one, and something else
	instead   bool  // a message that is marked as a reminder lists nothing, and stands for it

	// prefetch loads tools for the text of a user's message at a position. If nil, no tools
	// are prefetched.
	prefetch func(ctx context.Context, at int, text string)
}

// read brings the transcript up to date with the messages.
func (t *transcript[M]) read(ctx context.Context, msgs []M) {
	if len(t.messages) > len(msgs) || !slices.Equal(t.messages, msgs[:len(t.messages)]) {
		t.forget()
	}
	known := t.run.heard()
	for i := len(t.messages); i < len(msgs); i++ {
		switch s := wire.TextOf(msgs[i]); {
		case s.Only && isReminder(s.Text, s.Marked):
			t.reminders = append(t.reminders, i)
		case s.Only && isDelta(s.Text, s.Marked):
			t.deltas = append(t.deltas, i)
		case s.Only && isOffer(s.Text):
			t.offered = append(t.offered, i)
		case s.Marked && holdsList(s.Text):
			t.mixed = append(t.mixed, i)
		case s.Marked:
			t.instead = true
		case s.User && t.prefetch != nil:
			t.prefetch(ctx, i, s.Text)
		}
		t.facts.Add(wire.ViewOf(msgs[i]), known)
	}
	t.messages = append(t.messages, msgs[len(t.messages):]...)
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

// forget makes the next reading begin at the first message.
func (t *transcript[M]) forget() {
	t.messages, t.reminders, t.deltas, t.offered, t.mixed, t.instead = t.messages[:0], nil, nil, nil, nil, false
	t.facts, t.forUsers = t.facts.Anew(), forUsers{likely: t.forUsers.likely}
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
	offers := t.forUsers.offers
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

// forUsers is what the messages of users loaded.
type forUsers struct {
	asked  int // messages
	names  turn.Names
	offers map[int]string         // what describes tools after a user's message, by its position, for a protocol that never loads tools
	report *einolean.Event        // of the last message
	calls  int                    // model calls before it
	likely map[string][]foundTool // what the messages of this model call ask for, by their words
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
	silent      bool       // nothing is hidden in this model call
	lines       []string   // as written in the messages: the list, and changes of it
	listed      []string   // all tools as of the last of them; some may be counted only
	named       turn.Names // names that they mention; nil means all that are listed
	catalog     *catalog   // the tools that the run had then
	stored      turn.Names // paths of lists
	storeFailed bool
}

// remind returns the messages with the list of hidden tools and its changes, and the list. saw
// are the tools that the last model call showed.
func (t *transcript[M]) remind(ctx context.Context, d *reminder, msgs []M, saw []string) ([]M, string) {
	if d.silent {
		return t.withReminder(msgs, ""), ""
	}
	if t.instead && len(t.reminders)+len(t.mixed) == 0 { // as Eino has it
		return msgs, ""
	}
	if !d.run.catalog().changes {
		text, _ := d.wholeList(ctx, d.run.listable(ctx))
		return t.withReminder(msgs, text), text
	}
	if !t.isTold(msgs, d.lines) {
		d.lines, d.listed, d.named, d.catalog = t.toldTexts(msgs), nil, nil, nil
	} else if d.catalog == d.run.catalog() && !d.run.catalog().filtered {
		return msgs, d.lines[0]
	}
	names := d.run.listable(ctx)
	delta, ok := d.change(ctx, names, saw)
	if !ok {
		text, named := d.wholeList(ctx, names)
		d.lines, d.catalog = []string{text}, d.run.catalog()
		d.setListed(names, named)
		return t.withReminder(msgs, text), text
	}
	d.catalog = d.run.catalog()
	if delta != "" {
		d.lines = append(d.lines, delta)
		msgs = append(slices.Clip(msgs), wire.Reminder[M](delta))
	}
	return msgs, d.lines[0]
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

func envelope(names []string, rest string) string {
	if len(names) == 0 {
		return ""
	}
	if rest != "" {
		rest += "\n"
	}
	return toolnames.ReminderOpen + "\n" + toolnames.Lines(names) + rest + toolnames.ReminderClose
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
			if names, is := strings.CutPrefix(line, renderIn(language, "changed-added", promptData{})); is {
				added, known = append(added, toolnames.OutOfLine(names)...), true
			} else if names, is := strings.CutPrefix(line, renderIn(language, "changed-removed", promptData{})); is {
				removed, known = append(removed, toolnames.OutOfLine(names)...), true
			}
		}
		if !known {
			return nil, nil, false
		}
	}
	return added, removed, true
}
