// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/backend/backendtest"
	"github.com/leanctx/leanctx/reduction"
)

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

func asTenant(ctx context.Context, tenant string) context.Context {
	return context.WithValue(ctx, tenantKey{}, tenant)
}

func TestAScopedStoreHasThePowersOfItsStore(t *testing.T) {
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
		got, err := endpoint(asTenant(t.Context(), tenant), "{}")
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
