// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/schema"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/index/semantic"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

// newServer starts a PostgreSQL server and returns its URL, and what kills it as a crash does.
// The test is skipped where none is installed.
func newServer(t *testing.T) (url string, kill func()) {
	t.Helper()
	bin, err := exec.LookPath("initdb")
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) > 0 { // Debian keeps them off the path
		bin, err = found[len(found)-1], nil
	}
	if err != nil {
		t.Skip("NOT TESTED: no PostgreSQL server is installed")
	}
	dir, err := os.MkdirTemp("/tmp", "einolean-pg-") // the path of a socket is short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	var as syscall.SysProcAttr
	if os.Geteuid() == 0 { // the server refuses to run as root
		u, err := user.Lookup("nobody")
		require.NoError(t, err)
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		require.NoError(t, os.Chown(dir, int(uid), int(gid)))
	}
	data := filepath.Join(dir, "data")
	made := exec.Command(bin, "-D", data, "-U", "einolean", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	made.Dir, made.SysProcAttr = dir, &as
	out, err := made.CombinedOutput()
	require.NoError(t, err, "%s", out)

	server := exec.Command(filepath.Join(filepath.Dir(bin), "postgres"), "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off")
	server.Dir, server.SysProcAttr = dir, &as
	require.NoError(t, server.Start())
	kill = sync.OnceFunc(func() { _, _ = server.Process.Kill(), server.Wait() })
	t.Cleanup(kill)
	url = "host=" + dir + " user=einolean dbname=postgres"
	require.Eventually(t, func() bool {
		pool := connect(t, url)
		defer pool.Close()
		return pool.Ping(ctx) == nil
	}, time.Minute, 20*time.Millisecond)
	return url, kill
}

var ctx = context.Background()

func connect(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(ctx, url)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func document(name, text string) *schema.Document { return &schema.Document{ID: name, Content: text} }

func names(t *testing.T, r retriever.Retriever, ctx context.Context, query string) []string {
	t.Helper()
	docs, err := r.Retrieve(ctx, query, retriever.WithTopK(9))
	require.NoError(t, err)
	found := []string{}
	for _, d := range docs {
		found = append(found, d.ID)
	}
	return found
}

type tenantKey struct{}

func as(tenant string) context.Context { return context.WithValue(ctx, tenantKey{}, tenant) }

func TestPostgres_SeparatesTenants(t *testing.T) {
	url, _ := newServer(t)
	pool := connect(t, url)
	var opening sync.WaitGroup
	for range 6 { // as replicas do
		opening.Go(func() {
			if _, err := newTable(ctx, pool); err != nil {
				t.Error(err)
			}
		})
	}
	opening.Wait()
	shared := table{pool: pool}
	own := table{pool, func(ctx context.Context) (string, error) {
		who, ok := ctx.Value(tenantKey{}).(string)
		if !ok {
			return "", errors.New("nobody is signed in")
		}
		return who, nil
	}}
	store := func(in table, ctx context.Context, docs ...*schema.Document) {
		ids, err := in.Store(ctx, docs)
		require.NoError(t, err)
		require.Len(t, ids, len(docs))
	}
	require.Empty(t, names(t, shared, ctx, "report"))
	store(shared, ctx, document("report__shared", "A report."), document("report__same", "A report for all."))
	for _, who := range []string{"acme", "globex"} {
		store(own, as(who), document("report__"+who, "A paper."), document("report__same", "The report of "+who))
	}
	store(own, as("acme"), document("report__acme", "A report\x00 \xff of 天气."))

	require.Equal(t, []string{"report__same", "report__shared"}, names(t, shared, ctx, "report"))
	require.ElementsMatch(t, []string{"report__acme", "report__same", "report__shared"}, names(t, own, as("acme"), "reports"))
	require.Empty(t, names(t, own, as("acme"), "globex"))
	require.Empty(t, names(t, own, as("acme"), "paper"), "it was replaced")
	require.Equal(t, []string{"report__acme"}, names(t, own, as("acme"), "天气"))
	for _, strange := range []string{"", "the", `'; DROP TABLE einolean_tools; --`, `a\b 'c' | & ! <->`, "\x00\xff"} {
		names(t, own, as("acme"), strange)
	}
	for _, nobody := range []context.Context{ctx, as("")} {
		_, err := own.Retrieve(nobody, "report")
		require.ErrorContains(t, err, "tenant")
		_, err = own.Store(nobody, []*schema.Document{document("x", "")})
		require.ErrorContains(t, err, "tenant")
	}
}

// The queries and tools are those of package toolsearcheval.
func TestPostgres_RanksGradedQueriesUntilKilled(t *testing.T) {
	url, kill := newServer(t)
	const dir = "../../toolsearch/toolsearcheval/testdata/"
	infos, cases, err := toolsearcheval.Load(dir+"tools.jsonl", dir+"heldout.jsonl")
	require.NoError(t, err)
	more, err := toolsearcheval.LoadTools(dir + "library.jsonl")
	require.NoError(t, err)
	infos = append(infos, more...)
	tools, _ := catalogue(t)
	server, closeServer, err := inPostgres(ctx, tools, url)
	require.NoError(t, err)
	t.Cleanup(closeServer)
	filled := table{pool: connect(t, url)}
	described := make([]tool.BaseTool, len(infos))
	for i, info := range infos {
		described[i] = utils.NewTool(info, func(context.Context, any) (string, error) { return "", nil })
	}
	docs, err := semantic.Documents(ctx, described)
	require.NoError(t, err)
	_, err = filled.Store(ctx, docs)
	require.NoError(t, err)
	for name, x := range map[string]index.Func{"PostgreSQL": semantic.Retriever(filled), "fused": server.index} {
		report, err := toolsearcheval.Evaluate(ctx, x, infos, cases)
		require.NoError(t, err)
		t.Logf("%s: recall@1 %.3f, @5 %.3f, @10 %.3f", name, report.Recall1, report.Recall5, report.Recall10)
		require.GreaterOrEqual(t, report.Recall5, .65, name)
	}
	var shown bytes.Buffer
	require.NoError(t, run(ctx, &shown, "days between two dates", url))
	require.Contains(t, shown.String(), "PostgreSQL")

	x, err := server.index(ctx, infos)
	require.NoError(t, err)
	kill()
	found, err := x.Search(ctx, index.Query{Text: "sha256 digest", Limit: 3})
	require.NoError(t, err)
	require.NotEmpty(t, found, "index.BM25 answers")
}
