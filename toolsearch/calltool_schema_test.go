// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Schemas come from strangers: call_tool checks what it can, and comes to an end with all
// of them.

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/toolsearch"
)

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
	s := on[*schema.Message](t, false, toolsearch.SearchCall)
	s.cfg.DynamicTools = []tool.BaseTool{target}
	return s.begin(do("a", "call_tool", `{"name":"t","arguments":`+args+`}`)).answer(t, "a")
}

func TestCallToolChecksSchemasWithReferences(t *testing.T) {
	const (
		list = `{"type":"object","properties":{"value":{"type":"integer"},"next":{"$ref":"#"}},"required":["value"]}`
		defs = `{"type":"object","properties":{"to":{"$ref":"#/$defs/Address"},"cc":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/Address"},{"type":"null"}]}}},
			"$defs":{"Address":{"type":"object","properties":{"mail":{"type":"string","pattern":"@"}},"required":["mail"],"additionalProperties":false}}}`
		odd = `{"type":"object","properties":{"a":{"$ref":"#/$defs/x~1y"},"b":{"$ref":"#/allOf/0"}},"allOf":[{"minProperties":1}],"$defs":{"x/y":{"type":"string"}}}`
	)
	for _, c := range []struct{ name, schema, args, want string }{
		{"a list that fits", list, `{"value":1,"next":{"value":2,"next":{"value":3}}}`, "echo"},
		{"a list that does not", list, `{"value":1,"next":{"value":2,"next":{"value":"three"}}}`, `three has type "string", want "integer"`},
		{"definitions that fit", defs, `{"to":{"mail":"a@b"},"cc":[{"mail":"c@d"},null]}`, "echo"},
		{"a definition that does not", defs, `{"to":{"mail":"nobody"}}`, `does not match regular expression`},
		{"a member too many", defs, `{"to":{"mail":"a@b","fax":1}}`, `unexpected additional properties ["fax"]`},
		{"one of a list of definitions that does not", defs, `{"to":{"mail":"a@b"},"cc":[{}]}`, `missing properties: ["mail"]`},
		{"escaped references", odd, `{"a":"x","b":{"y":1}}`, "echo"},
		{"an escaped reference that does not fit", odd, `{"a":7}`, `want "string"`},
		{"an item of a list as reference", odd, `{"b":{}}`, `minProperties`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, callWith(t, withSchema(t, c.schema), c.args), c.want)
		})
	}
}

func TestCallToolChecksEveryKeyword(t *testing.T) {
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
func TestCallToolComesToAnEndWithEverySchema(t *testing.T) {
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

func TestCallToolRefusesWhatNoArgumentsFit(t *testing.T) {
	answer := callWith(t, withSchema(t, `{"type":"object","allOf":[{"required":["a"]},{"not":{"required":["a"]}}]}`), `{"a":1}`)
	require.Contains(t, answer, `The arguments do not fit "t", which did not run: `)
}

// Every draft is read as the newest one that is known.
func TestCallToolReadsEveryDraft(t *testing.T) {
	for _, draft := range []string{
		"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema",
		"http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-04/schema#", "http://json-schema.org/schema#", "nonsense",
	} {
		target := withSchema(t, `{"$schema":"`+draft+`","$id":"https://example.com/t.json","type":"object","properties":{"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}`)
		require.Equal(t, `echo {"n":1}`, callWith(t, target, `{"n":1}`), draft)
		require.Contains(t, callWith(t, target, `{"n":"x"}`), `want "integer"`, draft)
	}
}

// A schema made of Go pointers can be part of itself.
func TestSchemasThatContainThemselvesDoNoHarm(t *testing.T) {
	own, err := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"x": {Type: schema.String}}).ToJSONSchema()
	require.NoError(t, err)
	own.Not = own
	loop := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "t", Desc: "d", ParamsOneOf: schema.NewParamsOneOfByJSONSchema(own)}, nil)
	require.Equal(t, `echo {"x":1}`, callWith(t, loop, `{"x":1}`))

	s := on[*schema.Message](t, false, toolsearch.SearchCall)
	s.cfg.DynamicTools = []tool.BaseTool{loop}
	require.Contains(t, s.begin(do("a", "tool_search", `{"query":"select:t"}`)).answer(t, "a"), `"parameters":{"type":"object","properties":{}}`)
}

// Models have been seen to repeat one character without end.
func TestDeeplyNestedArgumentsAreAnswered(t *testing.T) {
	target := withSchema(t, `{"type":"object"}`)
	for _, depth := range []int{100, 10_000, 1_000_000} {
		args := `{"x":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`
		require.NotPanics(t, func() { callWith(t, target, args) }, "%d", depth)
		require.NotPanics(t, func() { callWith(t, target, args[:len(args)/2]) }, "%d", depth)
	}
}
