// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Further ways to ask for a tool.

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/toolsearch"
)

func TestPhrasesAreFurtherWaysToAsk(t *testing.T) {
	opaque := func(phrases any) []tool.BaseTool {
		info := &schema.ToolInfo{Name: "tx_a10", Desc: "Posts an entry."}
		if phrases != nil {
			info.Extra = map[string]any{toolsearch.PhrasesKey: phrases}
		}
		return append(desk(), adktest.Tool(adktest.Invokable, info, nil))
	}
	first := func(f toolsearch.IndexFunc, tools []tool.BaseTool) string {
		var infos []*schema.ToolInfo
		for _, d := range tools {
			info, err := d.Info(context.Background())
			require.NoError(t, err)
			infos = append(infos, info)
		}
		x, err := f(context.Background(), infos)
		require.NoError(t, err)
		found, err := x.Search(context.Background(), toolsearch.Query{Text: "book the electricity bill", Limit: 1})
		require.NoError(t, err)
		if len(found) == 0 {
			return ""
		}
		return found[0].Name
	}
	require.Empty(t, first(toolsearch.BM25Index, opaque(nil)))
	for _, phrases := range []any{[]string{"write down what we paid", "book a bill"}, []any{"book a bill", 7}} {
		require.Equal(t, "tx_a10", first(toolsearch.BM25Index, opaque(phrases)))
		require.NotEqual(t, "tx_a10", first(toolsearch.KeywordIndex, opaque(phrases)), "the specified score reads names and descriptions")
		docs, err := toolsearch.ToolDocuments(context.Background(), opaque(phrases))
		require.NoError(t, err)
		require.Contains(t, docs[len(docs)-1].Content, "book a bill")
	}
	require.Empty(t, first(toolsearch.BM25Index, opaque("book a bill")), "a text is no list")
}
