// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command retriever lets two engines rank tools, bleve (full text) and chromem-go
// (vectors), each alone and fused with the package's own ranking. Any engine that Eino has
// a retriever for takes their place: Elasticsearch, Milvus, Redis and others; postgres.go
// is one of its own, for a server that many replicas share.
//
//	go run . "convert a time to another zone"
//	go run . -postgres postgres://localhost/test "convert a time to another zone"
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/cloudwego/eino/components/indexer"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/einolean/einolean/demo/library"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/index/semantic"
)

func main() {
	url := flag.String("postgres", "", "URL of a PostgreSQL database to search as well; the table einolean_tools is created in it")
	flag.Parse()
	query := strings.Join(flag.Args(), " ")
	if query == "" {
		query = "how many days until a date"
	}
	if err := run(context.Background(), os.Stdout, query, *url); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, query, url string) error {
	root, err := os.MkdirTemp("", "retriever")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(root) }()
	tools, err := library.Tools(root)
	if err != nil {
		return err
	}
	rankings, err := rankings(ctx, tools)
	if err != nil {
		return err
	}
	if url != "" {
		server, closeServer, err := inPostgres(ctx, tools, url)
		if err != nil {
			return err
		}
		defer closeServer()
		rankings = append(rankings, server)
	}
	infos, err := infosOf(ctx, tools)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d tools, %q\n", len(tools), query)
	for _, r := range rankings {
		x, err := r.index(ctx, infos)
		if err != nil {
			return err
		}
		found, err := x.Search(ctx, index.Query{Text: query, Limit: 5})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s\n", r.name)
		for i, f := range found {
			fmt.Fprintf(out, "  %d. %-36s %.3f\n", i+1, f.Name, f.Score)
		}
	}
	return nil
}

// ranking is one way of ranking the tools.
type ranking struct {
	name  string
	index index.Func
}

// rankings fills both engines with the tools, and combines them.
func rankings(ctx context.Context, tools []tool.BaseTool) ([]ranking, error) {
	docs, err := semantic.Documents(ctx, tools)
	if err != nil {
		return nil, err
	}
	text, err := newFullText()
	if err != nil {
		return nil, err
	}
	near, err := newVectors()
	if err != nil {
		return nil, err
	}
	for _, engine := range []indexer.Indexer{text, near} {
		if _, err := engine.Store(ctx, docs); err != nil {
			return nil, err
		}
	}
	return []ranking{
		{"full text (bleve)", semantic.Retriever(text)},
		{"vectors (chromem-go)", semantic.Retriever(near)},
		{"index.BM25", index.BM25},
		{"all three, fused", index.Fuse(semantic.Retriever(text), semantic.Retriever(near), index.BM25)},
	}, nil
}

// inPostgres fills a table of a server. Where the server does not answer in time, or at
// all, index.BM25 alone does.
func inPostgres(ctx context.Context, tools []tool.BaseTool, url string) (r ranking, closeServer func(), err error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return ranking{}, nil, err
	}
	docs, err := semantic.Documents(ctx, tools)
	var server table
	if err == nil {
		server, err = newTable(ctx, pool)
	}
	if err == nil {
		_, err = server.Store(ctx, docs)
	}
	if err != nil {
		pool.Close()
		return ranking{}, nil, err
	}
	x := index.Fuse(index.TimeLimit(300*time.Millisecond, semantic.Retriever(server)), index.BM25)
	return ranking{"PostgreSQL, fused with index.BM25", x}, pool.Close, nil
}

func infosOf(ctx context.Context, tools []tool.BaseTool) ([]*schema.ToolInfo, error) {
	infos := make([]*schema.ToolInfo, len(tools))
	for i, t := range tools {
		info, err := t.Info(ctx)
		if err != nil {
			return nil, err
		}
		infos[i] = info
	}
	return infos, nil
}
