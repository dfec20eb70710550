// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package warn logs warnings to slog.Default at a limited rate, for problems that no OnEvent
// receives.
package warn

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/einolean/einolean/internal/safe"
)

// interval is the minimum time between two log entries of one kind.
const interval = time.Minute

// Once logs a message to slog.Default at level Info: one of each kind in the whole process.
func Once(ctx context.Context, kind string, what slog.LogValuer) {
	logger := slog.Default()
	if !processLimit.isFirst(logger, kind, time.Now()) {
		return
	}
	_ = safe.Call("slog", func() error {
		logger.LogAttrs(ctx, slog.LevelInfo, kind, slog.Any("einolean", what))
		return nil
	})
}

// Send logs an event to slog.Default if its level is a warning or higher: at most one of each kind
// per minute in the whole process. The attribute left_out counts those that were not logged since
// the last one.
func Send(ctx context.Context, level slog.Level, kind string, what slog.LogValuer) {
	if level < slog.LevelWarn {
		return
	}
	logger := slog.Default()
	omitted, ok := processLimit.allow(logger, kind, time.Now())
	if !ok {
		return
	}
	_ = safe.Call("slog", func() error {
		attrs := []slog.Attr{slog.Any("einolean", what)}
		if omitted > 0 {
			attrs = append(attrs, slog.Int("left_out", omitted))
		}
		logger.LogAttrs(ctx, level, kind, attrs...)
		return nil
	})
}

// Text is the text of a warning that has nothing else.
type Text string

// LogValue implements slog.LogValuer.
func (t Text) LogValue() slog.Value { return slog.GroupValue(slog.String("problem", string(t))) }

// processLimit is the limiter of the process.
var processLimit limiter

// limiter allows one entry of each kind per interval.
type limiter struct {
	mu     sync.Mutex
	logger *slog.Logger
	kinds  map[string]*kindState
}

// kindState is when a kind was last logged, and how many entries were omitted since then.
type kindState struct {
	loggedAt time.Time
	omitted  int
}

// isFirst reports whether no entry of the kind was logged yet, and counts this one as logged.
func (l *limiter) isFirst(logger *slog.Logger, kind string, at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resetFor(logger)
	if l.kinds[kind] != nil {
		return false
	}
	l.kinds[kind] = &kindState{loggedAt: at}
	return true
}

// resetFor drops the history of another logger: a new logger starts without one.
func (l *limiter) resetFor(logger *slog.Logger) {
	if l.logger != logger {
		l.logger, l.kinds = logger, map[string]*kindState{}
	}
}

// allow reports whether an entry may be logged, and how many entries before it were omitted.
func (l *limiter) allow(logger *slog.Logger, kind string, at time.Time) (omitted int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resetFor(logger)
	p := l.kinds[kind]
	if p != nil && at.Sub(p.loggedAt) < interval {
		p.omitted++
		return 0, false
	}
	if p != nil {
		omitted = p.omitted
	}
	l.kinds[kind] = &kindState{loggedAt: at}
	return omitted, true
}
