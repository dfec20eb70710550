// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package backend holds the two stores that come with einolean, and makes safe names for
// any store. What a store must do, and may do, is declared in package einolean.
//
// File paths are names inside a store, separated by slashes. They are shown to
// models, so they must not be paths of the machine: [Dir] keeps "/tmp/trunc/x"
// as tmp/trunc/x below its own directory.
//
// The conformance suite for all of this is package backendtest.
package backend

import "fmt"

// describe adds what a store's method was doing to its error.
func describe(err *error, doing, filePath string) {
	if *err != nil {
		*err = fmt.Errorf("backend: %s %q: %w", doing, filePath, *err)
	}
}
