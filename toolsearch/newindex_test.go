// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The Config field NewIndex, and when an index is built.

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolset"
)

//claim:security-47
func TestNewIndex_FailingIndexIsReplaced(t *testing.T) {
	down := errors.New("connection refused")
	for name, search := range map[string]brokenIndex{
		"error": func() ([]index.Result, error) { return nil, down },
		"panic": func() ([]index.Result, error) { panic(down) },
	} {
		t.Run(name, func(t *testing.T) {
			var failed []einolean.Event
			answer := searchAnswer(t, toolsearch.Config{
				DynamicTools: officeTools(),
				NewIndex:     func(context.Context, []*schema.ToolInfo) (index.Index, error) { return search, nil },
				OnEvent: func(_ context.Context, e einolean.Event) {
					if e.Kind == einolean.KindIndexFailed {
						failed = append(failed, e)
					}
				},
			}, "tool_search", `{"query":"forecast"}`)
			require.Equal(t, `{"matches":["weather__get_forecast"]}`, answer)
			require.Len(t, failed, 1)
			require.ErrorContains(t, failed[0].Err, "connection refused")
		})
	}
}

// What an index says is taken for what it is: names that do not exist, and the same again.
func TestNewIndex_IgnoresUnknownAndRepeatedNames(t *testing.T) {
	odd := brokenIndex(func() ([]index.Result, error) {
		return []index.Result{{Name: "nobody", Score: 9}, {Name: "own", Score: 8}, {Name: "weather__get_forecast", Score: 7}, {Name: "weather__get_forecast", Score: 6}, {Name: "", Score: 5}}, nil
	})
	answer := searchAnswer(t, toolsearch.Config{DynamicTools: officeTools(), NewIndex: func(context.Context, []*schema.ToolInfo) (index.Index, error) { return odd, nil }},
		"tool_search", `{"query":"x"}`)
	require.Equal(t, `{"matches":["weather__get_forecast"]}`, answer)
}

// What could not be made of a set in one run, since that was cancelled or a service was away, is
// made in the next one, once.
func TestNewIndex_RetriesFailedBuildInNextRun(t *testing.T) {
	asked, events := 0, &recorder{}
	set, err := toolset.New(context.Background(), echoTool(0, "jira__move_card"))
	require.NoError(t, err)
	h, err := toolsearch.New(context.Background(), &toolsearch.Config{Source: set, OnEvent: events.record, NewIndex: func(ctx context.Context, tools []*schema.ToolInfo) (index.Index, error) {
		if asked++; asked == 1 {
			return nil, context.Canceled
		}
		return index.Keyword(ctx, tools)
	}})
	require.NoError(t, err)
	for run := range 3 {
		model := adktest.Script[*schema.Message](oneCall("1", "tool_search", `{"query":"jira"}`))
		out := adktest.Agent[*schema.Message]{Model: model, Handlers: adktest.Handlers(h)}.Run(context.Background(), []*schema.Message{schema.UserMessage("go")})
		require.NoError(t, out.Err)
		failed := slices.Contains(events.kinds(), einolean.KindIndexFailed)
		require.Equal(t, run == 0, failed, "run %d", run)
		events.events = nil
	}
	require.Equal(t, 2, asked)
}

func TestNewIndex_QueryDoesNotDependOnLoadedTools(t *testing.T) {
	var asked []index.Query
	s := newScene[*schema.Message](t, false, toolsearch.Keyword)
	s.cfg.DynamicTools = accounts()
	s.cfg.NewIndex = func(ctx context.Context, tools []*schema.ToolInfo) (index.Index, error) {
		x, err := index.Keyword(ctx, tools)
		return askedIndex{x, &asked}, err
	}
	query := oneCall("s", "tool_search", `{"query":"delete user","max_results":3}`)
	s.begin(query)
	first := asked[0]
	asked = nil
	s.begin(oneCall("load", "tool_search", `{"query":"select:admin__delete_user"}`), query)
	require.Equal(t, first, asked[0])
}

// An index is asked by words and a number alone: no index can rank by what is loaded.
type askedIndex struct {
	index.Index
	asked *[]index.Query
}

func (x askedIndex) Search(ctx context.Context, q index.Query) ([]index.Result, error) {
	*x.asked = append(*x.asked, q)
	return x.Index.Search(ctx, q)
}
