// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package index_test

import (
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/index"
)

func TestBM25_ReadsHintsOfServers(t *testing.T) {
	first := func(readOnly bool) string {
		x, err := index.BM25(t.Context(), []*schema.ToolInfo{
			{Name: "kv__delete_preview", Desc: "Preview of the keys of a store.", Extra: map[string]any{"mcp.read_only": readOnly, "mcp.destructive": !readOnly}},
			{Name: "kv__get_preview", Desc: "Preview of the keys of a store."},
		})
		require.NoError(t, err)
		found, err := x.Search(t.Context(), index.Query{Text: "what is in the preview", Limit: 1})
		require.NoError(t, err)
		return found[0].Name
	}
	require.Equal(t, "kv__get_preview", first(false))
	require.Equal(t, "kv__delete_preview", first(true))
}
