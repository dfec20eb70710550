// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

// Tools that the model has loaded already are asked for through the middleware: the
// answer must have them at the places at which a first search finds them.

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

const alreadyLoaded = "already loaded"

// loadedCases are the cases that a search can answer, as one kind.
func loadedCases(cases []toolsearcheval.Case) []toolsearcheval.Case {
	cases = slices.DeleteFunc(slices.Clone(cases), func(c toolsearcheval.Case) bool { return len(c.Relevant) == 0 })
	for i := range cases {
		cases[i].Kind = alreadyLoaded
	}
	return cases
}

// afterLoading is an index that searches as a model does whose conversation has loaded what
// is relevant to the query.
type afterLoading struct {
	handler  adk.ChatModelAgentMiddleware
	relevant map[string][]string
}

func loadedIndex(t testing.TB, x namedIndex, cases []toolsearcheval.Case) namedIndex {
	relevant := map[string][]string{}
	for _, c := range cases {
		relevant[c.Query] = c.Relevant
	}
	return namedIndex{x.name, func(ctx context.Context, infos []*schema.ToolInfo) (index.Index, error) {
		var tools []tool.BaseTool
		for _, info := range infos {
			tools = append(tools, adktest.Tool(adktest.Invokable, info, nil))
		}
		h, err := toolsearch.New(ctx, &toolsearch.Config{DynamicTools: tools, NewIndex: x.make})
		return afterLoading{h, relevant}, err
	}}
}

func (x afterLoading) Search(ctx context.Context, q index.Query) ([]index.Result, error) {
	rc := &einorun.RunContext{}
	ctx, err := einorun.Begin(ctx, x.handler, rc)
	if err != nil {
		return nil, err
	}
	loaded, err := json.Marshal(map[string]any{"matches": x.relevant[q.Text]})
	if err != nil {
		return nil, err
	}
	history := []*schema.Message{
		schema.UserMessage("please"),
		adktest.Assistant[*schema.Message]("", adktest.ToolCall{ID: "1", Name: "tool_search", Args: `{"query":"earlier"}`}),
		adktest.Result[*schema.Message]("1", "tool_search", string(loaded)),
	}
	if ctx, _, err = x.handler.BeforeModelRewriteState(ctx, &adk.ChatModelAgentState{Messages: history}, &adk.ModelContext{}); err != nil {
		return nil, err
	}
	args, err := json.Marshal(map[string]any{"query": q.Text, "max_results": q.Limit})
	if err != nil {
		return nil, err
	}
	text, err := searchTool(rc.Tools).InvokableRun(ctx, string(args))
	if err != nil {
		return nil, err
	}
	var answer struct{ Matches []string }
	err = json.Unmarshal([]byte(text), &answer)
	results := make([]index.Result, len(answer.Matches))
	for i, name := range answer.Matches {
		results[i].Name = name
	}
	return results, err
}

func searchTool(tools []tool.BaseTool) tool.InvokableTool {
	for _, t := range tools {
		if info, err := t.Info(context.Background()); err == nil && info.Name == "tool_search" {
			return t.(tool.InvokableTool)
		}
	}
	return nil
}

func TestLoadedTools_KeepTheirRank(t *testing.T) {
	race.Skip(t, "ranks every tool for every query")
	own := ownSet(t)
	cases := loadedCases(own.cases())
	for _, x := range indexes {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			before, after := evaluate(t, x, own.tools, cases), evaluate(t, loadedIndex(t, x, cases), own.tools, cases)
			require.Equal(t, before.Measures, after.Measures)
		})
	}
}
