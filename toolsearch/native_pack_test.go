// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

import (
	"context"
	"slices"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/race"
	"github.com/leanctx/leanctx/toolsearch"
)

// While a run may stop, what a provider searched is text, which any checkpoint can hold;
// the next model call sends what it was.
func TestWhatAProviderSearchedIsTextWhileARunMayStop(t *testing.T) {
	t.Run("Message", func(t *testing.T) { textBetweenCalls[*schema.Message](t, toolsearch.ClaudeHosted) })
	t.Run("AgenticMessage", func(t *testing.T) { textBetweenCalls[*schema.AgenticMessage](t, toolsearch.OpenAIHosted) })
}

func textBetweenCalls[M adk.MessageType](t *testing.T, c toolsearch.Adapter) {
	r := newRand(t)
	h := letterTools[M](t, c)
	searches := 0
	for range race.Cases(200) {
		called := next(t, h, write[M](anyPast(r)))
		sent, kept := read(called.Messages), dump(called.Messages)
		_, rests, err := h.AfterModelRewriteState(context.Background(), called, nil)
		require.NoError(t, err)
		require.Equal(t, kept, dump(called.Messages), "what was handed in changed")
		require.Empty(t, rests.DeferredToolInfos)
		for _, m := range rests.Messages {
			requirePacked(t, m)
		}
		_, twice, err := h.AfterModelRewriteState(context.Background(), rests, nil)
		require.NoError(t, err)
		require.True(t, slices.Equal(rests.Messages, twice.Messages))

		again := next(t, h, rests.Messages)
		require.Equal(t, sent, read(again.Messages))
		require.JSONEq(t, kept, dump(again.Messages))
		searches += sent.searches
	}
	require.Positive(t, searches)
}

func requirePacked(t *testing.T, m any) {
	t.Helper()
	switch m := m.(type) {
	case *schema.Message:
		if events := m.Extra[eventsKey]; events != nil {
			require.IsType(t, "", events)
		}
	case *schema.AgenticMessage:
		for _, b := range m.ContentBlocks {
			if b.ServerToolCall != nil {
				require.IsType(t, "", b.ServerToolCall.Arguments)
			}
			if b.ServerToolResult != nil {
				require.IsType(t, "", b.ServerToolResult.Content)
			}
		}
	}
}

// Server tools that have nothing to do with searching for tools are not touched.
func TestOtherServerToolsStayAsTheyAre(t *testing.T) {
	type private struct{ A int }
	m := &schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{
		schema.NewContentBlock(&schema.ServerToolCall{Name: "web_search", Arguments: &private{1}}),
		schema.NewContentBlock(&schema.ServerToolResult{Name: "web_search", Content: "plain text"}),
		schema.NewContentBlock(&schema.ServerToolCall{Name: "odd", Arguments: func() {}}),
		nil,
	}}
	for _, c := range contractsOf[true] {
		h := letterTools[*schema.AgenticMessage](t, c)
		out := next(t, h, []*schema.AgenticMessage{m})
		_, out, err := h.AfterModelRewriteState(context.Background(), out, nil)
		require.NoError(t, err)
		require.Same(t, m, out.Messages[len(out.Messages)-1], string(c))
	}
}
