// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolset

// What sets of tools share, and what a change costs.

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

func setOf(t testing.TB, tools ...tool.BaseTool) *Set {
	t.Helper()
	s, err := New(context.Background(), tools...)
	require.NoError(t, err)
	return s
}

func manyTools(n int) (tools []tool.BaseTool) {
	for i := range n {
		tools = append(tools, adktest.Comparable(fmt.Sprintf("server_%d__tool_%05d", i%20, i), nil))
	}
	return tools
}

func TestEqualSetsHaveTheSameKey(t *testing.T) {
	one, two := setOf(t, manyTools(600)...), setOf(t, manyTools(600)...)
	require.NotSame(t, one, two)
	require.Equal(t, one.in().Fingerprint(), two.in().Fingerprint())
	require.Equal(t, setOf(t).in().Fingerprint(), setOf(t).in().Fingerprint())

	again, err := one.Update(context.Background(), manyTools(600)...)
	require.NoError(t, err)
	require.NotSame(t, one, again, "other values run")
	require.Equal(t, one.in().Fingerprint(), again.in().Fingerprint())
	for e := range again.in().All() {
		require.Same(t, one.in().Lookup(e.Info.Name).Info, e.Info, "the definition is shared")
	}
	grown, err := one.Update(context.Background(), append(manyTools(600), adktest.Comparable("more", nil))...)
	require.NoError(t, err)
	shrunk := grown.Select(func(i *schema.ToolInfo) bool { return i.Name != "more" })
	require.Equal(t, one.in().Fingerprint(), shrunk.in().Fingerprint(), "whatever they were made of")
}

func TestEveryPartOfADefinitionCounts(t *testing.T) {
	plain := setOf(t, adktest.Comparable("a", nil))
	for what, change := range map[string]func(*schema.ToolInfo){
		"name":        func(i *schema.ToolInfo) { i.Name = "b" },
		"description": func(i *schema.ToolInfo) { i.Desc = "e" },
		"parameters": func(i *schema.ToolInfo) {
			i.ParamsOneOf = schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"p": {Type: schema.Number}})
		},
		"extra":        func(i *schema.ToolInfo) { i.Extra = map[string]any{"k": "w"} },
		"uncomparable": func(i *schema.ToolInfo) { i.Extra = map[string]any{"k": new(int)} },
	} {
		require.NotEqual(t, plain.in().Fingerprint(), setOf(t, adktest.Comparable("a", change)).in().Fingerprint(), what)
	}
	odd := adktest.Comparable("a", func(i *schema.ToolInfo) { i.Extra = map[string]any{"k": new(int)} })
	s := setOf(t, odd)
	require.NotEqual(t, s.in().Fingerprint(), setOf(t, odd).in().Fingerprint(), "it is like itself only")
	again, err := s.Update(context.Background(), odd)
	require.NoError(t, err)
	require.Same(t, s, again)
	require.NotEqual(t, setOf(t, adktest.Comparable("a", nil), adktest.Comparable("b", nil)).in().Fingerprint(), setOf(t, adktest.Comparable("b", nil), adktest.Comparable("a", nil)).in().Fingerprint())
	require.NotEqual(t, setOf(t).in().Fingerprint(), plain.in().Fingerprint())
}

// A thousand users' views that leave a tenth of the tools out, and a thousand sets of all of
// them with a tool of one's own.
//
//claim:mcp-58
func TestViewsOfASharedSetTakeLittleMemory(t *testing.T) {
	race.Skip(t, "it measures memory")
	size := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := size()
	tools := manyTools(10_000)
	shared := setOf(t, tools...)
	for e := range shared.in().All() {
		e.Definition()
	}
	shared.in().Lookup("none")
	one := size() - before
	var views []*catalog.Set
	before = size()
	for i := range 1000 {
		left := i % 10
		n := 0
		views = append(views, shared.in().Filter(func(*catalog.Tool) bool { n++; return n%10 != left }))
	}
	selected := size() - before
	before = size()
	var unions []*Set
	for i := range 1000 {
		unions = append(unions, Union(shared, setOf(t, []tool.BaseTool{adktest.Comparable(fmt.Sprintf("own_%d", i), nil)}...)))
	}
	united := size() - before
	t.Logf("one set %d KB; 1,000 views %d KB; 1,000 unions with one tool each %d KB", one>>10, selected>>10, united>>10)
	require.Less(t, selected, one, "so that all together take less than twice what one takes")
	require.Less(t, united, one)
	runtime.KeepAlive(views)
	runtime.KeepAlive(unions)
}
