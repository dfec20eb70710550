// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// keywordValues are keywords with a value that each may have.
var keywordValues = map[string]string{
	"type": `"object"`, "title": `"t"`, "description": `"d"`, "$comment": `"c"`, "$schema": `"https://json-schema.org/draft/2020-12/schema"`,
	"$id": `"https://example.com/a"`, "$anchor": `"a"`, "format": `"date"`, "pattern": `"^a"`, "contentEncoding": `"base64"`,
	"contentMediaType": `"text/plain"`, "contentSchema": `{"type":"string"}`, "deprecated": `true`, "readOnly": `false`, "writeOnly": `true`,
	"uniqueItems": `false`, "maxLength": `10`, "minLength": `0`, "maxItems": `3`, "minItems": `0`, "maxContains": `2`, "minContains": `0`,
	"maxProperties": `9`, "minProperties": `0`, "maximum": `12345678901234567890`, "minimum": `-1.50`, "exclusiveMaximum": `1e3`,
	"exclusiveMinimum": `0`, "multipleOf": `0.01`, "required": `["p"]`, "dependentRequired": `{"p":["q"]}`, "enum": `[null,12345678901234567890,"x"]`,
	"const": `{"a":null}`, "default": `null`, "examples": `[null,{"a":1}]`, "properties": `{"p":{"type":"string"}}`,
	"patternProperties": `{"^x":{"type":"string"}}`, "additionalProperties": `false`, "propertyNames": `{"maxLength":5}`,
	"dependentSchemas": `{"p":{"required":["q"]}}`, "items": `{"type":"string"}`, "prefixItems": `[{"type":"string"}]`, "contains": `{"type":"string"}`,
	"allOf": `[{"title":"t"}]`, "anyOf": `[{"title":"t"},true]`, "oneOf": `[{"title":"t"}]`, "not": `{"type":"string"}`, "if": `{"type":"string"}`,
	"then": `{"type":"string"}`, "else": `false`, "$defs": `{"a":{"type":"string"}}`, "definitions": `{"a":{"type":"string"}}`,
	"unevaluatedProperties": `false`, "unevaluatedItems": `{"type":"string"}`,
	"x-order": `{"null":null,"type":5}`,
}

// nullable are keywords for which null is a value.
var nullable = []string{"const", "default", "examples"}

// rest is a schema without a keyword, as it stands beside one that is wrong.
func restWithout(keyword string) string {
	var members []string
	for _, name := range slices.Sorted(maps.Keys(keywordValues)) {
		if name != keyword {
			members = append(members, fmt.Sprintf("%q:%s", name, keywordValues[name]))
		}
	}
	return strings.Join(members, ",")
}

// at puts a schema at a depth.
func at(depth int, node string) string {
	return []string{node, `{"type":"object","properties":{"a":` + node + `}}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[` + node + `]}}}}`}[depth]
}

func readText(t *testing.T, text string) string {
	t.Helper()
	p, err := Read([]byte(text))
	require.NoError(t, err, text)
	s, err := p.ToJSONSchema()
	require.NoError(t, err)
	data, err := json.Marshal(s)
	require.NoError(t, err)
	return string(data)
}

func TestRead_ValidSchemaComesOutAsItWentIn(t *testing.T) {
	for keyword, value := range keywordValues {
		for depth := range 3 {
			own := at(depth, fmt.Sprintf(`{%q:%s}`, keyword, value))
			require.JSONEq(t, own, readText(t, own), own)
			require.Contains(t, readText(t, own), value)
		}
	}
	for depth := range 3 {
		own := at(depth, "{"+restWithout("")+"}")
		require.JSONEq(t, own, readText(t, own))
	}
	for _, own := range []string{
		`{"required":[]}`, `{"enum":[""]}`, `{"properties":{}}`, `{"description":"","title":""}`, `{"const":null}`, `{"const":0}`, `{"default":false}`,
		`{"default":[]}`, `{"$defs":{}}`, `{"anyOf":[{},{"type":"null"}]}`,
	} {
		got := readText(t, own)
		require.JSONEq(t, strings.ReplaceAll(own, "{},", "true,"), got) // an empty schema is written as true
	}
}

func TestRead_NumbersThatNoFloatHoldsStay(t *testing.T) {
	const own = `{"properties":{"a":{"enum":[1e400,"x"],"title":"t","default":1e400}}}`
	require.Equal(t, own, readText(t, own))
}

func TestRead_NullKeywordCountsAsAbsent(t *testing.T) {
	for keyword := range keywordValues {
		if keyword == "x-order" {
			continue // whose values are its own
		}
		for depth := range 3 {
			rest := restWithout(keyword)
			got := readText(t, at(depth, fmt.Sprintf(`{%q:null,%s}`, keyword, rest)))
			if slices.Contains(nullable, keyword) {
				require.JSONEq(t, at(depth, fmt.Sprintf(`{%q:null,%s}`, keyword, rest)), got)
				continue
			}
			require.Equal(t, readText(t, at(depth, "{"+rest+"}")), got, "%s at depth %d", keyword, depth)
		}
	}
}

// A value of any other type than the keyword's leaves the rest of the schema as it is.
func TestRead_WrongValueLeavesTheRest(t *testing.T) {
	without := func(text, keyword string, depth int) string {
		var tree any
		require.NoError(t, json.Unmarshal([]byte(text), &tree))
		node, _ := tree.(map[string]any)
		if depth > 0 {
			node = node["properties"].(map[string]any)["a"].(map[string]any)
		}
		if depth > 1 {
			node = node["items"].(map[string]any)["anyOf"].([]any)[0].(map[string]any)
		}
		delete(node, keyword)
		delete(node, map[string]string{"prefixItems": "items", "items": "prefixItems"}[keyword]) // a list of items is a tuple
		out, err := json.Marshal(tree)
		require.NoError(t, err)
		return string(out)
	}
	for keyword := range keywordValues {
		for depth := range 3 {
			rest := without(readText(t, at(depth, "{"+restWithout(keyword)+"}")), keyword, depth)
			for _, wrong := range []string{`"a"`, `""`, `5`, `-0.5`, `10.0`, `true`, `[]`, `["a",5,null]`, `{}`, `{"a":5}`, `{"a":[]}`} {
				text := at(depth, fmt.Sprintf(`{%q:%s,%s}`, keyword, wrong, restWithout(keyword)))
				require.Equal(t, rest, without(readText(t, text), keyword, depth), "%s: %s at depth %d", keyword, wrong, depth)
			}
		}
	}
}

func TestRead_RepairsWhatIsCertain(t *testing.T) {
	for own, want := range map[string]string{
		`null`: `true`, ``: `true`,
		`{"properties":{"a":{}},"required":"a"}`:   `{"properties":{"a":true},"required":["a"]}`,
		`{"required":"yes","title":"t"}`:           `{"title":"t"}`,
		`{"required":["a",null,"a",5]}`:            `{"required":["a"]}`,
		`{"required":true,"title":"t"}`:            `{"title":"t"}`,
		`{"maxLength":10.0}`:                       `{"maxLength":10}`,
		`{"maxLength":"10"}`:                       `{"maxLength":10}`,
		`{"maxLength":-1,"title":"t"}`:             `{"title":"t"}`,
		`{"maxLength":1e400,"title":"t"}`:          `{"title":"t"}`,
		`{"minimum":"0.5"}`:                        `{"minimum":0.5}`,
		`{"minimum":2,"exclusiveMinimum":true}`:    `{"minimum":2}`,
		`{"minimum":2,"exclusiveMinimum":false}`:   `{"minimum":2}`,
		`{"exclusiveMinimum":true,"title":"t"}`:    `{"title":"t"}`,
		`{"multipleOf":0,"title":"t"}`:             `{"title":"t"}`,
		`{"deprecated":"use a","title":"t"}`:       `{"title":"t"}`,
		`{"type":"any","title":"t"}`:               `{"title":"t"}`,
		`{"type":"int"}`:                           `{"type":"integer"}`,
		`{"type":"FILE"}`:                          `{"type":"string"}`,
		`{"type":["String",null]}`:                 `{"type":["string","null"]}`,
		`{"type":["string","any"],"title":"t"}`:    `{"title":"t"}`,
		`{"type":[],"title":"t"}`:                  `{"title":"t"}`,
		`{"anyOf":{"type":"string"}}`:              `{"anyOf":[{"type":"string"}]}`,
		`{"anyOf":[null,{"type":"string"},"x"]}`:   `{"anyOf":[{"type":"string"}]}`,
		`{"Type":null,"TITLE":5,"title":"t"}`:      `{"title":"t"}`,
		`{"enum":"a","title":"t"}`:                 `{"title":"t"}`,
		`{"enum":[],"title":"t"}`:                  `{"title":"t"}`,
		`{"properties":{"a":null,"b":"string"}}`:   `{"properties":{"a":true,"b":true}}`,
		`{"items":[{"type":"string"}]}`:            `{"prefixItems":[{"type":"string"}]}`,
		`{"items":[true],"additionalItems":false}`: `{"prefixItems":[true],"items":false}`,
	} {
		require.JSONEq(t, want, readText(t, own), own)
	}
	for _, own := range []string{`[]`, `"a"`, `5`, `true`, `{`, `{}{}`} {
		_, err := Read([]byte(own))
		require.Error(t, err, own)
	}
}

func FuzzRead(f *testing.F) {
	for keyword, value := range keywordValues {
		f.Add(fmt.Sprintf(`{%q:%s}`, keyword, value))
		f.Add(fmt.Sprintf(`{"properties":{"a":{%q:null}}}`, keyword))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Read([]byte(text))
		if err != nil {
			return
		}
		s, err := p.ToJSONSchema()
		require.NoError(t, err)
		once, err := json.Marshal(s)
		require.NoError(t, err)
		if string(once) != "true" {
			require.Equal(t, string(once), readText(t, string(once)), "reading it again changes nothing")
		}
	})
}
