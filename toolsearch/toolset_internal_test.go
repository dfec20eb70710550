// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What sets share, and what they cost.

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
)

func withInfo(name string, change func(*schema.ToolInfo)) tool.BaseTool {
	info := &schema.ToolInfo{
		Name: name, Desc: "d", Extra: map[string]any{"k": "v"},
		ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"p": {Type: schema.String}, "q": {Type: schema.Integer}}),
	}
	if change != nil {
		change(info)
	}
	return &held{adktest.Tool(adktest.Invokable, info, adktest.Echo).(tool.InvokableTool)}
}

// held is a tool that can be compared with others, as most can.
type held struct{ tool.InvokableTool }

func setOf(t testing.TB, tools ...tool.BaseTool) *ToolSet {
	t.Helper()
	s, err := NewToolSet(context.Background(), tools...)
	require.NoError(t, err)
	return s
}

func manyTools(n int) (tools []tool.BaseTool) {
	for i := range n {
		tools = append(tools, withInfo(fmt.Sprintf("server_%d__tool_%05d", i%20, i), nil))
	}
	return tools
}

func TestAnEqualSetMadeAnewHasTheSameKey(t *testing.T) {
	one, two := setOf(t, manyTools(600)...), setOf(t, manyTools(600)...)
	require.NotSame(t, one, two)
	require.Equal(t, one.key(), two.key())
	require.Equal(t, setOf(t).key(), (*ToolSet)(nil).key())

	again, err := one.Update(context.Background(), manyTools(600)...)
	require.NoError(t, err)
	require.NotSame(t, one, again, "other values run")
	require.Equal(t, one.key(), again.key())
	for e := range again.all() {
		require.Same(t, one.lookup(e.info.Name).info, e.info, "the definition is shared")
	}
	grown, err := one.Update(context.Background(), append(manyTools(600), withInfo("more", nil))...)
	require.NoError(t, err)
	shrunk := grown.Select(func(i *schema.ToolInfo) bool { return i.Name != "more" })
	require.Equal(t, one.key(), shrunk.key(), "whatever the segments are")
}

func TestEveryPartOfADefinitionCounts(t *testing.T) {
	plain := setOf(t, withInfo("a", nil))
	for what, change := range map[string]func(*schema.ToolInfo){
		"name":        func(i *schema.ToolInfo) { i.Name = "b" },
		"description": func(i *schema.ToolInfo) { i.Desc = "e" },
		"parameters": func(i *schema.ToolInfo) {
			i.ParamsOneOf = schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"p": {Type: schema.Number}})
		},
		"extra":        func(i *schema.ToolInfo) { i.Extra = map[string]any{"k": "w"} },
		"uncomparable": func(i *schema.ToolInfo) { i.Extra = map[string]any{"k": new(int)} },
	} {
		require.NotEqual(t, plain.key(), setOf(t, withInfo("a", change)).key(), what)
	}
	odd := withInfo("a", func(i *schema.ToolInfo) { i.Extra = map[string]any{"k": new(int)} })
	s := setOf(t, odd)
	require.NotEqual(t, s.key(), setOf(t, odd).key(), "it is like itself only")
	again, err := s.Update(context.Background(), odd)
	require.NoError(t, err)
	require.Same(t, s, again)
	require.NotEqual(t, setOf(t, withInfo("a", nil), withInfo("b", nil)).key(), setOf(t, withInfo("b", nil), withInfo("a", nil)).key())
	require.NotEqual(t, setOf(t).key(), plain.key())
}

// Sets that differ in some tools share all other segments, and many changes in a row leave
// no more segments than a set made at once has, within a small factor.
func TestSetsShareSegments(t *testing.T) {
	ctx, tools := context.Background(), manyTools(10_000)
	s := setOf(t, tools...)
	require.Len(t, s.parts, 20)
	one := slices.Clone(tools)
	one[5000] = withInfo("other", nil)
	next, err := s.Update(ctx, one...)
	require.NoError(t, err)
	require.Equal(t, 1, unshared(s, next))

	for i := range 500 {
		tools = append(tools, withInfo(fmt.Sprintf("late_%d", i), nil))
		if i%3 == 0 {
			tools = slices.Delete(tools, (i*7919)%len(tools), (i*7919)%len(tools)+1)
		}
		next, err := s.Update(ctx, tools...)
		require.NoError(t, err)
		require.LessOrEqual(t, unshared(s, next), 4)
		s = next
	}
	require.LessOrEqual(t, len(s.parts), 60)
	require.True(t, slices.Equal(tools, slices.Collect(s.All())))

	union := Union(s, setOf(t, withInfo("own", nil)))
	require.Equal(t, 1, unshared(s, union))
	view := s.Select(func(i *schema.ToolInfo) bool { return i.Name != "late_499" })
	require.Zero(t, unshared(s, view))
	few := s.Select(func(i *schema.ToolInfo) bool { return i.Name == "late_499" })
	require.Equal(t, 1, unshared(s, few), "one tool does not keep its neighbours in memory")
}

// unshared counts the segments of a set that another lacks.
func unshared(s, next *ToolSet) (n int) {
	for _, p := range next.parts {
		if !slices.ContainsFunc(s.parts, func(o part) bool { return o.segment == p.segment }) {
			n++
		}
	}
	return n
}
