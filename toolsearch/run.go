// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// One run of an agent, shared by the hooks and its tool calls. The agent is as it was when the
// run began; a turn lasts from one model call to the next; notes pass between tool calls and
// model calls.

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/leanctx/leanctx/internal/safe"
)

// run is one run of an agent. The context carries it from BeforeAgent to the model and tool
// calls; it holds nothing that must survive a checkpoint.
type run struct {
	agent    agent
	now      atomic.Pointer[turn]
	notes    notes
	reported reported // to OnEvent
}

// agent describes a run's agent.
type agent struct {
	start  *group          // at the start of the run
	own    map[string]bool // names of the agent's own tools
	size   int             // its tools with ours; 0 outside of an agent
	direct map[string]bool // tools whose result ends the run; Eino's own map
	live   bool            // there is a Source: tools come and go
}

func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

func newRun(a agent) *run {
	r := &run{agent: a}
	r.setGroup(a.start)
	return r
}

// setGroup begins a turn with the tools of a group.
func (r *run) setGroup(g *group) { r.now.Store(&turn{group: g, reported: &r.reported}) }

func (r *run) turn() *turn { return r.now.Load() }

func (r *run) group() *group { return r.now.Load().group }

// isGone reports whether a name is that of a tool that a Source had.
func (r *run) isGone(name string) bool {
	return !r.agent.own[name] && r.notes.hasHad(name) && r.group().cat.lookup(name) == nil
}

// turn is what holds from one model call to the next: the hidden tools, and what the
// Filter says of them. It is safe for concurrent use.
type turn struct {
	group    *group
	reported *reported

	mu       sync.Mutex
	verdicts map[verdictKey]*verdict
}

// verdict is computed once; concurrent callers wait.
type verdict struct {
	once sync.Once
	ok   bool
	err  error
}

// askAgain starts a new model call, which asks the Filter again.
func (t *turn) askAgain() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.verdicts = nil
}

// allowed reports whether a tool may be used for a phase in this model call.
func (t *turn) allowed(ctx context.Context, e *entry, phase Phase) bool {
	return t.group.owner(e).cfg.Filter == nil || t.verdict(ctx, e, phase).ok
}

// verdict returns the verdict of the Filter of the tool's owner in this model call.
func (t *turn) verdict(ctx context.Context, e *entry, phase Phase) *verdict {
	owner, key := t.group.owner(e), verdictKey{e, phase}
	v := t.verdictOf(key)
	v.once.Do(func() {
		v.ok, v.err = owner.callFilter(ctx, FilterRequest{Tool: e.info, Phase: phase})
		if owner.cfg.OnEvent != nil && phase != PhaseCall {
			t.reported.noteVerdict(ctx, key, v.ok, v.err)
		}
	})
	return v
}

// callFilter asks the Filter; an error means no.
func (s *settings) callFilter(ctx context.Context, req FilterRequest) (bool, error) {
	ok, err := safe.Value("Filter", func() (bool, error) { return s.cfg.Filter(ctx, req) })
	return ok && err == nil, err
}

func (t *turn) verdictOf(k verdictKey) *verdict {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.verdicts == nil {
		t.verdicts = map[verdictKey]*verdict{}
	}
	v := t.verdicts[k]
	if v == nil {
		v = &verdict{}
		t.verdicts[k] = v
	}
	return v
}

// loadableBySearch reports whether a search that loads may return a tool.
func (t *turn) loadableBySearch(ctx context.Context, e *entry) bool {
	return t.allowed(ctx, e, PhaseSearch) && t.allowed(ctx, e, PhaseLoad)
}

// findable reports whether a search may return a tool.
func (t *turn) findable(ctx context.Context, e *entry) bool {
	return t.allowed(ctx, e, PhaseSearch)
}

// showable reports whether a loaded tool may be in the tool list of this model call.
func (t *turn) showable(ctx context.Context, e *entry) bool {
	return t.allowed(ctx, e, PhaseLoad) && t.allowed(ctx, e, PhaseActive)
}

// showableAtOnce reports whether a tool may be shown without a search.
func (t *turn) showableAtOnce(ctx context.Context, e *entry) bool {
	return t.findable(ctx, e) && t.showable(ctx, e)
}

// defers reports whether a tool may be sent as a deferred one. The provider controls deferred
// tools, so a tool that may not be visible now is not sent.
func (t *turn) defers(ctx context.Context, e *entry) bool {
	return t.group.settings.rules.deferAll && t.loadableBySearch(ctx, e) && t.allowed(ctx, e, PhaseActive)
}

// callable reports whether call_tool may run a tool.
func (t *turn) callable(ctx context.Context, e *entry) bool {
	return t.allowed(ctx, e, PhaseLoad) && t.allowed(ctx, e, PhaseCall)
}

// loadableByName reports whether load_tool may load a tool: its name can come from the list or
// from a search.
func (t *turn) loadableByName(ctx context.Context, e *entry) bool {
	return t.allowed(ctx, e, PhaseLoad)
}

// nameable reports whether a hint may mention a tool that nobody asked for by its name.
func (t *turn) nameable(ctx context.Context, e *entry) bool {
	return t.allowed(ctx, e, PhaseList) && t.allowed(ctx, e, PhaseSearch)
}

// mayKnow reports whether the model may have seen the name of a tool, and can therefore be told
// that it may not use it.
func (t *turn) mayKnow(ctx context.Context, name string) bool {
	e := t.group.cat.lookup(name)
	return e != nil && t.group.owner(e).cfg.Filter != nil && (t.allowed(ctx, e, PhaseSearch) || t.allowed(ctx, e, PhaseList))
}

// hasList reports whether there is a list of names that a hint can point to.
func (t *turn) hasList(ctx context.Context) bool {
	for e := range t.group.cat.entries() {
		if t.allowed(ctx, e, PhaseList) {
			return true
		}
	}
	return false
}

// listable returns the names that the model may see now, in the order of the catalogue. The
// slice is read only.
func (t *turn) listable(ctx context.Context) (names []string) {
	if t.group.isUnfiltered() {
		return t.group.cat.names()
	}
	for e := range t.group.cat.entries() {
		if t.allowed(ctx, e, PhaseList) {
			names = append(names, e.info.Name)
		}
	}
	return names
}

// notes pass between tool calls and model calls. A call without an id leaves none: it cannot be
// told from others.
type notes struct {
	mu         sync.Mutex
	visible    []string            // names of hidden tools that the model sees; nil before the first model call
	noRunState bool                // the run has no state of Eino's to keep values in
	returned   stringSet           // names that searches of this turn have returned, if each may be returned once
	calls      map[string]callNote // by id
	had        stringSet           // names that sources had in this run, or according to the history
}

// callNote records a tool call.
type callNote struct {
	tool    string   // the hidden tool that it reached: it may bear another name
	loaded  []string // what it loaded, if isOurs
	isOurs  bool     // it is one of a search tool of ours
	refused bool     // it is a call to a tool that the caller may not use
}

// noteCall records a fact about a call.
func (n *notes) noteCall(id string, note func(*callNote)) {
	if id == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.calls == nil {
		n.calls = map[string]callNote{}
	}
	c := n.calls[id]
	note(&c)
	n.calls[id] = c
}

func (n *notes) call(id string) callNote {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.calls[id]
}

// noteAnswer notes what a search tool of ours loaded in a call.
func (n *notes) noteAnswer(callID string, names []string) {
	n.noteCall(callID, func(c *callNote) { c.isOurs, c.loaded = true, append(c.loaded, names...) })
}

// reach notes which tool a call reached.
func (n *notes) reach(callID, name string) { n.noteCall(callID, func(c *callNote) { c.tool = name }) }

// refuse notes that a call was answered like a call of an unknown tool.
func (n *notes) refuse(callID string) { n.noteCall(callID, func(c *callNote) { c.refused = true }) }

// hasNoRunState reports whether the hooks are called by hand: no call has an id then.
func (n *notes) hasNoRunState() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.noRunState
}

// noteHad notes a tool of a Source: later calls of it get an answer.
func (n *notes) noteHad(name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.had.add(name)
}

func (n *notes) hasHad(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.had[name]
}

// returnsFirst reports whether no other search of this turn has returned a tool, and notes
// that this one does.
func (n *notes) returnsFirst(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	first := !n.returned[name]
	n.returned.add(name)
	return first
}

// show begins a turn that shows the tools to the model.
func (n *notes) show(names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.visible, n.returned = names, nil
}

// showAlso replaces the tools that the model sees within a turn, when more become visible.
func (n *notes) showAlso(names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.visible = names
}

// shownInProcess returns the hidden tools of the last model call in this process; nil if there
// was none.
func (n *notes) shownInProcess() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.visible
}

// sees reports whether the model saw a tool in its last call. If that is unknown, as after a
// resume from a checkpoint of Eino's own package, it returns true.
func (n *notes) sees(ctx context.Context, name string) bool {
	names, known := n.lastVisible(ctx)
	return !known || slices.Contains(names, name)
}

// lastVisible returns the hidden tools that the model saw in its last call.
func (n *notes) lastVisible(ctx context.Context) (names []string, known bool) {
	n.mu.Lock()
	names, noRunState := n.visible, n.noRunState
	n.mu.Unlock()
	if names != nil || noRunState {
		return names, names != nil
	}
	names, known, err := runLocal[[]string](ctx, visibleKey)
	if err != nil {
		n.mu.Lock()
		n.noRunState = true
		n.mu.Unlock()
	}
	return names, known
}

// visibleNames are the tools that the model saw; nil if that is unknown.
func (n *notes) visibleNames(ctx context.Context) (s stringSet) {
	names, _ := n.lastVisible(ctx)
	for _, name := range names {
		s.add(name)
	}
	return s
}
