// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package search

// Sets of tools that share what they index: their answers, what a change costs, and what many
// users take.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// someTool is a tool with words of one's own and those of others.
func someTool(r *rand.Rand, n int) tool.BaseTool {
	verbs := strings.Fields("get list create update delete search send read write convert")
	things := strings.Fields("weather issue message file invoice calendar event contact image report 天气 文件")
	return adktest.Comparable(fmt.Sprintf("%s_%d__%s_%s_%d", things[n%5], n%3, verbs[r.IntN(len(verbs))], things[n%len(things)], n), func(info *schema.ToolInfo) {
		info.Desc = fmt.Sprintf("%ss the %s of a %s with word%d", verbs[r.IntN(len(verbs))], things[r.IntN(len(things))], things[r.IntN(len(things))], r.IntN(40))
	})
}

func setOf(t testing.TB, tools ...tool.BaseTool) *toolset.Set {
	t.Helper()
	s, err := toolset.New(context.Background(), tools...)
	require.NoError(t, err)
	return s
}

func indexed(t testing.TB, f index.Func, sets ...*toolset.Set) Tools {
	set := (*catalog.Set)(toolset.Union(sets...))
	tools := Tools{set, NewIndexes(set)}
	tools.BuildIndex(context.Background(), f)
	require.NoError(t, tools.Err())
	return tools
}

// requireFresh compares the answers of tools with those of indexes that were built whole.
func requireFresh(t *testing.T, c Tools, queries []string) {
	t.Helper()
	infos := c.Infos()
	for _, f := range []index.Func{index.Keyword, index.BM25} {
		x, err := f(c.IndexContext(context.Background()), infos)
		require.NoError(t, err)
		fresh, err := f(context.Background(), infos)
		require.NoError(t, err)
		for _, text := range queries {
			for _, limit := range []int{0, 3} {
				want, err := fresh.Search(context.Background(), index.Query{Text: text, Limit: limit})
				require.NoError(t, err)
				got, err := x.Search(context.Background(), index.Query{Text: text, Limit: limit})
				require.NoError(t, err)
				require.Equal(t, want, got, "%q", text)
			}
			require.Equal(t, index.Explain(fresh, index.Query{Text: text}, infos[0].Name), index.Explain(x, index.Query{Text: text}, infos[0].Name))
		}
	}
	whole := Tools{c.Set, NewIndexes(catalog.SetOf(context.Background(), infos))}
	any := func(*catalog.Tool) bool { return true }
	for _, text := range queries {
		require.Equal(t, whole.Near(text, 3, any), c.Near(text, 3, any), "%q", text)
		require.Equal(t, whole.Resolve(text, any), c.Resolve(text, any), "%q", text)
	}
}

//claim:store-18
func TestIndexes_OfSetsAnswerLikeOneBuiltWhole(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range race.Cases(4) {
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
				tools[at] = adktest.Comparable(info.Name, func(i *schema.ToolInfo) { *i = *info })
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
				view = toolset.Union(shared, setOf(t, someTool(r, next+5000), someTool(r, next+6000)))
			case 1:
				view = shared.Select(func(*schema.ToolInfo) bool { return r.IntN(3) > 0 })
			}
			if (*catalog.Set)(view).Len() == 0 {
				continue
			}
			some, err := tools[r.IntN(len(tools))].Info(context.Background())
			require.NoError(t, err)
			requireFresh(t, indexed(t, nil, view), []string{
				"create invoice", "wether", some.Name, some.Desc, "+send message", strings.ReplaceAll(some.Name, "_", ""), fmt.Sprintf("word%d 天气", r.IntN(40)),
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
//
//claim:store-19
func TestIndexes_OfSharedToolsTakeLittleMemory(t *testing.T) {
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
	searched := func(s *toolset.Set) Tools {
		c := indexed(t, index.BM25, s)
		found, err := c.query(context.Background(), index.Query{Text: "create invoice", Limit: 3}, nil)
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
	var tenants []Tools
	for range many {
		tenants = append(tenants, searched(toolset.Union(shared, setOf(t, some(10)...))))
	}
	united := heapNow() - began
	began = heapNow()
	var views []Tools
	for i := range many {
		n := i
		views = append(views, searched((*toolset.Set)(one.Set).Select(func(*schema.ToolInfo) bool { n++; return n%10 > 0 })))
	}
	selected := heapNow() - began
	t.Logf("one catalogue %d KB; %d tenants with the same tools %d KB; as many views of nine tenths %d KB", alone>>10, many, united>>10, selected>>10)
	// Beside its tools a tenant has the lists of its own catalogue.
	require.Less(t, united, 2*alone+int64(many)<<10)
	require.Less(t, selected, alone, "all together less than twice what one takes")
	runtime.KeepAlive([]any{one, tenants, views})
}
