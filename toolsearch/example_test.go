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

	"github.com/leanctx/leanctx/internal/adktest"
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
func converse[M adk.MessageType](h adk.TypedChatModelAgentMiddleware[M], turns ...adktest.Turn) {
	ctx := context.Background()
	model := adktest.Script[M](turns...)
	agent, err := adk.NewTypedChatModelAgent[M](ctx, &adk.TypedChatModelAgentConfig[M]{
		Name: "guide", Description: "knows cities", Model: model,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{adktest.Simple("clock", "Tells the time.")}}},
		Handlers:    []adk.TypedChatModelAgentMiddleware[M]{h},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	runner := adk.NewTypedRunner[M](adk.TypedRunnerConfig[M]{Agent: agent})
	adktest.Collect(runner.Run(ctx, []M{adktest.User[M]("Will it rain in Oslo?")}))
	for i, w := range model.Wires() {
		if i > 0 {
			for _, r := range adktest.Results(w.Messages[len(w.Messages)-1]) {
				fmt.Println("result:", r.Args)
			}
		}
		fmt.Println("tools: ", strings.Join(w.ToolNames, ", "))
	}
}

// calling is a model's turn that calls one tool.
func calling(name, args string) adktest.Turn {
	return adktest.Do(adktest.ToolCall{ID: "call of " + name, Name: name, Args: args})
}

// The model sees the hidden tools' names in a message, and finds what it needs by words.
func ExampleNew() {
	search, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: cityTools()})
	if err != nil {
		fmt.Println(err)
		return
	}
	converse(search,
		calling("tool_search", `{"query":"weather"}`),
		calling("weather__get_forecast", `{"city":"Oslo"}`))
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
		calling("tool_search", `{"query":"select:weather__get_forecast,travel__find_flight"}`),
		calling("weather__get_forecast", `{"city":"Oslo"}`))
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
	converse(search, calling("tool_search", `{"query":"+travel city"}`), calling("tool_search", `{"query":"forcast"}`))
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
	converse(search, calling("tool_search", `{"regex_pattern":"^(weather|travel)__"}`))
	// Output:
	// tools:  clock, tool_search
	// result: {"selectedTools":["weather__get_forecast","travel__find_hotel"]}
	// tools:  clock, tool_search, weather__get_forecast, travel__find_hotel
}

// SearchLoad shows candidates first, and loads what the model picks.
func ExampleProtocol_searchLoad() {
	search, _ := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: cityTools(), Protocol: toolsearch.SearchLoad})
	converse(search,
		calling("search_tools", `{"query":"weather city"}`),
		calling("load_tool", `{"tool_name":"weather__get_forecast"}`),
		calling("weather__get_forecast", `{"city":"Oslo"}`))
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
		calling("tool_search", `{"query":"weather"}`),
		calling("call_tool", `{"name":"weather__get_forecast","arguments":{"city":7}}`),
		calling("call_tool", `{"name":"weather__get_forecast","arguments":{"city":"Oslo"}}`))
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
	converse(search, calling("tool_search", `{"query":"select:travel__find_hotel"}`), calling("tool_search", `{"query":"city"}`))
	// Output:
	// tools:  clock, tool_search
	// result: {"matches":[],"hint":"No tool is named \"travel__find_hotel\"."}
	// tools:  clock, tool_search
	// result: {"matches":["weather__get_forecast"]}
	// tools:  clock, tool_search, weather__get_forecast
}
