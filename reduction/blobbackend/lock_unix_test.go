// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || freebsd || linux

package blobbackend_test

import (
	"os"
	"syscall"
)

// lock holds a file for this process alone. The lock ends with the process.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
