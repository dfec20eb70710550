// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/store"
)

type tenantKey struct{}

// byTenant is a scope whose key is in the context.
var byTenant = store.Scope{Key: func(ctx context.Context) (string, error) {
	tenant, _ := ctx.Value(tenantKey{}).(string)
	return tenant, nil
}}

// A scoped store has every method, and can do only what the store below it can.
func TestAs_ReportsAbilitiesOfStore(t *testing.T) {
	memory := store.NewMemory(0)
	able := func(b store.Backend) (all [5]bool) {
		_, all[0] = store.As[store.Reader](b)
		_, all[1] = store.As[store.RangeReader](b)
		_, all[2] = store.As[store.Creator](b)
		_, all[3] = store.As[backend.FirstFreeCreator](b)
		_, all[4] = store.As[store.Cleaner](b)
		return all
	}
	type (
		bk = store.Backend
		rd = store.Reader
		cl = store.Cleaner
	)
	reads := struct {
		bk
		rd
	}{memory, memory}
	cleans := struct {
		bk
		cl
	}{memory, memory}
	ctx := context.WithValue(t.Context(), tenantKey{}, "acme/42")
	for _, c := range []struct {
		inner store.Backend
		is    [5]bool
	}{{memory, [5]bool{true, true, true, true, true}}, {struct{ bk }{memory}, [5]bool{}}, {reads, [5]bool{true}}, {cleans, [5]bool{4: true}}} {
		require.Equal(t, c.is, able(c.inner))
		scoped := store.Scoped(c.inner, byTenant)
		require.Equal(t, c.is, able(scoped))
		require.Equal(t, c.is, able(store.Scoped(scoped, byTenant)), "nested")
		require.Equal(t, c.is, able(unwraps{scoped}), "wrapped")

		// What it cannot do is an error for who did not ask.
		all := scoped.(interface {
			store.Reader
			store.RangeReader
			store.Creator
			backend.FirstFreeCreator
			store.Cleaner
		})
		_, lines := all.Read(ctx, &filesystem.ReadRequest{FilePath: "a"})
		_, _, ranges := all.ReadRange(ctx, "a", 0, -1)
		created := all.Create(ctx, "a", strings.NewReader("x"))
		_, any := all.CreateFirstFree(ctx, func(int) string { return "b" }, strings.NewReader("x"))
		for i, err := range []error{lines, ranges, created, any, all.MarkUsed(ctx, "a")} {
			require.Equal(t, !c.is[i], errors.Is(err, errors.ErrUnsupported), "%d: %v", i, err)
			require.True(t, err == nil || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrNotExist), "%v", err)
		}
	}
	require.Equal(t, [5]bool{}, able(nil))
	require.Nil(t, store.Scoped(nil, byTenant))

	// What a wrapper has of its own comes first.
	writes := unwraps{store.Scoped(memory, byTenant)}
	b, ok := store.As[interface{ Unwrap() store.Backend }](writes)
	require.True(t, ok)
	require.Equal(t, writes, b)
}

// unwraps is a store of a user's that stands before another one.
type unwraps struct{ store.Backend }

func (u unwraps) Unwrap() store.Backend { return u.Backend }

// README.md shows the code of ExampleScoped.
func TestReadme_ShowsExampleScoped(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, region, found := strings.Cut(string(readme), "<!-- region: tenants -->\n```go\n")
	require.True(t, found)
	region, _, found = strings.Cut(region, "```")
	require.True(t, found)
	example, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	require.Contains(t, string(example), "\t"+strings.ReplaceAll(strings.TrimSpace(region), "\n", "\n\t"))
}

// A history may contain any name. An invalid one does not prevent other files from being marked as used.
func TestMarkUsed_SkipsInvalidPaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.WithValue(t.Context(), tenantKey{}, "acme/42")
		memory := store.NewMemory(0)
		scoped := store.Scoped(memory, byTenant)
		for name, files := range map[string]store.Backend{"memory": memory, "a scope": scoped, "a scope in a scope": store.Scoped(scoped, byTenant)} {
			require.NoError(t, files.Write(ctx, &request{FilePath: "/used", Content: "x"}))
			time.Sleep(3 * time.Hour)
			cleaner, _ := store.As[store.Cleaner](files)
			require.ErrorIs(t, cleaner.MarkUsed(ctx, "/../secret", strings.Repeat("x", 2000), "/missing", "/used"), fs.ErrInvalid, name)
			_, _, err := memory.DeleteUnused(ctx, "", time.Now().Add(-time.Hour))
			require.NoError(t, err)
			count, _, err := cleaner.Stored(ctx, "")
			require.NoError(t, err)
			require.Equal(t, 1, count, name)
			_, _, err = memory.DeleteUnused(ctx, "", time.Now().Add(time.Hour))
			require.NoError(t, err)
		}
	})
}
