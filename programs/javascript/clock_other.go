// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package javascript

// How long a thread has computed, where the system does not say.

import "time"

// threadTime returns what tells how much time has passed since: on these systems a program that
// waits for a processor is taken to compute.
func threadTime() func() time.Duration {
	begin := time.Now()
	return func() time.Duration { return time.Since(begin) }
}
