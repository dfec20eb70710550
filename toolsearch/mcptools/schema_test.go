// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Schemas that providers refuse: what the model sees of them, and what runs.

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// wireOf is a schema as the model sees it, and whether it was mended.
func wireOf(t testing.TB, schema any) (string, bool) {
	t.Helper()
	params, mended, _, err := repairedParameters(&mcp.Tool{Name: "x", InputSchema: schema})
	require.NoError(t, err)
	s, err := params.ToJSONSchema()
	require.NoError(t, err)
	data, err := json.Marshal(s)
	require.NoError(t, err)
	return string(data), mended
}

func parsed(t testing.TB, text string) (v map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &v))
	return v
}

// Each shape that a provider refuses, as the server has it and as the model sees it.
//
//claim:mcp-53 security-63
func TestSchema_RepairsWhatProvidersReject(t *testing.T) {
	const empty = `{"type":"object","properties":{}}`
	for what, c := range map[string]struct{ own, want string }{
		"nothing":                        {`{}`, empty},
		"an object without properties":   {`{"type":"object"}`, empty},
		"one within an object":           {`{"type":"object","properties":{"a":{"type":"object"}}}`, `{"type":"object","properties":{"a":` + empty + `}}`},
		"a list without items":           {`{"type":"object","properties":{"a":{"type":"array"}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"title":"any"}}}}`},
		"a tuple":                        {`{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}]}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"number"}]}}}}`},
		"an old tuple":                   {`{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"},{"type":"string"}]}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`},
		"a type or null":                 {`{"type":"object","properties":{"a":{"type":["string","null"],"description":"d"}}}`, `{"type":"object","properties":{"a":{"type":"string","description":"d"}}}`},
		"a list of types":                {`{"type":"object","properties":{"a":{"type":["string","integer"]}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`},
		"types with parts":               {`{"type":"object","properties":{"a":{"type":["array","object"],"items":{"type":"string"}}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"array","items":{"type":"string"}},` + empty + `]}}}`},
		"an object or null":              {`{"type":["object","null"],"properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		"no type at the root":            {`{"properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		"a reference":                    {`{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"own"}},"$defs":{"A":{"type":"string","description":"theirs"}}}`, `{"type":"object","properties":{"a":{"type":"string","description":"own"}}}`},
		"a reference of an old draft":    {`{"type":"object","properties":{"a":{"$ref":"#/definitions/A~1B"}},"definitions":{"A/B":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		"a reference into a list":        {`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}]},"b":{"$ref":"#/properties/a/anyOf/0"}}}`, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}]},"b":{"type":"string"}}}`},
		"a reference to elsewhere":       {`{"type":"object","properties":{"a":{"$ref":"https://example.com/a.json","title":"T"},"b":{"$ref":"#/nowhere"}}}`, `{"type":"object","properties":{"a":{"title":"T"},"b":{"title":"any"}}}`},
		"a reference at the root":        {`{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"a":{"type":"string"}}}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		"recursion":                      {`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"next":{"$ref":"#/$defs/A"}}}}}`, `{"type":"object","properties":{"a":{"type":"object","properties":{"next":` + empty + `}}}}`},
		"recursion of the root":          {`{"type":"object","properties":{"sub":{"$ref":"#"}}}`, `{"type":"object","properties":{"sub":{"type":"object","properties":{"sub":` + empty + `}}}}`},
		"recursion in lists":             {`{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"array","items":{"$ref":"#/$defs/A"}}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"array","items":{"title":"any"}}}}}`},
		"alternatives at the root":       {`{"type":"object","anyOf":[{"properties":{"a":{"type":"string"},"k":{"type":"string"}},"required":["a","k"]},{"properties":{"b":{"type":"string"},"k":{"type":"string"}},"required":["b","k"]}]}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"k":{"type":"string"}},"required":["k"]}`},
		"one of several at the root":     {`{"type":"object","oneOf":[{"properties":{"k":{"enum":["x"]}}},{"properties":{"k":{"enum":["y"]}}},{"properties":{"k":{"enum":["y"]}}}]}`, `{"type":"object","properties":{"k":{"anyOf":[{"enum":["x"]},{"enum":["y"]}]}}}`},
		"all of several at the root":     {`{"type":"object","properties":{"o":{"type":"string"}},"required":["o"],"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"$ref":"#/$defs/B"}],"$defs":{"B":{"properties":{"b":{"type":"string"}}}}}`, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"o":{"type":"string"}},"required":["a","o"]}`},
		"conditions at the root":         {`{"type":"object","properties":{"a":{"type":"string"}},"if":{"required":["a"]},"then":{},"else":{},"not":{"required":["b"]}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		"names with signs":               {`{"type":"object","properties":{"$top":{"type":"integer"},"名":{"type":"string"},"a b":{"type":"object","properties":{"@id":{"type":"string"}},"required":["@id"]}},"required":["$top","a b"]}`, `{"type":"object","properties":{"_top":{"type":"integer"},"_":{"type":"string"},"a_b":{"type":"object","properties":{"_id":{"type":"string"}},"required":["_id"]}},"required":["_top","a_b"]}`},
		"names that would be one":        {`{"type":"object","properties":{"a b":{"type":"string"},"a/b":{"type":"string"},"a_b":{"type":"string","enum":["a b"]}}}`, `{"type":"object","properties":{"a_b_2":{"type":"string"},"a_b_3":{"type":"string"},"a_b":{"type":"string","enum":["a b"]}}}`},
		"a name that is too long":        {`{"type":"object","properties":{"` + strings.Repeat("x", 70) + `":{"type":"string"}}}`, `{"type":"object","properties":{"` + strings.Repeat("x", 64) + `":{"type":"string"}}}`},
		"no name":                        {`{"type":"object","properties":{"":{"type":"string"}}}`, `{"type":"object","properties":{"_2":{"type":"string"}}}`},
		"truth values in place of parts": {`{"type":"object","properties":{"a":true},"additionalProperties":false}`, `{"type":"object","properties":{"a":{"title":"any"}},"additionalProperties":false}`},
	} {
		got, mended := wireOf(t, parsed(t, c.own))
		require.JSONEq(t, c.want, got, what)
		require.True(t, mended, what)
	}
	got, _ := wireOf(t, deepSchema(40))
	require.Equal(t, maxLevels+1, strings.Count(got, `"sub"`), "an over-deep one ends in any object")
	require.Contains(t, got, `"sub":{"properties":{},"type":"object"}`)
}

func TestSchema_ValidOnesStayUnchanged(t *testing.T) {
	for _, own := range []string{
		`{"type":"object","properties":{}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"string","minLength":1,"enum":["x"]},"b":{"type":"array","items":{"type":"object","properties":{"c":{"anyOf":[{"type":"string"},{"type":"null"}]}}}}},"required":["a"],"additionalProperties":false}`,
	} {
		got, mended := wireOf(t, parsed(t, own))
		require.JSONEq(t, own, got)
		require.False(t, mended)
	}
}

// Whatever a server's schema is: what the model sees passes everywhere, is made in bounded
// time, and the server's own is as it was.
func TestSchema_RepairedOnesPassEverywhere(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range race.Cases(2000) {
		own := randomSchema(r, 0)
		own["$defs"] = map[string]any{"A": randomSchema(r, 1), "B": randomSchema(r, 1)}
		delete(own, "type")
		before, err := json.Marshal(own)
		require.NoError(t, err)
		m := schemaRepairer{root: own}
		wire, _ := m.renameProperties(m.rootObject())
		after, err := json.Marshal(own)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), "the server's own is not changed")
		require.Equal(t, "object", wire["type"])
		require.NotNil(t, wire["properties"])
		for _, keyword := range []string{"anyOf", "oneOf", "allOf", "not", "enum"} {
			require.NotContains(t, wire, keyword)
		}
		passes(t, wire, 0)
	}
	// References double what they stand for with each of them.
	defs := map[string]any{"d0": map[string]any{"type": "string"}}
	for i := range 60 {
		ref := map[string]any{"$ref": fmt.Sprintf("#/$defs/d%d", i)}
		defs[fmt.Sprintf("d%d", i+1)] = map[string]any{"type": "object", "properties": map[string]any{"a": ref, "b": ref, "c": ref, "d": ref}}
	}
	got, _ := wireOf(t, map[string]any{"type": "object", "properties": map[string]any{"x": map[string]any{"$ref": "#/$defs/d60"}}, "$defs": defs})
	require.Less(t, len(got), 1<<20)
}

// passes checks every part of a schema.
func passes(t *testing.T, node map[string]any, level int) {
	t.Helper()
	require.LessOrEqual(t, level, maxLevels+2)
	if level > 0 {
		require.NotEmpty(t, node)
	}
	for _, keyword := range []string{"$ref", "$defs", "definitions", "prefixItems"} {
		require.NotContains(t, node, keyword)
	}
	_, isList := node["type"].([]any)
	require.False(t, isList)
	if node["type"] == "object" {
		require.NotNil(t, node["properties"])
	}
	if node["type"] == "array" {
		require.IsType(t, map[string]any{}, node["items"])
	}
	each := func(v any) {
		if sub, ok := v.(map[string]any); ok {
			passes(t, sub, level+1)
		}
	}
	if props, ok := node["properties"].(map[string]any); ok {
		for name, p := range props {
			require.IsType(t, map[string]any{}, p)
			require.Regexp(t, `^[a-zA-Z0-9_.-]{1,64}$`, name)
			each(p)
		}
	}
	for _, keyword := range []string{"items", "additionalProperties", "not"} {
		each(node[keyword])
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := node[keyword].([]any)
		for _, s := range list {
			each(s)
		}
	}
}

// randomSchema is a schema with whatever servers write.
func randomSchema(r *rand.Rand, depth int) map[string]any {
	node := map[string]any{}
	if r.IntN(3) > 0 {
		node["type"] = []any{"object", "array", "string", []any{"string", "null"}, []any{"object", "array"}, []any{"integer", "string", "null"}, []any{"null"}}[r.IntN(7)]
	}
	if depth > 12 || r.IntN(4) == 0 {
		return node
	}
	sub := func() any {
		switch r.IntN(8) {
		case 0:
			return map[string]any{"$ref": []string{"#/$defs/A", "#/$defs/B", "#", "#/$defs/none", "other"}[r.IntN(5)]}
		case 1:
			return r.IntN(2) == 0
		}
		return randomSchema(r, depth+1)
	}
	for range r.IntN(3) {
		switch r.IntN(6) {
		case 0, 1:
			node["properties"] = map[string]any{"a": sub(), []string{"b", "b c", "b/c", "b_c", ""}[r.IntN(5)]: sub()}
		case 2:
			node["items"] = sub()
		case 3:
			node[[]string{"items", "prefixItems"}[r.IntN(2)]] = []any{sub(), sub()}
		case 4:
			node[[]string{"anyOf", "oneOf", "allOf"}[r.IntN(3)]] = []any{sub(), sub()}
		case 5:
			node[[]string{"not", "additionalProperties"}[r.IntN(2)]] = sub()
		}
	}
	return node
}

// Arguments that fit what the model sees and not what the server has do not reach it.
//
//claim:mcp-53
func TestArguments_CheckedAgainstTheServersSchema(t *testing.T) {
	f := newFixture()
	run := func(context.Context, args) (*mcp.CallToolResult, error) { return text("ran"), nil }
	f.add(&mcp.Tool{Name: "either", InputSchema: json.RawMessage(`{"type":"object","oneOf":[{"properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false},{"properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}]}`)}, run)
	s := open(t, map[string]Server{"srv": f.inMemory()}, Options{})
	require.Equal(t, "ran", ask(t, ctx, s, "srv__either", `{"text":"x"}`))
	require.Equal(t, "ran", ask(t, ctx, s, "srv__either", `{"n":1}`))
	answer := ask(t, ctx, s, "srv__either", `{"text":"x","n":1}`)
	require.Contains(t, answer, "do not fit the tool's schema")
	require.Less(t, len(answer), 2*maxMisfitBytes)
	require.Contains(t, ask(t, ctx, s, "srv__either", `{}`), "The call did not run")
	require.Equal(t, 2, f.called("either"))
}

// What the model sees under another name reaches the server under its own, at every level, and
// numbers stay as they are.
//
//claim:mcp-55
func TestArguments_RestorePropertyNames(t *testing.T) {
	f := newFixture()
	var got string
	own := `{"type":"object","properties":{"$top":{"type":"integer"},"rows":{"type":"array","items":{"type":"object","properties":{"@id":{"type":"string"}},"required":["@id"],"additionalProperties":false}}},"required":["$top"],"additionalProperties":false}`
	f.server.AddTool(&mcp.Tool{Name: "list", InputSchema: json.RawMessage(own)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		got = string(r.Params.Arguments)
		return text("ran"), nil
	})
	s := open(t, map[string]Server{"srv": f.inMemory()}, Options{})
	info, err := find(t, ctx, s, "srv__list").Info(ctx)
	require.NoError(t, err)
	params, err := info.ToJSONSchema()
	require.NoError(t, err)
	data, err := json.Marshal(params)
	require.NoError(t, err)
	require.NotContains(t, string(data), "$top")
	require.Equal(t, "ran", ask(t, ctx, s, "srv__list", `{"_top":12345678901234567890,"rows":[{"_id":"a"},{"@id":"b"}]}`))
	require.JSONEq(t, `{"$top":12345678901234567890,"rows":[{"@id":"a"},{"@id":"b"}]}`, got)
	require.Contains(t, got, "12345678901234567890")
	require.Contains(t, ask(t, ctx, s, "srv__list", `{"_top":"many"}`), "do not fit the tool's schema")
	require.Contains(t, ask(t, ctx, s, "srv__list", `{"_top":1,"$top":2}`), "do not fit the tool's schema", "nothing is lost")
}

func FuzzRepairSchema(f *testing.F) {
	for _, seed := range []string{`{"$ref":"#"}`, `{"properties":5,"anyOf":{},"type":[1]}`, `{"allOf":[{"$ref":"#/allOf/0"}]}`, `{"items":[],"type":"array","prefixItems":{}}`, `{"properties":{"a":{"$ref":"#/properties/a"}}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var own any
		if json.Unmarshal([]byte(text), &own) != nil {
			return
		}
		params, _, _, err := repairedParameters(&mcp.Tool{Name: "x", InputSchema: own})
		if err == nil {
			_, err = params.ToJSONSchema()
			require.NoError(t, err)
		}
	})
}
