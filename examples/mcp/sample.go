// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Two small MCP servers, so that the example runs without others: one on stdio, which is this
// program started again, and one on HTTP.

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/einolean/einolean/toolsearch/mcptools"
)

type textArgs struct {
	Text string `json:"text" jsonschema:"the text to work on"`
}

type dateArgs struct {
	Date string `json:"date" jsonschema:"a date such as 2026-02-28"`
}

func answer(format string, args ...any) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}, nil, nil
}

// textServer works on text.
func textServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "text", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "count_words", Description: "Counts the words of a text."},
		func(_ context.Context, _ *mcp.CallToolRequest, a textArgs) (*mcp.CallToolResult, any, error) {
			return answer("%d words", len(strings.Fields(a.Text)))
		})
	mcp.AddTool(s, &mcp.Tool{Name: "count_characters", Description: "Counts the characters of a text."},
		func(_ context.Context, _ *mcp.CallToolRequest, a textArgs) (*mcp.CallToolResult, any, error) {
			return answer("%d characters", utf8.RuneCountInString(a.Text))
		})
	mcp.AddTool(s, &mcp.Tool{Name: "uppercase", Description: "Turns a text to upper case."},
		func(_ context.Context, _ *mcp.CallToolRequest, a textArgs) (*mcp.CallToolResult, any, error) {
			return answer("%s", strings.ToUpper(a.Text))
		})
	return s
}

// dateServer knows the calendar.
func dateServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "dates", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "weekday", Description: "Tells the day of the week of a date."},
		func(_ context.Context, _ *mcp.CallToolRequest, a dateArgs) (*mcp.CallToolResult, any, error) {
			d, err := time.Parse(time.DateOnly, a.Date)
			if err != nil {
				return nil, nil, fmt.Errorf("the date must look like 2026-02-28: %w", err)
			}
			return answer("%s", d.Weekday())
		})
	return s
}

// serveHTTP serves a server on a free port of this machine, until the context ends.
func serveHTTP(ctx context.Context, s *mcp.Server) (url string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	web := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = web.Serve(listener) }()
	context.AfterFunc(ctx, func() { _ = web.Close() })
	return "http://" + listener.Addr().String(), nil
}

// sample is three servers: two that work and one that is down.
func sample(ctx context.Context) (map[string]mcptools.Server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	url, err := serveHTTP(ctx, dateServer())
	return map[string]mcptools.Server{
		"text":    {Command: self, Env: map[string]string{stdioVariable: "1"}},
		"dates":   {URL: url},
		"weather": {Command: "a-server-that-is-not-installed"},
	}, err
}
