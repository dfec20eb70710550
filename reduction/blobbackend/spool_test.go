// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction"
)

// TestCreate_NeedsNoTemporaryFiles runs the suite where no temporary file can be created.
//
//claim:operations-05
func TestCreate_NeedsNoTemporaryFiles(t *testing.T) {
	race.Skip(t, "shares what TestBackend_KeepsContract shares")
	einoleantest.TestBackend(t, func(t *testing.T) reduction.Backend {
		bucket := memblob.OpenBucket(nil)
		t.Cleanup(func() { require.NoError(t, bucket.Close()) })
		missing := filepath.Join(t.TempDir(), "missing")
		return &Backend{store: objects{bucket: bucket, tempDir: missing}, close: func() error { return nil }}
	})
}

// Neither a successful nor a failed stream leaves a temporary file.
func TestBackend_LeavesNoTemporaryFiles(t *testing.T) {
	race.Skip(t, "shares what TestBackend_KeepsContract shares: looks at what is left on the disk")
	dir := t.TempDir()
	einoleantest.TestBackend(t, func(t *testing.T) reduction.Backend {
		bucket := memblob.OpenBucket(nil)
		t.Cleanup(func() { require.NoError(t, bucket.Close()) })
		return &Backend{store: objects{bucket: bucket, tempDir: dir}, close: func() error { return nil }}
	})
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Empty(t, left)
	left, err = filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, left)
}
