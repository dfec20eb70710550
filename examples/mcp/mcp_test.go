// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/examples/offline"
)

// TestMain lets the test program be the stdio server that the example starts.
func TestMain(m *testing.M) {
	if os.Getenv(stdioVariable) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func names(t *testing.T, s *Servers) (all []string) {
	t.Helper()
	for _, x := range s.Tools() {
		info, err := x.Info(context.Background())
		require.NoError(t, err)
		all = append(all, info.Name)
	}
	return all
}

func call(t *testing.T, s *Servers, name, args string) string {
	t.Helper()
	for _, x := range s.Tools() {
		if info, _ := x.Info(context.Background()); info.Name == name {
			text, err := x.(tool.InvokableTool).InvokableRun(context.Background(), args)
			require.NoError(t, err)
			return text
		}
	}
	t.Fatalf("no tool %q", name)
	return ""
}

func TestTheExampleAnswersOverStdioAndHTTPAndReportsTheServerThatIsDown(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), &out, nil))
	text := out.String()
	require.Contains(t, text, `server "weather"`)
	require.Contains(t, text, "call   text__count_words")
	require.Contains(t, text, "agent: 4 words")
	require.Contains(t, text, "agent: Saturday")
}

func TestAChangedToolListIsPickedUpByTheNextRun(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	srv := dateServer()
	url, err := serveHTTP(ctx, srv)
	require.NoError(t, err)
	s := Connect(ctx, Config{Servers: map[string]ServerConfig{"dates": {URL: url}}})
	defer s.Close()
	require.NoError(t, s.Down())
	agents := &Agents{Model: offline.New[*schema.Message](), Servers: s}
	first, err := agents.Runner(ctx)
	require.NoError(t, err)
	again, err := agents.Runner(ctx)
	require.NoError(t, err)
	require.Same(t, first, again, "nothing changed, nothing is built")

	before := s.Version()
	mcp.AddTool(srv, &mcp.Tool{Name: "leap_year", Description: "Tells whether the year of a date is a leap year."},
		func(_ context.Context, _ *mcp.CallToolRequest, a dateArgs) (*mcp.CallToolResult, any, error) {
			return answer("leap year: %v", strings.HasPrefix(a.Date, "2028"))
		})
	require.Eventually(t, func() bool { return s.Version() != before }, 10*time.Second, 5*time.Millisecond)
	history, err := agents.Ask(ctx, nil, "Is the year of 2028-01-01 a leap year?")
	require.NoError(t, err)
	require.Contains(t, history[len(history)-1].Content, "leap year: true")
}

func TestAServerThatComesBackIsUsedAgain(t *testing.T) {
	ctx := context.Background()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	s := Connect(ctx, Config{Servers: map[string]ServerConfig{"dates": {URL: "http://" + address}}})
	defer s.Close()
	require.ErrorContains(t, s.Down(), `server "dates"`)
	require.Empty(t, s.Tools())

	listener, err = net.Listen("tcp", address)
	require.NoError(t, err)
	srv := dateServer()
	web := &http.Server{Handler: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return srv }, nil), ReadHeaderTimeout: time.Second}
	go func() { _ = web.Serve(listener) }()
	defer func() { _ = web.Close() }()
	s.Refresh(ctx)
	require.NoError(t, s.Down())
	require.Equal(t, "Sunday", call(t, s, "dates__weekday", `{"date":"2026-03-01"}`))
}

func TestAToolsErrorIsAnAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	url, err := serveHTTP(ctx, dateServer())
	require.NoError(t, err)
	s := Connect(ctx, Config{Servers: map[string]ServerConfig{"dates": {URL: url}}})
	defer s.Close()
	require.Contains(t, call(t, s, "dates__weekday", `{"date":"soon"}`), "error: the date must look like")
	require.Contains(t, call(t, s, "dates__weekday", `{"date":`), "error: ")
}

func TestNamesArePrefixedCleanAndShort(t *testing.T) {
	require.Equal(t, "srv__read_file", toolName("srv", "read.file"))
	require.Len(t, toolName("srv", strings.Repeat("x", 100)), maxName)
}

func TestAConfigurationErrorNamesEveryServerThatIsWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "servers.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"mcpServers":{"a b":{"command":"x"},"c":{},"d":{"command":"x","url":"y"}}}`), 0o600))
	_, err := readConfig(file)
	require.ErrorContains(t, err, `"a b"`)
	require.ErrorContains(t, err, `server "c"`)
	require.ErrorContains(t, err, `server "d"`)
}

// TestPublishedServers runs servers from the npm registry, where npx and the registry are
// there.
func TestPublishedServers(t *testing.T) {
	npx, err := exec.LookPath("npx")
	if err != nil {
		t.Skip("npx is not installed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "npm", "view", "@modelcontextprotocol/server-filesystem", "version").CombinedOutput(); err != nil {
		t.Skipf("the npm registry cannot be reached: %v %s", err, out)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "note.txt"), []byte("forty-two"), 0o600))
	for _, pkg := range []string{"server-everything", "server-filesystem"} { // fetch them outside the connection's time limit
		out, err := exec.CommandContext(ctx, npx, "-y", "-p", "@modelcontextprotocol/"+pkg, "node", "-e", "0").CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	s := Connect(ctx, Config{Servers: map[string]ServerConfig{
		"everything": {Command: npx, Args: []string{"-y", "@modelcontextprotocol/server-everything", "stdio"}},
		"files":      {Command: npx, Args: []string{"-y", "@modelcontextprotocol/server-filesystem", dir}},
	}})
	defer s.Close()
	require.NoError(t, s.Down())
	require.Contains(t, names(t, s), "everything__echo")
	require.Contains(t, names(t, s), "files__read_text_file")
	require.Contains(t, call(t, s, "everything__echo", `{"message":"hello"}`), "hello")
	require.Contains(t, call(t, s, "files__read_text_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(dir, "note.txt"))), "forty-two")

	agents := &Agents{Model: offline.New[*schema.Message](), Servers: s}
	history, err := agents.Ask(ctx, nil, fmt.Sprintf("Read the text file %q", filepath.Join(dir, "note.txt")))
	require.NoError(t, err)
	require.Contains(t, history[len(history)-1].Content, "forty-two")
}
