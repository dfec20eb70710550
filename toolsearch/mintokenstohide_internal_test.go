// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// A run that hides nothing.

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
)

// A run that showed all tools before a checkpoint still does after it, whatever the configuration
// says now: the record decides, in the list, in the reminder and for the model.
func TestMinTokensToHide_ResumedRunStillShowsAll(t *testing.T) {
	ctx := context.Background()
	set, err := newSettings(ctx, &Config{DynamicTools: []tool.BaseTool{adktest.Comparable("a", nil), adktest.Comparable("b", nil)}}, false)
	require.NoError(t, err)
	c, err := newCatalogCache(set).find(ctx, catalogKey{})
	require.NoError(t, err)
	h := newHooks[*schema.Message](newRun(c))
	h.run.state.Update(ctx, func(r *runstate.State) {
		*r = runstate.State{HadModelCall: true, ShowsAll: true, Visible: []string{"a", "b"}}
	})
	call := adk.ChatModelAgentState{Messages: []*schema.Message{schema.UserMessage("please")}, ToolInfos: []*schema.ToolInfo{{Name: "own"}}}
	require.NoError(t, h.prepare(ctx, &call))
	var names []string
	for _, info := range call.ToolInfos {
		names = append(names, info.Name)
	}
	require.Equal(t, []string{"own", "a", "b"}, names)
	require.Len(t, call.Messages, 1, "nothing is hidden, so there is no list")
	require.True(t, h.showsAll)
}
