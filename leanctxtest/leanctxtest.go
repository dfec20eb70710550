// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package leanctxtest helps to test agents, and stores and handlers built for leanctx.
// It needs only Eino and package testing, and serves both message types.
//
// [Run] runs an agent on a question. Its model is a [Script], a function ([Respond]), or
// a recording of a real one ([Record], [Replay]). Check the outcome with any assertion
// library. [RequireLean] checks what the run cost, and [RequireReadable] that everything
// the tools returned can still be read, byte for byte.
//
//	m := leanctxtest.Script[*schema.Message](leanctxtest.Call("report", `{}`), leanctxtest.Say("done"))
//	out := leanctxtest.Run(t, &adk.ChatModelAgentConfig{Model: m, Handlers: handlers}, "Report.")
//	leanctxtest.RequireReadable(t, out, store)
//
// [TestBackend] checks your own store against the contract of package reduction, in a
// test of the store's package:
//
//	func TestStore(t *testing.T) {
//		leanctxtest.TestBackend(t, func(t *testing.T) reduction.Backend { return newStore(t) })
//	}
package leanctxtest

import (
	"context"
	"testing"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/backend/backendtest"
	"github.com/leanctx/leanctx/reduction"
)

// TestBackend tests whether a store keeps the promises of [reduction.Backend], one per
// subtest. Write is always tested. Every further interface that the store implements is
// tested too: [reduction.Reader], [reduction.RangeReader], [reduction.Creator],
// [reduction.AnyCreator], [reduction.Cleaner]. The whole suite runs twice, the second
// time through [reduction.Scoped].
//
// Every subtest calls open, which returns a store that holds nothing below
// "/backendtest" and releases it with t.Cleanup. Run the tests with -race.
func TestBackend(t *testing.T, open func(t *testing.T) reduction.Backend) {
	t.Helper()
	t.Run("store", func(t *testing.T) {
		backendtest.Run(t, func(t *testing.T) leanctx.Backend { return open(t) }, backendtest.Options{})
	})
	scope := reduction.Scope{Key: func(context.Context) (string, error) { return "Acme/42", nil }}
	t.Run("scoped", func(t *testing.T) {
		backendtest.Run(t, func(t *testing.T) leanctx.Backend { return reduction.Scoped(open(t), scope) }, backendtest.Options{})
	})
}
