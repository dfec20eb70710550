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

func TestSet_EqualSetsHaveEqualFingerprints(t *testing.T) {
	one, two := setOf(t, manyTools(600)...), setOf(t, manyTools(600)...)
	require.NotSame(t, one, two)
	require.Equal(t, one.catalogSet().Fingerprint(), two.catalogSet().Fingerprint())
	require.Equal(t, setOf(t).catalogSet().Fingerprint(), setOf(t).catalogSet().Fingerprint())

	again, err := one.Update(context.Background(), manyTools(600)...)
	require.NoError(t, err)
	require.NotSame(t, one, again, "other values run")
	require.Equal(t, one.catalogSet().Fingerprint(), again.catalogSet().Fingerprint())
	for e := range again.catalogSet().All() {
		require.Same(t, one.catalogSet().Lookup(e.Info.Name).Info, e.Info, "the definition is shared")
	}
	grown, err := one.Update(context.Background(), append(manyTools(600), adktest.Comparable("more", nil))...)
	require.NoError(t, err)
	shrunk := grown.Select(func(i *schema.ToolInfo) bool { return i.Name != "more" })
	require.Equal(t, one.catalogSet().Fingerprint(), shrunk.catalogSet().Fingerprint(), "whatever they were made of")
}

func TestSet_FingerprintCoversWholeDefinition(t *testing.T) {
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
		require.NotEqual(t, plain.catalogSet().Fingerprint(), setOf(t, adktest.Comparable("a", change)).catalogSet().Fingerprint(), what)
	}
	odd := adktest.Comparable("a", func(i *schema.ToolInfo) { i.Extra = map[string]any{"k": new(int)} })
	s := setOf(t, odd)
	require.NotEqual(t, s.catalogSet().Fingerprint(), setOf(t, odd).catalogSet().Fingerprint(), "it is like itself only")
	again, err := s.Update(context.Background(), odd)
	require.NoError(t, err)
	require.Same(t, s, again)
	require.NotEqual(t, setOf(t, adktest.Comparable("a", nil), adktest.Comparable("b", nil)).catalogSet().Fingerprint(), setOf(t, adktest.Comparable("b", nil), adktest.Comparable("a", nil)).catalogSet().Fingerprint())
	require.NotEqual(t, setOf(t).catalogSet().Fingerprint(), plain.catalogSet().Fingerprint())
}

// A thousand users' views that leave a tenth of the tools out, and a thousand sets of all of
// them with a tool of one's own.
//
//claim:mcp-58
func TestSelect_ViewsTakeLittleMemory(t *testing.T) {
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
	for e := range shared.catalogSet().All() {
		e.Definition()
	}
	shared.catalogSet().Lookup("none")
	one := size() - before
	var views []*catalog.Set
	before = size()
	for i := range 1000 {
		left := i % 10
		n := 0
		views = append(views, shared.catalogSet().Filter(func(*catalog.Tool) bool { n++; return n%10 != left }))
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
