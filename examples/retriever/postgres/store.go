// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package postgres

// Filling the table.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/components/indexer"
	"github.com/cloudwego/eino/schema"
	"github.com/jackc/pgx/v5"

	"github.com/leanctx/leanctx/toolsearch"
)

const (
	// maxContent is how many bytes of a document are kept: the server takes one megabyte of
	// words, and no tool needs that.
	maxContent = 64 << 10
	embedBatch = 64
)

// row is a tool as it is stored.
type row struct{ name, server, content, nameWords, words string }

func rowOf(d *schema.Document) row {
	name, _ := d.MetaData[toolsearch.ToolNameKey].(string)
	r := row{name: clean(cmp.Or(name, d.ID)), content: clean(d.Content)}
	server, _ := d.MetaData["server"].(string)
	r.server, r.nameWords, r.words = clean(server), spaced(r.name), spaced(r.content)
	return r
}

// clean is what the server takes as text.
func clean(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text[:min(len(text), maxContent)], "\x00", ""), "")
}

// Store adds documents of toolsearch.ToolDocuments, or replaces those of the same names, in
// one transaction. A document that is as it was costs no write and is not embedded again.
// Fill large catalogues by some ten thousand at a time.
func (t *Tools) Store(ctx context.Context, docs []*schema.Document, _ ...indexer.Option) ([]string, error) {
	tenant, err := t.owner(ctx)
	if err != nil {
		return nil, err
	}
	ids, byName := make([]string, len(docs)), map[string]row{}
	for i, d := range docs {
		ids[i] = d.ID
		r := rowOf(d)
		byName[r.name] = r
	}
	rows := make([]row, 0, len(byName))
	for _, r := range byName {
		rows = append(rows, r)
	}
	// In one order, so that two who store the same do not wait for each other.
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.name, b.name) })
	err = pgx.BeginFunc(ctx, t.pool, func(tx pgx.Tx) error {
		if err := t.write(ctx, tx, tenant, rows); err != nil {
			return err
		}
		return t.embedNew(ctx, tx, tenant, rows)
	})
	if err != nil {
		return nil, fmt.Errorf("postgres: storing %d tools: %w", len(docs), err)
	}
	return ids, nil
}

func (t *Tools) write(ctx context.Context, tx pgx.Tx, tenant string, rows []row) error {
	// Five arrays, not COPY: poolers and servers that only speak the protocol take them too.
	columns := [5][]string{}
	for _, r := range rows {
		for i, text := range [...]string{r.name, r.server, r.content, r.nameWords, r.words} {
			columns[i] = append(columns[i], text)
		}
	}
	again := ""
	if t.vectors {
		again = ", embedding = NULL"
	}
	_, err := tx.Exec(ctx, `INSERT INTO `+t.table+` AS old (tenant, name, server, content, words)
		SELECT $1, name, server, content, setweight(to_tsvector('english', name_words), 'A') || to_tsvector('english', words)
			FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) AS coming (name, server, content, name_words, words) ORDER BY name
		ON CONFLICT (tenant, name) DO UPDATE SET server = excluded.server, content = excluded.content, words = excluded.words`+again+`
		WHERE old.content <> excluded.content OR old.server <> excluded.server`, tenant, columns[0], columns[1], columns[2], columns[3], columns[4])
	return err
}

// embedNew gives vectors to those that have none.
func (t *Tools) embedNew(ctx context.Context, tx pgx.Tx, tenant string, rows []row) error {
	if !t.vectors {
		return nil
	}
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.name
	}
	found, err := tx.Query(ctx, `SELECT name, content FROM `+t.table+` WHERE tenant = $1 AND name = ANY($2) AND embedding IS NULL ORDER BY name`, tenant, names)
	if err != nil {
		return err
	}
	type missing struct{ Name, Content string }
	all, err := pgx.CollectRows(found, pgx.RowToStructByPos[missing])
	if err != nil {
		return err
	}
	for part := range slices.Chunk(all, embedBatch) {
		texts := make([]string, len(part))
		for i, m := range part {
			texts[i] = m.Content
		}
		vectors, err := t.vectorsOf(ctx, texts)
		if err != nil {
			return err
		}
		for i, v := range vectors {
			if _, err := tx.Exec(ctx, `UPDATE `+t.table+` SET embedding = $3::vector WHERE tenant = $1 AND name = $2`, tenant, part[i].Name, vectorText(v)); err != nil {
				return err
			}
		}
	}
	return nil
}

// vectorsOf asks the embedder.
func (t *Tools) vectorsOf(ctx context.Context, texts []string) ([][]float64, error) {
	vectors, err := t.embed.EmbedStrings(ctx, texts)
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("the embedder returned %d vectors for %d texts", len(vectors), len(texts))
	}
	return vectors, err
}

// vectorText is a vector as pgvector reads it.
func vectorText(v []float64) string {
	b := []byte{'['}
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, x, 'g', -1, 32)
	}
	return string(append(b, ']'))
}

// Delete removes tools of the tenant.
func (t *Tools) Delete(ctx context.Context, names ...string) error {
	tenant, err := t.owner(ctx)
	if err != nil {
		return err
	}
	if _, err := t.pool.Exec(ctx, `DELETE FROM `+t.table+` WHERE tenant = $1 AND name = ANY($2)`, tenant, names); err != nil {
		return fmt.Errorf("postgres: deleting %d tools: %w", len(names), err)
	}
	return nil
}
