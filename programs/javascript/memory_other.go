// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package javascript

// Memory on systems where none is mapped.

// mapMemory returns size zero bytes.
func mapMemory(size uint64) (b []byte, release func()) { return make([]byte, size), nil }
