// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package javascript

// Elapsed time, on systems without the CPU time of a thread.

import "time"

// startThreadClock returns a function for the time since now. On these systems, waiting for a
// processor counts as computing.
func startThreadClock() func() time.Duration {
	begin := time.Now()
	return func() time.Duration { return time.Since(begin) }
}
