// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package leanctxtest helps to test what is built with leanctx.
//
// A store of your own is held against what package reduction expects of one, in a
// test of the package that the store is in:
//
//	func TestStore(t *testing.T) {
//		leanctxtest.TestBackend(t, func(t *testing.T) reduction.Backend { return newStore(t) })
//	}
package leanctxtest

import (
	"context"
	"testing"

	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/backend/backendtest"
	"github.com/leanctx/leanctx/reduction"
)

// TestBackend tests whether a store keeps what [reduction.Backend] promises, each
// part in a subtest of its own. Write is always tested. Every further power is found
// by a type assertion and tested too: [reduction.Reader], [reduction.RangeReader],
// [reduction.Creator], [reduction.AnyCreator], [reduction.Cleaner]. The whole suite
// runs twice, the second time through [reduction.Scoped].
//
// Every subtest calls open, which returns a store that holds nothing below
// "/backendtest" and releases it with t.Cleanup. Run the tests with -race.
func TestBackend(t *testing.T, open func(t *testing.T) reduction.Backend) {
	t.Helper()
	t.Run("store", func(t *testing.T) {
		backendtest.Run(t, func(t *testing.T) backend.Backend { return open(t) }, backendtest.Options{})
	})
	scope := reduction.Scope{Key: func(context.Context) (string, error) { return "Acme/42", nil }}
	t.Run("scoped", func(t *testing.T) {
		backendtest.Run(t, func(t *testing.T) backend.Backend { return reduction.Scoped(open(t), scope) }, backendtest.Options{})
	})
}
