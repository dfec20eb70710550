// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/demo/offline"
	"github.com/einolean/einolean/toolsearch/mcptools"
)

// TestMain lets the test program be the stdio server that the example starts.
func TestMain(m *testing.M) {
	if os.Getenv(stdioVariable) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestRun_UsesBothTransportsAndReportsDownServer(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), &out, nil))
	text := out.String()
	require.Contains(t, text, "server weather  down  0 tools")
	require.Contains(t, text, "server text     up    3 tools")
	require.Contains(t, text, "call   text__count_words")
	require.Contains(t, text, "agent: 4 words")
	require.Contains(t, text, "agent: Saturday")
}

func TestRun_ReadsConfigFile(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	url, err := serveHTTP(ctx, dateServer())
	require.NoError(t, err)
	t.Setenv("DATES_URL", url)
	file := filepath.Join(t.TempDir(), "mcp.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"mcpServers": {"dates": {"url": "${DATES_URL}"}}} // mine`), 0o600))
	var out bytes.Buffer
	require.NoError(t, run(ctx, &out, []string{file, "Which weekday is 2026-03-01?"}))
	require.Contains(t, out.String(), "agent: Sunday")
	require.ErrorContains(t, run(ctx, &out, []string{filepath.Join(t.TempDir(), "none.json")}), "none.json")
}

// One runner serves all runs, and each run sees all changes.
func TestServers_NewToolIsInNextModelCall(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	srv := dateServer()
	url, err := serveHTTP(ctx, srv)
	require.NoError(t, err)
	mcp.AddTool(srv, &mcp.Tool{Name: "install", Description: "Installs the leap year calculator."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			mcp.AddTool(srv, &mcp.Tool{Name: "leap_year", Description: "Tells whether the year of a date is a leap year."},
				func(_ context.Context, _ *mcp.CallToolRequest, a dateArgs) (*mcp.CallToolResult, any, error) {
					return answer("leap year: %v", strings.HasPrefix(a.Date, "2028"))
				})
			return answer("installed")
		})
	servers, err := mcptools.Open(ctx, map[string]mcptools.Server{"dates": {URL: url}}, mcptools.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, servers.Close()) }()
	runner, err := newRunner(ctx, servers, offline.New[*schema.Message]())
	require.NoError(t, err)
	added, err := follow(io.Discard, runner.Run(ctx, []*schema.Message{schema.UserMessage("Install the leap year calculator. Then tell whether 2028-01-01 is in a leap year.")}))
	require.NoError(t, err)
	require.Contains(t, added[len(added)-1].Content, "leap year: true")
}
