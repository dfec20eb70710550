// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

// The limits of what an event says of a search.
const (
	maxTerms       = 5 // hits with terms
	maxTraceErrors = 5
	maxEventQuery  = 1000 // bytes
)

// EventQuery returns a query as an event shows it.
func EventQuery(text string) string { return display.Start(text, maxEventQuery) }

// trace collects what happens during one search, for an event. A nil trace ignores everything.
type trace struct {
	start time.Time
	emit  func(einolean.Search, []error)

	mu       sync.Mutex
	index    string
	fallback bool
	errors   []error
}

// startTrace returns a context in which failures of the index are collected, and the trace; nil if nobody listens.
func (s Searcher) startTrace(ctx context.Context) (context.Context, *trace) {
	if s.Report == nil {
		return ctx, nil
	}
	t := &trace{start: time.Now(), emit: s.Report}
	return catalog.OnFailure(ctx, t.addError), t
}

// addError adds an error of an index, or of a part of one.
func (t *trace) addError(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.errors) < maxTraceErrors {
		t.errors = append(t.errors, err)
	}
}

// setIndex records the index that answered.
func (t *trace) setIndex(x index.Index, isFallback bool) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.index = typeName(x)
	t.fallback = t.fallback || isFallback
}

// report emits a search that has ended.
func (t *trace) report(query string, r *Result) {
	if t == nil {
		return
	}
	t.mu.Lock()
	event := einolean.Search{Query: EventQuery(query), Index: t.index, Fallback: t.fallback, Hits: r.EventHits()}
	errs := slices.Clone(t.errors)
	t.mu.Unlock()
	event.Took = time.Since(t.start)
	t.emit(event, errs)
}
