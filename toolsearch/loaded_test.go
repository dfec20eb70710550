// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// This file searches for tools that the model sees already.

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/toolsearch"
)

// rankers are the indexes of the package, without a time limit that a busy machine could reach.
func rankers() map[string]toolsearch.IndexFunc {
	return map[string]toolsearch.IndexFunc{
		"KeywordIndex": toolsearch.KeywordIndex, "BM25Index": toolsearch.BM25Index,
		"Fuse": toolsearch.Fuse(toolsearch.TimeLimit(time.Minute, toolsearch.KeywordIndex), toolsearch.TimeLimit(time.Minute, toolsearch.BM25Index)),
	}
}

// accounts are tools of which one is what "delete user admin" asks for.
func accounts() []tool.BaseTool {
	tools := []tool.BaseTool{aTool("admin__delete_user", "Deletes a user of the admin panel.", nil)}
	for i := range 12 {
		tools = append(tools, aTool(fmt.Sprintf("shop%02d__delete_user", i), "Deletes a user of a shop.", nil))
	}
	return tools
}

// namesIn are the tools of an answer, and those of them that it says are loaded.
func namesIn(t testing.TB, answer string) (found, loaded []string) {
	var a struct {
		Matches, Results json.RawMessage
		AlreadyLoaded    []string `json:"already_loaded"`
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &a), answer)
	if a.Matches != nil {
		require.NoError(t, json.Unmarshal(a.Matches, &found))
		return found, a.AlreadyLoaded
	}
	var results []struct{ Name string }
	require.NoError(t, json.Unmarshal(a.Results, &results), answer)
	for _, r := range results {
		found = append(found, r.Name)
	}
	return found, a.AlreadyLoaded
}

func TestLoadedToolsKeepTheirRankAndUseUpNoPlace(t *testing.T) {
	everywhere(t, loadedKeepRank[*schema.Message], loadedKeepRank[*schema.AgenticMessage])
}

func loadedKeepRank[M adk.MessageType](t *testing.T, streaming bool) {
	for name, index := range rankers() {
		for protocol, search := range map[toolsearch.Protocol]string{toolsearch.Keyword: "tool_search", toolsearch.SearchLoad: "search_tools"} {
			t.Run(name+"/"+protocol.String(), func(t *testing.T) {
				load := do("load", "tool_search", `{"query":"select:admin__delete_user"}`)
				if protocol == toolsearch.SearchLoad {
					load = do("load", "load_tool", `{"tool_name":"admin__delete_user"}`)
				}
				s := on[M](t, streaming, protocol)
				s.cfg.NewIndex, s.cfg.DynamicTools = index, accounts()
				query := do("search", search, `{"query":"delete user admin","max_results":5}`)
				before, none := namesIn(t, s.begin(query).answer(t, "search"))
				require.Len(t, before, 5)
				require.Equal(t, "admin__delete_user", before[0])
				require.Empty(t, none)

				after, loaded := namesIn(t, s.begin(load, query).answer(t, "search"))
				require.Equal(t, []string{"admin__delete_user"}, loaded)
				require.Equal(t, before, after[:5], "the same tools at the same places")
				require.Len(t, after, 6, "and as many that are not loaded as were asked for")
			})
		}
	}
}

// However many tools are loaded, an answer holds at most twice what was asked for, in the
// order of the ranking, and the loaded ones among the first are in it.
func TestAnswersAreBoundedWhateverIsLoaded(t *testing.T) {
	for name, index := range rankers() {
		t.Run(name, func(t *testing.T) {
			s := on[*schema.Message](t, false, toolsearch.Keyword)
			s.cfg.NewIndex, s.cfg.DynamicTools = index, accounts()
			everything, _ := namesIn(t, s.begin(do("all", "tool_search", `{"query":"delete user","max_results":13}`)).answer(t, "all"))
			require.Len(t, everything, 13)
			for n := range 14 {
				load := do("load", "tool_search", `{"query":"select:`+strings.Join(everything[:n], ",")+`"}`)
				found, loaded := namesIn(t, s.begin(load, do("s", "tool_search", `{"query":"delete user","max_results":3}`)).answer(t, "s"))
				top := min(n, 3)
				require.Equal(t, nonNil(everything[:top]), nonNil(loaded), "%d loaded", n)
				fresh := everything[n:min(n+3, 13)]
				require.Equal(t, append(append([]string{}, everything[:top]...), fresh...), found, "%d loaded", n)
			}
		})
	}
}

func nonNil(list []string) []string { return append([]string{}, list...) }

// An index is asked by words and a number alone: no index can rank by what is loaded.
type askedIndex struct {
	toolsearch.Index
	asked *[]toolsearch.Query
}

func (x askedIndex) Search(ctx context.Context, q toolsearch.Query) ([]toolsearch.Result, error) {
	*x.asked = append(*x.asked, q)
	return x.Index.Search(ctx, q)
}

func TestAnIndexIsAskedTheSameWhateverIsLoaded(t *testing.T) {
	var asked []toolsearch.Query
	s := on[*schema.Message](t, false, toolsearch.Keyword)
	s.cfg.DynamicTools = accounts()
	s.cfg.NewIndex = func(ctx context.Context, tools []*schema.ToolInfo) (toolsearch.Index, error) {
		x, err := toolsearch.KeywordIndex(ctx, tools)
		return askedIndex{x, &asked}, err
	}
	query := do("s", "tool_search", `{"query":"delete user","max_results":3}`)
	s.begin(query)
	first := asked[0]
	asked = nil
	s.begin(do("load", "tool_search", `{"query":"select:admin__delete_user"}`), query)
	require.Equal(t, first, asked[0])
}

// A pattern finds what is loaded as well: it is named, and uses up no place.
func TestRegexpNamesWhatIsLoadedAndGivesItNoPlace(t *testing.T) {
	everywhere(t, regexpNamesLoaded[*schema.Message], regexpNamesLoaded[*schema.AgenticMessage])
}

func regexpNamesLoaded[M adk.MessageType](t *testing.T, streaming bool) {
	var names []string
	for i := range 103 {
		names = append(names, fmt.Sprintf("mail_%03d", i))
	}
	selected := func(answer string) (a struct {
		SelectedTools []string
		AlreadyLoaded []string `json:"already_loaded"`
		Hint          string
	}) {
		require.NoError(t, json.Unmarshal([]byte(answer), &a))
		return a
	}
	s := on[M](t, streaming, toolsearch.Regexp)
	s.cfg.DynamicTools = simples(names...)
	p := s.begin(
		do("load", "tool_search", `{"regex_pattern":"_00[01]$"}`), do("more", "tool_search", `{"regex_pattern":"mail"}`),
		do("rest", "tool_search", `{"regex_pattern":"mail"}`), do("known", "tool_search", `{"regex_pattern":"_000$"}`))
	require.Equal(t, names[:2], selected(p.answer(t, "load")).SelectedTools)

	more := selected(p.answer(t, "more"))
	require.Equal(t, names[:102], more.SelectedTools, "100 that are not loaded, and two that are")
	require.Equal(t, names[:2], more.AlreadyLoaded)
	require.Contains(t, more.Hint, "More tools match than the 100")

	rest := selected(p.answer(t, "rest"))
	require.Equal(t, append(append([]string{}, names[:100]...), names[102]), rest.SelectedTools)
	require.Equal(t, names[:100], rest.AlreadyLoaded)
	require.Empty(t, rest.Hint)
	require.Equal(t, `{"selectedTools":["mail_000"],"already_loaded":["mail_000"]}`, p.answer(t, "known"))
	require.Contains(t, p.wires[4].ToolNames, "mail_102")
}
