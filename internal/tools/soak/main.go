// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Command soak runs thousands of agents with both middlewares at once and reports what went
// wrong and whether anything was lost. The runs mix protocols, message types, streaming,
// checkpoint and resume, failing and slow stores, and cancellation. It ends by itself.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/reduction"
)

// options bound a soak.
type options struct {
	runs, parallel int
	limit          time.Duration
	seed           uint64
}

func main() {
	var o options
	flag.IntVar(&o.runs, "runs", 10_000, "agent runs")
	flag.IntVar(&o.parallel, "parallel", 32, "runs at a time")
	flag.DurationVar(&o.limit, "time", 5*time.Minute, "start no run after this time")
	flag.Uint64Var(&o.seed, "seed", 1, "chooses what each run is")
	flag.Parse()
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ok, err := soak(context.Background(), o, dir, os.Stdout)
	_ = os.RemoveAll(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// soak reports whether nothing was lost and nothing failed that should not.
func soak(ctx context.Context, o options, dir string, out io.Writer) (bool, error) {
	shared, err := reduction.NewDirBackend(dir)
	if err != nil {
		return false, err
	}
	defer func() { _ = shared.Close() }()
	before := gauge()
	total := &tally{}
	work := make(chan int)
	var wg sync.WaitGroup
	for range o.parallel {
		wg.Go(func() {
			for n := range work {
				total.add(one(ctx, o.seed, n, shared))
			}
		})
	}
	end := time.Now().Add(o.limit)
	for n := 0; n < o.runs && time.Now().Before(end); n++ {
		work <- n
	}
	close(work)
	wg.Wait()
	after := settled(before.goroutines)
	total.print(out, o, before, after)
	return total.lost == 0 && len(total.unexpected) == 0 && after.goroutines <= before.goroutines+2, nil
}

// one makes run n from the seed, on either message type.
func one(ctx context.Context, seed uint64, n int, shared *reduction.DirBackend) outcome {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	p := choose(rng, n, shared)
	if p.agentic {
		return trial[*schema.AgenticMessage](ctx, p)
	}
	return trial[*schema.Message](ctx, p)
}

// outcome is what one run gave.
type outcome struct {
	kind     string // what was special about the run
	err      error
	expected bool // the error is what the run was made for
	resumed  bool
	checked  int64 // bytes that tools returned and that were found again
	unsaved  int64 // bytes of streams that a failing store did not take, as the model was told
	lost     int64 // bytes that were neither
	what     string
}

// tally adds up outcomes.
type tally struct {
	mu                     sync.Mutex
	runs, resumed          int
	checked, unsaved, lost int64
	kinds, errs            map[string]int
	unexpected, losses     []string
}

func (t *tally) add(o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kinds == nil {
		t.kinds, t.errs = map[string]int{}, map[string]int{}
	}
	t.runs++
	t.kinds[o.kind]++
	t.checked, t.unsaved, t.lost = t.checked+o.checked, t.unsaved+o.unsaved, t.lost+o.lost
	if o.resumed {
		t.resumed++
	}
	if o.lost > 0 && len(t.losses) < 5 {
		t.losses = append(t.losses, o.what)
	}
	switch {
	case o.err == nil:
	case o.expected:
		t.errs[o.kind]++
	case len(t.unexpected) < 5:
		t.unexpected = append(t.unexpected, fmt.Sprintf("%s: %v", o.kind, o.err))
	}
}

func (t *tally) print(out io.Writer, o options, before, after gauges) {
	fmt.Fprintf(out, "%d runs of %d, %d at a time, seed %d; %d resumed from a checkpoint\n", t.runs, o.runs, o.parallel, o.seed, t.resumed)
	for _, k := range slices.Sorted(maps.Keys(t.kinds)) {
		fmt.Fprintf(out, "  %-28s %6d runs, %d ended by the error they were made for\n", k, t.kinds[k], t.errs[k])
	}
	fmt.Fprintf(out, "bytes of tool results found again: %d; not saved by a failing store, and said so: %d; lost: %d\n", t.checked, t.unsaved, t.lost)
	fmt.Fprintf(out, "goroutines: %d before, %d after; heap: %.1f MB before, %.1f MB after\n",
		before.goroutines, after.goroutines, float64(before.heap)/1e6, float64(after.heap)/1e6)
	for _, l := range t.losses {
		fmt.Fprintf(out, "LOST %s\n", l)
	}
	for _, u := range t.unexpected {
		fmt.Fprintf(out, "ERROR %s\n", u)
	}
}

// gauges are what must not grow.
type gauges struct {
	goroutines int
	heap       uint64
}

func gauge() gauges {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return gauges{runtime.NumGoroutine(), m.HeapAlloc}
}

// settled waits until goroutines that are about to end have ended, at most 10 seconds.
func settled(want int) gauges {
	for range 1000 {
		if runtime.NumGoroutine() <= want {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return gauge()
}
