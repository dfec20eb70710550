// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Examples: each runs a real agent whose model is a script. They share this file, since
// pkg.go.dev shows an example as a whole program only if it needs no other file.

import (
	"context"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/toolset"
)

type place struct {
	City string `json:"city" jsonschema:"required" jsonschema_description:"The name of the city"`
}

// cityTools are the tools that the examples hide.
func cityTools() []tool.BaseTool {
	weather, _ := utils.InferTool("weather__get_forecast", "Tells what the weather will be in a city.",
		func(_ context.Context, p place) (string, error) { return "Rain in " + p.City, nil })
	hotel, _ := utils.InferTool("travel__find_hotel", "Finds a hotel in a city.",
		func(_ context.Context, p place) (string, error) { return "Hotel " + p.City, nil })
	return []tool.BaseTool{weather, hotel}
}

// converse asks an agent one question and prints what it sends to its model, and gets back.
func converse[M adk.MessageType](h adk.TypedChatModelAgentMiddleware[M], turns ...einoleantest.Turn) {
	ctx := context.Background()
	clock := einoleantest.Tool("clock", "Tells the time.", func(context.Context, string) (string, error) { return "12:00", nil })
	model := einoleantest.Script[M](append(turns, einoleantest.Say("done"))...)
	agent, err := adk.NewTypedChatModelAgent(ctx, &adk.TypedChatModelAgentConfig[M]{
		Name: "guide", Description: "knows cities", Model: model,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{clock}}},
		Handlers:    []adk.TypedChatModelAgentMiddleware[M]{h},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	finish(adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent}).Query(ctx, "Will it rain in Oslo?"))
	for i, r := range model.Requests() {
		if i > 0 {
			last := r.Messages[len(r.Messages)-1]
			if result(last) == "" { // a change of the list is announced last
				last = r.Messages[len(r.Messages)-2]
			}
			fmt.Println("result:", result(last))
		}
		fmt.Println("tools: ", strings.Join(r.ToolNames(), ", "))
	}
}

// finish lets a run come to its end.
func finish[M adk.MessageType](events *adk.AsyncIterator[*adk.TypedAgentEvent[M]]) {
	for _, more := events.Next(); more; _, more = events.Next() {
	}
}

// result is what a tool returned.
func result(message any) string {
	switch m := message.(type) {
	case *schema.Message:
		if m.Role == schema.Tool {
			return m.Content
		}
	case *schema.AgenticMessage:
		if r := m.ContentBlocks[0].FunctionToolResult; r != nil {
			return r.Content[0].Text.Text
		}
	}
	return ""
}

// The model sees the hidden tools' names in a message, and finds what it needs by words.
func ExampleNew() {
	ctx := context.Background()
	search, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: cityTools()})
	if err != nil {
		fmt.Println(err)
		return
	}
	model := einoleantest.Script[*schema.Message]( // in place of a chat model
		einoleantest.Call("tool_search", `{"query":"weather"}`),
		einoleantest.Call("weather__get_forecast", `{"city":"Oslo"}`),
		einoleantest.Say("Take an umbrella."))
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "guide", Description: "knows cities", Model: model,
		Handlers: []adk.ChatModelAgentMiddleware{search},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	events := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent}).Query(ctx, "Will it rain in Oslo?")
	for event, more := events.Next(); more; event, more = events.Next() {
		if message, _, err := adk.GetMessage(event); err != nil {
			fmt.Println(err)
		} else if message.Content != "" {
			fmt.Printf("%s: %s\n", message.Role, message.Content)
		}
	}
	for _, request := range model.Requests() {
		fmt.Println("tools:", strings.Join(request.ToolNames(), ", "))
	}
	// Output:
	// tool: {"matches":["weather__get_forecast"]}
	// tool: Rain in Oslo
	// assistant: Take an umbrella.
	// tools: tool_search
	// tools: tool_search, weather__get_forecast
	// tools: tool_search, weather__get_forecast
}

// The same for agents on *schema.AgenticMessage. A name that the model read in the list is
// loaded with select:.
func ExampleNewTyped() {
	search, err := toolsearch.NewTyped[*schema.AgenticMessage](context.Background(), &toolsearch.Config{DynamicTools: cityTools()})
	if err != nil {
		fmt.Println(err)
		return
	}
	converse(search,
		einoleantest.Call("tool_search", `{"query":"select:weather__get_forecast,travel__find_flight"}`),
		einoleantest.Call("weather__get_forecast", `{"city":"Oslo"}`))
	// Output:
	// tools:  clock, tool_search
	// result: {"matches":["weather__get_forecast"],"hint":"No tool is named \"travel__find_flight\". Nearest names: travel__find_hotel."}
	// tools:  clock, tool_search, weather__get_forecast
	// result: Rain in Oslo
	// tools:  clock, tool_search, weather__get_forecast
}

// Keyword is the default: words, +required words, or names.
func ExampleProtocol_keyword() {
	search, _ := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: cityTools(), Protocol: toolsearch.Keyword})
	converse(search, einoleantest.Call("tool_search", `{"query":"+travel city"}`), einoleantest.Call("tool_search", `{"query":"forcast"}`))
	// Output:
	// tools:  clock, tool_search
	// result: {"matches":["travel__find_hotel"]}
	// tools:  clock, tool_search, travel__find_hotel
	// result: {"matches":[],"hint":"No tool matches. In no tool's name or description: forcast. Nearest names: weather__get_forecast. Search again with fewer or other words (one or two words that could stand in the tool's name or description), or use \"select:\" with a name that you saw between <available-deferred-tools> tags. The name of the server, where you know it, gives better results."}
	// tools:  clock, tool_search, travel__find_hotel
}

// Regexp matches names.
func ExampleProtocol_regexp() {
	search, _ := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: cityTools(), Protocol: toolsearch.Regexp})
	converse(search, einoleantest.Call("tool_search", `{"regex_pattern":"^(weather|travel)__"}`))
	// Output:
	// tools:  clock, tool_search
	// result: {"selectedTools":["weather__get_forecast","travel__find_hotel"]}
	// tools:  clock, tool_search, weather__get_forecast, travel__find_hotel
}

// SearchLoad shows candidates first, and loads what the model picks.
func ExampleProtocol_searchLoad() {
	search, _ := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: cityTools(), Protocol: toolsearch.SearchLoad})
	converse(search,
		einoleantest.Call("search_tools", `{"query":"weather city"}`),
		einoleantest.Call("load_tool", `{"tool_name":"weather__get_forecast"}`),
		einoleantest.Call("weather__get_forecast", `{"city":"Oslo"}`))
	// Output:
	// tools:  clock, search_tools, load_tool
	// result: {"results":[{"name":"weather__get_forecast","description":"Tells what the weather will be in a city.","score":12},{"name":"travel__find_hotel","description":"Finds a hotel in a city.","score":2}]}
	// tools:  clock, search_tools, load_tool
	// result: {"loaded":["weather__get_forecast"]}
	// tools:  clock, search_tools, load_tool, weather__get_forecast
	// result: Rain in Oslo
	// tools:  clock, search_tools, load_tool, weather__get_forecast
}

// SearchCall never changes the list of tools, so that a provider's prompt cache holds.
func ExampleProtocol_searchCall() {
	search, _ := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: cityTools(), Protocol: toolsearch.SearchCall, MaxResults: 1})
	converse(search,
		einoleantest.Call("tool_search", `{"query":"weather"}`),
		einoleantest.Call("call_tool", `{"name":"weather__get_forecast","arguments":{"city":7}}`),
		einoleantest.Call("call_tool", `{"name":"weather__get_forecast","arguments":{"city":"Oslo"}}`))
	// Output:
	// tools:  clock, tool_search, call_tool
	// result: {"tools":[{"name":"weather__get_forecast","description":"Tells what the weather will be in a city.","parameters":{"properties":{"city":{"description":"The name of the city","type":"string"}},"additionalProperties":false,"required":["city"],"type":"object"}}]}
	// tools:  clock, tool_search, call_tool
	// result: The arguments do not fit "weather__get_forecast", which did not run: city: must be a string, is an integer. Its JSON schema: {"properties":{"city":{"description":"The name of the city","type":"string"}},"additionalProperties":false,"required":["city"],"type":"object"}
	// tools:  clock, tool_search, call_tool
	// result: Rain in Oslo
	// tools:  clock, tool_search, call_tool
}

// A Filter decides who may use what. What it denies does not exist for the model.
func ExampleFilter() {
	search, _ := toolsearch.New(context.Background(), &toolsearch.Config{
		DynamicTools: cityTools(),
		Filter: func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
			return !strings.HasPrefix(req.Tool.Name, "travel__"), nil
		},
	})
	converse(search, einoleantest.Call("tool_search", `{"query":"select:travel__find_hotel"}`), einoleantest.Call("tool_search", `{"query":"city"}`))
	// Output:
	// tools:  clock, tool_search
	// result: {"matches":[],"hint":"No tool is named \"travel__find_hotel\"."}
	// tools:  clock, tool_search
	// result: {"matches":["weather__get_forecast"]}
	// tools:  clock, tool_search, weather__get_forecast
}

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
		model := einoleantest.Script[*schema.Message](
			einoleantest.Call("search_tools", `{"query":"hotel"}`),
			einoleantest.Call("load_tool", `{"tool_name":"travel__find_hotel"}`),
			einoleantest.Say("done"))
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

// deferring is a tool that its author marked.
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

// agentTools are tools of the agent itself, one of which its author marked.
func agentTools() []tool.BaseTool {
	done := func(context.Context, string) (string, error) { return "done", nil }
	return []tool.BaseTool{
		einoleantest.Tool("ask_user", "Asks the user.", done), einoleantest.Tool("print_page", "Prints a page.", done),
		deferring{einoleantest.Tool("send_fax", "Sends a fax.", done)},
	}
}

// hides prints the tools that an agent sees before and after a search for a fax.
func hides(cfg toolsearch.Config) {
	search, err := toolsearch.New(context.Background(), &cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	model := einoleantest.Script[*schema.Message](einoleantest.Call("tool_search", `{"query":"fax"}`), einoleantest.Say("done"))
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

// A tool that a call makes available can be found and called in the next model call of the
// same run.
func ExampleConfig_source() {
	var available []tool.BaseTool
	source := toolset.NewSource(func(context.Context) ([]tool.BaseTool, error) { return available, nil }, nil)
	connect, _ := utils.InferTool("connect", "Connects to the city guide.", func(context.Context, struct{}) (string, error) {
		available = cityTools()
		return "connected", nil
	})
	search, err := toolsearch.New(context.Background(), &toolsearch.Config{
		DynamicTools: []tool.BaseTool{connect}, AlwaysVisible: []string{"connect"}, Source: source,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	converse(search,
		einoleantest.Call("connect", `{}`),
		einoleantest.Call("tool_search", `{"query":"weather"}`),
		einoleantest.Call("weather__get_forecast", `{"city":"Oslo"}`))
	// Output:
	// tools:  clock, tool_search, connect
	// result: connected
	// tools:  clock, tool_search, connect
	// result: {"matches":["weather__get_forecast"]}
	// tools:  clock, tool_search, connect, weather__get_forecast
	// result: Rain in Oslo
	// tools:  clock, tool_search, connect, weather__get_forecast
}

// A model without tool search can take over from one that has it: give it to
// ModelFailoverConfig as Portable.
func ExamplePortable() {
	backup := toolsearch.Portable(einoleantest.Script[*schema.Message](einoleantest.Say("here I am")))
	answer, err := backup.Generate(context.Background(), []*schema.Message{schema.UserMessage("Hello?")})
	fmt.Println(answer.Content, err)
	// Output: here I am <nil>
}

// What most users want: three tools take few tokens, so all are shown.
func ExampleRecommended() {
	search, err := toolsearch.New(context.Background(), toolsearch.Recommended(cityTools()))
	if err != nil {
		fmt.Println(err)
		return
	}
	converse(search, einoleantest.Call("weather__get_forecast", `{"city":"Oslo"}`))
	// Output:
	// tools:  clock, weather__get_forecast, travel__find_hotel
	// result: Rain in Oslo
	// tools:  clock, weather__get_forecast, travel__find_hotel
}
