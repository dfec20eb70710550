// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Servers that lie, at random: whatever they send, the others answer every call exactly.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// liar is a transport to a server whose messages change on their way.
type liar struct {
	inner mcp.Transport
	seed  uint64
	lies  *atomic.Int64
}

func (l liar) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := l.inner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &liarConn{Connection: conn, random: rand.New(rand.NewPCG(l.seed, 1)), lies: l.lies}, nil
}

type liarConn struct {
	mcp.Connection
	random *rand.Rand
	lies   *atomic.Int64
	queue  []jsonrpc.Message // sent before the next message of the server
	heard  int
}

// unasked is what no client has asked for.
var unasked = []string{
	`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
	`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"1","progress":"much"}}`,
	`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`,
	`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"loud","data":{}}}`,
	`{"jsonrpc":"2.0","method":"notifications/unknown","params":[1,2]}`,
	`{"jsonrpc":"2.0","id":"q%d","method":"ping"}`,
	`{"jsonrpc":"2.0","id":"q%d","method":"sampling/createMessage","params":{"messages":"none"}}`,
	`{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":{"message":5}}`,
	`{"jsonrpc":"2.0","id":"q%d","method":"roots/list"}`,
	`{"jsonrpc":"2.0","id":99999%d,"result":{}}`,
}

// wrong are results of other types than any client expects.
var wrong = []string{
	`42`, `null`, `"text"`, `[]`, `{}`, `{"tools":"none"}`, `{"tools":[null,1]}`, `{"tools":[{"name":5}]}`, `{"tools":[{"name":"x","inputSchema":[]}],"nextCursor":7}`,
	`{"tools":[{"name":"again","inputSchema":{"type":"object"}}],"nextCursor":"more"}`, `{"content":"text"}`, `{"content":[{"type":"text","text":5}]}`,
	`{"content":[{"type":"image","data":"%%%"}]}`, `{"content":[{"type":"unheard of"}]}`, `{"content":[null]}`, `{"structuredContent":[[[]]],"isError":"yes"}`,
	`{"content":[{"type":"resource","resource":null}]}`, `{"protocolVersion":1}`, `{"protocolVersion":"3000-01-01","capabilities":{"tools":[]}}`,
}

// Read returns the server's next message, or a lie.
func (l *liarConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	if len(l.queue) > 0 {
		next := l.queue[0]
		l.queue = l.queue[1:]
		return next, nil
	}
	m, err := l.Connection.Read(ctx)
	if l.heard++; err != nil || l.heard <= 2 || l.random.IntN(3) > 0 { // now and then a session begins well
		return m, err
	}
	l.lies.Add(1)
	switch l.random.IntN(8) {
	case 0: // the session dies
		_ = l.Connection.Close()
		return nil, errors.New("connection reset by peer")
	case 1: // the message is lost
		return l.Read(ctx)
	case 2: // it comes twice
		l.queue = append(l.queue, m)
		return m, nil
	case 3, 4: // a flood comes first
		for n := range l.random.IntN(300) {
			text := strings.ReplaceAll(unasked[l.random.IntN(len(unasked))], "%d", fmt.Sprint(n))
			lie, err := jsonrpc.DecodeMessage([]byte(text))
			if err != nil {
				panic(err)
			}
			l.queue = append(l.queue, lie)
		}
		l.queue = append(l.queue, m)
		return l.Read(ctx)
	}
	if answer, is := m.(*jsonrpc.Response); is {
		lie := *answer
		lie.Result, lie.Error = json.RawMessage(wrong[l.random.IntN(len(wrong))]), nil
		return &lie, nil
	}
	return m, nil
}

// turning is a server whose list differs each time, also between its pages.
func turning(seed uint64) *fixture {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 2))
	return listing(func(string) (*mcp.ListToolsResult, error) {
		mu.Lock()
		defer mu.Unlock()
		r := named("echo", fmt.Sprint("tool_", random.IntN(9)), fmt.Sprint("tool_", random.IntN(9)))
		if random.IntN(3) > 0 {
			r.NextCursor = fmt.Sprint(random.IntN(6))
		}
		return r, nil
	})
}

// TestServers_LyingServersHarmNobody takes the number of rounds from EINOLEAN_SOAK.
//
//claim:security-30
func TestServers_LyingServersHarmNobody(t *testing.T) {
	seed, rounds := rand.Uint64(), race.Cases(10)
	if n, err := strconv.Atoi(os.Getenv("EINOLEAN_SOAK")); err == nil {
		rounds = n
	}
	t.Log("seed", seed)
	var lies, made atomic.Int64
	behind := func(s Server) Server {
		inner := s.Transport
		s.Timeout = time.Second
		s.Transport = func(ctx context.Context) (mcp.Transport, error) {
			t, err := inner(ctx)
			return liar{t, seed + uint64(made.Add(1)), &lies}, err
		}
		return s
	}
	servers := map[string]Server{"honest": newFixture().inMemory(), "honest_web": {URL: newFixture().web(t, nil).URL}, "turning": turning(seed).inMemory()}
	for i := range 4 {
		servers[fmt.Sprint("liar", i)] = behind(newFixture().inMemory())
		servers[fmt.Sprint("turning_liar", i)] = behind(turning(seed).inMemory())
	}
	s, err := Open(ctx, servers, Options{MaxWait: 10 * time.Millisecond})
	require.NoError(t, err)
	var bytes, liars atomic.Int64
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(100+w)))
			for range rounds {
				for _, server := range []string{"honest", "honest_web"} {
					n := random.IntN(200_000)
					want := bigText(n)
					if got := ask(t, ctx, s, server+"__big", fmt.Sprintf(`{"n":%d}`, n)); got != want {
						t.Errorf("%s returned %d bytes instead of %d: %.100s", server, len(got), len(want), got)
						return
					}
					bytes.Add(int64(n))
				}
				set := toolsOf(t, ctx, s)
				for x := range set.All() {
					info, _ := x.Info(ctx)
					if h := HintsOf(info); h.Server[:4] == "hone" || h.Tool != "echo" || random.IntN(6) > 0 {
						continue
					}
					_, err := x.(tool.InvokableTool).InvokableRun(ctx, `{"text":"hello"}`)
					require.NoError(t, err, "whatever a server does is an answer")
					liars.Add(1)
				}
			}
		})
	}
	all.Wait()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	require.NoError(t, s.Close())
	require.Less(t, m.HeapAlloc, uint64(256<<20))
	require.Positive(t, lies.Load())
	t.Logf("%d bytes of honest servers exact, %d calls of others answered, %d lies in %d sessions; heap %.1f MB", bytes.Load(), liars.Load(), lies.Load(), made.Load(), float64(m.HeapAlloc)/1e6)
}
