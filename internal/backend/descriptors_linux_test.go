// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/proctest"
)

// openUnder lists what the process holds open at a directory and below it. What other tests have
// left to the collector may be closed at any moment.
func openUnder(t *testing.T, dir string) (open []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name()))
		if err == nil && (target == dir || strings.HasPrefix(target, dir+"/")) {
			open = append(open, target)
		}
	}
	slices.Sort(open)
	return open
}

// use calls every method, for contents that are there and for some that are not.
func use(t *testing.T, d *Dir, round int) (errs []error) {
	t.Helper()
	note := func(err error) { errs = append(errs, err) }
	name := fmt.Sprint("dir/deep/", round)
	note(write(t, d, name, "content"))
	note(write(t, d, "top", "content"))
	note(write(t, d, "dir", "not over a directory"))
	note(write(t, d, "link/x", "not through a link"))
	note(d.Create(t.Context(), name+"c", strings.NewReader("content")))
	note(d.Create(t.Context(), name+"c", strings.NewReader("taken")))
	note(d.Create(t.Context(), name+"d", failing{errors.New("boom")}))
	_, err := d.CreateFirstFree(t.Context(),
		func(attempt int) string { return fmt.Sprintf("dir/any-%d-%d", round, attempt) }, strings.NewReader("content"))
	note(err)
	for _, filePath := range []string{name, "top", "missing", "dir/missing", "no/dir", "dir", "link/x", "link"} {
		_, err := read(t, d, filePath)
		note(err)
		_, err = d.Read(t.Context(), &filesystem.ReadRequest{FilePath: filePath, Offset: 1, Limit: 1})
		note(err)
		content, _, err := d.ReadRange(t.Context(), filePath, 1, 2)
		note(err)
		if err == nil {
			_, err = io.ReadAll(content)
			note(errors.Join(err, content.Close()))
		}
	}
	_, _, err = d.DeleteUnused(t.Context(), "dir", time.Now().Add(time.Hour))
	note(err)
	_, _, err = d.DeleteUnused(t.Context(), "link", time.Now())
	note(err)
	return errs
}

// No call leaves a file or directory open, whether it succeeds or fails.
func TestDir_LeavesNoDescriptorOpen(t *testing.T) {
	d, at := newDir(t)
	require.NoError(t, os.MkdirAll(filepath.Join(at, "dir"), 0o700))
	require.NoError(t, os.Symlink("dir", filepath.Join(at, "link")))
	use(t, d, 0)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would close what is forgotten
	before := openUnder(t, at)
	require.NotEmpty(t, before, "the directory itself")
	for round := range 5 {
		use(t, d, round)
	}
	require.Equal(t, before, openUnder(t, at))
}

// allowMore lets the process open n files more, until the end of the test.
func allowMore(t *testing.T, n int) (restore func()) {
	t.Helper()
	f, err := os.Open(os.DevNull)
	require.NoError(t, err)
	free := f.Fd()
	require.NoError(t, f.Close())
	var old syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
	low := old
	low.Cur = uint64(free) + uint64(n)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low))
	return func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old)) }
}

// If opening fails anywhere, the call returns an error and the stored files stay as they are: they do not count as
// missing, as taken or as links.
func TestDir_FailureToOpenIsNotMissingFile(t *testing.T) {
	if !proctest.Alone(t) { // other tests have left descriptors that the collector closes at any moment
		return
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for n := range 6 {
		d, at := newDir(t)
		require.NoError(t, write(t, d, "a/b/kept", "kept"))
		require.NoError(t, write(t, d, "top", "kept"))
		restore := allowMore(t, n)
		calls := make(map[string]error)
		var content string
		content, calls["read"] = read(t, d, "a/b/kept")
		if calls["read"] == nil {
			require.Equal(t, "kept", content)
		}
		_, calls["read without a directory"] = read(t, d, "top")
		var size int64
		var r io.ReadCloser
		if r, size, calls["read range"] = d.ReadRange(t.Context(), "a/b/kept", 0, -1); calls["read range"] == nil {
			require.EqualValues(t, 4, size)
			require.NoError(t, r.Close())
		}
		calls["write"] = write(t, d, "a/b/new", "new")
		calls["create"] = d.Create(t.Context(), "a/b/created", strings.NewReader("new"))
		_, calls["create any"] = d.CreateFirstFree(t.Context(),
			func(attempt int) string { return fmt.Sprint("a/b/any", attempt) }, strings.NewReader("new"))
		_, calls["open"] = NewDir(at)
		deleted := 0
		deleted, _, calls["clean"] = d.DeleteUnused(t.Context(), "a", time.Now().Add(-time.Hour))
		restore()
		require.Zero(t, deleted)
		for name, err := range calls {
			if err == nil {
				continue
			}
			require.ErrorIs(t, err, syscall.EMFILE, "%s with %d descriptors", name, n)
			require.NotErrorIs(t, err, errNotPlain, name)
			require.NotErrorIs(t, err, fs.ErrNotExist, name)
		}
		want := []string{"a/b/kept", "top"}
		for name, file := range map[string]string{"write": "a/b/new", "create": "a/b/created", "create any": "a/b/any0"} {
			if calls[name] == nil {
				want = append(want, file)
			}
		}
		require.ElementsMatch(t, want, files(t, at))
		if n == 0 {
			for name, err := range calls {
				require.Error(t, err, name)
			}
		}
	}
}
