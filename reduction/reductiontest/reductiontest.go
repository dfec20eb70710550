// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package reductiontest tests a Backend of your own against what package
// reduction expects of one.
//
// In a test of the package that holds the Backend:
//
//	func TestStore(t *testing.T) {
//		open := func(t *testing.T) reduction.Backend { return newStore(t) }
//		reductiontest.RunBackend(t, open, reductiontest.BackendOptions{})
//	}
//
// Write is always tested. What else the Backend can do is found out by type
// assertion, and tested: [reduction.Reader], [reduction.RangeReader],
// [reduction.Creator], [reduction.Cleaner]. Run it under -race.
package reductiontest

import (
	"context"
	"testing"

	"github.com/leanctx/leanctx/internal/backend/backendtest"
	"github.com/leanctx/leanctx/reduction"
)

// BackendOptions says what a Backend does not promise, and where the suite
// writes. The zero value asks for everything.
type BackendOptions struct {
	// Prefix is the directory inside the store below which everything is written,
	// except by the test of hostile names. Empty: "/backendtest".
	Prefix string
	// MaxBytes is the largest content that the store takes, at least 1 MiB; what is
	// larger is not tried. Zero: no bound that the suite would reach (8 MiB).
	MaxBytes int
	// AnyMissingError: reading a missing file is an error, but need not be
	// fs.ErrNotExist. What is not there then looks like a store that fails.
	AnyMissingError bool
	// IgnoresContext: a call may succeed though its context has ended.
	IgnoresContext bool
	// LiteralPaths: "/a/b" and "a/b" need not be the same file.
	LiteralPaths bool
	// ReadBack reads a content back for a store that has neither Read nor
	// ReadRange. Nil: what such a store keeps is not looked at.
	ReadBack func(ctx context.Context, store reduction.Backend, filePath string) (string, error)
	// Outside fails the test if something was changed outside of the store. It is
	// called after hostile names were tried. Nil: not checked.
	Outside func(t *testing.T)
}

// RunBackend tests a Backend, each part of the contract in a subtest of its own.
// open is called at least once by every subtest; it returns a Backend in which
// nothing is below BackendOptions.Prefix, and releases it with t.Cleanup.
func RunBackend(t *testing.T, open func(t *testing.T) reduction.Backend, opts BackendOptions) {
	t.Helper()
	backendtest.Run(t, open, backendtest.Options(opts))
}
