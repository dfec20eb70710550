// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Small flaws in the schemas of servers, and whose names the keys of arguments are.

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// keywordsWith are keywords with a value that each may have, in schemas that pass everywhere.
var keywordsWith = map[string]string{
	"type": `"object"`, "title": `"t"`, "description": `"d"`, "$comment": `"c"`, "$schema": `"https://json-schema.org/draft/2020-12/schema"`,
	"format": `"date"`, "pattern": `"^a"`, "contentEncoding": `"base64"`, "contentMediaType": `"text/plain"`, "deprecated": `true`,
	"readOnly": `true`, "writeOnly": `true`, "uniqueItems": `true`, "maxLength": `10`, "minLength": `1`, "maxItems": `3`, "minItems": `1`,
	"maxProperties": `9`, "minProperties": `1`, "maximum": `12345678901234567890`, "minimum": `-1.5`, "exclusiveMaximum": `1e3`,
	"exclusiveMinimum": `0`, "multipleOf": `0.01`, "required": `["p"]`, "default": `{"a":null}`, "examples": `[null,{"a":1}]`,
	"properties": `{"p":{"type":"string"}}`, "patternProperties": `{"^x":{"type":"string"}}`, "additionalProperties": `false`,
	"propertyNames": `{"maxLength":5}`, "dependentRequired": `{"p":["q"]}`, "dependentSchemas": `{"p":{"required":["q"]}}`,
	"items": `{"type":"string"}`, "contains": `{"type":"string"}`, "unevaluatedProperties": `false`,
}

// schemaAt is a schema in which one stands at a depth.
func schemaAt(depth int, node string) string {
	return []string{node, `{"type":"object","properties":{"a":` + node + `}}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":` + node + `}}}}}`}[depth]
}

// nodeIn is the schema that stands at a depth of another, as JSON, without a keyword.
func nodeIn(t *testing.T, schema string, depth int, without string) string {
	t.Helper()
	node := parsed(t, schema)
	for _, step := range [][]string{{}, {"properties", "a"}, {"properties", "a", "items", "properties", "b"}}[depth] {
		node = node[step].(map[string]any)
	}
	delete(node, without)
	text, err := json.Marshal(node)
	require.NoError(t, err)
	return string(text)
}

// schemaWith is a schema of all keywords, of which one has another value; "" leaves it out.
func schemaWith(keyword, value string) string {
	var members []string
	for _, name := range slices.Sorted(maps.Keys(keywordsWith)) {
		switch {
		case name != keyword:
			members = append(members, fmt.Sprintf("%q:%s", name, keywordsWith[name]))
		case value != "":
			members = append(members, fmt.Sprintf("%q:%s", name, value))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// listedTool is the schema of a tool as the model sees it after the server has listed it.
func listedTool(t *testing.T, inputSchema string) (*Servers, string) {
	t.Helper()
	f := listing(func(string) (*mcp.ListToolsResult, error) {
		return &mcp.ListToolsResult{Tools: []*mcp.Tool{{Name: "x", InputSchema: json.RawMessage(inputSchema)}}}, nil
	})
	f.server.AddTool(&mcp.Tool{Name: "x", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(string(r.Params.Arguments)), nil
	})
	s := open(t, map[string]Server{"srv": f.inMemory()}, Options{})
	info, err := find(t, ctx, s, "srv__x").Info(ctx)
	require.NoError(t, err)
	params, err := info.ToJSONSchema()
	require.NoError(t, err)
	data, err := json.Marshal(params)
	require.NoError(t, err)
	return s, string(data)
}

func TestSchema_ValidKeywordsComeOutAsTheyWentIn(t *testing.T) {
	for depth := range 3 {
		own := schemaAt(depth, schemaWith("", ""))
		got, mended := wireOf(t, exactSchema(t, own))
		require.JSONEq(t, own, got)
		require.Contains(t, got, "12345678901234567890")
		require.False(t, mended)
	}
}

// exactSchema is a schema as it is read from a server.
func exactSchema(t *testing.T, text string) any {
	t.Helper()
	v, err := decodeExact(json.RawMessage(text))
	require.NoError(t, err)
	return v
}

func TestSchema_NullKeywordCountsAsAbsent(t *testing.T) {
	for _, keyword := range append(slices.Sorted(maps.Keys(keywordsWith)), "enum", "const", "anyOf", "$ref", "not") {
		for depth := range 3 {
			got, _ := wireOf(t, exactSchema(t, schemaAt(depth, schemaWith(keyword, "null"))))
			want, _ := wireOf(t, exactSchema(t, schemaAt(depth, schemaWith(keyword, ""))))
			switch keyword {
			case "default", "examples":
				require.Contains(t, nodeIn(t, got, depth, ""), fmt.Sprintf(`%q:null`, keyword))
				got, want = nodeIn(t, got, depth, keyword), nodeIn(t, want, depth, keyword)
			}
			require.Equal(t, want, got, "%s at depth %d", keyword, depth)
		}
	}
	got, _ := wireOf(t, exactSchema(t, `{"type":"object","properties":{"a":{"const":null},"b":{"enum":[null,"x"]},"c":{"default":null,"type":"string"}}}`))
	require.JSONEq(t, `{"type":"object","properties":{"a":{"const":null},"b":{"enum":[null,"x"]},"c":{"default":null,"type":"string"}}}`, got)
}

func TestSchema_NullTypeFromServerKeepsTheTool(t *testing.T) {
	s, got := listedTool(t, `{"type":"object","properties":{"a":{"type":null,"title":"A"},"b":{"type":"string","enum":null}},"required":null}`)
	require.JSONEq(t, `{"type":"object","properties":{"a":{"title":"A"},"b":{"type":"string"}}}`, got)
	require.Equal(t, `{"a":1}`, ask(t, ctx, s, "srv__x", `{"a":1}`))
}

func TestSchema_WrongValueLeavesTheRest(t *testing.T) {
	for _, keyword := range append(slices.Sorted(maps.Keys(keywordsWith)), "enum", "anyOf", "$ref", "not") {
		for depth := range 3 {
			want, _ := wireOf(t, exactSchema(t, schemaAt(depth, schemaWith(keyword, ""))))
			for _, wrong := range []string{`"a"`, `5`, `["a",5]`, `{"a":5}`, `true`, `[]`} {
				if wrong == `"a"` && keyword == "$schema" || keyword == "anyOf" || keyword == "not" || keyword == "items" {
					continue // a valid value, or one that another keyword depends on
				}
				got, _ := wireOf(t, exactSchema(t, schemaAt(depth, schemaWith(keyword, wrong))))
				if depth == 0 && keyword == "properties" || keyword == "type" && depth == 0 {
					require.Contains(t, got, `"type":"object"`)
				}
				require.Equal(t, nodeIn(t, want, depth, keyword), nodeIn(t, got, depth, keyword), "%s: %s at depth %d", keyword, wrong, depth)
			}
		}
	}
}

// A value in a place that the schema leaves open reaches the server byte for byte.
func TestArguments_FreeFormValuesArriveByteForByte(t *testing.T) {
	const own = `{"type":"object","properties":{"@id":{"type":"string"},"document":{"type":"object"},"any":true,"list":{"type":"array","items":{"type":"object","properties":{"$n":{"type":"integer"}}}},` +
		`"tree":{"$ref":"#/$defs/T"},"map":{"type":"object","additionalProperties":{"type":"object","properties":{"@id":{}}}},"either":{"anyOf":[{"type":"string"},{"type":"object","properties":{"@id":{}}}]}},` +
		`"$defs":{"T":{"type":"object","properties":{"@id":{"type":"string"},"next":{"$ref":"#/$defs/T"},"data":{}}}}}`
	s, shown := listedTool(t, own)
	require.NotContains(t, shown, "@id")
	for args, want := range map[string]string{
		`{"document":{"_id":"abc"}}`:                                   `{"document":{"_id":"abc"}}`,
		`{"_id":"a","document":{"_id":1.00,"_n":[1e2,"\u00e9"]}}`:      `{"@id":"a","document":{"_id":1.00,"_n":[1e2,"\u00e9"]}}`,
		`{"any":[{"_id":1}],"list":[{"_n":1,"_id":2},{"x":{"_n":1}}]}`: `{"any":[{"_id":1}],"list":[{"$n":1,"_id":2},{"x":{"_n":1}}]}`,
		`{"tree":{"_id":"1","next":{"_id":"2","data":{"_id":"3"}}}}`:   `{"tree":{"@id":"1","next":{"@id":"2","data":{"_id":"3"}}}}`,
		`{"map":{"_id":{"_id":{"_id":1}}},"either":{"_id":"x"}}`:       `{"map":{"_id":{"@id":{"_id":1}}},"either":{"@id":"x"}}`,
		`{"_n":1,"_id":"a","@id":"b"}`:                                 `{"_n":1,"_id":"a","@id":"b"}`,
	} {
		require.Equal(t, want, ask(t, ctx, s, "srv__x", args))
	}
}

// Whatever the values are: keys change only where the schema declares the property.
func TestArguments_OnlyDeclaredKeysAreRestored(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var value func(depth int, declared bool) (sent, want string)
	value = func(depth int, declared bool) (sent, want string) {
		if depth == 0 {
			scalar := []string{`1.0`, `"_id"`, `null`, `"@id"`, `1e+2`}[r.IntN(5)]
			return scalar, scalar
		}
		if r.IntN(4) == 0 && !declared {
			sent, want = value(depth-1, false)
			return "[ " + sent + "]", "[ " + want + "]"
		}
		var members, own []string
		for _, key := range []string{"_id", "free", "sub"} {
			if r.IntN(3) == 0 {
				continue
			}
			sent, want = value(r.IntN(depth), false)
			if key == "sub" && declared {
				sent, want = value(depth-1, true)
				if depth == 1 {
					sent, want = "{}", "{}"
				}
			}
			members = append(members, fmt.Sprintf("%q :%s", key, sent))
			if key == "_id" && declared {
				key = "@id"
			}
			own = append(own, fmt.Sprintf("%q :%s", key, want))
		}
		return "{" + strings.Join(members, " , ") + "}", "{" + strings.Join(own, " , ") + "}"
	}
	root := parsed(t, `{"type":"object","properties":{"@id":{},"free":{"type":"object"},"sub":{"$ref":"#"}}}`)
	for range race.Cases(10_000) {
		sent, want := value(1+r.IntN(6), true)
		require.Equal(t, want, string(propertyNames{"_id": "@id"}.restore(root, []byte(sent))))
	}
}
