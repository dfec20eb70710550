// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package catalog_test

// Sets of hidden tools, and what one tool computes of its definition, on random data.

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

// runs is a tool that can be called, and compared.
type runs struct{ info *schema.ToolInfo }

func (t *runs) Info(context.Context) (*schema.ToolInfo, error) { return t.info, nil }

func (t *runs) InvokableRun(context.Context, string, ...tool.Option) (string, error) { return "", nil }

func infoOf(name, desc string) *schema.ToolInfo {
	return &schema.ToolInfo{Name: name, Desc: desc, Extra: map[string]any{"k": desc}, ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"p": {Type: schema.String}})}
}

func random(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

func namesOf(s *catalog.Set) []string {
	names := []string{}
	for e := range s.All() {
		names = append(names, e.Info.Name)
	}
	return names
}

// A set, however it was put together of others and parts of them, has the tools that a list has.
func TestSet_HasTheToolsOfAList(t *testing.T) {
	r := random(t)
	for range race.Cases(500) {
		sets, lists := []*catalog.Set{nil}, [][]string{{}}
		for i := range 1 + r.IntN(8) {
			var next *catalog.Set
			list := []string{}
			switch at := r.IntN(len(sets)); r.IntN(3) {
			case 0: // another block
				var tools []*catalog.Tool
				for n := range r.IntN(150) {
					name := fmt.Sprintf("b%d_%d", i, n)
					tools, list = append(tools, &catalog.Tool{Info: infoOf(name, "d")}), append(list, name)
				}
				next = catalog.New(tools)
			case 1:
				every := 1 + r.IntN(4)
				keep := func(name string) bool { return len(name)%every == 0 || strings.HasSuffix(name, "7") }
				next = sets[at].Filter(func(e *catalog.Tool) bool { return keep(e.Info.Name) })
				list = slices.DeleteFunc(slices.Clone(lists[at]), func(name string) bool { return !keep(name) })
				if sets[at] != nil && len(list) == len(lists[at]) {
					require.Same(t, sets[at], next)
				}
			default: // of two that share no name
				other := r.IntN(len(sets))
				if slices.ContainsFunc(lists[at], func(name string) bool { return slices.Contains(lists[other], name) }) {
					other = 0
				}
				next, list = sets[at].With(sets[other]), slices.Concat(lists[at], lists[other])
			}
			sets, lists = append(sets, next), append(lists, append([]string{}, list...))
		}
		for i, s := range sets { // also those that others were made of
			require.Equal(t, lists[i], namesOf(s))
			require.Equal(t, len(lists[i]), s.Len())
			require.Len(t, s.Infos(), len(lists[i]))
			for _, name := range slices.Concat(lists[r.IntN(len(lists))], []string{"none"}) {
				e := s.Lookup(name)
				require.Equal(t, slices.Contains(lists[i], name), e != nil, name)
				require.True(t, e == nil || e.Info.Name == name)
			}
		}
	}
}

// An index is joined of one segment for each block: sets of the same tools share them.
func TestIndexOf_IndexesEachBlockOnce(t *testing.T) {
	made := map[string]int{}
	index := func(s *catalog.Set) []string {
		names, err := catalog.IndexOf(s, func(tools []*catalog.Tool) []string {
			var names []string
			for _, e := range tools {
				names = append(names, e.Info.Name)
			}
			made[names[0]]++
			return names
		}, func(all []catalog.Selection[[]string]) (names []string) {
			for _, p := range all {
				for i, name := range p.Segment {
					if p.Has == nil || p.Has.Has(uint32(i)) {
						names = append(names, name)
					}
				}
			}
			return names
		})
		require.NoError(t, err)
		return names
	}
	block := func(names ...string) *catalog.Set {
		var tools []*catalog.Tool
		for _, name := range names {
			tools = append(tools, &catalog.Tool{Info: infoOf(name, "d")})
		}
		return catalog.New(tools)
	}
	a, b := block("a1", "a2", "a3"), block("b1", "b2")
	some := a.Filter(func(e *catalog.Tool) bool { return e.Info.Name != "a2" }).With(b)
	for range 2 {
		require.Equal(t, []string{"a1", "a3", "b1", "b2"}, index(some))
		require.Equal(t, []string{"a1", "a2", "a3", "b1", "b2"}, index(a.With(b)))
		require.Equal(t, []string{"b1", "b2"}, index(b))
	}
	require.Equal(t, map[string]int{"a1": 1, "b1": 1}, made)
	_, err := catalog.IndexOf(b, func([]*catalog.Tool) int { panic("broken") }, func([]catalog.Selection[int]) int { return 0 })
	require.ErrorContains(t, err, "broken")
}

// An update keeps what did not change: the set if nothing did, the tool of the same value, and one copy
// of the infos of tools that look the same. It tells the fault of each tool that cannot be in a set.
func TestUpdate_KeepsWhatDidNotChange(t *testing.T) {
	r, ctx := random(t), context.Background()
	for range race.Cases(500) {
		var values []tool.BaseTool
		for i := range 1 + r.IntN(9) {
			values = append(values, &runs{infoOf(fmt.Sprint("t", i), "d")})
		}
		fine := func(int, error) { t.Error("there is no fault") }
		old := (*catalog.Set)(nil).Update(ctx, values, fine)
		require.Same(t, old, old.Update(ctx, values, fine))

		at, next := r.IntN(len(values)), slices.Clone(values)
		desc := []string{"d", "other"}[r.IntN(2)]
		next[at] = &runs{infoOf(fmt.Sprint("t", at), desc)}
		now := old.Update(ctx, next, fine)
		require.Equal(t, namesOf(old), namesOf(now))
		require.Equal(t, desc == "d", old.Fingerprint() == now.Fingerprint())
		for i := range values {
			name := fmt.Sprint("t", i)
			before, after := old.Lookup(name), now.Lookup(name)
			require.Equal(t, i != at, before == after, "the tool")
			require.Equal(t, i != at || desc == "d", before.Info == after.Info, "its info")
			require.Same(t, next[i], after.Value)
		}

		faults := map[int]string{}
		old.Update(ctx, append(slices.Clip(values), values[0], nil, &runs{&schema.ToolInfo{}}), func(i int, err error) { faults[i] = err.Error() })
		n := len(values)
		require.Equal(t, map[int]string{
			n: `it has the name of tools[0], "t0"`, n + 1: "the tool is nil", n + 2: `Info of *catalog_test.runs has an empty Name (description "")`,
		}, faults)
	}
}

// Definitions are equal if name, description, schema and Extra are; one that cannot be compared equals
// only itself. A checkpoint holds the safe copy, whatever the user's holds.
func TestDefinition_EqualsThatOfEqualInfo(t *testing.T) {
	toolOf := func(change func(*schema.ToolInfo)) *catalog.Tool {
		info := infoOf("t", "d")
		change(info)
		e, err := catalog.NewTool(&runs{info}, info)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, gob.NewEncoder(&b).Encode(e.CheckpointInfo.Extra))
		return e
	}
	same := toolOf(func(*schema.ToolInfo) {}).Definition()
	require.Equal(t, same, toolOf(func(*schema.ToolInfo) {}).Definition())
	others := map[[32]byte]bool{same: true}
	for _, change := range []func(*schema.ToolInfo){
		func(i *schema.ToolInfo) { i.Name = "u" },
		func(i *schema.ToolInfo) { i.Desc = "e" },
		func(i *schema.ToolInfo) { i.Name, i.Desc = "td", "" }, // no border moves
		func(i *schema.ToolInfo) { i.ParamsOneOf = nil },
		func(i *schema.ToolInfo) { i.Extra = nil },
		func(i *schema.ToolInfo) { i.Extra["k"] = func() {} },
		func(i *schema.ToolInfo) { i.Extra["k"] = func() {} },
	} {
		e := toolOf(change)
		require.False(t, others[e.Definition()])
		require.Equal(t, e.Definition(), e.Definition())
		others[e.Definition()] = true
	}
}

// Whatever a model writes, arguments are an object that the tool gets as it was written, or there is a
// problem; a text that holds an object is read, and none at all is an empty one.
func TestArguments_AreAnObjectOrAProblem(t *testing.T) {
	r := random(t)
	e := &catalog.Tool{Info: infoOf("t", "d")}
	for range race.Cases(5000) {
		object := fmt.Sprintf(`{"p":%q}`, strings.Repeat("x", r.IntN(5)))
		quoted, err := json.Marshal(object)
		require.NoError(t, err)
		raw := []string{object, " " + object + "\n", string(quoted), "", "null", `[1]`, `7`, `"7"`, object[:r.IntN(len(object))], `{"p":1}`}[r.IntN(10)]
		args, problem := e.Arguments(raw)
		if problem != nil {
			require.Empty(t, args)
			continue
		}
		var v map[string]any
		require.NoError(t, json.Unmarshal([]byte(args), &v), "%q", raw)
		require.Contains(t, []string{object, "{}"}, args)
	}
	_, problem := e.Arguments(`[]`)
	require.Equal(t, catalog.ErrNoObject, problem)
	_, problem = e.Arguments(`{"p":1}`)
	require.Error(t, problem)
}
