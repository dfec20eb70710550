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

import (
	"context"
	"fmt"
)

// Appender is a store that can add to the end of a file, or make it, without writing it again.
// Its method has no capital: the one of Eino v0.10 with that name has a type of its own.
type Appender interface {
	append(ctx context.Context, filePath, content string) error
}

// Append adds to the end of a file.
func Append(ctx context.Context, a Appender, filePath, content string) (err error) {
	defer describe(&err, "appending to", filePath)
	return a.append(ctx, filePath, content)
}

var (
	_ Appender = (*Dir)(nil)
	_ Appender = (*Memory)(nil)
)

// describe adds what a store's method was doing to its error.
func describe(err *error, doing, filePath string) {
	if *err != nil {
		*err = fmt.Errorf("backend: %s %q: %w", doing, filePath, *err)
	}
}
