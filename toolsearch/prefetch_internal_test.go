// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Which results are prefetched of those that a search ranked.

import (
	"context"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
)

// partly is an index that knows what every tool's score is made of.
type partly map[string][]einolean.Term

func (p partly) Search(context.Context, Query) ([]Result, error) { return nil, nil }

func (p partly) terms(_ Query, name string) []einolean.Term { return p[name] }

// A tool for another part of the request comes before one more for a part that is answered,
// unless it fits much less well.
func TestTheToolsForAllPartsOfARequestArePrefetched(t *testing.T) {
	x := partly{
		"forward_mail": {{Text: "forward", Score: 5}, {Text: "mail", Score: 5}},
		"answer_mail":  {{Text: "mail", Score: 9}},
		"delete_mail":  {{Text: "mail", Score: 5}},
		"create_event": {{Text: "create", Score: 3}, {Text: "event", Score: 4}},
		"get_forecast": {{Text: "weather", Score: 1}},
	}
	ranked := func(scores map[string]float64, names ...string) (all []foundTool) {
		for _, name := range names {
			all = append(all, foundTool{entry: &entry{info: &schema.ToolInfo{Name: name}}, score: scores[name]})
		}
		return all
	}
	names := func(all []foundTool) string { return strings.Join((&searchResult{found: all}).names(), " ") }
	scores := map[string]float64{"forward_mail": 10, "answer_mail": 9, "delete_mail": 7.5, "create_event": 7, "get_forecast": 1}
	all := ranked(scores, "forward_mail", "answer_mail", "delete_mail", "create_event", "get_forecast")
	require.Equal(t, "forward_mail answer_mail create_event", names(spread(x, "", all, 3)))
	require.Equal(t, "forward_mail", names(spread(x, "", all, 1)))
	require.Equal(t, names(all), names(spread(x, "", all, 5)), "in their order, where all have room")
	scores["create_event"] = 5.5
	all = ranked(scores, "forward_mail", "answer_mail", "delete_mail", "create_event", "get_forecast")
	require.Equal(t, "forward_mail answer_mail delete_mail", names(spread(x, "", all, 3)), "it fits much less well")
	require.Equal(t, "forward_mail answer_mail delete_mail", names(spread(partly{}, "", all, 3)), "nothing is known of the scores")
}

// sure is an index that is as sure of the tool a as it says.
type sure float64

func (s sure) Search(context.Context, Query) ([]Result, error) {
	return []Result{{Name: "a", Score: 9, Confidence: float64(s)}}, nil
}

// Nothing is loaded for a message unless some tool probably serves it.
func TestNothingIsPrefetchedBelowTheConfidence(t *testing.T) {
	ctx := context.Background()
	for _, confidence := range []float64{0.0001, sureEnough * 0.99, sureEnough, 0.5} {
		set, err := newSettings(ctx, &Config{DynamicTools: []tool.BaseTool{withInfo("a", nil)}, Prefetch: 2, NewIndex: func(context.Context, []*schema.ToolInfo) (Index, error) {
			return sure(confidence), nil
		}}, false)
		require.NoError(t, err)
		c, err := catalogOf(ctx, []member{{settings: set}})
		require.NoError(t, err)
		r := newRun(c)
		found, err := newSearcher(r, PhaseSearch, PhaseLoad).likely(ctx, "what a does", 2)
		require.NoError(t, err)
		require.Equal(t, confidence >= sureEnough, len(found) > 0, "%v", confidence)
	}
}
