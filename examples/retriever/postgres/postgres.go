// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package postgres keeps tools in PostgreSQL, where many replicas share them, and finds them
// there: by its full-text search, by trigrams where a word is misspelled, and by vectors
// where pgvector is installed. It is an Eino indexer and an Eino retriever:
//
//	tools, err := postgres.Open(ctx, postgres.Config{Pool: pool})
//	_, err = tools.Store(ctx, docs) // of toolsearch.ToolDocuments
//	index := toolsearch.Fuse(toolsearch.RetrieverIndex(tools), toolsearch.BM25Index)
package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/components/indexer"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Config says where the tools are kept and who may see which.
type Config struct {
	// Pool is required, and stays the caller's.
	Pool *pgxpool.Pool
	// Table is the name of the table. If empty, "leanctx_tools". Where the embedder changes,
	// so must the table.
	Table string
	// Tenant identifies who asks. What is stored belongs to that tenant; found is what belongs to
	// it and what was stored without a tenant, for all. If nil, that is all there is. An error
	// or an empty key fails the call.
	Tenant func(context.Context) (string, error)
	// Embedder makes the vectors. If nil, or if the server has no pgvector, there are none.
	// Those of up to 2,000 dimensions are indexed; longer ones are all compared for each query.
	Embedder embedding.Embedder
}

// Tools is a table of tools. It is safe for concurrent use, by many processes too.
type Tools struct {
	pool    *pgxpool.Pool
	table   string // quoted
	tenant  func(context.Context) (string, error)
	embed   embedding.Embedder
	vectors bool
	iterate bool // pgvector 0.8 or later goes on where a filter leaves too few

	mu     sync.Mutex
	common *frequencies
	rows   map[string]rowCount // by tenant
}

var (
	_ indexer.Indexer     = (*Tools)(nil)
	_ retriever.Retriever = (*Tools)(nil)
)

// Open makes the table, its indexes and the extension pg_trgm where they are missing.
func Open(ctx context.Context, c Config) (*Tools, error) {
	if c.Pool == nil {
		return nil, errors.New("postgres: Config.Pool is required")
	}
	if c.Table == "" {
		c.Table = "leanctx_tools"
	}
	t := &Tools{
		pool: c.Pool, table: pgx.Identifier{c.Table}.Sanitize(), tenant: c.Tenant, embed: c.Embedder,
		rows: map[string]rowCount{},
	}
	err := pgx.BeginFunc(ctx, c.Pool, func(tx pgx.Tx) error {
		// Replicas start at the same time, and IF NOT EXISTS is not a lock.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('leanctx'))`); err != nil {
			return err
		}
		if err := t.create(ctx, tx, c.Table); err != nil {
			return err
		}
		return t.createVectors(ctx, tx, c.Table)
	})
	if err != nil {
		return nil, fmt.Errorf("postgres: opening: %w", err)
	}
	return t, nil
}

func (t *Tools) create(ctx context.Context, tx pgx.Tx, name string) error {
	for _, sql := range []string{
		`CREATE EXTENSION IF NOT EXISTS pg_trgm`,
		`CREATE TABLE IF NOT EXISTS ` + t.table + ` (
			tenant text NOT NULL, -- '' is for all
			name text NOT NULL,
			server text NOT NULL,
			content text NOT NULL,
			words tsvector NOT NULL,
			PRIMARY KEY (tenant, name))`,
		// ANALYZE lists the commonest words with their frequencies: ten for each step.
		`ALTER TABLE ` + t.table + ` ALTER words SET STATISTICS 1000`,
		`CREATE INDEX IF NOT EXISTS ` + pgx.Identifier{name + "_words"}.Sanitize() + ` ON ` + t.table + ` USING gin (words)`,
		`CREATE INDEX IF NOT EXISTS ` + pgx.Identifier{name + "_name"}.Sanitize() + ` ON ` + t.table + ` USING gin (name gin_trgm_ops)`,
	} {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// mostIndexed is how many dimensions pgvector indexes. Longer vectors are all compared.
const mostIndexed = 2000

// createVectors adds the column for vectors, if the server can have one.
func (t *Tools) createVectors(ctx context.Context, tx pgx.Tx, name string) error {
	if t.embed == nil {
		return nil
	}
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector')`).Scan(&t.vectors)
	if err != nil || !t.vectors {
		return err
	}
	probe, err := t.vectorsOf(ctx, []string{"dimensions"})
	if err != nil {
		return err
	}
	statements := []string{
		`CREATE EXTENSION IF NOT EXISTS vector`,
		fmt.Sprintf(`ALTER TABLE %s ADD COLUMN IF NOT EXISTS embedding vector(%d)`, t.table, len(probe[0])),
	}
	if len(probe[0]) <= mostIndexed {
		statements = append(statements, `CREATE INDEX IF NOT EXISTS `+pgx.Identifier{name + "_embedding"}.Sanitize()+` ON `+t.table+` USING hnsw (embedding vector_cosine_ops)`)
	}
	for _, sql := range statements {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return tx.QueryRow(ctx, `SELECT string_to_array(extversion, '.')::int[] >= '{0,8}' FROM pg_extension WHERE extname = 'vector'`).Scan(&t.iterate)
}

// owner is the tenant of a call; "" where there are none.
func (t *Tools) owner(ctx context.Context) (string, error) {
	if t.tenant == nil {
		return "", nil
	}
	key, err := t.tenant(ctx)
	if err == nil && key == "" {
		err = errors.New("its key is empty")
	}
	if err != nil {
		return "", fmt.Errorf("postgres: the tenant is not known: %w", err)
	}
	return key, nil
}

// visible are the tenants whose tools a call finds.
func (t *Tools) visible(ctx context.Context) ([]string, error) {
	key, err := t.owner(ctx)
	if err != nil || key == "" {
		return []string{""}, err
	}
	return []string{key, ""}, nil
}

// Analyze makes the server count the words, by which searches tell common ones from rare
// ones. Call it after a catalogue was filled for the first time; later the server's
// autovacuum does it.
func (t *Tools) Analyze(ctx context.Context) error {
	_, err := t.pool.Exec(ctx, `ANALYZE `+t.table)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.common = nil
	clear(t.rows)
	return err
}

const (
	// fresh is how long counts of the server are used.
	fresh = time.Minute
	// mostTenants is how many tenants' numbers of tools are kept.
	mostTenants = 10_000
)

// frequencies are in which share of the tools the commonest words stand.
type frequencies struct {
	of    map[string]float64
	least float64 // every other word is in fewer
	until time.Time
}

type rowCount struct {
	n     float64
	until time.Time
}

// frequency returns how common words are, as the server last counted them.
func (t *Tools) frequency(ctx context.Context) (*frequencies, error) {
	t.mu.Lock()
	known := t.common
	t.mu.Unlock()
	if known != nil && time.Now().Before(known.until) {
		return known, nil
	}
	f := &frequencies{of: map[string]float64{}, least: 1, until: time.Now().Add(fresh)}
	var words []string
	var shares []float64
	err := t.pool.QueryRow(ctx, `SELECT coalesce(most_common_elems::text::text[], '{}'), coalesce(most_common_elem_freqs, '{}')
		FROM pg_stats JOIN pg_class ON relname = tablename JOIN pg_namespace n ON n.oid = relnamespace AND nspname = schemaname
		WHERE pg_class.oid = $1::regclass AND attname = 'words'`, t.table).Scan(&words, &shares)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, err
	}
	for i, w := range words {
		f.of[w], f.least = shares[i], math.Min(f.least, shares[i])
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.common = f
	return f, nil
}

// share is in which share of the tools a word stands.
func (f *frequencies) share(word string) float64 {
	if s, ok := f.of[word]; ok {
		return s
	}
	return f.least / 4
}

// count returns the number of tools that tenants see.
func (t *Tools) count(ctx context.Context, tenants []string) (float64, error) {
	key := strings.Join(tenants, "\x00")
	t.mu.Lock()
	known, ok := t.rows[key]
	t.mu.Unlock()
	if ok && time.Now().Before(known.until) {
		return known.n, nil
	}
	r := rowCount{until: time.Now().Add(fresh)}
	// Above the limit it does not matter how many there are.
	err := t.pool.QueryRow(ctx, `SELECT count(*) FROM (SELECT FROM `+t.table+` WHERE tenant = ANY($1) LIMIT 1000000) seen`, tenants).Scan(&r.n)
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.rows) >= mostTenants {
		clear(t.rows)
	}
	t.rows[key] = r
	return r.n, nil
}
