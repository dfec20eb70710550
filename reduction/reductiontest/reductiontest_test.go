// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reductiontest_test

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/reduction"
	"github.com/leanctx/leanctx/reduction/reductiontest"
)

func TestReadyMadeBackends(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		open := func(*testing.T) reduction.Backend { return reduction.NewMemoryBackend(0) }
		reductiontest.RunBackend(t, open, reductiontest.BackendOptions{})
	})
	t.Run("directory", func(t *testing.T) {
		open := func(t *testing.T) reduction.Backend {
			dir, err := reduction.NewDirBackend(t.TempDir())
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, dir.Close()) })
			return dir
		}
		reductiontest.RunBackend(t, open, reductiontest.BackendOptions{})
	})
}

// writeOnly is the least that a Backend can be: the one method, and no way back.
type writeOnly struct {
	mu    sync.Mutex
	files map[string]string
}

func (w *writeOnly) Write(_ context.Context, req *filesystem.WriteRequest) error {
	if req.FilePath == "" {
		return errors.New("no path")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files[req.FilePath] = req.Content
	return nil
}

func (w *writeOnly) content(filePath string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	content, ok := w.files[filePath]
	if !ok {
		return "", fs.ErrNotExist
	}
	return content, nil
}

func TestABackendOfOneMethod(t *testing.T) {
	open := func(*testing.T) reduction.Backend { return &writeOnly{files: make(map[string]string)} }
	reductiontest.RunBackend(t, open, reductiontest.BackendOptions{
		Prefix:         "/sessions/42",
		MaxBytes:       1 << 20,
		IgnoresContext: true,
		LiteralPaths:   true,
		ReadBack: func(_ context.Context, store reduction.Backend, filePath string) (string, error) {
			return store.(*writeOnly).content(filePath)
		},
	})
}
