// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolset_test

// Sets of tools: what they hold, what they refuse, and what they share.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// counted is a tool that counts how often it is asked for its Info.
type counted struct {
	info schema.ToolInfo
	asks *atomic.Int64
	err  error
}

func count(name, desc string) *counted {
	return &counted{info: schema.ToolInfo{Name: name, Desc: desc}, asks: new(atomic.Int64)}
}

func (c *counted) Info(context.Context) (*schema.ToolInfo, error) {
	c.asks.Add(1)
	return &c.info, c.err
}

func (c *counted) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return c.info.Desc, nil
}

// uncomparable is a tool whose values cannot be compared.
type uncomparable struct {
	*counted
	_ []string
}

// anyhow holds a value that may be of any type, so that only some values can be compared.
type anyhow struct {
	*counted
	v any
}

// bare is a tool that nobody can run.
type bare struct{ name string }

func (b bare) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: b.name}, nil
}

func newSet(t testing.TB, tools ...tool.BaseTool) *toolset.Set {
	t.Helper()
	s, err := toolset.New(context.Background(), tools...)
	require.NoError(t, err)
	return s
}

func toolNames(t testing.TB, s *toolset.Set) []string {
	t.Helper()
	names := []string{}
	for x := range s.All() {
		info, err := x.Info(context.Background())
		require.NoError(t, err)
		names = append(names, info.Name)
	}
	return names
}

func simple(names ...string) (tools []tool.BaseTool) {
	for _, n := range names {
		tools = append(tools, count(n, "does "+n))
	}
	return tools
}

func TestNew_ErrorNamesEveryInvalidTool(t *testing.T) {
	failing := count("x", "")
	failing.err = errors.New("no connection")
	var none *counted
	_, err := toolset.New(context.Background(),
		adktest.Simple("a", ""), failing, nil, none, bare{"b"}, count("", "nameless"), adktest.Simple("a", "again"), adktest.Simple("c", ""))
	require.Error(t, err)
	for _, part := range []string{
		"toolset: tools[1]: ", "no connection", "tools[2]: the tool is nil", "tools[3]: the tool is nil", `tools[4]: tool "b"`,
		"can neither be invoked nor streamed", "tools[5]: Info of", "empty Name", `tools[6]: it has the name of tools[0], "a"`,
	} {
		require.ErrorContains(t, err, part)
	}
	require.NotContains(t, err.Error(), "tools[7]")
	require.ErrorIs(t, err, failing.err)
	var field *einolean.FieldError
	require.ErrorAs(t, err, &field)
	require.Equal(t, "toolset", field.Package)

	good := newSet(t, simple("a")...)
	next, err := good.Update(context.Background(), failing)
	require.ErrorContains(t, err, "tools[0]")
	require.Nil(t, next)
	require.Equal(t, []string{"a"}, toolNames(t, good))
}

func TestSet_EmptyHasNoTools(t *testing.T) {
	ctx := context.Background()
	var none *toolset.Set
	require.Empty(t, toolNames(t, none))
	require.Empty(t, toolNames(t, newSet(t)))
	require.Empty(t, toolNames(t, toolset.Union()))
	require.Empty(t, toolNames(t, toolset.Union(none, nil, newSet(t))))
	require.Empty(t, toolNames(t, none.Select(func(*schema.ToolInfo) bool { return true })))
	got, err := none.Tools(ctx)
	require.NoError(t, err)
	require.Empty(t, toolNames(t, got))
	some, err := none.Update(ctx, simple("a", "b")...)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, toolNames(t, some))
	require.Empty(t, toolNames(t, some.Select(nil)))
	emptied, err := some.Update(ctx)
	require.NoError(t, err)
	require.Empty(t, toolNames(t, emptied))
}

func TestSet_AllReturnsTheGivenValues(t *testing.T) {
	tools := []tool.BaseTool{count("a", ""), uncomparable{counted: count("b", "")}}
	got := slices.Collect(newSet(t, tools...).All())
	require.Same(t, tools[0], got[0])
	require.Same(t, tools[1].(uncomparable).counted, got[1].(uncomparable).counted)
	seen := 0
	for range newSet(t, tools...).All() {
		seen++
		break
	}
	require.Equal(t, 1, seen, "a loop may end early")
}

func TestSet_AsksEachToolForInfoOnce(t *testing.T) {
	ctx := context.Background()
	a, b, c := count("a", ""), count("b", ""), count("c", "")
	odd := uncomparable{counted: count("odd", "")}
	hidden := anyhow{count("hidden", ""), []int{1}}
	s := newSet(t, a, b, odd, hidden)
	same, err := s.Update(ctx, b, c, a, odd, hidden)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 1, 1}, []int64{a.asks.Load(), b.asks.Load(), c.asks.Load()})
	require.Equal(t, []int64{2, 2}, []int64{odd.asks.Load(), hidden.asks.Load()}, "they cannot be compared with what they were")
	require.Equal(t, []string{"b", "c", "a", "odd", "hidden"}, toolNames(t, same))
}

func TestUpdate_SameToolsReturnTheSameSet(t *testing.T) {
	ctx := context.Background()
	tools := simple("a", "b", "c")
	s := newSet(t, tools...)
	again, err := s.Update(ctx, tools...)
	require.NoError(t, err)
	require.Same(t, s, again)
	require.Same(t, s, s.Select(func(*schema.ToolInfo) bool { return true }))
	require.Same(t, s, toolset.Union(nil, s, newSet(t, tools[1])))
	other, err := s.Update(ctx, tools[2], tools[0], tools[1])
	require.NoError(t, err)
	require.NotSame(t, s, other)
	require.Equal(t, []string{"c", "a", "b"}, toolNames(t, other), "the order counts")
}

func TestUpdate_RunsTheNewValueOfAnEqualTool(t *testing.T) {
	ctx := context.Background()
	session := func(name string) tool.BaseTool {
		return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "a", Desc: "d"}, func(context.Context, string) (string, error) { return name, nil })
	}
	old := newSet(t, session("old"))
	next, err := old.Update(ctx, session("new"))
	require.NoError(t, err)
	for set, want := range map[*toolset.Set]string{old: "old", next: "new"} {
		for x := range set.All() {
			got, err := x.(tool.InvokableTool).InvokableRun(ctx, "{}")
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	}
}

func TestSelect_ReturnsOnlyKeptTools(t *testing.T) {
	s := newSet(t, simple("a", "b", "c", "d")...)
	view := s.Select(func(i *schema.ToolInfo) bool {
		if i.Name == "c" {
			panic("boom")
		}
		return i.Name != "a"
	})
	require.Equal(t, []string{"b", "d"}, toolNames(t, view))
	require.Equal(t, []string{"d"}, toolNames(t, view.Select(func(i *schema.ToolInfo) bool { return i.Name == "a" || i.Name == "d" })), "a view of a view")
	require.Equal(t, []string{"b", "d", "a", "c"}, toolNames(t, toolset.Union(view, s)))
}

func TestUnion_KeepsTheFirstToolOfAName(t *testing.T) {
	one, two := count("a", "one"), count("a", "two")
	u := toolset.Union(newSet(t, one), newSet(t, two, count("b", "")))
	got := slices.Collect(u.All())
	require.Len(t, got, 2)
	require.Same(t, one, got[0])
}

// A random history of sets holds, at every step, what lists of names say it should; older
// sets never change; the tools read are those that are new.
func TestSet_MatchesListModel(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	ctx := context.Background()
	pool := make([]tool.BaseTool, 3000)
	for i := range pool {
		pool[i] = count(fmt.Sprintf("tool_%d", i), "")
	}
	nameOf := func(x tool.BaseTool) string { return x.(*counted).info.Name }
	type held struct {
		set  *toolset.Set
		list []tool.BaseTool
	}
	history := []held{{nil, nil}}
	for range 300 {
		from := history[r.IntN(len(history))]
		list := slices.Clone(from.list)
		var set *toolset.Set
		var err error
		switch r.IntN(4) {
		case 0: // another part of the pool
			n := r.IntN(len(pool))
			list = slices.Clone(pool[r.IntN(len(pool)-n):][:n])
			set, err = from.set.Update(ctx, list...)
		case 1: // some changes
			for range r.IntN(5) {
				at := r.IntN(len(list) + 1)
				if x := pool[r.IntN(len(pool))]; !slices.Contains(list, x) {
					list = slices.Insert(list, at, x)
				} else if at < len(list) {
					list = slices.Delete(list, at, at+1)
				}
			}
			set, err = from.set.Update(ctx, list...)
		case 2:
			rest := r.IntN(9) + 1
			keep := func(name string) bool { return len(name)*int(name[len(name)-1])%rest != 0 }
			set = from.set.Select(func(i *schema.ToolInfo) bool { return keep(i.Name) })
			list = slices.DeleteFunc(list, func(x tool.BaseTool) bool { return !keep(nameOf(x)) })
		case 3:
			other := history[r.IntN(len(history))]
			set = toolset.Union(from.set, other.set)
			for _, x := range other.list {
				if !slices.Contains(list, x) {
					list = append(list, x)
				}
			}
		}
		require.NoError(t, err)
		history = append(history, held{set, list})
		check := history[r.IntN(len(history))]
		require.True(t, slices.Equal(check.list, slices.Collect(check.set.All())))
	}
	for _, h := range history {
		require.True(t, slices.Equal(h.list, slices.Collect(h.set.All())))
	}
}

func TestSet_IsSafeForConcurrentUse(t *testing.T) {
	ctx := context.Background()
	var tools []tool.BaseTool
	for i := range 800 {
		tools = append(tools, adktest.Simple(fmt.Sprintf("t%03d", i), ""))
	}
	s := newSet(t, tools...)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			next, err := s.Update(ctx, append(slices.Clone(tools[:50*i]), simple(fmt.Sprintf("own_%d", i))...)...)
			require.NoError(t, err)
			view := toolset.Union(s.Select(func(info *schema.ToolInfo) bool { return strings.HasSuffix(info.Name, "7") }), next)
			names := toolNames(t, view)
			require.Contains(t, names, fmt.Sprintf("own_%d", i))
			require.Equal(t, "t007", names[0])
		})
	}
	all.Wait()
	require.Len(t, toolNames(t, s), 800)
}
