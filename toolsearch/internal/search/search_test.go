// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

// access allows every tool but the denied ones, of which it reveals the known ones.
type access struct {
	names                  []string
	denied, known, visible toolnames.Set
}

func (a *access) MayFind(e *catalog.Tool) bool { return !a.denied[e.Info.Name] }
func (a *access) MayHint(e *catalog.Tool) bool { return a.MayFind(e) }
func (a *access) MayKnow(name string) bool     { return a.denied[name] && a.known[name] }
func (a *access) Visible() toolnames.Set       { return a.visible }
func (a *access) ListedNames() []string        { return a.names }

// searcherOf returns a search over tools of which none is denied or visible.
func searcherOf(t testing.TB, tools ...tool.BaseTool) Searcher {
	t.Helper()
	entries, a := make([]*catalog.Tool, len(tools)), &access{}
	for i, x := range tools {
		info, err := x.Info(context.Background())
		require.NoError(t, err)
		entries[i], err = catalog.NewTool(x, info)
		require.NoError(t, err)
		a.names = append(a.names, info.Name)
	}
	set := catalog.New(entries)
	s := Searcher{Tools: Tools{set, NewIndexes(set)}, Limits: Limits{MaxResults: 5}, Access: a}
	s.Tools.BuildIndex(context.Background(), nil)
	return s
}

// reports returns a search over report_000 and so on, which share the word "shared".
func reports(t testing.TB, n int) (Searcher, *access) {
	var tools []tool.BaseTool
	for i := range n {
		tools = append(tools, adktest.Simple(fmt.Sprintf("report_%03d", i), "Shared words."))
	}
	s := searcherOf(t, tools...)
	return s, s.Access.(*access)
}

var ctx = context.Background()

// allSpace has space for every tool.
var allSpace = Space{Bytes: 1 << 30, Size: func(*catalog.Tool) int { return 1 }}

func TestFind_LimitsEachQuery(t *testing.T) {
	s, a := reports(t, 10)
	a.visible.Add("report_000", "report_001")
	for limit, want := range map[int]int{0: 7, 1: 2, 3: 5, -1: 7} { // visible tools come on top, at most as many as the limit
		r, err := s.Find(ctx, Query{Texts: []string{"shared"}, Limit: limit}, allSpace)
		require.NoError(t, err)
		require.Len(t, r.Hits, want, "limit %d", limit)
		require.Equal(t, 1, r.Requests)
		if limit != 1 {
			require.Equal(t, []string{"report_000", "report_001"}, r.AlreadyLoaded)
		}
	}
}

func TestFind_RecordsExceededLimits(t *testing.T) {
	s, _ := reports(t, maxResults+1)
	for name, c := range map[string]struct {
		query Query
		want  []Exceeded
	}{
		"none":    {Query{Texts: []string{"shared"}, Limit: maxResults}, nil},
		"results": {Query{Texts: []string{"shared", "shared"}, Limit: maxResults + 1}, []Exceeded{{ResultLimit, maxResults}}},
		"queries": {Query{Texts: slices.Repeat([]string{"shared"}, maxQueries+1)}, []Exceeded{{QueryLimit, maxQueries}}},
		"names":   {Query{Texts: []string{"select:" + strings.Join(s.Access.ListedNames(), ",")}}, []Exceeded{{NameLimit, maxNames}}},
	} {
		r, err := s.Find(ctx, c.query, allSpace)
		require.NoError(t, err)
		require.Equal(t, c.want, r.Exceeded, name)
		require.LessOrEqual(t, len(r.Hits), maxResults, name)
	}
}

func TestFind_OmitsWhatDoesNotFit(t *testing.T) {
	s, a := reports(t, 30)
	a.visible.Add("report_002", "report_029")
	sizes := func(e *catalog.Tool) int {
		if e.Info.Name == "report_001" {
			return 100 // smaller tools after it still fit
		}
		return 10
	}
	r := s.Select(a.names, Space{Bytes: 50, Size: sizes})
	require.Equal(t, []string{"report_000", "report_002", "report_003", "report_004", "report_005"}, r.Names())
	require.Equal(t, []string{"report_002"}, r.AlreadyLoaded)
	require.Equal(t, 25, r.OmittedCount)
	require.Len(t, r.Omitted, maxOmitted)
	require.Equal(t, "report_001", r.Omitted[0])
}

func TestSelect_SortsNames(t *testing.T) {
	s, a := reports(t, 5)
	a.denied.Add("report_001", "report_002")
	a.known.Add("report_001")
	r := s.Select([]string{"report_000", "REPORT-000", "report_001", "report_002", "report_04"}, allSpace)
	require.Equal(t, []string{"report_000"}, r.Names())
	require.Equal(t, []string{"report_001"}, r.Denied)
	require.Len(t, r.Unknown, 2)
	for _, u := range r.Unknown {
		require.NotContains(t, u.Near, "report_001")
		require.NotContains(t, u.Near, "report_002")
	}
	require.Contains(t, r.Unknown[1].Near, "report_004")
	require.Equal(t, 5, r.Requests)

	many := s.Select(strings.Fields(strings.Repeat("nothing ", 13)), allSpace)
	require.Len(t, many.Unknown, 10)
	require.Equal(t, 3, many.UnknownCount)
}

func TestFindByRule_ReturnsAllInOrder(t *testing.T) {
	s, a := reports(t, maxResults+10)
	a.denied.Add("report_003")
	a.visible.Add("report_005", "report_109")
	var event *einolean.Search
	s.Report = func(e einolean.Search, errs []error) { event = &e; require.Empty(t, errs) }
	isLow := func(e *catalog.Tool) bool { return e.Info.Name < "report_008" }
	r, err := s.FindByRule(ctx, Rule{Text: "low", Selects: isLow}, allSpace)
	require.NoError(t, err)
	require.Equal(t, []string{"report_000", "report_001", "report_002", "report_004", "report_005", "report_006", "report_007"}, r.Names())
	require.Equal(t, []string{"report_005"}, r.AlreadyLoaded)
	require.Empty(t, r.Exceeded)
	require.Equal(t, "low", event.Query)
	require.Len(t, event.Hits, 7)

	all, err := s.FindByRule(ctx, Rule{Text: ".", Selects: func(*catalog.Tool) bool { return true }}, allSpace)
	require.NoError(t, err)
	require.Equal(t, []Exceeded{{ResultLimit, maxResults}}, all.Exceeded)
	require.Len(t, all.Hits, maxResults+1, "those that the model sees do not count")

	none, err := s.FindByRule(ctx, Rule{Text: "x", Words: "reportt", Selects: func(*catalog.Tool) bool { return false }}, allSpace)
	require.NoError(t, err)
	require.Empty(t, none.Hits)
	require.Len(t, none.Near, MaxNear)
}

func TestFind_NamesMissingServers(t *testing.T) {
	s, _ := reports(t, 3)
	s.Missing = []string{"jira", "Git-Hub", "slack"}
	for text, want := range map[string][]string{
		"shared":               nil,                          // something was found, and no server is named
		"shared git hub words": {"Git-Hub"},                  // as words
		"shared ajira":         nil,                          // only a part of a word
		"nothing":              {"jira", "Git-Hub", "slack"}, // nothing was found
	} {
		r, err := s.Find(ctx, Query{Texts: []string{text}}, allSpace)
		require.NoError(t, err)
		require.Equal(t, want, r.MissingServers, text)
	}
	r, err := s.Search(ctx, Query{Texts: []string{"nothing"}})
	require.NoError(t, err)
	require.Empty(t, r.MissingServers)
	require.Equal(t, []string{"nothing"}, r.Unmatched)
	require.True(t, r.HasList)
}

func TestLanguages_TellsTheToolsFromTheQuery(t *testing.T) {
	s := searcherOf(t,
		adktest.Simple("a", "创建一个新的问题，并且返回它的编号"), adktest.Simple("b", "查询一个城市的天气预报"), adktest.Simple("c", "发送一封电子邮件给一个人"))
	require.Equal(t, Languages{Tools: "Chinese", Query: "English"}, s.languages("send an email to the people in my team"))
	require.Equal(t, Languages{}, s.languages("发送一封电子邮件"))
	require.Equal(t, Languages{}, searcherOf(t).languages("send an email"))
}
