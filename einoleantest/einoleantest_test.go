// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einoleantest_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

func TestBackend_LibraryStoresPass(t *testing.T) {
	race.Skip(t, "internal/backend does the same")
	t.Run("memory", func(t *testing.T) {
		einoleantest.TestBackend(t, func(*testing.T) reduction.Backend { return store.NewMemory(0) })
	})
	t.Run("directory", func(t *testing.T) {
		einoleantest.TestBackend(t, func(t *testing.T) reduction.Backend {
			d, err := store.NewDir(filepath.Join(t.TempDir(), "store"))
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, d.Close()) })
			return d
		})
	})
}
