// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/store"
)

func TestMemory_KeepsContract(t *testing.T) {
	backendtest.Run(t, func(*testing.T) store.Backend { return store.NewMemory(0) }, backendtest.Options{})
}

func TestDir_KeepsContract(t *testing.T) {
	dirs := newAgedDirs(t)
	outside := func(t *testing.T) {
		stores, err := filepath.Glob(filepath.Join(dirs.parent, "*", "*"))
		require.NoError(t, err)
		for _, files := range stores {
			require.Equal(t, "store", filepath.Base(files), "something lies beside the store")
		}
		require.NoFileExists(t, filepath.Join(os.TempDir(), "escaped-1"))
	}
	open := func(t *testing.T) store.Backend { return dirs.open(t) }
	backendtest.Run(t, open, backendtest.Options{Outside: outside, Age: dirs.age})
}

// agedDirs opens directory stores, and sets the times of their files.
type agedDirs struct {
	parent string
	paths  map[any]string // of the stores
}

func newAgedDirs(t *testing.T) agedDirs { return agedDirs{t.TempDir(), make(map[any]string)} }

func (a agedDirs) open(t *testing.T) *store.Dir {
	own, err := os.MkdirTemp(a.parent, "*")
	require.NoError(t, err)
	path := filepath.Join(own, "store")
	d, err := store.NewDir(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	a.paths[d] = path
	return d
}

// age is backendtest.Options.Age for a store of open, or a scope of one.
func (a agedDirs) age(t *testing.T, files store.Backend, filePath string, by time.Duration) {
	inner, err := backend.InnermostPath(t.Context(), files, filePath)
	require.NoError(t, err)
	at := time.Now().Add(-by)
	require.NoError(t, os.Chtimes(filepath.Join(a.paths[backend.Innermost(files)], inner), at, at))
}

// Eino's own store in memory writes and reads lines, has no typed error and ignores the context.
func TestEinoBackend_KeepsPartOfContract(t *testing.T) {
	backendtest.Run(t, func(*testing.T) store.Backend { return filesystem.NewInMemoryBackend() },
		backendtest.Options{AnyMissingError: true, IgnoresContext: true})
}

// A store that only writes is tested through another way of reading.
func TestWriteOnlyStore_KeepsContract(t *testing.T) {
	open := func(*testing.T) store.Backend {
		return backendtest.NewFaulty(store.NewMemory(0), nil).WriteOnly()
	}
	backendtest.Run(t, open, backendtest.Options{})
}
