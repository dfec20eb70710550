// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/toolsearch/toolsearcheval"
)

// catalogue is where the graded set of toolsearcheval keeps the descriptions of these tools.
const catalogue = "../../toolsearch/toolsearcheval/testdata/library.jsonl"

// With LEANCTX_UPDATE=1 it writes the catalogue first.
func TestGoldenCatalogueDescribesTheTools(t *testing.T) {
	tools, err := Tools(t.TempDir())
	require.NoError(t, err)
	infos, err := toolsearcheval.Infos(context.Background(), tools)
	require.NoError(t, err)
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	lines.SetEscapeHTML(false)
	for _, info := range infos {
		line := toolsearcheval.Tool{Name: info.Name, Description: info.Desc}
		if info.ParamsOneOf != nil {
			s, err := info.ToJSONSchema()
			require.NoError(t, err)
			line.InputSchema, err = json.Marshal(s)
			require.NoError(t, err)
		}
		require.NoError(t, lines.Encode(line))
	}
	if os.Getenv("LEANCTX_UPDATE") != "" {
		require.NoError(t, os.WriteFile(catalogue, out.Bytes(), 0o644))
	}
	want, err := os.ReadFile(catalogue)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String(), "run `make golden`")
}
