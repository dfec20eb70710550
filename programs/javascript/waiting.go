// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// Limits the memory of programs that wait for calls.

import (
	"slices"
	"sync"
)

// waitingList holds the waiting programs of one interpreter, the longest waiting first. It owns
// their machines until they are removed.
type waitingList struct {
	mu         sync.Mutex
	executions []*execution
	bytes      int64
	maxBytes   int64
}

// add adds a program that waits, and drops machines until the rest is within maxBytes.
func (w *waitingList) add(r *execution) {
	if r.machine == nil || len(r.state.Calls) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.executions = append(w.executions, r)
	for w.bytes += r.machine.memory.size(); w.bytes > w.maxBytes; {
		oldest := w.executions[0]
		w.removeLocked(oldest)
		oldest.dropMachine()
	}
}

// remove removes a program that is resumed or closed. It may have lost its machine.
func (w *waitingList) remove(r *execution) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removeLocked(r)
}

func (w *waitingList) removeLocked(r *execution) {
	if i := slices.Index(w.executions, r); i >= 0 {
		w.executions = slices.Delete(w.executions, i, i+1)
		w.bytes -= r.machine.memory.size()
	}
}
