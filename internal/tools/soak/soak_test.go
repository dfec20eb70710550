// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNothingIsLostInAFewRuns(t *testing.T) {
	var out bytes.Buffer
	ok, err := soak(context.Background(), options{runs: 120, parallel: 16, limit: time.Minute, seed: 7}, t.TempDir(), &out)
	require.NoError(t, err)
	require.True(t, ok, out.String())
	require.Contains(t, out.String(), "lost: 0")
	require.Contains(t, out.String(), "failing store")
}

func TestALossIsSeen(t *testing.T) {
	total := &tally{}
	total.add(outcome{kind: "store in memory", lost: 3, what: "something"})
	var out bytes.Buffer
	total.print(&out, options{}, gauges{}, gauges{})
	require.Contains(t, out.String(), "lost: 3")
	require.Contains(t, out.String(), "LOST something")
}
