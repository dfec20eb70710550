// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package main

// Eino reads a merged stream while it sets it to be closed, which the race detector sees.
const mergeable = false
