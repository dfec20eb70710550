// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package backend holds the two stores that come with einolean, and makes safe names for
// any store. What a store must do, and may do, is declared in package store.
//
// File paths are names inside a store, separated by slashes. They are shown to
// models, so they must not be paths of the machine: [Dir] keeps "/tmp/trunc/x"
// as tmp/trunc/x below its own directory.
//
// The conformance suite for all of this is package backendtest.
package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Wrapper is a store that keeps what it is given in another one.
type Wrapper interface {
	// Innermost returns the store that is wrapped, through all wrappers.
	Innermost() any
	// InnermostPath returns where a path is in it.
	InnermostPath(ctx context.Context, filePath string) (string, error)
}

// Innermost returns the store that b keeps its content in.
func Innermost(b any) any {
	if w, ok := b.(Wrapper); ok {
		return w.Innermost()
	}
	return b
}

// InnermostPath returns what a path of b is called in its innermost store.
func InnermostPath(ctx context.Context, b any, filePath string) (string, error) {
	if w, ok := b.(Wrapper); ok {
		return w.InnermostPath(ctx, filePath)
	}
	return filePath, nil
}

// ErrNothing says that a directory that was to be cleaned holds nothing, not even what is in use.
var ErrNothing = fmt.Errorf("nothing is stored there: %w", fs.ErrNotExist)

// markAll opens files, which is a use of each, and returns the first failure. What is missing is none.
func markAll(filePaths []string, open func(filePath string) error) (failure error) {
	for _, filePath := range filePaths {
		if err := open(filePath); err != nil && failure == nil && !errors.Is(err, fs.ErrNotExist) {
			failure = err
			describe(&failure, "marking", filePath)
		}
	}
	return failure
}

// describe adds what a store's method was doing to its error.
func describe(err *error, doing, filePath string) {
	if *err != nil {
		*err = fmt.Errorf("backend: %s %q: %w", doing, filePath, *err)
	}
}
