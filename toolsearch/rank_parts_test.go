// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Rankings put together of others: Fuse, TimeLimit, RetrieverIndex, each asked directly.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/toolsearch"
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

func TestTimeLimitEndsASearch(t *testing.T) {
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

// The first instance says when tools of all of them are hidden again.
func TestUnloadAfterOfTheFirstInstanceHoldsForAll(t *testing.T) {
	everywhere(t, unloadsAll[*schema.Message], unloadsAll[*schema.AgenticMessage])
}

func unloadsAll[M adk.MessageType](t *testing.T, streaming bool) {
	for _, c := range []struct {
		first, second int
		hidden        bool
	}{{1, 0, true}, {1, 1, true}, {9, 9, false}, {9, 0, false}} {
		t.Run(fmt.Sprint(c.first, " and ", c.second), func(t *testing.T) {
			s := on[M](t, streaming, toolsearch.Keyword)
			s.cfg = toolsearch.Config{DynamicTools: simples("a1"), UnloadAfter: c.first}
			s.behind = adktest.Handlers(with[M](t, &toolsearch.Config{DynamicTools: simples("b1"), UnloadAfter: c.second}))
			p := s.begin(do("s", "tool_search", `{"query":"select:a1,b1"}`), do("o", "own", `{}`), do("p", "own", `{}`))
			require.Subset(t, p.wires[1].ToolNames, []string{"a1", "b1"})
			for _, name := range []string{"a1", "b1"} {
				require.Equal(t, !c.hidden, slices.Contains(p.wires[3].ToolNames, name), name)
			}
		})
	}
}

// Whoever reads an explanation knows words, not stems.
func TestAnExplanationShowsWordsAsTheyAreWritten(t *testing.T) {
	tools := []*schema.ToolInfo{{Name: "money__exchangeRates", Desc: "Converting currencies and summarizing studies.", Extra: map[string]any{toolsearch.PhrasesKey: []string{"价格 Qualities"}}}}
	x, err := toolsearch.BM25Index(context.Background(), tools)
	require.NoError(t, err)
	text := x.(toolsearch.Explainer).Explain(toolsearch.Query{Text: "conversion of a currency, summaries of my study, exchanging qualities, 价格"}, "money__exchangeRates")
	for _, word := range []string{"conversion", "currency", "summaries", "study", "exchanging", "currencies", "studies", "exchange", "Qualities", "价格"} {
		require.Contains(t, text, `"`+word+`"`)
	}
	for _, stem := range []string{"currenc", "studi", "exchang", "qualiti"} {
		require.NotContains(t, text, `"`+stem+`"`)
	}
}
