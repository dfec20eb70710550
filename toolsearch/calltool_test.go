// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The tool call_tool: arguments, schemas and results of the tools that it runs.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
)

func TestCallTool_RunsEveryToolForm(t *testing.T) {
	adktest.Both(t, testCallToolRunsEveryToolForm[*schema.Message], testCallToolRunsEveryToolForm[*schema.AgenticMessage])
}

func testCallToolRunsEveryToolForm[M adk.MessageType](t *testing.T, streaming bool) {
	for form, f := range adktest.Forms {
		for _, others := range []adktest.Form{adktest.Invokable, adktest.Enhanced} {
			t.Run(fmt.Sprintf("%s beside %d", form, others), func(t *testing.T) {
				s := newScene[M](t, streaming, toolsearch.SearchCall)
				s.cfg.DynamicTools = []tool.BaseTool{
					adktest.Tool(f, &schema.ToolInfo{Name: "t", Desc: "d"}, nil),
					adktest.Tool(others, &schema.ToolInfo{Name: "other", Desc: "d"}, nil),
				}
				p := s.begin(oneCall("a", "call_tool", `{"name":"t","arguments":{"x":[1,{"y":null}]}}`), oneCall("b", "call_tool", `{"name":"nope"}`))
				require.Equal(t, `echo {"x":[1,{"y":null}]}`, p.answer(t, "a"))
				require.Contains(t, p.answer(t, "b"), `There is no tool named "nope"`)
			})
		}
	}
}

// Directly called and under call_tool alike, a tool of two forms runs in the one that Eino
// chooses.
func TestCallTool_ChoosesFormAsEino(t *testing.T) {
	adktest.Both(t, testCallToolChoosesFormAsEino[*schema.Message], testCallToolChoosesFormAsEino[*schema.AgenticMessage])
}

func testCallToolChoosesFormAsEino[M adk.MessageType](t *testing.T, streaming bool) {
	want := map[bool]string{false: "invoked", true: "streamed"}[streaming]
	for name, two := range map[string]tool.BaseTool{
		"plain": both{&schema.ToolInfo{Name: "t", Desc: "d"}}, "enhanced": enhancedBoth{&schema.ToolInfo{Name: "t", Desc: "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene[M](t, streaming, toolsearch.Keyword)
			s.cfg.DynamicTools = []tool.BaseTool{two}
			require.Equal(t, want, s.begin(oneCall("a", "tool_search", `{"query":"select:t"}`), oneCall("b", "t", `{}`)).answer(t, "b"))
			s.cfg.Protocol = toolsearch.SearchCall
			require.Equal(t, want, s.begin(oneCall("b", "call_tool", `{"name":"t"}`)).answer(t, "b"))
		})
	}
}

// both runs as a stream and at once, and says which.
type both struct{ info *schema.ToolInfo }

func (b both) Info(context.Context) (*schema.ToolInfo, error) { return b.info, nil }

func (b both) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return "invoked", nil
}

func (b both) StreamableRun(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
	return schema.StreamReaderFromArray([]string{"stre", "amed"}), nil
}

type enhancedBoth struct{ info *schema.ToolInfo }

func (b enhancedBoth) Info(context.Context) (*schema.ToolInfo, error) { return b.info, nil }

func (b enhancedBoth) InvokableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
	return textParts("invoked"), nil
}

func (b enhancedBoth) StreamableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	return schema.StreamReaderFromArray([]*schema.ToolResult{textParts("stre"), textParts("amed")}), nil
}

func textParts(s string) *schema.ToolResult {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: s}}}
}

func TestCallTool_RunsLateTools(t *testing.T) {
	adktest.Both(t, testCallToolRunsLateTools[*schema.Message], testCallToolRunsLateTools[*schema.AgenticMessage])
}

func testCallToolRunsLateTools[M adk.MessageType](t *testing.T, streaming bool) {
	for name, form := range adktest.Forms {
		t.Run(name, func(t *testing.T) {
			s, source := liveScene[M](t, streaming)
			s.cfg.Protocol = toolsearch.SearchCall
			s.mine = []tool.BaseTool{actionTool("connect", func() { source.have(echoTool(form, "late"), echoTool(0, "text")) })}
			p := s.begin(oneCall("1", "connect", "{}"),
				oneCall("2", "call_tool", `{"name":"late","arguments":{}}`),
				oneCall("3", "call_tool", `{"name":"text","arguments":{}}`),
				oneCall("4", "call_tool", `{"name":"nothing","arguments":{}}`))
			require.Equal(t, "late got {}", p.answer(t, "2"))
			require.Equal(t, "text got {}", p.answer(t, "3"))
			require.Contains(t, p.answer(t, "4"), "There is no tool named")
			require.Equal(t, strings.Repeat("own connect tool_search call_tool\n", 4)+"own connect tool_search call_tool", p.tools())
			requireNoSlots(t, p)
		})
	}
}

func TestCallTool_ValidatesArguments(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"arguments that fit run the tool", `{"name":"github__create_issue","arguments":{"title":"a","votes":3}}`, `github__create_issue got {"title":"a","votes":3}`},
		{"arguments as text run the tool", `{"name":"github__create_issue","arguments":"{\"title\":\"a\"}"}`, `github__create_issue got {"title":"a"}`},
		{"other keys are understood", `{"Tool_Name":"github__create_issue","Parameters":{"title":"a"}}`, `github__create_issue got {"title":"a"}`},
		{"the name may be written otherwise", `{"name":"GitHub-create-issue","arguments":{"title":"a"}}`, `github__create_issue got {"title":"a"}`},
		{"a missing argument is named", `{"name":"github__create_issue","arguments":{"votes":3}}`, `The arguments do not fit "github__create_issue", which did not run: missing: title. Its JSON schema: {"properties"`},
		{"no arguments are an empty object", `{"name":"github__create_issue"}`, `did not run: missing: title. `},
		{"null is no arguments", `{"name":"github__create_issue","arguments":null}`, `did not run: missing: title. `},
		{"unknown names come first", `{"name":"github__create_issue","arguments":{"name":"a","votes":"three","text":"b"}}`, `did not run: unknown: name, text; missing: title; votes: must be an integer, is a string. `},
		{"a wrong type is named", `{"name":"github__create_issue","arguments":{"title":"a","votes":"three"}}`,
			`did not run: votes: must be an integer, is a string. Its JSON schema`},
		{"a list is no arguments", `{"name":"github__create_issue","arguments":[1]}`, `which did not run: "arguments" must be a JSON object. Its JSON schema`},
		{"a number is no arguments", `{"name":"github__create_issue","arguments":7}`, `which did not run: "arguments" must be a JSON object. Its JSON schema`},
		{"a truth value is no arguments", `{"name":"github__create_issue","arguments":true}`, `which did not run: "arguments" must be a JSON object. Its JSON schema`},
		{"text that is no object is no arguments", `{"name":"github__create_issue","arguments":"\"a\""}`, `which did not run: "arguments" must be a JSON object. Its JSON schema`},
		{"broken text is no arguments", `{"name":"github__create_issue","arguments":"{\"title\":"}`, `"arguments" must be a JSON object`},
		{"empty text is no arguments at all", `{"name":"github__create_issue","arguments":" "}`, `did not run: missing: title. `},
		{"a null where text must be says so", `{"name":"github__create_issue","arguments":{"title":null}}`,
			`did not run: title: must be a string, is null. `},
		{"no name", `{"arguments":{}}`, `call_tool needs the "name" of a tool`},
		{"JSON that breaks off", `{"name":`, `break off after 8 bytes, so nothing ran`},
		{"no JSON", `{"name":}`, `not valid JSON: the error is at byte 9`},
		{"nothing", ``, `call_tool needs the "name" of a tool`},
		{"an unknown name gets near ones", `{"name":"github__create_isue","arguments":{}}`, `There is no tool named "github__create_isue". Nearest names: github__create_issue`},
		{"near names may be run", `{"name":"github__create_isue","arguments":{}}`,
			`. If one of them does it, run it; otherwise search.`},
		{"a name like no other is searched for", `{"name":"qqqqqqqqq","arguments":{}}`,
			`There is no tool named "qqqqqqqqq". Search for a tool that does what you need.`},
		{"one of the agent's own tools runs", `{"name":"own","arguments":{"value":"x"}}`, `echo {"value":"x"}`},
		{"a search tool searches", `{"name":"tool_search","arguments":{"query":"select:github__close_issue"}}`, `"name":"github__close_issue"`},
		{"a call of call_tool in the call is opened", `{"name":"call_tool","arguments":{"name":"github__create_issue","arguments":{"title":"a"}}}`, `github__create_issue got {"title":"a"}`},
		{"arguments in arguments are opened", `{"name":"github__create_issue","arguments":{"name":"github__create_issue","arguments":{"title":"a"}}}`, `github__create_issue got {"title":"a"}`},
		{"arguments beside the name", `{"name":"github__create_issue","title":"a","votes":3}`, `github__create_issue got {"title":"a","votes":3}`},
		{"arguments beside the name and empty ones", `{"name":"github__create_issue","arguments":{},"title":"a"}`, `github__create_issue got {"title":"a"}`},
		{"arguments in both places run nothing", `{"name":"github__create_issue","arguments":{"title":"a"},"votes":3}`, `Nothing ran: put all arguments of "github__create_issue" into one object`},
		{"a path as a key runs nothing", `{"name":"github__create_issue","arguments.title":"a"}`, `Nothing ran: put all arguments`},
		{"a list of calls runs nothing", `[{"name":"own","arguments":{}},{"name":"own","arguments":{}}]`, `One call of call_tool runs one tool, so nothing ran`},
		{"a list of one call runs", `[{"name":"github__create_issue","arguments":{"title":"a"}}]`, `github__create_issue got {"title":"a"}`},
		{"a list of names runs nothing", `{"name":["github__create_issue","own"],"arguments":{"title":"a"}}`, `One call of call_tool runs one tool, so nothing ran`},
		{"two objects run nothing", `{"name":"own","arguments":{}}{"name":"own","arguments":{}}`, `not valid JSON`},
		{"a prefix of other formats is dropped", `{"name":"functions.github__create_issue","arguments":{"title":"a"}}`, `github__create_issue got {"title":"a"}`},
		{"a search tool is none of these", `{"name":"call_tool","arguments":{"name":"call_tool"}}`, `There is no tool named "call_tool"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newScene[*schema.Message](t, false, toolsearch.SearchCall).begin(oneCall("a", "call_tool", c.args))
			require.Contains(t, p.answer(t, "a"), c.want)
		})
	}
}

// What was checked is what runs, digit for digit.
func TestCallTool_PassesValidatedArgumentsUnchanged(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"long numbers", `{"name":"t","arguments":{"id":12345678901234567890123,"x":0.10000000000000000555}}`, `echo {"id":12345678901234567890123,"x":0.10000000000000000555}`},
		{"long numbers under another key", `{"name":"t","ARGS":{"id":9007199254740993}}`, `echo {"id":9007199254740993}`},
		{"spaces and order", `{"name":"t","arguments": { "b" : 1 , "a" : 2 } }`, `echo { "b" : 1 , "a" : 2 }`},
		{"the last of two", `{"name":"t","arguments":{"id":"x"},"arguments":{"id":1}}`, `echo {"id":1}`},
		{"the last of two, and only it is checked", `{"name":"t","arguments":{"id":1},"arguments":{"id":"x"}}`,
			`id: must be an integer, is a string`},
		{"the key in lower case of two", `{"name":"t","arguments":{"id":1},"Arguments":{"id":"x"}}`, `echo {"id":1}`},
		{"escapes", `{"name":"t","arguments":{"text":"\u00e9\n<b>"}}`, `echo {"text":"\u00e9\n<b>"}`},
		{"text as it was written", `{"name":"t","arguments":" {\"id\": 18446744073709551616} "}`, `echo {"id": 18446744073709551616}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene[*schema.Message](t, false, toolsearch.SearchCall)
			s.cfg.DynamicTools = []tool.BaseTool{adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "t", Desc: "d", ParamsOneOf: schema.NewParamsOneOfByParams(
				map[string]*schema.ParameterInfo{"id": {Type: schema.Integer}, "text": {Type: schema.String}})}, nil)}
			require.Contains(t, s.begin(oneCall("a", "call_tool", c.args)).answer(t, "a"), c.want)
		})
	}
}

func TestCallTool_QuotesNoValuesInArgumentErrors(t *testing.T) {
	value := strings.Repeat("ü", 1000)
	info := &schema.ToolInfo{Name: "paint", Desc: "x", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"colour": {Type: schema.Integer}})}
	cfg := toolsearch.Config{DynamicTools: []tool.BaseTool{adktest.Tool(adktest.Invokable, info, nil)}, Protocol: toolsearch.SearchCall}
	answer := searchAnswer(t, cfg, "call_tool", `{"name":"paint","arguments":{"colour":"`+value+`"}}`)
	require.Contains(t, answer, "colour: must be an integer, is a string.")
	require.NotContains(t, answer, "ü")
}

func TestCallTool_ResolvesSchemaReferences(t *testing.T) {
	const (
		list = `{"type":"object","properties":{"value":{"type":"integer"},"next":{"$ref":"#"}},"required":["value"]}`
		defs = `{"type":"object","properties":{"to":{"$ref":"#/$defs/Address"},"cc":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/Address"},{"type":"null"}]}}},
			"$defs":{"Address":{"type":"object","properties":{"mail":{"type":"string","pattern":"@"}},"required":["mail"],"additionalProperties":false}}}`
		odd = `{"type":"object","properties":{"a":{"$ref":"#/$defs/x~1y"},"b":{"$ref":"#/allOf/0"}},"allOf":[{"minProperties":1}],"$defs":{"x/y":{"type":"string"}}}`
	)
	for _, c := range []struct{ name, schema, args, want string }{
		{"a list that fits", list, `{"value":1,"next":{"value":2,"next":{"value":3}}}`, "echo"},
		{"a list that does not", list, `{"value":1,"next":{"value":2,"next":{"value":"three"}}}`,
			`next.next.value: must be an integer, is a string`},
		{"definitions that fit", defs, `{"to":{"mail":"a@b"},"cc":[{"mail":"c@d"},null]}`, "echo"},
		{"a definition that does not", defs, `{"to":{"mail":"nobody"}}`, `to.mail: must match the pattern "@"`},
		{"a member too many", defs, `{"to":{"mail":"a@b","fax":1}}`, `to: unknown: fax`},
		{"one of a list of definitions that does not", defs, `{"to":{"mail":"a@b"},"cc":[{}]}`, `cc[0]: missing: mail`},
		{"escaped references", odd, `{"a":"x","b":{"y":1}}`, "echo"},
		{"an escaped reference that does not fit", odd, `{"a":7}`, `a: must be a string, is an integer`},
		{"an item of a list as reference", odd, `{"b":{}}`, `b: has too few members: at least 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, callWith(t, withSchema(t, c.schema), c.args), c.want)
		})
	}
}

// withSchema is a tool whose parameters are a JSON schema.
func withSchema(t testing.TB, text string) tool.BaseTool {
	s, err := schema.NewParamsOneOfByParams(nil).ToJSONSchema()
	if err != nil || s == nil {
		s, err = schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"x": {Type: schema.String}}).ToJSONSchema()
	}
	require.NoError(t, err)
	fresh := *s
	fresh.Properties, fresh.Required, fresh.Type = nil, nil, ""
	require.NoError(t, json.Unmarshal([]byte(text), &fresh))
	return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "t", Desc: "d", ParamsOneOf: schema.NewParamsOneOfByJSONSchema(&fresh)}, nil)
}

func callWith(t testing.TB, target tool.BaseTool, args string) string {
	s := newScene[*schema.Message](t, false, toolsearch.SearchCall)
	s.cfg.DynamicTools = []tool.BaseTool{target}
	return s.begin(oneCall("a", "call_tool", `{"name":"t","arguments":`+args+`}`)).answer(t, "a")
}

func TestCallTool_ChecksEverySchemaKeyword(t *testing.T) {
	for _, c := range []struct{ schema, fits, not string }{
		{`{"patternProperties":{"^n_":{"type":"integer"}}}`, `{"n_a":1}`, `{"n_a":"x"}`},
		{`{"additionalProperties":{"type":"integer"}}`, `{"a":1}`, `{"a":"x"}`},
		{`{"propertyNames":{"pattern":"^a"}}`, `{"ab":1}`, `{"b":1}`},
		{`{"dependentSchemas":{"a":{"required":["b"]}}}`, `{"a":1,"b":2}`, `{"a":1}`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1,"b":2}`, `{"a":1}`},
		{`{"properties":{"a":{"prefixItems":[{"type":"integer"}],"items":{"type":"string"}}}}`, `{"a":[1,"x"]}`, `{"a":[1,2]}`},
		{`{"properties":{"a":{"contains":{"type":"integer"}}}}`, `{"a":["x",2]}`, `{"a":["x"]}`},
		{`{"properties":{"a":{"enum":["x",7]}}}`, `{"a":7.0}`, `{"a":8}`},
		{`{"properties":{"a":{"const":{"b":[1]}}}}`, `{"a":{"b":[1.0]}}`, `{"a":{"b":[2]}}`},
		{`{"properties":{"a":{"maximum":9007199254740993}}}`, `{"a":9007199254740992}`, `{"a":9007199254740999}`},
		{`{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1,"b":2}`, `{"a":1,"c":2}`},
		{`{"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"a":1}`, `{"a":1,"b":2}`},
		{`{"not":{"required":["a"]}}`, `{"b":1}`, `{"a":1}`},
		{`{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[1,2]}`, `{"a":[1,1]}`},
		{`{"properties":{"a":{"type":["string","null"]}}}`, `{"a":null}`, `{"a":1}`},
		{`{"properties":{"a":false}}`, `{"b":1}`, `{"a":1}`},
	} {
		require.Equal(t, "echo "+c.fits, callWith(t, withSchema(t, c.schema), c.fits), c.schema)
		require.Contains(t, callWith(t, withSchema(t, c.schema), c.not), "do not fit", c.schema)
	}
}

// A schema that cannot be checked, or not in time, is the tool's own affair.
//
//claim:security-19
func TestCallTool_TerminatesForEverySchema(t *testing.T) {
	var doubling strings.Builder
	doubling.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range 60 {
		fmt.Fprintf(&doubling, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	doubling.WriteString(`"d60":{}}}`)
	const branching = `{"type":"object","properties":{"x":{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"type":"null"}]}}}`
	deep := strings.Repeat(`{"x":`, 60) + "null" + strings.Repeat("}", 60)

	for _, c := range []struct{ name, schema, args string }{
		{"a schema that is itself", `{"$ref":"#"}`, `{}`},
		{"two that are each other", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `{}`},
		{"one that is itself or not", `{"not":{"$ref":"#"}}`, `{}`},
		{"one that is itself on condition", `{"if":{"$ref":"#"},"then":{"$ref":"#"}}`, `{}`},
		{"one that is all of itself twice", `{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`, `{"a":1}`},
		{"one that doubles sixty times", doubling.String(), `{}`},
		{"one that doubles with every level of the value", branching, deep},
		{"a reference that leads nowhere", `{"properties":{"a":{"$ref":"#/$defs/none"}}}`, `{"a":1}`},
		{"a reference into a value", `{"type":"object","properties":{"a":{"$ref":"#/type"}}}`, `{"a":1}`},
		{"a reference to another place", `{"properties":{"a":{"$ref":"https://example.com/a.json"}}}`, `{"a":1}`},
		{"a reference that depends on the way", `{"$dynamicRef":"#meta"}`, `{"a":1}`},
		{"an anchor that is not there", `{"properties":{"a":{"$ref":"#there"}}}`, `{"a":1}`},
		{"a pattern that is none", `{"properties":{"a":{"type":"string","pattern":"("}}}`, `{"a":"x"}`},
		{"a huge schema", `{"type":"object","properties":{"a":{"type":"string","enum":["` + strings.Repeat(`x","`, 70_000) + `x"]}}}`, `{"a":7}`},
		{"a huge enum and a long list", `{"properties":{"a":{"items":{"enum":["` + strings.Repeat(`x","`, 20_000) + `y"]}}}}`, `{"a":[` + strings.Repeat(`"y",`, 20_000) + `"y"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, "echo "+c.args, callWith(t, withSchema(t, c.schema), c.args))
		})
	}
}

func TestCallTool_UnsatisfiableSchemaRejectsArguments(t *testing.T) {
	answer := callWith(t, withSchema(t, `{"type":"object","allOf":[{"required":["a"]},{"not":{"required":["a"]}}]}`), `{"a":1}`)
	require.Contains(t, answer, `The arguments do not fit "t", which did not run: `)
}

// Every draft is read as the newest one that is known.
func TestCallTool_ReadsEverySchemaDraft(t *testing.T) {
	for _, draft := range []string{
		"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema",
		"http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-04/schema#", "http://json-schema.org/schema#", "nonsense",
	} {
		target := withSchema(t, `{"$schema":"`+draft+`","$id":"https://example.com/t.json","type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}`)
		require.Equal(t, `echo {"n":1}`, callWith(t, target, `{"n":1}`), draft)
		require.Contains(t, callWith(t, target, `{"n":"x"}`), `n: must be an integer, is a string`, draft)
	}
}

// A schema made of Go pointers can be part of itself.
//
//claim:security-19
func TestCallTool_AcceptsSelfContainingSchema(t *testing.T) {
	own, err := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"x": {Type: schema.String}}).ToJSONSchema()
	require.NoError(t, err)
	own.Not = own
	loop := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "t", Desc: "d", ParamsOneOf: schema.NewParamsOneOfByJSONSchema(own)}, nil)
	require.Equal(t, `echo {"x":1}`, callWith(t, loop, `{"x":1}`))

	s := newScene[*schema.Message](t, false, toolsearch.SearchCall)
	s.cfg.DynamicTools = []tool.BaseTool{loop}
	require.Contains(t, s.begin(oneCall("a", "tool_search", `{"query":"select:t"}`)).answer(t, "a"), `"parameters":{"type":"object","properties":{}}`)
}

// Models have been seen to repeat one character without end.
func TestCallTool_AnswersDeeplyNestedArguments(t *testing.T) {
	target := withSchema(t, `{"type":"object"}`)
	for _, depth := range []int{100, 10_000, 1_000_000} {
		args := `{"x":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`
		require.NotPanics(t, func() { callWith(t, target, args) }, "%d", depth)
		require.NotPanics(t, func() { callWith(t, target, args[:len(args)/2]) }, "%d", depth)
	}
}

func TestCallTool_PassesPictures(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		for _, draws := range []tool.BaseTool{drawsAtOnce{}, drawsInPieces{}} {
			s := newScene[*schema.Message](t, streaming, toolsearch.SearchCall)
			s.cfg.DynamicTools = append(s.cfg.DynamicTools, draws)
			direct := newScene[*schema.Message](t, streaming, toolsearch.Keyword)
			direct.mine = []tool.BaseTool{draws}

			got := s.begin(oneCall("a", "call_tool", `{"name":"draw"}`), oneCall("b", "call_tool", `{"name":"weather__get_forecast","arguments":{"city":"Oslo"}}`))
			want := direct.begin(oneCall("a", "draw", `{}`))
			require.Contains(t, partsOf(got, "a"), pictureURL)
			require.Equal(t, partsOf(want, "a"), partsOf(got, "a"))
			require.Equal(t, `weather__get_forecast got {"city":"Oslo"}`, got.answer(t, "b"))
		}
	}
}

// picture returns a text and a picture, in as many pieces.
type picture struct{}

func (picture) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "draw", Desc: "Draws"}, nil
}

const pictureURL = "https://example.com/a.png"

func pictureParts() []*schema.ToolResult {
	url := pictureURL
	return []*schema.ToolResult{textParts("here it is"), {Parts: []schema.ToolOutputPart{{
		Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{URL: &url}},
	}}}}
}

type drawsAtOnce struct{ picture }

func (drawsAtOnce) InvokableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
	return schema.ConcatToolResults(pictureParts())
}

type drawsInPieces struct{ picture }

func (drawsInPieces) StreamableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	return schema.StreamReaderFromArray(pictureParts()), nil
}

// partsOf is the result of a call as text, with the addresses of pictures.
func partsOf(p sceneResult[*schema.Message], id string) string {
	var b strings.Builder
	for _, m := range p.wires[1].Messages {
		if m.ToolCallID != id {
			continue
		}
		for _, part := range m.UserInputMultiContent {
			b.WriteString("[" + part.Text)
			if part.Image != nil && part.Image.URL != nil {
				b.WriteString(*part.Image.URL)
			}
			b.WriteString("]")
		}
	}
	return b.String()
}

func TestCallTool_BrokenStreamIsError(t *testing.T) {
	adktest.Both(t, testCallToolBrokenStreamIsError[*schema.Message], testCallToolBrokenStreamIsError[*schema.AgenticMessage])
}

func testCallToolBrokenStreamIsError[M adk.MessageType](t *testing.T, streaming bool) {
	broken := errors.New("the line went dead")
	for _, x := range []tool.BaseTool{breaks{broken}, enhancedBreaks{breaks{broken}}} {
		s := newScene[M](t, streaming, toolsearch.SearchCall)
		s.cfg.DynamicTools = []tool.BaseTool{x}
		require.ErrorIs(t, s.try([]M{adktest.User[M]("please")}, oneCall("a", "call_tool", `{"name":"breaks"}`)).Err, broken)
	}
}

// breaks streams one piece, and then an error.
type breaks struct{ err error }

func (breaks) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "breaks", Desc: "Breaks"}, nil
}

func (b breaks) StreamableRun(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
	r, w := schema.Pipe[string](2)
	w.Send("half of it", nil)
	w.Send("", b.err)
	w.Close()
	return r, nil
}

type enhancedBreaks struct{ breaks }

func (b enhancedBreaks) StreamableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	r, w := schema.Pipe[*schema.ToolResult](2)
	w.Send(textParts("half of it"), nil)
	w.Send(nil, b.err)
	w.Close()
	return r, nil
}

func TestCallTool_ReturnsToolError(t *testing.T) {
	adktest.Both(t, testCallToolReturnsToolError[*schema.Message], testCallToolReturnsToolError[*schema.AgenticMessage])
}

func testCallToolReturnsToolError[M adk.MessageType](t *testing.T, streaming bool) {
	broken := errors.New("the printer is on fire")
	for form, f := range adktest.Forms {
		t.Run(form, func(t *testing.T) {
			s := newScene[M](t, streaming, toolsearch.SearchCall)
			s.cfg.DynamicTools = []tool.BaseTool{adktest.Tool(f, &schema.ToolInfo{Name: "t", Desc: "d"}, func(context.Context, string) (string, error) { return "", broken })}
			p := s.try([]M{adktest.User[M]("please")}, oneCall("a", "call_tool", `{"name":"t"}`))
			require.ErrorIs(t, p.Err, broken)
		})
	}
}

// Options of the run reach a tool whether it is called directly or not.
func TestCallTool_PassesToolOptions(t *testing.T) {
	for _, protocol := range []toolsearch.Protocol{toolsearch.Keyword, toolsearch.SearchCall} {
		s := newScene[*schema.Message](t, false, protocol)
		s.cfg.AllowUnloadedCalls = true
		s.cfg.DynamicTools = []tool.BaseTool{optioned{&schema.ToolInfo{Name: "t", Desc: "d"}}}
		turn := map[toolsearch.Protocol]adktest.Turn{
			toolsearch.Keyword: oneCall("a", "t", `{}`), toolsearch.SearchCall: oneCall("a", "call_tool", `{"name":"t"}`),
		}[protocol]
		agent, _ := s.agent(turn)
		out := agent.Run(context.Background(), []*schema.Message{schema.UserMessage("please")},
			adk.WithToolOptions([]tool.Option{tool.WrapImplSpecificOptFn(func(o *toolOption) { o.word = "aloha" })}))
		require.NoError(t, out.Err)
		require.Equal(t, "aloha a", sceneResult[*schema.Message]{Outcome: out}.answer(t, "a"))
	}
}

type toolOption struct{ word string }

type optioned struct{ info *schema.ToolInfo }

func (o optioned) Info(context.Context) (*schema.ToolInfo, error) { return o.info, nil }

func (o optioned) InvokableRun(ctx context.Context, _ string, opts ...tool.Option) (string, error) {
	return tool.GetImplSpecificOptions(&toolOption{}, opts...).word + " " + compose.GetToolCallID(ctx), nil
}

// Handlers before and after see the tool that runs. Only the model sees call_tool.
func TestCallTool_SeenByOtherMiddlewares(t *testing.T) {
	adktest.Both(t, testCallToolSeenByOtherMiddlewares[*schema.Message], testCallToolSeenByOtherMiddlewares[*schema.AgenticMessage])
}

func testCallToolSeenByOtherMiddlewares[M adk.MessageType](t *testing.T, streaming bool) {
	before, after := &witness[M]{}, &witness[M]{}
	s := newScene[M](t, streaming, toolsearch.SearchCall)
	s.around, s.behind = adktest.Handlers[M](before), adktest.Handlers[M](after)
	const args = `{ "Name" : "Weather-get-forecast", "arguments" :{"city":"Oslo"} }`
	p := s.begin(oneCall("a", "call_tool", args))
	require.Equal(t, `<<weather__get_forecast got {"city":"Oslo"}>>`, p.answer(t, "a"))
	require.Equal(t, []string{`weather__get_forecast {"city":"Oslo"}`}, before.seen)
	require.Equal(t, []string{`weather__get_forecast {"city":"Oslo"}`}, after.seen)
	require.Contains(t, adktest.Calls(p.wires[1].Messages[len(p.wires[1].Messages)-2])[0].Args, args)
}

// witness is a middleware that writes down the calls that pass it.
type witness[M adk.MessageType] struct {
	adk.TypedBaseChatModelAgentMiddleware[M]
	mu   sync.Mutex
	seen []string
}

func (w *witness[M]) note(tc *adk.ToolContext, args string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, tc.Name+" "+args)
}

func (w *witness[M]) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, tc *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return func(ctx context.Context, args string, opts ...tool.Option) (string, error) {
		w.note(tc, args)
		text, err := next(ctx, args, opts...)
		return "<" + text + ">", err
	}, nil
}

func (w *witness[M]) WrapStreamableToolCall(_ context.Context, next adk.StreamableToolCallEndpoint, tc *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	return func(ctx context.Context, args string, opts ...tool.Option) (*schema.StreamReader[string], error) {
		w.note(tc, args)
		s, err := next(ctx, args, opts...)
		if err != nil {
			return nil, err
		}
		return schema.StreamReaderWithConvert(s, func(text string) (string, error) { return "<" + text + ">", nil }), nil
	}, nil
}

func TestCallTool_StopsWhenContextIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for protocol := toolsearch.Keyword; protocol.String() != "unknown"; protocol++ {
		for _, more := range [][]tool.BaseTool{nil, {drawsAtOnce{}}} { // with and without an enhanced call_tool
			h, err := toolsearch.New(context.Background(), &toolsearch.Config{Protocol: protocol, DynamicTools: append(officeTools(), more...)})
			require.NoError(t, err)
			rc := &einorun.RunContext{}
			_, err = einorun.Begin(ctx, h, rc)
			require.NoError(t, err)
			for _, x := range rc.Tools {
				info, err := x.Info(ctx)
				require.NoError(t, err)
				if !strings.Contains(info.Name, "tool") {
					continue
				}
				switch x := x.(type) {
				case tool.InvokableTool:
					_, err = x.InvokableRun(ctx, `{"name":"weather__get_forecast","query":"a"}`)
				case tool.EnhancedInvokableTool:
					_, err = x.InvokableRun(ctx, &schema.ToolArgument{Text: `{"name":"weather__get_forecast"}`})
				}
				require.ErrorIs(t, err, context.Canceled, info.Name)
				switch x := x.(type) {
				case tool.StreamableTool:
					_, err = x.StreamableRun(ctx, `{"name":"weather__get_forecast"}`)
				case tool.EnhancedStreamableTool:
					_, err = x.StreamableRun(ctx, &schema.ToolArgument{Text: `{"name":"weather__get_forecast"}`})
				}
				require.ErrorIs(t, err, context.Canceled, info.Name)
			}
		}
	}
}
