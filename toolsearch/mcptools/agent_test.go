// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package mcptools_test

// Whole agents: tools of servers behind toolsearch, and their results cut by reduction.

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/reduction"
	"github.com/leanctx/leanctx/toolsearch"
	"github.com/leanctx/leanctx/toolsearch/mcptools"
)

// kept is a store that remembers what was written.
type kept struct {
	mu    sync.Mutex
	files map[string]string
}

func (k *kept) Write(_ context.Context, r *filesystem.WriteRequest) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.files[r.FilePath] = r.Content
	return nil
}

// reports is a server with one tool, whose result is long.
func reports(result string) mcptools.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "reports", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "monthly", Description: "Returns the monthly report", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: result}}}, nil
		})
	return mcptools.Server{Transport: func(ctx context.Context) (mcp.Transport, error) {
		ours, theirs := mcp.NewInMemoryTransports()
		_, err := server.Connect(context.WithoutCancel(ctx), theirs, nil)
		return ours, err
	}}
}

func TestALongResultIsCutAndNoByteOfItIsLost(t *testing.T) {
	for _, media := range []bool{false, true} {
		for _, streaming := range []bool{false, true} {
			t.Run(fmt.Sprintf("Message/media=%v/streaming=%v", media, streaming), func(t *testing.T) {
				cutsWhole[*schema.Message](t, media, streaming)
			})
			t.Run(fmt.Sprintf("AgenticMessage/media=%v/streaming=%v", media, streaming), func(t *testing.T) {
				cutsWhole[*schema.AgenticMessage](t, media, streaming)
			})
		}
	}
}

func cutsWhole[M adk.MessageType](t *testing.T, media, streaming bool) {
	ctx := context.Background()
	var long strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&long, "row %d: ü 表\n", i)
	}
	servers, err := mcptools.Open(ctx, map[string]mcptools.Server{"reports": reports(long.String())}, mcptools.Options{Media: media})
	require.NoError(t, err)
	defer func() { require.NoError(t, servers.Close()) }()
	search, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{Source: servers})
	require.NoError(t, err)
	store := &kept{files: map[string]string{}}
	reduce, err := reduction.NewTyped(ctx, &reduction.TypedConfig[M]{Backend: store, MaxLengthForTrunc: 4000})
	require.NoError(t, err)
	model := adktest.Script[M](
		adktest.Do(adktest.ToolCall{ID: "1", Name: "tool_search", Args: `{"query":"monthly report"}`}),
		adktest.Do(adktest.ToolCall{ID: "2", Name: "reports__monthly", Args: `{}`}),
	)
	out := adktest.Agent[M]{Model: model, Streaming: streaming, Handlers: []adk.TypedChatModelAgentMiddleware[M]{search, reduce}}.Run(ctx, []M{adktest.User[M]("The report, please")})
	require.NoError(t, out.Err)
	require.Equal(t, "done", out.Answer())
	wires := model.Wires()
	require.Contains(t, wires[1].ToolNames, "reports__monthly", "it was found")
	last := wires[2].Messages[len(wires[2].Messages)-1]
	require.Less(t, len(adktest.Dump(last)), 8000, "the model sees a part of it")
	require.Contains(t, adktest.Dump(last), "row 0:")
	found := false
	for _, content := range store.files {
		found = found || content == long.String()
	}
	require.True(t, found, "and the store has all")
}

// changing is a server that adds and removes tools when it is told to.
func changing() mcptools.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "changing", Version: "1"}, nil)
	answer := func(text string) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	}
	type name struct {
		Name string `json:"name"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "add", Description: "Adds a tool"}, func(_ context.Context, _ *mcp.CallToolRequest, n name) (*mcp.CallToolResult, any, error) {
		mcp.AddTool(server, &mcp.Tool{Name: n.Name, Description: "Prints a " + n.Name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return answer("printed a " + n.Name)
		})
		return answer("added " + n.Name)
	})
	mcp.AddTool(server, &mcp.Tool{Name: "remove", Description: "Removes a tool"}, func(_ context.Context, _ *mcp.CallToolRequest, n name) (*mcp.CallToolResult, any, error) {
		server.RemoveTools(n.Name)
		return answer("removed " + n.Name)
	})
	return mcptools.Server{Transport: func(ctx context.Context) (mcp.Transport, error) {
		ours, theirs := mcp.NewInMemoryTransports()
		_, err := server.Connect(context.WithoutCancel(ctx), theirs, nil)
		return ours, err
	}}
}

// In one run: a tool that a call adds is found and run in the next model calls; a call of one that was
// removed is answered, and the run goes on.
func TestARunSeesWhatItsCallsChange(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		t.Run(fmt.Sprintf("Message/streaming=%v", streaming), func(t *testing.T) { seesChanges[*schema.Message](t, streaming) })
		t.Run(fmt.Sprintf("AgenticMessage/streaming=%v", streaming), func(t *testing.T) { seesChanges[*schema.AgenticMessage](t, streaming) })
	}
}

func seesChanges[M adk.MessageType](t *testing.T, streaming bool) {
	ctx := context.Background()
	servers, err := mcptools.Open(ctx, map[string]mcptools.Server{"srv": changing()}, mcptools.Options{MaxWait: time.Minute})
	require.NoError(t, err)
	defer func() { require.NoError(t, servers.Close()) }()
	search, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{Source: servers, AllowUnloadedCalls: true})
	require.NoError(t, err)
	for i := range 25 {
		tool := fmt.Sprintf("poster_%d", i)
		args := fmt.Sprintf(`{"name":%q}`, tool)
		model := adktest.Script[M](
			adktest.Do(adktest.ToolCall{ID: "1", Name: "srv__add", Args: args}),
			adktest.Do(adktest.ToolCall{ID: "2", Name: "tool_search", Args: `{"query":"print poster"}`}),
			adktest.Do(adktest.ToolCall{ID: "3", Name: "srv__" + tool, Args: `{}`}),
			adktest.Do(adktest.ToolCall{ID: "4", Name: "srv__remove", Args: args}),
			adktest.Do(adktest.ToolCall{ID: "5", Name: "srv__" + tool, Args: `{}`}),
		)
		out := adktest.Agent[M]{Model: model, Streaming: streaming, Handlers: []adk.TypedChatModelAgentMiddleware[M]{search}}.Run(ctx, []M{adktest.User[M]("please")})
		require.NoError(t, out.Err)
		require.Equal(t, "done", out.Answer())
		wires := model.Wires()
		dump := func(n int) string { return strings.Join(wires[n].MessagesDump, "\n") }
		require.NotContains(t, dump(0), tool)
		require.Contains(t, dump(2), "srv__"+tool, "it was found")
		require.Contains(t, wires[2].ToolNames, "srv__"+tool)
		require.Contains(t, dump(3), "printed a "+tool)
		require.NotContains(t, wires[4].ToolNames, "srv__"+tool, "it is gone")
		last := wires[5].Messages[len(wires[5].Messages)-1]
		require.NotContains(t, adktest.Dump(last), "printed")
		require.Contains(t, adktest.Dump(last), "srv__"+tool, "the answer names it")
	}
}
