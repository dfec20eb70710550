// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDeleteUnused_ReadsMarksAgain: a long deletion notices what is marked meanwhile.
func TestDeleteUnused_ReadsMarksAgain(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	marks := map[string]time.Time{}
	var reads []string
	var fails error
	m := markReader{now: func() time.Time { return now }}
	m.lastUsed = func(_ context.Context, dir string) (time.Time, error) {
		reads = append(reads, dir)
		return marks[dir], fails
	}
	read := func(dir string) time.Time {
		t.Helper()
		used, err := m.read(t.Context(), dir)
		require.NoError(t, err)
		return used
	}
	require.Zero(t, read("a"))
	marks["a"] = now
	now = now.Add(markAge - 1)
	require.Zero(t, read("a"), "one request serves many objects")
	now = now.Add(1)
	require.Equal(t, marks["a"], read("a"))
	require.Equal(t, marks["a"], read("a"))
	require.Zero(t, read("b"))
	require.Equal(t, []string{"a", "a", "b"}, reads)

	fails = errors.New("no answer")
	now = now.Add(markAge)
	_, err := m.read(t.Context(), "b")
	require.ErrorIs(t, err, fails)
	fails, marks["b"] = nil, now
	require.Equal(t, marks["b"], read("b"), "a failure is not remembered")
}
