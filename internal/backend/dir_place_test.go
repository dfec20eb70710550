// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A file or directory that is replaced between the check and the opening is never opened, even if the replacement is
// a link to a plain file of the same store.
func TestOpenSeen_OpensOnlyWhatWasChecked(t *testing.T) {
	become := map[string]struct {
		swap      func(at string) error
		file, dir bool // opening once more finds it
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
				swap := sync.OnceFunc(func() {
					require.NoError(t, os.Rename(filepath.Join(at, kind), filepath.Join(at, "moved-"+kind)))
					require.NoError(t, c.swap(filepath.Join(at, kind)))
				})
				if kind == "file" {
					f, _, err := openSeen(place{dir: root, base: kind}, fs.FileMode.IsRegular, fs.ErrNotExist, func(base string) (*os.File, error) { swap(); return root.Open(base) }, (*os.File).Stat)
					require.Equal(t, c.file, err == nil, "%s: %v", kind, err)
					if err == nil {
						require.NoError(t, f.Close())
					}
					continue
				}
				next, _, err := openSeen(place{dir: root, base: kind}, fs.FileMode.IsDir, fs.ErrNotExist, func(base string) (*os.Root, error) { swap(); return root.OpenRoot(base) },
					func(d *os.Root) (fs.FileInfo, error) { return d.Stat(".") })
				require.Equal(t, c.dir, err == nil, "%s: %v", kind, err)
				if err == nil {
					require.NoError(t, next.Close())
				}
			}
		})
	}
}

// A file that was replaced by a directory with content cannot be deleted, which is an error.
func TestCleanup_FailedDeletionIsErrorAndNotCounted(t *testing.T) {
	d, err := NewDir(t.TempDir())
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, write(t, d, "dir/a", "content"))
	c := cleanup{ctx: t.Context(), store: d, unusedBefore: time.Now().Add(time.Hour)}
	require.Error(t, c.delete(d.top(), "dir"))
	require.Zero(t, c.files)
	below, err := enter(d.top(), "dir", false)
	require.NoError(t, err)
	defer below.Close()
	require.NoError(t, c.delete(below, "a"))
	require.Equal(t, 1, c.files)
}
