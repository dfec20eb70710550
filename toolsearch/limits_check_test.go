// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The limits of checking arguments and of reading schemas, one case on each side of each.

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

// Work is a pattern's instructions times the bytes it is matched with.
func TestTheWorkOfCheckingArgumentsIsBounded(t *testing.T) {
	const slow = `^([a-z]{1,20}[0-9]?){20}$`
	n, ok := instructions(slow)
	require.True(t, ok)
	fits := (maxCheckSteps - 5_000) * workPerStep / n // what is left pays for walking there
	pattern := func(p string) string {
		return `{"properties":{"a":{"type":"string","pattern":` + encodeText(p) + `}}}`
	}
	text := func(n int) map[string]any { return map[string]any{"a": strings.Repeat("A", n)} }
	items := func(n int) map[string]any {
		return map[string]any{"a": make([]any, n)}
	}
	deep := func(n int) any {
		var v any = "leaf"
		for range n {
			v = map[string]any{"x": v}
		}
		return v
	}
	patterns := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"^a{900}%d":{"type":"integer"},`, i)
		}
		return `{"properties":{"a":{"type":"integer"}},"patternProperties":{` + strings.TrimSuffix(b.String(), ",") + `}}`
	}
	const recursive = `{"properties":{"x":{"$ref":"#"}},"not":{"type":"object"},"type":"object"}`
	for _, c := range []struct {
		name    string
		schema  string
		value   any
		checked bool
	}{
		{"a pattern and a text", pattern(slow), text(fits), true},
		{"a pattern and a longer text", pattern(slow), text(maxCheckSteps * workPerStep / n), false},
		{"a pattern of many instructions", pattern("a{1000}"), text(9_000), true},
		{"a longer text for it", pattern("a{1000}"), text(11_000), false},
		{"the longest pattern", pattern(strings.Repeat("a", maxPatternBytes)), text(1), true},
		{"a longer pattern", pattern(strings.Repeat("a", maxPatternBytes+1)), text(1), false},
		{"patterns of as many instructions as are compiled", patterns(maxInstructions / 910), text(1), true},
		{"patterns of more instructions", patterns(maxInstructions/900 + 1), text(1), false},
		{"names that patterns are matched with", patterns(10), map[string]any{"a": "x", strings.Repeat("b", 900): 1}, true},
		{"names that are longer", patterns(10), map[string]any{"a": "x", strings.Repeat("b", 1200): 1}, false},
		{"a list", `{"properties":{"a":{"items":{"type":"integer"}}}}`, items(45_000), true},
		{"a longer list", `{"properties":{"a":{"items":{"type":"integer"}}}}`, items(maxCheckSteps), false},
		{"a deep value", recursive, deep(maxCheckDepth/2 - 1), true},
		{"a deeper value", recursive, deep(maxCheckDepth/2 + 1), false},
		{"the largest schema", `{"type":"integer","description":"` + strings.Repeat("x", maxSchemaBytes-36) + `"}`, text(1), true},
		{"a larger schema", `{"type":"integer","description":"` + strings.Repeat("x", maxSchemaBytes-34) + `"}`, text(1), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := compile(c.schema).validate(c.value)
			require.Equal(t, c.checked, err != nil, "%.300v", err) // no value here fits its schema
		})
	}
}

func encodeText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// A word that is data is no pattern, whatever it says.
func TestOnlyPatternsCountAsPatterns(t *testing.T) {
	c := compile(`{"properties":{"pattern":{"type":"string","enum":["(","a"]},"a":{"default":{"pattern":"("}}},"patternProperties":{"^n":{"type":"integer"}}}`)
	require.NotNil(t, c)
	require.NoError(t, c.validate(map[string]any{"pattern": "(", "n": int64(1)}))
	require.Error(t, c.validate(map[string]any{"pattern": "b"}))
	require.Error(t, c.validate(map[string]any{"n": "x"}))
}

// What an index reads of a schema.
func TestWhatIsIndexedOfASchemaIsBounded(t *testing.T) {
	wide := func(n, bytes int) string {
		params := make([]string, n)
		for i := range params {
			params[i] = fmt.Sprintf(`"p%04d":{"description":%q}`, i, strings.Repeat("d", bytes))
		}
		return `{"type":"object","properties":{` + strings.Join(params, ",") + `}}`
	}
	deep := func(n int) string {
		return strings.Repeat(`{"properties":{"x":`, n) + `{"type":"string"}` + strings.Repeat("}}", n)
	}
	enum := func(n int) string {
		return `{"properties":{"p":{"enum":[0` + strings.Repeat(",1", n-1) + `]}}}`
	}
	read := func(text string) *schema.ToolInfo {
		s, err := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{}).ToJSONSchema()
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal([]byte(text), s))
		return &schema.ToolInfo{Name: "t", ParamsOneOf: schema.NewParamsOneOfByJSONSchema(s)}
	}
	for _, c := range []struct {
		name   string
		schema string
		params int
		whole  bool // the schema can be sent to a model
	}{
		{"as many parameters as are indexed", wide(maxIndexed, 0), maxIndexed, true},
		{"one more", wide(maxIndexed+1, 0), maxIndexed, true},
		{"as many bytes as are indexed", wide(4, maxIndexedBytes/4-5), 4, true},
		{"one byte more each", wide(4, maxIndexedBytes/4-4), 3, true},
		{"as deep as is indexed", deep(maxIndexedDepth), maxIndexedDepth, true},
		{"one deeper", deep(maxIndexedDepth + 1), maxIndexedDepth, true},
		{"as deep as is read", deep(maxSchemaDepth - 1), maxIndexedDepth, true},
		{"deeper than is read", deep(maxSchemaDepth), maxIndexedDepth, false},
		{"as many nodes as are read", wide(maxSchemaNodes/12, 0), maxIndexed, true},
		{"more nodes than are read", wide(maxSchemaNodes+1, 0), maxIndexed, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			info := read(c.schema)
			require.Len(t, parameters(info), c.params)
			require.Equal(t, c.whole, schemaText(info) != noParameters)
		})
	}
	for n, want := range map[int]int{49: 49, 50: 50, 51: 50} {
		require.Len(t, parameters(read(enum(n)))[0].Enum, want)
	}
}

func TestTextsForTheModelAreCut(t *testing.T) {
	for _, c := range []struct {
		name      string
		cut, long string
	}{
		{"a description", short(strings.Repeat("ü", maxShort)), short(strings.Repeat("ü", maxShort+1))},
		{"what is wrong with arguments", validationText(fmt.Errorf("%s", strings.Repeat("ü", 400))), validationText(fmt.Errorf("%s", strings.Repeat("ü", 401)))},
	} {
		require.False(t, strings.HasSuffix(c.cut, "…"), c.name)
		require.True(t, strings.HasSuffix(c.long, "…"), c.name)
		require.LessOrEqual(t, len([]rune(c.long)), len([]rune(c.cut))+1, c.name)
	}
}
