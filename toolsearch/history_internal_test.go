// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// A history that changes is read again.

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/index"
)

// A request may be a prefix of the last one, as where a handler takes back the end of the
// conversation: what stood there counts no more.
func TestSyncHistory_ReadsPrefixAgain(t *testing.T) {
	ctx := context.Background()
	set, err := newSettings(ctx, &Config{DynamicTools: []tool.BaseTool{adktest.Comparable("a", nil), adktest.Comparable("b", nil)}}, false)
	require.NoError(t, err)
	c, err := newCatalogCache(set).find(ctx, catalogKey{})
	require.NoError(t, err)
	call := func(id, name string) *schema.Message {
		return schema.AssistantMessage("", []schema.ToolCall{{ID: id, Function: schema.FunctionCall{Name: name, Arguments: "{}"}}})
	}
	all := []*schema.Message{schema.UserMessage("please"), call("1", "a"), schema.ToolMessage("done", "1"), call("2", "b"), schema.ToolMessage("done", "2")}
	for n := range len(all) + 1 {
		h := newHooks[*schema.Message](newRun(c))
		h.syncHistory(ctx, all)
		require.Equal(t, []string{"a", "b"}, h.history.Usage.Order)
		h.syncHistory(ctx, all[:n])
		fresh := newHooks[*schema.Message](newRun(c))
		fresh.syncHistory(ctx, all[:n])
		require.Equal(t, fresh.history.Usage.Order, h.history.Usage.Order, "%d messages", n)
	}
}

// Another history loads what its own users' messages ask for, as if it were the first.
func TestSyncHistory_RestartsPrefetch(t *testing.T) {
	ctx := context.Background()
	set, err := newSettings(ctx, &Config{
		DynamicTools: []tool.BaseTool{adktest.Simple("get_weather", "Tells the weather of a city"), adktest.Simple("send_mail", "Sends an e-mail")},
		NewIndex:     index.BM25, Prefetch: 1,
	}, false)
	require.NoError(t, err)
	c, err := newCatalogCache(set).find(ctx, catalogKey{})
	require.NoError(t, err)
	h := newHooks[*schema.Message](newRun(c))
	h.syncHistory(ctx, []*schema.Message{schema.UserMessage("What is the weather in Paris?")})
	require.Equal(t, []string{"get_weather"}, h.history.Usage.Order)
	h.syncHistory(ctx, []*schema.Message{schema.UserMessage("Send an e-mail to Ann.")})
	require.Equal(t, []string{"send_mail"}, h.history.Usage.Order)
	require.Equal(t, toolnames.Set{"send_mail": true}, h.prefetcher.loadedNames)
}
