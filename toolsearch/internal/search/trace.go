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

// The bounds of what an event says of a search.
const (
	maxTerms  = 5 // hits with terms
	maxFailed = 5
	maxQuery  = 1000 // bytes
)

// Query is what an event says of a query.
func Query(text string) string { return display.Start(text, maxQuery) }

// trace is what happens during one search, for an event.
type trace struct {
	start time.Time
	told  func(einolean.Search, []error)

	mu       sync.Mutex
	index    string
	fallback bool
	failed   []error
}

// tracing collects what happens from now on, in the context that it returns.
func startTrace(ctx context.Context, told func(einolean.Search, []error)) (context.Context, *trace) {
	t := &trace{start: time.Now(), told: told}
	return catalog.OnFailure(ctx, t.fail), t
}

// fail notes that an index, or a part of one, failed.
func (t *trace) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.failed) < maxFailed {
		t.failed = append(t.failed, err)
	}
}

// answered notes the index that answered.
func (t *trace) answered(x index.Index, fallback bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.index = nameOf(x)
	t.fallback = t.fallback || fallback
}

// report tells of a search that was answered.
func (t *trace) report(query string, f *Result) {
	t.mu.Lock()
	what, failed := einolean.Search{Query: Query(query), Index: t.index, Fallback: t.fallback, Hits: f.Hits()}, slices.Clone(t.failed)
	t.mu.Unlock()
	what.Took = time.Since(t.start)
	t.told(what, failed)
}
