// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package jq_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/reduction/jq"
	"github.com/einolean/einolean/store"
)

// ordersTool returns 2,000 orders, as an MCP client does.
func ordersTool() tool.InvokableTool {
	return einoleantest.Tool("orders", "Lists all orders.", func(context.Context, string) (string, error) {
		var list []string
		for i := range 2000 {
			list = append(list, fmt.Sprintf(`{\"id\":%d,\"city\":\"%s\",\"total\":%d}`, i, []string{"Oslo", "Lagos", "Kyoto"}[i%3], i%50))
		}
		return `{"content":[{"type":"text","text":"{\"orders\":[` + strings.Join(list, ",") + `]}"}],"isError":false}`, nil
	})
}

const oslo = `{"file_path":"/tmp/trunc/call_1","jq":"[.orders[] | select(.city == \"Oslo\") | .total] | add"}`

// One line plugs queries into the read tool.
func Example() {
	ctx := context.Background()
	config := reduction.Recommended(store.NewMemory(0))
	config.JSONQuery = jq.Query
	reduce, err := reduction.New(ctx, config)
	if err != nil {
		log.Fatal(err)
	}
	// A model that asks what the orders of Oslo come to.
	m := einoleantest.Script[*schema.Message](einoleantest.Call("orders", `{}`), einoleantest.Call("read_file", oslo), einoleantest.Say("16,333."))
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "clerk", Description: "knows the orders", Model: m, Handlers: []adk.ChatModelAgentMiddleware{reduce},
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{ordersTool()}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "What do the orders of Oslo come to?")
	for {
		event, more := events.Next()
		if !more {
			break
		}
		if event.Err != nil {
			log.Fatal(event.Err)
		}
		if msg, err := event.Output.MessageOutput.GetMessage(); err == nil && msg.ToolName == "read_file" {
			fmt.Println(msg.Content)
		}
	}
	// Output:
	// [read_file] what "[.orders[] | select(.city == \"Oslo\") | .total] | add" gives for a result of 89892 bytes, one value per line, between the two lines -----
	// 16333
	// -----
}

// In an agent the query reaches the JSON inside the MCP result, with both message types, streaming or not. The
// model is told about queries only then.
func TestQuery_AgentQueriesStoredResult(t *testing.T) {
	t.Run("messages", asks[*schema.Message])
	t.Run("agentic messages", asks[*schema.AgenticMessage])
}

func asks[M adk.MessageType](t *testing.T) {
	for name, query := range map[string]reduction.JSONQuery{"plugged in": jq.Query, "not": nil} {
		for _, options := range [][]einoleantest.Option{nil, {einoleantest.Streaming()}} {
			files := store.NewMemory(0)
			config := reduction.RecommendedTyped[M](files)
			config.JSONQuery = query
			reduce, err := reduction.NewTyped(t.Context(), config)
			require.NoError(t, err)
			m := einoleantest.Script[M](einoleantest.Call("orders", `{}`), einoleantest.Call("read_file", oslo), einoleantest.Say("done"))
			out := einoleantest.Run(t, &adk.TypedChatModelAgentConfig[M]{
				Name: "clerk", Description: "knows the orders", Model: m, Handlers: []adk.TypedChatModelAgentMiddleware[M]{reduce},
				ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{ordersTool()}}},
			}, "What do the orders of Oslo come to?", options...)
			einoleantest.RequireReadable(t, out, files)
			messages, err := json.Marshal(out.Messages)
			require.NoError(t, err)
			require.Equal(t, query != nil, strings.Contains(string(messages), `\n16333\n`), name)
			for _, r := range m.Requests() {
				for _, info := range r.Tools {
					if info.Name == "read_file" {
						require.Equal(t, query != nil, strings.Contains(info.Desc, "jq"), name)
					}
				}
			}
		}
	}
}
