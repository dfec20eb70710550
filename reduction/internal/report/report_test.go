// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
)

func TestReporter_LogsOnlyFailuresWithoutOnEvent(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))

	var r Reporter
	r.Result(context.Background(), "shell", "call_1", Outcome{Kind: einolean.KindResultCleared, Before: 9})
	require.Empty(t, log.String())
	r.Result(context.Background(), "shell", "call_1", Outcome{Kind: einolean.KindStoreFailed, Err: errors.New("disk full")})
	require.Contains(t, log.String(), "disk full")
}

func TestReporter_RecoversFromPanicOfOnEvent(t *testing.T) {
	var got []einolean.Event
	r := Reporter(func(_ context.Context, e einolean.Event) {
		got = append(got, e)
		panic("OnEvent")
	})
	r.Result(context.Background(), "shell", "call_1", Outcome{
		Kind: einolean.KindResultCleared, Before: 400, After: 40, Path: "/tmp/clear/call_1", Rule: ByThreshold,
	})
	require.Len(t, got, 1)
	require.Equal(t, "shell", got[0].Tool)
	require.Equal(t, "call_1", got[0].CallID)
	require.False(t, got[0].Time.IsZero())
	require.Equal(t, &einolean.OutputChange{
		Before: einolean.Size{Bytes: 400, Tokens: 100}, After: einolean.Size{Bytes: 40, Tokens: 10},
		Path: "/tmp/clear/call_1", Rule: ByThreshold,
	}, got[0].Output)
}

func TestRecentKeys_ForgetsOldest(t *testing.T) {
	var s RecentKeys
	for key := range uint64(maxKeys + 2) {
		require.True(t, s.Add(key))
		require.False(t, s.Add(key), "it is there")
	}
	require.Len(t, s.keys, maxKeys)
	for key, has := range map[uint64]bool{0: false, 1: false, 2: true, maxKeys + 1: true} {
		require.Equal(t, has, s.keys[key], "%d", key)
	}
}

func TestKeyOf_SeparatesTexts(t *testing.T) {
	require.Equal(t, KeyOf("a", "bc"), KeyOf("a", "bc"))
	require.NotEqual(t, KeyOf("a", "bc"), KeyOf("ab", "c"))
	require.NotEqual(t, KeyOf("a"), KeyOf("a", ""))
}
