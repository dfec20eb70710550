// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// A run of an agent: how it begins, and its state. It implements the interfaces through which the inner packages see
// it.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

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

// run is one run of an agent, shared by the hooks and the tool calls. The context carries it from BeforeAgent on. Only
// SavedState survives a checkpoint.
type run struct {
	settings *settings
	tools    runTools
	state    runstate.SavedState
	calls    runstate.CallLog
	filter   filterCache

	returnDirectly    map[string]bool // tools whose result ends the run; Eino's own map
	answersSignatures bool            // the agent has programs: searches answer with signatures, and load nothing

	// runsCallTool says that the run resumed a checkpoint of a version whose call_tool ran the tools, until the next model
	// call.
	runsCallTool atomic.Bool
	// answersUnknown says that slots answer calls of unknown names: all tools of the agent are known by now.
	answersUnknown atomic.Bool
}

// runFrom returns the run in a context; nil if there is none.
func runFrom(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

func newRun(start *toolCatalog) *run {
	r := &run{settings: start.settings, tools: runTools{ownInfos: map[string]*schema.ToolInfo{}}}
	r.filter.cache.Filter = start.settings.cfg.Filter
	r.tools.current.Store(start)
	return r
}

// beginRun begins the run of an agent: it removes hidden tools from the agent's list, and adds the search tools and the
// slots. It returns nil if there is nothing to do.
func beginRun(ctx context.Context, catalogs *catalogCache, rc *einorun.RunContext) (context.Context, *run, error) {
	if catalogs.settings.cfg.DeferMarkedTools {
		ctx = withNotHiddenReport(ctx, catalogs.settings)
	}
	own, earlier := ownInfos(ctx, rc.Tools)
	if earlier == catalogs.settings {
		return ctx, nil, nil // the same instance twice hides its tools once
	}
	r, err := newRunFor(ctx, catalogs, rc.Tools, own, earlier != nil)
	if err == nil && earlier == nil { // also nil: the run in the context may be that of an agent around this one
		ctx = context.WithValue(ctx, runKey{}, r)
	}
	if err != nil || r == nil {
		return ctx, nil, err
	}
	r.returnDirectly = rc.ReturnDirectly
	ctx = programturn.WithTools(ctx, r)
	r.tools.refresh(ctx, &r.state)
	r.tools.slots = r.catalog().slotPlan().NewSlots(ctx, r)
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

// newRunFor returns the run of an agent with these tools of its own; nil if there is nothing to do. hasOther says that
// another instance of the middleware has added its search tools.
func newRunFor(
	ctx context.Context, catalogs *catalogCache, tools []tool.BaseTool, own []*schema.ToolInfo, hasOther bool,
) (*run, error) {
	agentTools, err := catalogs.settings.hiddenOwnTools(tools, own)
	if err != nil {
		return nil, err
	}
	start, err := catalogs.find(ctx, catalogKey{agentTools: agentTools})
	if err != nil || start.tools.Len() == 0 && !start.hasSource {
		return nil, err
	}
	if hasOther {
		return nil, errors.New("toolsearch: the agent has two instances of this middleware: give one of them all tools " +
			"(DynamicTools, or a Source made by toolset.Multi) and one Filter")
	}
	if err := catalogs.settings.unsupportedModel; err != nil {
		return nil, fmt.Errorf("toolsearch: %w", err)
	}
	if err := start.checkNames(tools, own); err != nil {
		return nil, err
	}
	r := newRun(start)
	r.state.SetAddress(ctx)
	for _, info := range own {
		if info != nil && !r.settings.hides(info) {
			r.tools.ownInfos[info.Name] = info
		}
	}
	r.answersSignatures = programturn.ProgramsOf(ctx) != nil
	return r, nil
}

// ownedTool is a search tool, which knows the instance that added it.
type ownedTool interface{ owner() *settings }

var _, _ ownedTool = (*metaTool)(nil), nativeTool{}

// ownInfos returns the infos of the tools in a list; nil for those of this package, and for a tool whose Info fails,
// which Eino reports. It also returns the settings of an earlier instance that added search tools to the list.
func ownInfos(ctx context.Context, tools []tool.BaseTool) (own []*schema.ToolInfo, earlier *settings) {
	own = make([]*schema.ToolInfo, len(tools))
	for i, t := range tools {
		searchTool, isOurs := t.(ownedTool)
		switch {
		case isOurs && earlier == nil:
			earlier = searchTool.owner()
		case isOurs, slots.IsSlot(t):
		default:
			own[i], _ = catalog.ReadInfo(ctx, t)
		}
	}
	return own, earlier
}

// addShownByHandlers makes hidden tools visible that a later handler added to this model call: the model has seen them,
// so it may call them.
func (r *run) addShownByHandlers(ctx context.Context, infos []*schema.ToolInfo) {
	now, _ := r.state.Snapshot(ctx)
	if r.settings.rules.Native || !now.HadModelCall {
		return
	}
	names := now.Visible
	for _, t := range infos {
		if t != nil && r.catalog().tools.Has(t.Name) && !slices.Contains(now.Visible, t.Name) {
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
func (r *run) HasHiddenTool(name string) bool { return r.catalog().tools.Has(name) }

// HasOwnTool reports whether the agent has a tool of the name that is not hidden.
func (r *run) HasOwnTool(name string) bool { return r.tools.ownInfos[name] != nil }

// MayShow implements visibility.Tools.
func (r *run) MayShow(ctx context.Context, name string) bool {
	return r.filter.allows(ctx, r.catalog().tools.Lookup(name), phasesShow)
}

// RequestedTools implements history.Agent.
func (r *run) RequestedTools(args jsontext.Arguments) []string {
	return protocol.RequestedNames(r.catalog().tools, args)
}

// RecordsCalls implements history.Agent.
func (r *run) RecordsCalls() bool { return !r.state.IsOutsideRun() }

// announcement returns what a model call may announce of the hidden tools.
func (r *run) announcement(ctx context.Context, visibleBefore []string) history.Announcement {
	c := r.catalog()
	a := history.Announcement{
		Tools: c.tools.Set, Names: r.listedNames(ctx), VisibleBefore: visibleBefore,
		Incremental: c.hasSource, CatalogLimit: r.settings.cfg.CatalogLimit,
		CallableByName: r.settings.protocol.CallTool != nil,
	}
	if r.settings.cfg.Filter == nil {
		a.FullList = c.summary.reminder
	}
	if r.settings.cfg.Backend != nil {
		a.Store = r
	}
	return a
}

// listedNames returns the names that the model may see now, in the order of the catalog. The slice is read only.
func (r *run) listedNames(ctx context.Context) (names []string) {
	if r.settings.cfg.Filter == nil {
		return r.catalog().summary.allNames()
	}
	for e := range r.catalog().tools.All() {
		if r.filter.allows(ctx, e, phasesList) {
			names = append(names, e.Info.Name)
		}
	}
	return names
}

// storeTimeout is how long a model call waits for the Backend: the default of package reduction's StoreTimeout.
const storeTimeout = 30 * time.Second

// StoreList implements history.ListStore. It emits the first failure; a Backend that does not answer within
// storeTimeout, or that ends its goroutine, has failed.
func (r *run) StoreList(ctx context.Context, path, content string) error {
	timed, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	_, err := safe.Wait(timed, fmt.Sprintf("toolsearch: Backend, writing %q,", path), func() (struct{}, error) {
		return struct{}{}, r.settings.cfg.Backend.Write(timed, &filesystem.WriteRequest{FilePath: path, Content: content})
	})
	if err != nil && timed.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("toolsearch: Backend: writing %q: no answer within %v: %w", path, storeTimeout, err)
	}
	if err != nil && r.state.MarkReported(ctx, "store") {
		r.settings.emit(ctx, einolean.Event{Kind: einolean.KindStoreFailed, Err: err})
	}
	return err
}

// search returns a search of this model call, for tools that the Filter allows in all of the phases.
func (r *run) search(ctx context.Context, phases phases) search.Searcher {
	s := search.Searcher{Tools: r.catalog().tools, Limits: r.settings.searchLimits, Access: searcher{r, ctx, phases}}
	if r.catalog().hasSource {
		s.Missing = r.tools.source.missingServers()
	}
	if r.settings.cfg.OnEvent != nil {
		s.Report = func(event einolean.Search, errs []error) {
			id := compose.GetToolCallID(ctx)
			if len(errs) > 0 {
				r.settings.emit(ctx, einolean.Event{
					Kind: einolean.KindIndexFailed, CallID: id, Err: errors.Join(errs...),
				})
			}
			r.settings.emit(ctx, einolean.Event{Kind: einolean.KindToolsSearched, CallID: id, Search: &event})
		}
	}
	return s
}

// searcher is what a search may return and name. The search asks for each tool, so the context is a field.
type searcher struct {
	run    *run
	ctx    context.Context // of the call
	phases phases
}

// MayFind reports whether the Filter allows a tool in all of the phases.
func (s searcher) MayFind(e *catalog.Tool) bool { return s.run.filter.allows(s.ctx, e, s.phases) }

// MayHint reports whether the model may read a name that it did not ask for.
func (s searcher) MayHint(e *catalog.Tool) bool {
	return s.MayFind(e) && s.run.filter.allows(s.ctx, e, phasesHint)
}

// MayKnow reports whether the model may have seen the name of a tool.
func (s searcher) MayKnow(name string) bool {
	e := s.run.catalog().tools.Lookup(name)
	return e != nil && s.run.filter.mayReveal(s.ctx, e)
}

// Visible returns the tools that the model sees; nil if that is unknown, or if the form of an answer cannot say which
// tools are loaded.
func (s searcher) Visible() (visible toolnames.Set) {
	if s.run.settings.rules.Native && !s.run.settings.rules.ReturnOnce {
		return nil
	}
	state, _ := s.run.state.Snapshot(s.ctx)
	visible.Add(state.Visible...)
	return visible
}

// ListedNames returns the names that the model may see.
func (s searcher) ListedNames() []string { return s.run.listedNames(s.ctx) }
