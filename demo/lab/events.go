// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/einolean/einolean"
)

// Events collects what the middleware reports, model call by model call. It is
// safe for concurrent use, and its zero value is ready.
type Events struct {
	mu    sync.Mutex
	calls []Happened // the last one is still to come
}

// Happened is what became of results before a model call.
type Happened struct {
	Cleared []einolean.Event
	Tools   map[string]einolean.Event // by call: of the results that came just before
}

// Add is for the middleware's OnEvent.
func (e *Events) Add(_ context.Context, event einolean.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.calls) == 0 {
		e.calls = []Happened{{}}
	}
	last := &e.calls[len(e.calls)-1]
	switch event.Kind {
	case einolean.KindResultTruncated, einolean.KindResultKept, einolean.KindResultRead, einolean.KindStoreFailed:
		if last.Tools == nil {
			last.Tools = map[string]einolean.Event{}
		}
		last.Tools[event.CallID] = event
	case einolean.KindResultCleared:
		last.Cleared = append(last.Cleared, event)
	}
}

// Next is called before each model call.
func (e *Events) Next() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.calls = append(e.calls, Happened{}); len(e.calls) == 1 {
		e.calls = append(e.calls, Happened{})
	}
}

// From are the model calls from the nth on.
func (e *Events) From(n int) []Happened {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.calls[n:])
}

// Counts is how many results were cut and cleared, and what was read back.
func (e *Events) Counts() (cut, cleared, reads, readBytes int) {
	out := map[string]bool{}
	for _, h := range e.From(0) {
		for _, event := range h.Tools {
			switch event.Kind {
			case einolean.KindResultTruncated:
				cut++
			case einolean.KindResultRead:
				reads++
				readBytes += event.Output.Before.Bytes
			}
		}
		for _, event := range h.Cleared {
			out[event.CallID] = true
		}
	}
	return cut, len(out), reads, readBytes
}

// Stored are the calls whose results were stored, by the path that was named for them
// first: old pages of the read tool name the file that they were read from.
func (e *Events) Stored() map[string]string {
	out := map[string]string{"": ""}
	add := func(event einolean.Event) {
		if _, known := out[event.Output.Path]; !known {
			out[event.Output.Path] = event.CallID
		}
	}
	for _, h := range e.From(0) {
		for _, event := range h.Tools {
			if event.Kind == einolean.KindResultTruncated {
				add(event)
			}
		}
		for _, event := range h.Cleared {
			add(event)
		}
	}
	delete(out, "")
	return out
}

// Became says what became of a result when its tool returned.
func Became(e einolean.Event) string {
	size := Thousands(e.Output.Before.Bytes) + " bytes"
	switch e.Kind {
	case einolean.KindResultTruncated:
		return fmt.Sprintf("%s, cut to %s", size, Thousands(e.Output.After.Bytes))
	case einolean.KindStoreFailed:
		return fmt.Sprintf("%s, not stored: %v", size, e.Err)
	case einolean.KindResultRead:
		return size + " read back"
	}
	return size
}

// TakenOut says what was cleared before a model call.
func TakenOut(all []einolean.Event) string {
	before, after := 0, 0
	for _, e := range all {
		before, after = before+e.Output.Before.Bytes, after+e.Output.After.Bytes
	}
	what := fmt.Sprintf("%d old results", len(all))
	if len(all) == 1 {
		what = "the result of " + all[0].Tool
	}
	return fmt.Sprintf("(cleared %s: %s bytes to %s)", what, Thousands(before), Thousands(after))
}
