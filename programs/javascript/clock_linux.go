// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// The CPU time of a thread, on systems that provide it.

import (
	"time"

	"golang.org/x/sys/unix"
)

// startThreadClock returns a function for the CPU time of the calling thread since now. Any
// goroutine may call the function. The goroutine that computes must be locked to the thread.
func startThreadClock() func() time.Duration {
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
