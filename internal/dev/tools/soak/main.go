// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command soak runs thousands of agents with both middlewares at once and reports what went
// wrong and whether anything was lost. The runs mix protocols, message types, streaming,
// checkpoint and resume, failing and slow stores, streams that fail, merged streams, events
// that nobody reads, providers that keep the conversation, tenants, tenants that are deleted
// while they write, and cancellation. They run in several processes that share one directory
// and one log of windows, while further processes that use both are killed. It ends by itself.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/window"
)

// options bound a soak.
type options struct {
	Runs, Parallel int
	Processes      int // that share the runs and one directory
	Kills          int // further processes, killed one after another
	Limit          time.Duration
	Seed           uint64
	Break          string // what is to go wrong, so that it can be seen to be reported
}

func main() {
	if child(os.Stdout) {
		return
	}
	var o options
	flag.IntVar(&o.Runs, "runs", 10_000, "agent runs")
	flag.IntVar(&o.Parallel, "parallel", 32, "runs at a time")
	flag.IntVar(&o.Processes, "processes", 2, "processes that share the runs and one directory")
	flag.IntVar(&o.Kills, "kills", 20, "further processes that use the directory and are killed")
	flag.DurationVar(&o.Limit, "time", 5*time.Minute, "start no run after this time")
	flag.Uint64Var(&o.Seed, "seed", 1, "chooses what each run is")
	flag.Parse()
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	ok := soak(context.Background(), o, dir, os.Stdout)
	_ = os.RemoveAll(dir)
	if !ok {
		os.Exit(1)
	}
}

// soak reports whether nothing was lost and nothing failed that should not.
func soak(ctx context.Context, o options, dir string, out io.Writer) bool {
	total := &tally{}
	end := time.Now().Add(o.Limit)
	var wg sync.WaitGroup
	for part := range o.Processes {
		wg.Go(func() { total.merge(inProcess(ctx, job{options: o, Dir: dir, Part: part, End: end})) })
	}
	wg.Go(func() {
		for n := range o.Kills {
			if time.Now().Before(end) {
				total.merge(killProcess(ctx, job{options: o, Dir: dir, Part: n, End: end, Victim: true}))
			}
		}
	})
	wg.Wait()
	total.merge(checkFiles(dir, o))
	if o.Break == "log" {
		_ = os.Truncate(logName(dir), 0)
	}
	total.merge(readLog(dir, total))
	_ = os.Remove(logName(dir))
	total.print(out, o)
	return total.good()
}

// job is what a process of its own does.
type job struct {
	options
	Dir    string
	Part   int // which of the processes it is
	End    time.Time
	Victim bool // it runs until it is killed
}

// jobVariable tells a process that it is to do a job.
const jobVariable = "EINOLEAN_SOAK_JOB"

// child does the job of this process, if it has one, and writes the outcome.
func child(out io.Writer) bool {
	text := os.Getenv(jobVariable)
	if text == "" {
		return false
	}
	var j job
	err := json.Unmarshal([]byte(text), &j)
	if err != nil {
		panic(err)
	}
	shared, err := store.NewDir(j.Dir)
	if err != nil {
		panic(err)
	}
	defer func() { _ = shared.Close() }()
	see, log, err := newCollector(j)
	if err != nil {
		panic(err)
	}
	defer func() { _ = log.Close() }()
	if j.Victim {
		suffer(context.Background(), j, shared, see, out)
		return true
	}
	if err := json.NewEncoder(out).Encode(work(context.Background(), j, shared, see)); err != nil {
		panic(err)
	}
	return true
}

// work makes the job's share of the runs.
func work(ctx context.Context, j job, shared *store.Dir, see *window.Collector) *tally {
	before := gauge()
	total := &tally{}
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(1, j.Parallel/j.Processes) {
		wg.Go(func() {
			for n := range next {
				p := choose(j.options, n, shared)
				if n%watchedShare == 0 {
					p.collector = see
				}
				total.add(one(ctx, p))
				if n%16 == 0 {
					runtime.GC() // what nobody reads is closed by finalizers
				}
			}
		})
	}
	for n := j.Part; n < j.Runs && time.Now().Before(j.End); n += j.Processes {
		next <- n
	}
	close(next)
	wg.Wait()
	if j.Break == "crash" {
		go func() { panic("broken on purpose") }()
		select {}
	}
	adktest.Finalize()
	if err := see.LogError(); err != nil {
		total.problem("ERROR the log of process %d: %v", j.Part, err)
	}
	total.Before, total.After = before, waitForGoroutines(before.Goroutines)
	if total.After.Goroutines > before.Goroutines+2 {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		total.problem("ERROR %d goroutines are left of %d:\n%.4000s", total.After.Goroutines, before.Goroutines, stacks)
	}
	return total
}

// gauges are what must not grow.
type gauges struct {
	Goroutines int
	Heap       uint64
}

func gauge() gauges {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return gauges{runtime.NumGoroutine(), m.HeapAlloc}
}

// waitForGoroutines waits until goroutines that are about to end have ended, at most 10 seconds.
func waitForGoroutines(want int) gauges {
	for range 1000 {
		if runtime.NumGoroutine() <= want {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return gauge()
}
