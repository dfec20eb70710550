// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

// Memory of the system, where it has some.

import "golang.org/x/sys/unix"

// pages returns so many zeros, of which those count that are written, and what gives them back.
func pages(size uint64) (b []byte, free func()) {
	b, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return make([]byte, size), nil
	}
	return b, func() { _ = unix.Munmap(b) }
}
