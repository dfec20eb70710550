// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// store.Scoped in whole agents.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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
	"github.com/einolean/einolean/store"
)

// as returns a scope with a fixed key.
func as(key string) store.Scope {
	return store.Scope{Key: func(context.Context) (string, error) { return key, nil }}
}

func TestScoped_HasInterfacesOfItsStore(t *testing.T) {
	m := backend.NewMemory(0)
	for _, kept := range append(powerSets(m), m) {
		scoped := store.Scoped(kept, as("a"))
		want := powersOf(kept)
		want[0] = want[0] || want[1] // whoever reads ranges can read lines
		want[2] = want[2] || want[3] // and whoever creates any of several names, one
		require.Equal(t, want, powersOf(scoped), "%T", kept)
		_, cleans := kept.(store.Cleaner)
		_, scopedCleans := store.As[store.Cleaner](scoped)
		require.Equal(t, cleans, scopedCleans, "%T", kept)
		scopedToo := store.Scoped(struct {
			reduction.Backend
			store.Cleaner
		}{m, m}, as("a"))
		_, cleansToo := store.As[store.Cleaner](scopedToo)
		require.True(t, cleansToo)
		require.Equal(t, [4]bool{}, powersOf(scopedToo))
	}
	require.Nil(t, store.Scoped(nil, as("a")))
}

// TestScoped_NoTwoScopesShareFile: whatever keys and paths are, each key and path has a file of
// its own, below the directories of its key, on file systems that ignore case too.
//
//claim:store-07 security-07 security-58
func TestScoped_NoTwoScopesShareFile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	keys := append([]string(nil), scopeKeys...)
	for range 300 {
		b := make([]byte, 1+random.IntN(6))
		for i := range b {
			b[i] = "aAbB/.=:2f-\xc3\xa9"[random.IntN(13)]
		}
		keys = append(keys, string(b))
	}
	slices.Sort(keys)
	paths := []string{"/tmp/trunc/x", "c", "b/c", "../a/c", "/../../a/c", "a/../../b/c", "..", ".", "", "x\x00y", "b/=files/c", "=files/c", "=files=/c", "42/=files/tmp/trunc/x"}
	owner := make(map[string]string)
	for _, key := range slices.Compact(keys) {
		for _, path := range paths {
			inner := &recorder{Memory: backend.NewMemory(0)}
			call := ways(store.Scoped(inner, as(key)))
			_ = call["Write"](t.Context(), path)
			for _, file := range inner.paths {
				parts := strings.Split(file, "/")
				require.Empty(t, parts[0], "%q is not absolute", file)
				require.NotContains(t, []string{"", ".", ".."}, parts[1], "the directory of key %q", key)
				require.NotContains(t, parts[2:], "..", "key %q", key)
				name, err := backend.Name(path)
				require.NoError(t, err, "%q is no path", path)
				mine := fmt.Sprintf("%q %q", key, name)
				if other, known := owner[strings.ToLower(file)]; known {
					require.Equal(t, other, mine, "%q", file)
				}
				owner[strings.ToLower(file)] = mine
			}
			for way, each := range call {
				asked := inner.paths
				_ = each(t.Context(), path)
				for _, file := range inner.paths {
					require.True(t, slices.Contains(asked, file) || strings.HasPrefix(way, "CreateFirstFree") && strings.HasSuffix(file, "x"), "%s asks for %q", way, file)
				}
			}
		}
	}
	require.Greater(t, len(owner), 2000)
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

func (r *recorder) CreateFirstFree(ctx context.Context, names func(int) string, content io.Reader) (string, error) {
	return r.Memory.CreateFirstFree(ctx, func(attempt int) string {
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
			_, err := b.(store.Reader).Read(ctx, &filesystem.ReadRequest{FilePath: path})
			return err
		},
		"ReadRange": func(ctx context.Context, path string) error {
			_, _, err := b.(store.RangeReader).ReadRange(ctx, path, 0, -1)
			return err
		},
		"Create": func(ctx context.Context, path string) error {
			return b.(store.Creator).Create(ctx, path, strings.NewReader("content"))
		},
		"CreateFirstFree": func(ctx context.Context, path string) error {
			got, err := b.(backend.FirstFreeCreator).CreateFirstFree(ctx, func(n int) string { return path + strings.Repeat("x", n) }, strings.NewReader("content"))
			if err == nil && !strings.HasPrefix(got, path) {
				return fmt.Errorf("CreateFirstFree returned %q for %q", got, path)
			}
			return err
		},
	}
}

var scopeKeys = []string{
	"a", "a/b", "a/", "/a", "A", "a=2fb", "a=", "=", "==", ".", "..", "../a", "a/../b", "...", " ", "a ", "con", "CON", "con.txt",
	"münchen", "MÜNCHEN", "mu\u0308nchen", "東京/1", "İ", "i", "I", "ı", "\x00", "\xff", "tmp", "acme/42", "acme", "acme:42", "Acme/42", ".einolean-a", ".EINOLEAN-a",
	strings.Repeat("k", 128), strings.Repeat("k", 129), strings.Repeat("k", 10_000), strings.Repeat("K", 129), strings.Repeat("k/", 100),
}

// TestScoped_KeyIsDirectory: what an owner deletes or counts by a
// key, in the store itself or in its scope, is what was stored under that key and below.
func TestScoped_KeyIsDirectory(t *testing.T) {
	ctx := t.Context()
	dir, err := store.NewDir(t.TempDir())
	require.NoError(t, err)
	defer dir.Close()
	for name, kept := range map[string]reduction.Backend{"memory": store.NewMemory(0), "directory": dir} {
		for _, key := range []string{"acme", "acme/42", "acme/43", "acme/42/7", "acme42", "Acme/42"} {
			scope := store.Scoped(kept, as(key))
			require.NoError(t, scope.Write(ctx, &filesystem.WriteRequest{FilePath: "/tmp/trunc/c", Content: key}))
			require.NoError(t, scope.(store.Cleaner).MarkUsed(ctx, "/tmp/trunc/c"))
		}
		stored := func(c reduction.Backend, dir string) int {
			files, _, err := c.(store.Cleaner).Stored(ctx, dir)
			require.NoError(t, err)
			return files
		}
		for key, want := range map[string]int{"acme": 4, "acme/42": 2, "acme/43": 1, "acme/42/7": 1, "acme42": 1, "Acme/42": 0} {
			require.Equal(t, want, stored(kept, key), "%s: %s", name, key)
			if want > 0 {
				require.Equal(t, want, stored(store.Scoped(kept, as(key)), ""), "%s: %s", name, key)
			}
		}
		require.Equal(t, 1, stored(store.Scoped(kept, as("Acme/42")), ""))
		require.Equal(t, 1, stored(store.Scoped(kept, as("acme/42")), "tmp/trunc"), "of this key only")
		files, bytes, err := store.Scoped(kept, as("acme/42")).(store.Cleaner).DeleteUnused(ctx, "", time.Now().Add(time.Hour))
		require.NoError(t, err)
		require.Equal(t, []int{2, len("acme/42acme/42/7")}, []int{files, int(bytes)})
		require.Equal(t, 2, stored(kept, "acme"))
	}
}

// TestScoped_DeletedTenantLeavesOthersWhole runs the lines of docs/operations.md.
//
//claim:operations-06 store-08
func TestScoped_DeletedTenantLeavesOthersWhole(t *testing.T) {
	dir, err := store.NewDir(t.TempDir())
	require.NoError(t, err)
	defer dir.Close()
	testScopedDeletedTenantLeavesOthersWhole(t, store.NewMemory(0), 3)
	testScopedDeletedTenantLeavesOthersWhole(t, dir, 1)

	page, err := os.ReadFile("../docs/operations.md")
	require.NoError(t, err)
	source, err := os.ReadFile("scope_test.go")
	require.NoError(t, err)
	_, lines, found := strings.Cut(string(source), "\t// region: docs\n")
	require.True(t, found)
	lines, _, found = strings.Cut(lines, "\t// endregion")
	require.True(t, found)
	require.Contains(t, string(page), strings.ReplaceAll(strings.TrimSpace(lines), "\n\t", "\n"))
}

func testScopedDeletedTenantLeavesOthersWhole(t *testing.T, files interface {
	reduction.Backend
	store.Cleaner
}, conversations int) {
	ctx := t.Context()
	content := map[string]string{}
	for tenant := range 200 {
		for conversation := range conversations {
			key := fmt.Sprintf("tenant%d/%d", tenant, conversation)
			mw := typed(t, &reduction.Config{Backend: store.Scoped(files, as(key)), MaxLengthForTrunc: 1000})
			content[key] = strings.Repeat(key+"\n", 200)
			out, err := runInvokable(ctx, mw, callC, `{}`, []string{content[key]})
			require.NoError(t, err)
			require.Equal(t, "/tmp/trunc/c", pathIn(out))
		}
	}

	// region: docs
	tenant := "tenant77"
	count, bytes, err := files.DeleteUnused(ctx, tenant, time.Now().Add(time.Hour))
	left, size, _ := files.Stored(ctx, tenant)
	// endregion

	require.NoError(t, err)
	require.Equal(t, []int{conversations, conversations * 2200, 0, 0}, []int{count, int(bytes), left, int(size)})
	for _, never := range []string{tenant, "tenant777"} {
		_, _, err = files.DeleteUnused(ctx, never, time.Now().Add(time.Hour))
		require.ErrorIs(t, err, fs.ErrNotExist, "%s: nothing is there", never)
	}
	_, _, err = store.Scoped(files, as("tenant777/1")).(store.Cleaner).DeleteUnused(ctx, "", time.Now().Add(time.Hour))
	require.ErrorIs(t, err, fs.ErrNotExist)
	for key, want := range content {
		got, err := store.Scoped(files, as(key)).(store.Reader).Read(ctx, &filesystem.ReadRequest{FilePath: "/tmp/trunc/c"})
		if strings.HasPrefix(key, tenant+"/") {
			require.ErrorIs(t, err, fs.ErrNotExist)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want, got.Content)
	}
}

//claim:security-08 security-49
func TestScoped_WithoutKeyReachesNothing(t *testing.T) {
	for name, scope := range badScopes {
		inner := &recorder{Memory: backend.NewMemory(0)}
		for way, call := range ways(store.Scoped(inner, scope)) {
			err := call(t.Context(), "/x")
			require.Error(t, err, "%s, %s", name, way)
			require.NotErrorIs(t, err, fs.ErrNotExist, "%s, %s: nobody knows whether the file exists", name, way)
			require.NotErrorIs(t, err, fs.ErrExist, "%s, %s", name, way)
		}
		require.Empty(t, inner.paths, name)
	}
	err := store.Scoped(backend.NewMemory(0), badScopes["error"]).Write(t.Context(), &filesystem.WriteRequest{FilePath: "/x"})
	require.ErrorIs(t, err, errNoSession)
}

var errNoSession = errors.New("no session")

// badScopes are all the ways in which a scope can fail.
var badScopes = map[string]store.Scope{
	"no function":   {},
	"empty key":     as(""),
	"error":         {Key: func(context.Context) (string, error) { return "a", errNoSession }},
	"missing file":  {Key: func(context.Context) (string, error) { return "a", fs.ErrNotExist }},
	"existing file": {Key: func(context.Context) (string, error) { return "a", fs.ErrExist }},
	"panic":         {Key: func(context.Context) (string, error) { panic("no session") }},
}

// TestScoped_WithoutKeyKeepsResult: in a whole agent the run goes on, the result
// stays in the conversation, and nothing is stored.
//
//claim:security-08 security-49
func TestScoped_WithoutKeyKeepsResult(t *testing.T) {
	for name, scope := range badScopes {
		t.Run(name, func(t *testing.T) {
			inner := &recorder{Memory: backend.NewMemory(0)}
			adktest.Both(t,
				func(t *testing.T, streaming bool) {
					testScopedWithoutKeyKeepsResult[*schema.Message](t, store.Scoped(inner, scope), streaming)
				},
				func(t *testing.T, streaming bool) {
					testScopedWithoutKeyKeepsResult[*schema.AgenticMessage](t, store.Scoped(inner, scope), streaming)
				})
			require.Empty(t, inner.paths)
		})
	}
}

func testScopedWithoutKeyKeepsResult[M adk.MessageType](t *testing.T, kept reduction.Backend, streaming bool) {
	mw, err := reduction.NewTyped(t.Context(), &reduction.TypedConfig[M]{Backend: kept, ProvideReadTool: true, MaxLengthForTrunc: 4000})
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

// TestScoped_WriteOnlyStoreIsNotOverwritten: neither by another middleware over the
// same store and scope, nor by another scope.
func TestScoped_WriteOnlyStoreIsNotOverwritten(t *testing.T) {
	inner := backend.NewMemory(0)
	kept := backendtest.NewFaulty(inner, nil).WriteOnly()
	wrapped := &struct{ reduction.Backend }{kept}
	contents := map[string]string{}
	for i, tenant := range []string{"a", "b", "a", "b/c"} {
		content := strings.Repeat(fmt.Sprintln(tenant, i), 2000)
		mw, err := reduction.New(t.Context(), &reduction.Config{Backend: store.Scoped(wrapped, byTenant), MaxLengthForTrunc: 1000})
		require.NoError(t, err)
		notice, err := runInvokable(context.WithValue(t.Context(), tenantKey{}, tenant), mw, callC, "{}", []string{content})
		require.NoError(t, err)
		require.NotContains(t, notice, "=files", "the key is in a notice")
		dir := []string{"/a", "/b", "/a", "/b/c/=files"}[i]
		contents[dir+writeOnlyName("/tmp/trunc/c", content)] = content
		require.Equal(t, writeOnlyName("/tmp/trunc/c", content), pathIn(notice))
	}
	require.Len(t, contents, 4)
	for path, content := range contents {
		require.Equal(t, content, stored(t, inner, path))
	}
}

type tenantKey struct{}

// byTenant is a scope whose key is in the context.
var byTenant = store.Scope{Key: func(ctx context.Context) (string, error) {
	tenant, _ := ctx.Value(tenantKey{}).(string)
	return tenant, nil
}}

//claim:store-26
func TestScoped_LimitIsKept(t *testing.T) {
	ctx := context.Background()
	memory := store.NewMemory(0)
	scoped := func(key string) reduction.Backend {
		return store.Scoped(memory, store.Scope{MaxBytes: 3000, Key: func(context.Context) (string, error) { return key, nil }})
	}
	one := scoped("one")
	require.NoError(t, one.Write(ctx, &filesystem.WriteRequest{FilePath: "a", Content: strings.Repeat("x", 1000)}))
	require.NoError(t, one.(store.Creator).Create(ctx, "b", strings.NewReader(strings.Repeat("x", 1000))))
	_, err := one.(backend.FirstFreeCreator).CreateFirstFree(ctx, func(int) string { return "c" }, strings.NewReader(strings.Repeat("x", 1001)))
	require.ErrorContains(t, err, "MaxBytes")
	require.ErrorContains(t, one.(store.Creator).Create(ctx, "c", strings.NewReader(strings.Repeat("x", 1001))), "MaxBytes")
	require.ErrorContains(t, one.Write(ctx, &filesystem.WriteRequest{FilePath: "c", Content: strings.Repeat("x", 1001)}), "MaxBytes")
	require.NoError(t, one.Write(ctx, &filesystem.WriteRequest{FilePath: "d", Content: strings.Repeat("x", 1000)}), "what failed took no room")
	require.ErrorContains(t, scoped("one").Write(ctx, &filesystem.WriteRequest{FilePath: "e", Content: "x"}), "MaxBytes", "what is there counts for another process")
	require.NoError(t, scoped("two").Write(ctx, &filesystem.WriteRequest{FilePath: "e", Content: "x"}), "another scope has room")
	files, bytes, err := memory.Stored(ctx, "one")
	require.NoError(t, err)
	require.Equal(t, 3, files)
	require.EqualValues(t, 3000, bytes)

	var failed []error
	mw := typed(t, &reduction.Config{Backend: one, MaxLengthForTrunc: 1000, OnEvent: func(_ context.Context, e einolean.Event) {
		if e.Kind == einolean.KindStoreFailed {
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

// TestScoped_LimitIsRemembered: neither by a store that can count what it has, nor by
// one that cannot, however many scopes there are.
//
//claim:security-57
func TestScoped_LimitIsRemembered(t *testing.T) {
	race.Skip(t, "uses 33,000 scopes")
	ctx := context.Background()
	memory := backend.NewMemory(0)
	for kind, kept := range map[string]reduction.Backend{"counts": memory, "write only": backendtest.NewFaulty(backend.NewMemory(0), nil).WriteOnly()} {
		scoped := store.Scoped(kept, store.Scope{MaxBytes: 10, Key: byTenant.Key})
		write := func(tenant, name string) error {
			return scoped.Write(context.WithValue(ctx, tenantKey{}, tenant), &filesystem.WriteRequest{FilePath: name, Content: "12345678"})
		}
		require.NoError(t, write("first", "a"))
		for i := range 33_000 {
			if i%100 == 0 || kind == "write only" { // counting takes time
				require.NoError(t, write(fmt.Sprint("tenant", i), "a"))
			}
		}
		require.ErrorContains(t, write("first", "b"), "MaxBytes", kind)
	}
}

// TestScoped_RewrittenFileCountsOnce: whatever the store can do.
func TestScoped_RewrittenFileCountsOnce(t *testing.T) {
	ctx := context.Background()
	for i, kept := range append(powerSets(backend.NewMemory(0)), store.NewMemory(0)) {
		scoped := store.Scoped(kept, store.Scope{MaxBytes: 100, Key: as(fmt.Sprint("key", i)).Key})
		for n := range 50 {
			require.NoError(t, scoped.Write(ctx, &filesystem.WriteRequest{FilePath: "a", Content: strings.Repeat("x", 60+n%30)}), "%T", kept)
		}
		require.NoError(t, scoped.Write(ctx, &filesystem.WriteRequest{FilePath: "b", Content: strings.Repeat("x", 20)}), "%T", kept)
		require.ErrorContains(t, scoped.Write(ctx, &filesystem.WriteRequest{FilePath: "c", Content: strings.Repeat("x", 20)}), "MaxBytes", "%T", kept)
	}
}
