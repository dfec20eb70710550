// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package backend

import (
	"errors"
	"os"
	"syscall"
)

// lockDir locks a directory until unlock is called. Where the file system knows no locks, nobody
// has one.
func lockDir(dir *os.Root, kind lockKind) (unlock func(), err error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_SH
	if kind == exclusiveLock {
		how = syscall.LOCK_EX
	}
	if !flock(f, how) {
		return nil, errors.Join(errBusy, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// flock reports whether the lock is free or not supported.
func flock(f *os.File, how int) bool {
	for {
		if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
			return !errors.Is(err, syscall.EWOULDBLOCK)
		}
	}
}
