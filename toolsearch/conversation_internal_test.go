// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// A conversation that changes is read anew.

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
)

// A request may be a prefix of the last one, as where a handler takes back the end of the
// conversation: what stood there counts no more.
func TestAConversationThatIsAPrefixOfTheLastIsReadAnew(t *testing.T) {
	ctx := context.Background()
	set, err := newSettings(ctx, &Config{DynamicTools: []tool.BaseTool{adktest.Comparable("a", nil), adktest.Comparable("b", nil)}}, false)
	require.NoError(t, err)
	c, err := newCatalogs(set).find(ctx, parts{})
	require.NoError(t, err)
	call := func(id, name string) *schema.Message {
		return schema.AssistantMessage("", []schema.ToolCall{{ID: id, Function: schema.FunctionCall{Name: name, Arguments: "{}"}}})
	}
	all := []*schema.Message{schema.UserMessage("please"), call("1", "a"), schema.ToolMessage("done", "1"), call("2", "b"), schema.ToolMessage("done", "2")}
	for n := range len(all) + 1 {
		h := newHooks[*schema.Message](newRun(c))
		h.listen(ctx, all)
		require.Equal(t, []string{"a", "b"}, h.transcript.Facts.Order)
		h.listen(ctx, all[:n])
		fresh := newHooks[*schema.Message](newRun(c))
		fresh.listen(ctx, all[:n])
		require.Equal(t, fresh.transcript.Facts.Order, h.transcript.Facts.Order, "%d messages", n)
	}
}
