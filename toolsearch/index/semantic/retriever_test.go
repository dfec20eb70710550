// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package semantic_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/index/semantic"
)

func askIndex(t testing.TB, f index.Func, q index.Query) ([]index.Result, error) {
	t.Helper()
	x, err := f(context.Background(), infos("alpha", "beta", "gamma", "delta", "alpha_beta"))
	require.NoError(t, err)
	return x.Search(context.Background(), q)
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
		d.MetaData = map[string]any{semantic.ToolNameKey: meta}
	}
	if score != 0 {
		d.WithScore(score)
	}
	return d
}

func TestRetriever_FindsToolsByMetaDataOrID(t *testing.T) {
	s := &library{docs: []*schema.Document{
		nil, doc("beta", "", 0), doc("row 7", "alpha", .9), doc("beta", "", .8), doc("gamma", "unknown",
			0), doc("nobody", "", 0), doc("alpha", "delta", .5), doc("alpha", "", .4),
	}}
	found, err := askIndex(t, semantic.Retriever(s), index.Query{Text: "some +words", Limit: 0})
	require.NoError(t, err)
	require.Empty(t, found, "no tool has the required word")
	found, err = askIndex(t, semantic.Retriever(s), index.Query{Text: "some words"})
	require.NoError(t, err)
	require.Equal(t, []index.Result{{Name: "beta", Score: 1. / 2}, {Name: "alpha", Score: .9},
		{Name: "gamma", Score: 1. / 5}, {Name: "delta", Score: .5}}, found)
	require.Equal(t, "some words", s.query)
	require.Equal(t, 5, s.topK, "all tools, where there is no limit")
	found, err = askIndex(t, semantic.Retriever(s), index.Query{Text: "some words", Limit: 2})
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, 2, s.topK)
}

// An engine that divides by nothing loses none of the tools that it found.
func TestRetriever_FindsDocumentWithoutNumericScore(t *testing.T) {
	s := &library{docs: []*schema.Document{doc("beta", "", math.NaN()), doc("alpha", "", math.Inf(1)), doc("gamma", "", math.NaN())}}
	found, err := askIndex(t, semantic.Retriever(s), index.Query{Text: "some words"})
	require.NoError(t, err)
	require.Equal(t, []index.Result{{Name: "beta", Score: 1}, {Name: "alpha", Score: math.Inf(1)},
		{Name: "gamma", Score: 1. / 3}}, found)
}

func TestRetriever_RequiresWords(t *testing.T) {
	s := &library{docs: []*schema.Document{doc("gamma", "", .9), doc("alpha", "", .8), doc("beta", "", .7),
		doc("alpha_beta", "", .6)}}
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
		found, err := askIndex(t, semantic.Retriever(s), index.Query{Text: c.query, Limit: c.limit})
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
	found, err := askIndex(t, semantic.Retriever(s), index.Query{Text: " "})
	require.NoError(t, err)
	require.Empty(t, found)
	require.Equal(t, "untouched", s.query, "nothing is asked where there are no words")

	s.err = errors.New("down")
	_, err = askIndex(t, semantic.Retriever(s), index.Query{Text: "some words"})
	require.ErrorIs(t, err, s.err)
}

func TestRetriever_NilIsAnError(t *testing.T) {
	_, err := semantic.Retriever(nil)(context.Background(), infos("alpha"))
	require.ErrorContains(t, err, "the retriever is nil")
}

// retrieving finds tools by name, in this order.
type retrieving []string

func (r retrieving) Retrieve(context.Context, string, ...retriever.Option) (docs []*schema.Document, err error) {
	for _, name := range r {
		docs = append(docs, &schema.Document{ID: name})
	}
	return docs, nil
}

func TestRetriever_HasConfidenceOfWords(t *testing.T) {
	best := func(c map[string]float64) (most float64) {
		for _, v := range c {
			most = max(most, v)
		}
		return most
	}
	all := semantic.Retriever(retrieving{"weather__forecast", "mail__send", "agenda__create_event",
		"agenda__list_events", "drive__search_files"})
	require.Greater(t, best(confidences(t, all, "weather forecast")), .5)
	require.Less(t, best(confidences(t, all, haircut)), .4)
	lexical := confidences(t, index.BM25, "weather forecast")
	behind := confidences(t, semantic.Retriever(retrieving{"mail__send", "weather__forecast", "drive__search_files"}),
		"weather forecast")
	require.Equal(t, map[string]float64{
		"mail__send": lexical["weather__forecast"], "weather__forecast": lexical["weather__forecast"], "drive__search_files": lexical["weather__forecast"],
	}, behind, "before, at and after the only tool that the words speak for")
	require.Zero(t, best(confidences(t, semantic.Retriever(retrieving{"mail__send"}), "weather forecast")), "not known")
}

func confidences(t *testing.T, f index.Func, text string) map[string]float64 {
	var infos []*schema.ToolInfo
	for _, d := range desk() {
		info, err := d.Info(context.Background())
		require.NoError(t, err)
		infos = append(infos, info)
	}
	x, err := f(context.Background(), infos)
	require.NoError(t, err)
	results, err := x.Search(context.Background(), index.Query{Text: text})
	require.NoError(t, err)
	out := map[string]float64{}
	for _, r := range results {
		out[r.Name] = r.Confidence
	}
	return out
}

// desk are tools of which none cuts hair.
func desk() []tool.BaseTool {
	return []tool.BaseTool{
		aTool("mail__send", "Sends an e-mail to one or more people."),
		aTool("agenda__create_event", "Creates an event on a day."),
		aTool("agenda__list_events", "Lists the events of a day."),
		aTool("weather__forecast", "Returns the weather of a place for the coming days."),
		aTool("drive__search_files", "Finds files by name or content."),
	}
}

// haircut is a request that none of them serves, though its words are in them.
const haircut = "find somebody who cuts hair in my place and costs little"

func aTool(name, desc string) tool.BaseTool {
	return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, Desc: desc}, nil)
}

// deaf is an embedder that never answers a query with "zzz", whatever becomes of its context.
type deaf struct{ asked *atomic.Int32 }

func (d deaf) EmbedStrings(ctx context.Context, texts []string, _ ...embedding.Option) ([][]float64, error) {
	if len(texts) > 1 || !strings.Contains(texts[0], "zzz") { // the tools, and their probes
		return (&embedder{of: meaning}).EmbedStrings(ctx, texts)
	}
	d.asked.Add(1)
	time.Sleep(time.Hour)
	return nil, nil
}

func TestEmbedding_DeafEmbedderLeavesOneSearchBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := deaf{new(atomic.Int32)}
		x, err := semantic.Embedding("m", asked, nil)(t.Context(), infos("alpha", "beta"))
		require.NoError(t, err)
		_, _ = x.Search(t.Context(), index.Query{Text: "alpha"})
		synctest.Wait()
		for range 100 {
			_, _ = x.Search(t.Context(), index.Query{Text: "zzz"})
			time.Sleep(20 * time.Second)
		}
		require.EqualValues(t, 1, asked.asked.Load())
		time.Sleep(time.Hour)
		_, _ = x.Search(t.Context(), index.Query{Text: "zzz"})
		require.EqualValues(t, 2, asked.asked.Load(), "it is over, so the index is asked again")
		time.Sleep(time.Hour)
	})
}

// ourIndexes are indexes on a retriever.
func ourIndexes() map[string]index.Func {
	engine := retrieving{"tool_7", "tool_9"}
	return map[string]index.Func{"retriever": semantic.Retriever(engine),
		"fused": index.Fuse(index.Keyword, semantic.Retriever(engine))}
}

func TestRetriever_FirstSearchesAtOnceGetOneAnswer(t *testing.T) {
	var tools []*schema.ToolInfo
	for i := range 200 {
		tools = append(tools, &schema.ToolInfo{Name: fmt.Sprintf("tool_%d", i), Desc: fmt.Sprintf("Handles case %d", i%10)})
	}
	for name, f := range ourIndexes() {
		x, err := f(context.Background(), tools)
		require.NoError(t, err)
		answers := make([][]index.Result, 8)
		var all sync.WaitGroup
		for i := range answers {
			all.Go(func() {
				found, err := x.Search(context.Background(), index.Query{Text: "handles case 7", Limit: 3})
				if err != nil {
					t.Error(err)
				}
				answers[i] = found
			})
		}
		all.Wait()
		require.NotEmpty(t, answers[0], name)
		for _, a := range answers {
			require.Equal(t, answers[0], a, name)
		}
	}
}

// It needs the tools only to know them.
func TestRetriever_BrokenToolsFindNothing(t *testing.T) {
	x, err := semantic.Retriever(retrieving{"fine"})(context.Background(), []*schema.ToolInfo{{Name: "fine"}, nil})
	require.NoError(t, err)
	for range 2 {
		found, err := x.Search(context.Background(), index.Query{Text: "+fine"})
		require.NoError(t, err)
		require.Empty(t, found)
	}
	require.Empty(t, index.Explain(x, index.Query{Text: "fine"}, "fine"))
}

func infos(names ...string) (list []*schema.ToolInfo) {
	for _, n := range names {
		list = append(list, &schema.ToolInfo{Name: n})
	}
	return list
}
