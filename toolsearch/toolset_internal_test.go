// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What sets of tools share, and what a change costs.

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/race"
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

func TestEqualSetsHaveTheSameKey(t *testing.T) {
	one, two := setOf(t, manyTools(600)...), setOf(t, manyTools(600)...)
	require.NotSame(t, one, two)
	require.Equal(t, one.identity(), two.identity())
	require.Equal(t, setOf(t).identity(), (*ToolSet)(nil).identity())

	again, err := one.Update(context.Background(), manyTools(600)...)
	require.NoError(t, err)
	require.NotSame(t, one, again, "other values run")
	require.Equal(t, one.identity(), again.identity())
	for e := range again.entries() {
		require.Same(t, one.lookup(e.info.Name).info, e.info, "the definition is shared")
	}
	grown, err := one.Update(context.Background(), append(manyTools(600), withInfo("more", nil))...)
	require.NoError(t, err)
	shrunk := grown.Select(func(i *schema.ToolInfo) bool { return i.Name != "more" })
	require.Equal(t, one.identity(), shrunk.identity(), "whatever the segments are")
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
		require.NotEqual(t, plain.identity(), setOf(t, withInfo("a", change)).identity(), what)
	}
	odd := withInfo("a", func(i *schema.ToolInfo) { i.Extra = map[string]any{"k": new(int)} })
	s := setOf(t, odd)
	require.NotEqual(t, s.identity(), setOf(t, odd).identity(), "it is like itself only")
	again, err := s.Update(context.Background(), odd)
	require.NoError(t, err)
	require.Same(t, s, again)
	require.NotEqual(t, setOf(t, withInfo("a", nil), withInfo("b", nil)).identity(), setOf(t, withInfo("b", nil), withInfo("a", nil)).identity())
	require.NotEqual(t, setOf(t).identity(), plain.identity())
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

// changes applies one change after another to a set of n tools, and returns how long each
// took, sorted.
func changes(t testing.TB, n, rounds int) []time.Duration {
	t.Helper()
	ctx, tools := context.Background(), manyTools(n)
	s := setOf(t, tools...)
	s.identity()
	var took []time.Duration
	for i := range rounds {
		at := (i * 7919) % len(tools)
		next := withInfo(fmt.Sprintf("changed_%d", i), nil)
		switch i % 3 {
		case 0:
			tools = slices.Insert(tools, at, next)
		case 1:
			tools = slices.Replace(tools, at, at+1, next)
		default:
			tools = slices.Delete(tools, at, at+1)
		}
		begin := time.Now()
		var err error
		s, err = s.Update(ctx, tools...)
		require.NoError(t, err)
		s.identity()
		took = append(took, time.Since(begin))
	}
	require.True(t, slices.Equal(tools, slices.Collect(s.All())))
	slices.Sort(took)
	return took
}

func TestOneChangeInALargeSetCostsLittle(t *testing.T) {
	race.Skip(t, "it measures time")
	tools := manyTools(10_000)
	begin := time.Now()
	setOf(t, tools...).identity()
	anew := time.Since(begin)
	took := changes(t, 10_000, 300)
	median := took[len(took)/2]
	t.Log("median", median, "99 %", took[len(took)*99/100], "all anew", anew)
	require.Less(t, 20*median, anew)
}

func BenchmarkOneChangeIn10000(b *testing.B) {
	ctx, tools := context.Background(), manyTools(10_000)
	s := setOf(b, tools...)
	s.identity()
	other := slices.Clone(tools)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		other[(i*7919)%len(other)] = withInfo(fmt.Sprintf("changed_%d", i), nil)
		s, _ = s.Update(ctx, other...)
		s.identity()
	}
}

func BenchmarkTheSame10000(b *testing.B) {
	ctx, tools := context.Background(), manyTools(10_000)
	s := setOf(b, tools...)
	b.ReportAllocs()
	for b.Loop() {
		if again, _ := s.Update(ctx, tools...); again != s {
			b.Fatal("it is another set")
		}
	}
}

// A thousand users' views that leave a tenth of the tools out, and a thousand sets of all of
// them with a tool of one's own.
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
	for e := range shared.entries() {
		e.definition()
	}
	shared.lookup("none")
	one := size() - before
	var views []*ToolSet
	before = size()
	for i := range 1000 {
		left := i % 10
		n := 0
		views = append(views, shared.filtered(func(*entry) bool { n++; return n%10 != left }))
	}
	selected := size() - before
	before = size()
	var unions []*ToolSet
	for i := range 1000 {
		unions = append(unions, Union(shared, setOf(t, []tool.BaseTool{withInfo(fmt.Sprintf("own_%d", i), nil)}...)))
	}
	united := size() - before
	t.Logf("one set %d KB; 1,000 views %d KB; 1,000 unions with one tool each %d KB", one>>10, selected>>10, united>>10)
	require.Less(t, selected, one, "so that all together take less than twice what one takes")
	require.Less(t, united, one)
	runtime.KeepAlive(views)
	runtime.KeepAlive(unions)
}
