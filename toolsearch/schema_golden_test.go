// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What the search tools of every protocol look like on the wire, held by golden files:
// testdata/tools.en.json and tools.zh.json. After a change on purpose, run the test with
// UPDATE_GOLDEN=1.

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/texts"
)

func TestTheSearchToolsOfEveryProtocolStayAsTheyAre(t *testing.T) {
	inBothLanguages(t, func(t *testing.T, all *texts.Texts) {
		type wire struct {
			Protocol    string
			Name        string
			Description string
			Parameters  any
		}
		var got []wire
		for p := Keyword; p <= SearchCall; p++ {
			cfg := Config{Protocol: p, DynamicTools: []tool.BaseTool{adktest.Simple("send_email", "Sends an email.")}}
			for _, x := range offeredBy(t, cfg) {
				info, err := x.Info(context.Background())
				require.NoError(t, err)
				params, err := info.ToJSONSchema()
				require.NoError(t, err)
				got = append(got, wire{p.String(), info.Name, info.Desc, params})
			}
		}
		require.Len(t, got, 6)
		text, err := json.MarshalIndent(got, "", "\t")
		require.NoError(t, err)
		file := filepath.Join("testdata", "tools.en.json")
		if all == prompts.Chinese() {
			file = filepath.Join("testdata", "tools.zh.json")
		}
		if os.Getenv("UPDATE_GOLDEN") != "" {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(file, append(text, '\n'), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(text))
		require.Equal(t, string(want), string(text)+"\n", "the order too is part of what a prompt cache keeps")
	})
}

// offeredBy are the search tools that an agent gets, in order.
func offeredBy(t testing.TB, cfg Config) (found []tool.BaseTool) {
	t.Helper()
	for _, x := range agentTools(t, cfg) {
		info, err := x.Info(context.Background())
		require.NoError(t, err)
		if isMetaTool(info.Name) {
			found = append(found, x)
		}
	}
	return found
}
