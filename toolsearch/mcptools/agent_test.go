// Copyright einolean authors
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
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/mcptools"
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
	return inMemory(server)
}

func inMemory(server *mcp.Server) mcptools.Server {
	return mcptools.Server{Transport: func(ctx context.Context) (mcp.Transport, error) {
		ours, theirs := mcp.NewInMemoryTransports()
		_, err := server.Connect(context.WithoutCancel(ctx), theirs, nil)
		return ours, err
	}}
}

//claim:mcp-37
func TestResult_TruncationLosesNoByte(t *testing.T) {
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

// ask runs an agent whose model makes the turns and says that it is done, and returns what
// the model was sent.
func ask[M adk.MessageType](t *testing.T, streaming bool, turns []einoleantest.Turn, handlers ...adk.TypedChatModelAgentMiddleware[M]) []einoleantest.Request[M] {
	t.Helper()
	model := einoleantest.Script[M](append(turns, einoleantest.Say("done"))...)
	var options []einoleantest.Option
	if streaming {
		options = append(options, einoleantest.Streaming())
	}
	out := einoleantest.Run(t, &adk.TypedChatModelAgentConfig[M]{Model: model, Handlers: handlers}, "please", options...)
	require.Equal(t, "done", out.Answer)
	return model.Requests()
}

// lastResult is the newest result of a tool that a request shows.
func lastResult[M adk.MessageType](r einoleantest.Request[M]) string {
	results := r.Results()
	return results[len(results)-1].Text
}

func cutsWhole[M adk.MessageType](t *testing.T, media, streaming bool) {
	ctx := context.Background()
	var long strings.Builder
	for i := range 4_000 {
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
	requests := ask(t, streaming, []einoleantest.Turn{
		einoleantest.Call("tool_search", `{"query":"monthly report"}`),
		einoleantest.Call("reports__monthly", `{}`),
	}, search, reduce)
	require.Contains(t, requests[1].ToolNames(), "reports__monthly", "it was found")
	last := lastResult(requests[2])
	require.Less(t, len(last), 8000, "the model sees a part of it")
	require.Contains(t, last, "row 0:")
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
//
//claim:mcp-12
func TestServers_RunSeesToolsThatCallsChange(t *testing.T) {
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
	for i := range max(3, race.Cases(10)) {
		tool := fmt.Sprintf("poster_%d", i)
		args := fmt.Sprintf(`{"name":%q}`, tool)
		requests := ask(t, streaming, []einoleantest.Turn{
			einoleantest.Call("srv__add", args),
			einoleantest.Call("tool_search", `{"query":"print poster"}`),
			einoleantest.Call("srv__"+tool, `{}`),
			einoleantest.Call("srv__remove", args),
			einoleantest.Call("srv__"+tool, `{}`),
		}, search)
		require.NotContains(t, requests[0].String(), tool)
		require.Contains(t, requests[2].String(), "srv__"+tool, "it was found")
		require.Contains(t, requests[2].ToolNames(), "srv__"+tool)
		require.Contains(t, requests[3].String(), "printed a "+tool)
		require.NotContains(t, requests[4].ToolNames(), "srv__"+tool, "it is gone")
		last := lastResult(requests[5])
		require.NotContains(t, last, "printed")
		require.Contains(t, last, "srv__"+tool, "the answer names it")
	}
}

// A program calls the tools of a server like others: what the server says is an error, and what is said
// in its place, rejects the call.
func TestCall_FailureIsAFailureInAProgram(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "order", Description: "Returns an order", InputSchema: map[string]any{"type": "object"}},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if strings.Contains(string(r.Params.Arguments), "gone") {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the shop is closed"}
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "order " + string(r.Params.Arguments)}}, IsError: strings.Contains(string(r.Params.Arguments), "bad")}, nil
		})
	shop := inMemory(server)
	for _, media := range []bool{false, true} {
		adktest.Both(t, func(t *testing.T, streaming bool) { failsInAProgram[*schema.Message](t, shop, media, streaming) },
			func(t *testing.T, streaming bool) { failsInAProgram[*schema.AgenticMessage](t, shop, media, streaming) })
	}
}

func failsInAProgram[M adk.MessageType](t *testing.T, shop mcptools.Server, media, streaming bool) {
	servers, err := mcptools.Open(t.Context(), map[string]mcptools.Server{"shop": shop}, mcptools.Options{Media: media})
	require.NoError(t, err)
	defer servers.Close()
	for args, failed := range map[string]bool{`{"id":"good"}`: false, `{"id":"bad"}`: true, `{"id":"gone"}`: true} {
		runs, err := programs.NewTyped[M](t.Context(), &programs.Config{Interpreter: oneCall{args}})
		require.NoError(t, err)
		search, err := toolsearch.NewTyped[M](t.Context(), &toolsearch.Config{Source: servers})
		require.NoError(t, err)
		requests := ask(t, streaming, []einoleantest.Turn{einoleantest.Call("run_code", `{"code":"order"}`)}, runs, search)
		require.Contains(t, lastResult(requests[len(requests)-1]), fmt.Sprintf("failed: %v", failed), args)
	}
}

// oneCall interprets every program as one call of shop__order, and prints how it ended.
type oneCall struct{ args string }

func (o oneCall) Start(context.Context, programs.Program) (programs.Run, error) {
	return &oneCallRun{programs.State{Calls: []programs.Call{{Number: 1, Tool: "shop__order", Arguments: o.args}}}}, nil
}

type oneCallRun struct{ state programs.State }

func (r *oneCallRun) State() programs.State { return r.state }

func (r *oneCallRun) Resume(_ context.Context, results []programs.Result) error {
	r.state = programs.State{Printed: fmt.Sprintf("failed: %v, %s", results[0].Failed, results[0].Text)}
	return nil
}

func (*oneCallRun) Close() {}
