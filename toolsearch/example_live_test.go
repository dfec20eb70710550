// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

import (
	"context"
	"fmt"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"

	"github.com/leanctx/leanctx/leanctxtest"
	"github.com/leanctx/leanctx/toolsearch"
)

// A tool that a call makes available can be found and called in the next model call of the
// same run.
func ExampleConfig_source() {
	var available []tool.BaseTool
	source := toolsearch.NewSource(func(context.Context) ([]tool.BaseTool, error) { return available, nil }, nil)
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
		leanctxtest.Call("connect", `{}`),
		leanctxtest.Call("tool_search", `{"query":"weather"}`),
		leanctxtest.Call("weather__get_forecast", `{"city":"Oslo"}`))
	// Output:
	// tools:  clock, tool_search, connect
	// result: connected
	// tools:  clock, tool_search, connect
	// result: {"matches":["weather__get_forecast"]}
	// tools:  clock, tool_search, connect, weather__get_forecast
	// result: Rain in Oslo
	// tools:  clock, tool_search, connect, weather__get_forecast
}
