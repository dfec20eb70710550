// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// The programs that wait for calls, and what they hold together.

import (
	"slices"
	"sync"
)

// waiting are those of one interpreter, the one that waits longest first. Until one of them is taken,
// its machine belongs to the list.
type waiting struct {
	mu    sync.Mutex
	runs  []*run
	bytes int64
	most  int64
}

// add notes that a program waits, and drops the machines that are too much.
func (w *waiting) add(r *run) {
	if r.machine == nil || len(r.state.Calls) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = append(w.runs, r)
	for w.bytes += r.machine.memory.held(); w.bytes > w.most; {
		oldest := w.runs[0]
		w.remove(oldest)
		oldest.drop()
	}
}

// take takes a program that goes on or ends. It may have lost its machine.
func (w *waiting) take(r *run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.remove(r)
}

func (w *waiting) remove(r *run) {
	if i := slices.Index(w.runs, r); i >= 0 {
		w.runs = slices.Delete(w.runs, i, i+1)
		w.bytes -= r.machine.memory.held()
	}
}
