// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// TestMain lets the processes of a soak be this program.
func TestMain(m *testing.M) {
	if child(os.Stdout) {
		os.Exit(0)
	}
	os.Exit(m.Run())
}

//claim:security-42
func TestSoak_LosesNothing(t *testing.T) {
	var out bytes.Buffer
	ok := soak(context.Background(), options{Runs: 160, Parallel: 16, Processes: 2, Kills: 2, Limit: time.Minute, Seed: 7}, t.TempDir(), &out)
	require.True(t, ok, out.String())
	require.Contains(t, out.String(), "lost: 0")
	require.Contains(t, out.String(), "crashes: 0; other problems: 0")
	require.NotContains(t, out.String(), "keeps: 0", "no request built on what a provider keeps")
	require.Contains(t, out.String(), "processes killed: 2")
	require.Regexp(t, `share: [1-9]\d* of 20 conversations`, out.String())
	require.Regexp(t, `deleted with their tenant: [1-9]`, out.String())
	for _, kind := range []string{"failing store", "stream that fails", "kept by Ark", "kept by OpenAI", "tenants of one store", "tenants that are deleted"} {
		require.Contains(t, out.String(), kind)
	}
}

func TestSoak_ReportsFailures(t *testing.T) {
	race.Skip(t, "starts processes that go wrong on purpose")
	for what, c := range map[string]struct {
		runs, kills int
		want        string
	}{
		"store":    {40, 0, "LOST run "},
		"crash":    {1, 0, "CRASH process 0: exit status 2\npanic: broken on purpose"},
		"sessions": {60, 0, "the provider has "},
		"scopes":   {80, 0, " stored: "},
		"files":    {1, 2, "of a process that was killed: 0 bytes"},
		"torn":     {1, 0, "torn is no whole content: 300 bytes"},
		"log":      {9, 0, "ERROR the log has "},
		"leaving":  {80, 0, " are left of a deleted tenant"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			o := options{Runs: c.runs, Parallel: 8, Processes: 1, Kills: c.kills, Limit: time.Minute, Seed: 7, Break: what}
			require.False(t, soak(context.Background(), o, t.TempDir(), &out), out.String())
			require.Contains(t, out.String(), c.want)
		})
	}
}
