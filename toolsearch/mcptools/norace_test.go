// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package mcptools

const raceEnabled = false
