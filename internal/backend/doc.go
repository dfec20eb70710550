// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package backend defines what a store of tool results must do, makes safe names for
// it, and holds the two stores that come with leanctx.
//
// [Backend] is Eino's one-method interface: whatever takes a
// [filesystem.WriteRequest] is a store. A store may be able to do more. Each
// such capability is a small interface of its own ([Reader], [RangeReader],
// [Creator], [Cleaner]), found by a type assertion, so that a store implements
// what it can and nothing has to be configured.
//
// File paths are names inside a store, separated by slashes. They are shown to
// models, so they must not be paths of the machine: [Dir] keeps "/tmp/trunc/x"
// as tmp/trunc/x below its own directory.
//
// The conformance suite for all of this is package backendtest.
//
// [filesystem.WriteRequest]: https://pkg.go.dev/github.com/cloudwego/eino/adk/filesystem#WriteRequest
package backend
