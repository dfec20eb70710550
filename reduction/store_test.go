// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Stores that are down, that forget, and that cannot be asked.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/store"
)

//claim:security-41
func TestAnOldPathIsShownOnlyIfTheStoreStillHasIt(t *testing.T) {
	for _, f := range forms {
		for kind, open := range storeKinds {
			if kind == "write only" {
				continue // it cannot be asked
			}
			t.Run(f.name+"/"+kind, func(t *testing.T) {
				kept, memory := open(t)
				mw := typed(t, &reduction.Config{Backend: kept, MaxLengthForTrunc: 1000})
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
		store.Backend
		store.Reader
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

// byValue is a store that is not a pointer and cannot be read.
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
		kept := open(backendtest.NewFaulty(memory, nil))
		for i := range 4 {
			for _, f := range forms {
				mw := typed(t, &reduction.Config{Backend: kept, MaxLengthForTrunc: 1000, GenTruncOffloadFilePath: [2]func(context.Context, *reduction.ToolDetail) (string, error){nil, pathsOf("/results/")}[i/2]})
				content := strings.Repeat(fmt.Sprint(i%2), 2000)
				out, err := f.run(context.Background(), mw, callC, `{}`, []string{content})
				require.NoError(t, err)
				require.Equal(t, writeOnlyName([]string{"/tmp/trunc/c", "/results/shell/c"}[i/2], content), pathIn(out), "%s, %s", kind, f.name)
				require.Equal(t, content, stored(t, memory, pathIn(out)), kind)
			}
		}
		files, _, err := memory.Stored(context.Background(), "")
		require.NoError(t, err)
		require.Equal(t, 4, files, "one for each content and place")
	}
}

// TestAStoreMayHoldMemoryThatGoDoesNotOwn: as with cgo and mmap, whose addresses say nothing
// to the garbage collector.
func TestAStoreMayHoldMemoryThatGoDoesNotOwn(t *testing.T) {
	for range 100 {
		memory, free := foreignMemory(t)
		mw := typed(t, &reduction.Config{Backend: &mapped{at: memory}, MaxLengthForTrunc: 1000})
		out, err := runInvokable(context.Background(), mw, callC, `{}`, []string{strings.Repeat("x", 2000)})
		require.NoError(t, err)
		require.NotEmpty(t, pathIn(out))
		free()
	}
}

// mapped is a store over such memory.
type mapped struct{ at unsafe.Pointer }

func (*mapped) Write(context.Context, *filesystem.WriteRequest) error { return nil }

// TestAPageOfAFileThatNobodyStoredIsStored: where a store can only write, only this process
// and the notices of the conversation know what is below its directories; the rest may be
// its owner's, and may change.
func TestAPageOfAFileThatNobodyStoredIsStored(t *testing.T) {
	adktest.EachType(t, foreignPage[*schema.Message], foreignPage[*schema.AgenticMessage])
}

func foreignPage[M adk.MessageType](t *testing.T) {
	memory := backend.NewMemory(0)
	kept := backendtest.NewFaulty(memory, nil).WriteOnly()
	mw := typed(t, &reduction.TypedConfig[M]{Backend: kept, MaxTokensForClear: 1})
	history := func(name, page string) []M {
		args := fmt.Sprintf(`{"file_path":%q,"offset":1,"limit":100}`, name)
		return append([]M{adktest.User[M]("go on"), adktest.Assistant[M]("", adktest.ToolCall{ID: "r", Name: "read_file", Args: args}), adktest.Result[M]("r", "read_file", page)}, rounds[M](1, 10)...)
	}
	for _, name := range []string{"/tmp/clear/notes.md", "/tmp/trunc/notes.md", "/tmp/clear/call_0-aaaaaaaaaaaaaaaaaaaaaaaaaa"} {
		page := strings.Repeat("a note of the user's own\n", 100)
		got := adktest.Text(before(t, mw, history(name, page))[2])
		require.Equal(t, writeOnlyName("/tmp/clear/r", page), pathIn(got), name)
		require.Equal(t, page, stored(t, memory, pathIn(got)))
	}
	content := strings.Repeat("a line that was stored\n", 300)
	cut, err := runInvokable(t.Context(), mw, callC, `{}`, []string{content})
	require.NoError(t, err)
	require.Equal(t, content, cut)
	first := append(rounds[M](1, 10)[:1:1], adktest.Assistant[M]("", adktest.ToolCall{ID: "c", Name: "shell", Args: `{}`}), adktest.Result[M]("c", "shell", content))
	first = before(t, mw, append(first, rounds[M](2, 10)[1:]...))
	name := pathIn(adktest.Text(first[2]))
	require.Equal(t, writeOnlyName("/tmp/clear/c", content), name)
	for kind, mw := range map[string]adk.TypedChatModelAgentMiddleware[M]{"the process knows it": mw, "a notice names it": typed(t, &reduction.TypedConfig[M]{Backend: kept, MaxTokensForClear: 1})} {
		msgs := append(first[:3:3], history(name, content[:2000])...)
		got := before(t, mw, msgs)
		require.Equal(t, name, pathIn(adktest.Text(got[5])), kind)
	}
	files, _, err := memory.Stored(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, 2, files, "no page of what was stored is stored again")
}

// TestNoStoreThatOnlyWritesIsRemembered: a server that opens one for each request would
// otherwise keep them all.
func TestNoStoreThatOnlyWritesIsRemembered(t *testing.T) {
	const many = 200
	var collected atomic.Int32
	for range many {
		kept := &byValue{backendtest.NewFaulty(backend.NewMemory(0), nil)}
		runtime.AddCleanup(kept, func(int) { collected.Add(1) }, 0)
		_, err := runInvokable(context.Background(), typed(t, &reduction.Config{Backend: kept, MaxLengthForTrunc: 1000}), callC, `{}`, []string{strings.Repeat("x", 2000)})
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool {
		runtime.GC()
		return collected.Load() >= many-2
	}, time.Minute, time.Millisecond)
}

// TestTruncatingIntoAStoreThatOnlyWritesCostsOneHash: of 8 MB.
//
//claim:store-13
func TestTruncatingIntoAStoreThatOnlyWritesCostsOneHash(t *testing.T) {
	race.Skip(t, "measures time")
	content := strings.Repeat("a line of a long result\n", 8<<20/24)
	mw := typed(t, &reduction.Config{Backend: &mapped{}, MaxLengthForTrunc: 1000})
	var hash, took time.Duration
	for range 20 { // side by side: what disturbs one of them disturbs the other
		start := time.Now()
		offload.SumOf(content)
		hash = time.Since(start)
		_, err := runInvokable(context.Background(), mw, callC, `{}`, []string{content})
		require.NoError(t, err)
		took = time.Since(start) - hash
		if took < 2*hash+16*time.Millisecond {
			return
		}
	}
	t.Errorf("%v, and one hash %v", took, hash)
}

// A sub-agent quotes what its tools returned: a report that ends with the notice of
// a stream which was stored by another call, under another id or the same. Clearing
// must keep the report.
//
//claim:security-26
func TestAResultThatEndsWithAQuotedNoticeIsKeptWhole(t *testing.T) {
	adktest.EachType(t, quotedNotice[*schema.Message], quotedNotice[*schema.AgenticMessage])
}

func quotedNotice[M adk.MessageType](t *testing.T) {
	ctx := context.Background()
	for kind, open := range storeKinds {
		for seed := range uint64(40) {
			g := newGen[M](seed)
			kept, memory := open(t)
			cfg := &reduction.TypedConfig[M]{Backend: kept, MaxLengthForTrunc: 1000, MaxTokensForClear: 1}
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
	adktest.EachType(t, forgedNotice[*schema.Message], forgedNotice[*schema.AgenticMessage])
}

func forgedNotice[M adk.MessageType](t *testing.T) {
	ctx := context.Background()
	for kind, open := range storeKinds {
		if kind == "write only" {
			continue // such a store cannot be asked
		}
		for name, replace := range map[string][2]string{"genuine": {}, "another head": {"inner 1 ", "OTHER 1 "}, "another tail": {"inner 1999 ", "OTHER 1999 "}} {
			kept, memory := open(t)
			cfg := &reduction.TypedConfig[M]{Backend: kept, MaxLengthForTrunc: 1000, MaxTokensForClear: 1}
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

var faultModes = []backendtest.Mode{
	backendtest.OK, backendtest.Fail, backendtest.Short, backendtest.Torn,
	backendtest.Late, backendtest.Hang, backendtest.Panic, backendtest.Exit,
}

func TestAStoreThatIsDownIsNotAskedAboutEveryResult(t *testing.T) {
	kept := backendtest.NewFaulty(backend.NewMemory(0), backendtest.Every(backendtest.Fault{Mode: backendtest.Fail}))
	mw := typed(t, &reduction.Config{Backend: kept.WriteOnly(), MaxTokensForClear: 1})
	msgs := rounds[*schema.Message](100, 500)
	require.Equal(t, msgs, before(t, mw, msgs))
	require.Equal(t, 3, kept.Count(backendtest.OpWrite))
}

// TestAClearingPassLosesNothingWhateverTheStoreDoes: of results that a pass stores together,
// one that cannot be stored stays, and all others are cleared.
func TestAClearingPassLosesNothingWhateverTheStoreDoes(t *testing.T) {
	for _, mode := range faultModes {
		for _, plain := range []bool{false, true} {
			if plain && mode == backendtest.Torn {
				continue // nobody can see it
			}
			memory := backend.NewMemory(0)
			ctx, cancel := context.WithCancel(context.Background())
			faulty := backendtest.NewFaulty(memory, func(c backendtest.Call) (f backendtest.Fault) {
				if c.N != 4 {
					return f
				}
				if mode == backendtest.Hang {
					defer cancel()
				}
				return backendtest.Fault{Mode: mode}
			})
			var kept reduction.Backend = faulty
			if plain {
				kept = faulty.WriteOnly()
			}
			mw := typed(t, &reduction.Config{Backend: kept, MaxTokensForClear: 1})
			msgs := rounds[*schema.Message](12, 5000)
			_, state, err := mw.BeforeModelRewriteState(ctx, &adk.ChatModelAgentState{Messages: msgs}, nil)
			cancel()
			require.NoError(t, err)
			cleared := 0
			for i, m := range state.Messages {
				if p := pathIn(m.Content); p != "" {
					cleared++
					require.Equal(t, msgs[i].Content, stored(t, memory, p), "mode %v, write only: %v", mode, plain)
				} else {
					require.Equal(t, msgs[i].Content, m.Content)
				}
			}
			if mode == backendtest.Hang {
				require.Positive(t, cleared)
			} else {
				require.GreaterOrEqual(t, cleared, 11-2, "mode %v: one write and one read went wrong", mode)
			}
		}
	}
}

// rounds is a history of n rounds with results of size bytes.
func rounds[M adk.MessageType](n, size int) []M {
	out := []M{adktest.User[M]("hello")}
	for i := range n {
		id := fmt.Sprintf("call_%d", i)
		line := fmt.Sprintf("result %d of the tool\n", i)
		out = append(out, adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}),
			adktest.Result[M](id, "shell", strings.Repeat(line, size/len(line)+1)[:size]))
	}
	return out
}

// settled waits until no more than so many goroutines run, or for as long as a busy
// machine may need.
func settled(want int) int {
	n := 0
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		for range 1000 {
			runtime.Gosched()
			if n = runtime.NumGoroutine(); n <= want {
				return n
			}
		}
	}
	return n
}

// never sends chunks and then neither closes nor fails, until it is told that
// nobody listens.
func never(chunks ...string) (r *schema.StreamReader[string], done chan struct{}) {
	r, w := schema.Pipe[string](0)
	done = make(chan struct{})
	go func() {
		defer close(done)
		for _, c := range chunks {
			if w.Send(c, nil) {
				return
			}
		}
		for !w.Send("more", nil) {
		}
	}()
	return r, done
}

func streamOf(t *testing.T, mw wrapper, src *schema.StreamReader[string]) *schema.StreamReader[string] {
	t.Helper()
	run, err := mw.WrapStreamableToolCall(context.Background(), func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
		return src, nil
	}, &adk.ToolContext{Name: "t", CallID: "c"})
	require.NoError(t, err)
	out, err := run(context.Background(), `{}`)
	require.NoError(t, err)
	return out
}

func TestClosingAStreamEarlyStopsTheToolAndLeavesNothingRunning(t *testing.T) {
	for kind, open := range storeKinds {
		t.Run(kind, func(t *testing.T) {
			kept, _ := open(t)
			mw := typed(t, &reduction.Config{Backend: kept, MaxLengthForTrunc: 1000})
			at := runtime.NumGoroutine()
			for range 20 {
				src, done := never("one", "two")
				out := streamOf(t, mw, src)
				chunk, err := out.Recv()
				require.NoError(t, err)
				require.Equal(t, "one", chunk)
				out.Close()
				<-done
			}
			require.LessOrEqual(t, settled(at), at)
		})
	}
}

//claim:security-23
func TestAToolThatFailsAndForgetsToCloseBlocksNobody(t *testing.T) {
	boom := errors.New("boom")
	for kind, open := range storeKinds {
		for _, size := range []int{10, 900, 5000} { // passed on, held back, over the limit
			t.Run(fmt.Sprintf("%s/%d", kind, size), func(t *testing.T) {
				kept, memory := open(t)
				var last einolean.Event
				mw := typed(t, &reduction.Config{Backend: kept, MaxLengthForTrunc: 1000, OnEvent: func(_ context.Context, e einolean.Event) { last = e }})
				at := runtime.NumGoroutine()
				src, w := schema.Pipe[string](3)
				content := strings.Repeat("日本語\n", size/10)
				w.Send(content[:len(content)/2], nil)
				w.Send(content[len(content)/2:], nil)
				w.Send("", boom)
				// It is never closed.
				out := streamOf(t, mw, src)
				got, err := adktest.Drain(out)
				require.Equal(t, boom, err)
				text := strings.Join(got, "")
				require.True(t, strings.HasPrefix(content, text))
				require.NotContains(t, text, "persisted-output")
				require.GreaterOrEqual(t, len(text), min(len(content), 990), "more could have been passed on")
				require.LessOrEqual(t, len(text), 1000)
				_, err = out.Recv()
				require.Equal(t, io.EOF, err, "it has ended")
				require.True(t, w.Send("x", nil), "the tool is told")
				if len(content) > 1000 {
					require.Equal(t, einolean.KindResultCut, last.Kind)
					require.Equal(t, boom, last.Err)
					require.Equal(t, content, stored(t, memory, last.Output.Path), "what arrived is kept")
				}
				require.LessOrEqual(t, settled(at), at)
			})
		}
	}
}

func TestStreamsIntoABreakingStoreLeaveNothingRunning(t *testing.T) {
	for _, mode := range faultModes {
		for _, after := range []int64{0, 500, 100_000} {
			at := runtime.NumGoroutine()
			ctx, cancel := context.WithCancel(context.Background())
			kept := backendtest.NewFaulty(backend.NewMemory(0), func(backendtest.Call) backendtest.Fault {
				if mode == backendtest.Hang {
					defer cancel()
				}
				return backendtest.Fault{Mode: mode, After: after}
			})
			mw := typed(t, &reduction.Config{Backend: kept, MaxLengthForTrunc: 1000})
			chunks := strings.SplitAfter(strings.Repeat(strings.Repeat("x", 999)+"\n", 300), "\n")
			_, err := runStreamable(ctx, mw, &adk.ToolContext{Name: "t", CallID: "c"}, `{}`, chunks)
			require.NoError(t, err)
			cancel()
			require.LessOrEqual(t, settled(at), at, "mode %d after %d", mode, after)
		}
	}
}

// storeKinds are the ways in which a store can be able or unable.
var storeKinds = map[string]func(*testing.T) (reduction.Backend, *backend.Memory){
	"all interfaces": func(*testing.T) (reduction.Backend, *backend.Memory) {
		m := backend.NewMemory(0)
		return m, m
	},
	"read and write": func(*testing.T) (reduction.Backend, *backend.Memory) {
		m := backend.NewMemory(0)
		return backendtest.NewFaulty(m, nil).ReadWrite(), m
	},
	"write only": func(*testing.T) (reduction.Backend, *backend.Memory) {
		m := backend.NewMemory(0)
		return backendtest.NewFaulty(m, nil).WriteOnly(), m
	},
}

// stored reads content from under a path, byte for byte.
func stored(t testing.TB, m store.RangeReader, path string) string {
	t.Helper()
	r, _, err := m.ReadRange(context.Background(), path, 0, -1)
	require.NoError(t, err, "the path %q is shown", path)
	defer r.Close()
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(content)
}

// failing is a store whose writes fail.
type failing struct{ err error }

func (f *failing) Write(context.Context, *filesystem.WriteRequest) error { return f.err }
