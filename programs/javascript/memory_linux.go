// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// Memory mapped from the system.

import "golang.org/x/sys/unix"

// mapMemory returns size zero bytes, which use memory only where they are written, and a function
// that releases them.
func mapMemory(size uint64) (b []byte, free func()) {
	b, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return make([]byte, size), nil
	}
	return b, func() { _ = unix.Munmap(b) }
}
