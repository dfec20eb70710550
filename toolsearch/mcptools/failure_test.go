// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Servers that die, hang, or were never there.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/toolsearch/toolset"
)

//claim:mcp-17
func TestTools_DownServerBlocksNobody(t *testing.T) {
	var events recorder
	broken := child(t, "broken")
	missing := Server{Command: filepath.Join(t.TempDir(), "no-such-program")}
	s := open(t, map[string]Server{"good": newFixture().inMemory(), "broken": broken, "missing": missing, "nobody": {URL: "http://127.0.0.1:1/mcp"}}, Options{OnEvent: events.record})
	require.Equal(t, "x", ask(t, ctx, s, "good__echo", `{"text":"x"}`))
	for _, name := range []string{"broken", "missing", "nobody"} {
		st := statusOf(s, name)
		require.Equal(t, StateDown, st.State, name)
		require.Error(t, st.Err, name)
		require.False(t, st.NextTry.IsZero(), name)
	}
	require.ErrorContains(t, statusOf(s, "broken").Err, "no license file found", "the program's last words say why")
	require.Len(t, events.wait(t, einolean.KindServerDown, 3), 3)
	require.Equal(t, []string{"broken", "missing", "nobody"}, missingOf(t, s, ctx))
}

// A server that has shown its tools and died is not missing: they are still offered.
func TestMissing_NamesOnlyServersWithoutTools(t *testing.T) {
	server, revoked := newFixture().web(t, nil), false
	s := open(t, map[string]Server{"dies": {URL: server.URL}, "empty": mcpEmpty(), "refuses": {URL: "http://127.0.0.1:1/mcp", Shared: true}}, Options{User: func(ctx context.Context) (string, error) {
		if revoked {
			return "", errors.New("revoked")
		}
		return userOf(ctx)
	}})
	require.NotEmpty(t, namesIn(t, as("ann"), s))
	server.CloseClientConnections()
	server.Close()
	require.Contains(t, ask(t, as("ann"), s, "dies__echo", `{"text":"x"}`), "dies")
	require.Equal(t, []string{"refuses"}, missingOf(t, s, as("ann")))
	require.Equal(t, []string{"dies", "refuses"}, missingOf(t, s, as("bob")), "this user has never seen its tools")
	revoked = true
	require.Empty(t, missingOf(t, s, as("ann")))
}

// missingOf are the servers that lack in the tools of a user.
func missingOf(t *testing.T, s *Servers, ctx context.Context) []string {
	t.Helper()
	_, err := s.Tools(ctx)
	var missing *toolset.Missing
	if errors.As(err, &missing) {
		return missing.Servers
	}
	return nil
}

// mcpEmpty is a server without tools that answers.
func mcpEmpty() Server {
	return Server{Transport: func(context.Context) (mcp.Transport, error) {
		client, server := mcp.NewInMemoryTransports()
		_, err := mcp.NewServer(&mcp.Implementation{Name: "empty"}, &mcp.ServerOptions{HasTools: true}).Connect(context.Background(), server, nil)
		return client, err
	}}
}

// A child that is killed is started again, and what a call needs of it is there at once.
//
//claim:mcp-22
func TestCall_KilledServerIsReconnected(t *testing.T) {
	var events recorder
	s := open(t, map[string]Server{"srv": child(t, "yes")}, Options{OnEvent: events.record})
	for range 3 {
		pid := ask(t, ctx, s, "srv__pid", `{}`)
		before := namesIn(t, ctx, s)
		var id int
		_, err := fmt.Sscan(pid, &id)
		require.NoError(t, err)
		child, err := os.FindProcess(id)
		require.NoError(t, err)
		require.NoError(t, child.Kill())
		require.NotEqual(t, pid, ask(t, ctx, s, "srv__pid", `{}`))
		require.Equal(t, before, namesIn(t, ctx, s))
	}
	require.Len(t, events.wait(t, einolean.KindServerDown, 3), 3, "every end is told")
	require.Len(t, events.of(einolean.KindServerUp), 4)
	require.Len(t, events.of(einolean.KindServerListed), 1, "its list is the same each time")
}

// A call during which the server dies is repeated only where that does no harm.
//
//claim:mcp-23
func TestCall_RepeatsOnlyHarmlessBrokenCalls(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deaths")
	server := child(t, "yes")
	server.Env[deathsVar] = file
	deaths := func() int {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		return strings.Count(string(data), "\n")
	}
	s := open(t, map[string]Server{"srv": server}, Options{})
	require.Contains(t, ask(t, ctx, s, "srv__die", `{}`), "was lost")
	require.Equal(t, 1, deaths())
	require.Equal(t, "x", ask(t, ctx, s, "srv__echo", `{"text":"x"}`))
	require.Equal(t, 1, deaths())
	require.Contains(t, ask(t, ctx, s, "srv__die_reading", `{}`), "was lost", "it dies the second time as well, and there is no third")
	require.Equal(t, "x", ask(t, ctx, s, "srv__echo", `{"text":"x"}`))
	require.Equal(t, 3, deaths())
}

//claim:mcp-26 security-62
func TestTimeout_SlowCallIsAnswered(t *testing.T) {
	for way, server := range ways(t) {
		t.Run(way, func(t *testing.T) {
			server.Timeout = 50 * time.Millisecond
			s := open(t, map[string]Server{"srv": server}, Options{})
			require.Contains(t, ask(t, ctx, s, "srv__wait", `{}`), "did not answer this call within 50ms")
			until(t, "the session answers", func() bool { // a busy machine may take longer than that, too
				return ask(t, ctx, s, "srv__echo", `{"text":"x"}`) == "x"
			})
			require.Equal(t, StateUp, statusOf(s, "srv").State)
		})
	}
}

//claim:mcp-07
func TestTimeout_ProgressExtendsACall(t *testing.T) {
	synctest.Test(t, progressGivesTime)
}

func progressGivesTime(t *testing.T) {
	f := newFixture()
	f.server.AddTool(&mcp.Tool{Name: "long", InputSchema: object("")}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 10 {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i)}); err != nil {
				return nil, err
			}
		}
		return text("done"), nil
	})
	server := f.inMemory()
	server.Timeout = 1500 * time.Millisecond
	s := open(t, map[string]Server{"srv": server}, Options{})
	require.Equal(t, "done", ask(t, ctx, s, "srv__long", `{}`))
}

// Progress that never ends gives no more than ten times the limit.
//
//claim:mcp-07 security-62
func TestTimeout_EndlessProgressEndsACall(t *testing.T) {
	synctest.Test(t, progressEnds)
}

func progressEnds(t *testing.T) {
	f := newFixture()
	f.server.AddTool(&mcp.Tool{Name: "endless", InputSchema: object("")}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for {
			select {
			case <-time.After(50 * time.Millisecond):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken()}); err != nil {
				return nil, err
			}
		}
	})
	server := f.inMemory()
	server.Timeout = 500 * time.Millisecond
	s := open(t, map[string]Server{"srv": server}, Options{})
	began := time.Now()
	require.Contains(t, ask(t, ctx, s, "srv__endless", `{}`), "did not answer")
	require.Equal(t, maxTimeouts*server.Timeout, time.Since(began))
}

// The end of the run ends its calls, and is the only error.
func TestCall_EndsWithTheRun(t *testing.T) {
	for way, server := range ways(t) {
		t.Run(way, func(t *testing.T) {
			s := open(t, map[string]Server{"srv": server}, Options{})
			ctx, cancel := context.WithCancel(context.Background())
			x := find(t, ctx, s, "srv__wait").(tool.InvokableTool)
			done := make(chan error, 1)
			go func() {
				_, err := x.InvokableRun(ctx, `{}`)
				done <- err
			}()
			cancel()
			require.ErrorIs(t, <-done, context.Canceled)
			require.Equal(t, "x", ask(t, context.Background(), s, "srv__echo", `{"text":"x"}`), "the session lives")
		})
	}
}

// Programs that read nothing, and that heed no signal, are ended all the same.
//
//claim:mcp-32
func TestClose_EndsUnresponsiveProcesses(t *testing.T) {
	deaf, chatty := child(t, "deaf"), child(t, "chatty")
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	s, err := Open(ctx, map[string]Server{"deaf": deaf, "chatty": chatty}, Options{})
	require.NoError(t, err)
	require.Less(t, time.Since(began), firstWait, "ctx bounds the wait")
	require.Empty(t, namesIn(t, ctx, s))
	began = time.Now()
	require.NoError(t, s.Close())
	require.Less(t, time.Since(began), time.Minute)
	require.Empty(t, leftBehind(time.Minute))
	require.NoError(t, s.Close(), "again")
}

// A server that goes on would otherwise wait for requests of nobody, for a minute and a half.
func TestClose_LeavesNoConnectionOpen(t *testing.T) {
	srv := httptest.NewUnstartedServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return newFixture().server }, nil))
	var connections sync.Map
	srv.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			connections.Delete(c)
			return
		}
		connections.Store(c, state)
	}
	srv.Start()
	t.Cleanup(srv.Close)
	s, err := Open(ctx, map[string]Server{"srv": {URL: srv.URL}}, Options{})
	require.NoError(t, err)
	require.Equal(t, "x", ask(t, ctx, s, "srv__echo", `{"text":"x"}`))
	require.NoError(t, s.Close())
	require.Eventually(t, func() bool {
		left := 0
		connections.Range(func(any, any) bool { left++; return true })
		return left == 0
	}, time.Minute, time.Millisecond)
}

func TestClose_LaterCallsAreAnswered(t *testing.T) {
	s := open(t, ways(t), Options{})
	tools := map[string]tool.InvokableTool{}
	for _, name := range []string{"http__echo", "memory__echo", "stdio__echo"} {
		tools[name] = find(t, ctx, s, name).(tool.InvokableTool)
	}
	waits := find(t, ctx, s, "memory__wait").(tool.InvokableTool)
	answered := make(chan string)
	go func() {
		answer, _ := waits.InvokableRun(ctx, `{}`)
		answered <- answer
	}()
	require.NoError(t, s.Close())
	require.Contains(t, <-answered, "error: ", "a call under way is answered")
	set, err := s.Tools(ctx)
	require.Error(t, err)
	require.NotNil(t, set)
	for name, x := range tools {
		answer, err := x.InvokableRun(ctx, `{"text":"x"}`)
		require.NoError(t, err, name)
		require.Contains(t, answer, "shutting down", name)
	}
}

// A web server that was restarted knows none of its sessions. Nobody notices but the log.
func TestHTTP_RestartedServerIsUsedAgain(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	start := func(l net.Listener, f *fixture) *http.Server {
		srv := &http.Server{ReadHeaderTimeout: time.Second, Handler: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return f.server }, nil)}
		go func() { _ = srv.Serve(l) }()
		return srv
	}
	first, second := newFixture(), newFixture()
	second.addSimple("after_the_update")
	srv := start(listener, first)
	s := open(t, map[string]Server{"srv": {URL: "http://" + address}}, Options{})
	require.Equal(t, "added one", ask(t, ctx, s, "srv__add_tool", `{"text":"one"}`))
	require.Contains(t, namesIn(t, ctx, s), "srv__one")
	require.NoError(t, srv.Close())
	require.Contains(t, namesIn(t, ctx, s), "srv__one", "its tools stay meanwhile")
	answer := ask(t, ctx, s, "srv__add_tool", `{"text":"lost"}`)
	require.Contains(t, answer, "error: ")
	require.Equal(t, 0, second.called("add_tool"))

	until(t, "the port is free again", func() bool {
		listener, err = net.Listen("tcp", address)
		return err == nil
	})
	srv = start(listener, second)
	defer func() { _ = srv.Close() }()
	until(t, "it is connected again", func() bool {
		answer, err := find(t, ctx, s, "srv__echo").(tool.InvokableTool).InvokableRun(ctx, `{"text":"x"}`)
		return err == nil && answer == "x"
	})
	until(t, "its new list is read", func() bool {
		names := namesIn(t, ctx, s)
		return strings.Contains(strings.Join(names, " "), "srv__after_the_update")
	})
	require.NotContains(t, namesIn(t, ctx, s), "srv__one")
}

// A web server that forgot the session never took the call: it is made again, even if the tool changes
// something.
//
//claim:mcp-23
func TestCall_RepeatsUndeliveredCalls(t *testing.T) {
	f := newFixture()
	var handler http.Handler
	srv := f.web(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) })
	})
	fresh := func() http.Handler {
		return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return f.server }, nil)
	}
	handler = fresh()
	s := open(t, map[string]Server{"srv": {URL: srv.URL}}, Options{})
	if statusOf(s, "srv").Protocol >= "2026" {
		t.Log("this protocol has no sessions: the call goes through as it is")
	}
	handler = fresh()
	require.Equal(t, "added one", ask(t, ctx, s, "srv__add_tool", `{"text":"one"}`))
	require.Equal(t, 1, f.called("add_tool"))
}

//claim:mcp-27
func TestList_HungListKeepsTheLastOne(t *testing.T) {
	f := newFixture()
	hang := make(chan struct{})
	var hung bool
	f.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			f.mu.Lock()
			h := hung
			f.mu.Unlock()
			if method == "tools/list" && h {
				<-hang
			}
			return next(ctx, method, r)
		}
	})
	s := open(t, map[string]Server{"srv": f.inMemory()}, Options{MaxWait: 20 * time.Millisecond})
	before := namesIn(t, ctx, s)
	f.mu.Lock()
	hung = true
	f.mu.Unlock()
	require.Equal(t, "added late", ask(t, ctx, s, "srv__add_tool", `{"text":"late"}`))
	began := time.Now()
	require.Equal(t, before, namesIn(t, ctx, s))
	require.Less(t, time.Since(began), listTimeout/2, "MaxWait bounds the wait")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	require.Equal(t, before, namesIn(t, ended, s))
	close(hang)
	until(t, "the list is there when it is", func() bool { return len(namesIn(t, ctx, s)) == len(before)+1 })
}

func TestTransport_FailureIsRetried(t *testing.T) {
	t.Parallel()
	f := newFixture()
	works := f.inMemory().Transport
	var tries int
	looked := make(chan struct{})
	s := open(t, map[string]Server{"srv": {Transport: func(ctx context.Context) (mcp.Transport, error) {
		switch tries++; tries {
		case 1:
			return nil, errors.New("not yet")
		case 2:
			<-looked
			return nil, nil
		case 3:
			panic("boom")
		}
		return works(ctx)
	}}}, Options{})
	require.ErrorContains(t, statusOf(s, "srv").Err, "not yet")
	close(looked)
	until(t, "it is up", func() bool { return statusOf(s, "srv").State == StateUp })
	until(t, "its tools are there", func() bool { return len(namesIn(t, ctx, s)) == 11 })
}
