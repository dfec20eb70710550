// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The message that lists the hidden tools, and those that announce changes. With tools that
// come and go, the list stays as written, and each change is announced at the end of the
// conversation: rewriting the list would invalidate the provider's prompt cache from there on.

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/texts"
	"github.com/leanctx/leanctx/internal/toolnames"
)

const (
	maxDeltas     = 32 // changes announced before the list is rewritten
	maxDeltaNames = 20 // added names in one; more are counted by server
	// minDeltaBytes of changes, or a quarter of the list if that is more, are announced before
	// the list is rewritten.
	minDeltaBytes = 1000
)

// told is what the messages say about the hidden tools: the list, and changes of it.
type told struct {
	lines  []string  // as written in the messages, the list first
	listed []string  // all tools as of the last text; some may be counted only
	named  stringSet // names that they mention; nil means all that are listed
	group  *group    // the tools that the run had then
}

// reminder keeps the messages about hidden tools up to date. It belongs to the hooks.
type reminder struct {
	turn        *turn // of this model call
	silent      bool  // nothing is hidden in it
	told        told
	stored      stringSet // paths of lists
	storeFailed bool
}

// remind returns the messages with the list of hidden tools and its changes, and the list. saw
// are the tools that the last model call showed.
func (t *transcript[M]) remind(ctx context.Context, d *reminder, msgs []M, saw []string) ([]M, string) {
	if d.silent {
		return t.withReminder(msgs, ""), ""
	}
	if !hasSource(d.turn.group.members) {
		text, _ := d.wholeList(ctx, d.turn.listable(ctx))
		return t.withReminder(msgs, text), text
	}
	if !t.isTold(msgs, d.told.lines) {
		d.told = told{lines: t.toldTexts(msgs)}
	} else if d.told.group == d.turn.group && d.turn.group.isUnfiltered() {
		return msgs, d.told.lines[0]
	}
	names := d.turn.listable(ctx)
	delta, ok := d.change(ctx, names, saw)
	if !ok {
		text, named := d.wholeList(ctx, names)
		d.told = told{lines: []string{text}, group: d.turn.group}
		d.told.setListed(names, named)
		return t.withReminder(msgs, text), text
	}
	d.told.group = d.turn.group
	if delta != "" {
		d.told.lines = append(d.told.lines, delta)
		msgs = append(slices.Clip(msgs), t.codec.Reminder(delta))
	}
	return msgs, d.told.lines[0]
}

// wholeList returns the list of tools, and the tools that it names.
func (d *reminder) wholeList(ctx context.Context, names []string) (text string, named []string) {
	if text, ok := d.turn.group.plainReminder(); ok {
		return text, names
	}
	limit := d.turn.group.settings.cfg.CatalogLimit
	if limit == 0 || len(names) <= limit {
		return envelope(names, ""), names
	}
	named = pickNames(names, limit)
	// How many names each server has, and where the full list is.
	rest := promptData{Limit: limit, Total: len(names), Words: serverCounts(names), Path: d.storeNames(ctx, names)}
	return envelope(named, render("rest", rest)), named
}

// plainReminder is the reminder if it is the same for every run.
func (g *group) plainReminder() (text string, ok bool) {
	if !g.isUnfiltered() || g.settings.cfg.CatalogLimit > 0 && g.cat.len() > g.settings.cfg.CatalogLimit {
		return "", false
	}
	s := g.cat.summary
	s.reminderOnce.Do(func() { s.reminder = envelope(g.cat.names(), "") })
	return s.reminder, true
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
			next = append(next, t.codec.Reminder(text))
		}
		if !slices.Contains(t.reminders, i) && !slices.Contains(t.deltas, i) {
			next = append(next, msg)
		}
	}
	if at == len(msgs) && text != "" {
		next = append(next, t.codec.Reminder(text))
	}
	return next
}

func (t *transcript[M]) remindedWith(msgs []M, text string) bool {
	if text == "" || len(t.reminders) > 1 || len(t.deltas) > 0 {
		return text == "" && len(t.reminders)+len(t.deltas) == 0
	}
	if len(t.reminders) == 1 {
		return t.codec.Text(msgs[t.reminders[0]]).Text == text
	}
	return slices.ContainsFunc(t.mixed, func(i int) bool { return strings.Contains(t.codec.Text(msgs[i]).Text, text) })
}

func (t *transcript[M]) reminderPlace(msgs []M) int {
	if len(t.reminders) > 0 {
		return t.reminders[0]
	}
	for i, msg := range msgs {
		if !t.codec.IsSystem(msg) {
			return i
		}
	}
	return len(msgs)
}

func envelope(names []string, rest string) string {
	if len(names) == 0 {
		return ""
	}
	if rest != "" {
		rest += "\n"
	}
	return toolnames.ReminderOpen + "\n" + nameLines(names) + rest + toolnames.ReminderClose
}

// nameLines writes names, each on its own line.
func nameLines(names []string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteString(escapeName(n))
		b.WriteByte('\n')
	}
	return b.String()
}

// serverCounts says how many of the names each server has.
func serverCounts(names []string) (counts []string) {
	const most = 50 // servers
	groups, order := byServer(names)
	for i, s := range order {
		if i == most {
			counts = append(counts, "…")
			break
		}
		label := escapeName(s)
		if s == "" {
			label = "-"
		}
		counts = append(counts, fmt.Sprintf("%s: %d", label, len(groups[s])))
	}
	return counts
}

// storeNames writes the full list to the Backend, once per list and run, and returns its path;
// "" if there is none. After a failure the run does not ask the Backend again: it would delay
// every model call.
func (d *reminder) storeNames(ctx context.Context, names []string) string {
	g := d.turn.group
	if g.settings.cfg.Backend == nil {
		return ""
	}
	text := nameLines(names)
	sum := sha256.Sum256([]byte(text))
	path := fmt.Sprintf("%s/catalog-%x.txt", backend.CatalogDir, sum[:8])
	if d.stored[path] {
		return path
	}
	if d.storeFailed {
		return ""
	}
	if err := writeFile(ctx, g.settings.cfg.Backend, path, text); err != nil {
		d.storeFailed = true
		if g.settings.cfg.OnEvent != nil && d.turn.reported.isNew(ctx, storeLine) {
			g.settings.emit(ctx, leanctx.Event{Kind: leanctx.KindStoreFailed, Err: err})
		}
		return ""
	}
	d.stored.add(path)
	return path
}

// isTold reports whether the messages hold exactly these texts: the list, and changes of it.
func (t *transcript[M]) isTold(msgs []M, lines []string) bool {
	if len(t.reminders) != 1 || len(lines) != 1+len(t.deltas) || t.codec.Text(msgs[t.reminders[0]]).Text != lines[0] {
		return false
	}
	for k, i := range t.deltas {
		if t.codec.Text(msgs[i]).Text != lines[k+1] {
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
	texts = append(texts, t.codec.Text(msgs[t.reminders[0]]).Text)
	for _, i := range t.deltas {
		texts = append(texts, t.codec.Text(msgs[i]).Text)
	}
	return texts
}

// change returns the text of the changes since the last one, and updates t; "" if nothing
// changed. ok is false if the list must be rewritten.
func (d *reminder) change(ctx context.Context, names, saw []string) (delta string, ok bool) {
	was := &d.told
	if len(was.lines) == 0 || len(names) == 0 || was.listed == nil && !d.recall(ctx, names) {
		return "", false
	}
	if was.named == nil {
		was.named = stringSet{}
		was.addNames(was.listed)
	}
	added := difference(names, was.listed)
	removed, isDenied := d.removed(names)
	switch {
	case isDenied:
		return "", false
	case len(added) == 0 && !d.knewAny(removed, saw):
		return "", true // the end of a tool that nobody uses can wait
	}
	limit := d.turn.group.settings.cfg.CatalogLimit
	counted := len(added) > maxDeltaNames || limit > 0 && len(was.named)-len(removed)+len(added) > limit
	delta = d.delta(ctx, names, added, removed, counted)
	if len(removed) > maxDeltaNames || !was.hasRoomFor(delta) {
		return "", false
	}
	was.listed = names
	if !counted {
		was.addNames(added)
	}
	for _, name := range removed {
		delete(was.named, name)
	}
	return delta, true
}

// removed are the names that were announced and no longer exist. isDenied reports that an
// announced tool exists, but the Filter denies it now.
func (d *reminder) removed(names []string) (removed []string, isDenied bool) {
	for _, name := range difference(d.told.listed, names) {
		isDenied = isDenied || d.turn.group.cat.lookup(name) != nil
		if d.told.named[name] {
			removed = append(removed, name)
		}
	}
	return removed, isDenied
}

// knewAny reports whether the model may call one of the tools without another search.
func (d *reminder) knewAny(names, saw []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return d.turn.group.settings.rules.neverLoads || slices.Contains(saw, name) })
}

// hasRoomFor reports whether one more change costs less than rewriting the list.
func (d *told) hasRoomFor(delta string) bool {
	size := len(delta)
	for _, text := range d.lines[1:] {
		size += len(text)
	}
	return len(d.lines) <= maxDeltas && size <= max(minDeltaBytes, len(d.lines[0])/4)
}

// setListed records the contents of a list: all tools, and those that it names.
func (d *told) setListed(names, named []string) {
	d.listed, d.named = names, nil
	if len(named) < len(names) {
		d.named = stringSet{}
		d.addNames(named)
	}
}

func (d *told) addNames(names []string) {
	for _, name := range names {
		d.named.add(name)
	}
}

// recall reconstructs the state from texts that another process wrote. It reports false if they
// do not say everything.
func (d *reminder) recall(ctx context.Context, names []string) bool {
	was := &d.told
	if whole, shown := d.wholeList(ctx, names); len(was.lines) == 1 && was.lines[0] == whole {
		was.setListed(names, shown)
		return true
	}
	list, _ := toolnames.Reminder(was.lines[0])
	listed := []string{}
	for _, line := range strings.Split(strings.Trim(list, "\n"), "\n") {
		if isRest(line) {
			return false
		}
		listed = append(listed, unescapeName(line))
	}
	for _, text := range was.lines[1:] {
		added, removed, ok := readDelta(text)
		if !ok {
			return false
		}
		listed = append(slices.DeleteFunc(listed, func(name string) bool { return slices.Contains(removed, name) }), added...)
	}
	was.setListed(listed, listed)
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
		lines = append(lines, render("changed-counted", promptData{Total: len(added), Words: serverCounts(added), Path: d.storeNames(ctx, names)}))
	default:
		lines = append(lines, render("changed-added", promptData{Words: inLine(added)}))
	}
	if len(removed) > 0 {
		lines = append(lines, render("changed-removed", promptData{Words: inLine(removed)}))
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
				added, known = append(added, outOfLine(names)...), true
			} else if names, is := strings.CutPrefix(line, renderIn(language, "changed-removed", promptData{})); is {
				removed, known = append(removed, outOfLine(names)...), true
			}
		}
		if !known {
			return nil, nil, false
		}
	}
	return added, removed, true
}
