// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/store"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	backendtest.Run(t, func(*testing.T) store.Backend { return store.NewMemory(0) }, backendtest.Options{})
}

func TestDirKeepsTheContract(t *testing.T) {
	parent := t.TempDir()
	open := func(t *testing.T) store.Backend {
		own, err := os.MkdirTemp(parent, "*")
		require.NoError(t, err)
		d, err := store.NewDir(filepath.Join(own, "store"))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		return d
	}
	outside := func(t *testing.T) {
		stores, err := filepath.Glob(filepath.Join(parent, "*", "*"))
		require.NoError(t, err)
		for _, files := range stores {
			require.Equal(t, "store", filepath.Base(files), "something lies beside the store")
		}
		require.NoFileExists(t, filepath.Join(os.TempDir(), "escaped-1"))
	}
	backendtest.Run(t, open, backendtest.Options{Outside: outside})
}

// Eino's own store in memory writes and reads lines, has no typed error and does
// not look at the context.
func TestEinosStoreKeepsWhatItCan(t *testing.T) {
	backendtest.Run(t, func(*testing.T) store.Backend { return filesystem.NewInMemoryBackend() },
		backendtest.Options{AnyMissingError: true, IgnoresContext: true})
}

// A store that only writes is tested through another way of reading.
func TestAStoreThatOnlyWritesCanBeTested(t *testing.T) {
	open := func(*testing.T) store.Backend {
		return backendtest.NewFaulty(store.NewMemory(0), nil).WriteOnly()
	}
	backendtest.Run(t, open, backendtest.Options{})
}
