// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Web servers: headers, and where they go.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// guard lets requests with a valid token through.
type guard struct {
	mu    sync.Mutex
	valid string
	seen  []http.Header
}

func (g *guard) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.seen = append(g.seen, r.Header.Clone())
		ok := r.Header.Get("Authorization") == "Bearer "+g.valid
		g.mu.Unlock()
		if !ok {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (g *guard) renew(token string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.valid = token
}

//claim:mcp-30
func TestHeader_AskedPerConnectionAndAfterRejection(t *testing.T) {
	g := &guard{valid: "one"}
	f := newFixture()
	srv := f.web(t, g.around)
	var asked atomic.Int64
	header := func(_ context.Context, server string) (http.Header, error) {
		asked.Add(1)
		g.mu.Lock()
		defer g.mu.Unlock()
		return http.Header{"Authorization": {"Bearer " + g.valid}, "X-Server": {server}}, nil
	}
	s := open(t, map[string]Server{"srv": {URL: srv.URL, Headers: map[string]string{"X-Fixed": "always", "Authorization": "nobody"}}}, Options{Header: header})
	require.Equal(t, "x", ask(t, ctx, s, "srv__echo", `{"text":"x"}`))
	require.Equal(t, int64(1), asked.Load())
	g.renew("two")
	require.Equal(t, "added one", ask(t, ctx, s, "srv__add_tool", `{"text":"one"}`), "the request is made again with new headers")
	require.Equal(t, 1, f.called("add_tool"))
	require.GreaterOrEqual(t, asked.Load(), int64(2))
	require.LessOrEqual(t, asked.Load(), int64(3))
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, h := range g.seen {
		require.Equal(t, "always", h.Get("X-Fixed"))
		require.Equal(t, "srv", h.Get("X-Server"))
	}
}

//claim:mcp-31
func TestStatus_SignInNeededIsReported(t *testing.T) {
	t.Parallel()
	g := &guard{valid: "good"}
	srv := newFixture().web(t, g.around)
	var broken atomic.Bool
	token := "expired"
	s := open(t, map[string]Server{"srv": {URL: srv.URL}, "none": {URL: srv.URL}}, Options{Header: func(_ context.Context, server string) (http.Header, error) {
		if server == "none" {
			if broken.Load() {
				panic("boom")
			}
			return nil, errors.New("there is no token")
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		return http.Header{"Authorization": {"Bearer " + token}}, nil
	}})
	require.Equal(t, StateSignIn, statusOf(s, "srv").State)
	require.ErrorContains(t, statusOf(s, "none").Err, "there is no token")
	broken.Store(true)
	until(t, "a panic is an error", func() bool { return strings.Contains(fmt.Sprint(statusOf(s, "none").Err), "boom") })
	g.mu.Lock()
	token = "good"
	g.mu.Unlock()
	until(t, "it is up", func() bool { return statusOf(s, "srv").State == StateUp })
	until(t, "its tools are there", func() bool { return len(namesIn(t, ctx, s)) == 11 })

	echo := find(t, ctx, s, "srv__echo").(*textTool)
	g.renew("nobody has it")
	answer, err := echo.InvokableRun(ctx, `{"text":"x"}`)
	require.NoError(t, err)
	require.Contains(t, answer, "sign in")
	until(t, "it says so", func() bool { return statusOf(s, "srv").State == StateSignIn })
}

func TestHTTPClient_IsUsedAndNotModified(t *testing.T) {
	var requests atomic.Int64
	client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		requests.Add(1)
		return http.DefaultTransport.RoundTrip(r)
	})}
	before := *client
	s := open(t, map[string]Server{"srv": {URL: newFixture().web(t, nil).URL}}, Options{HTTPClient: client})
	require.Equal(t, "x", ask(t, ctx, s, "srv__echo", `{"text":"x"}`))
	require.Positive(t, requests.Load())
	require.Equal(t, fmt.Sprint(before.Transport), fmt.Sprint(client.Transport))
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestServers_WorkOverSSE(t *testing.T) {
	f := newFixture()
	srv := httptest.NewServer(mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return f.server }, nil))
	t.Cleanup(srv.Close)
	t.Cleanup(srv.CloseClientConnections)
	s := open(t, map[string]Server{"srv": {Type: "sse", URL: srv.URL}}, Options{MaxWait: 1e10})
	require.Equal(t, "x", ask(t, ctx, s, "srv__echo", `{"text":"x"}`))
	ask(t, ctx, s, "srv__add_tool", `{"text":"one"}`)
	require.Contains(t, namesIn(t, ctx, s), "srv__one")
}
