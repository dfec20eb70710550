// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package main

// Without the race detector, streams are merged as well.
const mergeable = true
