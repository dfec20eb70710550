// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

// The list of an agent's tools has slots for hidden tools. No request has them, so they do not count, also where reduction
// stands before toolsearch, which removes them.
func TestTokenCounter_CountsNoHiddenTools(t *testing.T) {
	adktest.Both(t, testCountsNoHiddenTools[message], testCountsNoHiddenTools[agenticMessage])
}

func testCountsNoHiddenTools[M adk.MessageType](t *testing.T, streaming bool) {
	for _, isReduceFirst := range []bool{false, true} {
		var counted []string
		cfg := reduction.TypedConfig[M]{Backend: store.NewMemory(0), MaxTokensForClear: 1}
		cfg.TokenCounter = func(_ context.Context, _ []M, tools []*schema.ToolInfo) (int64, error) {
			counted = append(counted, adktest.Names(tools)...)
			return 10, nil
		}
		handlers := adktest.Handlers(searchOf[M](t, toolsearch.Config{DynamicTools: dynamicTools()}), reductionOf(t, cfg))
		if isReduceFirst {
			slices.Reverse(handlers)
		}
		turns := []adktest.Turn{find(names()[7]), call("use", names()[7], nil), call("big", "big", nil)}
		out, wires := run(streaming, []tool.BaseTool{big()}, user[M](), turns, handlers...)
		require.NoError(t, out.Err)
		require.Contains(t, resultIn(wires[3].Messages, "use"), "echo", "the slots are still there for Eino")
		require.Contains(t, counted, "big")
		require.Contains(t, counted, names()[7], "it was loaded")
		isHidden := func(name string) bool {
			return strings.HasPrefix(name, "__einolean_slot_") || slices.Contains(names(), name) && name != names()[7]
		}
		require.False(t, slices.ContainsFunc(counted, isHidden), "reduction first: %v: %q", isReduceFirst, counted)
	}
}
