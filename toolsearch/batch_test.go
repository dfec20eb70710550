// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Catalogues that share what they index: their answers, what a change costs, and what many
// users take.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/race"
)

// someTool is a tool with words of one's own and those of others.
func someTool(r *rand.Rand, n int) tool.BaseTool {
	verbs := strings.Fields("get list create update delete search send read write convert")
	things := strings.Fields("weather issue message file invoice calendar event contact image report 天气 文件")
	return withInfo(fmt.Sprintf("%s_%d__%s_%s_%d", things[n%5], n%3, verbs[r.IntN(len(verbs))], things[n%len(things)], n), func(info *schema.ToolInfo) {
		info.Desc = fmt.Sprintf("%ss the %s of a %s with word%d", verbs[r.IntN(len(verbs))], things[r.IntN(len(things))], things[r.IntN(len(things))], r.IntN(40))
	})
}

func catalogOf(t testing.TB, f IndexFunc, sets ...*ToolSet) *catalog {
	c := &catalog{sets: sets}
	require.NoError(t, c.indexBy(context.Background(), f, true))
	return c
}

// requireFresh compares a catalogue's answers with those of indexes that were built whole.
func requireFresh(t *testing.T, c *catalog, queries []string) {
	t.Helper()
	infos := c.infos()
	for _, f := range []IndexFunc{KeywordIndex, BM25Index} {
		x, err := f(withSelection(context.Background(), infos, batched(c)), infos)
		require.NoError(t, err)
		fresh, err := f(context.Background(), infos)
		require.NoError(t, err)
		for _, text := range queries {
			for _, limit := range []int{0, 3} {
				want, err := fresh.Search(context.Background(), Query{Text: text, Limit: limit})
				require.NoError(t, err)
				got, err := x.Search(context.Background(), Query{Text: text, Limit: limit})
				require.NoError(t, err)
				require.Equal(t, want, got, "%q", text)
			}
			require.Equal(t, explain(fresh, Query{Text: text}, infos[0].Name), explain(x, Query{Text: text}, infos[0].Name))
		}
	}
	whole := &catalog{specified: newKeyword(selectionOf(context.Background(), infos)), sets: c.sets}
	any := func(*entry) bool { return true }
	for _, text := range queries {
		require.Equal(t, whole.near(text, 3, any), c.near(text, 3, any), "%q", text)
		require.Equal(t, whole.resolve(text, any), c.resolve(text, any), "%q", text)
	}
}

func batched(c *catalog) (all selection) {
	for _, s := range c.sets {
		all.addSet(s)
	}
	return all
}

func TestASharedIndexAnswersLikeOneBuiltWhole(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 4 {
		var tools []tool.BaseTool
		for n := range 30 + r.IntN(600) {
			tools = append(tools, someTool(r, n))
		}
		shared, next := setOf(t, tools...), 1000
		for step := range 30 {
			at := r.IntN(len(tools))
			next++
			switch r.IntN(5) {
			case 0:
				tools = slices.Insert(tools, at, someTool(r, next))
			case 1:
				tools = slices.Delete(tools, at, at+1)
			case 2: // a new value of the same definition
				info, err := tools[at].Info(context.Background())
				require.NoError(t, err)
				tools[at] = withInfo(info.Name, func(i *schema.ToolInfo) { *i = *info })
			default:
				tools[at] = someTool(r, next)
			}
			var err error
			shared, err = shared.Update(context.Background(), tools...)
			require.NoError(t, err)
			if step%5 > 0 {
				continue
			}
			view := shared
			switch step % 3 {
			case 0:
				view = Union(shared, setOf(t, someTool(r, next+5000), someTool(r, next+6000)))
			case 1:
				view = shared.Select(func(*schema.ToolInfo) bool { return r.IntN(3) > 0 })
			}
			if view.len() == 0 {
				continue
			}
			some, err := tools[r.IntN(len(tools))].Info(context.Background())
			require.NoError(t, err)
			requireFresh(t, catalogOf(t, nil, view), []string{
				"create invoice", "wether", some.Name, some.Desc, "+send message", strings.ReplaceAll(some.Name, "_", ""), fmt.Sprintf("word%d 天气", r.IntN(40)),
			})
		}
	}
}

// However many changes there were, the index has few batches, and none of tools of others.
func TestBatchesAreMerged(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(1, 1))
	var tools []tool.BaseTool
	for n := range 200 {
		tools = append(tools, someTool(r, n))
	}
	s := setOf(t, tools...)
	own := setOf(t, someTool(r, 5000))
	require.NoError(t, build(catalogOf(t, BM25Index, s).index))
	for i := range 500 {
		tools[r.IntN(len(tools))] = someTool(r, 10_000+i)
		var err error
		s, err = s.Update(ctx, tools...)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return !s.origin.merging.Load() }, time.Minute, 10*time.Microsecond)
		require.NoError(t, build(catalogOf(t, BM25Index, s).index))
		if i%50 == 0 {
			view := Union(s, own)
			all := batched(catalogOf(t, nil, view))
			require.LessOrEqual(t, len(all), maxBatches+1)
			held := 0
			for _, p := range all {
				held += len(p.infos)
				if p.batch.origin == own.origin {
					require.Len(t, p.infos, 1)
				}
				require.True(t, p.origin == own.origin || p.batch.isBuilt.bm25.Load(), "a merged batch is indexed before it is used")
			}
			require.Less(t, held, 3*len(tools), "what is gone is dropped")
		}
	}
}

// oneChange returns how long it takes, sorted, from a changed list of tools to the first
// answer that has the change, for n tools and one change after another.
func oneChange(t testing.TB, f IndexFunc, n, rounds int) []time.Duration {
	ctx := context.Background()
	tools := make([]tool.BaseTool, n)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range tools {
		tools[i] = someTool(r, i)
	}
	cfg := &settings{cfg: Config{NewIndex: f, MaxResults: 5}}
	set := setOf(t, tools...)
	cfg.cfg.Source = set
	var took []time.Duration
	for i := range rounds + 1 {
		changed := withInfo(fmt.Sprintf("changed_%d", i), func(info *schema.ToolInfo) { info.Desc = fmt.Sprintf("zebra%d crossing", i) })
		tools[r.IntN(n)] = changed
		begin := time.Now()
		var err error
		set, err = set.Update(ctx, tools...)
		require.NoError(t, err)
		g, err := groupOf(ctx, []member{{settings: cfg, groups: newGroupCache(), set: set}})
		require.NoError(t, err)
		found, err := g.cat.askIndex(ctx, Query{Text: fmt.Sprintf("zebra%d", i), Limit: 5})
		elapsed := time.Since(begin)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("changed_%d", i), found[0].Name)
		if i > 0 { // the first builds the index
			took = append(took, elapsed)
		}
	}
	slices.Sort(took)
	return took
}

func BenchmarkOneChangeIndexed(b *testing.B) {
	for _, f := range []struct {
		name string
		IndexFunc
	}{{"keyword", nil}, {"bm25", BM25Index}} {
		for _, n := range []int{1_000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", f.name, n), func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					took = oneChange(b, f.IndexFunc, n, 1000)
				}
				ms := func(share int) float64 { return float64(took[len(took)*share/100].Microseconds()) / 1000 }
				b.ReportMetric(ms(50), "p50-ms")
				b.ReportMetric(ms(99), "p99-ms")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// heapNow is how much memory is in use.
func heapNow() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A thousand tenants with a hundred tools each, of which they share ninety, take less than
// twice the memory of one catalogue of all these tools; and views of a large set next to none.
func TestAThousandTenantsTakeLittleMemory(t *testing.T) {
	race.Skip(t, "it measures memory")
	r := rand.New(rand.NewPCG(1, 1))
	made := 0
	some := func(n int) (tools []tool.BaseTool) {
		for range n {
			tools = append(tools, someTool(r, made))
			made++
		}
		return tools
	}
	searched := func(s *ToolSet) *catalog {
		c := catalogOf(t, BM25Index, s)
		found, err := c.askIndex(context.Background(), Query{Text: "create invoice", Limit: 3})
		require.NoError(t, err)
		require.NotEmpty(t, found)
		return c
	}
	began := heapNow()
	many := 1000
	if testing.Short() {
		many = 200
	}
	one := searched(setOf(t, some(90+many*10)...))
	alone := heapNow() - began
	began = heapNow()
	made = 0
	shared := setOf(t, some(90)...)
	var tenants []*catalog
	for range many {
		tenants = append(tenants, searched(Union(shared, setOf(t, some(10)...))))
	}
	united := heapNow() - began
	began = heapNow()
	var views []*catalog
	for i := range many {
		n := i
		views = append(views, searched(one.sets[0].Select(func(*schema.ToolInfo) bool { n++; return n%10 > 0 })))
	}
	selected := heapNow() - began
	t.Logf("one catalogue %d KB; %d tenants with the same tools %d KB; as many views of nine tenths %d KB", alone>>10, many, united>>10, selected>>10)
	require.Less(t, united, 2*alone)
	require.Less(t, selected, alone, "all together less than twice what one takes")
	runtime.KeepAlive([]any{one, tenants, views})
}
