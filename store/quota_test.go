// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/store"
)

type request = filesystem.WriteRequest

// flaky is a store of which every method fails now and then: before it has done anything, or after.
type flaky struct {
	*store.Memory
	fails func() bool
}

var errFlaky = errors.New("flaky")

func (f flaky) Write(ctx context.Context, req *request) error {
	if f.fails() {
		return errFlaky
	}
	err := f.Memory.Write(ctx, req)
	if f.fails() {
		return errFlaky
	}
	return err
}

func (f flaky) Create(ctx context.Context, path string, content io.Reader) error {
	if f.fails() {
		content = io.MultiReader(content, flakes{})
	}
	return f.Memory.Create(ctx, path, content)
}

type flakes struct{}

func (flakes) Read([]byte) (int, error) { return 0, errFlaky }

// slow is content that takes its time.
type slow struct {
	io.Reader
	pause func()
}

func (s slow) Read(p []byte) (int, error) {
	s.pause()
	return s.Reader.Read(p[:min(len(p), 100)])
}

// 16 goroutines create, write, overwrite and stream into one scope and the levels below it, while the store keeps
// counting and unused files are deleted. The scope never holds more than MaxBytes, and in the end it can be
// filled.
func TestScope_MaxBytesHoldsUnderConcurrency(t *testing.T) {
	const most, goroutines, calls = 10_000, 16, 60
	seed := rand.Uint64()
	t.Log("seed", seed)
	for _, kind := range []string{"memory", "dir", "flaky"} {
		synctest.Test(t, func(t *testing.T) {
			var memory = store.NewMemory(0)
			var files interface {
				store.Backend
				store.Cleaner
			} = memory
			switch kind {
			case "dir":
				dir, err := store.NewDir(t.TempDir())
				require.NoError(t, err)
				defer dir.Close()
				files = dir
			case "flaky":
				var mu sync.Mutex
				r := rand.New(rand.NewPCG(seed, 1))
				files = flaky{memory, func() bool {
					mu.Lock()
					defer mu.Unlock()
					return r.IntN(6) == 0
				}}
			}
			scoped := store.Scoped(files, store.Scope{MaxBytes: most, Key: byTenant.Key})
			within := func(doing string) {
				for _, key := range []string{"acme/42", "acme"} {
					_, bytes, err := files.Stored(t.Context(), key)
					require.NoError(t, err)
					if bytes > 2*most || key == "acme/42" && bytes > most {
						t.Errorf("%s, seed %d: %s has %d bytes after %s", kind, seed, key, bytes, doing)
					}
				}
			}
			var all sync.WaitGroup
			for g := range goroutines {
				all.Go(func() {
					r := rand.New(rand.NewPCG(seed, uint64(g)))
					for range calls {
						time.Sleep(time.Duration(r.IntN(40)) * time.Second)
						within(use(t, r, scoped, files))
					}
				})
			}
			all.Wait()
			time.Sleep(2 * time.Minute)
			ctx := context.WithValue(t.Context(), tenantKey{}, "acme/42")
			_, bytes, err := files.Stored(ctx, "acme/42")
			require.NoError(t, err)
			if kind == "flaky" {
				return
			}
			rest := strings.Repeat("x", int(most-bytes))
			require.Error(t, scoped.Write(ctx, &request{FilePath: "rest", Content: rest + "x"}))
			require.NoError(t, scoped.Write(ctx, &request{FilePath: "rest", Content: rest}), "what failed or was replaced takes no room")
		})
	}
}

// use does something with a scope, and returns what.
func use(t *testing.T, r *rand.Rand, scoped store.Backend, files store.Cleaner) string {
	ctx := context.WithValue(t.Context(), tenantKey{}, "acme/42")
	if r.IntN(5) == 0 {
		ctx = context.WithValue(ctx, tenantKey{}, "acme")
	}
	path := fmt.Sprintf("/file%d", r.IntN(8))
	content := strings.Repeat("x", r.IntN(4000))
	var err error
	doing := "a write"
	switch r.IntN(4) {
	case 0, 1:
		err = scoped.Write(ctx, &request{FilePath: path, Content: content})
	case 2:
		doing = "a stream"
		pause := time.Duration(r.IntN(10)) * time.Second
		err = scoped.(store.Creator).Create(ctx, path, slow{strings.NewReader(content), func() { time.Sleep(pause) }})
	default:
		doing = "deleting"
		_, _, err = files.DeleteUnused(ctx, "", time.Now().Add(-time.Minute))
	}
	if err != nil {
		doing += ": " + err.Error()
	}
	return doing
}

// A failed write takes no room either.
func TestScope_MaxBytesHoldsWithoutReadsOrCounts(t *testing.T) {
	const most = 10_000
	memory := store.NewMemory(0)
	files := struct{ store.Backend }{memory}
	scoped := store.Scoped(files, store.Scope{MaxBytes: most, Key: byTenant.Key})
	ctx := context.WithValue(t.Context(), tenantKey{}, "acme/42")
	var all sync.WaitGroup
	for g := range 16 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(g)))
			for range 100 {
				_ = scoped.Write(ctx, &request{FilePath: fmt.Sprintf("/file%d", r.IntN(8)), Content: strings.Repeat("x", r.IntN(4000))})
				_, bytes, err := memory.Stored(ctx, "acme/42")
				if err != nil || bytes > most {
					t.Error(bytes, err)
				}
			}
		})
	}
	all.Wait()
	_, bytes, err := memory.Stored(ctx, "acme/42")
	require.NoError(t, err)
	rest := strings.Repeat("x", int(most-bytes))
	require.Error(t, scoped.Write(ctx, &request{FilePath: "rest", Content: rest + "x"}))
	require.NoError(t, scoped.Write(ctx, &request{FilePath: "rest", Content: rest}))
}
