// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// This file holds the list of differences to what is seen: each one that is listed is
// shown by a scenario, and each scenario is listed.

import (
	"context"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
)

// listedIDs are the ids of the differences in docs/differences.md.
func listedIDs(t *testing.T) map[string]bool {
	t.Helper()
	differences, _, _ := strings.Cut(listSection(t), "\n### ")
	return idsIn(t, differences)
}

// keptIDs are the ids of what is as in Eino.
func keptIDs(t *testing.T) map[string]bool {
	t.Helper()
	_, kept, _ := strings.Cut(listSection(t), "\n### ")
	return idsIn(t, kept)
}

func listSection(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/differences.md")
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(text), "\n## toolsearch\n")
	require.True(t, ok, "no section on toolsearch")
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

var row = regexp.MustCompile(`(?m)^\| ([A-Z]+-[0-9]+[a-z]?) \|`)

func idsIn(t *testing.T, table string) map[string]bool {
	list := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		require.False(t, list[m[1]], "%s is listed twice", m[1])
		list[m[1]] = true
	}
	return list
}

// areListed fails where something is explained by a difference that is not listed.
func (s ids) areListed(t *testing.T) {
	t.Helper()
	require.NotEmpty(t, s)
	for id := range s {
		require.Contains(t, listedIDs(t), id)
	}
}

func TestEveryListedDifferenceIsSeenAndEverySeenOneListed(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range allScenarios() {
		seen[s.id] = true
		t.Run(s.id+" "+s.what, s.differs)
	}
	require.Equal(t, slices.Sorted(maps.Keys(listedIDs(t))), slices.Sorted(maps.Keys(seen)))
}

// differs fails where both packages look the same.
func (s scenario) differs(t *testing.T) {
	if s.plain != nil {
		require.NotEqual(t, s.plain(t, einoSide[*schema.Message](false)), s.plain(t, ourSide[*schema.Message](false)), "the difference is gone: take it off the list")
	}
	if s.agentic != nil {
		require.NotEqual(t, s.agentic(t, einoSide[*schema.AgenticMessage](true)), s.agentic(t, ourSide[*schema.AgenticMessage](true)), "the difference is gone: take it off the list")
	}
}

func TestWhatIsKeptAsInEinoIsTheSame(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range keptScenarios() {
		seen[s.id] = true
		require.Equal(t, s.eino, s.ours)
		s.play(t)
	}
	require.Equal(t, slices.Sorted(maps.Keys(keptIDs(t))), slices.Sorted(maps.Keys(seen)))
}

// same is a scenario of one search that both packages answer alike.
func same(id, what, args, answer string, tools ...string) scenario {
	return scenario{id, what, searchesOnce[*schema.Message](args, tools...), searchesOnce[*schema.AgenticMessage](args, tools...), answer, answer}
}

func keptScenarios() []scenario {
	const allDeferred = "0:own deferred:a1,a2 1:own deferred:a1,a2"
	return []scenario{
		same("TS-03", "a letter matches within words", `{"query":"e"}`, `["get_weather","send_mail"]`, "send_mail", "get_weather"),
		same("TS-03", "a word in another form", `{"query":"mails weather"}`, `["get_weather"]`, "send_mail", "get_weather"),
		same("TS-03", "ties by name", `{"query":"tool","max_results":2}`, `["tool_000","tool_001"]`, numbered(30)...),
		same("TS-04", "Chinese words in another order", `{"query":"天气查询 send"}`, `["send_mail"]`, "send_mail", "查询天气"),
		same("TS-05", "a required word within a word", `{"query":"+linear"}`, `["nonlinear_solver"]`, "nonlinear_solver", "get_weather"),
		{"TS-09", "a model that knows no deferred tools", nativeOnce[*schema.Message], nativeOnce[*schema.AgenticMessage], allDeferred, allDeferred},
		{"TS-09b", "a tool that was found stays deferred", nativeOnce[*schema.Message], nativeOnce[*schema.AgenticMessage], allDeferred, allDeferred},
		{"TS-19", "fifty tools loaded at once", staysLoaded[*schema.Message], staysLoaded[*schema.AgenticMessage], "51 at the end", "51 at the end"},
		{"TS-21", "a handler looks for the type of the model", looksForModel[*schema.Message], looksForModel[*schema.AgenticMessage], "no type", "no type"},
	}
}

func nativeOnce[M adk.MessageType](t *testing.T, s side[M]) string {
	tr := s.run(ask[M](), simples("own"), []adktest.Turn{adktest.Do(searchFor("1", "a1"))}, s.mustBuildNative(t, simples("a1", "a2")...))
	require.NoError(t, tr.Err)
	return tr.tools()
}

func staysLoaded[M adk.MessageType](t *testing.T, s side[M]) string {
	turns := []adktest.Turn{adktest.Do(searchFor("1", "select:"+strings.Join(numbered(50), ",")))}
	for _, id := range []string{"2", "3", "4", "5", "6"} {
		turns = append(turns, adktest.Do(callOf(id, "tool_000")))
	}
	tr := s.run(ask[M](), nil, turns, s.mustBuild(t, simples(numbered(50)...)...))
	require.NoError(t, tr.Err)
	require.Len(t, tr.wires[6].ToolNames, 51)
	return "51 at the end"
}

// wrapping is a handler that looks at the model.
type wrapping[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	look func(model.BaseModel[M])
}

func (w wrapping[M]) WrapModel(_ context.Context, m model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	w.look(m)
	return m, nil
}

func looksForModel[M adk.MessageType](t *testing.T, s side[M]) string {
	out := ""
	look := wrapping[M]{look: func(m model.BaseModel[M]) {
		out = "no type"
		if typ, ok := components.GetType(m); ok {
			out = typ
		}
	}}
	require.NoError(t, s.run(ask[M](), nil, nil, s.mustBuild(t, simples("a1")...), look).Err)
	return out
}
