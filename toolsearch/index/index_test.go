// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package index_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch/index"
)

// ranks is an index that answers with a list of names, or an error, and notes what it is
// asked.
type ranks struct {
	names []string
	err   error
	asked *[]index.Query
}

func (x ranks) Search(_ context.Context, q index.Query) ([]index.Result, error) {
	if x.asked != nil {
		*x.asked = append(*x.asked, q)
	}
	var out []index.Result
	for i, n := range x.names {
		out = append(out, index.Result{Name: n, Score: float64(100 - i)})
	}
	return out, x.err
}

func (x ranks) index(context.Context, []*schema.ToolInfo) (index.Index, error) { return x, nil }

func askIndex(t testing.TB, f index.Func, q index.Query) ([]index.Result, error) {
	t.Helper()
	x, err := f(context.Background(), infos("alpha", "beta", "gamma", "delta", "alpha_beta"))
	require.NoError(t, err)
	return x.Search(context.Background(), q)
}

func TestFuse_AddsReciprocalRanks(t *testing.T) {
	var asked []index.Query
	f := index.Fuse(ranks{names: []string{"alpha", "beta", "gamma"}, asked: &asked}.index, ranks{names: []string{"beta", "delta"}}.index)
	found, err := askIndex(t, f, index.Query{Text: "x", Limit: 3})
	require.NoError(t, err)
	require.Equal(t, []index.Result{{Name: "beta", Score: 1./12 + 1./11}, {Name: "alpha", Score: 1. / 11}, {Name: "delta", Score: 1. / 12}}, found)
	require.Equal(t, 30, asked[0].Limit, "a tool in the middle of two lists may belong to the top")
	_, err = askIndex(t, f, index.Query{Text: "x", Limit: 16})
	require.NoError(t, err)
	require.Equal(t, 32, asked[1].Limit)
	all, err := askIndex(t, f, index.Query{Text: "x"})
	require.NoError(t, err)
	require.Len(t, all, 4, "no limit, no cut")
	require.Zero(t, asked[2].Limit)

	tie, err := askIndex(t, index.Fuse(ranks{names: []string{"gamma"}}.index, ranks{names: []string{"alpha"}}.index), index.Query{Text: "x"})
	require.NoError(t, err)
	require.Equal(t, "alpha", tie[0].Name, "ties are in the order of names")
}

func TestFuse_ContinuesWithoutFailedParts(t *testing.T) {
	broken := ranks{err: errors.New("down"), names: []string{"delta"}}.index
	found, err := askIndex(t, index.Fuse(broken, ranks{names: []string{"beta"}}.index), index.Query{Text: "x"})
	require.NoError(t, err)
	require.Equal(t, []index.Result{{Name: "beta", Score: 1. / 11}}, found, "what comes with an error does not count")
	_, err = askIndex(t, index.Fuse(broken, broken), index.Query{Text: "x"})
	require.Error(t, err)

	own, err := askIndex(t, index.Fuse(nil), index.Query{Text: "gamma"})
	require.NoError(t, err)
	require.Equal(t, "gamma", own[0].Name, "nil is the keyword score")
	_, err = index.Fuse()(context.Background(), infos("alpha"))
	require.Error(t, err)
	refusing := func(context.Context, []*schema.ToolInfo) (index.Index, error) { return nil, errors.New("no") }
	_, err = index.Fuse(index.Keyword, refusing)(context.Background(), infos("alpha"))
	require.ErrorContains(t, err, "part 1")
}

// hangs answers when its context is over.
type hangs struct{ left chan<- time.Duration }

func (h hangs) index(context.Context, []*schema.ToolInfo) (index.Index, error) { return h, nil }

func (h hangs) Search(ctx context.Context, _ index.Query) ([]index.Result, error) {
	deadline, _ := ctx.Deadline()
	h.left <- time.Until(deadline)
	<-ctx.Done()
	return nil, ctx.Err()
}

// deaf never answers, whatever becomes of its context.
type deaf struct{ asked *atomic.Int32 }

func (d deaf) index(context.Context, []*schema.ToolInfo) (index.Index, error) { return d, nil }

func (d deaf) Search(context.Context, index.Query) ([]index.Result, error) {
	d.asked.Add(1)
	time.Sleep(time.Hour)
	return nil, nil
}

func TestTimeLimit_HangingIndexLeavesOneSearchBehind(t *testing.T) {
	for name, f := range map[string]func(deaf) index.Func{
		"limited": func(d deaf) index.Func { return index.TimeLimit(time.Second, d.index) },
		"fused":   func(d deaf) index.Func { return index.Fuse(d.index, index.Keyword) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := deaf{new(atomic.Int32)}
				x, err := f(asked)(t.Context(), infos("alpha", "beta"))
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
		})
	}
}

func TestTimeLimit_EndsSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := make(chan time.Duration, 2)
		_, err := askIndex(t, index.TimeLimit(time.Millisecond, hangs{left}.index), index.Query{Text: "x"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.LessOrEqual(t, <-left, time.Millisecond)

		found, err := askIndex(t, index.Fuse(index.TimeLimit(time.Millisecond, hangs{left}.index), ranks{names: []string{"beta"}}.index), index.Query{Text: "x"})
		require.NoError(t, err)
		require.Equal(t, "beta", found[0].Name)
		require.LessOrEqual(t, <-left, time.Millisecond, "Fuse keeps to the part's own limit")

		for _, d := range []time.Duration{0, -1} {
			x, err := index.TimeLimit(d, hangs{left}.index)(context.Background(), infos("alpha"))
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(context.Background())
			got := make(chan time.Duration, 1)
			go func() {
				got <- <-left
				cancel()
			}()
			_, err = x.Search(ctx, index.Query{Text: "x"})
			require.ErrorIs(t, err, context.Canceled, "the context of the search ends it too")
			limit := <-got
			require.Greater(t, limit, 200*time.Millisecond)
			require.LessOrEqual(t, limit, 2*time.Second)
		}
		own, err := askIndex(t, index.TimeLimit(time.Minute, nil), index.Query{Text: "gamma"})
		require.NoError(t, err)
		require.Equal(t, "gamma", own[0].Name, "nil is the keyword score")
	})
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

func TestConfidence_EveryIndexReportsIt(t *testing.T) {
	best := func(c map[string]float64) (most float64) {
		for _, v := range c {
			most = max(most, v)
		}
		return most
	}
	for name, f := range map[string]index.Func{
		"keyword": index.Keyword, "bm25": index.BM25, "limited": index.TimeLimit(time.Minute, index.BM25),
		"fused": index.Fuse(index.TimeLimit(time.Minute, index.Keyword), index.TimeLimit(time.Minute, index.BM25)),
	} {
		require.Greater(t, best(confidences(t, f, "weather forecast")), .5, name)
		require.Less(t, best(confidences(t, f, haircut)), .4, name)
	}
}

// An index that ends its goroutine has failed at once.
//
//claim:security-52
func TestTimeLimit_GoexitIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := askIndex(t, index.TimeLimit(time.Hour, exits{}.index), index.Query{Text: "x"})
		require.ErrorContains(t, err, "ended its goroutine")
		found, err := askIndex(t, index.Fuse(exits{}.index, ranks{names: []string{"beta"}}.index), index.Query{Text: "x"})
		require.NoError(t, err)
		require.Equal(t, "beta", found[0].Name)
		require.Zero(t, time.Since(began))
	})
}

// exits ends the goroutine that searches it.
type exits struct{}

func (e exits) index(context.Context, []*schema.ToolInfo) (index.Index, error) { return e, nil }

func (exits) Search(context.Context, index.Query) ([]index.Result, error) {
	runtime.Goexit()
	return nil, nil
}

func infos(names ...string) (list []*schema.ToolInfo) {
	for _, n := range names {
		list = append(list, &schema.ToolInfo{Name: n})
	}
	return list
}
