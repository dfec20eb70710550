// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file holds what one run of an agent needs: the tools of all instances, and what
// the model sees at the moment.

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/cloudwego/eino/adk"
)

// group is the tools of all instances in one agent, and the tools that the agent's own
// list gave up to them. The settings of the first instance hold for all. Immutable.
type group struct {
	*settings
	members []*settings
	cat     *catalog
	owned   map[*settings][]*entry // tools that the agent's own list gave up
	owners  map[*entry]*settings   // entries of members other than the first
	twice   problems               // names that several members gave a tool
	steady  bool                   // what is visible depends on the messages alone
	like    *group                 // the one whose indexes this one has; nil: its own

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

func (g *group) has(s *settings) bool {
	for _, m := range g.members {
		if m == s {
			return true
		}
	}
	return false
}

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
	g := &group{settings: lead, members: members, owned: owned, owners: map[*entry]*settings{}, like: like, steady: lead.cfg.UnloadAfter == 0}
	var all []*entry
	for _, m := range members {
		g.steady = g.steady && m.cfg.Filter == nil
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
	g.findTwice()
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

	mu       sync.Mutex
	visible  []string // names of hidden tools that the model sees; nil before the first model call
	adrift   bool     // the run has no state of Eino's to keep values in
	reserved map[string]bool
	stored   map[string]string
	reached  map[string]string   // call id -> hidden tool: the call may bear another name
	answered map[string][]string // call id -> what a search tool of ours loaded
	refused  map[string]bool     // call ids of calls to tools that the caller may not use
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

// reach notes which tool a call reached. A call without an id cannot be told from others.
func (r *run) reach(callID, name string) {
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

// isAdrift reports whether the hooks are called by hand: no call has an id then.
func (r *run) isAdrift() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.adrift
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
	if !known {
		return true
	}
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func (r *run) visibleNow(ctx context.Context) (names []string, known bool) {
	r.mu.Lock()
	names, adrift := r.visible, r.adrift
	r.mu.Unlock()
	if names != nil || adrift {
		return names, names != nil
	}
	v, ok, err := adk.GetRunLocalValue(ctx, visibleKey)
	if err != nil {
		r.mu.Lock()
		r.adrift = true
		r.mu.Unlock()
	}
	if err != nil || !ok {
		return nil, false
	}
	names, ok = v.([]string)
	return names, ok
}
