// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend_test

import (
	"context"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/backend/backendtest"
	"github.com/leanctx/leanctx/reduction/blobbackend"
)

func open(t *testing.T, url string, opts *blobbackend.Options) *blobbackend.Backend {
	t.Helper()
	b, err := blobbackend.Open(context.Background(), url, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

func TestMemoryKeepsTheContract(t *testing.T) {
	backendtest.Run(t, func(t *testing.T) backend.Backend { return open(t, "mem://", nil) }, backendtest.Options{})
}

func TestADirectoryKeepsTheContract(t *testing.T) {
	backendtest.Run(t, func(t *testing.T) backend.Backend { return open(t, fileURL(t.TempDir()), nil) }, backendtest.Options{})
}

func TestAPrefixKeepsTheContract(t *testing.T) {
	backendtest.Run(t, func(t *testing.T) backend.Backend {
		return open(t, "mem://", &blobbackend.Options{Prefix: "conversations/42"})
	}, backendtest.Options{})
}

// fileURL is a directory as a URL; its temporary files stay inside it, so that a rename
// never crosses file systems.
func fileURL(dir string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()
}
