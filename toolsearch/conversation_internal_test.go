// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What a history says of calls of call_tool.

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/internal/wire"
)

func TestAHistoryReadsTheNameAsCallToolDoes(t *testing.T) {
	ctx := context.Background()
	set, err := newSettings(ctx, &Config{DynamicTools: []tool.BaseTool{withInfo("a", nil)}, Protocol: SearchCall}, false)
	require.NoError(t, err)
	c, err := catalogOf(ctx, parts{settings: set})
	require.NoError(t, err)
	for _, args := range []string{`{"name":"a"}`, `{"tool_name":"a","arguments":{}}`, `{"tool":"a"}`} {
		var v evidence
		v.add(wire.View{Assistant: true, Calls: []wire.Call{{ID: "1", Name: "call_tool", Args: args}}}, newRun(c))
		require.Equal(t, []string{"a"}, v.order, args)
	}
}

// A request may be a prefix of the last one, as where a handler takes back the end of the
// conversation: what stood there counts no more.
func TestAConversationThatIsAPrefixOfTheLastIsReadAnew(t *testing.T) {
	ctx := context.Background()
	set, err := newSettings(ctx, &Config{DynamicTools: []tool.BaseTool{withInfo("a", nil), withInfo("b", nil)}}, false)
	require.NoError(t, err)
	c, err := catalogOf(ctx, parts{settings: set})
	require.NoError(t, err)
	call := func(id, name string) *schema.Message {
		return schema.AssistantMessage("", []schema.ToolCall{{ID: id, Function: schema.FunctionCall{Name: name, Arguments: "{}"}}})
	}
	all := []*schema.Message{schema.UserMessage("please"), call("1", "a"), schema.ToolMessage("done", "1"), call("2", "b"), schema.ToolMessage("done", "2")}
	for n := range len(all) + 1 {
		h := newHooks[*schema.Message](newRun(c))
		h.transcript.read(ctx, all)
		require.Equal(t, []string{"a", "b"}, h.transcript.evidence.order)
		h.transcript.read(ctx, all[:n])
		fresh := newHooks[*schema.Message](newRun(c))
		fresh.transcript.read(ctx, all[:n])
		require.Equal(t, fresh.transcript.evidence.order, h.transcript.evidence.order, "%d messages", n)
	}
}
