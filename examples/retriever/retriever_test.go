// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/demo/library"
	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/index/semantic"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

func catalogue(t *testing.T) ([]tool.BaseTool, []*schema.ToolInfo) {
	t.Helper()
	tools, err := library.Tools(t.TempDir())
	require.NoError(t, err)
	infos, err := infosOf(context.Background(), tools)
	require.NoError(t, err)
	return tools, infos
}

var cases = []toolsearcheval.Case{
	{Query: "convert a time from one zone to another", Relevant: []string{"time__convert_zone"}},
	{Query: "how many words are in a text", Relevant: []string{"text__count"}},
	{Query: "sha256 digest", Relevant: []string{"hash__sha256"}},
	{Query: "days between two dates", Relevant: []string{"calendar__days_between"}},
	{Query: "decode base64", Relevant: []string{"encoding__base64_decode"}},
}

func TestRankings_FusionIsNoWorseThanEngines(t *testing.T) {
	ctx := context.Background()
	tools, infos := catalogue(t)
	all, err := rankings(ctx, tools)
	require.NoError(t, err)
	recall := map[string]float64{}
	for _, r := range all {
		report, err := toolsearcheval.Evaluate(ctx, r.index, infos, cases)
		require.NoError(t, err)
		t.Logf("%s\n%s%s", r.name, report, report.Misses(0))
		require.GreaterOrEqual(t, report.Recall5, .6, r.name)
		recall[r.name] = report.Recall5
	}
	require.GreaterOrEqual(t, recall["all three, fused"], recall["vectors (chromem-go)"])
	require.GreaterOrEqual(t, recall["all three, fused"], recall["full text (bleve)"])
}

func TestRetriever_AgentSearchesWithBothMessageTypes(t *testing.T) {
	for name, options := range map[string][]einoleantest.Option{"generate": nil, "stream": {einoleantest.Streaming()}} {
		t.Run("Message/"+name, func(t *testing.T) { agentSearches[*schema.Message](t, options) })
		t.Run("AgenticMessage/"+name, func(t *testing.T) { agentSearches[*schema.AgenticMessage](t, options) })
	}
}

func agentSearches[M adk.MessageType](t *testing.T, options []einoleantest.Option) {
	ctx := context.Background()
	tools, _ := catalogue(t)
	all, err := rankings(ctx, tools)
	require.NoError(t, err)
	search, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{DynamicTools: tools, NewIndex: all[0].index})
	require.NoError(t, err)
	m := einoleantest.Script[M](einoleantest.Call("tool_search", `{"query":"+sha256 digest of a text","max_results":3}`), einoleantest.Say("done"))
	einoleantest.Run(t, &adk.TypedChatModelAgentConfig[M]{Model: m, Handlers: []adk.TypedChatModelAgentMiddleware[M]{search}}, "hash it", options...)
	require.Contains(t, m.Requests()[1].ToolNames(), "hash__sha256")
}

func TestRetriever_HonorsRequiredWords(t *testing.T) {
	ctx := context.Background()
	tools, infos := catalogue(t)
	all, err := rankings(ctx, tools)
	require.NoError(t, err)
	x, err := all[0].index(ctx, infos)
	require.NoError(t, err)
	found, err := x.Search(ctx, index.Query{Text: "+calendar days", Limit: 5})
	require.NoError(t, err)
	require.NotEmpty(t, found)
	for _, f := range found {
		require.Contains(t, f.Name, "calendar")
	}
}

// broken is an engine that is down.
type broken struct{}

func (broken) Retrieve(context.Context, string, ...retriever.Option) ([]*schema.Document, error) {
	return nil, errors.New("connection refused")
}

//claim:store-20
func TestFuse_WorksWithoutFailedEngine(t *testing.T) {
	ctx := context.Background()
	tools, _ := catalogue(t)
	all, err := rankings(ctx, tools)
	require.NoError(t, err)
	var events []einolean.Event
	search, err := toolsearch.New(ctx, &toolsearch.Config{
		DynamicTools: tools,
		NewIndex:     index.Fuse(semantic.Retriever(broken{}), all[1].index),
		OnEvent: func(_ context.Context, e einolean.Event) {
			if e.Kind == einolean.KindIndexFailed {
				events = append(events, e)
			}
		},
	})
	require.NoError(t, err)
	m := einoleantest.Script[*schema.Message](einoleantest.Call("tool_search", `{"query":"sha256 digest of a text"}`), einoleantest.Say("done"))
	einoleantest.Run(t, &adk.ChatModelAgentConfig{Model: m, Handlers: []adk.ChatModelAgentMiddleware{search}}, "hash it")
	require.Contains(t, m.Requests()[1].ToolNames(), "hash__sha256")
	require.Len(t, events, 1)
	require.ErrorContains(t, events[0].Err, "connection refused")
}

func TestRun_FindsTool(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), &out, "days between two dates", ""))
	require.Contains(t, out.String(), "calendar__days_between")
}
