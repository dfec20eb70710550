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
	"github.com/cloudwego/eino/components/tool"
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
func joinGroup(ctx context.Context, members []*settings, owned map[*settings][]*entry) (*group, error) {
	lead := members[0]
	var key strings.Builder
	for _, m := range members {
		fmt.Fprintf(&key, "%p", m)
		for _, e := range owned[m] {
			fmt.Fprintf(&key, "|%q %q %s", e.info.Name, e.info.Desc, e.parameters())
		}
	}
	return lead.joined.get(key.String(), func() (*group, error) {
		g := &group{settings: lead, members: members, owned: owned, owners: map[*entry]*settings{}, steady: lead.cfg.UnloadAfter == 0}
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
		cat, err := newCatalog(ctx, all, lead)
		if err != nil {
			return nil, err
		}
		g.cat = cat
		g.findTwice()
		return g, nil
	})
}

// run is one run of an agent. The context carries it from BeforeAgent to the model and
// tool calls; nothing that must survive a checkpoint lives in it.
type run struct {
	group    *group
	own      map[string]bool          // names of the agent's own tools
	size     int                      // tools of the agent with ours; 0 outside of an agent
	direct   map[string]bool          // tools whose result ends the run; Eino's own map
	tools    map[*entry]tool.BaseTool // guards of the own tools that are hidden in this run
	memory   any                      // *memory[M]: what the messages said so far
	verdicts verdicts
	decided  decision // of the last model call
	sent     sent     // with the last model call

	mu       sync.Mutex
	visible  []string // names of hidden tools that the model sees; nil before the first model call
	adrift   bool     // the run has no state of Eino's to keep values in
	reserved map[string]bool
	stored   map[string]string
	reached  map[string]string // call id -> hidden tool: the call may bear another name
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
