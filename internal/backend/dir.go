// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// placeTries bounds how often a directory is made again because another process
// removed it, empty, before a file was in it.
const placeTries = 5

// Dir keeps content as files below one directory: "/a/b" is a/b in it. It has all capabilities of a
// store.Backend, and is safe for concurrent use by any number of goroutines and processes.
// store.Dir says what it promises.
type Dir struct {
	path string // absolute

	mu   sync.RWMutex
	root *os.Root // replaced by reopen only

	system system // replaced by tests only

	// names excludes code that checks a name and then removes or takes it (the writing
	// side) from code that puts something there or records a use. See [Dir.withSharedLock].
	names sync.RWMutex
}

// NewDir opens the store in the directory dir, a path of the machine, and makes
// the directory, with its parents, if it is missing.
func NewDir(dir string) (*Dir, error) {
	if dir == "" {
		return nil, errors.New("store: NewDir: directory is empty")
	}
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, fmt.Errorf("store: NewDir: making the directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("store: NewDir: opening the directory: %w", err)
	}
	at, err := filepath.Abs(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: NewDir: opening the directory: %w", err), root.Close())
	}
	return &Dir{path: at, root: root, system: operatingSystem}, nil
}

// Close releases the directory. Afterwards every method returns an error; what
// ReadRange returned before can still be read.
func (d *Dir) Close() error { return d.top().Close() }

// top is the directory of the store.
func (d *Dir) top() *os.Root {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.root
}

// reopen switches to the directory that now has the store's path, if the old one was
// deleted and the new one is a plain directory of this user. It reports whether the
// directory is no longer gone.
func (d *Dir) reopen(gone *os.Root) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.root != gone {
		return true // by another call
	}
	old, err := gone.Stat(".")
	if err != nil {
		return false // closed
	}
	seen, err := os.Lstat(d.path)
	if err != nil || !seen.IsDir() || !ownedByUs(seen) || os.SameFile(seen, old) {
		return false
	}
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return false
	}
	if got, err := root.Stat("."); err != nil || !os.SameFile(seen, got) {
		root.Close()
		return false
	}
	// The old one is left to the garbage collector, since other calls may be using it: to
	// them, what they look for is missing, and they come here too.
	d.root = root
	return true
}

// Write implements store.Backend.
func (d *Dir) Write(ctx context.Context, req *filesystem.WriteRequest) (err error) {
	defer describe(&err, "writing", req.FilePath)
	return d.save(ctx, req.FilePath, strings.NewReader(req.Content), d.replace)
}

// Create implements store.Creator. It holds one buffer of 64 KiB.
func (d *Dir) Create(ctx context.Context, filePath string, content io.Reader) (err error) {
	defer describe(&err, "creating", filePath)
	if err := d.free(ctx, filePath); err != nil {
		return err
	}
	return d.save(ctx, filePath, content, d.exclusive)
}

// CreateFirstFree implements backend.FirstFreeCreator. It holds one buffer of 64 KiB.
func (d *Dir) CreateFirstFree(ctx context.Context, names func(attempt int) string, content io.Reader) (string, error) {
	n := nameSequence{names: names}
	err := n.firstFree(func(filePath string) error { return d.free(ctx, filePath) })
	if err == nil {
		err = d.save(ctx, n.filePath, content, func(ctx context.Context, at place, temp string) error {
			return d.exclusiveFirstFree(ctx, at, temp, &n)
		})
	}
	describe(&err, "creating", n.filePath)
	return n.result(err)
}

// exclusiveFirstFree moves a temporary file to its name, or to the next one that is free.
func (d *Dir) exclusiveFirstFree(ctx context.Context, at place, temp string, n *nameSequence) error {
	parent := path.Dir(nameOf(n.filePath))
	err := d.exclusive(ctx, at, temp)
	for errors.Is(err, fs.ErrExist) && n.advance() {
		name, bad := diskName(ctx, n.filePath)
		if bad == nil && path.Dir(nameOf(n.filePath)) != parent {
			bad = errOtherDir
		}
		if bad != nil {
			return bad
		}
		at.base = path.Base(name)
		err = d.exclusive(ctx, at, temp)
	}
	return err
}

// free is an error if the name is taken, by whatever.
func (d *Dir) free(ctx context.Context, filePath string) error {
	name, err := diskName(ctx, filePath)
	if err != nil {
		return err
	}
	at, err := d.locate(name, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer at.close()
	return checkFree(at)
}

// save writes content to a temporary file in the same directory and then has put move
// it to its name. Nothing is left behind when it fails.
func (d *Dir) save(
	ctx context.Context, filePath string, content io.Reader, put func(ctx context.Context, at place, temp string) error,
) error {
	name, err := diskName(ctx, filePath)
	if err != nil {
		return err
	}
	at, temp, err := d.openTemp(name)
	if err != nil {
		return err
	}
	defer at.close()
	tempName := filepath.Base(temp.Name())
	defer at.dir.Remove(tempName) // gone already if all went well
	if err := fill(ctx, temp, content); err != nil {
		return err
	}
	now := time.Now()
	_ = at.dir.Chtimes(tempName, now, now) // the last piece of content may have come long before its end
	if err := put(ctx, at, tempName); err != nil {
		return err
	}
	syncDir(at.dir)
	return nil
}

// fill writes content to f, syncs and closes it, whatever happens.
func fill(ctx context.Context, f *os.File, content io.Reader) (err error) {
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	if err := copyUntilEOF(ctx, f, content); err != nil {
		return err
	}
	return f.Sync()
}

// openTemp makes the directory of name and a temporary file in it.
func (d *Dir) openTemp(name string) (at place, temp *os.File, err error) {
	d.names.RLock()
	defer d.names.RUnlock()
	return d.openIn(name, func(at place) (*os.File, error) {
		return at.dir.OpenFile(tempPrefix+rand.Text(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	})
}

// openIn makes the directory of name, and opens a file in it. d.names is held.
func (d *Dir) openIn(name string, open func(place) (*os.File, error)) (at place, f *os.File, err error) {
	for range placeTries {
		top := d.top()
		if at, err = d.locate(name, true); err == nil {
			if f, err = open(at); err == nil {
				return at, f, nil
			}
			at.close()
		}
		if errors.Is(err, fs.ErrNotExist) {
			d.reopen(top)
		} else if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return place{}, nil, err
}

// replace moves a temporary file to its name, over whatever file is there.
func (d *Dir) replace(ctx context.Context, at place, temp string) error {
	return d.withSharedLock(ctx, at.dir, func() error {
		if info, err := at.dir.Lstat(at.base); err == nil && !info.Mode().IsRegular() {
			return errNotPlain
		}
		return at.dir.Rename(temp, at.base)
	})
}

// exclusive moves a temporary file to its name if that is free. Without hard links
// it checks first.
func (d *Dir) exclusive(ctx context.Context, at place, temp string) error {
	err := d.withSharedLock(ctx, at.dir, func() error {
		err := d.system.link(at.dir, temp, at.base)
		if err == nil {
			_ = at.dir.Remove(temp) // so that a file with two names is never one of this process
		}
		return err
	})
	if err == nil || errors.Is(err, fs.ErrExist) || ctx.Err() != nil {
		return err
	}
	return d.withExclusiveLock(ctx, at.dir, func() error {
		if err := checkFree(at); err != nil {
			return err
		}
		return at.dir.Rename(temp, at.base)
	})
}

// staleAfter is how long an incomplete file must not have grown before it counts
// as left behind by a crash. A stream may be slow.
const staleAfter = time.Hour

// clockMargin is how much later than its time says a file may have been written: the
// clock of a file system is behind by milliseconds, and some keep only every other
// second.
const clockMargin = 2 * time.Second

// Read implements store.Reader. It holds no more than the window it returns.
func (d *Dir) Read(ctx context.Context, req *filesystem.ReadRequest) (_ *filesystem.FileContent, err error) {
	defer describe(&err, "reading", req.FilePath)
	f, info, err := d.open(ctx, req.FilePath)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !wantsAll(req) {
		content, err := Lines(f, req)
		return &filesystem.FileContent{Content: content}, err
	}
	var b strings.Builder
	b.Grow(int(info.Size()))
	err = copyUntilEOF(ctx, &b, f)
	return &filesystem.FileContent{Content: b.String()}, err
}

// ReadRange implements store.RangeReader.
func (d *Dir) ReadRange(ctx context.Context, filePath string, offset, length int64) (content io.ReadCloser, size int64, err error) {
	defer describe(&err, "reading", filePath)
	if offset < 0 {
		return nil, 0, errNegativeOffset(offset)
	}
	f, info, err := d.open(ctx, filePath)
	if err != nil {
		return nil, 0, err
	}
	from, n := clipRange(info.Size(), offset, length)
	return &section{SectionReader: io.NewSectionReader(f, from, n), Closer: f}, info.Size(), nil
}

// section is a part of a file that closes the file.
type section struct {
	*io.SectionReader
	io.Closer
}

func (d *Dir) open(ctx context.Context, filePath string) (*os.File, fs.FileInfo, error) {
	name, err := diskName(ctx, filePath)
	if err != nil {
		return nil, nil, err
	}
	at, err := d.locate(name, false)
	if err != nil {
		return nil, nil, err
	}
	defer at.close()
	f, info, err := openSeen(at, fs.FileMode.IsRegular, fs.ErrNotExist, at.dir.Open, (*os.File).Stat)
	if err != nil {
		return nil, nil, err
	}
	if time.Since(info.ModTime()) >= UseInterval { // what is read is in use
		if err := d.markUsed(ctx, at, info); err != nil {
			return nil, nil, errors.Join(err, f.Close())
		}
	}
	return f, info, nil
}

// markUsed sets the time of a file that was opened to now. If it was deleted since, that is
// [fs.ErrNotExist]. A file that another user owns keeps its time.
func (d *Dir) markUsed(ctx context.Context, at place, opened fs.FileInfo) error {
	return d.withSharedLock(ctx, at.dir, func() error {
		info, err := at.dir.Lstat(at.base)
		if err != nil {
			return err
		}
		if os.SameFile(info, opened) { // a file that replaced it is new
			now := time.Now()
			_ = at.dir.Chtimes(at.base, now, now)
		}
		return nil
	})
}

// UseInterval is how long a file counts as used without being marked again.
const UseInterval = time.Hour

// MarkUsed implements store.Cleaner.
func (d *Dir) MarkUsed(ctx context.Context, filePaths ...string) error {
	return markAll(filePaths, func(filePath string) error {
		f, _, err := d.open(ctx, filePath)
		if err == nil {
			f.Close()
		}
		return err
	})
}

// DeleteUnused implements store.Cleaner. It also removes directories that hold nothing,
// below dir, and incomplete files that a crash left behind and that have not grown for
// an hour, whatever since is; these do not count.
func (d *Dir) DeleteUnused(ctx context.Context, dir string, since time.Time) (files int, bytes int64, err error) {
	defer describe(&err, "cleaning", dir)
	c := cleanup{ctx: ctx, store: d, unusedBefore: since.Add(-clockMargin), stale: time.Now().Add(-staleAfter)}
	err = c.start(dir)
	return c.files, c.bytes, err
}

// Stored implements store.Cleaner.
func (d *Dir) Stored(ctx context.Context, dir string) (files int, bytes int64, err error) {
	defer describe(&err, "looking through", dir)
	c := cleanup{ctx: ctx, store: d, countOnly: true}
	if err := c.start(dir); err != nil {
		return 0, 0, err
	}
	return c.files, c.bytes, nil
}

// cleanup is one call of DeleteUnused or Stored.
type cleanup struct {
	ctx                 context.Context
	store               *Dir
	countOnly           bool // nothing is deleted, and everything counts
	dirExists           bool // there are files, or it is about the whole store
	unusedBefore, stale time.Time
	files               int // that were deleted
	bytes               int64
	firstErr            error // the first failure: one file must not keep the others
}

func (c *cleanup) start(dir string) error {
	name, err := DirName(dir)
	if err != nil {
		return err
	}
	c.dirExists = c.countOnly || name == ""
	at, err := c.store.locate(onDisk(runtime.GOOS, name)+"/", false)
	switch {
	case err == nil:
		defer at.close()
		c.clean(at.dir)
		err = errors.Join(c.ctx.Err(), c.firstErr)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err == nil && !c.dirExists {
		err = ErrNothing
	}
	return err
}

// clean deletes what is old in an open directory and in those below it.
func (c *cleanup) clean(dir *os.Root) {
	entries, err := entriesOf(dir)
	c.note(err)
	for _, entry := range entries {
		switch {
		case c.ctx.Err() != nil:
			return
		case entry.IsDir():
			c.cleanBelow(dir, entry.Name())
		case entry.Type().IsRegular():
			c.note(c.delete(dir, entry.Name()))
		}
	}
}

func (c *cleanup) cleanBelow(dir *os.Root, element string) {
	below, err := enter(dir, element, false)
	if err != nil {
		c.note(err)
		return
	}
	c.clean(below)
	below.Close()
	if c.countOnly {
		return
	}
	c.store.names.Lock()
	defer c.store.names.Unlock()
	// Fails where the directory is not empty, which is as it should be.
	_ = dir.Remove(element)
}

// delete deletes a file if it is old, and counts it.
func (c *cleanup) delete(dir *os.Root, base string) error {
	limit, counts := c.unusedBefore, !strings.HasPrefix(base, tempPrefix)
	if !counts {
		limit = c.stale
	}
	info, err := dir.Lstat(base)
	c.dirExists = c.dirExists || counts
	if err != nil {
		return err
	}
	if !c.countOnly {
		if !info.ModTime().Before(limit) {
			return nil
		}
		if info, err = c.remove(dir, base, limit); info == nil {
			return err
		}
	}
	if counts {
		c.files++
		c.bytes += info.Size()
	}
	return nil
}

// remove removes a file if it is still old, and returns what it was, or nil.
func (c *cleanup) remove(dir *os.Root, base string, limit time.Time) (removed fs.FileInfo, err error) {
	err = c.store.withExclusiveLock(c.ctx, dir, func() error {
		info, err := dir.Lstat(base)
		if err != nil || !info.ModTime().Before(limit) {
			return err
		}
		if err := c.store.system.remove(dir, base); err != nil {
			return err
		}
		removed = info
		return nil
	})
	return removed, err
}

// note keeps the first failure. What is missing by now was to be deleted.
func (c *cleanup) note(err error) {
	if c.firstErr == nil && !errors.Is(err, fs.ErrNotExist) {
		c.firstErr = err
	}
}

func entriesOf(dir *os.Root) ([]fs.DirEntry, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}
