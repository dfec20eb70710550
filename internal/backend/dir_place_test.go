// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What takes the place of a file or directory between the look at it and its opening is
// never opened, not even if a link leads to a plain one in the same store.
func TestOnlyWhatWasLookedAtIsOpened(t *testing.T) {
	become := map[string]struct {
		swap      func(at string) error
		file, dir bool // opening once more is worth it
	}{
		"a link to another file":      {func(at string) error { return os.Symlink("other-file", at) }, false, false},
		"a link to another directory": {func(at string) error { return os.Symlink("other-dir", at) }, false, false},
		"a link outside":              {func(at string) error { return os.Symlink("/", at) }, false, false},
		"another file":                {func(at string) error { return os.WriteFile(at, []byte("new"), fileMode) }, true, false},
		"another directory":           {func(at string) error { return os.Mkdir(at, dirMode) }, false, true},
		"nothing":                     {func(string) error { return nil }, false, false},
	}
	for name, c := range become {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []string{"file", "dir"} {
				at := t.TempDir()
				root, err := os.OpenRoot(at)
				require.NoError(t, err)
				t.Cleanup(func() { root.Close() })
				for _, n := range []string{"file", "other-file"} {
					require.NoError(t, os.WriteFile(filepath.Join(at, n), []byte("old"), fileMode))
				}
				for _, n := range []string{"dir", "other-dir"} {
					require.NoError(t, os.Mkdir(filepath.Join(at, n), dirMode))
				}
				seen, err := root.Lstat(kind)
				require.NoError(t, err)
				require.NoError(t, os.Rename(filepath.Join(at, kind), filepath.Join(at, "moved-"+kind)))
				require.NoError(t, c.swap(filepath.Join(at, kind)))

				want, replaced := c.file, false
				if kind == "file" {
					f, info, again, openErr := openSeen(place{dir: root, base: kind}, seen)
					require.Nil(t, f)
					require.Nil(t, info)
					replaced, err = again, openErr
				} else {
					next, again, openErr := enterSeen(root, kind, seen)
					require.Nil(t, next)
					want, replaced, err = c.dir, again, openErr
				}
				require.Error(t, err, kind)
				require.Equal(t, want, replaced, kind)
			}
		})
	}
}

// A file whose place a directory with content took cannot be deleted, which is an error.
func TestADeletionThatFailsIsAnErrorAndNotCounted(t *testing.T) {
	d, err := NewDir(t.TempDir())
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, write(t, d, "dir/a", "content"))
	c := cleaning{ctx: t.Context(), store: d, before: time.Now().Add(time.Hour)}
	require.Error(t, c.delete(d.top(), "dir"))
	require.Zero(t, c.files)
	below, err := enter(d.top(), "dir", false)
	require.NoError(t, err)
	defer below.Close()
	require.NoError(t, c.delete(below, "a"))
	require.Equal(t, 1, c.files)
}
