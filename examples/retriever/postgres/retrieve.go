// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package postgres

// Searching the table.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/schema"
	"github.com/jackc/pgx/v5"

	"github.com/leanctx/leanctx/toolsearch"
)

const (
	// mostWords is how many words of a query count, the rarest first, and mostCandidates how
	// many tools are ranked: the server reads each one. Those with the rarest words come
	// first, since words in every third tool tell little.
	mostWords      = 24
	mostCandidates = 2_000
	mostPairs      = 16
	// misspelt is the weight of a name that resembles a word which no tool has.
	misspelt = 0.5
	maxQuery = 8 << 10
)

// Retrieve finds tools by their words: the rarer a word, the more it counts, and most in a
// name. For a word that no tool has, names that look like it are found.
func (t *Tools) Retrieve(ctx context.Context, query string, opts ...retriever.Option) ([]*schema.Document, error) {
	docs, err := t.retrieve(ctx, query, topOf(opts))
	if err != nil {
		return nil, fmt.Errorf("postgres: searching: %w", err)
	}
	return docs, nil
}

func topOf(opts []retriever.Option) int {
	top := 5
	return max(0, *retriever.GetCommonOptions(&retriever.Options{TopK: &top}, opts...).TopK)
}

func (t *Tools) retrieve(ctx context.Context, query string, top int) ([]*schema.Document, error) {
	tenants, err := t.visible(ctx)
	if err != nil {
		return nil, err
	}
	words, err := t.words(ctx, tenants, query)
	if err != nil || len(words) == 0 {
		return nil, err
	}
	rows, err := t.count(ctx, tenants)
	if err != nil {
		return nil, err
	}
	found, err := t.rank(ctx, tenants, words, candidates(words, rows), top)
	if err != nil {
		return nil, err
	}
	alike, err := t.alike(ctx, tenants, words, top)
	if err != nil {
		return nil, err
	}
	return documents(append(found, alike...), top), nil
}

// word is one of a query.
type word struct {
	text  string
	share float64 // of the tools, in which it stands
}

// weight is what a word counts: the fewer tools have it, the more.
func (w word) weight() float64 { return math.Log(1 + 1/max(w.share, 1e-7)) }

// quoted is the word as a tsquery.
func (w word) quoted() string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(w.text) + "'"
}

// words are the words of a query, without stop words and endings, the rarest first.
func (t *Tools) words(ctx context.Context, tenants []string, query string) ([]word, error) {
	common, err := t.frequency(ctx)
	if err != nil {
		return nil, err
	}
	query = clean(query)
	found, err := t.pool.Query(ctx, `SELECT unnest(tsvector_to_array(to_tsvector('english', $1)))`, spaced(query[:min(len(query), maxQuery)]))
	if err != nil {
		return nil, err
	}
	texts, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	words := make([]word, len(texts))
	var rare []string
	for i, text := range texts {
		words[i] = word{text, common.share(text)}
		if _, ok := common.of[text]; !ok {
			rare = append(rare, words[i].quoted())
		}
	}
	unknown, err := t.unknown(ctx, tenants, rare)
	if err != nil {
		return nil, err
	}
	for i, w := range words {
		if unknown[w.quoted()] {
			words[i].share = 0
		}
	}
	slices.SortFunc(words, func(a, b word) int { return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.text, b.text)) })
	return words[:min(len(words), mostWords)], nil
}

// unknown are those of some words that stand in no tool.
func (t *Tools) unknown(ctx context.Context, tenants, quoted []string) (map[string]bool, error) {
	none := map[string]bool{}
	if len(quoted) == 0 {
		return none, nil
	}
	found, err := t.pool.Query(ctx, `SELECT w FROM unnest($1::text[]) w
		WHERE NOT EXISTS (SELECT FROM `+t.table+` WHERE words @@ w::tsquery AND tenant = ANY($2))`, quoted, tenants)
	if err != nil {
		return nil, err
	}
	texts, err := pgx.CollectRows(found, pgx.RowTo[string])
	for _, text := range texts {
		none[text] = true
	}
	return none, err
}

// candidates is the condition for a tool to be ranked: it has one of the rarest words, or
// two of the others, as far as the number of tools allows. If there are too many of all of
// these, it has every word.
func candidates(words []word, rows float64) string {
	var any []string
	left := float64(mostCandidates)
	for _, w := range words {
		n := w.share * rows
		if n > left {
			break
		}
		any, left = append(any, w.quoted()), left-n
	}
	for _, p := range pairs(words[len(any):]) {
		if n := p.share * rows; n <= left {
			any, left = append(any, p.text), left-n
		}
	}
	if len(any) > 0 {
		return strings.Join(any, " | ")
	}
	for _, w := range words {
		any = append(any, w.quoted())
	}
	return strings.Join(any, " & ")
}

// together is how many times more often words meet than if each stood anywhere.
const together = 4

// pairs are the conditions for two words at once, the rarest first.
func pairs(words []word) []word {
	var all []word
	for i, a := range words {
		for _, b := range words[:i] {
			all = append(all, word{a.quoted() + " & " + b.quoted(), together * a.share * b.share})
		}
	}
	slices.SortFunc(all, func(a, b word) int { return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.text, b.text)) })
	return all[:min(len(all), mostPairs)]
}

// hit is a tool that was found.
type hit struct {
	Name, Server, Content string
	Score                 float64
}

func (t *Tools) rank(ctx context.Context, tenants []string, words []word, condition string, top int) ([]hit, error) {
	texts, weights := make([]string, len(words)), make([]float64, len(words))
	for i, w := range words {
		texts[i], weights[i] = w.quoted(), w.weight()
	}
	// Planned again for each query, since the best plan depends on its words; and without
	// the limit, for which the server would rather read the table.
	found, err := t.pool.Query(ctx, `
		WITH matching AS MATERIALIZED (
			SELECT tenant, name, words FROM `+t.table+` WHERE words @@ $1::tsquery AND tenant = ANY($2)),
		candidate AS (SELECT * FROM matching LIMIT $3),
		ranked AS (
			SELECT tenant, name, sum(weight * ts_rank('{.6, 0, 0, 1}', words, q)) AS score
			FROM candidate, (SELECT w::tsquery AS q, weight FROM unnest($4::text[], $5::float8[]) AS u (w, weight)) AS asked
			GROUP BY tenant, name ORDER BY score DESC, name LIMIT $6)
		SELECT name, server, content, score FROM ranked JOIN `+t.table+` USING (tenant, name) ORDER BY score DESC, name, tenant DESC`,
		pgx.QueryExecModeCacheDescribe, condition, tenants, 2*mostCandidates, texts, weights, top)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, pgx.RowToStructByPos[hit])
}

// alike finds names that look like words which no tool has.
func (t *Tools) alike(ctx context.Context, tenants []string, words []word, top int) ([]hit, error) {
	var unknown []string
	for _, w := range words {
		if w.share == 0 && len(w.text) > 3 && w.text[0] < 0x80 {
			unknown = append(unknown, w.text)
		}
	}
	if len(unknown) == 0 {
		return nil, nil
	}
	found, err := t.pool.Query(ctx, `SELECT name, server, content, max(word_similarity(w, name)) * $4 AS score
		FROM unnest($1::text[]) w JOIN `+t.table+` ON w <% name WHERE tenant = ANY($2)
		GROUP BY tenant, name ORDER BY score DESC, name LIMIT $3`, unknown, tenants, top, misspelt*word{share: 1e-4}.weight())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, pgx.RowToStructByPos[hit])
}

// documents are the best of what was found, each name once.
func documents(found []hit, top int) []*schema.Document {
	best := map[string]hit{}
	for _, h := range found {
		if known, ok := best[h.Name]; ok {
			known.Score = max(known.Score, h.Score)
			h = known
		}
		best[h.Name] = h
	}
	hits := make([]hit, 0, len(best))
	for _, h := range best {
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Name, b.Name)) })
	docs := make([]*schema.Document, 0, len(hits))
	for _, h := range hits[:min(len(hits), top)] {
		d := &schema.Document{ID: h.Name, Content: h.Content, MetaData: map[string]any{toolsearch.ToolNameKey: h.Name, "server": h.Server}}
		docs = append(docs, d.WithScore(h.Score))
	}
	return docs
}

// Near returns a retriever by vectors; ok is false where there are none. Fuse it with
// Retrieve's. Before pgvector 0.8 a tenant with few tools among many finds less than it
// should: the tools of others take up the places.
func (t *Tools) Near() (r retriever.Retriever, ok bool) { return nearest{t}, t.vectors }

type nearest struct{ tools *Tools }

// Retrieve finds the tools whose vectors are nearest to that of the query.
func (n nearest) Retrieve(ctx context.Context, query string, opts ...retriever.Option) ([]*schema.Document, error) {
	t, top := n.tools, topOf(opts)
	tenants, err := t.visible(ctx)
	if err != nil {
		return nil, err
	}
	vectors, err := t.vectorsOf(ctx, []string{clean(query)})
	if err != nil {
		return nil, fmt.Errorf("postgres: embedding a query: %w", err)
	}
	hits, err := n.search(ctx, tenants, vectorText(vectors[0]), top)
	if err != nil {
		return nil, fmt.Errorf("postgres: searching vectors: %w", err)
	}
	return documents(hits, top), nil
}

func (n nearest) search(ctx context.Context, tenants []string, vector string, top int) (hits []hit, err error) {
	var batch pgx.Batch // one transaction and one journey: the setting holds for it alone
	if n.tools.iterate {
		batch.Queue(`SELECT set_config('hnsw.iterative_scan', 'strict_order', true)`)
	}
	batch.Queue(`SELECT name, server, content, 1 - (embedding <=> $1::vector) AS score FROM `+n.tools.table+`
		WHERE tenant = ANY($2) AND embedding IS NOT NULL ORDER BY embedding <=> $1::vector LIMIT $3`, vector, tenants, top).
		Query(func(rows pgx.Rows) (err error) {
			hits, err = pgx.CollectRows(rows, pgx.RowToStructByPos[hit])
			return err
		})
	return hits, n.tools.pool.SendBatch(ctx, &batch).Close()
}
