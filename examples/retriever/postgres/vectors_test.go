// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package postgres

// Searching by vectors, on a server that has pgvector.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/schema"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/leanctxtest"
	"github.com/leanctx/leanctx/toolsearch"
)

// letters embeds a text by its trigrams, without a model.
type letters struct {
	size  int // if 0, 256
	texts atomic.Int64
	down  atomic.Bool
}

func (e *letters) EmbedStrings(_ context.Context, texts []string, _ ...embedding.Option) ([][]float64, error) {
	if e.down.Load() {
		return nil, errors.New("out of order")
	}
	e.texts.Add(int64(len(texts)))
	size := cmp.Or(e.size, 256)
	all := make([][]float64, len(texts))
	for i, text := range texts {
		all[i] = make([]float64, size)
		for _, w := range strings.Fields(strings.ToLower(spaced(text))) {
			for padded := "^" + w + "$"; len(padded) >= 3; padded = padded[1:] {
				h := fnv.New32a()
				_, _ = h.Write([]byte(padded[:3]))
				all[i][h.Sum32()%uint32(size)]++
			}
		}
		all[i][0] += 1e-3
	}
	return all, nil
}

func TestVectors(t *testing.T) {
	p := vectorPool(t)
	for name, test := range map[string]func(*testing.T, *pgxpool.Pool){
		"finds the nearest, and embeds what changed": findsByVectors,
		"an agent searches, with both message types": agentsSearchVectors,
		"a small tenant finds its own among many":    findsFewAmongMany,
		"long vectors are compared without an index": comparesLongVectors,
		"an embedder that fails costs its call only": survivesItsEmbedder,
	} {
		t.Run(name, func(t *testing.T) { test(t, p) })
	}
}

// newVectors opens a table with vectors.
func newVectors(t *testing.T, c Config) (*Tools, nearest) {
	t.Helper()
	tools := newTable(t, c)
	near, ok := tools.Near()
	require.True(t, ok)
	return tools, near.(nearest)
}

func findsByVectors(t *testing.T, p *pgxpool.Pool) {
	embedder := &letters{}
	tools, near := newVectors(t, Config{Pool: p, Embedder: embedder})
	_, _, docs := catalogue(t)
	fill(t, tools, docs)
	require.Contains(t, names(t, near, "time convert zone", 5), "time__convert_zone")
	require.Contains(t, names(t, near, "time convrt zonee", 5), "time__convert_zone")
	require.Len(t, names(t, near, "time", 60), 60, "more than the index looks at by itself")
	require.Empty(t, names(t, near, "time", 0))
	for _, strange := range []string{"", "\x00", "\xff", "\\'", strings.Repeat("x ", 1<<16)} {
		names(t, near, strange, 5)
	}
	before := embedder.texts.Load()
	docs[0].Content += " More."
	fill(t, tools, docs)
	require.EqualValues(t, 1, embedder.texts.Load()-before, "only what changed is embedded again")
}

func agentsSearchVectors(t *testing.T, p *pgxpool.Pool) {
	all, _, docs := catalogue(t)
	tools, near := newVectors(t, Config{Pool: p, Embedder: &letters{}})
	fill(t, tools, docs)
	index := toolsearch.Fuse(toolsearch.RetrieverIndex(tools), toolsearch.RetrieverIndex(near))
	for name, options := range map[string][]leanctxtest.Option{"generate": nil, "stream": {leanctxtest.Streaming()}} {
		t.Run("Message/"+name, func(t *testing.T) { agentSearches[*schema.Message](t, all, index, options) })
		t.Run("AgenticMessage/"+name, func(t *testing.T) { agentSearches[*schema.AgenticMessage](t, all, index, options) })
	}
}

func findsFewAmongMany(t *testing.T, p *pgxpool.Pool) {
	tools, near := newVectors(t, Config{Pool: p, Embedder: &letters{}, Tenant: func(ctx context.Context) (string, error) {
		return ctx.Value(tenantKey{}).(string), nil
	}})
	many := make([]*schema.Document, 600)
	for i := range many {
		many[i] = document(fmt.Sprintf("report_%d", i), "Writes a report.")
	}
	_, err := tools.Store(as("large"), many)
	require.NoError(t, err)
	_, err = tools.Store(as("small"), []*schema.Document{document("invoice", "Sends a bill."), document("letter", "Writes a letter.")})
	require.NoError(t, err)
	_, err = p.Exec(ctx, "ANALYZE "+tools.table)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"letter", "invoice"}, namesFor(t, as("small"), near, "writes a report", 5))
	require.Len(t, namesFor(t, as("large"), near, "writes a report", 5), 5)
}

func comparesLongVectors(t *testing.T, p *pgxpool.Pool) {
	tools, near := newVectors(t, Config{Pool: p, Embedder: &letters{size: 3072}})
	fill(t, tools, []*schema.Document{document("report", "Writes a report."), document("invoice", "Sends a bill.")})
	require.Equal(t, []string{"invoice", "report"}, names(t, near, "send a bill", 5))
}

func survivesItsEmbedder(t *testing.T, p *pgxpool.Pool) {
	embedder := &letters{}
	tools, near := newVectors(t, Config{Pool: p, Embedder: embedder})
	fill(t, tools, []*schema.Document{document("report", "Writes a report.")})
	embedder.down.Store(true)
	_, err := near.Retrieve(ctx, "a report")
	require.ErrorContains(t, err, "out of order")
	_, err = tools.Store(ctx, []*schema.Document{document("invoice", "Sends a bill.")})
	require.ErrorContains(t, err, "out of order")
	require.Empty(t, names(t, tools, "bill", 5), "what could not be embedded is not half there")
	require.Equal(t, []string{"report"}, names(t, tools, "report", 5))
	embedder.down.Store(false)
	fill(t, tools, []*schema.Document{document("invoice", "Sends a bill.")})
	require.Equal(t, "invoice", names(t, near, "send a bill", 1)[0])
}
