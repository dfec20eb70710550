// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The Config field MinConfidence.

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
)

// desk are tools of which none cuts hair.
func desk() []tool.BaseTool {
	return []tool.BaseTool{
		describedTool("mail__send", "Sends an e-mail to one or more people.", nil),
		describedTool("agenda__create_event", "Creates an event on a day.", nil),
		describedTool("agenda__list_events", "Lists the events of a day.", nil),
		describedTool("weather__forecast", "Returns the weather of a place for the coming days.", nil),
		describedTool("drive__search_files", "Finds files by name or content.", nil),
	}
}

// cutHint parts an answer before its hint.
func cutHint(answer string) (found, hint string) {
	found, hint, _ = strings.Cut(answer, `"hint"`)
	return found, hint
}

func TestMinConfidence_UnsureSearchLoadsNothing(t *testing.T) {
	adktest.Both(t, testMinConfidenceUnsureSearchLoadsNothing[*schema.Message], testMinConfidenceUnsureSearchLoadsNothing[*schema.AgenticMessage])
}

func testMinConfidenceUnsureSearchLoadsNothing[M adk.MessageType](t *testing.T, streaming bool) {
	for _, c := range []struct {
		protocol       toolsearch.Protocol
		search, choose string
	}{
		{toolsearch.Keyword, "tool_search", "tool_search"},
		{toolsearch.SearchLoad, "search_tools", "load_tool"},
		{toolsearch.SearchCall, "tool_search", "tool_search"},
	} {
		for _, language := range []adk.Language{adk.LanguageEnglish, adk.LanguageChinese} {
			t.Run(fmt.Sprint(c.protocol, language), func(t *testing.T) {
				require.NoError(t, adk.SetLanguage(language))
				defer func() { require.NoError(t, adk.SetLanguage(adk.LanguageEnglish)) }()
				s := newScene[M](t, streaming, c.protocol)
				s.cfg.DynamicTools, s.cfg.NewIndex = desk(), index.BM25
				query := oneCall("a", c.search, fmt.Sprintf(`{"query":%q}`, haircut))
				before := s.begin(query).answer(t, "a")
				require.NotContains(t, before, "hint", "without a limit something is found")

				s.cfg.MinConfidence = .5
				choose := oneCall("b", c.choose, `{"query":"select:weather__forecast","tool_name":"weather__forecast"}`)
				p := s.begin(query, choose)
				answer := p.answer(t, "a")
				found, _ := cutHint(answer)
				require.NotContains(t, found, "weather__forecast", "nothing is returned")
				require.Contains(t, answer, "weather__forecast", "the nearest is named")
				require.Contains(t, answer, map[adk.Language]string{adk.LanguageEnglish: "No tool seems to do this; nearest:", adk.LanguageChinese: "似乎没有工具能做这件事"}[language])
				require.Contains(t, p.answer(t, "b"), "weather__forecast", "the refused tool is one select: away")
				require.NotContains(t, strings.Join(p.wires[1].ToolNames, " "), "weather__forecast", "a refused tool is not loaded")
				if c.protocol != toolsearch.SearchCall {
					require.Contains(t, p.wires[2].ToolNames, "weather__forecast")
				}

				right := s.begin(oneCall("a", c.search, `{"query":"weather of the coming days"}`)).answer(t, "a")
				found, _ = cutHint(right)
				require.Contains(t, found, "weather__forecast", "what is sure is returned")
			})
		}
	}
}

// haircut is a request that none of them serves, though its words are in them.
const haircut = "find somebody who cuts hair in my place and costs little"

func TestMinConfidence_EventReportsConfidence(t *testing.T) {
	var hits []einolean.Hit
	cfg := toolsearch.Config{DynamicTools: desk(), NewIndex: index.BM25, MinConfidence: .5, OnEvent: func(_ context.Context, e einolean.Event) {
		if e.Search != nil {
			hits = e.Search.Hits
		}
	}}
	searchAnswer(t, cfg, "tool_search", fmt.Sprintf(`{"query":%q}`, haircut))
	require.NotEmpty(t, hits, "what was refused is told of")
	for _, h := range hits {
		require.Greater(t, h.Confidence, 0.0)
		require.Less(t, h.Confidence, .5)
	}
	searchAnswer(t, cfg, "tool_search", `{"query":"weather forecast"}`)
	require.Greater(t, hits[0].Confidence, .5)
}

// Of two searches in one call, one that is not sure takes nothing from the other.
func TestMinConfidence_JudgesEachQuery(t *testing.T) {
	cfg := toolsearch.Config{DynamicTools: desk(), NewIndex: index.BM25, MinConfidence: .5}
	answer := searchAnswer(t, cfg, "tool_search", fmt.Sprintf(`{"query":["weather forecast",%q]}`, haircut))
	found, hint := cutHint(answer)
	require.Contains(t, found, "weather__forecast")
	require.NotContains(t, hint, "weather__forecast", "what was found is not among the nearest")
}

func TestMinConfidence_AcceptsUnknownConfidence(t *testing.T) {
	for _, c := range []struct {
		results ranked
		want    bool // returned
	}{
		{ranked{{Name: "mail__send", Score: 1}}, true},
		{ranked{{Name: "mail__send", Score: 1, Confidence: .4}}, false},
		{ranked{{Name: "mail__send", Score: 1, Confidence: .5}}, true},
		{ranked{{Name: "mail__send", Score: 2, Confidence: .1}, {Name: "weather__forecast", Score: 1, Confidence: .9}}, true},
		{ranked{{Name: "mail__send", Score: 2, Confidence: .1}, {Name: "weather__forecast", Score: 1}}, true},
	} {
		answer := searchAnswer(t, toolsearch.Config{DynamicTools: desk(), NewIndex: c.results.index, MinConfidence: .5}, "tool_search", `{"query":"x"}`)
		found, _ := cutHint(answer)
		require.Equal(t, c.want, strings.Contains(found, "mail__send"), "%v: %s", c.results, answer)
	}
}

// ranked is an index with a fixed answer.
type ranked []index.Result

func (r ranked) Search(context.Context, index.Query) ([]index.Result, error) {
	return append([]index.Result(nil), r...), nil
}

func (r ranked) index(context.Context, []*schema.ToolInfo) (index.Index, error) { return r, nil }

// An index of one's own that knows no confidence gets that of the words.
func TestMinConfidence_CustomIndexUsesBM25(t *testing.T) {
	adktest.Both(t, testMinConfidenceCustomIndexUsesBM25[*schema.Message], testMinConfidenceCustomIndexUsesBM25[*schema.AgenticMessage])
}

func testMinConfidenceCustomIndexUsesBM25[M adk.MessageType](t *testing.T, streaming bool) {
	own := ranked{{Name: "mail__send", Score: 3}, {Name: "weather__forecast", Score: 2}, {Name: "drive__search_files", Score: 1}}
	kept := append(ranked(nil), own...)
	s := newScene[M](t, streaming, toolsearch.Keyword)
	s.cfg.DynamicTools, s.cfg.MinConfidence = desk(), .5
	for name, f := range map[string]index.Func{"alone": own.index, "fused": index.Fuse(own.index, ranked{}.index), "limited": index.TimeLimit(time.Minute, own.index)} {
		s.cfg.NewIndex = f
		found, hint := cutHint(s.begin(oneCall("a", "tool_search", fmt.Sprintf(`{"query":%q}`, haircut))).answer(t, "a"))
		require.NotContains(t, found, "mail__send", name)
		require.Contains(t, hint, "mail__send", "%s: the nearest, in the index's own order", name)
		found, _ = cutHint(s.begin(oneCall("a", "tool_search", `{"query":"weather forecast"}`)).answer(t, "a"))
		require.Contains(t, found, "mail__send", "%s: it stands before what the words are sure of", name)
	}
	require.Equal(t, kept, own, "the index's answer stays as it was")
	mixed := ranked{{Name: "mail__send", Score: 2, Confidence: .6}, {Name: "weather__forecast", Score: 1}}
	s.cfg.NewIndex = mixed.index
	found, _ := cutHint(s.begin(oneCall("a", "tool_search", fmt.Sprintf(`{"query":%q}`, haircut))).answer(t, "a"))
	require.Contains(t, found, "mail__send", "what the index knows stays")
}

// Results of which none is likely stay, with a warning.
func TestMinConfidence_UnlikelyResultsAreCalledDoubtful(t *testing.T) {
	for query, want := range map[string]bool{"events of the orchestra": true, "send an e-mail": false, "select:mail__send": false} {
		cfg := toolsearch.Config{DynamicTools: desk(), NewIndex: index.BM25, MinConfidence: 0.001, Protocol: toolsearch.SearchCall}
		answer := searchAnswer(t, cfg, "tool_search", fmt.Sprintf(`{"query":%q}`, query))
		require.Equal(t, want, strings.Contains(answer, `"hint":"Perhaps none of them fits."`), answer)
		cfg.MinConfidence = 0
		require.NotContains(t, searchAnswer(t, cfg, "tool_search", fmt.Sprintf(`{"query":%q}`, query)), "Perhaps")
	}
}
