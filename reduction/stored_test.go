// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// This file holds stores that forget, that say it badly, and that cannot be asked.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/backend/backendtest"
	"github.com/leanctx/leanctx/reduction"
)

func TestAnOldPathIsShownOnlyIfTheStoreStillHasIt(t *testing.T) {
	for _, f := range forms {
		for kind, open := range storeKinds {
			if kind == "write only" {
				continue // it cannot be asked
			}
			t.Run(f.name+"/"+kind, func(t *testing.T) {
				store, memory := open(t)
				mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000})
				chunks := []string{strings.Repeat("a", 900), strings.Repeat("b", 900)}
				run := func() string {
					out, err := f.run(context.Background(), mw, callC, `{}`, chunks)
					require.NoError(t, err)
					return pathIn(out)
				}
				first := run()
				require.Equal(t, first, run(), "the same content under the same id is one file")
				_, err := memory.DeleteOlderThan(context.Background(), "", time.Now().Add(time.Hour))
				require.NoError(t, err)
				require.Equal(t, strings.Join(chunks, ""), stored(t, memory, run()), "deleted")
				second := run()
				require.NoError(t, memory.Write(context.Background(), &filesystem.WriteRequest{FilePath: second, Content: strings.Repeat("z", 1800)}))
				require.Equal(t, strings.Join(chunks, ""), stored(t, memory, run()), "replaced by content of the same size")
			})
		}
	}
}

// unclear is a store whose reads fail without a type.
type unclear struct {
	*backend.Memory
	text string
}

func (u unclear) readWrite() reduction.Backend {
	return struct {
		backend.Backend
		backend.Reader
	}{u.Memory, u}
}

func (u unclear) Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	return nil, errors.New(u.text)
}

func TestAnErrorThatOnlySoundsLikeMissingLetsNothingBeWrittenOver(t *testing.T) {
	for _, text := range []string{"host not found", "access key not found", "NoSuchBucket: does not exist", "no such file service", "file not found: /another/file"} {
		for _, f := range forms {
			memory := backend.NewMemory(0)
			const theirs = "what another process wrote"
			require.NoError(t, memory.Write(context.Background(), &filesystem.WriteRequest{FilePath: "/tmp/trunc/c", Content: theirs}))
			mw := typed(t, &reduction.Config{Backend: unclear{memory, text}.readWrite(), MaxLengthForTrunc: 1000})
			content := strings.Repeat("x", 2000)
			out, err := f.run(context.Background(), mw, callC, `{}`, []string{content})
			require.NoError(t, err)
			require.Equal(t, theirs, stored(t, memory, "/tmp/trunc/c"), "%s, %s", text, f.name)
			require.Equal(t, content, stored(t, memory, pathIn(out)), "%s, %s: still of use", text, f.name)
		}
	}
}

func TestEinosOwnStoreSaysThatAFileIsMissing(t *testing.T) {
	mw := typed(t, &reduction.Config{Backend: filesystem.NewInMemoryBackend(), MaxLengthForTrunc: 1000})
	for _, f := range forms {
		out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: "shell", CallID: f.name[:4]}, `{}`, []string{strings.Repeat("x", 2000)})
		require.NoError(t, err)
		require.Equal(t, "/tmp/trunc/"+f.name[:4], pathIn(out))
	}
}

// byValue is a store that is no pointer and cannot be read.
type byValue struct{ to *backendtest.Faulty }

func (b byValue) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	return b.to.Write(ctx, req)
}

// byFunc is one that cannot even be compared.
type byFunc func(context.Context, *filesystem.WriteRequest) error

func (f byFunc) Write(ctx context.Context, req *filesystem.WriteRequest) error { return f(ctx, req) }

func TestStoresThatOnlyWriteAreNotWrittenOverByTheNextMiddleware(t *testing.T) {
	for kind, open := range map[string]func(*backendtest.Faulty) reduction.Backend{
		"value":        func(f *backendtest.Faulty) reduction.Backend { return byValue{f} },
		"incomparable": func(f *backendtest.Faulty) reduction.Backend { return byFunc(f.Write) },
		"pointer":      func(f *backendtest.Faulty) reduction.Backend { return &byValue{f} },
	} {
		memory := backend.NewMemory(0)
		faulty := backendtest.NewFaulty(memory, nil)
		store := open(faulty)
		want := map[string]string{}
		for i := range 4 {
			mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000})
			for _, size := range []int{2000, 200_000} {
				content := strings.Repeat(fmt.Sprint(i), size)
				out, err := runInvokable(context.Background(), mw, callC, `{}`, []string{content})
				require.NoError(t, err)
				require.NotEmpty(t, pathIn(out), kind)
				want[pathIn(out)] = content
			}
		}
		require.Len(t, want, 8, kind)
		for path, content := range want {
			require.Equal(t, content, stored(t, memory, path), "%s: %s", kind, path)
		}
	}
}

func TestAForgottenNameIsNotWrittenOver(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 40,000 files")
	}
	memory := backend.NewMemory(0)
	mw := typed[*schema.Message](t, &reduction.Config{Backend: backendtest.NewFaulty(memory, nil).WriteOnly(), MaxLengthForTrunc: 1000})
	cut := func(id, content string) string {
		out, err := runInvokable(context.Background(), mw, &adk.ToolContext{Name: "shell", CallID: id}, `{}`, []string{content})
		require.NoError(t, err)
		return pathIn(out)
	}
	first := strings.Repeat("first", 300)
	path := cut("c", first)
	for i := range 40_000 {
		cut(fmt.Sprint("other", i), strings.Repeat("x", 1001))
	}
	second := strings.Repeat("second", 300)
	require.Equal(t, second, stored(t, memory, cut("c", second)))
	require.Equal(t, first, stored(t, memory, path))
}
