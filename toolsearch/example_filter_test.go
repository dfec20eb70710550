// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Examples of what is hidden, and from whom.

import (
	"context"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/adktest"
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
		model := adktest.Script[*schema.Message](
			calling("search_tools", `{"query":"hotel"}`),
			calling("load_tool", `{"tool_name":"travel__find_hotel"}`))
		ctx := context.WithValue(context.Background(), planKey{}, plan)
		adktest.Agent[*schema.Message]{Model: model, Handlers: adktest.Handlers(search)}.Run(ctx, []*schema.Message{schema.UserMessage("A hotel in Oslo?")})
		last := model.Wires()[2]
		for _, m := range last.Messages {
			for _, r := range adktest.Results(m) {
				fmt.Printf("%s: %s\n", plan, r.Args)
			}
		}
		fmt.Printf("%s: tools: %s\n", plan, strings.Join(last.ToolNames, ", "))
	}
	// Output:
	// free: {"results":[{"name":"travel__find_hotel","description":"Finds a hotel in a city.","score":10}]}
	// free: {"loaded":[],"hint":"You may not use the tool \"travel__find_hotel\"."}
	// free: tools: search_tools, load_tool
	// premium: {"results":[{"name":"travel__find_hotel","description":"Finds a hotel in a city.","score":10}]}
	// premium: {"loaded":["travel__find_hotel"]}
	// premium: tools: search_tools, load_tool, travel__find_hotel
}

// agentTools are tools of the agent itself, one of which its maker marked.
func agentTools() []tool.BaseTool {
	fax := adktest.Tool(adktest.Invokable, &schema.ToolInfo{
		Name: "send_fax", Desc: "Sends a fax.", Extra: map[string]any{"defer_loading": true},
	}, adktest.Echo)
	return []tool.BaseTool{adktest.Simple("ask_user", "Asks the user."), adktest.Simple("print_page", "Prints a page."), fax}
}

// hides prints the tools that an agent sees before and after a search for a fax.
func hides(cfg toolsearch.Config) {
	search, err := toolsearch.New(context.Background(), &cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	model := adktest.Script[*schema.Message](calling("tool_search", `{"query":"fax"}`))
	adktest.Agent[*schema.Message]{
		Model: model, Handlers: []adk.ChatModelAgentMiddleware{search}, Tools: agentTools(),
	}.Run(context.Background(), []*schema.Message{schema.UserMessage("Fax it.")})
	for _, w := range model.Wires() {
		fmt.Println("tools:", strings.Join(w.ToolNames, ", "))
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
