// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/store"
)

// In Eino v0.10 the type is filesystem.AppendRequest, and the result goes into OutputStore.
func ExampleNewAppender() {
	files := store.NewMemory(0)
	output, err := store.NewAppender[filesystem.WriteRequest](files)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	for _, line := range []string{"building\n", "done\n"} {
		if err := output.Append(ctx, &filesystem.WriteRequest{FilePath: "/build.log", Content: line}); err != nil {
			panic(err)
		}
	}
	log, err := files.Read(ctx, &filesystem.ReadRequest{FilePath: "/build.log"})
	fmt.Print(log.Content, err)
	// Output:
	// building
	// done
	// <nil>
}

type request = filesystem.WriteRequest

// appendable are the stores that can add to files.
func appendable(t *testing.T) map[string]store.Backend {
	dir, err := store.NewDir(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dir.Close()) })
	memory := store.NewMemory(0)
	who := func(context.Context) (string, error) { return "acme/42", nil }
	return map[string]store.Backend{
		"dir": dir, "memory": memory,
		"scoped dir": store.Scoped(dir, store.Scope{Key: who}), "scoped memory": store.Scoped(memory, store.Scope{Key: who, MaxBytes: 1 << 20}),
	}
}

// Whatever is written and added, in whatever order and from many goroutines, a file holds all of it.
func TestWhatIsAppendedStaysInAFile(t *testing.T) {
	ctx := context.Background()
	for name, files := range appendable(t) {
		a, err := store.NewAppender[request](files)
		require.NoError(t, err, name)
		require.NoError(t, files.Write(ctx, &request{FilePath: "/log/1", Content: "begun\n"}))
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				for _, file := range []string{"/log/1", "/log/new"} {
					if err := a.Append(ctx, &request{FilePath: file, Content: fmt.Sprintf("line %d\n", i)}); err != nil {
						t.Error(name, err)
					}
				}
			})
		}
		all.Wait()
		for file, lines := range map[string]int{"/log/1": 51, "/log/new": 50} {
			got, err := files.(store.Reader).Read(ctx, &filesystem.ReadRequest{FilePath: file})
			require.NoError(t, err, name)
			require.Equal(t, lines, strings.Count(got.Content, "\n"), name)
			for i := range 50 {
				require.Contains(t, got.Content, fmt.Sprintf("line %d\n", i), name)
			}
		}
		require.Error(t, a.Append(ctx, &request{FilePath: "/../out", Content: "x"}), name)
		require.Error(t, a.Append(ctx, nil), name)
		gone, cancel := context.WithCancel(ctx)
		cancel()
		require.Error(t, a.Append(gone, &request{FilePath: "/log/1", Content: "x"}), name)
	}
	_, err := store.NewAppender[request](struct{ store.Backend }{store.NewMemory(0)})
	require.ErrorContains(t, err, "cannot add to files")
}

// Bounds hold, and nothing outside of a store is touched.
func TestAppendingStaysWithinItsBounds(t *testing.T) {
	ctx := context.Background()
	memory := store.NewMemory(1000)
	a, err := store.NewAppender[request](memory)
	require.NoError(t, err)
	require.NoError(t, a.Append(ctx, &request{FilePath: "/a", Content: strings.Repeat("x", 500)}))
	require.Error(t, a.Append(ctx, &request{FilePath: "/a", Content: strings.Repeat("x", 500)}))
	got, err := memory.Read(ctx, &filesystem.ReadRequest{FilePath: "/a"})
	require.NoError(t, err)
	require.Len(t, got.Content, 500, "what was there stays")

	full := store.Scoped(store.NewMemory(0), store.Scope{MaxBytes: 100, Key: func(context.Context) (string, error) { return "a", nil }})
	if a, err = store.NewAppender[request](full); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, a.Append(ctx, &request{FilePath: "/a", Content: strings.Repeat("x", 60)}))
	require.Error(t, a.Append(ctx, &request{FilePath: "/a", Content: strings.Repeat("x", 60)}))

	root, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(outside, []byte("secret"), 0o600))
	dir, err := store.NewDir(root)
	require.NoError(t, err)
	defer dir.Close()
	require.NoError(t, os.WriteFile(filepath.Join(root, "plain"), nil, 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "out")))
	require.NoError(t, os.Symlink("plain", filepath.Join(root, "in")))
	a, err = store.NewAppender[request](dir)
	require.NoError(t, err)
	for _, file := range []string{"/out", "/in"} {
		require.Error(t, a.Append(ctx, &request{FilePath: file, Content: "x"}), file)
	}
	data, err := os.ReadFile(outside)
	require.NoError(t, err)
	require.Equal(t, "secret", string(data))
}
