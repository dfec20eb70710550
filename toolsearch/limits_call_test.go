// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The limits of one call of a search tool, one case on each side of each.

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/texts"
	"github.com/leanctx/leanctx/internal/toolnames"
)

// reports are tools of which each has a word of its own, and all share one.
func reports(n int) (tools []tool.BaseTool) {
	for i := range n {
		tools = append(tools, adktest.Simple(fmt.Sprintf("report_%03d", i), "Shared words."))
	}
	return tools
}

// numbered joins n texts.
func numbered(n int, format, sep string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(list, sep)
}

func TestTheLimitsOfACall(t *testing.T) {
	query := func(q string) string { return `{"query":` + encode(q) + `}` }
	list := func(key, items string) string { return `{"` + key + `":[` + items + `]}` }
	most := func(q string, n int) string { return fmt.Sprintf(`{"query":%q,"max_results":%d}`, q, n) }
	inBothLanguages(t, func(t *testing.T, all *texts.Texts) {
		render := func(name string, limit int) string { return renderIn(all, name, promptData{Limit: limit}) }
		for _, c := range []struct {
			name     string
			cfg      Config
			args     string
			found    int
			note     string // the whole hint
			fewTools int
		}{
			{"names", Config{}, query("select:" + numbered(maxNames, "report_%03d", ",")), maxNames, "", 0},
			{"more names", Config{}, query("select:" + numbered(maxNames+1, "report_%03d", ",")), maxNames, render("cut-names", maxNames), 0},
			{"names to load", Config{Protocol: SearchLoad}, list("tool_names", numbered(maxNames, `"report_%03d"`, ",")), maxNames, "", 0},
			{"more names to load", Config{Protocol: SearchLoad}, list("tool_names", numbered(maxNames+1, `"report_%03d"`, ",")), maxNames, render("cut-names", maxNames), 0},
			{"queries", Config{}, list("query", numbered(maxQueries, `"report_%03d"`, ",")), maxQueries, "", 0},
			{"more queries", Config{}, list("query", numbered(maxQueries+1, `"report_%03d"`, ",")), maxQueries, render("cut-queries", maxQueries), 0},
			{"results", Config{}, most("shared", maxResultsCap), maxResultsCap, "", maxResultsCap},
			{"more results than there are", Config{}, most("shared", maxResultsCap+1), maxResultsCap, "", maxResultsCap},
			{"as many as asked for", Config{}, most("shared", maxResultsCap), maxResultsCap, "", 0},
			{"more results", Config{}, most("shared", maxResultsCap+1), maxResultsCap, render("cut-results", maxResultsCap), maxResultsCap + 1},
			{"results where more are set", Config{MaxResults: maxResultsCap + 1}, most("shared", maxResultsCap+1), maxResultsCap + 1, "", maxResultsCap + 1},
			{"more where more are set", Config{MaxResults: maxResultsCap + 1}, most("shared", maxResultsCap+2), maxResultsCap + 1, render("cut-results", maxResultsCap+1), 0},
			{"results of a pattern", Config{Protocol: Regexp}, `{"regex_pattern":"."}`, maxResultsCap, "", maxResultsCap},
			{"more results of a pattern", Config{Protocol: Regexp}, `{"regex_pattern":"."}`, maxResultsCap, render("cut-results", maxResultsCap), maxResultsCap + 1},
			{"the longest pattern", Config{Protocol: Regexp}, `{"regex_pattern":"report_000` + strings.Repeat("|a", maxPatternBytes/2-5) + `"}`, 1, "", 0},
			{"a longer pattern", Config{Protocol: Regexp}, `{"regex_pattern":"report_000` + strings.Repeat("|a", maxPatternBytes/2-4) + `"}`, 0, render("long-pattern", maxPatternBytes), 0},
			{"words", Config{}, query(strings.Repeat("zzz ", maxWords-1) + "report_007"), 1, "", 0},
		} {
			t.Run(c.name, func(t *testing.T) {
				n := 200
				if c.fewTools > 0 {
					n = c.fewTools
				}
				c.cfg.DynamicTools = reports(n)
				name := toolnames.Search
				if c.cfg.Protocol == SearchLoad {
					name = toolnames.Load
				}
				var a struct {
					Matches, Loaded, SelectedTools []string
					Hint                           string
				}
				require.NoError(t, json.Unmarshal([]byte(ask(t, c.cfg, name, c.args)), &a))
				require.Len(t, append(append(a.Matches, a.Loaded...), a.SelectedTools...), c.found)
				require.Equal(t, c.note, a.Hint)
			})
		}
		words := matchesOf(t, ask(t, Config{DynamicTools: reports(200)}, toolnames.Search, query(strings.Repeat("zzz ", maxWords)+"report_007")))
		require.Empty(t, words.Matches, "the word after the last that counts")
	})
}

func matchesOf(t testing.TB, answer string) (a matchesAnswer) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(answer), &a), answer)
	return a
}

// What an answer suggests is bounded too.
func TestTheLimitsOfSuggestions(t *testing.T) {
	inBothLanguages(t, func(t *testing.T, all *texts.Texts) {
		tools := Config{DynamicTools: reports(200)}
		count := func(a matchesAnswer) int { return strings.Count(a.Hint, "report_") }
		near := matchesOf(t, ask(t, tools, toolnames.Search, `{"query":"reportt"}`))
		require.Equal(t, maxSuggestions, count(near), near.Hint)
		few := Config{DynamicTools: reports(maxSuggestions - 1)}
		require.Equal(t, maxSuggestions-1, count(matchesOf(t, ask(t, few, toolnames.Search, `{"query":"reportt"}`))))

		unknown := func(n int) matchesAnswer {
			return matchesOf(t, ask(t, tools, toolnames.Search, `{"query":"select:`+numbered(n, "nothing%02dlikeit", ",")+`"}`))
		}
		require.Equal(t, 10, strings.Count(unknown(10).Hint, "likeit"))
		require.NotContains(t, unknown(10).Hint, renderIn(all, "more-unknown", promptData{Total: 1}))
		require.Equal(t, 10, strings.Count(unknown(11).Hint, "likeit"))
		require.Contains(t, unknown(11).Hint, renderIn(all, "more-unknown", promptData{Total: 1}))
		require.Contains(t, unknown(13).Hint, renderIn(all, "more-unknown", promptData{Total: 3}))

		lookedUp := func(n int) string {
			return matchesOf(t, ask(t, tools, toolnames.Search, `{"query":"`+numbered(n, "qq%dxx", " ")+`"}`)).Hint
		}
		require.Equal(t, maxLookups, strings.Count(lookedUp(maxLookups), "xx"))
		require.Equal(t, maxLookups, strings.Count(lookedUp(maxLookups+1), "xx"), "words that are said to match nothing")
	})
}
