// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// This file holds the package to Eino's: the same answers, tools and messages on random
// catalogues and conversations, but for the differences that are listed.

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/race"
)

// searchToolOf is the search tool of a middleware, outside of a run.
func searchToolOf[M adk.MessageType](t testing.TB, h adk.TypedChatModelAgentMiddleware[M]) tool.BaseTool {
	t.Helper()
	_, rc, err := h.BeforeAgent(context.Background(), &adk.ChatModelAgentContext{})
	require.NoError(t, err)
	for _, tl := range rc.Tools {
		if info, err := tl.Info(context.Background()); err == nil && info.Name == "tool_search" {
			return tl
		}
	}
	require.Fail(t, "no search tool")
	return nil
}

func TestParityOfAnswersOnRandomCatalogues(t *testing.T) {
	r := newRand(t)
	eino, ours := einoSide[*schema.Message](false), ourSide[*schema.Message](false)
	why := ids{}
	for range race.Cases(2000) {
		c := newCatalogue(r, 30)
		tools := c.tools(r)
		var names []string
		for _, i := range c.infos {
			names = append(names, i.Name)
		}
		e := searchToolOf(t, eino.mustBuild(t, tools...)).(tool.InvokableTool)
		o := searchToolOf(t, ours.mustBuild(t, tools...)).(tool.InvokableTool)
		for range 4 {
			s := searched{args: c.arguments(r), names: names}
			s.eino, s.err = e.InvokableRun(context.Background(), s.args)
			var err error
			s.ours, err = o.InvokableRun(context.Background(), s.args)
			require.NoError(t, err, s.args)
			require.NoError(t, s.explainText(why), "arguments %q\nnames %q\neino %s\nours %s", s.args, names, s.eino, s.ours)
		}
	}
	why.areListed(t)
}
