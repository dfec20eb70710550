// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package backend

// This file holds the store that keeps content in a directory: how content gets in.

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
	"strings"
	"sync"

	"github.com/cloudwego/eino/adk/filesystem"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// placeTries bounds how often a directory is made again because another process
// removed it, empty, before a file was in it.
const placeTries = 5

// Dir keeps content as files below one directory: "/a/b" is a/b in it, as it is
// (on Windows the characters that it reserves are escaped). Directories that it
// makes are 0700 and files 0600; a directory that exists keeps its mode.
//
// Nothing outside the directory is ever read or written, whatever the names and
// whatever is in the directory: all access goes through [os.Root], and symbolic
// links are refused, also those that stay inside. A file is written under a
// temporary name, synced, and then put in place, so that it is there whole or not
// at all, after a crash too.
//
// It has all of these capabilities: [Backend], [Reader], [RangeReader], [Creator],
// [AnyCreator] and [Cleaner], streams in both directions, and is safe for concurrent use by any
// number of goroutines and processes. Two promises need more: on a file system
// without hard links a Create by two processes at once may let the later win,
// and a file that another process writes again while DeleteUnused looks at it
// may be deleted.
//
// The directory should be the store's own. If it is deleted and made again while the
// store is open, the next write goes on in the new one, provided that this user owns
// it and it is not a symbolic link.
type Dir struct {
	path string // absolute

	mu   sync.RWMutex
	root *os.Root // replaced by reopen only

	// link makes a second name for a file, and fails if the name is taken.
	link func(dir *os.Root, from, to string) error

	// names excludes code that checks a name and then removes or takes it (the writing
	// side) from code that puts something there.
	names sync.RWMutex
}

var (
	_ Backend     = (*Dir)(nil)
	_ Reader      = (*Dir)(nil)
	_ RangeReader = (*Dir)(nil)
	_ Creator     = (*Dir)(nil)
	_ AnyCreator  = (*Dir)(nil)
	_ Cleaner     = (*Dir)(nil)
)

// NewDir opens the store in the directory dir, a path of the machine, and makes
// the directory, with its parents, if it is missing.
func NewDir(dir string) (*Dir, error) {
	if dir == "" {
		return nil, errors.New("backend: opening a directory store: no directory is named")
	}
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, fmt.Errorf("backend: making the directory of a store: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("backend: opening a directory store: %w", err)
	}
	at, err := filepath.Abs(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("backend: opening a directory store: %w", err), root.Close())
	}
	return &Dir{path: at, root: root, link: (*os.Root).Link}, nil
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

// Write implements [Backend].
func (d *Dir) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	if err := d.save(ctx, req.FilePath, strings.NewReader(req.Content), d.replace); err != nil {
		return failed("writing", req.FilePath, err)
	}
	return nil
}

// Create implements [Creator]. It holds one buffer of 64 KiB.
func (d *Dir) Create(ctx context.Context, filePath string, content io.Reader) error {
	err := d.free(ctx, filePath)
	if err == nil {
		err = d.save(ctx, filePath, content, d.exclusive)
	}
	if err != nil {
		return failed("creating", filePath, err)
	}
	return nil
}

// CreateAny implements [AnyCreator]. It holds one buffer of 64 KiB.
func (d *Dir) CreateAny(ctx context.Context, names func(attempt int) string, content io.Reader) (string, error) {
	n := naming{names: names}
	err := n.firstFree(func(filePath string) error { return d.free(ctx, filePath) })
	if err == nil {
		err = d.save(ctx, n.filePath, content, func(at place, temp string) error { return d.exclusiveAny(ctx, at, temp, &n) })
	}
	if err != nil {
		return "", failed("creating", n.filePath, err)
	}
	return n.filePath, nil
}

// exclusiveAny moves a temporary file to its name, or to the next one that is free.
func (d *Dir) exclusiveAny(ctx context.Context, at place, temp string, n *naming) error {
	parent := path.Dir(nameOf(n.filePath))
	err := d.exclusive(at, temp)
	for errors.Is(err, fs.ErrExist) && n.next() {
		name, bad := diskName(ctx, n.filePath)
		if bad == nil && path.Dir(nameOf(n.filePath)) != parent {
			bad = errOtherDir
		}
		if bad != nil {
			return bad
		}
		at.base = path.Base(name)
		err = d.exclusive(at, temp)
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
	return taken(at)
}

// save writes content to a temporary file in the same directory and then has put move
// it to its name. Nothing is left behind when it fails.
func (d *Dir) save(ctx context.Context, filePath string, content io.Reader, put func(place, string) error) error {
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
	if err := put(at, tempName); err != nil {
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
	if err := pour(ctx, f, content); err != nil {
		return err
	}
	return f.Sync()
}

// openTemp makes the directory of name and a temporary file in it.
func (d *Dir) openTemp(name string) (at place, temp *os.File, err error) {
	d.names.RLock()
	defer d.names.RUnlock()
	top := d.top()
	at, temp, err = d.tryTemp(name)
	if errors.Is(err, fs.ErrNotExist) && d.reopen(top) {
		return d.tryTemp(name)
	}
	return at, temp, err
}

func (d *Dir) tryTemp(name string) (at place, temp *os.File, err error) {
	for range placeTries {
		if at, err = d.locate(name, true); err == nil {
			temp, err = at.dir.OpenFile(tempPrefix+rand.Text(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
			if err == nil {
				return at, temp, nil
			}
			at.close()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return place{}, nil, err
}

// replace moves a temporary file to its name, over whatever file is there.
func (d *Dir) replace(at place, temp string) error {
	d.names.RLock()
	defer d.names.RUnlock()
	if info, err := at.dir.Lstat(at.base); err == nil && !info.Mode().IsRegular() {
		return errNotPlain
	}
	return at.dir.Rename(temp, at.base)
}

// exclusive moves a temporary file to its name if that is free. Without hard links
// it can only check first.
func (d *Dir) exclusive(at place, temp string) error {
	d.names.Lock()
	defer d.names.Unlock()
	err := d.link(at.dir, temp, at.base)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := taken(at); err != nil {
		return err
	}
	return at.dir.Rename(temp, at.base)
}
