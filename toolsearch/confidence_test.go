// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Searches that are not sure of what they found.

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/toolsearch"
)

// desk are tools of which none cuts hair.
func desk() []tool.BaseTool {
	return []tool.BaseTool{
		aTool("mail__send", "Sends an e-mail to one or more people.", nil),
		aTool("agenda__create_event", "Creates an event on a day.", nil),
		aTool("agenda__list_events", "Lists the events of a day.", nil),
		aTool("weather__forecast", "Returns the weather of a place for the coming days.", nil),
		aTool("drive__search_files", "Finds files by name or content.", nil),
	}
}

// haircut is a request that none of them serves, though its words are in them.
const haircut = "find somebody who cuts hair in my place and costs little"

func TestAnUnsureSearchLoadsNothingAndNamesTheNearest(t *testing.T) {
	everywhere(t, unsure[*schema.Message], unsure[*schema.AgenticMessage])
}

func unsure[M adk.MessageType](t *testing.T, streaming bool) {
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
				s := on[M](t, streaming, c.protocol)
				s.cfg.DynamicTools, s.cfg.NewIndex = desk(), toolsearch.BM25Index
				query := do("a", c.search, fmt.Sprintf(`{"query":%q}`, haircut))
				before := s.begin(query).answer(t, "a")
				require.NotContains(t, before, "hint", "without a limit something is found")

				s.cfg.MinConfidence = .5
				choose := do("b", c.choose, `{"query":"select:weather__forecast","tool_name":"weather__forecast"}`)
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

				right := s.begin(do("a", c.search, `{"query":"weather of the coming days"}`)).answer(t, "a")
				found, _ = cutHint(right)
				require.Contains(t, found, "weather__forecast", "what is sure is returned")
			})
		}
	}
}

// cutHint parts an answer before its hint.
func cutHint(answer string) (found, hint string) {
	found, hint, _ = strings.Cut(answer, `"hint"`)
	return found, hint
}

func TestEventsTellOfTheConfidence(t *testing.T) {
	var hits []leanctx.Hit
	cfg := toolsearch.Config{DynamicTools: desk(), NewIndex: toolsearch.BM25Index, MinConfidence: .5, OnEvent: func(_ context.Context, e leanctx.Event) {
		if e.Search != nil {
			hits = e.Search.Hits
		}
	}}
	asked(t, cfg, "tool_search", fmt.Sprintf(`{"query":%q}`, haircut))
	require.NotEmpty(t, hits, "what was refused is told of")
	for _, h := range hits {
		require.Greater(t, h.Confidence, 0.0)
		require.Less(t, h.Confidence, .5)
	}
	asked(t, cfg, "tool_search", `{"query":"weather forecast"}`)
	require.Greater(t, hits[0].Confidence, .5)
}

// Of two searches in one call, one that is not sure takes nothing from the other.
func TestOneOfSeveralSearchesMayBeUnsure(t *testing.T) {
	cfg := toolsearch.Config{DynamicTools: desk(), NewIndex: toolsearch.BM25Index, MinConfidence: .5}
	answer := asked(t, cfg, "tool_search", fmt.Sprintf(`{"query":["weather forecast",%q]}`, haircut))
	found, hint := cutHint(answer)
	require.Contains(t, found, "weather__forecast")
	require.NotContains(t, hint, "weather__forecast", "what was found is not among the nearest")
}

// ranked is an index with a fixed answer.
type ranked []toolsearch.Result

func (r ranked) Search(context.Context, toolsearch.Query) ([]toolsearch.Result, error) {
	return append([]toolsearch.Result(nil), r...), nil
}

func (r ranked) index(context.Context, []*schema.ToolInfo) (toolsearch.Index, error) { return r, nil }

func TestWhatIsNotKnownIsNotRefused(t *testing.T) {
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
		answer := asked(t, toolsearch.Config{DynamicTools: desk(), NewIndex: c.results.index, MinConfidence: .5}, "tool_search", `{"query":"x"}`)
		found, _ := cutHint(answer)
		require.Equal(t, c.want, strings.Contains(found, "mail__send"), "%v: %s", c.results, answer)
	}
}

// An index of one's own that knows no confidence gets that of the words.
func TestAnIndexOfOnesOwnIsRatedByTheWords(t *testing.T) {
	everywhere(t, ratedByWords[*schema.Message], ratedByWords[*schema.AgenticMessage])
}

func ratedByWords[M adk.MessageType](t *testing.T, streaming bool) {
	own := ranked{{Name: "mail__send", Score: 3}, {Name: "weather__forecast", Score: 2}, {Name: "drive__search_files", Score: 1}}
	kept := append(ranked(nil), own...)
	s := on[M](t, streaming, toolsearch.Keyword)
	s.cfg.DynamicTools, s.cfg.MinConfidence = desk(), .5
	for name, f := range map[string]toolsearch.IndexFunc{"alone": own.index, "fused": toolsearch.Fuse(own.index, ranked{}.index), "limited": toolsearch.TimeLimit(time.Minute, own.index)} {
		s.cfg.NewIndex = f
		found, hint := cutHint(s.begin(do("a", "tool_search", fmt.Sprintf(`{"query":%q}`, haircut))).answer(t, "a"))
		require.NotContains(t, found, "mail__send", name)
		require.Contains(t, hint, "mail__send", "%s: the nearest, in the index's own order", name)
		found, _ = cutHint(s.begin(do("a", "tool_search", `{"query":"weather forecast"}`)).answer(t, "a"))
		require.Contains(t, found, "mail__send", "%s: it stands before what the words are sure of", name)
	}
	require.Equal(t, kept, own, "the index's answer stays as it was")
	mixed := ranked{{Name: "mail__send", Score: 2, Confidence: .6}, {Name: "weather__forecast", Score: 1}}
	s.cfg.NewIndex = mixed.index
	found, _ := cutHint(s.begin(do("a", "tool_search", fmt.Sprintf(`{"query":%q}`, haircut))).answer(t, "a"))
	require.Contains(t, found, "mail__send", "what the index knows stays")
}

func confidences(t *testing.T, f toolsearch.IndexFunc, text string) map[string]float64 {
	var infos []*schema.ToolInfo
	for _, d := range desk() {
		info, err := d.Info(context.Background())
		require.NoError(t, err)
		infos = append(infos, info)
	}
	x, err := f(context.Background(), infos)
	require.NoError(t, err)
	results, err := x.Search(context.Background(), toolsearch.Query{Text: text})
	require.NoError(t, err)
	out := map[string]float64{}
	for _, r := range results {
		out[r.Name] = r.Confidence
	}
	return out
}

// retrieving finds tools by name, in this order.
type retrieving []string

func (r retrieving) Retrieve(context.Context, string, ...retriever.Option) (docs []*schema.Document, err error) {
	for _, name := range r {
		docs = append(docs, &schema.Document{ID: name})
	}
	return docs, nil
}

func TestEveryIndexHasAConfidence(t *testing.T) {
	best := func(c map[string]float64) (most float64) {
		for _, v := range c {
			most = max(most, v)
		}
		return most
	}
	all := retrieving{"weather__forecast", "mail__send", "agenda__create_event", "agenda__list_events", "drive__search_files"}
	for name, f := range map[string]toolsearch.IndexFunc{
		"keyword": toolsearch.KeywordIndex, "bm25": toolsearch.BM25Index, "limited": toolsearch.TimeLimit(time.Minute, toolsearch.BM25Index),
		"fused":     toolsearch.Fuse(toolsearch.TimeLimit(time.Minute, toolsearch.KeywordIndex), toolsearch.TimeLimit(time.Minute, toolsearch.BM25Index)),
		"retriever": toolsearch.RetrieverIndex(all),
	} {
		require.Greater(t, best(confidences(t, f, "weather forecast")), .5, name)
		require.Less(t, best(confidences(t, f, haircut)), .4, name)
	}
	lexical := confidences(t, toolsearch.BM25Index, "weather forecast")
	behind := confidences(t, toolsearch.RetrieverIndex(retrieving{"mail__send", "weather__forecast", "drive__search_files"}), "weather forecast")
	require.Equal(t, map[string]float64{
		"mail__send": lexical["weather__forecast"], "weather__forecast": lexical["weather__forecast"], "drive__search_files": lexical["weather__forecast"],
	}, behind, "before, at and behind the only tool that the words speak for")
	require.Zero(t, best(confidences(t, toolsearch.RetrieverIndex(retrieving{"mail__send"}), "weather forecast")), "not known")
}

// What is recommended answers requests, and says when there is nothing.
func TestRecommended(t *testing.T) {
	cfg := toolsearch.Recommended(desk())
	require.Len(t, cfg.DynamicTools, len(desk()))
	found, _ := cutHint(asked(t, *cfg, "tool_search", `{"query":"wich wether will we have in the coming days?"}`))
	require.Contains(t, found, "weather__forecast")
	_, hint := cutHint(asked(t, *cfg, "tool_search", `{"query":"please tune my guitar, one string at a time, before the concert of the days"}`))
	require.Contains(t, hint, "No tool seems to do this")
	many := toolsearch.Recommended(reports(300))
	p := scene[*schema.Message]{t: t, cfg: *many}.begin()
	require.Less(t, strings.Count(p.text(), "report_"), 60, "the list of names is short")
}
