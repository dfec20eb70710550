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

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// call_tool takes the name under several keys, and a history has to be read in the same way.
func TestAHistoryReadsTheNameAsCallToolDoes(t *testing.T) {
	ctx := context.Background()
	set, err := newSettings(ctx, &Config{DynamicTools: []tool.BaseTool{adktest.Simple("a", "does a")}, Protocol: SearchCall}, false)
	require.NoError(t, err)
	g, err := catalogOf(ctx, []member{{settings: set}})
	require.NoError(t, err)
	denied := render("not-allowed", promptData{Name: "a"})
	for _, args := range []string{`{"name":"a"}`, `{"tool_name":"a","arguments":{}}`, `{"tool":"a"}`} {
		r := newRun(g)
		require.Equal(t, "a", toolnames.Called(lenient.Decode(args)), args)
		c := wire.Call{ID: "1", Name: toolnames.Call, Args: args}
		var v evidence
		v.add(wire.View{Assistant: true, Calls: []wire.Call{c}}, r)
		require.Equal(t, []string{"a"}, v.order, args)
		v.add(wire.View{Results: []wire.Result{{ID: "1", Name: toolnames.Call, Text: denied}}}, r)
		require.Empty(t, v.order, args)
	}
}

// A request may be a prefix of the last one, as where a handler takes back the end of the
// conversation: what stood there counts no more.
func TestAConversationThatIsAPrefixOfTheLastIsReadAnew(t *testing.T) {
	ctx := context.Background()
	set, err := newSettings(ctx, &Config{DynamicTools: []tool.BaseTool{withInfo("a", nil), withInfo("b", nil)}}, false)
	require.NoError(t, err)
	c, err := catalogOf(ctx, []member{{settings: set}})
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
