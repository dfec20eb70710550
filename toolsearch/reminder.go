// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The reminder: the message that lists the hidden tools.

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/toolnames"
)

// isReminder recognises a reminder by its envelope, since stores drop Extra. Between the
// tags of one that is not marked there are no others: it could hold more than names.
func isReminder(text string, marked bool) bool {
	list, ok := toolnames.Reminder(text)
	return ok && (marked || !strings.Contains(list, toolnames.ReminderOpen) && !strings.Contains(list, toolnames.ReminderClose))
}

// reminder is the text for this model call; "" if there is no tool to list.
func (r *run) reminder(ctx context.Context) string {
	if r.hiding.off {
		return ""
	}
	if text, ok := r.group().plainReminder(); ok {
		return text
	}
	text, _ := r.wholeList(ctx, r.listable(ctx))
	return text
}

// listable are the names that the model may be told of now, in the order of the catalogue.
func (r *run) listable(ctx context.Context) (names []string) {
	for e := range r.group().cat.all() {
		if r.turn().allowed(ctx, e, PhaseList) {
			names = append(names, e.info.Name)
		}
	}
	return names
}

// wholeList is the reminder of tools, and those that it names.
func (r *run) wholeList(ctx context.Context, names []string) (text string, shown []string) {
	limit := r.group().cfg.CatalogLimit
	if limit == 0 || len(names) <= limit {
		return envelope(names, ""), names
	}
	shown = pickNames(names, limit)
	return envelope(shown, r.rest(ctx, names, limit)), shown
}

// plainReminder is the reminder where it is the same for every run.
func (g *group) plainReminder() (text string, ok bool) {
	if g.cfg.CatalogLimit > 0 {
		return "", false
	}
	if !g.isUnfiltered() {
		return "", false
	}
	if g.like != nil {
		return g.like.plainReminder()
	}
	g.reminderOnce.Do(func() {
		names := make([]string, 0, g.cat.len())
		for e := range g.cat.all() {
			names = append(names, e.info.Name)
		}
		g.reminderText = envelope(names, "")
	})
	return g.reminderText, true
}

func envelope(names []string, rest string) string {
	if len(names) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(toolnames.ReminderOpen)
	for _, n := range names {
		b.WriteByte('\n')
		b.WriteString(escapeName(n))
	}
	if rest != "" {
		b.WriteByte('\n')
		b.WriteString(rest)
	}
	b.WriteByte('\n')
	b.WriteString(toolnames.ReminderClose)
	return b.String()
}

// pickNames takes names in turn from every server, so that each has its share, and
// keeps their order.
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

// rest tells of the names that the limit leaves out: how many each server has, and where
// the full list is.
func (r *run) rest(ctx context.Context, names []string, limit int) string {
	return render("rest", promptData{Limit: limit, Total: len(names), Words: serverCounts(names), Path: r.storeNames(ctx, names)})
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

// storeNames writes the full list to the Backend, once per list and run, and returns its
// path; "" if there is none. A Backend that failed is not asked again in this run.
func (r *run) storeNames(ctx context.Context, names []string) string {
	if r.group().cfg.Backend == nil {
		return ""
	}
	var b strings.Builder
	for _, n := range names {
		b.WriteString(escapeName(n))
		b.WriteByte('\n')
	}
	sum := sha256.Sum256([]byte(b.String()))
	path := fmt.Sprintf("%s/catalog-%x.txt", backend.CatalogDir, sum[:8])
	return r.notes.storeOnce(path, func() string {
		err := writeFile(ctx, r.group().cfg.Backend, path, b.String())
		if err == nil {
			return path
		}
		if r.group().cfg.OnEvent != nil && r.reported.first(ctx, storeLine) {
			r.group().emit(ctx, leanctx.Event{Kind: leanctx.KindStoreFailed, Err: err})
		}
		return ""
	})
}

// escapeName makes a name safe to stand on a line of its own between the tags. Names of
// letters, digits and the usual marks stay as they are; unescapeName reverses it.
func escapeName(name string) string {
	safe := true
	for i, c := range name {
		if c == '<' || c == '>' || c == '\\' || c == '"' || !strconv.IsPrint(c) || c == '\uFFFD' && !strings.HasPrefix(name[i:], "\uFFFD") {
			safe = false
			break
		}
	}
	if safe {
		return name
	}
	quoted := strconv.QuoteToASCII(name)
	quoted = strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(quoted[1 : len(quoted)-1])
	return quoted
}

// unescapeName reverses escapeName; a name that was not escaped stays as it is.
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
