// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/proctest"
)

// TestAnAppendThatDoesNotFitLeavesNothing: the system lets a process write files of 1 MB, of which
// a part of what is added fits.
func TestAnAppendThatDoesNotFitLeavesNothing(t *testing.T) {
	if !proctest.Alone(t) {
		return
	}
	root := t.TempDir()
	d, err := NewDir(root)
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, Append(t.Context(), d, "/log", "before\n"))
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	limit.Cur = 1 << 20
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	for range 3 {
		require.Error(t, Append(t.Context(), d, "/log", strings.Repeat("x", 2<<20)))
		got, err := os.ReadFile(filepath.Join(root, "log"))
		require.NoError(t, err)
		require.Less(t, len(got), 1000, "what fitted was cut back")
		require.Equal(t, "before\n", string(got))
	}
	require.NoError(t, Append(t.Context(), d, "/log", "after\n"))
	got, err := read(t, d, "/log")
	require.NoError(t, err)
	require.Equal(t, "before\nafter\n", got)
}

// TestNothingIsAddedToAFileWithAnotherName: it may be one outside of the store.
func TestNothingIsAddedToAFileWithAnotherName(t *testing.T) {
	root, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(outside, []byte("secret"), 0o600))
	require.NoError(t, os.Link(outside, filepath.Join(root, "in")))
	d, err := NewDir(root)
	require.NoError(t, err)
	defer d.Close()
	require.ErrorIs(t, Append(t.Context(), d, "/in", " and more"), errLinked)
	got, err := os.ReadFile(outside)
	require.NoError(t, err)
	require.Equal(t, "secret", string(got))

	// A file of the store is there for others as soon as it has its name.
	for range 50 {
		done := make(chan error, 1)
		go func() { done <- d.Create(t.Context(), "/new", strings.NewReader("made")) }()
		require.NoError(t, Append(t.Context(), d, "/new", "added"))
		<-done
		require.NoError(t, Append(t.Context(), d, "/new", "!"))
		require.NoError(t, os.Remove(filepath.Join(root, "new")))
	}
}

// TestProcessesAddOneAfterAnother: what one cuts back is its own.
func TestProcessesAddOneAfterAnother(t *testing.T) {
	root := t.TempDir()
	d, err := NewDir(root)
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, Append(t.Context(), d, "/log", "one\n"))
	other, err := os.OpenFile(filepath.Join(root, "log"), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	require.True(t, lockFile(other))
	done := make(chan error, 1)
	go func() { done <- Append(t.Context(), d, "/log", "three\n") }()
	select {
	case err := <-done:
		t.Fatal("did not wait", err)
	case <-time.After(20 * time.Millisecond):
	}
	_, err = other.WriteString("two\n")
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.NoError(t, <-done)
	got, err := read(t, d, "/log")
	require.NoError(t, err)
	require.Equal(t, "one\ntwo\nthree\n", got)

	// A file that another process has put another in the place of gets nothing.
	gone, err := os.OpenFile(filepath.Join(root, "log"), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	defer gone.Close()
	require.NoError(t, os.Remove(filepath.Join(root, "log")))
	require.ErrorIs(t, writeEnd(gone, "lost"), errReplaced)
}
