// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
)

// taking is a tool of a name with parameters.
func taking(name string, params ...string) tool.BaseTool {
	all := map[string]*schema.ParameterInfo{}
	for _, p := range params {
		all[p] = &schema.ParameterInfo{Type: schema.String}
	}
	return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, ParamsOneOf: schema.NewParamsOneOfByParams(all)}, nil)
}

// called is the kind of a tool.
func called(of tool.BaseTool, kinds map[string]tool.BaseTool) string {
	for name, kind := range kinds {
		a, isA := of.(*Tool)
		b, isB := kind.(*Tool)
		if isA && isB && a == b || of == nil && kind == nil {
			return name
		}
		if isA || isB || of == nil || kind == nil {
			continue
		}
		one, _ := of.Info(context.Background())
		other, _ := kind.Info(context.Background())
		if one == other {
			return name
		}
	}
	return "unknown"
}

func anyFile(string) bool { return true }

// One tool of the name reads, or the run does not begin: a model that a notice sends to another would not find
// what it looks for.
func TestBegin_RequiresOneReadTool(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c, seen := rand.New(rand.NewPCG(seed, 1)), map[string]int{}
	mine, others := NewTool("read", nil, anyFile, nil), NewTool("read", nil, anyFile, nil)
	kinds := map[string]tool.BaseTool{
		"mine": mine, "another's": others, "pages": taking("read", "file_path", "offset", "limit", "more"),
		"foreign": taking("read", "file_path"), "another name": taking("write", "file_path"), "": nil,
	}
	for range 5000 {
		var is []string
		var tools []tool.BaseTool
		for range c.IntN(4) {
			kind := []string{"mine", "another's", "pages", "foreign", "another name", ""}[c.IntN(6)]
			is, tools = append(is, kind), append(tools, kinds[kind])
		}
		var events []einolean.Kind
		r := &Reader{Name: "read", Report: func(_ context.Context, e einolean.Event) { events = append(events, e.Kind) }}
		if c.IntN(3) > 0 {
			r.Tool = mine
		}
		names := func(tools []tool.BaseTool) []string {
			out := []string{}
			for _, of := range tools {
				out = append(out, called(of, kinds))
			}
			return out
		}
		given := names(tools)
		ctx, got, err := r.Begin(context.Background(), tools)
		require.Equal(t, given, names(tools), "what was handed in never changes")
		foreign, pages := slices.Contains(is, "foreign"), slices.Contains(is, "pages")
		last := ""
		for _, kind := range is {
			if kind == "mine" || kind == "another's" {
				last = kind
			}
		}
		if r.Tool != nil && (foreign || !pages && last == "another's") {
			var wrong *einolean.FieldError
			require.ErrorAs(t, err, &wrong, "%v", is)
			seen["an error"]++
			continue
		}
		require.NoError(t, err, "%v", is)
		name, own := r.Of(ctx)
		require.Equal(t, pages && r.Tool != nil, slices.Contains(events, einolean.KindReadToolNotAdded), "%v", is)
		switch {
		case r.Tool != nil && last == "" && !pages:
			require.Equal(t, append(given, "mine"), names(got))
			seen["added"]++
		default:
			require.Equal(t, given, names(got))
		}
		has := foreign || pages || last != "" || r.Tool != nil
		require.Equal(t, "read", name, "%v: if there is none yet, a later handler may add it", is)
		require.Equal(t, has && !foreign && !pages, own, "%v", is)
		require.Equal(t, !foreign, r.IsReadTool(ctx, "read"), "%v: of a foreign tool nothing is known", is)
		require.False(t, r.IsReadTool(ctx, "write"))
	}
	require.Positive(t, seen["an error"])
	require.Positive(t, seen["added"])
}

// Handlers that come later may add tools: of two of the name, Eino runs the last.
func TestCheck_SeesLaterToolOfSameName(t *testing.T) {
	mine := NewTool("read", nil, anyFile, nil)
	info := func(of tool.BaseTool) *schema.ToolInfo {
		out, err := of.Info(context.Background())
		require.NoError(t, err)
		return out
	}
	own, pages, foreign := info(mine), info(taking("read", "file_path", "offset", "limit")), info(taking("read", "x"))
	for name, c := range map[string]struct {
		list   []*schema.ToolInfo
		yields bool
		wrong  bool
	}{
		"only it":            {list: []*schema.ToolInfo{own, nil, info(taking("write"))}},
		"one that pages":     {list: []*schema.ToolInfo{own, pages}, yields: true},
		"one that may not":   {list: []*schema.ToolInfo{own, foreign}, wrong: true},
		"before it, nothing": {list: nil},
	} {
		r := &Reader{Name: "read", Tool: mine}
		ctx, _, err := r.Begin(context.Background(), nil)
		require.NoError(t, err)
		yields, err := r.Check(ctx, c.list, nil)
		require.Equal(t, c.wrong, err != nil, "%s: %v", name, err)
		require.Equal(t, c.yields, yields, name)
		again, err := r.Check(ctx, []*schema.ToolInfo{own, foreign})
		require.NoError(t, err, "%s: once a run", name)
		require.False(t, again)
		left := r.Without(c.list)
		require.NotContains(t, left, own)
		require.Len(t, left, max(0, len(c.list)-min(len(c.list), 1)))
	}
}
