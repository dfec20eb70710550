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
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/proctest"
)

const unusedContent = "content of a result"

// unusedSince is the time before which the tests of this file delete. Old files are planted with
// a time that is a day earlier.
func unusedSince() time.Time { return time.Now().Add(-24 * time.Hour) }

// plantOld makes a file that was last used two days ago.
func plantOld(path string) error {
	past := time.Now().Add(-48 * time.Hour)
	return errors.Join(os.WriteFile(path, []byte(unusedContent), fileMode), os.Chtimes(path, past, past))
}

// unusedUses are the ways to use an old file. Each reports whether it found or wrote the file.
var unusedUses = []struct {
	name string
	use  func(ctx context.Context, d *Dir, name, path string) (bool, error)
}{
	{"Read", func(ctx context.Context, d *Dir, name, _ string) (bool, error) {
		_, err := d.Read(ctx, &filesystem.ReadRequest{FilePath: name})
		return found(err)
	}},
	{"ReadRange", func(ctx context.Context, d *Dir, name, _ string) (bool, error) {
		return readRange(ctx, d, name)
	}},
	{"MarkUsed", func(ctx context.Context, d *Dir, name, path string) (bool, error) {
		if err := d.MarkUsed(ctx, name); err != nil {
			return false, err
		}
		_, err := os.Lstat(path) // MarkUsed skips a missing file
		return found(err)
	}},
	{"Create", func(ctx context.Context, d *Dir, name, _ string) (bool, error) {
		err := d.Create(ctx, name, strings.NewReader(unusedContent))
		if errors.Is(err, fs.ErrExist) {
			return readRange(ctx, d, name)
		}
		return err == nil, err
	}},
	{"Write", func(ctx context.Context, d *Dir, name, _ string) (bool, error) {
		err := d.Write(ctx, &filesystem.WriteRequest{FilePath: name, Content: unusedContent})
		return err == nil, err
	}},
}

func readRange(ctx context.Context, d *Dir, name string) (bool, error) {
	content, _, err := d.ReadRange(ctx, name, 0, -1)
	if err != nil {
		return found(err)
	}
	return true, content.Close()
}

func found(err error) (bool, error) {
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// deleteRepeatedly calls DeleteUnused in two goroutines until stopped ends.
func deleteRepeatedly(d *Dir, stopped context.Context) error {
	failures := make(chan error, 2)
	for range 2 {
		go func() {
			for stopped.Err() == nil {
				if _, _, err := d.DeleteUnused(context.Background(), "", unusedSince()); err != nil {
					failures <- err
					return
				}
			}
			failures <- nil
		}()
	}
	return errors.Join(<-failures, <-failures)
}

// deleteUntilEOF is the second process: it deletes until its input ends.
func deleteUntilEOF(root string, in io.Reader) error {
	d, err := NewDir(root)
	if err != nil {
		return err
	}
	stopped, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, in)
		stop()
	}()
	return errors.Join(deleteRepeatedly(d, stopped), d.Close())
}

// unusedLoad is what became of the files of a load test.
type unusedLoad struct {
	used, deleted atomic.Int64 // found or written; deleted before their use
	mu            sync.Mutex
	lost          map[string]int // by way of use
}

func (l *unusedLoad) check(way, path string) {
	got, err := os.ReadFile(path)
	if err == nil && strings.HasSuffix(string(got), unusedContent) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost[way]++
}

// run plants old files, a batch at a time, and uses each once, until so many were in use.
func (l *unusedLoad) run(ctx context.Context, d *Dir, root, worker string, results int64) error {
	const batch = 12
	for first := 0; l.used.Load() < results; first += batch {
		var names []string
		for n := range batch {
			name := "s/" + worker + "-" + strconv.Itoa(first+n)
			if err := plantOld(filepath.Join(root, name)); err == nil {
				names = append(names, name)
			} else if !errors.Is(err, fs.ErrNotExist) { // deleted already
				return err
			}
		}
		if err := l.useAll(ctx, d, root, names); err != nil {
			return err
		}
	}
	return nil
}

// useAll uses files, and looks for each right after its use, and again at the end.
func (l *unusedLoad) useAll(ctx context.Context, d *Dir, root string, names []string) error {
	for n, name := range names {
		path := filepath.Join(root, name)
		way := unusedUses[n%len(unusedUses)]
		inUse, err := way.use(ctx, d, name, path)
		if err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		if !inUse {
			l.deleted.Add(1)
			continue
		}
		l.used.Add(1)
		l.check(way.name, path)
		defer func() {
			l.check(way.name+", later", path)
			_ = os.Remove(path)
		}()
	}
	return nil
}

// TestDirDeleteUnused_KeepsFilesInUse uses old files while they are deleted, by the same process
// and by another one. EINOLEAN_RESULTS is how many results each run finds or writes.
//
//claim:operations-08
func TestDirDeleteUnused_KeepsFilesInUse(t *testing.T) {
	if root := proctest.Case(); root != "" {
		require.NoError(t, deleteUntilEOF(root, os.Stdin))
		return
	}
	results := int64(600)
	if n, err := strconv.ParseInt(os.Getenv("EINOLEAN_RESULTS"), 10, 64); err == nil {
		results = n
	}
	for processes := 1; processes <= 2; processes++ {
		t.Run(fmt.Sprint("processes=", processes), func(t *testing.T) {
			if processes > 1 {
				onlyWithLocks(t)
			}
			d, root := newDir(t)
			require.NoError(t, write(t, d, "s/stay", "")) // so that its directory stays
			var stop func() error
			if processes == 1 {
				stop = deleteInProcess(d)
			} else {
				stop = deleteInOtherProcess(t, root)
			}
			load := unusedLoad{lost: make(map[string]int)}
			var workers sync.WaitGroup
			began := time.Now()
			for w := range 8 {
				workers.Go(func() {
					if err := load.run(t.Context(), d, root, strconv.Itoa(w), results); err != nil {
						t.Error(err)
					}
				})
			}
			workers.Wait()
			require.NoError(t, stop())
			t.Logf("%d results in use, %d deleted before, in %v", load.used.Load(), load.deleted.Load(), time.Since(began))
			require.Empty(t, load.lost, "results that were in use were deleted")
		})
	}
}

func deleteInProcess(d *Dir) (stop func() error) {
	stopped, end := context.WithCancel(context.Background())
	failure := make(chan error, 1)
	go func() { failure <- deleteRepeatedly(d, stopped) }()
	return func() error {
		end()
		return <-failure
	}
}

func deleteInOtherProcess(t *testing.T, root string) (stop func() error) {
	cmd := proctest.Command(t, root)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	return func() error {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			return fmt.Errorf("the other process: %w\n%s", err, out.String())
		}
		return nil
	}
}

// TestDirDeleteUnused_ChecksAndRemovesInOneStep starts each use between the check of a file's time
// and its removal. It comes from another store on the same directory, which is what another
// process has.
func TestDirDeleteUnused_ChecksAndRemovesInOneStep(t *testing.T) {
	onlyWithLocks(t)
	type result struct {
		inUse bool
		err   error
	}
	for _, way := range unusedUses {
		t.Run(way.name, func(t *testing.T) {
			deleter, root := newDir(t)
			user, err := NewDir(root)
			require.NoError(t, err)
			defer user.Close()
			waits, done := make(chan struct{}, 1), make(chan result, 1)
			user.system.pause = func(ctx context.Context, length time.Duration) error {
				select {
				case waits <- struct{}{}:
				default:
				}
				return pause(ctx, length)
			}
			path := filepath.Join(root, "old")
			require.NoError(t, plantOld(path))
			deleter.system.remove = func(dir *os.Root, base string) error {
				go func() {
					inUse, err := way.use(t.Context(), user, "/old", path)
					done <- result{inUse, err}
				}()
				select {
				case <-waits: // for the lock
				case r := <-done:
					done <- r
					t.Error("the use did not wait for the removal")
				}
				return dir.Remove(base)
			}
			_, _, err = deleter.DeleteUnused(t.Context(), "", unusedSince())
			require.NoError(t, err)
			r := <-done
			require.NoError(t, r.err)
			if r.inUse {
				require.FileExists(t, path)
			}
		})
	}
}

// TestDirDeleteUnused_ExcludesUsesOfItsProcess, also where directories cannot be locked.
func TestDirDeleteUnused_ExcludesUsesOfItsProcess(t *testing.T) {
	for _, way := range unusedUses {
		t.Run(way.name, func(t *testing.T) {
			d, root := newDir(t)
			var shared, exclusive int
			d.system.lockDir = func(_ *os.Root, kind lockKind) (func(), error) {
				if kind == sharedLock {
					shared++
					require.False(t, d.names.TryLock(), "a removal may begin during a use")
				} else {
					exclusive++
					require.False(t, d.names.TryRLock(), "a use may begin during a removal")
				}
				return func() {}, nil
			}
			d.system.remove = func(dir *os.Root, base string) error {
				require.False(t, d.names.TryRLock(), "a use may begin during a removal")
				return dir.Remove(base)
			}
			path := filepath.Join(root, "old")
			require.NoError(t, plantOld(path))
			inUse, err := way.use(t.Context(), d, "/old", path)
			require.NoError(t, err)
			require.True(t, inUse)
			require.Equal(t, []int{1, 0}, []int{shared, exclusive})
			require.NoError(t, plantOld(path))
			deleted, _, err := d.DeleteUnused(t.Context(), "", unusedSince())
			require.NoError(t, err)
			require.Equal(t, []int{1, 1, 1}, []int{shared, exclusive, deleted})
		})
	}
}

// onlyWithLocks skips a test on systems where processes cannot lock a directory.
func onlyWithLocks(t *testing.T) {
	t.Helper()
	switch runtime.GOOS {
	case "darwin", "dragonfly", "freebsd", "linux", "netbsd", "openbsd":
	default:
		t.Skip("directories cannot be locked here")
	}
}

// TestDir_FileDeletedBeforeItIsMarkedIsMissing deletes a file after a call has opened it.
func TestDir_FileDeletedBeforeItIsMarkedIsMissing(t *testing.T) {
	onlyUnix(t) // others may refuse to delete an open file
	deleter, root := newDir(t)
	user, err := NewDir(root)
	require.NoError(t, err)
	defer user.Close()
	user.system.lockDir = func(dir *os.Root, kind lockKind) (func(), error) {
		files, _, err := deleter.DeleteUnused(t.Context(), "", unusedSince())
		require.NoError(t, err)
		require.Equal(t, 1, files)
		return lockDir(dir, kind)
	}
	require.NoError(t, plantOld(filepath.Join(root, "old")))
	_, err = read(t, user, "old")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, plantOld(filepath.Join(root, "old")))
	_, _, err = user.ReadRange(t.Context(), "old", 0, -1)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, plantOld(filepath.Join(root, "old")))
	require.NoError(t, user.MarkUsed(t.Context(), "old"), "missing files are skipped")
	require.NoFileExists(t, filepath.Join(root, "old"))
}

// TestDir_WaitForALockEndsWithTheContext: another process may hold a lock for long.
func TestDir_WaitForALockEndsWithTheContext(t *testing.T) {
	for _, way := range unusedUses {
		t.Run(way.name, func(t *testing.T) {
			d, root := newDir(t)
			path := filepath.Join(root, "old")
			require.NoError(t, plantOld(path))
			ctx, cancel := context.WithCancel(t.Context())
			d.system.lockDir = func(*os.Root, lockKind) (func(), error) {
				cancel()
				return nil, errBusy
			}
			inUse, err := way.use(ctx, d, "/old", path)
			require.ErrorIs(t, err, context.Canceled)
			require.False(t, inUse)
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, unusedContent, string(got))
			require.Equal(t, []string{"old"}, files(t, root))
		})
	}
	d, root := newDir(t)
	require.NoError(t, plantOld(filepath.Join(root, "old")))
	ctx, cancel := context.WithCancel(t.Context())
	d.system.lockDir = func(*os.Root, lockKind) (func(), error) {
		cancel()
		return nil, errBusy
	}
	deleted, _, err := d.DeleteUnused(ctx, "", unusedSince())
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, deleted)
	require.FileExists(t, filepath.Join(root, "old"))
}

// TestDir_SlowStreamIsUsedWhenItEnds: content may pause for long before its end.
func TestDir_SlowStreamIsUsedWhenItEnds(t *testing.T) {
	d, root := newDir(t)
	past := time.Now().Add(-48 * time.Hour)
	slow := func() io.Reader {
		return io.MultiReader(strings.NewReader(unusedContent), readFunc(func([]byte) (int, error) {
			temps, err := filepath.Glob(filepath.Join(root, tempPrefix+"*"))
			require.NoError(t, err)
			require.Len(t, temps, 1)
			require.NoError(t, os.Chtimes(temps[0], past, past))
			return 0, io.EOF
		}))
	}
	require.NoError(t, d.Create(t.Context(), "created", slow()))
	_, err := d.CreateFirstFree(t.Context(), func(int) string { return "any" }, slow())
	require.NoError(t, err)
	deleted, _, err := d.DeleteUnused(t.Context(), "", unusedSince())
	require.NoError(t, err)
	require.Zero(t, deleted)
	require.Equal(t, []string{"any", "created"}, files(t, root))
}
