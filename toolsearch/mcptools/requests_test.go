// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 servers go on using what the protocol deprecates

package mcptools

// Servers that ask the client for something.

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// Requests of a server to the client that nobody serves are answered, and hold nothing up.
//
//claim:mcp-25
func TestSession_AnswersServerRequests(t *testing.T) {
	requests := map[string]func(context.Context, *mcp.ServerSession) error{
		"sampling": func(ctx context.Context, s *mcp.ServerSession) error {
			_, err := s.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 1})
			return err
		},
		"elicitation": func(ctx context.Context, s *mcp.ServerSession) error {
			_, err := s.Elicit(ctx, &mcp.ElicitParams{Message: "who?"})
			return err
		},
		"roots": func(ctx context.Context, s *mcp.ServerSession) error {
			_, err := s.ListRoots(ctx, nil)
			return err
		},
		"log": func(ctx context.Context, s *mcp.ServerSession) error {
			return s.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: "x"})
		},
	}
	f := newFixture()
	for name, request := range requests {
		f.server.AddTool(&mcp.Tool{Name: name, InputSchema: object("")}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return text(fmt.Sprint("asked: ", request(ctx, r.Session))), nil
		})
	}
	needs := map[string]mcp.InputRequestMap{
		"needs_sampling":    {"1": &mcp.CreateMessageParams{MaxTokens: 1}},
		"needs_elicitation": {"1": &mcp.ElicitParams{Message: "who?"}},
		"needs_for_ever":    {},
	}
	for name, need := range needs {
		f.server.AddTool(&mcp.Tool{Name: name, InputSchema: object("")}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{InputRequests: need, RequestState: "1"}, nil
		})
	}
	for way, server := range map[string]Server{"memory": f.inMemory(), "http": {URL: f.web(t, nil).URL}} {
		s := open(t, map[string]Server{"srv": server}, Options{})
		for name := range requests {
			limited, cancel := context.WithTimeout(ctx, 20*time.Second)
			answer, err := find(t, ctx, s, "srv__"+name).(tool.InvokableTool).InvokableRun(limited, `{}`)
			cancel()
			require.NoError(t, err, "%s over %s", name, way)
			require.Contains(t, answer, "asked: ", "%s over %s", name, way)
		}
		for name := range needs {
			if answer := ask(t, ctx, s, "srv__"+name, `{}`); name != "needs_elicitation" || answer != "" { // an older server asks once
				require.Contains(t, answer, "error: ", "%s over %s", name, way)
			}
			t.Log(way, name, ask(t, ctx, s, "srv__"+name, `{}`))
		}
		require.Equal(t, StateUp, statusOf(s, "srv").State)
		require.Equal(t, 11+len(requests)+len(needs), statusOf(s, "srv").Tools)
	}
}
