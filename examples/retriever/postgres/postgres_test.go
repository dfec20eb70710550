// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/examples/library"
	"github.com/leanctx/leanctx/leanctxtest"
	"github.com/leanctx/leanctx/toolsearch"
	"github.com/leanctx/leanctx/toolsearch/toolsearcheval"
)

var ctx = context.Background()

// catalogue is a library of working tools, and its documents.
func catalogue(t *testing.T) ([]tool.BaseTool, []*schema.ToolInfo, []*schema.Document) {
	t.Helper()
	tools, err := library.Tools(t.TempDir())
	require.NoError(t, err)
	infos := make([]*schema.ToolInfo, len(tools))
	for i, x := range tools {
		infos[i], err = x.Info(ctx)
		require.NoError(t, err)
	}
	docs, err := toolsearch.ToolDocuments(ctx, tools)
	require.NoError(t, err)
	return tools, infos, docs
}

func fill(t *testing.T, tools *Tools, docs []*schema.Document) {
	t.Helper()
	ids, err := tools.Store(ctx, docs)
	require.NoError(t, err)
	require.Len(t, ids, len(docs))
	require.NoError(t, tools.Analyze(ctx))
}

func names(t *testing.T, r retriever.Retriever, query string, top int) []string {
	t.Helper()
	return namesFor(t, ctx, r, query, top)
}

func namesFor(t *testing.T, ctx context.Context, r retriever.Retriever, query string, top int) []string {
	t.Helper()
	docs, err := r.Retrieve(ctx, query, retriever.WithTopK(top))
	require.NoError(t, err)
	found := []string{}
	for _, d := range docs {
		require.Equal(t, d.ID, d.MetaData[toolsearch.ToolNameKey])
		found = append(found, d.ID)
	}
	return found
}

func TestTheServer(t *testing.T) {
	p := pool(t)
	for name, test := range map[string]func(*testing.T, *pgxpool.Pool){
		"finds tools as well as an index should":      findsTools,
		"ranks the project's graded queries":          ranksGradedQueries,
		"an agent searches, with both message types":  agentsSearch,
		"finds what is misspelt, Chinese, or strange": findsStrangeWords,
		"stores what changed, and no more":            storesWhatChanged,
		"keeps tenants apart":                         keepsTenantsApart,
		"common words alone find something":           findsByCommonWords,
		"opens and stores from many sides at once":    opensAtOnce,
		"a search that hangs costs its time limit":    hangs,
		"embeds nothing without pgvector":             withoutPgvector,
	} {
		t.Run(name, func(t *testing.T) { test(t, p) })
	}
}

func findsTools(t *testing.T, p *pgxpool.Pool) {
	_, infos, docs := catalogue(t)
	tools := newTable(t, Config{Pool: p})
	fill(t, tools, docs)
	report, err := toolsearcheval.Evaluate(ctx, toolsearch.RetrieverIndex(tools), infos, []toolsearcheval.Case{
		{Query: "convert a time from one zone to another", Relevant: []string{"time__convert_zone"}},
		{Query: "how many words are in a text", Relevant: []string{"text__count"}},
		{Query: "sha256 digest", Relevant: []string{"hash__sha256"}},
		{Query: "days between two dates", Relevant: []string{"calendar__days_between"}},
		{Query: "decode base64", Relevant: []string{"encoding__base64_decode"}},
	})
	require.NoError(t, err)
	t.Logf("%s\n%s", report, report.Misses(0))
	require.GreaterOrEqual(t, report.Recall5, .8)
}

// ranksGradedQueries: the queries and tools of package toolsearcheval.
func ranksGradedQueries(t *testing.T, p *pgxpool.Pool) {
	const dir = "../../../toolsearch/toolsearcheval/testdata/"
	infos, cases, err := toolsearcheval.Load(dir+"tools.jsonl", dir+"heldout.jsonl")
	require.NoError(t, err)
	more, err := toolsearcheval.LoadTools(dir + "library.jsonl")
	require.NoError(t, err)
	infos = append(infos, more...)
	tools := newTable(t, Config{Pool: p})
	fill(t, tools, documentsOf(t, infos))
	for name, index := range map[string]toolsearch.IndexFunc{
		"PostgreSQL":           toolsearch.RetrieverIndex(tools),
		"fused with BM25Index": toolsearch.Fuse(toolsearch.RetrieverIndex(tools), toolsearch.BM25Index),
		"BM25Index":            toolsearch.BM25Index,
	} {
		report, err := toolsearcheval.Evaluate(ctx, index, infos, cases)
		require.NoError(t, err)
		t.Logf("%s: recall@1 %.3f, @5 %.3f, @10 %.3f", name, report.Recall1, report.Recall5, report.Recall10)
		require.GreaterOrEqual(t, report.Recall5, .65, name)
	}
}

func agentsSearch(t *testing.T, p *pgxpool.Pool) {
	all, _, docs := catalogue(t)
	tools := newTable(t, Config{Pool: p})
	fill(t, tools, docs)
	for name, options := range map[string][]leanctxtest.Option{"generate": nil, "stream": {leanctxtest.Streaming()}} {
		t.Run("Message/"+name, func(t *testing.T) { agentSearches[*schema.Message](t, all, toolsearch.RetrieverIndex(tools), options) })
		t.Run("AgenticMessage/"+name, func(t *testing.T) {
			agentSearches[*schema.AgenticMessage](t, all, toolsearch.RetrieverIndex(tools), options)
		})
	}
}

func agentSearches[M adk.MessageType](t *testing.T, all []tool.BaseTool, index toolsearch.IndexFunc, options []leanctxtest.Option) {
	search, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{DynamicTools: all, NewIndex: index})
	require.NoError(t, err)
	m := leanctxtest.Script[M](leanctxtest.Call("tool_search", `{"query":"+sha256 digest of a text","max_results":3}`), leanctxtest.Say("done"))
	leanctxtest.Run(t, &adk.TypedChatModelAgentConfig[M]{Model: m, Handlers: []adk.TypedChatModelAgentMiddleware[M]{search}}, "hash it", options...)
	require.Contains(t, m.Requests()[1].ToolNames(), "hash__sha256")
}

// document is one of a tool without parameters.
func document(name, text string) *schema.Document {
	return &schema.Document{ID: name, Content: name + "\n" + text, MetaData: map[string]any{toolsearch.ToolNameKey: name}}
}

func findsStrangeWords(t *testing.T, p *pgxpool.Pool) {
	tools := newTable(t, Config{Pool: p})
	fill(t, tools, []*schema.Document{
		document("calendar__list_events", "Shows what is planned."),
		document("weather__now", "查询指定城市的实时天气"),
		document("createInvoiceDraft", "Makes a bill."),
		document("quote's \\ odd", "It's a 'quoted' name with \x00 and \xff bytes."),
	})
	for query, want := range map[string]string{
		"calender":          "calendar__list_events",
		"今天天气怎么样":           "weather__now",
		"invoice":           "createInvoiceDraft",
		"drafts":            "createInvoiceDraft",
		"quoted names \x00": "quote's \\ odd",
		"events' planning!": "calendar__list_events",
	} {
		require.Equal(t, []string{want}, names(t, tools, query, 5), query)
	}
	for _, query := range []string{"", "   ", "the of and", "!&|():*<->", `\`, "'", "zzqx", "\xff"} {
		require.Empty(t, names(t, tools, query, 5), query)
	}
	require.Empty(t, names(t, tools, "calendar", 0))
}

func storesWhatChanged(t *testing.T, p *pgxpool.Pool) {
	tools := newTable(t, Config{Pool: p})
	version := func(name string) (x string) {
		require.NoError(t, p.QueryRow(ctx, `SELECT xmin::text FROM `+tools.table+` WHERE name = $1`, name).Scan(&x))
		return x
	}
	fill(t, tools, []*schema.Document{document("a", "first"), document("b", "second")})
	a, b := version("a"), version("b")
	fill(t, tools, []*schema.Document{document("a", "first"), document("b", "another"), document("b", "third")})
	require.Equal(t, a, version("a"))
	require.NotEqual(t, b, version("b"))
	require.Empty(t, names(t, tools, "second", 5))
	require.Equal(t, []string{"b"}, names(t, tools, "third", 5), "of two with one name the last stays")
	require.NoError(t, tools.Delete(ctx, "b", "unknown"))
	require.Empty(t, names(t, tools, "third", 5))
}

type tenantKey struct{}

func as(tenant string) context.Context { return context.WithValue(ctx, tenantKey{}, tenant) }

func keepsTenantsApart(t *testing.T, p *pgxpool.Pool) {
	shared := newTable(t, Config{Pool: p})
	own := &Tools{pool: p, table: shared.table, rows: map[string]rowCount{}, tenant: func(ctx context.Context) (string, error) {
		who, ok := ctx.Value(tenantKey{}).(string)
		if !ok {
			return "", errors.New("nobody is signed in")
		}
		return who, nil
	}}
	fill(t, shared, []*schema.Document{document("report__shared", "A report.")})
	for _, who := range []string{"acme", "globex"} {
		_, err := own.Store(as(who), []*schema.Document{document("report__"+who, "A report."), document("report__same", "The report of "+who)})
		require.NoError(t, err)
	}
	require.Equal(t, []string{"report__shared"}, names(t, shared, "report", 9))
	require.ElementsMatch(t, []string{"report__acme", "report__same", "report__shared"}, namesFor(t, as("acme"), own, "report", 9))
	require.Empty(t, namesFor(t, as("acme"), own, "globex", 9))
	require.Equal(t, []string{"report__acme"}, namesFor(t, as("acme"), own, "acmme", 1), "a misspelt word")
	require.Empty(t, namesFor(t, as("acme"), own, "globexx", 9), "a misspelt word")
	require.NoError(t, own.Delete(as("acme"), "report__globex", "report__same", "report__shared"))
	require.ElementsMatch(t, []string{"report__globex", "report__same", "report__shared"}, namesFor(t, as("globex"), own, "report", 9))
	for _, nobody := range []context.Context{ctx, as("")} {
		_, err := own.Retrieve(nobody, "report")
		require.ErrorContains(t, err, "tenant")
		_, err = own.Store(nobody, []*schema.Document{document("x", "")})
		require.ErrorContains(t, err, "tenant")
		require.ErrorContains(t, own.Delete(nobody, "report__acme"), "tenant")
	}
}

// findsByCommonWords: words in nearly every tool give more candidates than are ranked.
func findsByCommonWords(t *testing.T, p *pgxpool.Pool) {
	tools := newTable(t, Config{Pool: p})
	docs := make([]*schema.Document, 3*mostCandidates)
	for i := range docs {
		docs[i] = document("tool_"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+"_"+time.Duration(i).String(), "Gets a list.")
	}
	docs[7].Content += " Unusual."
	fill(t, tools, docs)
	require.Len(t, names(t, tools, "get list", 20), 20)
	require.Equal(t, docs[7].ID, names(t, tools, "get an unusual list", 20)[0])
}

func opensAtOnce(t *testing.T, p *pgxpool.Pool) {
	table := newTable(t, Config{Pool: p}).table
	_, err := p.Exec(ctx, "DROP TABLE "+table)
	require.NoError(t, err)
	docs := make([]*schema.Document, 200)
	for i := range docs {
		docs[i] = document("tool_"+time.Duration(i).String(), "Does it.")
	}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			tools, err := Open(ctx, Config{Pool: p, Table: strings.Trim(table, `"`)})
			if err == nil {
				_, err = tools.Store(ctx, docs)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func hangs(t *testing.T, p *pgxpool.Pool) {
	_, infos, docs := catalogue(t)
	tools := newTable(t, Config{Pool: p})
	fill(t, tools, docs)
	index, err := toolsearch.Fuse(toolsearch.TimeLimit(50*time.Millisecond, toolsearch.RetrieverIndex(tools)), toolsearch.BM25Index)(ctx, infos)
	require.NoError(t, err)
	tx, err := p.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(ctx) }()
	_, err = tx.Exec(ctx, "LOCK TABLE "+tools.table)
	require.NoError(t, err)
	found, err := index.Search(ctx, toolsearch.Query{Text: "sha256 digest", Limit: 3})
	require.NoError(t, err)
	require.Equal(t, "hash__sha256", found[0].Name)
}

// withoutPgvector: the server of the other tests may have it, and then TestVectors uses it.
func withoutPgvector(t *testing.T, p *pgxpool.Pool) {
	embedder := &letters{}
	tools := newTable(t, Config{Pool: p, Embedder: embedder})
	if _, ok := tools.Near(); ok {
		return
	}
	fill(t, tools, []*schema.Document{document("a", "first")})
	require.Equal(t, []string{"a"}, names(t, tools, "first", 5))
	require.Zero(t, embedder.texts.Load(), "nothing is embedded in vain")
}

// TestSearchesGoOnWhenTheServerIsKilled kills the server while agents search, and starts it again.
func TestSearchesGoOnWhenTheServerIsKilled(t *testing.T) {
	s := newServer(t)
	all, _, docs := catalogue(t)
	tools := newTable(t, Config{Pool: connect(t, s.url("leanctx"))})
	fill(t, tools, docs)
	var failures atomic.Int64
	search, err := toolsearch.New(ctx, &toolsearch.Config{
		DynamicTools: all,
		NewIndex:     toolsearch.Fuse(toolsearch.RetrieverIndex(tools), toolsearch.BM25Index),
		OnEvent: func(_ context.Context, e leanctx.Event) {
			if e.Kind == leanctx.KindIndexFailed {
				failures.Add(1)
			}
		},
	})
	require.NoError(t, err)
	ask := func() {
		m := leanctxtest.Script[*schema.Message](leanctxtest.Call("tool_search", `{"query":"sha256 digest of a text"}`), leanctxtest.Say("done"))
		leanctxtest.Run(t, &adk.ChatModelAgentConfig{Model: m, Handlers: []adk.ChatModelAgentMiddleware{search}}, "hash it")
		require.Contains(t, m.Requests()[1].ToolNames(), "hash__sha256")
	}
	ask()
	require.Zero(t, failures.Load())

	var others sync.WaitGroup
	for range 4 {
		others.Go(func() {
			for failures.Load() == 0 { // until the server is missed
				ask()
			}
		})
	}
	s.kill()
	others.Wait()
	ask()
	require.Positive(t, failures.Load())

	s.start(t)
	before := failures.Load()
	require.Contains(t, names(t, tools, "sha256 digest", 3), "hash__sha256", "the pool connects again, and what was stored is there")
	ask()
	require.Equal(t, before, failures.Load())
}

func TestSpacedSeparatesWords(t *testing.T) {
	for text, want := range map[string]string{
		"calendar__listEvents": "calendar list Events",
		"HTTPServer v2":        "HTTPServer v2",
		"天气":                   "天气",
		"查询天气now":              "查询 询天 天气 now",
		"雨":                    "雨",
		"it's a-b.c/d":         "it's a b c d",
		"":                     "",
	} {
		require.Equal(t, strings.Fields(want), strings.Fields(spaced(text)), text)
	}
}
