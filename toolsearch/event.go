// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file says what OnEvent is told.

import (
	"context"
	"time"
)

// EventKind is what happened.
type EventKind string

const (
	// EventSearch: the model searched. Query, Results and Duration are set.
	EventSearch EventKind = "search"
	// EventLoad: Tools became visible to the model.
	EventLoad EventKind = "load"
	// EventUnload: Tools were hidden again.
	EventUnload EventKind = "unload"
	// EventDenied: the Filter denied Tools for Phase; Err is the Filter's error, if any.
	EventDenied EventKind = "denied"
	// EventGate: a call to Tools[0] did not run because it was not loaded.
	EventGate EventKind = "gate"
	// EventIndexFailed: an index returned Err; another one answered in its place.
	EventIndexFailed EventKind = "index failed"
	// EventStoreFailed: the Backend did not take the catalogue; Err says why.
	EventStoreFailed EventKind = "store failed"
)

// Event tells of one thing that the middleware did.
type Event struct {
	// Kind is what happened.
	Kind EventKind
	// Tools are the tools it happened to.
	Tools []string
	// Query is the search as the model wrote it.
	Query string
	// Results are the tools a search returned, best first.
	Results []Result
	// Duration is how long a search took.
	Duration time.Duration
	// Phase is the phase of a denial.
	Phase Phase
	// CallID is the id of the tool call, where the event belongs to one.
	CallID string
	// Err is why something failed. It never reaches the model.
	Err error
}

// emit tells the user's OnEvent, whose panics are its own affair.
func (s *settings) emit(ctx context.Context, ev Event) {
	if s.cfg.OnEvent == nil {
		return
	}
	defer func() { _ = recover() }()
	s.cfg.OnEvent(ctx, ev)
}
