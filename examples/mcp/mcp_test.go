// Copyright leanctx authors
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
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/toolsearch/mcptools"
)

// TestMain lets the test program be the stdio server that the example starts.
func TestMain(m *testing.M) {
	if os.Getenv(stdioVariable) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestTheExampleAnswersOverStdioAndHTTPAndReportsTheServerThatIsDown(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), &out, nil))
	text := out.String()
	require.Contains(t, text, "server weather  down  0 tools")
	require.Contains(t, text, "server text     up    3 tools")
	require.Contains(t, text, "call   text__count_words")
	require.Contains(t, text, "agent: 4 words")
	require.Contains(t, text, "agent: Saturday")
}

func TestTheFileOfAnotherProgramIsRead(t *testing.T) {
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

func TestAChangedToolListIsPickedUpByTheNextRun(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	srv := dateServer()
	url, err := serveHTTP(ctx, srv)
	require.NoError(t, err)
	servers, err := mcptools.Open(ctx, map[string]mcptools.Server{"dates": {URL: url}}, mcptools.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, servers.Close()) }()
	before, err := servers.Tools(ctx)
	require.NoError(t, err)
	mcp.AddTool(srv, &mcp.Tool{Name: "leap_year", Description: "Tells whether the year of a date is a leap year."},
		func(_ context.Context, _ *mcp.CallToolRequest, a dateArgs) (*mcp.CallToolResult, any, error) {
			return answer("leap year: %v", strings.HasPrefix(a.Date, "2028"))
		})
	require.Eventually(t, func() bool {
		now, err := servers.Tools(ctx)
		return err == nil && now != before
	}, 10*time.Second, time.Millisecond)
	history, err := answered(ctx, io.Discard, servers, []*schema.Message{schema.UserMessage("Is the year of 2028-01-01 a leap year?")})
	require.NoError(t, err)
	require.Contains(t, history[len(history)-1].Content, "leap year: true")
}
