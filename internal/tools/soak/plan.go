// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file chooses what a run is like.

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/backend/backendtest"
	"github.com/leanctx/leanctx/reduction"
	"github.com/leanctx/leanctx/toolsearch"
)

// plan is what a run is like.
type plan struct {
	rng       *rand.Rand
	n         int
	kind      string
	agentic   bool
	streaming bool
	interrupt bool // a tool stops the run once, and it is resumed from a checkpoint
	cancel    bool // the context ends in the middle
	protocol  toolsearch.Protocol
	turns     int
	store     reduction.Backend   // what the agent writes to
	truth     backend.RangeReader // what the check reads from
}

func choose(rng *rand.Rand, n int, shared *reduction.DirBackend) *plan {
	p := &plan{
		rng: rng, n: n, agentic: rng.IntN(2) == 0, streaming: rng.IntN(2) == 0, interrupt: rng.IntN(4) == 0,
		protocol: toolsearch.Protocol(rng.IntN(4)), turns: 3 + rng.IntN(8),
	}
	memory := reduction.NewMemoryBackend(64 << 20)
	p.store, p.truth = memory, memory
	switch k := rng.IntN(10); {
	case k < 4:
		p.kind = "store in memory"
	case k < 6:
		p.kind, p.store, p.truth = "directory shared by all runs", shared, shared
	case k < 8:
		p.kind, p.store = "failing store", faulty(rng, memory)
	case k < 9:
		p.kind, p.store = "slow store", backendtest.NewFaulty(memory, slow())
	default:
		p.kind, p.cancel = "cancelled in the middle", true
	}
	if p.kind == "store in memory" && rng.IntN(3) == 0 {
		p.kind, p.store = "store that takes whole writes", struct {
			backend.Backend
			backend.Reader
		}{memory, memory}
	}
	return p
}

// faulty makes a third of the calls go wrong, in any way but by lying.
func faulty(rng *rand.Rand, store *reduction.MemoryBackend) reduction.Backend {
	modes := []backendtest.Mode{backendtest.Fail, backendtest.Short, backendtest.Panic}
	var mu sync.Mutex
	draws := rand.New(rand.NewPCG(rng.Uint64(), 0))
	return backendtest.NewFaulty(store, func(c backendtest.Call) backendtest.Fault {
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

// content is what a tool returns for a key: text that no other key gives, with lines and
// characters of several bytes.
func content(key string, size int) string {
	rng := rand.New(rand.NewPCG(uint64(size), hash(key)))
	out := make([]byte, 0, size+64)
	for line := 0; len(out) < size; line++ {
		out = fmt.Appendf(out, "%s line %d: %016x — 行 %08x\n", key, line, rng.Uint64(), rng.Uint32())
	}
	return string(out)
}

func hash(s string) (h uint64) {
	h = 14695981039346656037
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
