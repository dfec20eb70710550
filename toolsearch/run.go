// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// One run of an agent, as the hooks and its tool calls share it: the agent is what it was
// when the run began; a turn is what holds from one model call to the next; the notes are
// what tool calls leave for the next model call, and it for them.

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cloudwego/eino/schema"
)

// run is one run of an agent. The context carries it from BeforeAgent to the model and
// tool calls; nothing that must survive a checkpoint lives in it.
type run struct {
	agent    agent
	now      atomic.Pointer[turn]
	notes    notes
	reported reported // to OnEvent
}

// agent is what a run's agent is.
type agent struct {
	start  *group          // as the run began
	own    map[string]bool // names of its own tools
	size   int             // its tools with ours; 0 outside of an agent
	direct map[string]bool // tools whose result ends the run; Eino's own map
	slots  *slots          // nil: there is no Source
}

func newRun(g *group, a agent) *run {
	a.start = g
	r := &run{agent: a}
	r.begin(g)
	return r
}

// begin begins a turn with the tools of a group.
func (r *run) begin(g *group) { r.now.Store(&turn{group: g, reported: &r.reported}) }

func (r *run) turn() *turn { return r.now.Load() }

func (r *run) group() *group { return r.now.Load().group }

// isGone reports whether a name is that of a tool that a Source had.
func (r *run) isGone(name string) bool {
	return !r.agent.own[name] && r.notes.hasHad(name) && r.group().cat.lookup(name) == nil
}

// checkLaterTools looks at the tools that handlers after this one added, which the list of
// the first model call shows. A name that is taken is refused: which of two tools Eino runs
// would depend on the order of the handlers.
func (a *agent) checkLaterTools(g *group, infos []*schema.ToolInfo) error {
	if a.size == 0 || len(infos) <= a.size {
		return nil
	}
	var wrong problems
	seen := make(set, len(infos))
	for _, t := range infos {
		if t == nil || isSlotName(t.Name) {
			continue
		}
		e := g.cat.lookup(t.Name)
		listed := e != nil && !g.isLive(e) || g.usesMetaName(t.Name)
		if listed && seen[t.Name] {
			wrong.add("", "a handler after this one added a tool named %q, which is the name of a hidden tool or of the search tool", t.Name)
		}
		if seen[t.Name] = true; !listed {
			a.own[t.Name] = true
		}
	}
	return wrong.err()
}

// notes are what tool calls leave for the next model call, and it for them. A call without
// an id leaves none: it cannot be told from others.
type notes struct {
	mu         sync.Mutex
	visible    []string            // names of hidden tools that the model sees; nil before the first model call
	noRunState bool                // the run has no state of Eino's to keep values in
	returned   set                 // names that searches of this turn have returned, where each may be once
	reached    map[string]string   // call id -> hidden tool: the call may bear another name
	answered   map[string][]string // call id -> what a search tool of ours loaded
	refused    set                 // ids of calls to tools that the caller may not use
	had        set                 // names that sources had in this run, or by what the history says
}

// reach notes which tool a call reached.
func (n *notes) reach(callID, name string) {
	if callID == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.reached == nil {
		n.reached = map[string]string{}
	}
	n.reached[callID] = name
}

func (n *notes) reachedBy(callID string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.reached[callID]
}

// noteAnswer notes what a search tool of ours loaded in a call.
func (n *notes) noteAnswer(callID string, names []string) {
	if callID == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.answered == nil {
		n.answered = map[string][]string{}
	}
	n.answered[callID] = append(n.answered[callID], names...)
}

func (n *notes) answerTo(callID string) (names []string, ours bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	names, ours = n.answered[callID]
	return names, ours
}

// refuse notes that a call was answered like one to a tool that does not exist.
func (n *notes) refuse(callID string) {
	if callID == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refused.add(callID)
}

func (n *notes) hasRefused(callID string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.refused[callID]
}

// hasNoRunState reports whether the hooks are called by hand: no call has an id then.
func (n *notes) hasNoRunState() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.noRunState
}

// noteHad notes a tool that a Source had, so that a call of it is answered.
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

// returnOnce returns those of the tools that the model does not see, and that no other
// search of this turn has returned.
func (n *notes) returnOnce(list []found, seen set) (fresh []found) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, x := range list {
		if name := x.entry.info.Name; !seen[name] && !n.returned[name] {
			n.returned.add(name)
			fresh = append(fresh, x)
		}
	}
	return fresh
}

// show begins a turn in which the model sees the tools.
func (n *notes) show(names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.visible, n.returned = names, nil
}

// showAlso adds to what the model sees in this turn.
func (n *notes) showAlso(names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.visible = names
}

// shownInProcess returns the hidden tools of the last model call, other than before a resume.
func (n *notes) shownInProcess() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.visible
}

// called reports whether there was a model call before, other than before a resume.
func (n *notes) called() bool {
	return n.shownInProcess() != nil
}

// sees reports whether the model saw a tool in its last call. Where nothing is known,
// as after a resume from a checkpoint of Eino's own package, it says yes.
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

// seenSet is the set of tools that the model saw; nil where nothing is known.
func (n *notes) seenSet(ctx context.Context) (s set) {
	names, _ := n.lastVisible(ctx)
	for _, name := range names {
		s.add(name)
	}
	return s
}

// set is a set of names. The zero value is empty.
type set map[string]bool

func (s *set) add(name string) {
	if *s == nil {
		*s = set{}
	}
	(*s)[name] = true
}

// difference is the names of the first list that are not in the second.
func difference(a, b []string) (out []string) {
	if len(b) == 0 {
		return a
	}
	in := make(set, len(b))
	for _, name := range b {
		in[name] = true
	}
	for _, name := range a {
		if !in[name] {
			out = append(out, name)
		}
	}
	return out
}

func firstName(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
