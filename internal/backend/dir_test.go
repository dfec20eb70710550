// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"
)

// newDir is a store in a directory of its own inside of a parent.
func newDir(t *testing.T) (d *Dir, at string) {
	t.Helper()
	at = filepath.Join(t.TempDir(), "parent", "store")
	d, err := NewDir(at)
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	return d, at
}

// files lists what is below a directory, temporary files included.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	require.NoError(t, filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			p, err = filepath.Rel(dir, p)
			found = append(found, filepath.ToSlash(p))
		}
		return err
	}))
	return found
}

func onlyUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("modes and symbolic links")
	}
}

//claim:security-44
func TestDir_OnlyOwnerMayReadFiles(t *testing.T) {
	onlyUnix(t)
	d, at := newDir(t)
	require.NoError(t, write(t, d, "/tmp/trunc/written", "x"))
	require.NoError(t, d.Create(t.Context(), "/tmp/trunc/created", strings.NewReader("x")))
	for name, want := range map[string]fs.FileMode{
		"": 0o700, "tmp": 0o700, "tmp/trunc": 0o700, "tmp/trunc/written": 0o600, "tmp/trunc/created": 0o600,
	} {
		info, err := os.Stat(filepath.Join(at, name))
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), name)
	}
}

//claim:security-45
func TestDir_LeavesNoTemporaryFiles(t *testing.T) {
	d, at := newDir(t)
	boom := errors.New("boom")
	require.NoError(t, write(t, d, "a", "1"))
	require.NoError(t, write(t, d, "a", "2"))
	require.NoError(t, d.Create(t.Context(), "b", strings.NewReader("3")))
	require.ErrorIs(t, d.Create(t.Context(), "b", strings.NewReader("4")), fs.ErrExist)
	require.ErrorIs(t, d.Create(t.Context(), "c", io.MultiReader(strings.NewReader("5"), failing{boom})), boom)
	require.PanicsWithValue(t, boom, func() { _ = d.Create(t.Context(), "d", panicking{boom}) })
	require.Equal(t, []string{"a", "b"}, files(t, at))
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

type panicking struct{ error }

func (p panicking) Read([]byte) (int, error) { panic(p.error) }

//claim:security-43
func TestDir_FollowsNoSymbolicLinks(t *testing.T) {
	onlyUnix(t)
	d, at := newDir(t)
	require.NoError(t, write(t, d, "real/secret", "inside"))
	outside := filepath.Join(filepath.Dir(at), "outside")
	require.NoError(t, os.WriteFile(outside, []byte("outside"), 0o600))
	for link, target := range map[string]string{
		"dir-inside": "real", "file-inside": "real/secret", "file-outside": outside,
		"dir-outside": "..", "loop": "loop", "dangling": "nowhere",
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(at, link)))
	}
	for _, name := range []string{"dir-inside/secret", "file-inside", "file-outside", "dir-outside/outside", "loop", "loop/x", "dangling"} {
		_, err := read(t, d, name)
		require.Error(t, err, "reading %s", name)
		_, _, err = d.ReadRange(t.Context(), name, 0, -1)
		require.Error(t, err, "reading a range of %s", name)
		require.Error(t, write(t, d, name, "changed"), "writing %s", name)
		require.Error(t, d.Create(t.Context(), name, strings.NewReader("changed")), "creating %s", name)
	}
	deleted, _, err := d.DeleteUnused(t.Context(), "", time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, 1, deleted, "only the real file")
	_, _, err = d.DeleteUnused(t.Context(), "dir-outside", time.Now().Add(time.Hour))
	require.Error(t, err)
	got, err := os.ReadFile(outside)
	require.NoError(t, err)
	require.Equal(t, "outside", string(got))
}

func TestDir_DirectoryIsNotAFile(t *testing.T) {
	d, at := newDir(t)
	require.NoError(t, write(t, d, "dir/file", "x"))
	for _, name := range []string{"dir", "dir/file/below"} {
		_, err := read(t, d, name)
		require.ErrorIs(t, err, fs.ErrNotExist, name)
		require.Error(t, write(t, d, name, "y"), name)
		require.Error(t, d.Create(t.Context(), name, strings.NewReader("y")), name)
	}
	require.Equal(t, []string{"dir/file"}, files(t, at))
}

func TestDirCreate_IsExclusiveWithoutHardLinks(t *testing.T) {
	d, at := newDir(t)
	d.system.link = func(*os.Root, string, string) error { return errors.ErrUnsupported }
	var wg sync.WaitGroup
	results := make([]error, 8)
	for i := range results {
		wg.Go(func() { results[i] = d.Create(t.Context(), "dir/one", strings.NewReader(strings.Repeat("x", i+1))) })
	}
	wg.Wait()
	var won []int
	for i, err := range results {
		if err == nil {
			won = append(won, i)
		} else {
			require.ErrorIs(t, err, fs.ErrExist)
		}
	}
	require.Len(t, won, 1)
	got, err := read(t, d, "dir/one")
	require.NoError(t, err)
	require.Len(t, got, won[0]+1)
	require.Equal(t, []string{"dir/one"}, files(t, at))
}

func TestDirDeleteUnused_DeletesOlderFiles(t *testing.T) {
	d, at := newDir(t)
	now := time.Now()
	age := func(name string, by time.Duration) {
		require.NoError(t, os.Chtimes(filepath.Join(at, name), now, now.Add(-by)))
	}
	for name, by := range map[string]time.Duration{"s/old": 48 * time.Hour, "s/deep/old": 48 * time.Hour, "s/new": time.Hour, "other/old": 48 * time.Hour} {
		require.NoError(t, write(t, d, name, "x"))
		age(name, by)
	}
	for name, by := range map[string]time.Duration{tempPrefix + "stale": 48 * time.Hour, tempPrefix + "growing": time.Minute} {
		require.NoError(t, os.WriteFile(filepath.Join(at, "s", name), nil, 0o600))
		age("s/"+name, by)
	}
	deleted, _, err := d.DeleteUnused(t.Context(), "s", now.Add(-24*time.Hour))
	require.NoError(t, err)
	require.Equal(t, 2, deleted, "temporary files do not count")
	require.Equal(t, []string{"other/old", "s/" + tempPrefix + "growing", "s/new"}, files(t, at))
	require.NoDirExists(t, filepath.Join(at, "s", "deep"))

	deleted, _, err = d.DeleteUnused(t.Context(), "", now.Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, 2, deleted)
	require.Equal(t, []string{"s/" + tempPrefix + "growing"}, files(t, at), "a stream may be under way")
}

// Temporary files of a crashed process are deleted after an hour, whatever the age limit of results is.
//
//claim:store-28
func TestDirDeleteUnused_DeletesTemporaryFilesAfterAnHour(t *testing.T) {
	d, at := newDir(t)
	require.NoError(t, write(t, d, "result", "x"))
	now := time.Now()
	for name, by := range map[string]time.Duration{"result": 2 * time.Hour, tempPrefix + "left": 61 * time.Minute, tempPrefix + "growing": 59 * time.Minute} {
		if name != "result" {
			require.NoError(t, os.WriteFile(filepath.Join(at, name), nil, 0o600))
		}
		require.NoError(t, os.Chtimes(filepath.Join(at, name), now, now.Add(-by)))
	}
	deleted, _, err := d.DeleteUnused(t.Context(), "", now.AddDate(0, 0, -30))
	require.NoError(t, err)
	require.Zero(t, deleted)
	require.Equal(t, []string{tempPrefix + "growing", "result"}, files(t, at))
}

// Files written after the time limit stay, even if the clock of the file system is behind.
func TestDirDeleteUnused_KeepsFilesWrittenLater(t *testing.T) {
	d, _ := newDir(t)
	for range 20 {
		limit := time.Now()
		require.NoError(t, write(t, d, "result", "x"))
		deleted, _, err := d.DeleteUnused(t.Context(), "", limit)
		require.NoError(t, err)
		require.Zero(t, deleted)
	}
}

// A recreated directory is used, unless it is a symbolic link.
func TestDir_UsesRecreatedDirectory(t *testing.T) {
	d, at := newDir(t)
	require.NoError(t, write(t, d, "a/old", "x"))
	require.NoError(t, os.RemoveAll(at))
	require.ErrorIs(t, write(t, d, "a/new", "x"), fs.ErrNotExist)
	elsewhere := t.TempDir()
	require.NoError(t, os.Symlink(elsewhere, at))
	require.Error(t, write(t, d, "a/new", "x"))
	require.Empty(t, files(t, elsewhere))
	require.NoError(t, os.Remove(at))
	require.NoError(t, os.Mkdir(at, 0o700))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := d.Create(t.Context(), fmt.Sprint("a/new", i), strings.NewReader("content")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Len(t, files(t, at), 8)
	got, err := read(t, d, "a/new0")
	require.NoError(t, err)
	require.Equal(t, "content", got)
	require.NoError(t, d.Close())
	require.Error(t, write(t, d, "a/new", "x"), "the store is closed")
}

func TestDirDeleteUnused_ConcurrentWritesLoseNothing(t *testing.T) {
	d, _ := newDir(t)
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer stop()
	wg.Go(func() {
		for ctx.Err() == nil {
			if _, _, err := d.DeleteUnused(ctx, "", time.Now().Add(-time.Hour)); err != nil && ctx.Err() == nil {
				t.Errorf("cleaning: %v", err)
			}
		}
	})
	for i := range 100 {
		name := "a/b/c/" + strings.Repeat("x", i%3+1)
		require.NoError(t, write(t, d, name, name))
		got, err := read(t, d, name)
		require.NoError(t, err)
		require.Equal(t, name, got)
		_, _, err = d.DeleteUnused(t.Context(), "a", time.Now().Add(time.Hour))
		require.NoError(t, err)
	}
}

func TestNewDir_ErrorsSayWhatIsWrong(t *testing.T) {
	_, err := NewDir("")
	require.ErrorContains(t, err, "store: NewDir: directory is empty")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = NewDir(file)
	require.ErrorContains(t, err, "store: NewDir: making the directory")
}

func TestDir_ClosedStoreRejectsCalls(t *testing.T) {
	d, _ := newDir(t)
	require.NoError(t, write(t, d, "a", "content"))
	open, _, err := d.ReadRange(t.Context(), "a", 0, -1)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	got, err := io.ReadAll(open)
	require.NoError(t, err)
	require.Equal(t, "content", string(got))
	require.NoError(t, open.Close())
	require.Error(t, write(t, d, "a", "x"))
	_, err = read(t, d, "a")
	require.Error(t, err)
}

func TestDirCreate_HoldsOneBuffer(t *testing.T) {
	d, _ := newDir(t)
	require.NoError(t, d.Create(t.Context(), "warm", strings.NewReader("up")))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.NoError(t, d.Create(t.Context(), "large", io.LimitReader(zeros{}, 64<<20)))
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "allocated for 64 MiB")
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestDirDeleteUnused_KeepsReadAndMarkedFiles(t *testing.T) {
	place := t.TempDir()
	d, err := NewDir(place)
	require.NoError(t, err)
	defer d.Close()
	past := time.Now().AddDate(0, 0, -2)
	for _, name := range []string{"s/read", "s/ranged", "s/marked", "s/forgotten"} {
		require.NoError(t, d.Write(t.Context(), &filesystem.WriteRequest{FilePath: name, Content: "four"}))
		require.NoError(t, os.Chtimes(filepath.Join(place, name), past, past))
	}
	_, err = d.Read(t.Context(), &filesystem.ReadRequest{FilePath: "s/read"})
	require.NoError(t, err)
	r, _, err := d.ReadRange(t.Context(), "s/ranged", 1, 1)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.NoError(t, d.MarkUsed(t.Context(), "s/marked", "s/none"))
	require.Error(t, d.MarkUsed(t.Context(), "../out", "s/marked"))
	files, bytes, err := d.DeleteUnused(t.Context(), "", time.Now().AddDate(0, 0, -1))
	require.NoError(t, err)
	require.Equal(t, 1, files)
	require.EqualValues(t, 4, bytes)
	files, bytes, err = d.Stored(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, 3, files)
	require.EqualValues(t, 12, bytes)
}
