// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolschema

// The limits of checking values, one case on each side of each.

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The work of a pattern is its instructions times the bytes it is matched with.
//
//claim:security-19
func TestValidate_WorkIsBounded(t *testing.T) {
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
		{"the largest schema", `{"type":"integer","description":"` + strings.Repeat("x", MaxCheckedBytes-36) + `"}`, text(1), true},
		{"a larger schema", `{"type":"integer","description":"` + strings.Repeat("x", MaxCheckedBytes-34) + `"}`, text(1), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Compile(c.schema).Validate(c.value)
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

// A member named "pattern" within data is not a pattern.
func TestCompile_IgnoresPatternsInData(t *testing.T) {
	c := Compile(`{"properties":{"pattern":{"type":"string","enum":["(","a"]},"a":{"default":{"pattern":"("}}},"patternProperties":{"^n":{"type":"integer"}}}`)
	require.NotNil(t, c)
	require.NoError(t, c.Validate(map[string]any{"pattern": "(", "n": int64(1)}))
	require.Error(t, c.Validate(map[string]any{"pattern": "b"}))
	require.Error(t, c.Validate(map[string]any{"n": "x"}))
}
