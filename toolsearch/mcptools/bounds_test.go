// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// What servers may cost: memory, time, and the time of others.

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/race"
)

// heap is the memory that is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A list of pages with a tool of 4 MB each costs the tools, not the memory.
//
//claim:security-60
func TestList_HugeToolsTakeLittleMemory(t *testing.T) {
	race.Skip(t, "measures memory")
	huge := strings.Repeat("x", 4<<20)
	var most, began atomic.Int64
	f := listing(func(c string) (*mcp.ListToolsResult, error) {
		n := len(c)
		most.Store(max(most.Load(), heap()-began.Load()))
		r := named(fmt.Sprintf("small_%d", n))
		r.Tools = append(r.Tools, &mcp.Tool{Name: fmt.Sprintf("huge_%d", n), Description: huge, InputSchema: object("")})
		if n < 11 {
			r.NextCursor = c + "x"
		}
		return r, nil
	})
	began.Store(heap())
	var events recorder
	s := open(t, map[string]Server{"srv": f.inMemory()}, Options{OnEvent: events.record})
	require.Len(t, namesIn(t, ctx, s), 12)
	refused := events.of(einolean.KindToolRefused)
	require.Len(t, refused, 12)
	require.ErrorContains(t, refused[0].Err, "bytes at least")
	require.Less(t, most.Load(), int64(32<<20), "of 48 MB")
	t.Logf("%d MB", most.Load()>>20)
}

// Lists whose definitions take too much memory end, in one list or in many with other cursors.
//
//claim:security-60
func TestList_SessionMemoryIsBounded(t *testing.T) {
	race.Skip(t, "measures memory")
	defer func(most int64) { maxList = most }(maxList)
	require.LessOrEqual(t, maxList, int64(256<<20))
	maxList = 16 << 20
	schema := map[string]any{"type": "object", "description": strings.Repeat("x", maxDefinition-1000)}
	for what, pagesPerList := range map[string]int{"one list": 10_000, "many lists": 3} {
		t.Run(what, func(t *testing.T) {
			var page, most atomic.Int64
			began := heap()
			f := listing(func(c string) (*mcp.ListToolsResult, error) {
				n := page.Add(1)
				if n%20 == 0 {
					most.Store(max(most.Load(), heap()-began))
				}
				r := &mcp.ListToolsResult{Tools: []*mcp.Tool{{Name: "fail", InputSchema: schema}}}
				if c != "" {
					r.Tools[0].Name = c
				}
				if n%int64(pagesPerList) != 0 {
					r.NextCursor = fmt.Sprint("page", n)
				}
				return r, nil
			})
			var events recorder
			s := open(t, map[string]Server{"srv": f.inMemory()}, Options{OnEvent: events.record})
			for range 2 * int(maxList) / maxDefinition / min(pagesPerList, 30) {
				if len(events.of(einolean.KindServerDown)) > 0 || statusOf(s, "srv").State == StateDown {
					break
				}
				ask(t, ctx, s, "srv__fail", `{}`)
			}
			require.ErrorContains(t, events.wait(t, einolean.KindServerDown, 1)[0].Err, "too much memory")
			require.Less(t, most.Load(), 3*maxList)
			t.Logf("%d pages, %d MB", page.Load(), most.Load()>>20)
		})
	}
}

// deepSchema is a schema of n levels.
func deepSchema(n int) map[string]any {
	deep := map[string]any{"type": "string"}
	for range n {
		deep = map[string]any{"type": "object", "properties": map[string]any{"sub": deep}}
	}
	return deep
}

// A schema of very many levels costs its tool at most, and not the others of its server. The
// SDK refuses the whole of a message with more than 1,000.
//
//claim:security-59
func TestSchema_DeepNestingCostsNoOtherTool(t *testing.T) {
	for _, levels := range []int{10, 100, 240, 2000} {
		f := listing(func(string) (*mcp.ListToolsResult, error) {
			r := named("one", "two")
			r.Tools = append(r.Tools, &mcp.Tool{Name: "deep", InputSchema: deepSchema(levels)})
			return r, nil
		})
		servers := map[string]Server{"http": {URL: f.web(t, nil).URL}}
		if levels == 2000 {
			servers["stdio"] = child(t, "deep")
		} else {
			servers["memory"] = f.inMemory()
		}
		s := open(t, servers, Options{})
		names := strings.Join(namesIn(t, ctx, s), " ")
		for way := range servers {
			require.Contains(t, names, way+"__deep", levels)
			require.Greater(t, strings.Count(names, way+"__"), 2, levels)
		}
	}
}

// Cutting keeps everything else byte for byte, in whatever pieces it comes.
//
//claim:security-59
func TestDepthLimiter_RemovesOnlyDeepValues(t *testing.T) {
	open, end := strings.Repeat(`{"a":[`, maxNesting/2), strings.Repeat(`]}`, maxNesting/2)
	for in, want := range map[string]string{
		open + `1` + end:                             open + `1` + end,
		open + `{"x":"}]"}` + end:                    open + `0` + end,
		open + `[[["\"]"]],"}"],2,"{["` + end:        open + `0,2,"{["` + end,
		`{"a":"` + strings.Repeat("[", 999) + `\""}`: `{"a":"` + strings.Repeat("[", 999) + `\""}`,
		`]]}{"a":1}`:                                 `]]}{"a":1}`,
	} {
		for size := 1; size < len(in)+7; size += 7 {
			var l depthLimiter
			got := ""
			for piece := range slices.Chunk([]byte(in), size) {
				got += string(l.limit(piece))
			}
			require.Equal(t, want, got)
		}
	}
}

// notices is an endless text of notices, which counts what was read of it.
type notices struct {
	read atomic.Int64
	end  atomic.Bool
}

const notice = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n"

func (n *notices) Read(p []byte) (int, error) {
	if n.end.Load() {
		return 0, io.EOF
	}
	at := n.read.Load()
	for i := range p {
		p[i] = notice[(at+int64(i))%int64(len(notice))]
	}
	n.read.Add(int64(len(p)))
	return len(p), nil
}

func (n *notices) Close() error { return nil }

// What a server sends unasked is read no faster than the bounds say, from a program and from
// a stream; answers are read at once.
//
//claim:security-61
func TestPace_ReadsMessageFloodsSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const seconds = 20
		for what, reader := range map[string]func(*notices, *pace) io.Reader{
			"program": func(n *notices, p *pace) io.Reader { return newMessageReader(n, nil, func() {}, nil, p) },
			"log": func(n *notices, p *pace) io.Reader {
				return newMessageReader(prefixed{n}, func([]byte) {}, func() {}, nil, p)
			},
			"stream": func(n *notices, p *pace) io.Reader { return newBody(doubled{n}, true, nil, p) },
		} {
			done := make(chan struct{})
			n, p := &notices{}, newPace(done)
			began, buf := time.Now(), make([]byte, 1000)
			time.AfterFunc(seconds*time.Second, func() { n.end.Store(true); close(done) })
			in := reader(n, p)
			for time.Since(began) < seconds*time.Second {
				if _, err := in.Read(buf); err != nil {
					require.ErrorIs(t, err, io.EOF)
					break
				}
			}
			read := n.read.Load() / int64(len(notice))
			require.Less(t, read, int64(burst+seconds*perSecond+2*maxLine/len(notice)), what)
			require.Greater(t, read, int64(seconds*perSecond/2), what)
		}
	})
}

// doubled ends each line twice, as events do.
type doubled struct{ *notices }

func (d doubled) Read(p []byte) (int, error) {
	n, err := d.notices.Read(p[:(len(p)+1)/2])
	out := strings.ReplaceAll(string(p[:n]), "\n", "\n\n")
	return copy(p, out), err
}

// prefixed makes each line one that is not a message.
type prefixed struct{ *notices }

func (d prefixed) Read(p []byte) (int, error) {
	n, err := d.notices.Read(p)
	return copy(p, strings.ReplaceAll(string(p[:n]), "{", "<")), err
}

func TestPace_DoesNotDelayAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
		n := 10 * burst
		p := newPace(nil)
		for range n {
			p.noteRequest()
		}
		began := time.Now()
		_, err := io.ReadAll(newMessageReader(strings.NewReader(strings.Repeat(answer, n)), nil, func() {}, nil, p))
		require.NoError(t, err)
		require.Zero(t, time.Since(began))
		_, err = io.ReadAll(newMessageReader(strings.NewReader(strings.Repeat(answer, 2*burst)), nil, func() {}, nil, p))
		require.NoError(t, err)
		require.Greater(t, time.Since(began), time.Second, "answers that nobody asked for are not")
	})
}

// A program that sends notices without end leaves the processor to others.
//
//claim:security-61
func TestPace_FloodTakesLittleProcessorTime(t *testing.T) {
	s := open(t, map[string]Server{"good": newFixture().inMemory(), "flood": child(t, "flood")}, Options{MaxWait: time.Millisecond})
	require.Equal(t, "started", ask(t, ctx, s, "flood__start", `{}`))
	until(t, "the burst is over", func() bool {
		p := statusPace(s, "flood")
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.credit < 0
	})
	const window = 2 * time.Second
	before := used(t)
	time.Sleep(window) // what is measured
	took := used(t) - before
	t.Logf("%v of %v", took, window)
	require.Less(t, took, window/2)
	require.Equal(t, "x", ask(t, ctx, s, "good__echo", `{"text":"x"}`))
}

// statusPace is the pace of a program's session.
func statusPace(s *Servers, name string) *pace {
	l := s.linkIf("", name)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session.transport.Transport.(*command).pace
}
