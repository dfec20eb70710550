// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What a history says of calls of call_tool.

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/toolnames"
	"github.com/leanctx/leanctx/toolsearch/internal/wire"
)

// call_tool takes the name under several keys, and a history has to be read in the same way.
func TestAHistoryReadsTheNameAsCallToolDoes(t *testing.T) {
	ctx := context.Background()
	set, err := newSettings(ctx, &Config{DynamicTools: []tool.BaseTool{adktest.Simple("a", "does a")}, Protocol: SearchCall}, false)
	require.NoError(t, err)
	g, err := groupOf(ctx, []member{{settings: set, groups: newGroupCache()}})
	require.NoError(t, err)
	denied := render("not-allowed", promptData{Name: "a"})
	for _, args := range []string{`{"name":"a"}`, `{"tool_name":"a","arguments":{}}`, `{"tool":"a"}`} {
		r := newRun(agent{start: g})
		require.Equal(t, "a", calledName(decodeArguments(args)), args)
		c := wire.Call{ID: "1", Name: toolnames.Call, Args: args}
		var v evidence
		v.add(wire.View{Assistant: true, Calls: []wire.Call{c}}, r)
		require.Equal(t, []string{"a"}, v.order, args)
		v.add(wire.View{Results: []wire.Result{{ID: "1", Name: toolnames.Call, Text: denied}}}, r)
		require.Empty(t, v.order, args)
	}
}
