// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// How long a thread has computed, where the system says so.

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns what tells, on any goroutine, how long the calling thread has computed since.
// The goroutine must be locked to it.
func threadTime() func() time.Duration {
	clock := int32(^unix.Gettid()<<3 | 6) // of one thread, as pthread_getcpuclockid makes it
	read := func() (time.Duration, error) {
		var t unix.Timespec
		err := unix.ClockGettime(clock, &t)
		return time.Duration(t.Nano()), err
	}
	start := time.Now()
	begin, err := read()
	return func() time.Duration {
		if now, errNow := read(); err == nil && errNow == nil {
			return now - begin
		}
		return time.Since(start) // in a sandbox without this clock
	}
}
