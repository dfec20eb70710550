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
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"
)

// Lines returns the right lines or an error, wherever reading fails.
func TestLines_FailedReadIsNotShortContent(t *testing.T) {
	boom := errors.New("boom")
	long := strings.Repeat("x", 2*bufferSize+10)
	for _, content := range []string{"", "\n", "one", "one\ntwo\nthree\n", "\n\nx\n\n", long + "\nnext\n" + long, "first\n" + long + "\n"} {
		places := []int{0, 1, 3, 4, 5, 6, bufferSize, 2*bufferSize + 9, 2*bufferSize + 10, 2*bufferSize + 11, 2*bufferSize + 14, len(content)}
		for _, at := range places {
			if at > len(content) {
				continue
			}
			for offset := range 6 {
				for limit := range 5 {
					req := &filesystem.ReadRequest{Offset: offset, Limit: limit}
					want, err := Lines(strings.NewReader(content), req)
					require.NoError(t, err)
					got, err := Lines(io.MultiReader(strings.NewReader(content[:at]), iotest.ErrReader(boom)), req)
					if err == nil {
						require.Equal(t, want, got, "%.20q fails at %d, offset %d, limit %d", content, at, offset, limit)
						require.Positive(t, limit, "the end was not reached")
					} else {
						require.ErrorIs(t, err, boom)
					}
				}
			}
		}
	}
}

func TestLines_ReadsLinesLongerThanBuffer(t *testing.T) {
	long := strings.Repeat("x", 2*bufferSize+10)
	content := long + "1\n" + long + "2\n" + long + "3"
	for _, c := range []struct {
		offset, limit int
		want          string
	}{
		{1, 1, long + "1"}, {2, 1, long + "2"}, {2, 2, long + "2\n" + long + "3"}, {3, 0, long + "3"}, {4, 0, ""}, {0, 2, long + "1\n" + long + "2"},
	} {
		got, err := Lines(strings.NewReader(content), &filesystem.ReadRequest{Offset: c.offset, Limit: c.limit})
		require.NoError(t, err)
		require.True(t, c.want == got, "offset %d, limit %d: %d bytes, want %d", c.offset, c.limit, len(got), len(c.want))
	}
}

// copyUntilEOF ends at the first error of either side, and copies everything before it.
func TestCopyUntilEOF_EndsAtFirstError(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		src  io.Reader
		want error
		kept string
	}{
		"all":               {strings.NewReader("content"), nil, "content"},
		"data with the end": {iotest.DataErrReader(strings.NewReader("content")), nil, "content"},
		"an error":          {io.MultiReader(strings.NewReader("con"), iotest.ErrReader(boom)), boom, "con"},
		"data with an error": {readFunc(func(p []byte) (int, error) {
			return copy(p, "con"), boom
		}), boom, "con"},
		"99 empty reads":  {io.MultiReader(emptyReads(99), strings.NewReader("content")), nil, "content"},
		"100 empty reads": {io.MultiReader(emptyReads(100), strings.NewReader("content")), io.ErrNoProgress, ""},
		"empty reads, but not in a row": {io.MultiReader(emptyReads(60), strings.NewReader("con"), emptyReads(60), strings.NewReader("tent")),
			nil, "content"},
	} {
		var b strings.Builder
		err := copyUntilEOF(t.Context(), &b, c.src)
		if c.want == nil {
			require.NoError(t, err, name)
		} else {
			require.ErrorIs(t, err, c.want, name)
		}
		require.Equal(t, c.kept, b.String(), name)
	}
	source := strings.NewReader("content")
	require.ErrorIs(t, copyUntilEOF(t.Context(), failingWriter{boom}, source), boom)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, copyUntilEOF(ended, io.Discard, strings.NewReader("content")), context.Canceled)
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

type failingWriter struct{ error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.error }

// emptyReads is a reader that n times reads nothing and then ends.
func emptyReads(n int) io.Reader {
	return readFunc(func([]byte) (int, error) {
		if n == 0 {
			return 0, io.EOF
		}
		n--
		return 0, nil
	})
}

// If writing, syncing or closing fails, fill returns an error and closes the file.
func TestFill_ReportsIncompleteFiles(t *testing.T) {
	onlyUnix(t)
	at := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(at, nil, 0o600))
	readOnly, err := os.Open(at)
	require.NoError(t, err)
	require.Error(t, fill(t.Context(), readOnly, strings.NewReader("content")))
	require.ErrorIs(t, readOnly.Close(), os.ErrClosed, "the file is closed")

	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	require.Error(t, fill(t.Context(), w, strings.NewReader("")), "a pipe cannot be synced")
	require.ErrorIs(t, w.Close(), os.ErrClosed)

	boom := errors.New("boom")
	f, err := os.Create(at)
	require.NoError(t, err)
	require.ErrorIs(t, fill(t.Context(), f, iotest.ErrReader(boom)), boom)
	require.ErrorIs(t, f.Close(), os.ErrClosed)
}

// The errors name the operation and the path.
func TestDir_EveryMethodFailsOnceClosed(t *testing.T) {
	d, at := newDir(t)
	require.NoError(t, write(t, d, "dir/file", "x"))
	require.NoError(t, d.Close())
	old := time.Now().Add(time.Hour)
	name := func(attempt int) string { return fmt.Sprint("dir/any", attempt) }
	for _, filePath := range []string{"dir/file", "top"} {
		_, err := read(t, d, filePath)
		require.ErrorContains(t, err, fmt.Sprintf("store: reading %q: ", filePath))
		content, _, err := d.ReadRange(t.Context(), filePath, 0, -1)
		require.Nil(t, content)
		require.ErrorContains(t, err, fmt.Sprintf("store: reading %q: ", filePath))
		require.ErrorContains(t, write(t, d, filePath, "y"), fmt.Sprintf("store: writing %q: ", filePath))
		err = d.Create(t.Context(), filePath, strings.NewReader("y"))
		require.ErrorContains(t, err, fmt.Sprintf("store: creating %q: ", filePath))
		require.NotErrorIs(t, err, fs.ErrExist)
	}
	got, err := d.CreateFirstFree(t.Context(), name, strings.NewReader("y"))
	require.Empty(t, got)
	require.ErrorContains(t, err, `store: creating "dir/any0": `)
	require.NotErrorIs(t, err, fs.ErrExist)
	for _, dir := range []string{"", "dir"} {
		deleted, _, err := d.DeleteUnused(t.Context(), dir, old)
		require.ErrorContains(t, err, fmt.Sprintf("store: cleaning %q: ", dir))
		require.Zero(t, deleted)
	}
	require.Equal(t, []string{"dir/file"}, files(t, at))
}

// A file that cannot be deleted is reported, and the others are still deleted.
func TestCleanup_ReportsFirstFailure(t *testing.T) {
	d, at := newDir(t)
	require.NoError(t, write(t, d, "a", "x"))
	require.NoError(t, write(t, d, "gone/b", "x"))
	closed, err := os.OpenRoot(at)
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	clean := func() *cleanup {
		return &cleanup{ctx: t.Context(), store: d, unusedBefore: time.Now().Add(time.Hour), stale: time.Now()}
	}
	c := clean()
	c.clean(closed)
	require.ErrorIs(t, c.firstErr, os.ErrClosed, "the directory cannot be listed")
	c.clean(d.root)
	require.Equal(t, 2, c.files)
	require.ErrorIs(t, c.firstErr, os.ErrClosed)
	require.Empty(t, files(t, at))

	c = clean()
	c.cleanBelow(closed, "gone")
	require.ErrorIs(t, c.firstErr, os.ErrClosed, "the directory cannot be opened")
	require.ErrorIs(t, clean().delete(closed, "a"), os.ErrClosed)

	boom := errors.New("boom")
	c = clean()
	for _, err := range []error{nil, fs.ErrNotExist, boom, errors.New("later"), nil} {
		c.note(err)
	}
	require.Equal(t, boom, c.firstErr)
	deleted, _, err := d.DeleteUnused(t.Context(), "../x", time.Now())
	require.ErrorIs(t, err, fs.ErrInvalid)
	require.Zero(t, deleted)
}

// All names for one content must be in the same directory, and an invalid name ends the search; with hard links and
// without.
func TestCreateFirstFree_TakesNamesOfOneDirectoryOnly(t *testing.T) {
	for _, links := range []bool{true, false} {
		for second, want := range map[string]error{"other/b": fs.ErrInvalid, "..": fs.ErrInvalid, "": fs.ErrExist, "dir/b": nil, "/dir//b": nil} {
			d, at := newDir(t)
			if !links {
				d.system.link = func(*os.Root, string, string) error { return errors.ErrUnsupported }
			}
			names := func(attempt int) string { return []string{"dir/a", second, ""}[attempt] }
			got, err := d.CreateFirstFree(t.Context(), names, readFunc(func([]byte) (int, error) {
				require.NoError(t, write(t, d, "dir/a", "taken"))
				return 0, io.EOF
			}))
			if want == nil {
				require.NoError(t, err)
				require.Equal(t, second, got)
				require.Equal(t, []string{"dir/a", "dir/b"}, files(t, at))
				continue
			}
			require.ErrorIs(t, err, want, second)
			require.Empty(t, got)
			require.Equal(t, []string{"dir/a"}, files(t, at))
			content, err := read(t, d, "dir/a")
			require.NoError(t, err)
			require.Equal(t, "taken", content)
		}
	}
}

// Both stores name the operation and the path in their errors, also for windows of lines.
func TestStores_ErrorsSayWhatFailed(t *testing.T) {
	d, _ := newDir(t)
	for name, backing := range map[string]store{"dir": d, "memory": NewMemory(0)} {
		for _, req := range []*filesystem.ReadRequest{{FilePath: "x"}, {FilePath: "x", Offset: 2, Limit: 1}} {
			got, err := backing.Read(t.Context(), req)
			require.Nil(t, got, name)
			require.ErrorIs(t, err, fs.ErrNotExist)
			require.ErrorContains(t, err, `store: reading "x": `)
		}
		_, size, err := backing.ReadRange(t.Context(), "x", -5, 1)
		require.ErrorContains(t, err, `store: reading "x": `)
		require.Zero(t, size)
		_, _, err = backing.DeleteUnused(t.Context(), "a\x00", time.Now())
		require.ErrorIs(t, err, fs.ErrInvalid)
		require.ErrorContains(t, err, `store: cleaning "a\x00": `)
	}
	require.ErrorIs(t, errNegativeOffset(-5), fs.ErrInvalid)
	require.ErrorContains(t, errNegativeOffset(-5), "negative offset -5")
}

// Each limit is tested with the longest valid name and one that is longer by a byte.
func TestName_Limits(t *testing.T) {
	for n, ok := range map[int]bool{maxElement: true, maxElement + 1: false} {
		_, err := Name(strings.Repeat("x", n))
		require.Equal(t, ok, err == nil, n)
	}
	for n, ok := range map[int]bool{1024: true, 1025: false} {
		_, err := Name(strings.Repeat("x/", n/2)[:n-1] + "x")
		require.Equal(t, ok, err == nil, n)
	}
	for dir, want := range map[string]string{"": "", "/": "", ".": "", "./": "", "/.": "", "a/": "a", "/a/./b": "a/b"} {
		got, err := DirName(dir)
		require.NoError(t, err)
		require.Equal(t, want, got, "%q", dir)
	}
	for _, dir := range []string{"..", "../a", "a/../..", "/.."} {
		_, err := DirName(dir)
		require.ErrorIs(t, err, fs.ErrInvalid, dir)
	}
}

func TestWindowsElement_EscapesReservedBytes(t *testing.T) {
	for c := range 256 {
		name := windowsElement("x" + string([]byte{byte(c)}) + "x")
		require.Equal(t, c < ' ' || strings.IndexByte(`<>:"\|?*=`, byte(c)) >= 0, name != "x"+string([]byte{byte(c)})+"x", "%q", c)
	}
}

// Whichever call notices first that the directory was recreated, all continue in the new one.
func TestDir_ConcurrentCallsUseRecreatedDirectory(t *testing.T) {
	d, at := newDir(t)
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	for round := range rounds {
		require.NoError(t, os.RemoveAll(at))
		require.NoError(t, os.Mkdir(at, 0o700))
		var group sync.WaitGroup
		start := make(chan struct{})
		for i := range 8 {
			group.Go(func() {
				<-start
				if err := d.Create(t.Context(), fmt.Sprint("a/new", i), strings.NewReader("content")); err != nil {
					t.Errorf("round %d: %v", round, err)
				}
			})
		}
		close(start)
		group.Wait()
	}
}

// endsAt is a context that ends when it is asked for the nth time whether it has.
type endsAt struct {
	context.Context
	left int
}

func (c *endsAt) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// Wherever the context ends, DeleteUnused reports how much it deleted, and Create leaves the whole file or none.
func TestDir_CallsEndWithContext(t *testing.T) {
	whole := 0
	for n := range 20 {
		d, at := newDir(t)
		for _, name := range []string{"a", "b/c", "b/d", "e"} {
			require.NoError(t, write(t, d, name, "x"))
		}
		deleted, _, err := d.DeleteUnused(&endsAt{t.Context(), n}, "", time.Now().Add(time.Hour))
		require.Len(t, files(t, at), 4-deleted)
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
		} else {
			require.Equal(t, 4, deleted)
			whole++
		}

		content := iotest.OneByteReader(strings.NewReader("1234"))
		err = d.Create(&endsAt{t.Context(), n}, "new", content)
		got, missing := read(t, d, "new")
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, missing, fs.ErrNotExist)
		} else {
			require.Equal(t, "1234", got)
			whole++
		}
	}
	require.Positive(t, whole)
	require.Less(t, whole, 40)
}

// Files whose age is within the tolerance for clock differences are kept.
func TestDirDeleteUnused_KeepsFilesWithinClockMargin(t *testing.T) {
	d, at := newDir(t)
	limit := time.Now().Add(-time.Hour)
	for name, by := range map[string]time.Duration{"just": 1900 * time.Millisecond, "older": 2100 * time.Millisecond} {
		require.NoError(t, write(t, d, name, "x"))
		require.NoError(t, os.Chtimes(filepath.Join(at, name), limit, limit.Add(-by)))
	}
	deleted, _, err := d.DeleteUnused(t.Context(), "", limit)
	require.NoError(t, err)
	require.Equal(t, 1, deleted)
	require.Equal(t, []string{"just"}, files(t, at))
	require.Equal(t, 256<<20, DefaultMemoryBytes)
}

func TestCutName_KeepsEscapesWhole(t *testing.T) {
	for n, want := range []string{"", "a", "ab", "ab", "ab", "ab=2f", "ab=2f", "ab=2f", "ab=2f=3d", "ab=2f=3d"} {
		require.Equal(t, want, cutName("ab=2f=3d", n), n)
	}
}

func TestDirectory_DiffersWhereCaseIsIgnored(t *testing.T) {
	seen := make(map[string]string)
	for _, owner := range []string{"", "a", "A", "ab", "aB", "Ab", "AB", "=41", "a/B", "a/b", strings.Repeat("x", 300), strings.Repeat("X", 300)} {
		name := strings.ToLower(Directory(owner))
		require.NotContains(t, seen, name, "%q and %q", owner, seen[name])
		seen[name] = owner
	}
	require.Equal(t, "ab", Directory("ab"))
	require.Equal(t, "=41b", Directory("Ab"))
}
