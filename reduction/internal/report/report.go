// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package report emits events about results.
package report

import (
	"context"
	"hash/maphash"
	"log/slog"
	"sync"
	"time"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/warn"
	"github.com/einolean/einolean/reduction/internal/tokencount"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

// Outcome is what became of a result, in bytes of text.
type Outcome struct {
	Kind          einolean.Kind
	Before, After int
	Path, Rule    string
	Reason        toolpolicy.Reason
	Stream        bool
	Err           error
}

// The rules by which a result is replaced.
const (
	ByLimit     = "limit"     // its length
	ByThreshold = "threshold" // the length of the conversation
	ByHandler   = "handler"   // the user's handler
	ByRepeat    = "repeat"    // an equal result that the model sees
	ByRound     = "round"     // the length of all results of its round
	ByWindow    = "window"    // the length of the whole request
)

// Reporter is the user's OnEvent. Nil logs warnings.
type Reporter func(ctx context.Context, event einolean.Event)

// Result reports the outcome of a call's result. Without an OnEvent only failures are reported, and anything else
// allocates nothing.
func (r Reporter) Result(ctx context.Context, tool, callID string, o Outcome) {
	if r == nil && o.Kind != einolean.KindStoreFailed {
		return
	}
	r.Send(ctx, einolean.Event{Kind: o.Kind, Tool: tool, CallID: callID, Err: o.Err, Output: &einolean.OutputChange{
		Before: einolean.Size{Bytes: o.Before, Tokens: tokencount.OfBytes(o.Before)},
		After:  einolean.Size{Bytes: o.After, Tokens: tokencount.OfBytes(o.After)},
		Path:   o.Path, Rule: o.Rule, Reason: string(o.Reason), Stream: o.Stream,
	}})
}

// Send calls the user's OnEvent and recovers from its panic. Without an OnEvent it logs warnings.
func (r Reporter) Send(ctx context.Context, e einolean.Event) {
	e.Time = time.Now()
	if r == nil {
		if level := e.Level(); level >= slog.LevelWarn { // other events are not even copied
			warn.Send(ctx, level, string(e.Kind), e)
		}
		return
	}
	defer func() { _ = recover() }()
	r(ctx, e)
}

// maxKeys is how many keys RecentKeys remembers.
const maxKeys = 1 << 15

var keySeed = maphash.MakeSeed()

// KeyOf is a hash of texts.
func KeyOf(texts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(keySeed)
	for _, s := range texts {
		_, _ = h.WriteString(s)
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// RecentKeys remembers the last maxKeys keys that were added. The zero value is ready for use. It is safe for
// concurrent use.
type RecentKeys struct {
	mu    sync.Mutex
	keys  map[uint64]bool
	order []uint64 // oldest first
}

// Add adds a key, and reports whether it is new.
func (s *RecentKeys) Add(key uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys[key] {
		return false
	}
	if s.keys == nil {
		s.keys = make(map[uint64]bool)
	}
	if len(s.order) >= maxKeys {
		delete(s.keys, s.order[0])
		s.order = s.order[1:]
	}
	s.keys[key] = true
	s.order = append(s.order, key)
	return true
}
