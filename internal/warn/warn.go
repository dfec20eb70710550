// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package warn tells of what went wrong where nobody listens: a store that is down for a week
// must not be found by the bill.
package warn

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/einolean/einolean/internal/safe"
)

// every is how often a kind is logged.
const every = time.Minute

// Send logs what happened to slog.Default, if it is a warning at least: one of each kind a minute,
// in the whole process, with how many were left out since the last one.
func Send(ctx context.Context, level slog.Level, kind string, what slog.LogValuer) {
	if level < slog.LevelWarn {
		return
	}
	to := slog.Default()
	out, pass := process.pass(to, kind, time.Now())
	if !pass {
		return
	}
	_ = safe.Call("slog", func() error {
		attrs := []slog.Attr{slog.Any("einolean", what)}
		if out > 0 {
			attrs = append(attrs, slog.Int("left_out", out))
		}
		to.LogAttrs(ctx, level, kind, attrs...)
		return nil
	})
}

// process counts for the whole process.
var process limit

// limit lets one of each kind pass to a logger in a while.
type limit struct {
	mu    sync.Mutex
	to    *slog.Logger
	kinds map[string]*passed
}

// passed is when one of a kind passed, and how many have not since.
type passed struct {
	last time.Time
	out  int
}

// pass reports whether one passes, and how many before it did not.
func (l *limit) pass(to *slog.Logger, kind string, at time.Time) (out int, pass bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to != to { // another one has heard of nothing yet
		l.to, l.kinds = to, map[string]*passed{}
	}
	p := l.kinds[kind]
	if p != nil && at.Sub(p.last) < every {
		p.out++
		return 0, false
	}
	if p != nil {
		out = p.out
	}
	l.kinds[kind] = &passed{last: at}
	return out, true
}
