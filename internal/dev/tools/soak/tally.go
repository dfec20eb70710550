// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// What the runs gave is added up.

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
)

// outcome is what one run gave.
type outcome struct {
	kind         string // what was special about the run
	err          error
	isExpected   bool // the error is what the run was made for
	isResumed    bool
	continued    int   // requests that built on what the provider keeps
	checkedBytes int64 // bytes that tools returned and that were found again
	unsavedBytes int64 // bytes of streams that a failing store did not take, as the model was told
	deletedBytes int64 // bytes that were deleted with their tenant
	lostBytes    int64 // bytes that were none of these
	calls        logRange
	description  string
	problems     []string // what should not have happened besides
}

// tally adds up outcomes, of one process or of all. It is what a process writes when it
// has done its job.
type tally struct {
	mu sync.Mutex

	Runs, Resumed, Built            int
	Checked, Unsaved, Deleted, Lost int64
	Logged                          map[string]logRange // what the log must hold, by conversation
	InLog, Torn                     int                 // calls, and lines that cannot be read
	Kinds, Ended                    map[string]int
	Killed, Claims, Files           int
	Crashes, Wrong                  int
	Problems                        []string // the first of them, in words
	Before, After                   gauges
}

// maxProblems bounds how many problems are described.
const maxProblems = 8

func (t *tally) add(o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Runs++
	if t.Kinds == nil {
		t.Kinds, t.Ended, t.Logged = map[string]int{}, map[string]int{}, map[string]logRange{}
	}
	t.Kinds[o.kind]++
	t.Checked, t.Unsaved, t.Deleted, t.Built = t.Checked+o.checkedBytes, t.Unsaved+o.unsavedBytes, t.Deleted+o.deletedBytes, t.Built+o.continued
	if o.calls.Name != "" {
		t.Logged[o.calls.Name] = o.calls
	}
	if o.isResumed {
		t.Resumed++
	}
	if o.lostBytes > 0 {
		t.loss(o.lostBytes, o.description)
	}
	switch {
	case o.err == nil:
	case o.isExpected:
		t.Ended[o.kind]++
	default:
		t.problem("ERROR %s: %v", o.kind, o.err)
	}
	for _, w := range o.problems {
		t.problem("ERROR %s: %s", o.kind, w)
	}
}

// loss and problem need the lock, unless nothing else uses the tally.
func (t *tally) loss(size int64, what string) {
	t.Lost += size
	t.problem("LOST %s", what)
}

func (t *tally) problem(format string, args ...any) {
	t.Wrong++
	if len(t.Problems) < maxProblems {
		t.Problems = append(t.Problems, fmt.Sprintf(format, args...))
	}
}

// merge adds the tally of a process that has ended.
func (t *tally) merge(o *tally) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Kinds == nil {
		t.Kinds, t.Ended, t.Logged = map[string]int{}, map[string]int{}, map[string]logRange{}
	}
	maps.Copy(t.Logged, o.Logged)
	for k := range o.Kinds {
		t.Kinds[k] += o.Kinds[k]
		t.Ended[k] += o.Ended[k]
	}
	t.Runs, t.Resumed, t.Built = t.Runs+o.Runs, t.Resumed+o.Resumed, t.Built+o.Built
	t.Checked, t.Unsaved, t.Lost = t.Checked+o.Checked, t.Unsaved+o.Unsaved, t.Lost+o.Lost
	t.Deleted, t.InLog, t.Torn = t.Deleted+o.Deleted, t.InLog+o.InLog, t.Torn+o.Torn
	t.Killed, t.Claims, t.Files = t.Killed+o.Killed, t.Claims+o.Claims, t.Files+o.Files
	t.Crashes, t.Wrong = t.Crashes+o.Crashes, t.Wrong+o.Wrong
	t.Problems = append(t.Problems, o.Problems...)
	t.Before, t.After = t.Before.plus(o.Before), t.After.plus(o.After)
}

func (g gauges) plus(o gauges) gauges { return gauges{g.Goroutines + o.Goroutines, g.Heap + o.Heap} }

func (t *tally) good() bool { return t.Lost == 0 && t.Crashes == 0 && t.Wrong == 0 && t.Runs > 0 }

func (t *tally) print(out io.Writer, o options) {
	fmt.Fprintf(out, "%d runs of %d in %d processes, %d at a time, seed %d; %d resumed from a checkpoint\n",
		t.Runs, o.Runs, o.Processes, o.Parallel, o.Seed, t.Resumed)
	for _, k := range slices.Sorted(maps.Keys(t.Kinds)) {
		fmt.Fprintf(out, "  %-32s %6d runs, %d ended by the error they were made for\n", k, t.Kinds[k], t.Ended[k])
	}
	fmt.Fprintf(out, "bytes of tool results found again: %d; not saved by a failing store, and said so: %d; deleted with their tenant: %d; lost: %d\n", t.Checked, t.Unsaved, t.Deleted, t.Lost)
	fmt.Fprintf(out, "model calls in the log that all processes share: %d of %d conversations; lines torn by processes that were killed: %d\n", t.InLog, len(t.Logged), t.Torn)
	fmt.Fprintf(out, "requests that built on what a provider keeps: %d\n", t.Built)
	fmt.Fprintf(out, "processes killed: %d, and paths that they had shown: %d; files in the shared directory: %d\n", t.Killed, t.Claims, t.Files)
	fmt.Fprintf(out, "goroutines: %d before, %d after; heap: %.1f MB before, %.1f MB after\n",
		t.Before.Goroutines, t.After.Goroutines, float64(t.Before.Heap)/1e6, float64(t.After.Heap)/1e6)
	fmt.Fprintf(out, "crashes: %d; other problems: %d\n", t.Crashes, t.Wrong)
	for _, p := range t.Problems {
		fmt.Fprintln(out, p)
	}
}
