// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/programs/javascript"
)

// A program that waits for a processor does not compute.
func TestTime_BusyMachineDoesNotCount(t *testing.T) {
	race.Skip(t, "keeps every processor busy")
	const work = `let n = 0; for (let i = 0; i < 50000; i++) n += i % 7; print(n)`
	in := javascript.New(javascript.Limits{})
	_, err := finish(t.Context(), in, "print(1)", "") // compiles
	require.NoError(t, err)
	start := time.Now()
	want, err := finish(t.Context(), in, work, "")
	require.NoError(t, err)
	alone := time.Since(start)

	for range 8 * runtime.GOMAXPROCS(0) {
		go func() {
			for t.Context().Err() == nil { // until the end of the test
			}
		}()
	}
	got, err := finish(t.Context(), javascript.New(javascript.Limits{Time: 2*alone + 50*time.Millisecond}), work, "")
	require.NoError(t, err)
	require.Equal(t, want, got)
}
