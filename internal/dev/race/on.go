// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package race

// Enabled reports whether the program was built with the race detector.
const Enabled = true
