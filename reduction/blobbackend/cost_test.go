// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	detector "github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/reduction/blobbackend"
	"github.com/einolean/einolean/store"
)

// over is a result that is cut, under one that is not, but cleared once there are two.
const (
	over  = 60 << 10
	under = 40 << 10
)

func info(name string) *schema.ToolInfo { return &schema.ToolInfo{Name: name, Desc: "for tests"} }

// meter runs agents over a store behind a proxy.
type meter struct {
	t     *testing.T
	proxy *proxy
	url   string
	found map[string]string // requests, by what caused them
}

// rounds runs an agent that calls its tool once in each of several rounds, and counts the
// results that were cleared.
func (m *meter) rounds(files reduction.Backend, form adktest.Form, content string, ids ...string) (cleared int) {
	m.t.Helper()
	var count atomic.Int64
	reduce, err := reduction.New(context.Background(), &reduction.Config{
		Backend: files, ProvideReadTool: true, MaxTokensForClear: 18_000,
		OnEvent: func(_ context.Context, e einolean.Event) {
			if e.Kind == einolean.KindResultCleared {
				count.Add(1)
			}
		},
	})
	require.NoError(m.t, err)
	var turns []adktest.Turn
	for _, id := range ids {
		turns = append(turns, adktest.Do(adktest.ToolCall{ID: id, Name: "report", Args: "{}"}))
	}
	agent := adktest.Agent[*schema.Message]{
		Model:    adktest.Script[*schema.Message](turns...),
		Tools:    []tool.BaseTool{adktest.Tool(form, info("report"), func(context.Context, string) (string, error) { return content, nil })},
		Handlers: adktest.Handlers(reduce),
	}
	require.NoError(m.t, agent.Run(context.Background(), []*schema.Message{schema.UserMessage("go")}).Err)
	return int(count.Load())
}

// read makes one call of the read tool.
func (m *meter) read(files reduction.Backend, arguments string) {
	m.t.Helper()
	reader, err := reduction.NewReadTool(context.Background(), &reduction.ReadToolConfig{Backend: files})
	require.NoError(m.t, err)
	_, err = reader.InvokableRun(context.Background(), arguments)
	require.NoError(m.t, err)
}

func (m *meter) measure(what string, do func()) {
	m.t.Helper()
	m.proxy.counted()
	do()
	m.found[what] = m.proxy.counted()
}

// TestRequests_AreAsDocumented compares the table in docs/operations.md with the requests that are sent.
//
//claim:store-09
func TestRequests_AreAsDocumented(t *testing.T) {
	detector.Skip(t, "counts one request after another")
	p, url := newProxy(t, s3URL(t))
	m := &meter{t: t, proxy: p, url: url, found: map[string]string{}}
	place, long := placeOn(t, url), filled(over)
	files, replica := open(t, url, place), open(t, url, place)

	m.measure("A result within the limit", func() { m.rounds(files, adktest.Invokable, filled(under), "within") })
	m.measure("A result that is truncated", func() { m.rounds(files, adktest.Invokable, long, "a") })
	m.measure("A streamed result that is truncated, less than 5 MiB", func() { m.rounds(files, adktest.Streamable, long, "b") })
	m.measure("A streamed result that is truncated, 12 MiB", func() { m.rounds(files, adktest.Streamable, filled(large), "c") })
	m.measure("A result that is cleared", func() {
		require.Equal(t, 1, m.rounds(files, adktest.Invokable, filled(under), "d", "e"))
	})
	m.measure("Three results that are cleared together", func() {
		require.Equal(t, 3, m.rounds(files, adktest.Invokable, filled(under/2), "f", "g", "h", "i"))
	})
	m.measure("A result that another replica has stored already", func() { m.rounds(replica, adktest.Invokable, long, "a") })
	m.measure("A result whose name holds other content", func() { m.rounds(replica, adktest.Invokable, long+"!", "b") })
	m.measure("A page by bytes or lines, or a search", func() {
		m.read(files, `{"file_path":"/tmp/trunc/a","byte_offset":30000}`)
	})
	for _, same := range []string{`"offset":100`, `"pattern":"1.00"`, `"query":"1.00"`} {
		m.measure("same", func() { m.read(files, `{"file_path":"/tmp/trunc/a",`+same+`}`) })
		require.Equal(t, m.found["A page by bytes or lines, or a search"], m.found["same"], same)
	}
	delete(m.found, "same")
	m.measure("The last lines", func() { m.read(files, `{"file_path":"/tmp/trunc/a","tail":20}`) })
	m.measure("A path without a file", func() { m.read(files, `{"file_path":"/tmp/trunc/none"}`) })
	m.measure("Deleting 4 results", func() {
		deleted, _, err := files.DeleteUnused(context.Background(), "/tmp/trunc", time.Now().Add(time.Hour))
		require.NoError(t, err)
		require.Equal(t, 4, deleted)
	})

	documented := m.documented(filepath.Join("..", "..", "docs", "operations.md"))
	require.Equal(t, m.found, documented, "docs/operations.md says otherwise")
}

// documented is the table in a document.
func (m *meter) documented(name string) map[string]string {
	m.t.Helper()
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		m.t.Skip("the documents are not here")
	}
	require.NoError(m.t, err)
	_, table, _ := strings.Cut(string(content), "| requests |\n")
	rows := map[string]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 4 {
			break
		}
		if what := strings.TrimSpace(cells[1]); strings.Trim(what, "-") != "" {
			rows[what] = strings.TrimSpace(cells[2])
		}
	}
	return rows
}

// The result keeps its path, and two short reads check that the file still holds the head and the tail that its
// notice shows.
//
//claim:store-03
func TestClear_TruncatedResultWritesNothing(t *testing.T) {
	p, url := newProxy(t, s3URL(t))
	m := &meter{t: t, proxy: p, url: url}
	files := openOn(t, url)
	require.Equal(t, 3, m.rounds(files, adktest.Invokable, filled(over), "a", "b", "c", "d"))
	require.Equal(t, "HEAD, PUT, 2 HEAD, PUT, 2 HEAD, 2 GET, HEAD, PUT, 2 HEAD, 2 GET, HEAD, PUT, 2 HEAD, 2 GET", p.counted())
}

// A page in bytes fetches only itself. A page in lines also fetches everything before it.
//
//claim:store-11
func TestReadTool_PagesFetchOnlyWhatTheyShow(t *testing.T) {
	detector.Skip(t, "weighs one request after another")
	p, url := newProxy(t, s3URL(t))
	m := &meter{t: t, proxy: p, url: url}
	files := openOn(t, url)
	require.NoError(t, files.Create(context.Background(), "large", strings.NewReader(filled(large))))
	p.weighed()
	m.read(files, fmt.Sprintf(`{"file_path":"large","byte_offset":%d}`, large/2))
	require.Less(t, p.weighed(), 25_000)
	m.read(files, `{"file_path":"large","tail":20}`)
	require.Less(t, p.weighed(), 25_000)
	m.read(files, fmt.Sprintf(`{"file_path":"large","offset":%d}`, strings.Count(filled(large), "\n")))
	require.Greater(t, p.weighed(), large-25_000)
}

// Neither of two results is stored before the request of the other has arrived.
//
//claim:store-10
func TestCreate_StoresParallelResultsConcurrently(t *testing.T) {
	p, url := newProxy(t, s3URL(t))
	var arrived sync.WaitGroup
	arrived.Add(2)
	p.Instead = func(kind string, _ http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
		if kind == "PUT" {
			arrived.Done()
			arrived.Wait()
		}
		return false
	}
	inOneRound(t, openOn(t, url), "a", "b")
}

// The whole result stays in the conversation.
//
//claim:store-16
func TestBackend_AgentContinuesWithoutStore(t *testing.T) {
	files, err := blobbackend.New(blob.NewBucket(silent{}), &blobbackend.Options{Timeout: time.Millisecond})
	require.NoError(t, err)
	seen := inOneRound(t, files, "a")
	require.Equal(t, filled(over), adktest.Text(seen[len(seen)-1]))
}

// inOneRound runs an agent that calls a tool with long results several times at once, and
// returns what its model sees in the end.
func inOneRound(t *testing.T, files reduction.Backend, ids ...string) []*schema.Message {
	t.Helper()
	reduce, err := reduction.New(context.Background(), &reduction.Config{Backend: files})
	require.NoError(t, err)
	var calls []adktest.ToolCall
	for _, id := range ids {
		calls = append(calls, adktest.ToolCall{ID: id, Name: "report"})
	}
	model := adktest.Script[*schema.Message](adktest.Do(calls...))
	agent := adktest.Agent[*schema.Message]{
		Model:    model,
		Tools:    []tool.BaseTool{adktest.Tool(adktest.Invokable, info("report"), func(context.Context, string) (string, error) { return filled(over), nil })},
		Handlers: adktest.Handlers(reduce),
	}
	require.NoError(t, agent.Run(context.Background(), []*schema.Message{schema.UserMessage("go")}).Err)
	return model.Wires()[1].Messages
}

// endless is content of a size that nobody holds. It looks at the heap as it is read.
type endless struct {
	left int64
	peak uint64
	read int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := copy(p, filler[:min(int64(len(filler)), e.left)])
	e.left -= int64(n)
	if e.read += int64(n); e.read>>22 != (e.read-int64(n))>>22 { // once in 4 MiB
		var now runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&now)
		e.peak = max(e.peak, now.HeapAlloc)
	}
	return n, nil
}

var filler = []byte(strings.Repeat("0123456789abcde\n", 4096))

// streamed is the size of a large stream, in bytes, and mostHeld the most of it that may be
// in memory.
const (
	streamed = 100 << 20
	mostHeld = 32 << 20
)

// createStreamed stores a large stream and returns the growth of the heap.
func createStreamed(t testing.TB, b store.Creator, name string) (held int64) {
	t.Helper()
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	content := &endless{left: streamed}
	require.NoError(t, b.Create(context.Background(), name, content))
	return int64(content.peak) - int64(before.HeapAlloc)
}

//claim:store-12
func TestCreate_DoesNotBufferStreams(t *testing.T) {
	detector.Skip(t, "streams 200 MB and measures memory")
	for name, open := range streams(t) {
		t.Run(name, func(t *testing.T) {
			b := open(t)
			require.Less(t, createStreamed(t, b, "large"), int64(mostHeld))
			last, size, err := b.ReadRange(context.Background(), "large", streamed-16, -1)
			require.NoError(t, err)
			defer last.Close()
			require.EqualValues(t, streamed, size)
			got, err := io.ReadAll(last)
			require.NoError(t, err)
			require.Equal(t, "0123456789abcde\n", string(got))
		})
	}
}

// readable is what the benchmarks need of a store.
type readable interface {
	store.Creator
	store.RangeReader
}

func streams(t testing.TB) map[string]func(t testing.TB) readable {
	return map[string]func(t testing.TB) readable{
		"directory": func(t testing.TB) readable { return open(t, fileURL(t.TempDir()), nil) },
		"server":    func(t testing.TB) readable { return openOn(t, serverURL(t)) },
	}
}

// BenchmarkCreate is the time of storing a result, and the heap that a large one takes.
func BenchmarkCreate(b *testing.B) {
	for name, open := range streams(b) {
		b.Run(name+"/60KiB", func(b *testing.B) {
			files, content := open(b), filled(over)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				require.NoError(b, files.Create(b.Context(), fmt.Sprint(i), strings.NewReader(content)))
			}
		})
		b.Run(name+"/100MiB", func(b *testing.B) {
			files, held := open(b), int64(0)
			for i := 0; b.Loop(); i++ {
				held = max(held, createStreamed(b, files, fmt.Sprint(i)))
			}
			b.ReportMetric(float64(held)/1e6, "peak-MB")
		})
	}
}

// BenchmarkPage is the time of reading one page of a large result.
func BenchmarkPage(b *testing.B) {
	for name, open := range streams(b) {
		b.Run(name, func(b *testing.B) {
			files := open(b)
			require.NoError(b, files.Create(b.Context(), "large", &endless{left: large}))
			for b.Loop() {
				r, _, err := files.ReadRange(b.Context(), "large", large/2, 24_000)
				require.NoError(b, err)
				_, err = io.Copy(io.Discard, r)
				require.NoError(b, errors.Join(err, r.Close()))
			}
		})
	}
}
