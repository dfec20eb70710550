// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Examples of what is hidden, and from whom.

import (
	"context"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/leanctxtest"
	"github.com/leanctx/leanctx/toolsearch"
)

type planKey struct{}

// Everybody may read about every tool and find it, so that users learn what there is. Only
// the plan "premium" loads and calls the paid ones. The plan comes with the context of a run:
// one middleware serves both.
func ExampleFilter_plans() {
	paid := map[string]bool{"travel__find_hotel": true}
	search, err := toolsearch.New(context.Background(), &toolsearch.Config{
		DynamicTools: cityTools(),
		Protocol:     toolsearch.SearchLoad,
		Filter: func(ctx context.Context, req toolsearch.FilterRequest) (bool, error) {
			switch req.Phase {
			case toolsearch.PhaseList, toolsearch.PhaseSearch:
				return true, nil
			}
			return !paid[req.Tool.Name] || ctx.Value(planKey{}) == "premium", nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, plan := range []string{"free", "premium"} {
		model := leanctxtest.Script[*schema.Message](
			leanctxtest.Call("search_tools", `{"query":"hotel"}`),
			leanctxtest.Call("load_tool", `{"tool_name":"travel__find_hotel"}`),
			leanctxtest.Say("done"))
		askOnce(context.WithValue(context.Background(), planKey{}, plan), model, search, nil, "A hotel in Oslo?")
		last := model.Requests()[2]
		for _, m := range last.Messages {
			if m.Role == schema.Tool {
				fmt.Printf("%s: %s\n", plan, m.Content)
			}
		}
		fmt.Printf("%s: tools: %s\n", plan, strings.Join(last.ToolNames(), ", "))
	}
	// Output:
	// free: {"results":[{"name":"travel__find_hotel","description":"Finds a hotel in a city.","score":10}]}
	// free: {"loaded":[],"hint":"You may not use the tool \"travel__find_hotel\"."}
	// free: tools: search_tools, load_tool
	// premium: {"results":[{"name":"travel__find_hotel","description":"Finds a hotel in a city.","score":10}]}
	// premium: {"loaded":["travel__find_hotel"]}
	// premium: tools: search_tools, load_tool, travel__find_hotel
}

// askOnce asks an agent one question.
func askOnce(ctx context.Context, m model.BaseChatModel, h adk.ChatModelAgentMiddleware, tools []tool.BaseTool, question string) {
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "guide", Description: "knows cities", Model: m, Handlers: []adk.ChatModelAgentMiddleware{h},
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	finish(adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, question))
}

// deferring is a tool whose maker marked it.
type deferring struct{ tool.InvokableTool }

func (m deferring) Info(ctx context.Context) (*schema.ToolInfo, error) {
	info, err := m.InvokableTool.Info(ctx)
	if err != nil {
		return nil, err
	}
	own := *info
	own.Extra = map[string]any{"defer_loading": true}
	return &own, nil
}

// agentTools are tools of the agent itself, one of which its maker marked.
func agentTools() []tool.BaseTool {
	done := func(context.Context, string) (string, error) { return "done", nil }
	return []tool.BaseTool{
		leanctxtest.Tool("ask_user", "Asks the user.", done), leanctxtest.Tool("print_page", "Prints a page.", done),
		deferring{leanctxtest.Tool("send_fax", "Sends a fax.", done)},
	}
}

// hides prints the tools that an agent sees before and after a search for a fax.
func hides(cfg toolsearch.Config) {
	search, err := toolsearch.New(context.Background(), &cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	model := leanctxtest.Script[*schema.Message](leanctxtest.Call("tool_search", `{"query":"fax"}`), leanctxtest.Say("done"))
	askOnce(context.Background(), model, search, agentTools(), "Fax it.")
	for _, r := range model.Requests() {
		fmt.Println("tools:", strings.Join(r.ToolNames(), ", "))
	}
}

// SearchableTools hides tools that the agent has already, by their names.
func ExampleConfig_searchableTools() {
	hides(toolsearch.Config{SearchableTools: []string{"print_page", "send_fax"}})
	// Output:
	// tools: ask_user, tool_search
	// tools: ask_user, tool_search, send_fax
}

// DeferMarkedTools hides the agent's tools whose info says so: {"defer_loading": true} in
// Extra.
func ExampleConfig_deferMarkedTools() {
	hides(toolsearch.Config{DeferMarkedTools: true})
	// Output:
	// tools: ask_user, print_page, tool_search
	// tools: ask_user, print_page, tool_search, send_fax
}
