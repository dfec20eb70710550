// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package javascript

// Memory of the system, where it has none for us.

// pages returns so many zeros.
func pages(size uint64) (b []byte, free func()) { return make([]byte, size), nil }
