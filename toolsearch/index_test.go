// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Indexes: by meaning, put together of others, unsure, and with further ways to ask for a tool.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// ranks is an index that answers with a list of names, or an error, and notes what it is
// asked.
type ranks struct {
	names []string
	err   error
	asked *[]toolsearch.Query
}

func (x ranks) Search(_ context.Context, q toolsearch.Query) ([]toolsearch.Result, error) {
	if x.asked != nil {
		*x.asked = append(*x.asked, q)
	}
	var out []toolsearch.Result
	for i, n := range x.names {
		out = append(out, toolsearch.Result{Name: n, Score: float64(100 - i)})
	}
	return out, x.err
}

func (x ranks) index(context.Context, []*schema.ToolInfo) (toolsearch.Index, error) { return x, nil }

func askIndex(t testing.TB, f toolsearch.IndexFunc, q toolsearch.Query) ([]toolsearch.Result, error) {
	t.Helper()
	x, err := f(context.Background(), infos("alpha", "beta", "gamma", "delta", "alpha_beta"))
	require.NoError(t, err)
	return x.Search(context.Background(), q)
}

func TestFuseAddsUpReciprocalPlaces(t *testing.T) {
	var asked []toolsearch.Query
	f := toolsearch.Fuse(ranks{names: []string{"alpha", "beta", "gamma"}, asked: &asked}.index, ranks{names: []string{"beta", "delta"}}.index)
	found, err := askIndex(t, f, toolsearch.Query{Text: "x", Limit: 3})
	require.NoError(t, err)
	require.Equal(t, []toolsearch.Result{{Name: "beta", Score: 1./12 + 1./11}, {Name: "alpha", Score: 1. / 11}, {Name: "delta", Score: 1. / 12}}, found)
	require.Equal(t, 30, asked[0].Limit, "a tool in the middle of two lists may belong to the top")
	_, err = askIndex(t, f, toolsearch.Query{Text: "x", Limit: 16})
	require.NoError(t, err)
	require.Equal(t, 32, asked[1].Limit)
	all, err := askIndex(t, f, toolsearch.Query{Text: "x"})
	require.NoError(t, err)
	require.Len(t, all, 4, "no limit, no cut")
	require.Zero(t, asked[2].Limit)

	tie, err := askIndex(t, toolsearch.Fuse(ranks{names: []string{"gamma"}}.index, ranks{names: []string{"alpha"}}.index), toolsearch.Query{Text: "x"})
	require.NoError(t, err)
	require.Equal(t, "alpha", tie[0].Name, "ties are in the order of names")
}

func TestFuseGoesOnWithWhatAnswers(t *testing.T) {
	broken := ranks{err: errors.New("down"), names: []string{"delta"}}.index
	found, err := askIndex(t, toolsearch.Fuse(broken, ranks{names: []string{"beta"}}.index), toolsearch.Query{Text: "x"})
	require.NoError(t, err)
	require.Equal(t, []toolsearch.Result{{Name: "beta", Score: 1. / 11}}, found, "what comes with an error does not count")
	_, err = askIndex(t, toolsearch.Fuse(broken, broken), toolsearch.Query{Text: "x"})
	require.Error(t, err)

	own, err := askIndex(t, toolsearch.Fuse(nil), toolsearch.Query{Text: "gamma"})
	require.NoError(t, err)
	require.Equal(t, "gamma", own[0].Name, "nil is the keyword score")
	_, err = toolsearch.Fuse()(context.Background(), infos("alpha"))
	require.Error(t, err)
	_, err = toolsearch.Fuse(toolsearch.KeywordIndex, toolsearch.RetrieverIndex(nil))(context.Background(), infos("alpha"))
	require.ErrorContains(t, err, "part 1")
}

// hangs answers when its context is over.
type hangs struct{ left chan<- time.Duration }

func (h hangs) index(context.Context, []*schema.ToolInfo) (toolsearch.Index, error) { return h, nil }

func (h hangs) Search(ctx context.Context, _ toolsearch.Query) ([]toolsearch.Result, error) {
	deadline, _ := ctx.Deadline()
	h.left <- time.Until(deadline)
	<-ctx.Done()
	return nil, ctx.Err()
}

// deaf never answers, whatever becomes of its context.
type deaf struct{ asked *atomic.Int32 }

func (d deaf) index(context.Context, []*schema.ToolInfo) (toolsearch.Index, error) { return d, nil }

func (d deaf) Search(context.Context, toolsearch.Query) ([]toolsearch.Result, error) {
	d.asked.Add(1)
	time.Sleep(time.Hour)
	return nil, nil
}

func (d deaf) EmbedStrings(ctx context.Context, texts []string, _ ...embedding.Option) ([][]float64, error) {
	if len(texts) > 1 || !strings.Contains(texts[0], "zzz") { // the tools, and their probes
		return (&embedder{of: meaning}).EmbedStrings(ctx, texts)
	}
	d.asked.Add(1)
	time.Sleep(time.Hour)
	return nil, nil
}

func TestAnIndexThatDoesNotEndLeavesOneSearchBehind(t *testing.T) {
	for name, f := range map[string]func(deaf) toolsearch.IndexFunc{
		"limited":   func(d deaf) toolsearch.IndexFunc { return toolsearch.TimeLimit(time.Second, d.index) },
		"fused":     func(d deaf) toolsearch.IndexFunc { return toolsearch.Fuse(d.index, toolsearch.KeywordIndex) },
		"embedding": func(d deaf) toolsearch.IndexFunc { return toolsearch.EmbeddingIndex("m", d, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := deaf{new(atomic.Int32)}
				x, err := f(asked)(t.Context(), infos("alpha", "beta"))
				require.NoError(t, err)
				_, _ = x.Search(t.Context(), toolsearch.Query{Text: "alpha"})
				synctest.Wait()
				for range 100 {
					_, _ = x.Search(t.Context(), toolsearch.Query{Text: "zzz"})
					time.Sleep(20 * time.Second)
				}
				require.EqualValues(t, 1, asked.asked.Load())
				time.Sleep(time.Hour)
				_, _ = x.Search(t.Context(), toolsearch.Query{Text: "zzz"})
				require.EqualValues(t, 2, asked.asked.Load(), "it is over, so the index is asked again")
				time.Sleep(time.Hour)
			})
		})
	}
}

func TestTimeLimitEndsASearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := make(chan time.Duration, 2)
		_, err := askIndex(t, toolsearch.TimeLimit(time.Millisecond, hangs{left}.index), toolsearch.Query{Text: "x"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.LessOrEqual(t, <-left, time.Millisecond)

		found, err := askIndex(t, toolsearch.Fuse(toolsearch.TimeLimit(time.Millisecond, hangs{left}.index), ranks{names: []string{"beta"}}.index), toolsearch.Query{Text: "x"})
		require.NoError(t, err)
		require.Equal(t, "beta", found[0].Name)
		require.LessOrEqual(t, <-left, time.Millisecond, "Fuse keeps to the part's own limit")

		for _, d := range []time.Duration{0, -1} {
			x, err := toolsearch.TimeLimit(d, hangs{left}.index)(context.Background(), infos("alpha"))
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(context.Background())
			got := make(chan time.Duration, 1)
			go func() {
				got <- <-left
				cancel()
			}()
			_, err = x.Search(ctx, toolsearch.Query{Text: "x"})
			require.ErrorIs(t, err, context.Canceled, "the context of the search ends it too")
			limit := <-got
			require.Greater(t, limit, 200*time.Millisecond)
			require.LessOrEqual(t, limit, 2*time.Second)
		}
		own, err := askIndex(t, toolsearch.TimeLimit(time.Minute, nil), toolsearch.Query{Text: "gamma"})
		require.NoError(t, err)
		require.Equal(t, "gamma", own[0].Name, "nil is the keyword score")
	})
}

// library is a retriever that returns its documents, and notes what it is asked.
type library struct {
	docs  []*schema.Document
	err   error
	query string
	topK  int
}

func (s *library) Retrieve(_ context.Context, query string, opts ...retriever.Option) ([]*schema.Document, error) {
	s.query = query
	if o := retriever.GetCommonOptions(nil, opts...); o.TopK != nil {
		s.topK = *o.TopK
	}
	return s.docs, s.err
}

func doc(id string, meta string, score float64) *schema.Document {
	d := &schema.Document{ID: id}
	if meta != "" {
		d.MetaData = map[string]any{toolsearch.ToolNameKey: meta}
	}
	if score != 0 {
		d.WithScore(score)
	}
	return d
}

func TestRetrieverIndexKnowsToolsByMetaDataOrID(t *testing.T) {
	s := &library{docs: []*schema.Document{
		nil, doc("beta", "", 0), doc("row 7", "alpha", .9), doc("beta", "", .8), doc("gamma", "unknown", 0), doc("nobody", "", 0), doc("alpha", "delta", .5), doc("alpha", "", .4),
	}}
	found, err := askIndex(t, toolsearch.RetrieverIndex(s), toolsearch.Query{Text: "some +words", Limit: 0})
	require.NoError(t, err)
	require.Empty(t, found, "no tool has the required word")
	found, err = askIndex(t, toolsearch.RetrieverIndex(s), toolsearch.Query{Text: "some words"})
	require.NoError(t, err)
	require.Equal(t, []toolsearch.Result{{Name: "beta", Score: 1. / 2}, {Name: "alpha", Score: .9}, {Name: "gamma", Score: 1. / 5}, {Name: "delta", Score: .5}}, found)
	require.Equal(t, "some words", s.query)
	require.Equal(t, 5, s.topK, "all tools, where there is no limit")
	found, err = askIndex(t, toolsearch.RetrieverIndex(s), toolsearch.Query{Text: "some words", Limit: 2})
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, 2, s.topK)
}

// An engine that divides by nothing loses none of the tools that it found.
func TestADocumentWithoutANumberAsItsScoreIsFound(t *testing.T) {
	s := &library{docs: []*schema.Document{doc("beta", "", math.NaN()), doc("alpha", "", math.Inf(1)), doc("gamma", "", math.NaN())}}
	found, err := askIndex(t, toolsearch.RetrieverIndex(s), toolsearch.Query{Text: "some words"})
	require.NoError(t, err)
	require.Equal(t, []toolsearch.Result{{Name: "beta", Score: 1}, {Name: "alpha", Score: math.Inf(1)}, {Name: "gamma", Score: 1. / 3}}, found)
}

func TestRetrieverIndexLooksForRequiredWords(t *testing.T) {
	s := &library{docs: []*schema.Document{doc("gamma", "", .9), doc("alpha", "", .8), doc("beta", "", .7), doc("alpha_beta", "", .6)}}
	for _, c := range []struct {
		query string
		limit int
		want  []string
		topK  int
	}{
		{"+alpha thing", 0, []string{"alpha", "alpha_beta"}, 5},
		{"thing +ALPHA", 1, []string{"alpha"}, 4},
		{"+alpha +beta", 2, []string{"alpha_beta"}, 5},
		{"+nothing", 2, nil, 5},
	} {
		found, err := askIndex(t, toolsearch.RetrieverIndex(s), toolsearch.Query{Text: c.query, Limit: c.limit})
		require.NoError(t, err)
		var names []string
		for _, r := range found {
			names = append(names, r.Name)
		}
		require.Equal(t, c.want, names, c.query)
		require.Equal(t, c.topK, s.topK, c.query)
		require.NotContains(t, s.query, "+")
	}
	s.query = "untouched"
	found, err := askIndex(t, toolsearch.RetrieverIndex(s), toolsearch.Query{Text: " "})
	require.NoError(t, err)
	require.Empty(t, found)
	require.Equal(t, "untouched", s.query, "nothing is asked where there are no words")

	s.err = errors.New("down")
	_, err = askIndex(t, toolsearch.RetrieverIndex(s), toolsearch.Query{Text: "some words"})
	require.ErrorIs(t, err, s.err)
}

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
	var hits []einolean.Hit
	cfg := toolsearch.Config{DynamicTools: desk(), NewIndex: toolsearch.BM25Index, MinConfidence: .5, OnEvent: func(_ context.Context, e einolean.Event) {
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

func TestResultsOfUnknownConfidenceAreNotRefused(t *testing.T) {
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
func TestACustomIndexGetsTheConfidenceOfBM25(t *testing.T) {
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
	}, behind, "before, at and after the only tool that the words speak for")
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

// An index that ends its goroutine has failed at once.
func TestAnIndexThatEndsItsGoroutineHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := askIndex(t, toolsearch.TimeLimit(time.Hour, exits{}.index), toolsearch.Query{Text: "x"})
		require.ErrorContains(t, err, "ended its goroutine")
		found, err := askIndex(t, toolsearch.Fuse(exits{}.index, ranks{names: []string{"beta"}}.index), toolsearch.Query{Text: "x"})
		require.NoError(t, err)
		require.Equal(t, "beta", found[0].Name)
		require.Zero(t, time.Since(began))
	})
}

// exits ends the goroutine that searches it.
type exits struct{}

func (e exits) index(context.Context, []*schema.ToolInfo) (toolsearch.Index, error) { return e, nil }

func (exits) Search(context.Context, toolsearch.Query) ([]toolsearch.Result, error) {
	runtime.Goexit()
	return nil, nil
}

// What could not be made of a set in one run, since that was cancelled or a service was away, is
// made in the next one, once.
func TestAnIndexThatCouldNotBeMadeIsMadeInTheNextRun(t *testing.T) {
	asked, events := 0, &recorder{}
	set, err := toolset.New(context.Background(), formed(0, "jira__move_card"))
	require.NoError(t, err)
	h, err := toolsearch.New(context.Background(), &toolsearch.Config{Source: set, OnEvent: events.on, NewIndex: func(ctx context.Context, tools []*schema.ToolInfo) (toolsearch.Index, error) {
		if asked++; asked == 1 {
			return nil, context.Canceled
		}
		return toolsearch.KeywordIndex(ctx, tools)
	}})
	require.NoError(t, err)
	for run := range 3 {
		model := adktest.Script[*schema.Message](do("1", "tool_search", `{"query":"jira"}`))
		out := adktest.Agent[*schema.Message]{Model: model, Handlers: adktest.Handlers(h)}.Run(context.Background(), []*schema.Message{schema.UserMessage("go")})
		require.NoError(t, out.Err)
		failed := slices.Contains(events.kinds(), einolean.KindIndexFailed)
		require.Equal(t, run == 0, failed, "run %d", run)
		events.all = nil
	}
	require.Equal(t, 2, asked)
}
