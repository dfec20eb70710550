// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package einoleantest helps to test agents, and stores and handlers built for einolean.
// It needs only Eino and package testing, and serves both message types.
//
// [Run] runs an agent on a question. Its model is a [Script], a function ([Respond]), or
// a recording of a real one ([Record], [Replay]). Check the outcome with any assertion
// library. [RequireLean] checks what the run cost, and [RequireReadable] that everything
// the tools returned can still be read: byte for byte, or JSON in a compact form.
//
//	m := einoleantest.Script[*schema.Message](einoleantest.Call("report", `{}`), einoleantest.Say("done"))
//	out := einoleantest.Run(t, &adk.ChatModelAgentConfig{Model: m, Handlers: handlers}, "Report.")
//	einoleantest.RequireReadable(t, out, store)
//
// [TestBackend] checks your own store against the contract of package reduction, in a
// test of the store's package:
//
//	func TestStore(t *testing.T) {
//		einoleantest.TestBackend(t, func(t *testing.T) reduction.Backend { return newStore(t) })
//	}
package einoleantest

import (
	"context"
	"testing"

	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// TestBackend tests whether a store meets the contract of [reduction.Backend], one per
// subtest. Write is always tested. Every further interface that the store implements is
// tested too: [store.Reader], [store.RangeReader], [store.Creator]
// and [store.Cleaner]. The whole suite runs twice, the second
// time through [store.Scoped].
//
// Every subtest calls open, which returns a store that holds nothing below
// "/backendtest" and releases it with t.Cleanup. Run the tests with -race.
func TestBackend(t *testing.T, open func(t *testing.T) reduction.Backend) {
	t.Helper()
	t.Run("store", func(t *testing.T) {
		backendtest.Run(t, func(t *testing.T) store.Backend { return open(t) }, backendtest.Options{})
	})
	scope := store.Scope{Key: func(context.Context) (string, error) { return "Acme/42", nil }}
	t.Run("scoped", func(t *testing.T) {
		backendtest.Run(t, func(t *testing.T) store.Backend { return store.Scoped(open(t), scope) }, backendtest.Options{})
	})
}
