// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

// The read tool returns parts only if a tool of the agent does: not every model accepts them. What toolsearch adds to
// the agent says nothing of that.
func TestProvideReadTool_ReturnsTextAfterToolsearch(t *testing.T) {
	for name, hidden := range map[string][]tool.BaseTool{
		"text":  dynamicTools(),
		"parts": append(dynamicTools(), partsTool{}),
	} {
		search := searchOf[*schema.Message](t, *toolsearch.Recommended(hidden))
		reduce, err := reduction.New(t.Context(), reduction.Recommended(store.NewMemory(0)))
		require.NoError(t, err)
		ctx, run := context.Context(t.Context()), &einorun.RunContext{}
		for _, handler := range []adk.ChatModelAgentMiddleware{search, reduce} {
			ctx, err = einorun.Begin(ctx, handler, run)
			require.NoError(t, err)
		}
		read := run.Tools[len(run.Tools)-1]
		info, err := read.Info(ctx)
		require.NoError(t, err)
		require.Equal(t, "read_file", info.Name)
		_, returnsParts := read.(tool.EnhancedStreamableTool)
		require.Equal(t, name == "parts", returnsParts, name)
	}
}

// partsTool returns results in parts.
type partsTool struct{}

func (partsTool) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "screenshot", Desc: "Takes a picture of the screen."}, nil
}

func (partsTool) InvokableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
	return &schema.ToolResult{}, nil
}
