// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package reduction_test

import (
	"os"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// foreignMemory returns memory that Go does not own, until free is called.
func foreignMemory(t *testing.T) (at unsafe.Pointer, free func()) {
	t.Helper()
	m, err := syscall.Mmap(-1, 0, os.Getpagesize(), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	return unsafe.Pointer(&m[0]), func() { require.NoError(t, syscall.Munmap(m)) }
}
