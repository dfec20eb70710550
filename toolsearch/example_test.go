// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Examples: each runs a real agent whose model is a script.

import (
	"context"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/leanctxtest"
	"github.com/leanctx/leanctx/toolsearch"
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
func converse[M adk.MessageType](h adk.TypedChatModelAgentMiddleware[M], turns ...leanctxtest.Turn) {
	ctx := context.Background()
	clock := leanctxtest.Tool("clock", "Tells the time.", func(context.Context, string) (string, error) { return "12:00", nil })
	model := leanctxtest.Script[M](append(turns, leanctxtest.Say("done"))...)
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
			if result(last) == "" { // what changed is told last
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
	search, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: cityTools()})
	if err != nil {
		fmt.Println(err)
		return
	}
	converse(search,
		leanctxtest.Call("tool_search", `{"query":"weather"}`),
		leanctxtest.Call("weather__get_forecast", `{"city":"Oslo"}`))
	// Output:
	// tools:  clock, tool_search
	// result: {"matches":["weather__get_forecast"]}
	// tools:  clock, tool_search, weather__get_forecast
	// result: Rain in Oslo
	// tools:  clock, tool_search, weather__get_forecast
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
		leanctxtest.Call("tool_search", `{"query":"select:weather__get_forecast,travel__find_flight"}`),
		leanctxtest.Call("weather__get_forecast", `{"city":"Oslo"}`))
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
	converse(search, leanctxtest.Call("tool_search", `{"query":"+travel city"}`), leanctxtest.Call("tool_search", `{"query":"forcast"}`))
	// Output:
	// tools:  clock, tool_search
	// result: {"matches":["travel__find_hotel"]}
	// tools:  clock, tool_search, travel__find_hotel
	// result: {"matches":[],"hint":"No tool matches. In no tool's name or description: forcast. Nearest names: weather__get_forecast. Search again with fewer or other words (one or two words that could stand in the tool's name or description), or use \"select:\" with a name that you saw between <available-deferred-tools> tags."}
	// tools:  clock, tool_search, travel__find_hotel
}

// Regexp matches names.
func ExampleProtocol_regexp() {
	search, _ := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: cityTools(), Protocol: toolsearch.Regexp})
	converse(search, leanctxtest.Call("tool_search", `{"regex_pattern":"^(weather|travel)__"}`))
	// Output:
	// tools:  clock, tool_search
	// result: {"selectedTools":["weather__get_forecast","travel__find_hotel"]}
	// tools:  clock, tool_search, weather__get_forecast, travel__find_hotel
}

// SearchLoad shows candidates first, and loads what the model picks.
func ExampleProtocol_searchLoad() {
	search, _ := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: cityTools(), Protocol: toolsearch.SearchLoad})
	converse(search,
		leanctxtest.Call("search_tools", `{"query":"weather city"}`),
		leanctxtest.Call("load_tool", `{"tool_name":"weather__get_forecast"}`),
		leanctxtest.Call("weather__get_forecast", `{"city":"Oslo"}`))
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
		leanctxtest.Call("tool_search", `{"query":"weather"}`),
		leanctxtest.Call("call_tool", `{"name":"weather__get_forecast","arguments":{"city":7}}`),
		leanctxtest.Call("call_tool", `{"name":"weather__get_forecast","arguments":{"city":"Oslo"}}`))
	// Output:
	// tools:  clock, tool_search, call_tool
	// result: {"tools":[{"name":"weather__get_forecast","description":"Tells what the weather will be in a city.","parameters":{"properties":{"city":{"description":"The name of the city","type":"string"}},"additionalProperties":false,"required":["city"],"type":"object"}}]}
	// tools:  clock, tool_search, call_tool
	// result: The arguments do not fit "weather__get_forecast", which did not run: validating /properties/city: type: 7 has type "integer", want "string". Its JSON schema: {"properties":{"city":{"description":"The name of the city","type":"string"}},"additionalProperties":false,"required":["city"],"type":"object"}
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
	converse(search, leanctxtest.Call("tool_search", `{"query":"select:travel__find_hotel"}`), leanctxtest.Call("tool_search", `{"query":"city"}`))
	// Output:
	// tools:  clock, tool_search
	// result: {"matches":[],"hint":"No tool is named \"travel__find_hotel\"."}
	// tools:  clock, tool_search
	// result: {"matches":["weather__get_forecast"]}
	// tools:  clock, tool_search, weather__get_forecast
}
