// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// What a run is like is chosen at random.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/window"
)

// plan is what a run is like.
type plan struct {
	rng       *rand.Rand
	n         int
	kind      string
	owner     string // part of every content, so that no two owners' are the same
	agentic   bool
	streaming bool
	interrupt bool     // a tool stops the run once, and it is resumed from a checkpoint
	cancel    bool     // the context ends in the middle
	fails     bool     // a tool fails, a stream at any place
	events    readMode // how the application reads the events
	provider  *adapter
	tenant    string
	cleaner   store.Cleaner     // deletes what the run stores, again and again; nil: nothing does
	collector *window.Collector // logs the run; nil: nothing does
	protocol  toolsearch.Protocol
	turns     int
	store     reduction.Backend // what the agent writes to
	truth     store.RangeReader // what the check reads from
	claims    func(claim)       // if not nil, is called with what the model sees
}

// readMode is how an application reads the events of a run.
type readMode int

const (
	atOnce readMode = iota
	late            // the streams are read when the run has ended
	never           // the streams of the events are dropped
	readings
)

func choose(o options, n int, shared *store.Dir) *plan {
	rng := rand.New(rand.NewPCG(o.Seed, uint64(n)))
	p := &plan{
		rng: rng, n: n, agentic: rng.IntN(2) == 0, streaming: rng.IntN(2) == 0, interrupt: rng.IntN(4) == 0,
		protocol: toolsearch.Protocol(rng.IntN(4)), turns: 3 + rng.IntN(8), events: readMode(rng.IntN(int(readings))),
		owner: fmt.Sprintf("run-%d", n),
	}
	if rng.IntN(4) == 0 {
		p.owner = "anyone" // runs whose contents may be the same
	}
	memory := store.NewMemory(64 << 20)
	p.store, p.truth = memory, memory
	switch k := rng.IntN(17); {
	case k < 2:
		p.kind = "store in memory"
	case k < 3:
		p.kind, p.store = "store that takes whole writes", struct {
			store.Backend
			store.Reader
		}{memory, memory}
	case k < 6:
		p.inDirectory(shared)
	case k < 8:
		p.kind, p.store = "failing store", faulty(rng, memory)
	case k < 9:
		p.kind, p.store = "slow store", backendtest.NewFaulty(memory, slow())
	case k < 10:
		p.kind, p.cancel = "cancelled in the middle", true
	case k < 12:
		p.inDirectory(shared)
		p.kind, p.fails = "tool or stream that fails", true
	case k < 14:
		p.provider = &adapters[rng.IntN(len(adapters))]
		p.kind = "conversation kept by " + p.provider.name
	case k < 16:
		p.inScope(shared, fmt.Sprintf("tenant-%d", rng.IntN(5)))
	default:
		p.setDeleted(shared, fmt.Sprintf("tenant-%d", 1000+n))
	}
	p.sabotage(o.Break, memory)
	return p
}

func (p *plan) inDirectory(shared *store.Dir) {
	p.kind, p.store, p.truth, p.tenant, p.provider = "directory shared by all", shared, shared, "", nil
	p.cancel, p.fails, p.cleaner = false, false, nil
}

// inScope lets the run belong to a tenant.
func (p *plan) inScope(shared *store.Dir, tenant string) {
	p.kind, p.tenant, p.owner = "tenants of one store", tenant, tenant+"."+p.owner
	p.useScope(shared, func(ctx context.Context) (string, error) { return ctx.Value(tenantKey{}).(string), nil })
}

// setDeleted lets the run belong to a tenant that is deleted while it writes. Its level of the key
// is below one that others share.
func (p *plan) setDeleted(shared *store.Dir, tenant string) {
	p.kind, p.tenant, p.owner = "tenants that are deleted", tenant, tenant+"."+p.owner
	p.useScope(shared, func(ctx context.Context) (string, error) { return "leaving/" + ctx.Value(tenantKey{}).(string), nil })
	p.cleaner = p.store.(store.Cleaner)
}

func (p *plan) useScope(inner reduction.Backend, key func(context.Context) (string, error)) {
	p.store = store.Scoped(inner, store.Scope{Key: key})
	p.truth = p.store.(store.RangeReader)
}

// tenantKey finds the tenant in a context.
type tenantKey struct{}

// keeper deletes nothing.
type keeper struct{ store.Cleaner }

func (keeper) DeleteUnused(context.Context, string, time.Time) (int, int64, error) { return 0, 0, nil }

// everybodys is the store of the tenants where their scopes are broken.
var everybodys = store.NewMemory(256 << 20)

// sabotage breaks something that the report must show.
func (p *plan) sabotage(what string, memory *store.Memory) {
	switch {
	case what == "store" && p.truth == memory:
		p.truth = store.NewMemory(1) // everything in it is gone
	case what == "sessions" && p.provider != nil:
		p.provider = &adapter{name: p.provider.name, id: "unknown-response-id", tools: true}
	case what == "leaving" && p.cleaner != nil:
		p.cleaner = keeper{p.cleaner}
	case what == "scopes" && p.tenant != "" && p.cleaner == nil:
		p.useScope(everybodys, func(context.Context) (string, error) { return "all", nil })
	}
}

// faulty makes a third of the calls go wrong, in any way but by lying.
func faulty(rng *rand.Rand, files *store.Memory) reduction.Backend {
	modes := []backendtest.Mode{backendtest.Fail, backendtest.Short, backendtest.Panic}
	var mu sync.Mutex
	draws := rand.New(rand.NewPCG(rng.Uint64(), 0))
	return backendtest.NewFaulty(files, func(c backendtest.Call) backendtest.Fault {
		if c.Op == backendtest.OpRead || c.Op == backendtest.OpReadRange {
			return backendtest.Fault{}
		}
		mu.Lock()
		defer mu.Unlock()
		if draws.IntN(3) > 0 {
			return backendtest.Fault{}
		}
		return backendtest.Fault{Mode: modes[draws.IntN(len(modes))], After: int64(draws.IntN(4096))}
	})
}

// slow lets every call wait for one that comes later.
func slow() backendtest.Plan {
	return func(c backendtest.Call) backendtest.Fault {
		gate := make(chan struct{})
		go close(gate)
		return backendtest.Fault{Mode: backendtest.Slow, Gate: gate}
	}
}

// content is what a tool returns for a key: text that no other key or size gives, with
// lines and characters of several bytes.
func content(key string, size int) string {
	rng := rand.New(rand.NewPCG(uint64(size), hash(key)))
	out := make([]byte, 0, size+64)
	for line := 0; len(out) < size; line++ {
		out = fmt.Appendf(out, "%s of %d, line %d: %016x — 行 %08x\n", key, size, line, rng.Uint64(), rng.Uint32())
	}
	return string(out)
}

// failingPrefix begins the content of a stream that fails.
const failingPrefix = "fails/"

var (
	namePrefix = regexp.MustCompile(`^(fails|run|tenant|killed|anyone)|^$`)
	firstLine  = regexp.MustCompile(`^(\S+) of (\d+), line 0:`)
)

// isWhole reports whether a text that begins like content is one to its last byte, or to
// the failure of its stream. Other texts are answers of the middlewares.
func isWhole(text string) bool {
	found := firstLine.FindStringSubmatch(text)
	if found == nil {
		return !namePrefix.MatchString(text)
	}
	size, err := strconv.Atoi(found[2])
	if err != nil || size > 1<<20 {
		return false
	}
	original := content(found[1], size)
	return text == original || strings.HasPrefix(text, failingPrefix) && strings.HasPrefix(original, text)
}

func hash(s string) (h uint64) {
	h = 14695981039346656037
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
