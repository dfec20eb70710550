// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

// A directory is locked while a name in it is put in place, marked or removed, so that no process
// removes what another one has just written or found.

import (
	"context"
	"errors"
	"os"
	"time"
)

// errBusy says that another process has the lock of the directory.
var errBusy = errors.New("another process is using the directory")

// system is what a [Dir] asks of the operating system and a test may replace.
type system struct {
	// link makes a second name for a file, and fails if the name is taken.
	link func(dir *os.Root, from, to string) error

	// remove removes a name.
	remove func(dir *os.Root, base string) error

	// lockDir locks an open directory among processes, or returns errBusy. unlock is called once.
	lockDir func(dir *os.Root, kind lockKind) (unlock func(), err error)

	// pause waits before a lock is tried again, or until ctx ends, which is an error.
	pause func(ctx context.Context, d time.Duration) error
}

var operatingSystem = system{link: (*os.Root).Link, remove: (*os.Root).Remove, lockDir: lockDir, pause: pause}

// lockKind is who else may have a lock.
type lockKind bool

const (
	sharedLock    lockKind = false
	exclusiveLock lockKind = true
)

// withSharedLock calls do, which puts a name into dir or records the use of one. No process removes names
// from dir meanwhile.
func (d *Dir) withSharedLock(ctx context.Context, dir *os.Root, do func() error) error {
	return d.retry(ctx, func() error {
		d.names.RLock()
		defer d.names.RUnlock()
		return d.withLock(dir, sharedLock, do)
	})
}

// withExclusiveLock calls do, which checks a name in dir and then removes or takes it. Meanwhile no process
// puts a name there, and none records a use.
func (d *Dir) withExclusiveLock(ctx context.Context, dir *os.Root, do func() error) error {
	return d.retry(ctx, func() error {
		d.names.Lock()
		defer d.names.Unlock()
		return d.withLock(dir, exclusiveLock, do)
	})
}

func (d *Dir) withLock(dir *os.Root, kind lockKind, do func() error) error {
	unlock, err := d.system.lockDir(dir, kind)
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

const (
	// shortestPause and longestPause bound the pause before a lock is tried again.
	shortestPause = 100 * time.Microsecond
	longestPause  = 10 * time.Millisecond
)

// retry calls try until it returns something else than errBusy, or until ctx ends.
func (d *Dir) retry(ctx context.Context, try func() error) error {
	for length := shortestPause; ; length = min(2*length, longestPause) {
		err := try()
		if !errors.Is(err, errBusy) {
			return err
		}
		if ended := d.system.pause(ctx, length); ended != nil {
			return errors.Join(ended, err)
		}
	}
}

func pause(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}
