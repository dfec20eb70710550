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
	mu    sync.Mutex
	times map[string]int
	real  map[string]int // those that a kill forgot too
	saved map[string]int // as of the last checkpoint
	until int            // calls until the process is killed; 0: it is not
	kill  context.CancelFunc
}

// Add counts the call of the context, unless the process is killed at it.
func (r *Ran) Add(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ctx.Err(); err != nil { // a killed process runs nothing more
		return err
	}
	if r.until--; r.until == 0 {
		r.kill()
		return context.Canceled
	}
	if r.times == nil {
		r.times = map[string]int{}
	}
	r.times[compose.GetToolCallID(ctx)]++
	if r.real == nil {
		r.real = map[string]int{}
	}
	r.real[compose.GetToolCallID(ctx)]++
	return nil
}

// Times returns the counts by id. The caller owns the map.
func (r *Ran) Times() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.times)
}

// Executions returns how often each call really ran, also where a kill has forgotten it.
func (r *Ran) Executions() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.real)
}

// Process begins a process, which is killed at one of its first calls in one of three cases. The
// function that it returns ends the process, given the error of the run: it reports whether the
// process was killed. Then whatever ran since the last checkpoint does not count.
func (r *Ran) Process(ctx context.Context, g *rand.Rand) (context.Context, func(err error) bool) {
	ctx, kill := context.WithCancel(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kill, r.until = kill, 0; g.IntN(3) == 0 {
		r.until = 1 + g.IntN(6)
	}
	return ctx, func(err error) bool {
		kill()
		r.mu.Lock()
		defer r.mu.Unlock()
		if errors.Is(err, context.Canceled) {
			r.times = maps.Clone(r.saved)
			return true
		}
		r.saved = maps.Clone(r.times)
		return false
	}
}
