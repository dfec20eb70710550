// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package backend

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes an open file for this process until it is closed, and reports whether no other
// has it. Where the file system knows no locks, nobody has one.
func lockFile(f *os.File) bool {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
			return !errors.Is(err, syscall.EWOULDBLOCK)
		}
	}
}
