// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package reduction_test

import (
	"testing"
	"unsafe"
)

// foreignMemory is that of the unix systems; here it is Go's own.
func foreignMemory(*testing.T) (at unsafe.Pointer, free func()) {
	return unsafe.Pointer(new([64]byte)), func() {}
}
