// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/cloudwego/eino/components/indexer"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/schema"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// table is a catalogue in PostgreSQL, which many replicas share. It is safe for concurrent use.
type table struct {
	pool *pgxpool.Pool
	// tenant is who asks: stored tools belong to that tenant, and found are its own and those that
	// were stored without one. If nil, that is all there is.
	tenant func(context.Context) (string, error)
}

var (
	_ indexer.Indexer     = table{}
	_ retriever.Retriever = table{}
)

// newTable makes the table where it is missing.
func newTable(ctx context.Context, pool *pgxpool.Pool) (table, error) {
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		// Replicas start at the same time, and IF NOT EXISTS is not a lock.
		_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('einolean_tools'))`)
		if err == nil {
			_, err = tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS einolean_tools (tenant text, name text, words tsvector, PRIMARY KEY (tenant, name))`)
		}
		if err == nil {
			_, err = tx.Exec(ctx, `CREATE INDEX IF NOT EXISTS einolean_tools_words ON einolean_tools USING gin (words)`)
		}
		return err
	})
	return table{pool: pool}, err
}

// owner is the tenant of a call; "" for all.
func (t table) owner(ctx context.Context) (string, error) {
	if t.tenant == nil {
		return "", nil
	}
	key, err := t.tenant(ctx)
	if err == nil && key == "" {
		err = errors.New("nobody asks")
	}
	if err != nil {
		return "", fmt.Errorf("the tenant is not known: %w", err)
	}
	return key, nil
}

// Store adds documents, or replaces those of the same names. The words of a name count more than others.
func (t table) Store(ctx context.Context, docs []*schema.Document, _ ...indexer.Option) ([]string, error) {
	tenant, err := t.owner(ctx)
	if err != nil {
		return nil, err
	}
	var batch pgx.Batch // one transaction
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i] = d.ID
		batch.Queue(`INSERT INTO einolean_tools VALUES ($1, $2, setweight(to_tsvector('english', $3), 'A') || to_tsvector('english', $4))
			ON CONFLICT (tenant, name) DO UPDATE SET words = excluded.words`, tenant, d.ID, words(d.ID), words(d.Content))
	}
	return ids, t.pool.SendBatch(ctx, &batch).Close()
}

// Where words meet that the server would take for one: in camelCase, and in Chinese, Japanese and
// Korean, of which each character is a word here.
var (
	camelCase = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
	character = regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]`)
)

// words is a text as the server takes it, with spaces between words.
func words(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "")
	return character.ReplaceAllString(camelCase.ReplaceAllString(text, "$1 $2"), " $0 ")
}

// search ranks the tools that have a word of the query: the fewer tools have it, the more it counts.
const search = `
	WITH seen AS NOT MATERIALIZED (SELECT tenant, name, words FROM einolean_tools WHERE tenant = $2 OR tenant = ''),
	asked AS MATERIALIZED (SELECT q, ln(1 + (SELECT count(*) FROM seen) / greatest(1, (SELECT count(*) FROM seen WHERE words @@ q))) AS weight
		FROM (SELECT ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''')::tsquery AS q FROM unnest(to_tsvector('english', $1))) AS query)
	SELECT name, sum(weight * ts_rank('{.6, 0, 0, 1}', words, q)) / count(DISTINCT tenant) AS score
		FROM asked JOIN seen ON words @@ q GROUP BY name ORDER BY score DESC, name LIMIT $3`

// Retrieve finds documents by their words.
func (t table) Retrieve(ctx context.Context, query string, opts ...retriever.Option) ([]*schema.Document, error) {
	tenant, err := t.owner(ctx)
	if err != nil {
		return nil, err
	}
	top := 5
	o := retriever.GetCommonOptions(&retriever.Options{TopK: &top}, opts...)
	rows, err := t.pool.Query(ctx, search, words(query), tenant, *o.TopK)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (*schema.Document, error) {
		d, score := &schema.Document{}, 0.0
		err := row.Scan(&d.ID, &score)
		return d.WithScore(score), err
	})
}
