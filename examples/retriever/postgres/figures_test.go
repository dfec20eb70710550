// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package postgres

// What searches cost, beside the index in memory.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/toolsearch"
)

// sizesVar are the numbers of tools to measure with, such as "10000,100000,1000000".
const sizesVar = "LEANCTX_TOOLS"

// vocabulary makes words, of which the first are the commonest, as in any language.
type vocabulary struct {
	words []string
	draw  *rand.Zipf
}

func newVocabulary(r *rand.Rand, size int) vocabulary {
	v := vocabulary{words: strings.Fields("get list create update delete search send read user file message issue event report the of a for in with by id name date"),
		draw: rand.NewZipf(r, 1.1, 8, uint64(size-1))}
	seen := map[string]bool{}
	for len(v.words) < size {
		var b strings.Builder
		for range 2 + r.IntN(3) {
			b.WriteByte("bcdfghjklmnprstvz"[r.IntN(17)])
			b.WriteByte("aeiou"[r.IntN(5)])
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			v.words = append(v.words, w)
		}
	}
	return v
}

func (v vocabulary) some(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = v.words[v.draw.Uint64()]
	}
	return out
}

// manyTools are n tools of n/50 servers, each with words of its own beside common ones, and
// queries of two to five words of one tool.
func manyTools(n int) (infos []*schema.ToolInfo, queries, wanted []string) {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	v := newVocabulary(r, 20_000+n/5)
	for i := range n {
		name := fmt.Sprintf("%s%d__%s_%d", v.words[(i/50)%len(v.words)], i/50, strings.Join(v.some(2), "_"), i%50)
		desc := v.some(12 + r.IntN(16))
		infos = append(infos, &schema.ToolInfo{Name: name, Desc: strings.Join(desc, " ") + ".", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
			v.some(1)[0]: {Type: schema.String, Desc: strings.Join(v.some(6), " ")},
			v.some(1)[0]: {Type: schema.Integer, Desc: strings.Join(v.some(6), " ")},
		})})
	}
	for range 400 {
		x := infos[r.IntN(n)]
		words := append(strings.FieldsFunc(x.Name, func(c rune) bool { return c == '_' })[:3:3], strings.Fields(strings.Trim(x.Desc, "."))...)
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		queries, wanted = append(queries, strings.Join(words[:2+r.IntN(4)], " ")), append(wanted, x.Name)
	}
	return infos, queries, wanted
}

// described is a tool that only says what it is.
type described struct{ info *schema.ToolInfo }

func (d described) Info(context.Context) (*schema.ToolInfo, error) { return d.info, nil }

func documentsOf(b testing.TB, infos []*schema.ToolInfo) []*schema.Document {
	b.Helper()
	all := make([]tool.BaseTool, len(infos))
	for i, info := range infos {
		all[i] = described{info}
	}
	docs, err := toolsearch.ToolDocuments(ctx, all)
	require.NoError(b, err)
	return docs
}

// measured asks every query and returns the times in order, and how often the tool that was
// meant is among the first five.
func measured(queries, wanted []string, search func(string) []string) (times []time.Duration, recall float64) {
	found := 0
	for i, q := range queries {
		start := time.Now()
		names := search(q)
		times = append(times, time.Since(start))
		if slices.Contains(names, wanted[i]) {
			found++
		}
	}
	slices.Sort(times)
	return times, float64(found) / float64(len(queries))
}

func report(b *testing.B, times []time.Duration, recall float64) {
	ms := func(share float64) float64 {
		return float64(times[int(share*float64(len(times)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(ms(.5), "p50-ms")
	b.ReportMetric(ms(.95), "p95-ms")
	b.ReportMetric(ms(.99), "p99-ms")
	b.ReportMetric(recall, "recall@5")
	b.ReportMetric(0, "ns/op")
}

func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / 1e6
}

// BenchmarkCatalogue fills a table with tools, and an index in memory, and asks both:
//
//	LEANCTX_TOOLS=10000,100000,1000000 go test -run '^$' -bench Catalogue -benchtime 1x -timeout 1h ./postgres
func BenchmarkCatalogue(b *testing.B) {
	sizes := os.Getenv(sizesVar)
	if sizes == "" {
		sizes = "1000"
	}
	p := pool(b)
	for size := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(size)
		require.NoError(b, err)
		infos, queries, wanted := manyTools(n)
		b.Run("tools="+size+"/memory", func(b *testing.B) {
			for b.Loop() {
				before, start := heap(), time.Now()
				index, err := toolsearch.BM25Index(ctx, infos)
				require.NoError(b, err)
				_, err = index.Search(ctx, toolsearch.Query{Text: "x", Limit: 5})
				require.NoError(b, err)
				b.ReportMetric(time.Since(start).Seconds(), "fill-s")
				b.ReportMetric(heap()-before, "MB")
				times, recall := measured(queries, wanted, func(q string) (names []string) {
					found, err := index.Search(ctx, toolsearch.Query{Text: q, Limit: 5})
					require.NoError(b, err)
					for _, f := range found {
						names = append(names, f.Name)
					}
					return names
				})
				report(b, times, recall)
			}
		})
		b.Run("tools="+size+"/postgres", func(b *testing.B) {
			for b.Loop() {
				tools := newTable(b, Config{Pool: p})
				start := time.Now()
				for part := range slices.Chunk(infos, 10_000) {
					_, err := tools.Store(ctx, documentsOf(b, part))
					require.NoError(b, err)
				}
				require.NoError(b, tools.Analyze(ctx))
				b.ReportMetric(time.Since(start).Seconds(), "fill-s")
				var bytes float64
				require.NoError(b, p.QueryRow(ctx, `SELECT pg_total_relation_size($1::regclass)`, tools.table).Scan(&bytes))
				b.ReportMetric(bytes/1e6, "MB")
				times, recall := measured(queries, wanted, func(q string) (names []string) {
					found, err := tools.Retrieve(ctx, q, retriever.WithTopK(5))
					require.NoError(b, err)
					for _, d := range found {
						names = append(names, d.ID)
					}
					return names
				})
				report(b, times, recall)
			}
		})
	}
}
