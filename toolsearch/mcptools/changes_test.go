// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// The law that matters most: once a call is answered, the list that follows knows what it
// changed, however the server's notice and its answer arrive.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// shuffled is a transport that holds up what the server sends: notices and answers to
// lists overtake answers to calls, and the other way round.
type shuffled struct {
	inner mcp.Transport
	seed  uint64
}

func (s shuffled) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := s.inner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &shuffledConn{Connection: conn, random: rand.New(rand.NewPCG(s.seed, 0)), arrived: make(chan jsonrpc.Message, 100), failed: make(chan struct{})}
	go c.read()
	return c, nil
}

type shuffledConn struct {
	mcp.Connection
	mu      sync.Mutex
	random  *rand.Rand
	arrived chan jsonrpc.Message
	failed  chan struct{}
	err     error
}

func (c *shuffledConn) roll(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.random.IntN(n)
}

func (c *shuffledConn) read() {
	defer close(c.failed)
	for {
		m, err := c.Connection.Read(context.Background())
		if err != nil {
			c.err = err
			return
		}
		held := c.roll(4)
		go func() {
			for range held * c.roll(200) {
				runtime.Gosched()
			}
			select {
			case c.arrived <- m:
			case <-c.failed:
			}
		}()
	}
}

func (c *shuffledConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.arrived:
		return m, nil
	case <-c.failed:
		return nil, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Calls of several goroutines add and remove tools while others list; after each answer
// the next set has what that goroutine added, and lacks what it removed.
//
//claim:mcp-11
func TestTools_ListReflectsAnsweredCalls(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	total, workers := race.Cases(3_000), 8
	f := newFixture()
	server := f.inMemory()
	made := server.Transport
	server.Transport = func(ctx context.Context) (mcp.Transport, error) {
		inner, err := made(ctx)
		return shuffled{inner, seed}, err
	}
	s := open(t, map[string]Server{"srv": server}, Options{MaxWait: time.Minute})
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(w)))
			var mine []string
			for i := range total / workers {
				if len(mine) < 1 || len(mine) < 4 && random.IntN(2) == 0 {
					name := fmt.Sprintf("w%d_%d", w, i)
					require.Equal(t, "added "+name, ask(t, ctx, s, "srv__add_tool", `{"text":"`+name+`"}`))
					mine = append(mine, name)
				} else {
					at := random.IntN(len(mine))
					require.Equal(t, "removed "+mine[at], ask(t, ctx, s, "srv__remove_tool", `{"text":"`+mine[at]+`"}`))
					mine = slices.Delete(mine, at, at+1)
				}
				var got []string
				prefix := fmt.Sprintf("srv__w%d_", w)
				for _, name := range namesIn(t, ctx, s) {
					if strings.HasPrefix(name, prefix) {
						got = append(got, strings.TrimPrefix(name, "srv__"))
					}
				}
				require.ElementsMatch(t, mine, got, "after %d changes", i+1)
			}
		})
	}
	all.Wait()
}

// Sessions that come and go under load leave nothing behind.
//
//claim:mcp-32
func TestServers_ManyRestartsLeakNothing(t *testing.T) {
	f := newFixture()
	srv := f.web(t, func(h http.Handler) http.Handler {
		var n int
		var mu sync.Mutex
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			n++
			bad := n%7 == 0
			mu.Unlock()
			if bad {
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			s, err := Open(ctx, map[string]Server{"srv": {URL: srv.URL, Timeout: time.Second}, "memory": f.inMemory()}, Options{MaxWait: time.Millisecond})
			require.NoError(t, err)
			defer func() { require.NoError(t, s.Close()) }()
			for range 20 {
				set := toolsOf(t, ctx, s)
				for x := range set.All() {
					info, err := x.Info(ctx)
					require.NoError(t, err)
					if h := HintsOf(info); h.Tool == "echo" || h.Tool == "fail" {
						answer, err := x.(*textTool).InvokableRun(ctx, `{"text":"x"}`)
						require.NoError(t, err)
						require.NotEmpty(t, answer)
					}
				}
			}
		})
	}
	all.Wait()
	srv.CloseClientConnections()
	require.Empty(t, leftBehind(time.Minute))
}
