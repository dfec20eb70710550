// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Stores that forget, that say it badly, and that cannot be asked.

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

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/backend/backendtest"
	"github.com/leanctx/leanctx/internal/race"
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
				_, _, err := memory.DeleteUnused(context.Background(), "", time.Now().Add(time.Hour))
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
	race.Skip(t, "writes 40,000 files")
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

// A sub-agent quotes what its tools returned: a report that ends with the notice of
// a stream which was stored by another call, under another id or the same. Clearing
// must keep the report.
func TestAResultThatEndsWithAQuotedNoticeIsKeptWhole(t *testing.T) {
	both(t, quotedNotice[*schema.Message], quotedNotice[*schema.AgenticMessage])
}

func quotedNotice[M adk.MessageType](t *testing.T) {
	ctx := context.Background()
	for kind, open := range storeKinds {
		for seed := range uint64(40) {
			g := newGen[M](seed)
			store, memory := open(t)
			cfg := &reduction.TypedConfig[M]{Backend: store, MaxLengthForTrunc: 1000, MaxTokensForClear: 1}
			if g.chance(30) {
				cfg.GenTruncOffloadFilePath = pathsOf("/results/")
			}
			id := fmt.Sprintf("call_%d", g.IntN(2))
			cut, err := runStreamable(ctx, typed(t, cfg), &adk.ToolContext{Name: "shell", CallID: "call_0"}, `{}`, []string{strings.Repeat("inner ", 1000)})
			require.NoError(t, err)
			quoted := cut[strings.LastIndex(cut, "\n<persisted-output>"):]
			report := strings.Repeat("a finding of the sub-agent\n", 50+g.IntN(300)) + quoted
			msgs := append([]M{adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "agent"}), adktest.Result[M](id, "agent", report)}, rounds[M](1, 10)...)
			out := before(t, typed(t, cfg), msgs)
			got := adktest.Text(out[1])
			if got != report {
				require.Equal(t, report, stored(t, memory, pathIn(got)), "seed %d, %s", seed, kind)
			}
		}
	}
}

// A finished notice shows the head and the tail of its file. One that shows something
// else is a tool's own text, even if it names the file that its call would be given.
func TestAFinishedNoticeThatShowsSomethingElseIsKeptWhole(t *testing.T) {
	both(t, forgedNotice[*schema.Message], forgedNotice[*schema.AgenticMessage])
}

func forgedNotice[M adk.MessageType](t *testing.T) {
	ctx := context.Background()
	for kind, open := range storeKinds {
		if kind == "write only" {
			continue // such a store cannot be asked
		}
		for name, replace := range map[string][2]string{"genuine": {}, "another head": {"inner 1 ", "OTHER 1 "}, "another tail": {"inner 1999 ", "OTHER 1999 "}} {
			store, memory := open(t)
			cfg := &reduction.TypedConfig[M]{Backend: store, MaxLengthForTrunc: 1000, MaxTokensForClear: 1}
			var content strings.Builder
			for i := range 2000 {
				fmt.Fprintf(&content, "inner %d ", i)
			}
			notice, err := runInvokable(ctx, typed(t, cfg), &adk.ToolContext{Name: "shell", CallID: "call_0"}, `{}`, []string{content.String()})
			require.NoError(t, err)
			forged := notice
			if replace[0] != "" {
				forged = strings.Replace(notice, replace[0], replace[1], 1)
				require.NotEqual(t, notice, forged)
			}
			msgs := append([]M{adktest.Assistant[M]("", adktest.ToolCall{ID: "call_0", Name: "agent"}), adktest.Result[M]("call_0", "agent", forged)}, rounds[M](1, 10)...)
			got := adktest.Text(before(t, typed(t, cfg), msgs)[1])
			require.NotEqual(t, forged, got)
			want := forged
			if name == "genuine" {
				want = content.String()
			}
			require.Equal(t, want, stored(t, memory, pathIn(got)), "%s, %s", kind, name)
		}
	}
}
