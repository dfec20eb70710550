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
	"github.com/einolean/einolean/internal/adkrun"
	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/virtual"
	"github.com/einolean/einolean/toolsearch/internal/found"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/memory"
	"github.com/einolean/einolean/toolsearch/internal/slots"
	"github.com/einolean/einolean/toolsearch/internal/told"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

// runKey is the key of the run in a context.
type runKey struct{}

// run is one run of an agent, shared by the hooks and the tool calls. The context carries it from
// BeforeAgent on. Its record survives a checkpoint; everything else is of this process.
type run struct {
	*settings
	memory.Record // what it has shown and told the model
	memory.Calls  // what became of its tool calls
	permits       // what the Filter says in this model call
	tools         // those of its agent

	hooks  any             // *hooks[M]
	direct map[string]bool // tools whose result ends the run; Eino's own map
	signs  bool            // the agent has programs: searches answer with signatures, and load nothing
}

func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

func newRun(start *catalog) *run {
	r := &run{settings: start.settings, tools: tools{own: map[string]*schema.ToolInfo{}}}
	r.Ask = start.cfg.Filter
	r.hidden.Store(start)
	return r
}

// begin adds the instance to an agent whose run begins: its list is without the tools that it gave up, and with
// the search tools and slots for the hidden ones. It returns the run; none if there is nothing to do.
func begin(ctx context.Context, all *catalogs, rc *adkrun.Run) (context.Context, *run, error) {
	if all.cfg.DeferMarkedTools {
		ctx = context.WithValue(ctx, all.settings, &atomic.Bool{}) // for emitNotHidden
	}
	own, old := ownInfos(ctx, rc.Tools)
	if old == all.settings {
		return ctx, nil, nil // the same instance twice hides its tools once
	}
	r, err := join(ctx, all, rc.Tools, own, old != nil)
	if err == nil && old == nil { // also none: the run in the context may be that of an agent around this one
		ctx = context.WithValue(ctx, runKey{}, r)
	}
	if err != nil || r == nil {
		return ctx, nil, err
	}
	r.direct = rc.ReturnDirectly
	ctx = virtual.WithTools(ctx, callView{r})
	r.refresh(ctx, &r.Record)
	r.slots = r.catalog().plan().Begin(ctx, callView{r})
	search := searchTools(r)
	if r.rules.SearchTool {
		rc.ToolSearchTool, _ = search[0].Info(ctx) // which never fails
	}
	var kept []tool.BaseTool
	for i, t := range rc.Tools {
		if own[i] == nil || !r.hides(own[i]) {
			kept = append(kept, t)
		}
	}
	rc.Tools = slices.Concat(kept, search, r.slots.Tools())
	return ctx, r, nil
}

// join makes the run of an agent with these tools of its own, which another instance may have joined; none if
// there is nothing to do.
func join(ctx context.Context, all *catalogs, tools []tool.BaseTool, own []*schema.ToolInfo, joined bool) (*run, error) {
	owned, err := all.pick(tools, own)
	if err != nil {
		return nil, err
	}
	start, err := all.find(ctx, parts{owned: owned})
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
	r.Begin(ctx)
	for _, info := range own {
		if info != nil {
			r.own[info.Name] = info
		}
	}
	r.signs = virtual.ProgramsOf(ctx) != nil
	return r, nil
}

// ownInfos are the infos of the tools in a list; nil for those of this package, and for a tool whose Info
// fails, which Eino reports. old is an earlier instance that put search tools into it.
func ownInfos(ctx context.Context, tools []tool.BaseTool) (own []*schema.ToolInfo, old *settings) {
	own = make([]*schema.ToolInfo, len(tools))
	for i, t := range tools {
		searches, isOurs := t.(interface{ madeBy() *settings })
		switch {
		case isOurs && old == nil:
			old = searches.madeBy()
		case isOurs, slots.Is(t):
		default:
			own[i], _ = hidden.ReadInfo(ctx, t)
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
	r := runOf(ctx) // none where there is nothing to hide
	if r != nil && !r.IsNew(ctx, "not hidden") {
		return
	}
	var names []string
	var tokens int64
	for _, t := range infos {
		if t != nil && isMarked(t) && (r == nil || !r.catalog().Has(t.Name)) {
			names = append(names, t.Name)
			tokens += (&hidden.Tool{Info: t}).Tokens()
		}
	}
	if len(names) == 0 {
		return
	}
	s.emit(ctx, einolean.Event{
		Kind: einolean.KindToolsNotHidden, Tools: &einolean.ToolChange{Added: head(names), AddedCount: len(names), Tokens: tokens},
		Err: errors.New("toolsearch: DeferMarkedTools: handlers after this one added tools that are marked defer_loading, which stay visible: put this one after them"),
	})
}

// noteShown adds hidden tools that a later handler showed in this model call: the model
// has seen them, so it may call them, and they stay.
func (r *run) noteShown(ctx context.Context, infos []*schema.ToolInfo) {
	now, _ := r.Now(ctx)
	if r.rules.Native || !now.Began {
		return
	}
	names := now.Visible
	for _, t := range infos {
		if t != nil && r.catalog().Has(t.Name) && !slices.Contains(now.Visible, t.Name) {
			names = append(slices.Clip(names), t.Name)
		}
	}
	if len(names) > len(now.Visible) {
		r.Update(ctx, func(next *turn.Record) { next.Visible = names })
	}
}

// heard is what the facts ask of the run.
func (r *run) heard() turn.Run {
	c := r.catalog()
	return turn.Run{
		Has: c.Has, Owns: func(name string) bool { return r.own[name] != nil },
		Note: r.Noted, ByHand: r.ByHand, Asked: func(a lenient.Arguments) []string { return found.Asked(c.Tools, a) },
		Miss: func(name string) {
			if c.changes {
				r.noteHad(name)
			}
		},
		Called: func(name string) {
			if c.changes {
				r.noteCalled(name)
			}
		},
	}
}

// tells is what a model call can be told of hidden tools. saw are those that the last one showed.
func (r *run) tells(ctx context.Context, saw []string) told.Call {
	c := r.catalog()
	call := told.Call{Tools: c.Set, Names: c.names, Whole: c.reminder, Saw: saw, Changes: c.changes, Limit: r.cfg.CatalogLimit, Calls: r.protocol.hasCallTool}
	if r.Ask != nil { // the Filter
		call.Names, call.Whole = func() []string { return r.listable(ctx) }, nil
	}
	if r.cfg.Backend != nil {
		call.Store = func(path, text string) error { return r.store(ctx, path, text) }
	}
	return call
}

// listable returns the names that the model may see now, in the order of the catalogue. The
// slice is read only.
func (r *run) listable(ctx context.Context) (names []string) {
	if r.Ask == nil {
		return r.catalog().names()
	}
	for e := range r.catalog().All() {
		if r.allows(ctx, e, toList) {
			names = append(names, e.Info.Name)
		}
	}
	return names
}

// store writes a file to the Backend, and reports the first failure. A store that hangs or ends its
// goroutine has failed.
func (r *run) store(ctx context.Context, path, content string) error {
	_, err := safe.Wait(ctx, fmt.Sprintf("toolsearch: Backend, writing %q,", path), func() (struct{}, error) {
		return struct{}{}, r.cfg.Backend.Write(ctx, &filesystem.WriteRequest{FilePath: path, Content: content})
	})
	if err != nil && r.IsNew(ctx, "store") {
		r.emit(ctx, einolean.Event{Kind: einolean.KindStoreFailed, Err: err})
	}
	return err
}

// search is a search of this model call, for tools on a way.
func (r *run) search(ctx context.Context, to way) found.Search {
	s := found.Search{Tools: r.catalog().Tools, Limits: r.searching, For: searchView{r, ctx, to}}
	if r.catalog().changes {
		s.Missing = r.source.missing()
	}
	if r.cfg.OnEvent != nil {
		s.Report = func(what einolean.Search, failed []error) {
			id := compose.GetToolCallID(ctx)
			if len(failed) > 0 {
				r.emit(ctx, einolean.Event{Kind: einolean.KindIndexFailed, CallID: id, Err: errors.Join(failed...)})
			}
			r.emit(ctx, einolean.Event{Kind: einolean.KindToolsSearched, CallID: id, Search: &what})
		}
	}
	return s
}

// searchView is a run as its searches see it.
type searchView struct {
	*run
	ctx context.Context // of the call
	to  way
}

// May reports whether the Filter allows a tool in all of the phases.
func (v searchView) May(e *hidden.Tool) bool { return v.allows(v.ctx, e, v.to) }

// MayHint reports whether the model may read a name that it did not ask for.
func (v searchView) MayHint(e *hidden.Tool) bool { return v.May(e) && v.allows(v.ctx, e, toHint) }

// Knows reports whether the model may know of a tool.
func (v searchView) Knows(name string) bool {
	e := v.catalog().Lookup(name)
	return e != nil && v.mayKnow(v.ctx, e)
}

// Sees are the tools that the model sees; nil if that is unknown, or if the form of an answer
// cannot say which tools are loaded.
func (v searchView) Sees() (s turn.Names) {
	if v.rules.Native && !v.rules.NewOnly {
		return nil
	}
	now, _ := v.Now(v.ctx)
	s.Add(now.Visible...)
	return s
}

// Listed are the names that the model may see.
func (v searchView) Listed() []string { return v.listable(v.ctx) }
