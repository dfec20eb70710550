// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// One run of an agent: how an instance joins it, what it remembers, and the run as its searches and its
// conversation see it.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/history"
	"github.com/einolean/einolean/toolsearch/internal/protocol"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
	"github.com/einolean/einolean/toolsearch/internal/search"
	"github.com/einolean/einolean/toolsearch/internal/slots"
)

// runKey is the key of the run in a context.
type runKey struct{}

// run is one run of an agent, shared by the hooks and the tool calls. The context carries it from BeforeAgent on. Only its
// state survives a checkpoint.
type run struct {
	settings *settings
	tools    tools // of its agent
	state    runstate.SavedState
	calls    runstate.CallLog
	filter   filterCache

	hooks             any             // *hooks[M]
	returnDirectly    map[string]bool // tools whose result ends the run; Eino's own map
	answersSignatures bool            // the agent has programs: searches answer with signatures, and load nothing
}

func runFrom(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

func newRun(start *toolCatalog) *run {
	r := &run{settings: start.settings, tools: tools{own: map[string]*schema.ToolInfo{}}}
	r.filter.cache.Ask = start.cfg.Filter
	r.tools.hidden.Store(start)
	return r
}

// begin adds the instance to an agent whose run begins: its list is without the tools that it gave up, and with
// the search tools and slots for the hidden ones. It returns the run; none if there is nothing to do.
func beginRun(ctx context.Context, all *catalogCache, rc *einorun.RunContext) (context.Context, *run, error) {
	if all.cfg.DeferMarkedTools {
		ctx = context.WithValue(ctx, all.settings, &atomic.Bool{}) // for emitNotHidden
	}
	own, old := ownInfos(ctx, rc.Tools)
	if old == all.settings {
		return ctx, nil, nil // the same instance twice hides its tools once
	}
	r, err := newRunFor(ctx, all, rc.Tools, own, old != nil)
	if err == nil && old == nil { // also none: the run in the context may be that of an agent around this one
		ctx = context.WithValue(ctx, runKey{}, r)
	}
	if err != nil || r == nil {
		return ctx, nil, err
	}
	r.returnDirectly = rc.ReturnDirectly
	ctx = programturn.WithTools(ctx, r)
	r.tools.refresh(ctx, &r.state)
	r.tools.slots = r.catalog().plan().Begin(ctx, r)
	search := searchTools(r)
	if r.settings.rules.SearchTool {
		rc.ToolSearchTool, _ = search[0].Info(ctx) // which never fails
	}
	var kept []tool.BaseTool
	for i, t := range rc.Tools {
		if own[i] == nil || !r.settings.hides(own[i]) {
			kept = append(kept, t)
		}
	}
	rc.Tools = slices.Concat(kept, search, r.tools.slots.Tools())
	return ctx, r, nil
}

// join makes the run of an agent with these tools of its own, which another instance may have joined; none if
// there is nothing to do.
func newRunFor(ctx context.Context, all *catalogCache, tools []tool.BaseTool, own []*schema.ToolInfo, joined bool) (*run, error) {
	owned, err := all.pick(tools, own)
	if err != nil {
		return nil, err
	}
	start, err := all.find(ctx, catalogKey{owned: owned})
	if err != nil || start.Len() == 0 && !start.changes {
		return nil, err
	}
	if joined {
		return nil, errors.New("toolsearch: the agent has two instances of this middleware: give one of them all tools (DynamicTools, or a Source made by toolset.Multi) and one Filter")
	}
	if err := all.unsupported; err != nil {
		return nil, fmt.Errorf("toolsearch: %w", err)
	}
	if err := start.clashes(tools, own); err != nil {
		return nil, err
	}
	r := newRun(start)
	r.state.Begin(ctx)
	for _, info := range own {
		if info != nil {
			r.tools.own[info.Name] = info
		}
	}
	r.answersSignatures = programturn.ProgramsOf(ctx) != nil
	return r, nil
}

// ownInfos are the infos of the tools in a list; nil for those of this package, and for a tool whose Info
// fails, which Eino reports. old is an earlier instance that put search tools into it.
func ownInfos(ctx context.Context, tools []tool.BaseTool) (own []*schema.ToolInfo, old *settings) {
	own = make([]*schema.ToolInfo, len(tools))
	for i, t := range tools {
		search, isOurs := t.(interface{ owner() *settings })
		switch {
		case isOurs && old == nil:
			old = search.owner()
		case isOurs, slots.Is(t):
		default:
			own[i], _ = catalog.ReadInfo(ctx, t)
		}
	}
	return own, old
}

// emitNotHidden reports at the first model call of a run, by a flag in the context that the settings
// are the key of, that later handlers added tools which are marked to be hidden.
func emitNotHidden(ctx context.Context, s *settings, infos []*schema.ToolInfo) {
	done, _ := ctx.Value(s).(*atomic.Bool)
	if done == nil || done.Swap(true) {
		return
	}
	r := runFrom(ctx) // none where there is nothing to hide
	if r != nil && !r.state.MarkReported(ctx, "not hidden") {
		return
	}
	var names []string
	var tokens int64
	for _, t := range infos {
		if t != nil && isMarked(t) && (r == nil || !r.catalog().Has(t.Name)) {
			names = append(names, t.Name)
			tokens += (&catalog.Tool{Info: t}).Tokens()
		}
	}
	if len(names) == 0 {
		return
	}
	s.emit(ctx, einolean.Event{
		Kind: einolean.KindToolsNotHidden, Tools: &einolean.ToolChange{Added: firstNames(names), AddedCount: len(names), Tokens: tokens},
		Err: errors.New("toolsearch: DeferMarkedTools: handlers after this one added tools that are marked defer_loading, which stay visible: put this one after them"),
	})
}

// addShownByHandlers adds hidden tools that a later handler showed in this model call: the model
// has seen them, so it may call them, and they stay.
func (r *run) addShownByHandlers(ctx context.Context, infos []*schema.ToolInfo) {
	now, _ := r.state.Snapshot(ctx)
	if r.settings.rules.Native || !now.HadModelCall {
		return
	}
	names := now.Visible
	for _, t := range infos {
		if t != nil && r.catalog().Has(t.Name) && !slices.Contains(now.Visible, t.Name) {
			names = append(slices.Clip(names), t.Name)
		}
	}
	if len(names) > len(now.Visible) {
		r.state.Update(ctx, func(next *runstate.State) { next.Visible = names })
	}
}

// catalog returns the hidden tools of this model call.
func (r *run) catalog() *toolCatalog { return r.tools.catalog() }

// IsGone reports whether a Source had a tool of the name, and has it no longer.
func (r *run) IsGone(name string) bool { return r.tools.wasRemoved(name) }

// HasHiddenTool reports whether there is a hidden tool of the name in this model call.
func (r *run) HasHiddenTool(name string) bool { return r.catalog().Has(name) }

// HasOwnTool reports whether the agent has a tool of the name that is not hidden.
func (r *run) HasOwnTool(name string) bool { return r.tools.own[name] != nil }

// MayShow implements visibility.Tools.
func (r *run) MayShow(ctx context.Context, name string) bool {
	return r.filter.allows(ctx, r.catalog().Lookup(name), toShow)
}

// RequestedTools implements history.Agent.
func (r *run) RequestedTools(args jsontext.Arguments) []string {
	return protocol.RequestedNames(r.catalog().Tools, args)
}

// RecordsCalls implements history.Agent.
func (r *run) RecordsCalls() bool { return !r.state.IsOutsideRun() }

// announcement returns what a model call may announce of the hidden tools.
func (r *run) announcement(ctx context.Context, visibleBefore []string) history.Announcement {
	c := r.catalog()
	a := history.Announcement{
		Tools: c.Set, Names: r.listable(ctx), VisibleBefore: visibleBefore,
		Incremental: c.changes, Limit: r.settings.cfg.CatalogLimit, CallableByName: r.settings.protocol.CallTool != nil,
	}
	if r.settings.cfg.Filter == nil {
		a.FullList = c.reminder
	}
	if r.settings.cfg.Backend != nil {
		a.Store = r
	}
	return a
}

// listable returns the names that the model may see now, in the order of the catalogue. The
// slice is read only.
func (r *run) listable(ctx context.Context) (names []string) {
	if r.settings.cfg.Filter == nil {
		return r.catalog().names()
	}
	for e := range r.catalog().All() {
		if r.filter.allows(ctx, e, toList) {
			names = append(names, e.Info.Name)
		}
	}
	return names
}

// StoreList writes a list to the Backend, and emits the first failure. A Backend that hangs or ends its goroutine has
// failed.
func (r *run) StoreList(ctx context.Context, path, content string) error {
	_, err := safe.Wait(ctx, fmt.Sprintf("toolsearch: Backend, writing %q,", path), func() (struct{}, error) {
		return struct{}{}, r.settings.cfg.Backend.Write(ctx, &filesystem.WriteRequest{FilePath: path, Content: content})
	})
	if err != nil && r.state.MarkReported(ctx, "store") {
		r.settings.emit(ctx, einolean.Event{Kind: einolean.KindStoreFailed, Err: err})
	}
	return err
}

// search is a search of this model call, for tools on a way.
func (r *run) search(ctx context.Context, to phases) search.Searcher {
	s := search.Searcher{Tools: r.catalog().Tools, Limits: r.settings.searching, Access: searcher{r, ctx, to}}
	if r.catalog().changes {
		s.Missing = r.tools.source.missing()
	}
	if r.settings.cfg.OnEvent != nil {
		s.Report = func(what einolean.Search, failed []error) {
			id := compose.GetToolCallID(ctx)
			if len(failed) > 0 {
				r.settings.emit(ctx, einolean.Event{Kind: einolean.KindIndexFailed, CallID: id, Err: errors.Join(failed...)})
			}
			r.settings.emit(ctx, einolean.Event{Kind: einolean.KindToolsSearched, CallID: id, Search: &what})
		}
	}
	return s
}

// searcher is whom a search of a run is for.
type searcher struct {
	run *run
	ctx context.Context // of the call
	to  phases
}

// MayFind reports whether the Filter allows a tool in all of the phases.
func (s searcher) MayFind(e *catalog.Tool) bool { return s.run.filter.allows(s.ctx, e, s.to) }

// MayHint reports whether the model may read a name that it did not ask for.
func (s searcher) MayHint(e *catalog.Tool) bool {
	return s.MayFind(e) && s.run.filter.allows(s.ctx, e, phasesHint)
}

// MayKnow reports whether the model may know of a tool.
func (s searcher) MayKnow(name string) bool {
	e := s.run.catalog().Lookup(name)
	return e != nil && s.run.filter.mayReveal(s.ctx, e)
}

// Visible returns the tools that the model sees; nil if that is unknown, or if the form of an answer
// cannot say which tools are loaded.
func (s searcher) Visible() (visible toolnames.Set) {
	if s.run.settings.rules.Native && !s.run.settings.rules.ReturnOnce {
		return nil
	}
	state, _ := s.run.state.Snapshot(s.ctx)
	visible.Add(state.Visible...)
	return visible
}

// ListedNames returns the names that the model may see.
func (s searcher) ListedNames() []string { return s.run.listable(s.ctx) }
