// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Sessions of users: whose they are, and when they end.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

type userKey struct{}

func as(name string) context.Context { return context.WithValue(context.Background(), userKey{}, name) }

func userOf(ctx context.Context) (string, error) {
	name, ok := ctx.Value(userKey{}).(string)
	if name == "panic" {
		panic("boom")
	}
	if !ok {
		return "", errors.New("nobody is signed in")
	}
	return name, nil
}

// tenant is a web server that shows each user a tool of their own.
func tenant(t testing.TB) string {
	h := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		f := newFixture()
		who := r.Header.Get("X-User")
		f.addSimple("of_" + who)
		f.add(&mcp.Tool{Name: "whoami", InputSchema: object("")}, func(context.Context, args) (*mcp.CallToolResult, error) { return text(who), nil })
		return f.server
	}, nil)
	srv := newFixture().web(t, func(http.Handler) http.Handler { return h })
	return srv.URL
}

func userHeader(ctx context.Context, _ string) (http.Header, error) {
	name, err := userOf(ctx)
	return http.Header{"X-User": {name}}, err
}

//claim:mcp-41
func TestUser_HasOwnSessionsAndTools(t *testing.T) {
	shared := newFixture()
	common := shared.inMemory()
	common.Shared = true
	s := open(t, map[string]Server{"own": {URL: tenant(t)}, "shared": common}, Options{User: userOf, Header: userHeader})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			name := fmt.Sprint("user", i%4)
			names := strings.Join(namesIn(t, as(name), s), " ")
			require.Contains(t, names, "own__of_"+name)
			require.Equal(t, 1, strings.Count(names, "own__of_"))
			require.Contains(t, names, "shared__echo")
			require.Equal(t, name, ask(t, as(name), s, "own__whoami", `{}`))
			require.Equal(t, name, ask(t, as(name), s, "shared__echo", `{"text":"`+name+`"}`))
		})
	}
	all.Wait()
	own := 0
	for _, st := range s.Status() {
		if st.Server == "own" {
			own++
			require.NotEmpty(t, st.User)
		} else {
			require.Empty(t, st.User)
		}
	}
	require.Equal(t, 4, own)
	require.Len(t, s.Status(), 5)

	// A tool of one user's list that another calls runs as the one who calls.
	whoami := find(t, as("user0"), s, "own__whoami").(tool.InvokableTool)
	answer, err := whoami.InvokableRun(as("user1"), `{}`)
	require.NoError(t, err)
	require.Equal(t, "user1", answer)
}

//claim:mcp-42
func TestUser_MissingKeyHasNoToolsOrCalls(t *testing.T) {
	f := newFixture()
	server := f.inMemory()
	server.Shared = true
	s := open(t, map[string]Server{"srv": server, "own": newFixture().inMemory()}, Options{User: userOf})
	echo := find(t, as("ann"), s, "srv__echo").(tool.InvokableTool)
	for what, ctx := range map[string]context.Context{"an error": context.Background(), "an empty key": as(""), "a panic": as("panic")} {
		set, err := s.Tools(ctx)
		require.Error(t, err, what)
		set.Select(func(i *schema.ToolInfo) bool { t.Errorf("%s: there is %s", what, i.Name); return true })
		answer, err := echo.InvokableRun(ctx, `{"text":"x"}`)
		require.NoError(t, err, what)
		require.Contains(t, answer, "not known which user", what)
	}
	require.Zero(t, f.called("echo"))
}

//claim:mcp-40
func TestUser_IdleSessionsCloseAndReopen(t *testing.T) {
	s := newServers(map[string]Server{"own": {URL: tenant(t)}}, Options{User: userOf, Header: userHeader})
	s.idleLimit = 40 * time.Millisecond
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.True(t, s.work.start(s.closeIdle))
	whoami := find(t, as("ann"), s, "own__whoami").(tool.InvokableTool)
	wait := find(t, as("bob"), s, "own__wait").(tool.InvokableTool)
	busy, cancel := context.WithCancel(as("bob"))
	ended := make(chan error, 1)
	go func() {
		_, err := wait.InvokableRun(busy, `{}`)
		ended <- err
	}()
	users := func() string {
		names := ""
		for _, st := range s.Status() {
			names += st.User + " "
		}
		return names
	}
	until(t, "ann is idle", func() bool { return users() == "bob " })
	answer, err := whoami.InvokableRun(as("ann"), `{}`)
	require.NoError(t, err)
	require.Equal(t, "ann", answer)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	until(t, "both are idle", func() bool { return users() == "" })
}

func TestUser_LeastRecentlyUsedLosesTheSession(t *testing.T) {
	s := newServers(map[string]Server{"own": newFixture().inMemory()}, Options{User: userOf})
	s.userLimit = 3
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	for i := range 5 {
		require.Contains(t, namesIn(t, as(fmt.Sprint("user", i)), s), "own__echo")
	}
	require.Len(t, s.Status(), 3)
	for _, st := range s.Status() {
		require.NotContains(t, []string{"user0", "user1"}, st.User, "the one who needed it least recently goes")
	}
	for i := range 3 {
		_, done, err := s.use(as(fmt.Sprint("busy", i)))
		require.NoError(t, err)
		defer done()
	}
	_, err := s.Tools(as("one more"))
	require.ErrorContains(t, err, "3 users")
}

// Who asks with a limit gets what there is within it, though the first connection takes longer.
//
//claim:mcp-13
func TestTools_FirstConnectionLeavesTimeToAnswer(t *testing.T) {
	synctest.Test(t, leavesTimeToAnswer)
}

func leavesTimeToAnswer(t *testing.T) {
	slow := Server{Transport: func(ctx context.Context) (mcp.Transport, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	s := open(t, map[string]Server{"slow": slow, "quick": newFixture().inMemory()}, Options{User: userOf})
	limited, cancel := context.WithTimeout(as("ann"), time.Second)
	defer cancel()
	names := namesIn(t, limited, s)
	require.NoError(t, limited.Err(), "it is not too late")
	require.Contains(t, names, "quick__echo")
}
