// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package truncate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/reduction/internal/notice"
)

// prettyJSON returns a list of records as indented and as compact JSON.
func prettyJSON(t *testing.T, records int) (pretty, compact string) {
	t.Helper()
	var list []map[string]int
	for i := range records {
		list = append(list, map[string]int{"a": 1000 + i, "b": 2000 + i})
	}
	indented, err := json.MarshalIndent(list, "", "    ")
	require.NoError(t, err)
	plain, err := json.Marshal(list)
	require.NoError(t, err)
	return string(indented), string(plain)
}

// The sizes include results that fit once they are compact, results that do not, and results that are too long to be
// compacted first.
func TestCompactJSON_ResultIsWithinLimit(t *testing.T) {
	const limit = 1500
	truncated, compacted := 0, 0
	for records := 10; records < 300; records += 7 {
		pretty, compact := prettyJSON(t, records)
		if len(pretty) <= limit {
			continue
		}
		for form, run := range forms {
			about := fmt.Sprintf("%s: %d bytes, %d when compact", form, len(pretty), len(compact))
			memory := backend.NewMemory(0)
			truncator := newTruncator(memory, limit)
			truncator.Rules.Compact = true
			got, _, err := run(context.Background(), truncator, &adk.ToolContext{Name: "t", CallID: "c"}, `{}`, []piece{{text: pretty}})
			require.NoError(t, err, about)
			require.LessOrEqual(t, len(got), limit, about)
			if at := strings.LastIndex(got, "<persisted-output>"); at >= 0 {
				require.Equal(t, pretty, contentOf(t, memory, notice.Parse(got[at:]).Path), about)
				truncated++
				continue
			}
			require.JSONEq(t, pretty, got, about)
			require.Less(t, len(got), len(pretty), about)
			compacted++
		}
	}
	require.Positive(t, truncated)
	require.Positive(t, compacted)
}
