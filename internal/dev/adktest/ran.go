// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package adktest

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"sync"

	"github.com/cloudwego/eino/compose"
)

// Ran counts how often each call of a tool ran, by its id, and kills processes at some. Its zero
// value kills none.
type Ran struct {
	mu           sync.Mutex
	counts       map[string]int
	executions   map[string]int // those that a kill forgot too
	checkpointed map[string]int // as of the last checkpoint
	callsLeft    int            // calls until the process is killed; 0: it is not
	kill         context.CancelFunc
}

// Add counts the call of the context, unless the process is killed at it.
func (r *Ran) Add(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ctx.Err(); err != nil { // a killed process runs nothing more
		return err
	}
	if r.callsLeft--; r.callsLeft == 0 {
		r.kill()
		return context.Canceled
	}
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	r.counts[compose.GetToolCallID(ctx)]++
	if r.executions == nil {
		r.executions = map[string]int{}
	}
	r.executions[compose.GetToolCallID(ctx)]++
	return nil
}

// Times returns the counts by id. The caller owns the map.
func (r *Ran) Times() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.counts)
}

// Executions returns how often each call really ran, also where a kill has forgotten it.
func (r *Ran) Executions() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.executions)
}

// Process begins a process, which is killed at one of its first calls in one of three cases. The
// function that it returns ends the process, given the error of the run: it reports whether the
// process was killed. Then whatever ran since the last checkpoint does not count.
func (r *Ran) Process(ctx context.Context, g *rand.Rand) (context.Context, func(err error) bool) {
	ctx, kill := context.WithCancel(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kill, r.callsLeft = kill, 0; g.IntN(3) == 0 {
		r.callsLeft = 1 + g.IntN(6)
	}
	return ctx, func(err error) bool {
		kill()
		r.mu.Lock()
		defer r.mu.Unlock()
		if errors.Is(err, context.Canceled) {
			r.counts = maps.Clone(r.checkpointed)
			return true
		}
		r.checkpointed = maps.Clone(r.counts)
		return false
	}
}
