// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/reduction"
)

// An agentic message may hold results and what the user said. The rewriter decides
// on the round; what the user said is not of the round.
func TestARewriterNeitherSeesNorDropsWhatStandsBesideTheResults(t *testing.T) {
	type M = *schema.AgenticMessage
	s := shapeOf[M]()
	for _, keep := range []bool{false, true} {
		mixed := s.result("1", "a", text("the result"))
		mixed.ContentBlocks = append([]*schema.ContentBlock{schema.NewContentBlock(&schema.UserInputText{Text: "before"}), nil}, mixed.ContentBlocks...)
		mixed.ContentBlocks = append(mixed.ContentBlocks,
			schema.NewContentBlock(&schema.UserInputText{Text: "after"}),
			schema.NewContentBlock(&schema.UserInputImage{URL: "https://example.com/a.png"}))
		mixed.Extra = map[string]any{"from": "user"}
		history := append([]M{adktest.User[M]("start"), adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: "a"}), mixed}, rounds[M](1, 10)...)
		given := copyAll(history)
		mw := typed(t, &reduction.TypedConfig[M]{SkipTruncation: true, MaxTokensForClear: 1,
			ClearMessageRewriter: func(_ context.Context, call M, results []M) ([]M, error) {
				require.Len(t, results, 1)
				require.Len(t, results[0].ContentBlocks, 1, "the result alone")
				require.NotNil(t, results[0].ContentBlocks[0].FunctionToolResult)
				results[0].ContentBlocks[0].FunctionToolResult.Name = "changed"
				results[0].Extra["from"] = "changed"
				if keep {
					return append([]M{call}, results...), nil
				}
				return nil, nil
			}})
		out := before(t, mw, history)
		require.Equal(t, given, history, "the caller's messages do not change")
		rest := out[1]
		if keep {
			require.Len(t, out, len(history)+1)
			require.Equal(t, "1", adktest.Calls(out[1])[0].ID)
			require.Len(t, s.answers(out[2]), 1)
			rest = out[3]
		} else {
			require.Len(t, out, len(history)-1)
		}
		require.Equal(t, map[string]any{"from": "user"}, rest.Extra)
		require.Equal(t, schema.AgenticRoleTypeUser, rest.Role)
		var said []string
		for _, b := range rest.ContentBlocks {
			require.False(t, b != nil && b.FunctionToolResult != nil)
			if b != nil && b.UserInputText != nil {
				said = append(said, b.UserInputText.Text)
			}
		}
		require.Equal(t, []string{"before", "after"}, said)
		require.NotNil(t, rest.ContentBlocks[len(rest.ContentBlocks)-1].UserInputImage)
		require.Equal(t, out, before(t, mw, out), "a second pass changes nothing")
	}
}
