// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file keeps what the middleware reports.

import (
	"context"
	"slices"
	"sync"

	"github.com/leanctx/leanctx/reduction"
)

// events collects what the middleware reports, model call by model call. It is
// safe for concurrent use.
type events struct {
	mu    sync.Mutex
	calls []happened // the last one is still to come
}

// happened is what became of results before a model call.
type happened struct {
	cleared []reduction.Event
	tools   map[string]reduction.Event // by call: of the results that came just before
}

func (e *events) add(_ context.Context, event reduction.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.calls) == 0 {
		e.calls = []happened{{}}
	}
	last := &e.calls[len(e.calls)-1]
	switch {
	case event.Phase == reduction.PhaseTruncation:
		if last.tools == nil {
			last.tools = map[string]reduction.Event{}
		}
		last.tools[event.CallID] = event
	case event.Kind == reduction.EventCleared:
		last.cleared = append(last.cleared, event)
	}
}

// next is called before each model call.
func (e *events) next() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.calls = append(e.calls, happened{}); len(e.calls) == 1 {
		e.calls = append(e.calls, happened{})
	}
}

// from are the model calls from the nth on.
func (e *events) from(n int) []happened {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.calls[n:])
}

// counts says how many results were cut and cleared, and what was read back.
func (e *events) counts() (cut, cleared, reads, readBytes int) {
	out := map[string]bool{}
	for _, h := range e.from(0) {
		for _, event := range h.tools {
			switch {
			case event.Kind == reduction.EventTruncated:
				cut++
			case event.Reason == reduction.ReasonReadTool:
				reads++
				readBytes += event.BytesBefore
			}
		}
		for _, event := range h.cleared {
			out[event.CallID] = true
		}
	}
	return cut, len(out), reads, readBytes
}

// stored are the calls whose results were stored, by the path that was named for them.
func (e *events) stored() map[string]string {
	out := map[string]string{}
	for _, h := range e.from(0) {
		for _, event := range h.tools {
			out[event.Path] = event.CallID
		}
		for _, event := range h.cleared {
			out[event.Path] = event.CallID
		}
	}
	delete(out, "")
	return out
}
