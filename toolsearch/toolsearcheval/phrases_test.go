// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

// What further ways to ask gain: testdata/ways.jsonl has eight for each tool of eight servers, which were chosen by
// chance, written by hand from the definitions alone, as a model would be asked to.

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// knownWays are the ways of tools by their names.
type knownWays map[string][]string

func loadWays(t testing.TB) knownWays {
	text, err := os.ReadFile("testdata/ways.jsonl")
	require.NoError(t, err)
	known := knownWays{}
	for line := range strings.Lines(string(text)) {
		var w struct {
			Name string
			Ways []string
		}
		require.NoError(t, json.Unmarshal([]byte(line), &w))
		require.Len(t, w.Ways, 8, w.Name)
		known[w.Name] = w.Ways
	}
	return known
}

// expandable are the tools that have ways, and the queries that need nothing else, by half.
func expandable(t testing.TB, ways knownWays) (tools []*schema.ToolInfo, halves map[string][]toolsearcheval.Case) {
	own := ownSet(t)
	for _, tool := range own.tools {
		if ways[tool.Name] != nil {
			tools = append(tools, tool)
		}
	}
	require.Len(t, tools, len(ways))
	foreign := func(name string) bool { return ways[name] == nil }
	halves = map[string][]toolsearcheval.Case{}
	for half, cases := range map[string][]toolsearcheval.Case{"dev": own.dev, "heldout": own.heldout} {
		for _, c := range cases {
			others := slices.Clone(c.Relevant)
			for _, names := range c.Equivalent {
				others = append(others, names...)
			}
			if len(others) > 0 && !slices.ContainsFunc(others, foreign) {
				halves[half] = append(halves[half], c)
			}
		}
	}
	return tools, halves
}

// with returns tools with their ways as phrases, where they have some.
func (k knownWays) with(tools []*schema.ToolInfo) []*schema.ToolInfo {
	wider := slices.Clone(tools)
	for i, tool := range tools {
		if w := k[tool.Name]; w != nil {
			wider[i] = &schema.ToolInfo{Name: tool.Name, Desc: tool.Desc, ParamsOneOf: tool.ParamsOneOf, Extra: map[string]any{toolset.PhrasesKey: w}}
		}
	}
	return wider
}

func TestPhrasesKey_RaisesRecall(t *testing.T) {
	race.Skip(t, "ranks every tool for many queries")
	ways := loadWays(t)
	tools, halves := expandable(t, ways)
	for half, cases := range halves {
		plain := evaluate(t, namedIndex{"plain", index.BM25}, tools, cases)
		wide := evaluate(t, namedIndex{"with phrases", index.BM25}, ways.with(tools), cases)
		t.Logf("%s, %d queries over %d tools: recall@1 %.3f, @5 %.3f; as they are %.3f, %.3f", half, len(cases), len(tools), wide.Recall1, wide.Recall5, plain.Recall1, plain.Recall5)
		require.GreaterOrEqual(t, wide.Recall1, plain.Recall1+.03)
		require.GreaterOrEqual(t, wide.Recall5, plain.Recall5)
	}
}

// Tools with phrases take little from tools without.
func TestPhrasesKey_TakesLittleFromOtherTools(t *testing.T) {
	race.Skip(t, "ranks every tool for many queries")
	ways, own := loadWays(t), ownSet(t)
	wider := ways.with(own.tools)
	plain := evaluate(t, namedIndex{"plain", index.BM25}, own.tools, own.cases())
	some := evaluate(t, namedIndex{"some with phrases", index.BM25}, wider, own.cases())
	t.Logf("%d queries over %d tools, %d of them with further ways: recall@1 %.4f, @5 %.4f; as they are %.4f, %.4f", len(own.cases()), len(wider), len(ways), some.Recall1, some.Recall5, plain.Recall1, plain.Recall5)
	require.GreaterOrEqual(t, some.Recall1, plain.Recall1-.008)
	require.GreaterOrEqual(t, some.Recall5, plain.Recall5-.005)
}
