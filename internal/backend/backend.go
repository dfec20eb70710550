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
	"io"
	"io/fs"
)

// FirstFreeCreator is a store.Creator that stores content under the first free one of several
// names. A stream can be read only once; this way it is not lost when another writer
// takes its name while it arrives. It is used in preference to Create for streams.
type FirstFreeCreator interface {
	// CreateFirstFree stores what content yields until io.EOF, as Create does, under the
	// first of names(0), names(1), … that is free, and returns that name. It takes
	// content once, whichever name it ends under: if another writer takes a name while
	// content is read, it tries the next one.
	//
	// It asks for each name at most once, in order, on the calling goroutine, and
	// partly before it reads content. All names lie in one directory. An empty name
	// says that there are no more; CreateFirstFree then returns an error for which
	// errors.Is(err, fs.ErrExist) is true. When CreateFirstFree fails, nothing is left under
	// any of the names.
	CreateFirstFree(ctx context.Context, names func(attempt int) string, content io.Reader) (filePath string, err error)
}

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
		*err = fmt.Errorf("store: %s %q: %w", doing, filePath, *err)
	}
}
