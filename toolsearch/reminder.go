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
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/texts"
	"github.com/leanctx/leanctx/internal/toolnames"
	"github.com/leanctx/leanctx/toolsearch/internal/wire"
)

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
	silent      bool      // nothing is hidden in this model call
	lines       []string  // as written in the messages: the list, and changes of it
	listed      []string  // all tools as of the last of them; some may be counted only
	named       stringSet // names that they mention; nil means all that are listed
	catalog     *catalog  // the tools that the run had then
	stored      stringSet // paths of lists
	storeFailed bool
}

// remind returns the messages with the list of hidden tools and its changes, and the list. saw
// are the tools that the last model call showed.
func (t *transcript[M]) remind(ctx context.Context, d *reminder, msgs []M, saw []string) ([]M, string) {
	if d.silent {
		return t.withReminder(msgs, ""), ""
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
	limit := c.settings.cfg.CatalogLimit
	switch {
	case limit > 0 && len(names) > limit:
	case c.filtered:
		return envelope(names, ""), names
	default: // the same for every run
		return c.reminder(), names
	}
	named = pickNames(names, limit)
	// How many names each server has, and where the full list is.
	rest := promptData{Limit: limit, Total: len(names), Words: serverCounts(names), Path: d.storeNames(ctx, names)}
	return envelope(named, render("rest", rest)), named
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
	c := d.run.catalog()
	if c.settings.cfg.Backend == nil {
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
	if err := writeFile(ctx, c.settings.cfg.Backend, path, text); err != nil {
		d.storeFailed = true
		if c.settings.cfg.OnEvent != nil && d.run.isNew(ctx, storeLine) {
			c.settings.emit(ctx, leanctx.Event{Kind: leanctx.KindStoreFailed, Err: err})
		}
		return ""
	}
	d.stored.add(path)
	return path
}

// change returns the text of the changes since the last one, and updates t; "" if nothing
// changed. ok is false if the list must be rewritten.
func (d *reminder) change(ctx context.Context, names, saw []string) (delta string, ok bool) {
	if len(d.lines) == 0 || len(names) == 0 || d.listed == nil && !d.recall(ctx, names) {
		return "", false
	}
	if d.named == nil {
		d.named = stringSet{}
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
	limit := d.run.catalog().settings.cfg.CatalogLimit
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
		isDenied = isDenied || d.run.catalog().lookup(name) != nil
		if d.named[name] {
			removed = append(removed, name)
		}
	}
	return removed, isDenied
}

// knewAny reports whether the model may call one of the tools without another search.
func (d *reminder) knewAny(names, saw []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return d.run.catalog().settings.cfg.Protocol.neverLoads() || slices.Contains(saw, name)
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
		d.named = stringSet{}
		d.addNames(named)
	}
}

func (d *reminder) addNames(names []string) {
	for _, name := range names {
		d.named.add(name)
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
		listed = append(listed, unescapeName(line))
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

// serverOf is the part of an MCP style name (server__tool) before the first double underscore;
// "" without one.
func serverOf(name string) string {
	s, rest, ok := strings.Cut(name, "__")
	if !ok || rest == "" {
		return ""
	}
	return s
}

func byServer(names []string) (groups map[string][]string, order []string) {
	groups = map[string][]string{}
	for _, n := range names {
		s := serverOf(n)
		if groups[s] == nil {
			order = append(order, s)
		}
		groups[s] = append(groups[s], n)
	}
	return groups, order
}

// pickNames takes names in turn from every server, for a fair share of each, and keeps their
// order.
func pickNames(names []string, limit int) []string {
	queues, order := byServer(names)
	picked := map[string]bool{}
	for len(picked) < limit {
		for _, s := range order {
			if q := queues[s]; len(q) > 0 && len(picked) < limit {
				picked[q[0]], queues[s] = true, q[1:]
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !picked[n] })
}

// escapeName makes a name safe on a line of its own between tags. Names of letters, digits
// and the usual marks stay as they are; unescapeName reverses it.
func escapeName(name string) string {
	isUnsafe := func(c rune) bool { return strings.ContainsRune(`<>\"`, c) || !strconv.IsPrint(c) }
	if utf8.ValidString(name) && !strings.ContainsFunc(name, isUnsafe) {
		return name
	}
	quoted := strconv.QuoteToASCII(name)
	return strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(quoted[1 : len(quoted)-1])
}

// unescapeName reverses escapeName; it leaves a name that was not escaped as it is.
func unescapeName(name string) string {
	if !strings.Contains(name, `\`) {
		return name
	}
	plain, err := strconv.Unquote(`"` + name + `"`)
	if err != nil {
		return name
	}
	return plain
}

// inLine makes names safe in one line, separated by commas.
func inLine(names []string) []string {
	safe := make([]string, len(names))
	for i, name := range names {
		safe[i] = escapeName(name)
		if !strings.Contains(safe[i], ",") {
			continue
		}
		if safe[i] == name {
			quoted := strconv.QuoteToASCII(name)
			safe[i] = quoted[1 : len(quoted)-1]
		}
		safe[i] = strings.ReplaceAll(safe[i], ",", `\u002c`)
	}
	return safe
}

func outOfLine(list string) (names []string) {
	for name := range strings.SplitSeq(list, ",") {
		names = append(names, unescapeName(strings.TrimSpace(name)))
	}
	return names
}
