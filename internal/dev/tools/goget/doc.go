// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package goget holds no code: its test fetches the library as a stranger's program does,
// and runs the lines of the README.
package goget
