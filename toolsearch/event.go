// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What OnEvent is told: changes and totals, never what stayed the same.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/safe"
)

// The bounds of an event's parts.
const (
	maxEventNames = 20
	maxEventHits  = 10
	maxEventTerms = 5 // hits with terms
	maxEventQuery = 1000
	maxEventErrs  = 5

	// maxDeniedSets is how many changed sets one model call reports; others wait for the
	// next. With tools loaded and tools unloaded that makes at most four events.
	maxDeniedSets = 2
)

// reported is what the events of a run have reported already. It survives a checkpoint as
// a run-local value: a resumed run repeats nothing.
type reported struct {
	mu      sync.Mutex
	isRead  bool            // the run-local value was looked for
	done    map[string]bool // what was reported, by the lines below
	pending map[verdictKey]error

	names []string // the tools of the catalogue as it was reported last; the hooks' own
}

func (k verdictKey) line() string { return "denied " + string(k.phase) + " " + k.entry.info.Name }

const (
	catalogLine = "catalog " // and what tells catalogues apart
	storeLine   = "store"
)

// restore must be called with the lock held.
func (d *reported) restore(ctx context.Context) {
	if d.isRead {
		return
	}
	d.isRead, d.done, d.pending = true, map[string]bool{}, map[verdictKey]error{}
	lines, _, _ := runLocal[[]string](ctx, reportedKey)
	for _, line := range lines {
		d.done[line] = true
	}
}

// save must be called with the lock held.
func (d *reported) save(ctx context.Context) {
	lines := slices.AppendSeq(make([]string, 0, len(d.done)), maps.Keys(d.done))
	slices.Sort(lines)
	setRunLocal(ctx, reportedKey, lines)
}

// isNew reports whether something has not been reported in this run, and notes that it is.
func (d *reported) isNew(ctx context.Context, line string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.restore(ctx)
	if d.done[line] {
		return false
	}
	d.done[line] = true
	d.save(ctx)
	return true
}

// noteVerdict takes in what the Filter said of a tool, and remembers what that changes.
func (d *reported) noteVerdict(ctx context.Context, k verdictKey, v *verdict) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.restore(ctx)
	if v.ok == d.done[k.line()] {
		d.pending[k] = v.err
	} else {
		delete(d.pending, k)
	}
}

// takeChanges removes the changes of one owner's tools in one phase. The names are in the order
// of the catalogue.
func (d *reported) takeChanges(g *group, owner *settings, phase Phase) (denied, allowed []string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.pending) == 0 {
		return nil, nil, nil
	}
	for e := range g.cat.entries() {
		k := verdictKey{e, phase}
		why, changed := d.pending[k]
		if !changed || g.owner(e) != owner {
			continue
		}
		delete(d.pending, k)
		if name, line := e.info.Name, k.line(); d.done[line] {
			allowed = append(allowed, name)
			delete(d.done, line)
		} else {
			denied = append(denied, name)
			d.done[line] = true
		}
		if err == nil {
			err = why
		}
	}
	return denied, allowed, err
}

// emitCatalog reports the catalogue at the start of a run, and what changed in it since.
func (d *reported) emitCatalog(ctx context.Context, g *group) {
	if g.settings.cfg.OnEvent == nil {
		return
	}
	names, tokens, sum := g.measure()
	if !d.isNewCatalog(ctx, sum) {
		return
	}
	added, removed := difference(names, d.names), difference(d.names, names)
	if len(d.names) > 0 {
		tokens = g.tokensOf(added)
	}
	d.names = names
	g.settings.emit(ctx, leanctx.Event{Kind: leanctx.KindCatalogChanged, Tools: &leanctx.ToolChange{
		Added: head(added), AddedCount: len(added), Removed: head(removed), RemovedCount: len(removed), Tokens: tokens,
	}})
}

// emitRefused reports a tool of a Source whose name another tool has, once in a run.
func (d *reported) emitRefused(ctx context.Context, s *settings, name string) {
	if s.cfg.OnEvent != nil && d.isNew(ctx, "refused "+name) {
		s.emit(ctx, leanctx.Event{Kind: leanctx.KindToolRefused, Tool: name, Err: fmt.Errorf("toolsearch: Source: another tool has the name %q", name)})
	}
}

// isNewCatalog reports whether the catalogue is another one than was reported last.
func (d *reported) isNewCatalog(ctx context.Context, digest string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.restore(ctx)
	if d.done[catalogLine+digest] {
		return false
	}
	maps.DeleteFunc(d.done, func(line string, _ bool) bool { return strings.HasPrefix(line, catalogLine) })
	d.done[catalogLine+digest] = true
	d.save(ctx)
	return true
}

// measure returns the names of the hidden tools, the size of their definitions in tokens,
// and what tells catalogues apart.
func (g *group) measure() (names []string, tokens int64, sum string) {
	if g.like != nil {
		return g.like.measure()
	}
	g.measureOnce.Do(func() {
		var all strings.Builder
		for e := range g.cat.entries() {
			g.tokens += e.tokens()
			fmt.Fprintf(&all, "%q %q %s\n", e.info.Name, e.info.Desc, e.parameters())
		}
		g.sum = digest(all.String())
	})
	return g.allNames(), g.tokens, g.sum
}

func (g *group) tokensOf(names []string) (n int64) {
	for _, name := range names {
		if e := g.cat.lookup(name); e != nil {
			n += e.tokens()
		}
	}
	return n
}

// emitVisible reports what became visible and what is hidden again. At the start of a run
// an earlier one did the same; idle are the tools that were not used for too long.
func (g *group) emitVisible(ctx context.Context, before, now, unused []string, repeat bool) {
	if g.settings.cfg.OnEvent == nil || slices.Equal(before, now) {
		return
	}
	if added := difference(now, before); len(added) > 0 {
		c := &leanctx.ToolChange{Added: head(added), AddedCount: len(added), Tokens: g.tokensOf(added)}
		if repeat {
			c.Reason = "history"
		}
		g.settings.emit(ctx, leanctx.Event{Kind: leanctx.KindToolsLoaded, Repeat: repeat, Tools: c})
	}
	if unloaded := difference(before, now); len(unloaded) > 0 {
		c := &leanctx.ToolChange{Removed: head(unloaded), RemovedCount: len(unloaded), Tokens: g.tokensOf(unloaded)}
		if len(difference(unloaded, unused)) == 0 {
			c.Reason = "unused"
		}
		g.settings.emit(ctx, leanctx.Event{Kind: leanctx.KindToolsUnloaded, Tools: c})
	}
}

// emitNotHidden reports at the first model call of a run that later handlers added tools
// which are marked to be hidden. The instance may have nothing else to do in the run.
func (s *settings) emitNotHidden(ctx context.Context, infos []*schema.ToolInfo) {
	if s.cfg.OnEvent == nil || !s.cfg.DeferMarkedTools {
		return
	}
	if done, _, err := runLocal[bool](ctx, notHiddenKey); done || err != nil {
		return
	}
	setRunLocal(ctx, notHiddenKey, true)
	var names []string
	var tokens int64
	for _, t := range infos {
		if t == nil || !isMarked(t) {
			continue
		}
		if r := runOf(ctx); r == nil || r.group().cat.lookup(t.Name) == nil {
			names = append(names, t.Name)
			tokens += (&entry{info: t}).tokens()
		}
	}
	if len(names) == 0 {
		return
	}
	s.emit(ctx, leanctx.Event{
		Kind: leanctx.KindToolsNotHidden, Tools: &leanctx.ToolChange{Added: head(names), AddedCount: len(names), Tokens: tokens},
		Err: errors.New("toolsearch: DeferMarkedTools: handlers after this one added tools that are marked defer_loading, which stay visible: put this one after them"),
	})
}

// emitDenied reports the sets of denied tools that changed since the last model call.
func (t *turn) emitDenied(ctx context.Context) {
	changed := false
	for _, m := range t.group.members {
		if m.settings.cfg.OnEvent == nil || m.settings.cfg.Filter == nil {
			continue
		}
		sets := 0
		for _, phase := range []Phase{PhaseList, PhaseSearch, PhaseLoad, PhaseActive} {
			if sets == maxDeniedSets {
				break
			}
			denied, allowed, err := t.reported.takeChanges(t.group, m.settings, phase)
			if len(denied)+len(allowed) == 0 {
				continue
			}
			sets, changed = sets+1, true
			m.settings.emit(ctx, leanctx.Event{Kind: leanctx.KindToolsDenied, Err: err, Tools: &leanctx.ToolChange{
				Added: head(denied), AddedCount: len(denied), Removed: head(allowed), RemovedCount: len(allowed),
				Tokens: t.group.tokensOf(denied) + t.group.tokensOf(allowed), Phase: string(phase),
			}})
		}
	}
	if changed {
		t.reported.mu.Lock()
		defer t.reported.mu.Unlock()
		t.reported.save(ctx)
	}
}

// emitDeniedCall reports a call to a tool that a phase denies.
func (t *turn) emitDeniedCall(ctx context.Context, e *entry, phases ...Phase) {
	owner := t.group.owner(e)
	if owner.cfg.OnEvent == nil || owner.cfg.Filter == nil {
		return
	}
	for _, phase := range phases {
		if v := t.verdict(ctx, e, phase); !v.ok {
			owner.emit(ctx, leanctx.Event{
				Kind: leanctx.KindToolsDenied, Tool: e.info.Name, CallID: callID(ctx), Err: v.err,
				Tools: &leanctx.ToolChange{Added: []string{e.info.Name}, AddedCount: 1, Tokens: e.tokens(), Phase: string(phase)},
			})
			return
		}
	}
}

// searchReport collects what happens during one search. Nil collects nothing.
type searchReport struct {
	start time.Time

	mu        sync.Mutex
	indexName string
	fallback  bool
	failed    []error
}

type searchReportKey struct{}

// reporting returns a context in which a search is reported, if anybody listens.
func (g *group) reporting(ctx context.Context) (context.Context, *searchReport) {
	if g.settings.cfg.OnEvent == nil {
		return ctx, nil
	}
	s := &searchReport{start: time.Now()}
	return context.WithValue(ctx, searchReportKey{}, s), s
}

func reportOf(ctx context.Context) *searchReport {
	s, _ := ctx.Value(searchReportKey{}).(*searchReport)
	return s
}

// fail notes that an index, or a part of one, failed.
func (s *searchReport) fail(err error) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failed) < maxEventErrs {
		s.failed = append(s.failed, err)
	}
}

// answered notes which index answered.
func (s *searchReport) answered(x Index, fallback bool) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.indexName = indexName(x)
	s.fallback = s.fallback || fallback
}

// emitSearched reports a search that was answered.
func (g *group) emitSearched(ctx context.Context, s *searchReport, query string, hits []leanctx.Hit) {
	if s == nil {
		return
	}
	s.mu.Lock()
	index, fallback, failed := s.indexName, s.fallback, slices.Clone(s.failed)
	s.mu.Unlock()
	id := callID(ctx)
	if len(failed) > 0 {
		g.settings.emit(ctx, leanctx.Event{Kind: leanctx.KindIndexFailed, CallID: id, Err: errors.Join(failed...)})
	}
	g.settings.emit(ctx, leanctx.Event{Kind: leanctx.KindToolsSearched, CallID: id, Search: &leanctx.Search{
		Query: clippedQuery(query), Index: index, Took: time.Since(s.start), Fallback: fallback, Hits: hits,
	}})
}

// termer is an index that says what each word of a query adds to a tool's score.
type termer interface {
	terms(q Query, name string) []leanctx.Term
}

// termsOf are the terms of a tool's score, where the index can tell.
func termsOf(x Index, q Query, name string) []leanctx.Term {
	t, ok := x.(termer)
	if !ok {
		return nil
	}
	terms, _ := safe.Value("the index", func() ([]leanctx.Term, error) { return t.terms(q, name), nil })
	return terms
}

// head is a copy of the first names, for an event; nil for none.
func head(names []string) []string {
	return append([]string(nil), names[:min(len(names), maxEventNames)]...)
}

func clippedQuery(query string) string {
	if len(query) > maxEventQuery {
		return strings.ToValidUTF8(query[:maxEventQuery], "")
	}
	return query
}

func indexName(x Index) string { return strings.TrimPrefix(fmt.Sprintf("%T", x), "*") }

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
