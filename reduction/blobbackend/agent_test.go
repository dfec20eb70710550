// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend_test

import "context"

type task struct {
	Do      string
	Command []string
}

func (t task) agent(ctx context.Context) error { return nil }
