// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package race tells tests whether they run under the race detector. Under it a test
// takes about ten times as long, so `make check` runs the tests of the product twice:
// all of them without the detector; and with it those that share something between
// goroutines, the long ones in part: their cases share the same.
package race

import (
	"testing"
	"time"
)

// Cases is how many random cases a test goes through: n, or a tenth of them under the race
// detector and with -short.
func Cases(n int) int {
	if Enabled || testing.Short() {
		return max(1, n/10)
	}
	return n
}

// Skip skips a test of a single goroutine under the race detector. The reason says why
// it takes long.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if Enabled {
		t.Skip("under the race detector: " + reason)
	}
}

// Allocations is testing.AllocsPerRun without the allocations of what runs beside it: the
// least of several measurements.
func Allocations(runs int, f func()) float64 {
	least := testing.AllocsPerRun(runs, f)
	for range 4 {
		least = min(least, testing.AllocsPerRun(runs, f))
	}
	return least
}

// Fastest is how long f takes without what runs beside it: the least of several measurements,
// of which there are more as long as none is within most, each after a longer pause. What is slow by
// itself is slow each time, and a busy machine is not.
func Fastest(most time.Duration, f func()) time.Duration {
	least := time.Duration(1<<63 - 1)
	for n := range 20 {
		time.Sleep(time.Duration(n) * 10 * time.Millisecond)
		begin := time.Now()
		f()
		if least = min(least, time.Since(begin)); least < most {
			break
		}
	}
	return least
}
