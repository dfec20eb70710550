// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// TestAppendingTakesLinearMemory: eight times the lines make at most ten times the garbage, and so no
// line copies what is there. BenchmarkAppend shows the time.
func TestAppendingTakesLinearMemory(t *testing.T) {
	race.Skip(t, "measures memory")
	line := strings.Repeat("x", 199) + "\n"
	lines := func(n int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m := NewMemory(0)
		for range n {
			require.NoError(t, Append(t.Context(), m, "/log", line))
		}
		runtime.ReadMemStats(&after)
		_, size, err := m.ReadRange(t.Context(), "/log", 0, 0)
		require.NoError(t, err)
		require.EqualValues(t, n*len(line), size)
		return after.TotalAlloc - before.TotalAlloc
	}
	few := lines(4000)
	require.Less(t, lines(32_000), 10*few)
}

func BenchmarkAppend(b *testing.B) {
	line := strings.Repeat("x", 199) + "\n"
	for _, n := range []int{4000, 32_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				m := NewMemory(0)
				for range n {
					if err := Append(b.Context(), m, "/log", line); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/line")
		})
	}
}

// TestNobodyWaitsForAnothersFile: while one file is added to, however long that takes, everything
// else goes on, and that file can be read, written and deleted.
func TestNobodyWaitsForAnothersFile(t *testing.T) {
	dir, err := NewDir(t.TempDir())
	require.NoError(t, err)
	defer dir.Close()
	memory := NewMemory(0)
	for _, s := range []struct {
		store store
		lock  *Locks
		name  string
	}{{memory, &memory.appendLocks, "busy"}, {dir, &dir.appendLocks, "busy"}} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		require.NoError(t, write(t, s.store, "/busy", "before"))
		free, err := s.lock.Take(ctx, s.name)
		require.NoError(t, err)
		require.NoError(t, Append(ctx, s.store, "/other", "text"))
		got, err := read(t, s.store, "/busy")
		require.NoError(t, err)
		require.Equal(t, "before", got)
		require.NoError(t, write(t, s.store, "/busy", "written"))
		require.NoError(t, s.store.Create(ctx, "/new", strings.NewReader("new")))

		brief, end := context.WithTimeout(ctx, 10*time.Millisecond)
		require.ErrorIs(t, Append(brief, s.store, "/busy", " late"), context.DeadlineExceeded, "only who adds to the same file waits")
		end()
		free()
		require.NoError(t, Append(ctx, s.store, "/busy", " and added"))
		got, err = read(t, s.store, "/busy")
		require.NoError(t, err)
		require.Equal(t, "written and added", got)
		require.Empty(t, s.lock.files, "no lock is kept")
	}
}

// TestWhatWasReadNeverChanges: content in memory grows in its place, but no reader sees that.
func TestWhatWasReadNeverChanges(t *testing.T) {
	m, seen := NewMemory(0), []string{}
	for i := range 200 {
		require.NoError(t, Append(t.Context(), m, "/log", fmt.Sprintf("line %d\n", i)))
		if i%20 == 7 {
			require.NoError(t, write(t, m, "/log", seen[i/2]))
		}
		got, err := read(t, m, "/log")
		require.NoError(t, err)
		seen = append(seen, strings.Clone(got))
		require.Equal(t, seen[i], got)
		kept := got
		require.NoError(t, Append(t.Context(), m, "/log", "more\n"))
		require.Equal(t, seen[i], kept)
	}
}

// TestAppend_ToWhatIsNoFileFails: the error is that of opening it.
func TestAppend_ToWhatIsNoFileFails(t *testing.T) {
	d, root := newDir(t)
	require.NoError(t, os.Mkdir(filepath.Join(root, "dir"), dirMode))
	require.ErrorIs(t, Append(t.Context(), d, "/dir", "text"), errNotPlain)
	require.NoError(t, write(t, d, "/file", "text"))
	require.ErrorIs(t, Append(t.Context(), d, "/file/below", "text"), errNotPlain)
	require.NoError(t, d.Close())
	require.ErrorIs(t, Append(t.Context(), d, "/file", "text"), os.ErrClosed)
}
