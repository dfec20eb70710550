// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package told decides what a model is told of the names of hidden tools: a list of them, and, where
// tools come and go, changes of it. Names go in and texts come out: it knows neither messages nor agents.
//
// With tools that come and go, the list stays as written, and each change is announced at the end of the
// conversation: rewriting the list would invalidate the provider's prompt cache from there on.
package told

import (
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/texts"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

const (
	maxChanges = 32 // changes announced before the list is rewritten
	maxNames   = 20 // added names in one; more are counted by server
	// minBytes of changes, or a quarter of the list if that is more, are announced before the list is
	// rewritten.
	minBytes = 1000
)

// Told is what a conversation was told. The zero value knows of nothing.
type Told struct {
	lines       []string    // as written in the messages: the list, and changes of it
	listed      []string    // all tools as of the last of them; some may be counted only
	named       turn.Names  // names that they mention; nil means all that are listed
	by          *hidden.Set // the tools that the run had then
	stored      turn.Names  // paths of lists
	storeFailed bool
}

// Call is what a model call knows of the hidden tools.
type Call struct {
	Tools *hidden.Set     // all of them
	Names func() []string // of the tools that the model may see, in their order; read only
	Whole func() string   // the list of all tools, if it may see all; else nil
	Saw   []string        // tools that the last model call showed

	Changes bool // tools come and go: changes of the list are announced, and the list stays

	Limit int                           // names in a list; 0 is any number
	Calls bool                          // a tool that is named can be called, without another search
	Store func(path, text string) error // keeps the full list; nil if there is no store
}

// Next returns the list for a call after some texts, those of a conversation: the list, and the changes
// of it. If the list has to be written anew, isNew is true; else change is the text to add, "" for none. Where
// tools do not come and go, the list depends on nothing that was told before.
func (t *Told) Next(c Call, written []string) (list, change string, isNew bool) {
	if !c.Changes {
		list, _ = t.list(c, c.Names())
		return list, "", true
	}
	if !slices.Equal(written, t.lines) {
		*t = Told{lines: slices.Clone(written), stored: t.stored, storeFailed: t.storeFailed}
	} else if c.Whole != nil && t.by != nil && t.by == c.Tools {
		return t.lines[0], "", false
	}
	names := c.Names()
	change, ok := t.change(c, names)
	t.by = c.Tools
	if !ok {
		text, named := t.list(c, names)
		t.lines = []string{text}
		t.setListed(names, named)
		return text, "", true
	}
	if change != "" {
		t.lines = append(t.lines, change)
	}
	return t.lines[0], change, false
}

// list returns the list of tools, and the tools that it names.
func (t *Told) list(c Call, names []string) (text string, named []string) {
	switch {
	case c.Limit > 0 && len(names) > c.Limit:
	case c.Whole == nil:
		return List(names, ""), names
	default: // the same for every run
		return c.Whole(), names
	}
	named = toolnames.Pick(names, c.Limit)
	// How many names each server has, and where the full list is.
	rest := say.Data{Limit: c.Limit, Total: len(names), Words: toolnames.CountByServer(names), Path: t.store(c, names)}
	return List(named, say.Text("rest", rest)), named
}

// store keeps the full list, once per list and run, and returns its path; "" if there is none. After
// a failure the store is not asked again: it would delay every model call.
func (t *Told) store(c Call, names []string) string {
	if c.Store == nil {
		return ""
	}
	text := toolnames.Lines(names)
	path := backend.CatalogDir + "/catalog-" + hidden.Digest(text) + ".txt"
	switch {
	case t.stored[path]:
		return path
	case t.storeFailed:
		return ""
	case c.Store(path, text) != nil:
		t.storeFailed = true
		return ""
	}
	t.stored.Add(path)
	return path
}

// change returns the text of the changes since the last one, and notes them; "" if nothing
// changed. ok is false if the list must be rewritten.
func (t *Told) change(c Call, names []string) (text string, ok bool) {
	if len(t.lines) == 0 || len(names) == 0 || t.listed == nil && !t.recall(c, names) {
		return "", false
	}
	if t.named == nil {
		t.named = turn.Names{}
		t.named.Add(t.listed...)
	}
	added := turn.Difference(names, t.listed)
	removed, isDenied := t.removed(c, names)
	switch {
	case isDenied:
		return "", false
	case len(added) == 0 && !c.knewAny(removed):
		return "", true // the end of a tool that nobody uses can wait
	}
	counted := len(added) > maxNames || c.Limit > 0 && len(t.named)-len(removed)+len(added) > c.Limit
	text = t.delta(c, names, added, removed, counted)
	if len(removed) > maxNames || !t.hasRoomFor(text) {
		return "", false
	}
	t.listed = names
	if !counted {
		t.named.Add(added...)
	}
	for _, name := range removed {
		delete(t.named, name)
	}
	return text, true
}

// removed are the names that were announced and no longer exist. isDenied reports that an
// announced tool exists, but may not be named now.
func (t *Told) removed(c Call, names []string) (removed []string, isDenied bool) {
	for _, name := range turn.Difference(t.listed, names) {
		isDenied = isDenied || c.Tools.Has(name)
		if t.named[name] {
			removed = append(removed, name)
		}
	}
	return removed, isDenied
}

// knewAny reports whether the model may call one of the tools without another search.
func (c Call) knewAny(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return c.Calls || slices.Contains(c.Saw, name) })
}

// hasRoomFor reports whether one more change costs less than rewriting the list.
func (t *Told) hasRoomFor(change string) bool {
	size := len(change)
	for _, text := range t.lines[1:] {
		size += len(text)
	}
	return len(t.lines) <= maxChanges && size <= max(minBytes, len(t.lines[0])/4)
}

// setListed records the contents of a list: all tools, and those that it names.
func (t *Told) setListed(names, named []string) {
	t.listed, t.named = names, nil
	if len(named) < len(names) {
		t.named = turn.Names{}
		t.named.Add(named...)
	}
}

// recall reconstructs the state from texts that another process wrote. It reports false if they
// do not say everything.
func (t *Told) recall(c Call, names []string) bool {
	if whole, shown := t.list(c, names); len(t.lines) == 1 && t.lines[0] == whole {
		t.setListed(names, shown)
		return true
	}
	list, _ := toolnames.Reminder(t.lines[0])
	listed := []string{}
	for _, line := range strings.Split(strings.Trim(list, "\n"), "\n") {
		if isRest(line) {
			return false
		}
		listed = append(listed, toolnames.Unescape(line))
	}
	for _, text := range t.lines[1:] {
		added, removed, ok := readChange(text)
		if !ok {
			return false
		}
		listed = append(slices.DeleteFunc(listed, func(name string) bool { return slices.Contains(removed, name) }), added...)
	}
	t.setListed(listed, listed)
	return true
}

// delta is the text of a change.
func (t *Told) delta(c Call, names, added, removed []string, counted bool) string {
	var lines []string
	switch {
	case len(added) == 0:
	case counted:
		lines = append(lines, say.Text("changed-counted", say.Data{Total: len(added), Words: toolnames.CountByServer(added), Path: t.store(c, names)}))
	default:
		lines = append(lines, say.Text("changed-added", say.Data{Words: toolnames.InLine(added)}))
	}
	if len(removed) > 0 {
		lines = append(lines, say.Text("changed-removed", say.Data{Words: toolnames.InLine(removed)}))
	}
	return toolnames.ChangedOpen + "\n" + strings.Join(lines, "\n") + "\n" + toolnames.ChangedClose
}

// List is the list of these tools, with a line about the rest, if there is one.
func List(names []string, rest string) string {
	if len(names) == 0 {
		return ""
	}
	if rest != "" {
		rest += "\n"
	}
	return toolnames.ReminderOpen + "\n" + toolnames.Lines(names) + rest + toolnames.ReminderClose
}

// isRest recognises the line of a list about names that it does not show.
func isRest(line string) bool {
	return strings.HasPrefix(line, "(") && strings.HasSuffix(line, ")") || strings.HasPrefix(line, "（") && strings.HasSuffix(line, "）")
}

// readChange reads the text of a change, in either language; ok is false if it counts names.
func readChange(text string) (added, removed []string, ok bool) {
	list, _ := toolnames.Changed(text)
	for _, line := range strings.Split(strings.Trim(list, "\n"), "\n") {
		known := false
		for _, language := range []*texts.Texts{say.Prompts.English(), say.Prompts.Chinese()} {
			if names, is := strings.CutPrefix(line, language.Say("changed-added", say.Data{})); is {
				added, known = append(added, toolnames.OutOfLine(names)...), true
			} else if names, is := strings.CutPrefix(line, language.Say("changed-removed", say.Data{})); is {
				removed, known = append(removed, toolnames.OutOfLine(names)...), true
			}
		}
		if !known {
			return nil, nil, false
		}
	}
	return added, removed, true
}

// IsList recognises a list by its envelope, since stores drop what marks a message. An unmarked one
// must have no other tags inside: it could hold more than names.
func IsList(text string, marked bool) bool {
	list, ok := toolnames.Reminder(text)
	return ok && (marked || !strings.Contains(list, toolnames.ReminderOpen) && !strings.Contains(list, toolnames.ReminderClose))
}

// IsChange recognises a change of a list by its envelope. An unmarked one must have no other tags inside.
func IsChange(text string, marked bool) bool {
	lines, ok := toolnames.Changed(text)
	return ok && (marked || !strings.Contains(lines, "<") && !strings.Contains(lines, ">"))
}

// Holds reports whether a text has a list in it, or a change of one.
func Holds(text string) bool {
	return strings.Contains(text, toolnames.ReminderOpen) || strings.Contains(text, toolnames.ChangedOpen)
}
