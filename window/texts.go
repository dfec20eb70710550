// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package window

// This file keeps the texts of a conversation.

import (
	"strings"

	"github.com/leanctx/leanctx/internal/display"
	"github.com/leanctx/leanctx/internal/safe"
)

// texts stores each text of a conversation once, as far as the configuration allows.
// Calls hold the texts of their parts; a text that no call holds is dropped.
type texts struct {
	byHash map[uint64]int
	byID   map[int]*text
	last   int
}

type text struct {
	hash   uint64
	value  string
	tokens int // of the whole text
	calls  int // that hold it
	logged bool
}

// textCost is the approximate overhead of a text in bytes.
const textCost = 120

// hold returns the ID of a text, and how many more bytes are kept now.
func (t *texts) hold(c *Config, hash uint64, value string, tokens int) (id int, grown int64) {
	if c.Texts == TextsNone {
		return 0, 0
	}
	id, known := t.byHash[hash]
	if !known {
		if t.byHash == nil {
			t.byHash, t.byID = map[uint64]int{}, map[int]*text{}
		}
		t.last++
		id = t.last
		kept := &text{hash: hash, value: c.keep(value), tokens: tokens}
		t.byHash[hash], t.byID[id] = id, kept
		grown = int64(len(kept.value)) + textCost
	}
	t.byID[id].calls++
	return id, grown
}

// drop releases a text, and returns how many bytes are freed.
func (t *texts) drop(id int) (freed int64) {
	kept := t.byID[id]
	if kept == nil {
		return 0
	}
	if kept.calls--; kept.calls > 0 {
		return 0
	}
	delete(t.byHash, kept.hash)
	delete(t.byID, id)
	return int64(len(kept.value)) + textCost
}

// keep returns the part of a text to keep.
func (c *Config) keep(value string) string {
	if c.Texts == TextsNone {
		return ""
	}
	if c.Redact != nil {
		redacted, err := safe.Value("Redact", func() (string, error) { return c.Redact(value), nil })
		if err != nil {
			return ""
		}
		value = redacted
	}
	if c.Texts == TextsStart {
		return start(value, startBytes)
	}
	return start(value, len(value))
}

// start returns the beginning of a text, at most n bytes of valid UTF-8, and keeps
// nothing else of it in memory.
func start(value string, n int) string { return strings.Clone(display.Start(value, n)) }
