// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package reduction keeps tool output from filling up an agent's context, without
// losing a byte of it.
package reduction
