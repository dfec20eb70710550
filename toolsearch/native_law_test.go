// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The laws of histories: whatever one says, what goes out fits the contract.

import (
	"context"
	"slices"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/race"
	"github.com/leanctx/leanctx/toolsearch"
)

const keywordContract toolsearch.Adapter = "keyword" // no contract at all

var contractsOf = map[bool][]toolsearch.Adapter{
	false: {keywordContract, "", toolsearch.ClaudeHosted, toolsearch.ClaudeClient},
	true:  {keywordContract, "", toolsearch.OpenAIHosted, toolsearch.OpenAIClient, toolsearch.AgenticClaudeClient},
}

func TestAnyHistoryFitsAnyContract(t *testing.T) {
	t.Run("Message", func(t *testing.T) { fitsAnyContract[*schema.Message](t, false) })
	t.Run("AgenticMessage", func(t *testing.T) { fitsAnyContract[*schema.AgenticMessage](t, true) })
}

func fitsAnyContract[M adk.MessageType](t *testing.T, agentic bool) {
	r := newRand(t)
	for range race.Cases(300) {
		turns := anyPast(r)
		for _, c := range contractsOf[agentic] {
			h := letterTools[M](t, c)
			before := write[M](turns)
			kept := dump(before)
			out := next(t, h, before)
			require.Equal(t, kept, dump(before), "what was handed in changed under %q", c)
			requireFit(t, c, turns, read(before), read(out.Messages), out)

			again := next(t, h, out.Messages)
			require.True(t, slices.Equal(out.Messages, again.Messages), "under %q, a second pass changed %s", c, dump(out.Messages))
			require.Equal(t, adktest.Names(out.ToolInfos), adktest.Names(again.ToolInfos))
		}
	}
}

func letterTools[M adk.MessageType](t *testing.T, c toolsearch.Adapter) adk.TypedChatModelAgentMiddleware[M] {
	t.Helper()
	cfg := toolsearch.Config{DynamicTools: []tool.BaseTool{adktest.Simple("alpha", "a"), adktest.Simple("beta", "b"), adktest.Simple("gamma", "c")}}
	if c != keywordContract {
		cfg.UseModelToolSearch, cfg.Native = true, c
	}
	h, err := toolsearch.NewTyped[M](context.Background(), &cfg)
	require.NoError(t, err)
	return h
}

// next is what a model call sends after a history.
func next[M adk.MessageType](t *testing.T, h adk.TypedChatModelAgentMiddleware[M], list []M) *adk.TypedChatModelAgentState[M] {
	t.Helper()
	_, out, err := h.BeforeModelRewriteState(context.Background(), &adk.TypedChatModelAgentState[M]{Messages: list, ToolInfos: []*schema.ToolInfo{{Name: "own"}}}, nil)
	require.NoError(t, err)
	return out
}

func requireFit[M adk.MessageType](t *testing.T, c toolsearch.Adapter, turns []past, was, is reading, out *adk.TypedChatModelAgentState[M]) {
	t.Helper()
	about := "under " + string(c) + ": " + dump(out.Messages)
	require.Equal(t, was.calls, is.calls, about)
	require.Equal(t, was.results, is.results, about)
	require.Zero(t, is.empty, about)
	full, later := adktest.Names(out.ToolInfos), adktest.Names(out.DeferredToolInfos)
	requireDisjoint(t, full, later, about)
	if c == "" {
		return // Eino's own behaviour, as far as a provider goes
	}
	for id, text := range is.texts {
		require.NotContains(t, text, "twice", about)
		require.NotContains(t, text, "nil", about)
		require.True(t, is.native[id] || text != "", about)
	}
	requireDisjoint(t, full, is.returned, about)
	switch c {
	case keywordContract, toolsearch.ClaudeHosted, toolsearch.OpenAIHosted:
		require.Empty(t, is.native, about)
	case toolsearch.ClaudeClient, toolsearch.AgenticClaudeClient:
		for id := range is.native {
			require.NotEmpty(t, is.returned, "an empty result of %s: %s", id, about)
		}
	}
	if c == toolsearch.ClaudeClient {
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(is.returned))), len(is.returned), about)
	}
	for id, marked := range is.marked {
		require.True(t, is.native[id] || !marked, "a marked call with text, %s %s", id, about)
		require.True(t, marked || !is.native[id] || c != toolsearch.OpenAIClient, "a call without mark with tools, %s %s", id, about)
	}
	requireHosted(t, c, is, later, full, about)
	requireSeen(t, c, turns, is, full, about)
}

func requireDisjoint(t *testing.T, a, b []string, about string) {
	t.Helper()
	for _, name := range a {
		require.NotContains(t, b, name, about)
	}
}

// requireHosted: searches of the provider stay where it searches, if all they refer to is
// declared.
func requireHosted(t *testing.T, c toolsearch.Adapter, is reading, later, full []string, about string) {
	t.Helper()
	if c != toolsearch.ClaudeHosted && c != toolsearch.OpenAIHosted {
		require.Zero(t, is.searches, about)
	}
	require.Subset(t, append(later, full...), is.hosted, about)
	if c == toolsearch.AgenticClaudeClient {
		require.Subset(t, later, is.returned, about)
	}
	require.NotContains(t, is.returned, "gone", about)
	require.NotContains(t, is.returned, "own", about)
}

// requireSeen: what the history loaded, the model sees; where the provider searches, as far
// as it was loaded by somebody else.
func requireSeen(t *testing.T, c toolsearch.Adapter, turns []past, is reading, full []string, about string) {
	t.Helper()
	hosted := c == toolsearch.ClaudeHosted || c == toolsearch.OpenAIHosted
	for _, p := range turns {
		for _, x := range p.calls {
			names := x.found
			if !hosted {
				names = append(slices.Clone(names), x.name)
			}
			for _, n := range names {
				if n == "alpha" || n == "beta" || n == "gamma" {
					require.Contains(t, append(slices.Clone(is.returned), full...), n, about)
				}
			}
		}
	}
}
