// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Stores that are down, that forget, that cannot be asked, and that are scoped.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx"
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
	race.Skip(t, "writes 33,000 files")
	memory := backend.NewMemory(0)
	mw := typed[*schema.Message](t, &reduction.Config{Backend: backendtest.NewFaulty(memory, nil).WriteOnly(), MaxLengthForTrunc: 1000})
	cut := func(id, content string) string {
		out, err := runInvokable(context.Background(), mw, &adk.ToolContext{Name: "shell", CallID: id}, `{}`, []string{content})
		require.NoError(t, err)
		return pathIn(out)
	}
	first := strings.Repeat("first", 300)
	path := cut("c", first)
	for i := range 33_000 { // more than are remembered
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

var faultModes = []backendtest.Mode{
	backendtest.OK, backendtest.Fail, backendtest.Short, backendtest.Torn,
	backendtest.Late, backendtest.Hang, backendtest.Panic,
}

func TestAStoreThatIsDownIsNotAskedAboutEveryResult(t *testing.T) {
	store := backendtest.NewFaulty(backend.NewMemory(0), backendtest.Every(backendtest.Fault{Mode: backendtest.Fail}))
	mw := typed(t, &reduction.Config{Backend: store.WriteOnly(), MaxTokensForClear: 1})
	msgs := rounds[*schema.Message](100, 500)
	require.Equal(t, msgs, before(t, mw, msgs))
	require.Equal(t, 3, store.Count(backendtest.OpWrite))
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
			store, _ := open(t)
			mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000})
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

func TestAToolThatFailsAndForgetsToCloseBlocksNobody(t *testing.T) {
	boom := errors.New("boom")
	for kind, open := range storeKinds {
		for _, size := range []int{10, 900, 5000} { // passed on, held back, over the limit
			t.Run(fmt.Sprintf("%s/%d", kind, size), func(t *testing.T) {
				store, memory := open(t)
				var last leanctx.Event
				mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000, OnEvent: func(_ context.Context, e leanctx.Event) { last = e }})
				at := runtime.NumGoroutine()
				src, w := schema.Pipe[string](3)
				content := strings.Repeat("日本語\n", size/10)
				w.Send(content[:len(content)/2], nil)
				w.Send(content[len(content)/2:], nil)
				w.Send("", boom)
				// It is never closed.
				out := streamOf(t, mw, src)
				got, err := drain(out)
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
					require.Equal(t, leanctx.KindResultCut, last.Kind)
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
			store := backendtest.NewFaulty(backend.NewMemory(0), func(backendtest.Call) backendtest.Fault {
				if mode == backendtest.Hang {
					defer cancel()
				}
				return backendtest.Fault{Mode: mode, After: after}
			})
			mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000})
			chunks := strings.SplitAfter(strings.Repeat(strings.Repeat("x", 999)+"\n", 300), "\n")
			_, err := runStreamable(ctx, mw, &adk.ToolContext{Name: "t", CallID: "c"}, `{}`, chunks)
			require.NoError(t, err)
			cancel()
			require.LessOrEqual(t, settled(at), at, "mode %d after %d", mode, after)
		}
	}
}

// as returns a scope with a fixed key.
func as(key string) reduction.Scope {
	return reduction.Scope{Key: func(context.Context) (string, error) { return key, nil }}
}

type tenantKey struct{}

// byTenant is a scope whose key is in the context.
var byTenant = reduction.Scope{Key: func(ctx context.Context) (string, error) {
	tenant, _ := ctx.Value(tenantKey{}).(string)
	return tenant, nil
}}

func TestAScopedStoreHasTheInterfacesOfItsStore(t *testing.T) {
	m := backend.NewMemory(0)
	for _, store := range append(powerSets(m), m) {
		scoped := reduction.Scoped(store, as("a"))
		require.Equal(t, powersOf(store), powersOf(scoped), "%T", store)
		require.NotImplements(t, (*reduction.Cleaner)(nil), scoped)
	}
	require.Nil(t, reduction.Scoped(nil, as("a")))
}

// recorder keeps the paths that a store was asked for.
type recorder struct {
	*backend.Memory
	mu    sync.Mutex
	paths []string
}

func (r *recorder) note(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paths = append(r.paths, path)
}

func (r *recorder) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	r.note(req.FilePath)
	return r.Memory.Write(ctx, req)
}

func (r *recorder) Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	r.note(req.FilePath)
	return r.Memory.Read(ctx, req)
}

func (r *recorder) ReadRange(ctx context.Context, path string, offset, length int64) (io.ReadCloser, int64, error) {
	r.note(path)
	return r.Memory.ReadRange(ctx, path, offset, length)
}

func (r *recorder) Create(ctx context.Context, path string, content io.Reader) error {
	r.note(path)
	return r.Memory.Create(ctx, path, content)
}

func (r *recorder) CreateAny(ctx context.Context, names func(int) string, content io.Reader) (string, error) {
	return r.Memory.CreateAny(ctx, func(attempt int) string {
		name := names(attempt)
		if name != "" {
			r.note(name)
		}
		return name
	}, content)
}

// ways are all calls that a scoped store takes for a path.
func ways(b reduction.Backend) map[string]func(ctx context.Context, path string) error {
	return map[string]func(ctx context.Context, path string) error{
		"Write": func(ctx context.Context, path string) error {
			return b.Write(ctx, &filesystem.WriteRequest{FilePath: path, Content: "content"})
		},
		"Read": func(ctx context.Context, path string) error {
			_, err := b.(reduction.Reader).Read(ctx, &filesystem.ReadRequest{FilePath: path})
			return err
		},
		"ReadRange": func(ctx context.Context, path string) error {
			_, _, err := b.(reduction.RangeReader).ReadRange(ctx, path, 0, -1)
			return err
		},
		"Create": func(ctx context.Context, path string) error {
			return b.(reduction.Creator).Create(ctx, path, strings.NewReader("content"))
		},
		"CreateAny": func(ctx context.Context, path string) error {
			got, err := b.(reduction.AnyCreator).CreateAny(ctx, func(n int) string { return path + strings.Repeat("x", n) }, strings.NewReader("content"))
			if err == nil && !strings.HasPrefix(got, path) {
				return fmt.Errorf("CreateAny returned %q for %q", got, path)
			}
			return err
		},
	}
}

var scopeKeys = []string{
	"a", "a/b", "a/", "/a", "A", "a=2fb", "a=", "=", "==", ".", "..", "../a", "a/../b", "...", " ", "a ", "con", "CON", "con.txt",
	"münchen", "MÜNCHEN", "mu\u0308nchen", "東京/1", "İ", "i", "I", "ı", "\x00", "\xff", "tmp", "acme/42", "acme", "acme:42", "Acme/42", ".leanctx-a", ".LEANCTX-a",
	strings.Repeat("k", 128), strings.Repeat("k", 129), strings.Repeat("k", 10_000), strings.Repeat("K", 129), strings.Repeat("k/", 100),
}

// TestNoTwoScopesShareAFile: whatever a key and a path are, what one scope names is in
// its own directory, which no other key has, on file systems that ignore case too.
func TestNoTwoScopesShareAFile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	keys := append([]string(nil), scopeKeys...)
	for range 300 {
		b := make([]byte, 1+random.IntN(6))
		for i := range b {
			b[i] = "aAbB/.=:2f-\xc3\xa9"[random.IntN(13)]
		}
		keys = append(keys, string(b))
	}
	paths := []string{"/tmp/trunc/x", "c", "b/c", "../a/c", "/../../a/c", "a/../../b/c", "..", ".", "", "x\x00y"}
	owner := make(map[string]string)
	for _, key := range keys {
		inner := &recorder{Memory: backend.NewMemory(0)}
		for _, call := range ways(reduction.Scoped(inner, as(key))) {
			for _, path := range paths {
				_ = call(t.Context(), path)
			}
		}
		require.NotEmpty(t, inner.paths)
		for _, path := range inner.paths {
			parts := strings.Split(path, "/")
			require.Empty(t, parts[0], "%q is not absolute", path)
			require.NotContains(t, []string{"", ".", ".."}, parts[1], "the directory of key %q", key)
			require.NotContains(t, parts[2:], "..", "key %q", key)
			dir := strings.ToLower(parts[1])
			if other, known := owner[dir]; known {
				require.Equal(t, other, key, "the keys %q and %q have one directory, %q", other, key, dir)
			}
			owner[dir] = key
		}
	}
}

var errNoSession = errors.New("no session")

// badScopes are all the ways in which a scope can fail.
var badScopes = map[string]reduction.Scope{
	"no function":   {},
	"empty key":     as(""),
	"error":         {Key: func(context.Context) (string, error) { return "a", errNoSession }},
	"missing file":  {Key: func(context.Context) (string, error) { return "a", fs.ErrNotExist }},
	"existing file": {Key: func(context.Context) (string, error) { return "a", fs.ErrExist }},
	"panic":         {Key: func(context.Context) (string, error) { panic("no session") }},
}

func TestAScopeWithoutAKeyReachesNothing(t *testing.T) {
	for name, scope := range badScopes {
		inner := &recorder{Memory: backend.NewMemory(0)}
		for way, call := range ways(reduction.Scoped(inner, scope)) {
			err := call(t.Context(), "/x")
			require.Error(t, err, "%s, %s", name, way)
			require.NotErrorIs(t, err, fs.ErrNotExist, "%s, %s: nobody knows whether the file exists", name, way)
			require.NotErrorIs(t, err, fs.ErrExist, "%s, %s", name, way)
		}
		require.Empty(t, inner.paths, name)
	}
	err := reduction.Scoped(backend.NewMemory(0), badScopes["error"]).Write(t.Context(), &filesystem.WriteRequest{FilePath: "/x"})
	require.ErrorIs(t, err, errNoSession)
}

// TestAScopeWithoutAKeyKeepsTheResult: in a whole agent the run goes on, the result
// stays in the conversation, and nothing is stored.
func TestAScopeWithoutAKeyKeepsTheResult(t *testing.T) {
	for name, scope := range badScopes {
		t.Run(name, func(t *testing.T) {
			inner := &recorder{Memory: backend.NewMemory(0)}
			adktest.Both(t,
				func(t *testing.T, streaming bool) {
					keepsTheResult[*schema.Message](t, reduction.Scoped(inner, scope), streaming)
				},
				func(t *testing.T, streaming bool) {
					keepsTheResult[*schema.AgenticMessage](t, reduction.Scoped(inner, scope), streaming)
				})
			require.Empty(t, inner.paths)
		})
	}
}

func keepsTheResult[M adk.MessageType](t *testing.T, store reduction.Backend, streaming bool) {
	mw, err := reduction.NewTyped(t.Context(), &reduction.TypedConfig[M]{Backend: store, ProvideReadTool: true, MaxLengthForTrunc: 4000})
	require.NoError(t, err)
	result := strings.Repeat("a line of the report\n", 1000)
	model := adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "call_0", Name: "report", Args: "{}"}), adktest.Say("done"))
	report := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "report", Desc: "report"}, func(context.Context, string) (string, error) { return result, nil })
	out := adktest.Agent[M]{Model: model, Tools: []tool.BaseTool{report}, Handlers: adktest.Handlers(mw), Streaming: streaming}.
		Run(t.Context(), []M{adktest.User[M]("report")})
	require.NoError(t, out.Err)
	last := model.Wires()[1].Messages
	results := adktest.Results(last[len(last)-1])
	require.Len(t, results, 1)
	require.Equal(t, result, results[0].Args)
}

// TestScopesOfOneStoreShareWhatIsKnownOfIt: a store that can only write is not written
// over by another middleware over the same store and scope, while another scope has
// the name for itself.
func TestScopesOfOneStoreShareWhatIsKnownOfIt(t *testing.T) {
	inner := backend.NewMemory(0)
	store := backendtest.NewFaulty(inner, nil).WriteOnly()
	wrapped := &struct{ reduction.Backend }{store}
	cut := func(tenant, content string) string {
		mw, err := reduction.New(t.Context(), &reduction.Config{Backend: reduction.Scoped(wrapped, byTenant), MaxLengthForTrunc: 1000})
		require.NoError(t, err)
		endpoint, err := mw.WrapInvokableToolCall(t.Context(), func(context.Context, string, ...tool.Option) (string, error) { return content, nil },
			&adk.ToolContext{Name: "report", CallID: "call_0"})
		require.NoError(t, err)
		got, err := endpoint(context.WithValue(t.Context(), tenantKey{}, tenant), "{}")
		require.NoError(t, err)
		require.NotEqual(t, content, got)
		return got
	}
	contents := map[string]string{}
	for i, tenant := range []string{"a", "b", "a", "b/c"} {
		content := strings.Repeat(fmt.Sprintln(tenant, i), 2000)
		notice := cut(tenant, content)
		require.NotContains(t, notice, "=2f", "the key is in a notice")
		if i == 2 {
			require.NotContains(t, notice, "/tmp/trunc/call_0\n")
			continue
		}
		contents[[]string{"/a", "/b", "", "/b=2fc"}[i]+"/tmp/trunc/call_0"] = content
	}
	for path, content := range contents {
		require.Equal(t, content, stored(t, inner, path))
	}
}

// TestTheReadmesServerIsTheExample: what README.md shows is the code of ExampleScoped.
func TestTheReadmesServerIsTheExample(t *testing.T) {
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

func TestAScopeStoresNoMoreThanItMay(t *testing.T) {
	ctx := context.Background()
	memory := reduction.NewMemoryBackend(0)
	scoped := func(key string) reduction.Backend {
		return reduction.Scoped(memory, reduction.Scope{MaxBytes: 3000, Key: func(context.Context) (string, error) { return key, nil }})
	}
	one := scoped("one")
	require.NoError(t, one.Write(ctx, &filesystem.WriteRequest{FilePath: "a", Content: strings.Repeat("x", 1000)}))
	require.NoError(t, one.(reduction.Creator).Create(ctx, "b", strings.NewReader(strings.Repeat("x", 1000))))
	_, err := one.(reduction.AnyCreator).CreateAny(ctx, func(int) string { return "c" }, strings.NewReader(strings.Repeat("x", 1001)))
	require.ErrorContains(t, err, "MaxBytes")
	require.ErrorContains(t, one.(reduction.Creator).Create(ctx, "c", strings.NewReader(strings.Repeat("x", 1001))), "MaxBytes")
	require.ErrorContains(t, one.Write(ctx, &filesystem.WriteRequest{FilePath: "c", Content: strings.Repeat("x", 1001)}), "MaxBytes")
	require.NoError(t, one.Write(ctx, &filesystem.WriteRequest{FilePath: "d", Content: strings.Repeat("x", 1000)}), "what failed took no room")
	require.ErrorContains(t, scoped("one").Write(ctx, &filesystem.WriteRequest{FilePath: "e", Content: "x"}), "MaxBytes", "what is there counts for another process")
	require.NoError(t, scoped("two").Write(ctx, &filesystem.WriteRequest{FilePath: "e", Content: "x"}), "another scope has room")
	files, bytes, err := memory.Stored(ctx, "one")
	require.NoError(t, err)
	require.Equal(t, 3, files)
	require.EqualValues(t, 3000, bytes)

	var failed []error
	mw := typed(t, &reduction.Config{Backend: one, MaxLengthForTrunc: 1000, OnEvent: func(_ context.Context, e leanctx.Event) {
		if e.Kind == leanctx.KindStoreFailed {
			failed = append(failed, e.Err)
		}
	}})
	for _, f := range forms {
		whole := strings.Repeat("a line\n", 300)
		got, err := f.run(ctx, mw, &adk.ToolContext{Name: "shell", CallID: f.name}, `{}`, []string{whole})
		require.NoError(t, err)
		if !f.stream {
			require.Equal(t, whole, got, "%s: the result stays in the conversation", f.name)
		}
	}
	require.Len(t, failed, len(forms))
	for _, err := range failed {
		require.ErrorContains(t, err, "MaxBytes")
	}
}
