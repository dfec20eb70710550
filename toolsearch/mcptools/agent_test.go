// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package mcptools_test

// Whole agents: tools of servers behind toolsearch, and their results cut by reduction.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/tool"
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
	set, err := servers.Tools(ctx)
	require.NoError(t, err)
	var tools []tool.BaseTool = slices.Collect(set.All())
	search, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{DynamicTools: tools})
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
