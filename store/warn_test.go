// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/store"
)

// logged returns what f logs to slog.Default.
func logged(t *testing.T, f func()) string {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	f()
	return log.String()
}

// onlyWrites is a store that can do nothing else.
type onlyWrites struct{ *store.Memory }

func (onlyWrites) MarkUsed() {} // hides the method of a store.Cleaner

func TestScoped_WarnsIfStoreCannotCount(t *testing.T) {
	for _, c := range []struct {
		store store.Backend
		max   int64
		warns bool
	}{
		{onlyWrites{store.NewMemory(0)}, 1000, true},
		{onlyWrites{store.NewMemory(0)}, 0, false},
		{store.NewMemory(0), 1000, false},
	} {
		log := logged(t, func() { store.Scoped(c.store, store.Scope{MaxBytes: c.max}) })
		require.Equal(t, c.warns, strings.Contains(log, "scope_not_counted"), log)
	}
}

func TestScoped_BrokenKeyWarnsOnceAMinute(t *testing.T) {
	for _, key := range []func(context.Context) (string, error){
		func(context.Context) (string, error) { return "", errors.New("no tenant") },
		func(context.Context) (string, error) { return "", nil },
		func(context.Context) (string, error) { panic("no tenant") },
	} {
		log := logged(t, func() {
			scoped := store.Scoped(store.NewMemory(0), store.Scope{Key: key})
			for range 10 {
				require.Error(t, scoped.Write(t.Context(), &request{FilePath: "/a", Content: "x"}))
			}
		})
		require.Equal(t, 1, strings.Count(log, "scope_key_failed"), log)
	}
}
