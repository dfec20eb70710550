// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"sync"
	"time"
)

// clock limits the time of one call, across repetitions and questions. It expires after limit without
// a message of the server, and after maxTimeouts times limit in total. Time in which a person is asked
// does not count.
type clock struct {
	limit time.Duration

	mu                    sync.Mutex
	remaining             time.Duration // of all, when it last stopped
	runningSince          time.Time     // since when it runs; zero: it does not
	idleTimer, totalTimer *time.Timer
}

func newClock(limit, spent time.Duration) *clock {
	return &clock{limit: limit, remaining: max(0, maxTimeouts*limit-spent)}
}

// start starts the clock until stop is called. It calls end if the time expires before.
func (c *clock) start(end func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idleTimer, c.totalTimer = time.AfterFunc(min(c.limit, c.remaining), end), time.AfterFunc(c.remaining, end)
	c.runningSince = time.Now()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stopTimers()
		c.idleTimer, c.totalTimer = nil, nil
	}
}

// stopTimers stops both timers. The lock is held.
func (c *clock) stopTimers() {
	if !c.runningSince.IsZero() {
		c.remaining = max(0, c.remaining-time.Since(c.runningSince))
		c.runningSince = time.Time{}
		c.idleTimer.Stop()
		c.totalTimer.Stop()
	}
}

// extend restarts the limit after a message of the server.
func (c *clock) extend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.runningSince.IsZero() && c.idleTimer.Stop() {
		c.idleTimer.Reset(c.limit)
	}
}

// pause stops the clock until resume. ok is false if it is stopped already, or the time is over.
func (c *clock) pause() (resume func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runningSince.IsZero() || !c.idleTimer.Stop() {
		return nil, false
	}
	c.stopTimers()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.idleTimer != nil {
			c.idleTimer.Reset(c.limit)
			c.totalTimer.Reset(c.remaining)
			c.runningSince = time.Now()
		}
	}, true
}

// elapsed is how much of the total time has passed.
func (c *clock) elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maxTimeouts*c.limit - c.remaining
}
