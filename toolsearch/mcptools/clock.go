// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"sync"
	"time"
)

// clock is the time of one call, however often it is made and whatever is asked in between. It ends
// after limit without a word of the server, and after mostTimeouts times that in all. Only the time
// in which a person is asked does not count.
type clock struct {
	limit time.Duration

	mu          sync.Mutex
	left        time.Duration // of all, when it last stopped
	since       time.Time     // since when it runs; zero: it does not
	late, total *time.Timer
}

func newClock(limit, spent time.Duration) *clock {
	return &clock{limit: limit, left: max(0, mostTimeouts*limit-spent)}
}

// run runs until stop is called, and calls end if the time is over before.
func (c *clock) run(end func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late, c.total = time.AfterFunc(min(c.limit, c.left), end), time.AfterFunc(c.left, end)
	c.since = time.Now()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.halt()
		c.late, c.total = nil, nil
	}
}

// halt stops both timers. The lock is held.
func (c *clock) halt() {
	if !c.since.IsZero() {
		c.left = max(0, c.left-time.Since(c.since))
		c.since = time.Time{}
		c.late.Stop()
		c.total.Stop()
	}
}

// heard notes a word of the server.
func (c *clock) heard() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.since.IsZero() && c.late.Stop() {
		c.late.Reset(c.limit)
	}
}

// pause stops the clock until resume; ok is false if it stands still already, or the time is over.
func (c *clock) pause() (resume func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() || !c.late.Stop() {
		return nil, false
	}
	c.halt()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.late != nil {
			c.late.Reset(c.limit)
			c.total.Reset(c.left)
			c.since = time.Now()
		}
	}, true
}

// spent is how much of the time has passed.
func (c *clock) spent() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return mostTimeouts*c.limit - c.left
}
