// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file holds what one run of an agent needs: the tools of all instances, joined, and
// what the model sees at the moment.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

// group is the tools of all instances in one agent, and the tools that the agent's own
// list gave up to them. The settings of the first instance hold for all. Immutable.
type group struct {
	*settings
	members        []*settings
	cat            *catalog
	owned          map[*settings][]*entry // tools that the agent's own list gave up
	owners         map[*entry]*settings   // entries of members other than the first
	duplicates     problems               // names that several members gave a tool
	byMessagesOnly bool                   // what is visible depends on the messages alone
	like           *group                 // the one whose indexes this one has; nil: its own

	measureOnce sync.Once
	names       []string
	tokens      int64
	sum         string

	reminderOnce sync.Once
	reminderText string
}

// owner is the instance that a tool belongs to; its Filter decides.
func (g *group) owner(e *entry) *settings {
	if s := g.owners[e]; s != nil {
		return s
	}
	return g.settings
}

func (g *group) has(s *settings) bool { return slices.Contains(g.members, s) }

// joinCache remembers the groups that start with an instance, so that the runs after the
// first build no index. The key names the members and what the agent's own tools are.
type joinCache struct {
	mu     sync.Mutex
	groups map[string]*group
}

// maxJoined bounds the cache where every run brings other tools.
const maxJoined = 16

func (j *joinCache) get(key string, build func() (*group, error)) (*group, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if g := j.groups[key]; g != nil {
		return g, nil
	}
	g, err := build()
	if err != nil {
		return nil, err
	}
	if j.groups == nil || len(j.groups) >= maxJoined {
		j.groups = map[string]*group{}
	}
	j.groups[key] = g
	return g, nil
}

// joinGroup makes the group of members and extra entries, which the last member brought.
// Those are of one run: what is remembered for other runs is a group of copies of their
// infos, from which the run's own takes the indexes alone.
func joinGroup(ctx context.Context, members []*settings, owned map[*settings][]*entry) (*group, error) {
	key, known := joinKey(members, owned)
	build := func() (*group, error) {
		copies := map[*settings][]*entry{}
		for m, entries := range owned {
			for _, e := range entries {
				copies[m] = append(copies[m], &entry{info: copyInfo(e.info)})
			}
		}
		return newGroup(ctx, members, copies, nil)
	}
	like, err := (*group)(nil), error(nil)
	if known {
		like, err = members[0].joined.get(key, build)
	} else {
		like, err = build()
	}
	if err != nil || len(owned) == 0 {
		return like, err
	}
	return newGroup(ctx, members, owned, like)
}

// joinKey is the same for groups whose tools look the same to an index; ok is false where
// that cannot be told.
func joinKey(members []*settings, owned map[*settings][]*entry) (key string, ok bool) {
	var b strings.Builder
	for _, m := range members {
		fmt.Fprintf(&b, "%p", m)
		for _, e := range owned[m] {
			extra, plain := plainText(e.info.Extra)
			if !plain {
				return "", false
			}
			fmt.Fprintf(&b, "|%q %q %s %s", e.info.Name, e.info.Desc, e.parameters(), extra)
		}
	}
	return b.String(), true
}

// newGroup makes a group; its indexes are those of one like it, if there is one.
func newGroup(ctx context.Context, members []*settings, owned map[*settings][]*entry, like *group) (*group, error) {
	lead := members[0]
	g := &group{settings: lead, members: members, owned: owned, owners: map[*entry]*settings{}, like: like, byMessagesOnly: lead.cfg.UnloadAfter == 0}
	var all []*entry
	for _, m := range members {
		g.byMessagesOnly = g.byMessagesOnly && m.cfg.Filter == nil
		mine := append(append([]*entry(nil), m.entries...), owned[m]...)
		for _, e := range mine {
			if m != lead {
				g.owners[e] = m
			}
		}
		all = append(all, mine...)
	}
	if like != nil {
		g.cat = like.cat.with(all)
	} else {
		cat, err := newCatalog(ctx, all, lead)
		if err != nil {
			return nil, err
		}
		g.cat = cat
	}
	g.findDuplicates()
	return g, nil
}

// run is one run of an agent. The context carries it from BeforeAgent to the model and
// tool calls; nothing that must survive a checkpoint lives in it.
type run struct {
	group    *group
	own      map[string]bool // names of the agent's own tools
	size     int             // tools of the agent with ours; 0 outside of an agent
	direct   map[string]bool // tools whose result ends the run; Eino's own map
	memory   any             // *memory[M]: what the messages said so far
	verdicts verdicts
	decided  decision // of the last model call
	sent     sent     // with the last model call
	reported reported // to OnEvent

	mu         sync.Mutex
	visible    []string // names of hidden tools that the model sees; nil before the first model call
	noRunState bool     // the run has no state of Eino's to keep values in
	reserved   map[string]bool
	stored     map[string]string
	reached    map[string]string   // call id -> hidden tool: the call may bear another name
	answered   map[string][]string // call id -> what a search tool of ours loaded
	refused    map[string]bool     // call ids of calls to tools that the caller may not use
}

type runKey struct{}

func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

// The run-local values survive a checkpoint: the tools that the model saw in its last
// call, and for each the model calls since its last use.
const (
	visibleKey = "__leanctx_toolsearch_visible__"
	idleKey    = "__leanctx_toolsearch_idle__"
)

// noteCall notes which tool a call reached. A call without an id cannot be told from others.
func (r *run) noteCall(callID, name string) {
	if callID == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reached == nil {
		r.reached = map[string]string{}
	}
	r.reached[callID] = name
}

// answer notes what a search tool of ours loaded in a call.
func (r *run) answer(callID string, names []string) {
	if callID == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answered == nil {
		r.answered = map[string][]string{}
	}
	r.answered[callID] = append(r.answered[callID], names...)
}

// refuse notes that a call was answered like one to a tool that does not exist.
func (r *run) refuse(callID string) {
	if callID == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == nil {
		r.refused = map[string]bool{}
	}
	r.refused[callID] = true
}

func (r *run) answerTo(callID string) (names []string, ours bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	names, ours = r.answered[callID]
	return names, ours
}

// hasNoRunState reports whether the hooks are called by hand: no call has an id then.
func (r *run) hasNoRunState() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.noRunState
}

func (r *run) hasRefused(callID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused[callID]
}

// sees reports whether the model saw a tool in its last call. Where nothing is known,
// as after a resume from a checkpoint of Eino's own package, it says yes.
func (r *run) sees(ctx context.Context, name string) bool {
	names, known := r.visibleNow(ctx)
	return !known || slices.Contains(names, name)
}

func (r *run) visibleNow(ctx context.Context) (names []string, known bool) {
	r.mu.Lock()
	names, noRunState := r.visible, r.noRunState
	r.mu.Unlock()
	if names != nil || noRunState {
		return names, names != nil
	}
	v, ok, err := adk.GetRunLocalValue(ctx, visibleKey)
	if err != nil {
		r.mu.Lock()
		r.noRunState = true
		r.mu.Unlock()
	}
	if err != nil || !ok {
		return nil, false
	}
	names, ok = v.([]string)
	return names, ok
}

// ownTool is one of the agent's own tools.
type ownTool struct {
	at   int // its place in the agent's list
	tool tool.BaseTool
	info *schema.ToolInfo
}

// join adds an instance to a run. A nil run means that there is nothing to do.
func join(ctx context.Context, s *settings, rc *adk.ChatModelAgentContext) (*run, *adk.ChatModelAgentContext, error) {
	old := groupIn(rc.Tools)
	members := []*settings{s}
	if old != nil {
		if old.has(s) {
			return nil, nil, nil // the same instance twice hides nothing twice
		}
		members = append(append([]*settings(nil), old.members...), s)
		if err := s.agreesWith(old.settings); err != nil {
			return nil, nil, err
		}
	}
	own := ownTools(ctx, rc.Tools)
	g, deferred, err := s.joinWith(ctx, old, members, own)
	if err != nil || len(g.cat.entries) == 0 {
		return nil, nil, err
	}
	if err := g.rules.supports(); err != nil {
		return nil, nil, err
	}
	if err := clashes(g, own, deferred); err != nil {
		return nil, nil, err
	}
	r := &run{group: g, own: map[string]bool{}, direct: rc.ReturnDirectly}
	for _, o := range own {
		r.own[o.info.Name] = true
	}
	next := *rc
	next.Tools = r.toolList(rc.Tools, deferred, s)
	r.size = len(next.Tools)
	if g.rules.searchTool {
		next.ToolSearchTool = g.metaTools()[0].info()
	}
	return r, &next, nil
}

// agreesWith reports where two instances in one agent contradict each other.
func (s *settings) agreesWith(lead *settings) error {
	if s.cfg.Protocol != lead.cfg.Protocol {
		return fmt.Errorf("toolsearch: two instances in one agent have the protocols %v and %v: give them the same", lead.cfg.Protocol, s.cfg.Protocol)
	}
	if s.rules.name != lead.rules.name || s.rules.native != lead.rules.native {
		return fmt.Errorf("toolsearch: two instances in one agent have the native adapters %q and %q: give them the same", lead.rules.name, s.rules.name)
	}
	return nil
}

// groupIn finds the group that an earlier instance made for this run.
func groupIn(tools []tool.BaseTool) *group {
	for _, t := range tools {
		if m, ok := t.(metaMarker); ok {
			return m.groupOf()
		}
	}
	return nil
}

// ownTools are the tools of a list that neither this package's search tools nor hidden
// ones are. Tools whose Info fails are left to Eino, which reports them.
func ownTools(ctx context.Context, tools []tool.BaseTool) []ownTool {
	var own []ownTool
	for i, t := range tools {
		if _, meta := t.(metaMarker); meta {
			continue
		}
		if _, hidden := t.(guarded); hidden {
			continue
		}
		if info, err := readInfo(ctx, t); err == nil {
			own = append(own, ownTool{i, t, info})
		}
	}
	return own
}

// joinWith makes the group of the members. The tools that earlier instances took from the
// agent's own list are hidden already and stay theirs.
func (s *settings) joinWith(ctx context.Context, old *group, members []*settings, own []ownTool) (*group, []ownTool, error) {
	deferred, err := s.pick(own)
	if err != nil {
		return nil, nil, err
	}
	owned := map[*settings][]*entry{}
	if old != nil {
		for m, entries := range old.owned {
			owned[m] = entries
		}
	}
	for _, o := range deferred {
		e, err := newEntry(o.tool, o.info)
		if err != nil {
			return nil, nil, fmt.Errorf("toolsearch: hiding the agent's own tool: %w", err)
		}
		owned[s] = append(owned[s], e)
	}
	g, err := joinGroup(ctx, members, owned)
	return g, deferred, err
}

// pick chooses the agent's own tools that this instance hides.
func (s *settings) pick(own []ownTool) ([]ownTool, error) {
	missing := map[string]bool{}
	for _, name := range s.cfg.SearchableTools {
		missing[name] = true
	}
	var picked []ownTool
	for _, o := range own {
		marked, _ := o.info.Extra["defer_loading"].(bool)
		if missing[o.info.Name] || marked && s.cfg.DeferMarkedTools {
			picked = append(picked, o)
		}
		delete(missing, o.info.Name)
	}
	var unknown []string
	for _, name := range s.cfg.SearchableTools {
		if missing[name] {
			unknown = append(unknown, fmt.Sprintf("%q", name))
		}
	}
	if len(unknown) > 0 {
		wrong := problems{}
		wrong.add("SearchableTools", "the agent does not have the tools %s (handlers that add tools must come before this one)", strings.Join(unknown, ", "))
		return nil, wrong.err()
	}
	return picked, nil
}

// clashes refuses names that two tools would share.
func clashes(g *group, own, deferred []ownTool) error {
	hidden := map[int]bool{}
	for _, d := range deferred {
		hidden[d.at] = true
	}
	var wrong problems
	wrong = append(wrong, g.duplicates...)
	for _, o := range own {
		if hidden[o.at] {
			continue
		}
		if e := g.cat.byName[o.info.Name]; e != nil {
			wrong.add("DynamicTools", "dynamic tool %q (%T) has the name of the agent's own tool %q (%T)", e.info.Name, unwrap(e.tool), o.info.Name, o.tool)
		}
		if g.usesMetaName(o.info.Name) {
			wrong.add("", "the agent's own tool %q (%T) has the name of the search tool %q", o.info.Name, o.tool, o.info.Name)
		}
	}
	return wrong.err()
}

// findDuplicates says which names several instances have given a tool.
func (g *group) findDuplicates() {
	for _, e := range g.cat.entries {
		if last := g.cat.byName[e.info.Name]; last != e {
			g.duplicates.add("DynamicTools", "dynamic tool %q (%T) and dynamic tool %q (%T) of another instance have the same name", e.info.Name, unwrap(e.tool), e.info.Name, unwrap(last.tool))
		}
	}
}

// checkLaterTools looks at the tools that handlers behind this one added, which the list of the first
// model call shows. A name that is taken is refused: which of two tools Eino runs would
// depend on the order of the handlers.
func (r *run) checkLaterTools(infos []*schema.ToolInfo) error {
	if r.size == 0 || len(infos) <= r.size || r.called() {
		return nil
	}
	var wrong problems
	seen := make(set, len(infos))
	for _, t := range infos {
		if t == nil {
			continue
		}
		ours := r.group.cat.byName[t.Name] != nil || r.group.usesMetaName(t.Name)
		if ours && seen[t.Name] {
			wrong.add("", "a handler behind this one added a tool named %q, which is the name of a hidden tool or of the search tool", t.Name)
		}
		if seen[t.Name] = true; !ours {
			r.own[t.Name] = true
		}
	}
	return wrong.err()
}

// toolList is the agent's list with deferred tools guarded, and the search tools and the
// instance's dynamic tools added.
func (r *run) toolList(tools []tool.BaseTool, deferred []ownTool, s *settings) []tool.BaseTool {
	metas := r.group.metaTools()
	next := make([]tool.BaseTool, 0, len(tools)+len(metas)+len(s.entries))
	placed := false
	hidden := map[int]ownTool{}
	for _, d := range deferred {
		hidden[d.at] = d
	}
	for i, t := range tools {
		if _, old := t.(metaMarker); old {
			if !placed {
				next, placed = appendMetas(next, metas), true
			}
			continue
		}
		if d, ok := hidden[i]; ok {
			t = r.group.cat.byName[d.info.Name].tool
		}
		next = append(next, t)
	}
	if !placed {
		next = appendMetas(next, metas)
	}
	for _, e := range s.entries {
		next = append(next, e.tool)
	}
	return next
}

// guarded is a tool that is hidden already.
type guarded interface{ original() tool.BaseTool }

func unwrap(t tool.BaseTool) tool.BaseTool {
	if g, ok := t.(guarded); ok {
		return g.original()
	}
	return t
}
