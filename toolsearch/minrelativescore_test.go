// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The Config field MinRelativeScore.

import (
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch"
)

// steps has a tool far behind the first one.
var steps = ranked{{Name: "mail__send", Score: 10}, {Name: "weather__forecast", Score: 4}, {Name: "agenda__list_events", Score: 3.9}}

func TestMinRelativeScore_DropsResultsFarBehind(t *testing.T) {
	adktest.Both(t, testMinRelativeScoreDropsResultsFarBehind[*schema.Message], testMinRelativeScoreDropsResultsFarBehind[*schema.AgenticMessage])
}

func testMinRelativeScoreDropsResultsFarBehind[M adk.MessageType](t *testing.T, streaming bool) {
	for protocol, search := range map[toolsearch.Protocol]string{
		toolsearch.Keyword: "tool_search", toolsearch.SearchLoad: "search_tools", toolsearch.SearchCall: "tool_search",
	} {
		s := newScene[M](t, streaming, protocol)
		s.cfg.DynamicTools, s.cfg.NewIndex, s.cfg.MinRelativeScore = desk(), steps.index, .4
		answer := s.begin(oneCall("a", search, `{"query":"x"}`)).answer(t, "a")
		require.Contains(t, answer, "mail__send")
		require.Contains(t, answer, "weather__forecast", "the share itself is enough")
		require.NotContains(t, answer, "agenda__list_events")
	}
}

func TestMinRelativeScore_KeepsToNumberOfModel(t *testing.T) {
	cfg := toolsearch.Config{DynamicTools: desk(), NewIndex: steps.index, MinRelativeScore: .4}
	require.Contains(t, searchAnswer(t, cfg, "tool_search", `{"query":"x","max_results":3}`), "agenda__list_events")
	require.NotContains(t, searchAnswer(t, cfg, "tool_search", `{"query":"x"}`), "agenda__list_events")
}

// The best score counts, wherever it stands: an index need not sort by its scores.
func TestMinRelativeScore_IsRelativeToHighestScore(t *testing.T) {
	for share, want := range map[float64]int{0: 3, .3: 3, .395: 2, .5: 1, 1: 1} {
		cfg := toolsearch.Config{DynamicTools: desk(), NewIndex: ranked{steps[1], steps[2], steps[0]}.index, MinRelativeScore: share}
		answer := searchAnswer(t, cfg, "tool_search", `{"query":"x"}`)
		n := 0
		for _, r := range steps {
			n += min(1, strings.Count(answer, r.Name))
		}
		require.Equal(t, want, n, "%v: %s", share, answer)
	}
}
