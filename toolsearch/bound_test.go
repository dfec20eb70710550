// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Answers stay within their bound, whatever strangers call and describe their tools, and
// say how to get the rest.

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/race"
	"github.com/leanctx/leanctx/internal/texts"
	"github.com/leanctx/leanctx/internal/toolschema"
)

// answerRoom is what an answer may hold beside its tools: hints and keys.
const answerRoom = 24 << 10

func toolWith(t testing.TB, name, desc, params string) tool.BaseTool {
	t.Helper()
	s, err := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{}).ToJSONSchema()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(params), s))
	return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, Desc: desc, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(s)}, nil)
}

// agentTools are the tools of an agent without tools of its own.
func agentTools(t testing.TB, cfg Config) []tool.BaseTool {
	t.Helper()
	h, err := New(context.Background(), &cfg)
	require.NoError(t, err)
	_, rc, err := h.BeforeAgent(context.Background(), &adk.ChatModelAgentContext{})
	require.NoError(t, err)
	return rc.Tools
}

// ask runs one call of a search tool, outside of a run.
func ask(t testing.TB, cfg Config, name, args string) string {
	t.Helper()
	for _, x := range agentTools(t, cfg) {
		if info, err := x.Info(context.Background()); err == nil && info.Name == name {
			answer, err := x.(tool.InvokableTool).InvokableRun(context.Background(), args)
			require.NoError(t, err)
			return answer
		}
	}
	t.Fatalf("no tool %q", name)
	return ""
}

func described(t testing.TB, answer string) describedAnswer {
	t.Helper()
	var a describedAnswer
	require.NoError(t, json.Unmarshal([]byte(answer), &a), "%.300s", answer)
	return a
}

// properties is a schema of n parameters that take about that many bytes together.
func properties(n, bytes int, words string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"p%04d":{"type":"string","%s":"%s"}`, i, words, strings.Repeat("x", max(0, bytes/n-40)))
	}
	return `{"type":"object","properties":{` + b.String()[1:] + `},"required":["p0001"]}`
}

func TestToolsThatDoNotFitIntoAnAnswerAreNamed(t *testing.T) {
	inBothLanguages(t, func(t *testing.T, all *texts.Texts) {
		size := func(name string) int {
			e := &entry{info: &schema.ToolInfo{Name: name}}
			return describedSize(e)
		}
		names := []string{"send_a", "send_b", "send_c"}
		rest := maxAnswerBytes - 3*size("send_a")
		tools := func(over int) (list []tool.BaseTool) {
			for i, n := range []int{rest / 3, rest / 3, rest - 2*(rest/3) + over} {
				list = append(list, adktest.Simple(names[i], strings.Repeat("d", n)))
				info, err := list[i].Info(context.Background())
				require.NoError(t, err)
				info.ParamsOneOf = nil
			}
			return list
		}
		fits := ask(t, Config{Protocol: SearchCall, DynamicTools: tools(0)}, "tool_search", `{"query":"send"}`)
		require.Len(t, described(t, fits).Tools, 3)
		require.Empty(t, described(t, fits).Hint)
		require.LessOrEqual(t, len(fits), maxAnswerBytes+len(`{"tools":[]}`))
		require.Greater(t, len(fits), maxAnswerBytes-100)

		over := described(t, ask(t, Config{Protocol: SearchCall, DynamicTools: tools(1)}, "tool_search", `{"query":"send"}`))
		require.Len(t, over.Tools, 2)
		require.Equal(t, renderIn(all, "cut-answer", promptData{Total: 1, Words: []string{"send_c"}}), over.Hint)
		alone := described(t, ask(t, Config{Protocol: SearchCall, DynamicTools: tools(1)}, "tool_search", `{"query":"select:send_c"}`))
		require.Len(t, alone.Tools, 1, "the hint leads to the rest")
		require.Len(t, alone.Tools[0].Description, rest-2*(rest/3)+1)
		require.Empty(t, alone.Hint)
	})
}

func TestALongSchemaIsShortened(t *testing.T) {
	race.Skip(t, "reads schemas of megabytes")
	inBothLanguages(t, func(t *testing.T, all *texts.Texts) {
		exact := func(n int) string {
			return strings.Replace(properties(2, 0, "description"), `"description":""`, `"description":"`+strings.Repeat("x", n)+`"`, 1)
		}
		one, err := toolWith(t, "t", "", exact(1)).Info(context.Background())
		require.NoError(t, err)
		pad := maxShownSchema - len(schemaText(one)) + 1
		for _, c := range []struct {
			name, schema  string
			shortened     bool
			params, least int
		}{
			{"as long as is shown", exact(pad), false, 2, 2},
			{"one byte longer", exact(pad + 1), true, 2, 2},
			{"words of megabytes", properties(20, 4<<20, "description"), true, 20, 20},
			{"data of megabytes", properties(1000, 4<<20, "const"), true, 1000, 1000},
			{"parameters of megabytes", properties(1999, 4<<20, "const"), true, 1900, 1000},
		} {
			t.Run(c.name, func(t *testing.T) {
				x := toolWith(t, "huge", "Does it.", c.schema)
				a := described(t, ask(t, Config{Protocol: SearchCall, DynamicTools: []tool.BaseTool{x}}, "tool_search", `{"query":"huge"}`))
				require.Len(t, a.Tools, 1)
				require.LessOrEqual(t, len(a.Tools[0].Parameters), maxShownSchema)
				var shown struct {
					Properties map[string]struct{ Type string }
					Required   []string
				}
				require.NoError(t, json.Unmarshal(a.Tools[0].Parameters, &shown))
				require.GreaterOrEqual(t, len(shown.Properties), c.least)
				require.LessOrEqual(t, len(shown.Properties), c.params)
				require.Equal(t, "string", shown.Properties["p0001"].Type, "a required parameter is among those that are shown")
				require.Equal(t, []string{"p0001"}, shown.Required)

				wrong := ask(t, Config{Protocol: SearchCall, DynamicTools: []tool.BaseTool{x}}, "call_tool", `{"name":"huge","arguments":{"p0001":7}}`)
				require.LessOrEqual(t, len(wrong), maxShownSchema+answerRoom)
				if c.shortened {
					require.Equal(t, renderIn(all, "shortened-tool", promptData{Name: "huge"}), a.Hint)
				} else {
					require.Empty(t, a.Hint)
				}
				if len(c.schema) <= toolschema.MaxCheckedBytes {
					require.Equal(t, c.shortened, strings.Contains(wrong, renderIn(all, "shortened", promptData{Shortened: true})), "%.200s", wrong)
				}
			})
		}
	})
}

func TestALongDescriptionIsShortened(t *testing.T) {
	for _, c := range []struct {
		name, desc string
		most       int
	}{
		{"letters", strings.Repeat("ü", 1<<20), maxAnswerBytes},
		{"what JSON escapes", strings.Repeat("\x01\"\\\n", 1<<20), maxAnswerBytes},
		{"what is no text", strings.Repeat("\xff", 1<<20), maxAnswerBytes},
	} {
		a := ask(t, Config{Protocol: SearchCall, DynamicTools: []tool.BaseTool{adktest.Simple("huge", c.desc)}}, "tool_search", `{"query":"huge"}`)
		require.LessOrEqual(t, len(a), maxAnswerBytes+answerRoom, c.name)
		d := described(t, a)
		require.Len(t, d.Tools, 1, c.name)
		require.True(t, utf8.ValidString(d.Tools[0].Description), c.name)
		require.Greater(t, len(d.Tools[0].Description), 8<<10, c.name)
		require.True(t, strings.HasSuffix(d.Tools[0].Description, "…"), c.name)
		require.NotEmpty(t, d.Hint, c.name)
	}
}

// Whatever is called: the answer is bounded, and it is JSON where it should be.
func TestEveryAnswerIsBounded(t *testing.T) {
	race.Skip(t, "ranks tools of megabytes")
	inBothLanguages(t, func(t *testing.T, _ *texts.Texts) {
		for _, name := range []string{strings.Repeat("n", 5_000), strings.Repeat("n", 1<<20), strings.Repeat("\x01", 40_000), "short"} {
			var tools []tool.BaseTool
			var names []string
			for i := range 200 {
				if len(name) > 100_000 && i == 5 {
					break
				}
				names = append(names, fmt.Sprintf("%s_%03d", name, i))
				tools = append(tools, toolWith(t, names[i], strings.Repeat("send word ", 2_000), properties(40, 4_000, "description")))
			}
			list, err := json.Marshal(names[:min(len(names), 100)])
			require.NoError(t, err)
			for _, c := range []struct {
				protocol   Protocol
				tool, args string
			}{
				{Keyword, "tool_search", `{"query":["send","word","send word"],"max_results":100}`},
				{Keyword, "tool_search", `{"query":"select:nothing,nobody,none,` + name[:min(len(name), 99)] + `"}`},
				{Regexp, "tool_search", `{"regex_pattern":"."}`},
				{Regexp, "tool_search", `{"regex_pattern":"nnnnnnx"}`},
				{SearchLoad, "search_tools", `{"query":["send","word","send word"],"max_results":100}`},
				{SearchLoad, "load_tool", `{"tool_names":` + string(list) + `}`},
				{SearchCall, "tool_search", `{"query":["send","word","send word"],"max_results":100}`},
				{SearchCall, "call_tool", `{"name":"nobody","arguments":{}}`},
				{SearchCall, "call_tool", `{"name":` + encode(names[0]) + `,"arguments":{"p0001":7}}`},
			} {
				answer := ask(t, Config{Protocol: c.protocol, DynamicTools: tools}, c.tool, c.args)
				require.LessOrEqual(t, len(answer), maxAnswerBytes+answerRoom, "%v %.200s: %.300s", c.protocol, c.args, answer)
				if c.tool != "call_tool" {
					require.True(t, json.Valid([]byte(answer)), "%v %.200s: %.300s", c.protocol, c.args, answer)
				}
			}
		}
	})
}
