// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

// Laws of answers, over random tools, callers and calls.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/internal/search"
)

var (
	verbs  = strings.Fields("get list create delete send convert")
	things = strings.Fields("weather issue message invoice 天气 Straße")
)

// anyCaller makes random tools, and somebody who may use some of them.
func anyCaller(t testing.TB, r *rand.Rand) (search.Searcher, *access) {
	var tools []tool.BaseTool
	a := &access{}
	for i := range r.IntN(150) {
		name := fmt.Sprintf("%s_%s_x%03dx", verbs[r.IntN(len(verbs))], things[r.IntN(4)], i) // none is a part of another
		tools = append(tools, adktest.Simple(name, fmt.Sprintf("It can %s a %s.", verbs[r.IntN(len(verbs))], things[r.IntN(len(things))])))
		a.names = append(a.names, name)
		if r.IntN(5) == 0 {
			if a.denied.Add(name); r.IntN(2) == 0 {
				a.known.Add(name)
			}
		} else if r.IntN(6) == 0 {
			a.visible.Add(name)
		}
	}
	s := searcherOf(t, tools...)
	if r.IntN(4) == 0 {
		s.Missing = []string{"jira", ""}
	}
	s.Access = a
	s.Tools.Indexes = search.NewIndexes(s.Tools.Set)
	s.Limits.MinConfidence = []float64{0, 0, .05, 1}[r.IntN(4)]
	broken := errors.New("broken")
	s.Tools.BuildIndex(context.Background(), []index.Func{nil, index.BM25, index.BM25, func(context.Context, []*schema.ToolInfo) (index.Index, error) { return nil, broken }}[r.IntN(4)])
	return s, a
}

// anyCall is a call of a search tool, in words that models use.
func anyCall(r *rand.Rand, names []string) string {
	some := func() string {
		if len(names) == 0 || r.IntN(6) == 0 {
			return "nobody"
		}
		name := names[r.IntN(len(names))]
		if r.IntN(4) == 0 {
			name = strings.ToUpper(strings.ReplaceAll(name, "_", "-"))
		}
		return name
	}
	query := []string{verbs[r.IntN(len(verbs))] + " " + things[r.IntN(len(things))], "+" + things[r.IntN(len(things))], "zzz qqq", "", "select:" + some() + "," + some(), "wether", "jira"}[r.IntN(7)]
	call, _ := json.Marshal([]map[string]any{
		{"query": query}, {"query": query, "max_results": r.IntN(300) - 3}, {"queries": []string{query, some()}},
		{"regex_pattern": []string{".", "(", "x00.x", "^get", ""}[r.IntN(5)]}, {"tool_name": some(), "tool_names": []string{some(), some()}}, {},
	}[r.IntN(6)])
	return string(call)
}

// For any call and any tools, the answer is JSON within its bound, and depends on its input alone. It has each tool once,
// has no tool that the caller may not use, and names none that the caller may not know. The search is reported.
func TestAnswer_NamesNothingThatIsDenied(t *testing.T) {
	for seed := range uint64(250) {
		r := rand.New(rand.NewPCG(seed, 3))
		s, a := anyCaller(t, r)
		for range 6 {
			args, at := anyCall(r, a.names), r.IntN(len(answerFuncs))
			where := fmt.Sprintf("seed %d, answer %d, %s", seed, at, args)
			text := ask(t, s, answerFuncs[at], args)
			require.Equal(t, text, ask(t, s, answerFuncs[at], args), where)
			require.True(t, json.Valid([]byte(text)), where)
			require.LessOrEqual(t, len(text), MaxAnswer+answerRoom, where)
			for name := range a.denied {
				if !a.known[name] && !strings.Contains(args, name) {
					require.NotContains(t, text, name, where)
				}
			}
			var answer anyAnswer
			require.NoError(t, json.Unmarshal([]byte(text), &answer), where)
			names := slices.Concat(answer.Matches, answer.SelectedTools, answer.Loaded)
			for _, d := range answer.Results {
				names = append(names, d.Name)
			}
			for _, d := range answer.Tools {
				names = append(names, d.Name)
			}
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(names))), len(names), where)
			for _, name := range append(names, answer.AlreadyLoaded...) {
				require.False(t, a.denied[name], "%s: %s", where, name)
				require.True(t, len(answer.Loaded) > 0 || slices.Contains(names, name) || at == 3, "%s: %s", where, name)
			}
			for _, name := range answer.AlreadyLoaded {
				require.True(t, a.visible[name], "%s: %s", where, name)
			}
			if at == 0 { // what later calls read of the answer
				require.ElementsMatch(t, names, slices.Compact(slices.Sorted(slices.Values(append(ParseLoadedNames(text), names...)))), where)
			}
			require.True(t, len(names)+len(answer.AlreadyLoaded) > 0 || answer.Hint != "", "%s: nothing is said", where)
			requireReport(t, s, answerFuncs[at], args, text, names, where)
		}
	}
}

// requireReport requires that a search is reported with what it found, and that the report changes no answer.
func requireReport(t *testing.T, s search.Searcher, f answerFunc, args, text string, names []string, where string) {
	var events []einolean.Search
	s.Report = func(what einolean.Search, failed []error) {
		events = append(events, what)
		require.Equal(t, s.Tools.Err() != nil && what.Fallback, len(failed) > 0, where)
	}
	require.Equal(t, text, ask(t, s, f, args), where)
	require.LessOrEqual(t, len(events), 1, where)
	for _, e := range events {
		require.LessOrEqual(t, len(e.Hits), maxEventHits, where)
		for i := range min(len(names), len(e.Hits)) {
			require.Equal(t, names[i], e.Hits[i].Name, where)
		}
	}
}

// The error is the context's.
func TestAnswer_OfCanceledCallIsError(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := searcherOf(t, reports(3)...)
	for _, by := range answerFuncs {
		_, err := by(ctx, s, jsontext.DecodeArguments(`{"query":"report"}`))
		require.ErrorIs(t, err, context.Canceled)
	}
}
