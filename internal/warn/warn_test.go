// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package warn

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// said is what is logged.
type said struct{}

func (said) LogValue() slog.Value { return slog.StringValue("full disk") }

// listen returns what slog.Default writes.
func listen(t *testing.T) *bytes.Buffer {
	t.Helper()
	was, out := slog.Default(), &bytes.Buffer{}
	slog.SetDefault(slog.New(slog.NewTextHandler(out, nil)))
	t.Cleanup(func() { slog.SetDefault(was) })
	return out
}

func TestSend_LogsEachKindOncePerMinute(t *testing.T) {
	out := listen(t)
	synctest.Test(t, func(t *testing.T) {
		for minute := range 3 {
			var all sync.WaitGroup
			for i := range 100 {
				all.Go(func() { Send(t.Context(), slog.LevelWarn, []string{"store_failed", "index_failed"}[i%2], said{}) })
			}
			all.Wait()
			for _, kind := range []string{"store_failed", "index_failed"} {
				if n := strings.Count(out.String(), "msg="+kind); n != minute+1 {
					t.Fatalf("minute %d: %s was logged %d times\n%s", minute, kind, n, out)
				}
			}
			if n := strings.Count(out.String(), "left_out=49"); n != 2*minute {
				t.Fatalf("minute %d: %d lines say what was left out\n%s", minute, n, out)
			}
			time.Sleep(interval - time.Nanosecond)
			Send(t.Context(), slog.LevelError, "other", said{})
			time.Sleep(time.Nanosecond)
		}
	})
	if !strings.Contains(out.String(), `einolean="full disk"`) || !strings.Contains(out.String(), "level=ERROR") {
		t.Fatal(out)
	}
}

func TestOnce_LogsEachKindOncePerProcess(t *testing.T) {
	out := listen(t)
	synctest.Test(t, func(t *testing.T) {
		for range 3 {
			Once(t.Context(), "nothing_hidden", said{})
			Once(t.Context(), "other", said{})
			time.Sleep(2 * interval)
		}
	})
	for _, kind := range []string{"nothing_hidden", "other"} {
		if n := strings.Count(out.String(), "level=INFO msg="+kind); n != 1 {
			t.Fatalf("%s was logged %d times\n%s", kind, n, out)
		}
	}
}

func TestSend_IgnoresLowLevelsAndLoggerPanics(t *testing.T) {
	out := listen(t)
	Send(t.Context(), slog.LevelInfo, "result_cut", said{})
	if out.Len() > 0 {
		t.Fatal(out)
	}
	slog.SetDefault(slog.New(panics{}))
	Send(t.Context(), slog.LevelWarn, "store_failed", said{})
}

type panics struct{ slog.Handler }

func (panics) Enabled(context.Context, slog.Level) bool { panic("full disk") }
