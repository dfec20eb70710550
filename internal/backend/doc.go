// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package backend holds the two stores that come with leanctx, and makes safe names for
// any store. What a store must do, and may do, is declared in package leanctx.
//
// File paths are names inside a store, separated by slashes. They are shown to
// models, so they must not be paths of the machine: [Dir] keeps "/tmp/trunc/x"
// as tmp/trunc/x below its own directory.
//
// The conformance suite for all of this is package backendtest.
package backend
