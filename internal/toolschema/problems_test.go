// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolschema

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/textstest"
	"github.com/einolean/einolean/internal/prompt"
)

func TestProblems_SayWhatIsWrongInPlainWords(t *testing.T) {
	const tree = `{"type":"object","properties":{"value":{"type":"integer"},"next":{"$ref":"#"}},"required":["value"]}`
	for _, c := range []struct{ schema, value, en, zh string }{
		{`{"properties":{"city":{"type":"string"}}}`, `{"city":{"name":"Oslo"}}`,
			"city: must be a string, is an object", "city：应为字符串，现为对象"},
		{`{"properties":{"a":{"type":["string","null"]}}}`, `{"a":7}`, "a: must be a string or null, is an integer", "a：应为字符串或空值，现为整数"},
		{`{"properties":{"a":{"type":"integer"}}}`, `{"a":1.5}`, "a: must be an integer, is a number", "a：应为整数，现为数字"},
		{`{"type":"object"}`, `[1]`, "must be an object, is a list", "应为对象，现为列表"},
		{`{"required":["a","b"]}`, `{}`, "missing: a, b", "缺少：a, b"},
		{`{"properties":{"a":{"required":["b"]}}}`, `{"a":{}}`, "a: missing: b", "a：缺少：b"},
		{`{"properties":{"a":{}},"additionalProperties":false}`, `{"a":1,"c":2,"b":3}`, "unknown: b, c", "没有这些参数：b, c"},
		{`{"properties":{"u":{"enum":["km","mile",3]}}}`, `{"u":"feet"}`, `u: must be one of "km", "mile", 3`,
			`u：只能是以下之一："km", "mile", 3`},
		{`{"properties":{"n":{"minimum":1,"maximum":5}}}`, `{"n":7}`, "n: must be at most 5", "n：不能大于 5"},
		{`{"properties":{"n":{"exclusiveMinimum":0.5}}}`, `{"n":0.5}`, "n: must be more than 0.5", "n：必须大于 0.5"},
		{`{"properties":{"s":{"pattern":"^[a-z]+$","minLength":3}}}`, `{"s":"A"}`,
			`s: is too short: at least 3 characters; s: must match the pattern "^[a-z]+$"`, ""},
		{`{"properties":{"l":{"items":{"type":"string"}}}}`, `{"l":["a",2,null]}`,
			"l[1]: must be a string, is an integer; l[2]: must be a string, is null", ""},
		{`{"properties":{"l":{"maxItems":1,"uniqueItems":true}}}`, `{"l":[1,1]}`,
			"l: is too long: at most 1 items; l: has an item twice", ""},
		{tree, `{"value":1,"next":{"value":2,"next":{"value":"three"}}}`, "next.next.value: must be an integer, is a string", ""},
		{`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"a":[]}`,
			"a: must be null or a string, is a list", ""},
		{`{"properties":{"a":{"anyOf":[{"type":"object","required":["mail"]},{"type":"null"}]}}}`, `{"a":{}}`, "a: missing: mail", ""},
		{`{"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, "fits none of the alternatives", "不符合任何一种可选形式"},
		{`{"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"a":1,"b":2}`, "fits more than one of the alternatives", ""},
		{`{"not":{"required":["a"]}}`, `{"a":1}`, "is not allowed", "不允许"},
		{`{"properties":{"a":{"const":"x"},"b":false}}`, `{"a":"y","b":1}`, `a: must be "x"; b: is not allowed`, ""},
		{`{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`, "missing: b", ""},
		{`{"contains":{"type":"string"}}`, `[1]`, "does not fit the schema", "不符合 schema"},
		{`{"properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"},"d":{"type":"string"}}}`,
			`{"a":1,"b":1,"c":1,"d":1}`,
			"a: must be a string, is an integer; b: must be a string, is an integer; c: must be a string, is an integer", ""},
	} {
		textstest.InBothLanguages(t, texts, func(t *testing.T, language *prompt.Texts) {
			want := c.en
			if language == texts.Chinese() {
				want = c.zh
			}
			check, value := Compile(c.schema), decodeValue(t, c.value)
			require.Error(t, check.Validate(value))
			if got := JoinProblems(check.Problems(value)); want != "" {
				require.Equal(t, want, got)
			} else {
				require.NotEmpty(t, got)
			}
		})
	}
}

func decodeValue(t testing.TB, text string) (v any) {
	require.NoError(t, json.Unmarshal([]byte(text), &v))
	return v
}

// maxProblemsRunes is an upper bound of all that is said of a value.
const maxProblemsRunes = maxProblems * (maxProblemRunes + maxProblemPath + 10)

// requirePlain checks that a text is one short line without the syntax of a Go value.
func requirePlain(t testing.TB, text string) {
	t.Helper()
	require.NotEmpty(t, text)
	require.True(t, utf8.ValidString(text))
	require.LessOrEqual(t, utf8.RuneCountInString(text), maxProblemsRunes)
	require.NotContains(t, text, "\n")
	for _, r := range text {
		require.True(t, unicode.IsPrint(r), "%q", text)
	}
}

// goSyntax are parts of how Go prints values, and of how the validator speaks.
var goSyntax = []string{"map[", "[]any", "interface", "%!", "<nil>", "<invalid", "&{", "0x", "validating",
	"properties:", "float64"}

func requireNoGoSyntax(t testing.TB, text string) {
	t.Helper()
	for _, syntax := range goSyntax {
		require.NotContains(t, text, syntax)
	}
}

func TestProblems_AreShortAndPlainForAnySchema(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	rejected, unspecific := 0, 0
	for range 2000 { // also with -short: the share of few cases says nothing
		text, value := encodeJSON(t, randomSchema(r, 3)), randomValue(r, 3)
		check := Compile(text)
		if check.Validate(value) == nil {
			continue
		}
		rejected++
		got := JoinProblems(check.Problems(value))
		requirePlain(t, got)
		requireNoGoSyntax(t, got)
		require.Equal(t, got, JoinProblems(check.Problems(value)), "seed %d: %s", seed, text)
		if got == texts.English().Render("other", nil) {
			unspecific++
		}
	}
	require.Positive(t, rejected, "seed %d", seed)
	require.Less(t, unspecific*8, rejected, "seed %d: most problems are named", seed)
}

func encodeJSON(t testing.TB, v any) string {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

var valueKinds = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

func randomSchema(r *rand.Rand, depth int) any {
	s := map[string]any{}
	for range r.IntN(4) {
		keyword := []string{"type", "types", "enum", "const", "minimum", "maximum", "multipleOf", "minLength",
			"pattern", "maxItems", "uniqueItems",
			"required", "closed", "properties", "items", "anyOf", "oneOf", "allOf", "not", "if", "patternProperties"}[r.IntN(21)]
		sub := func() any {
			if depth == 0 {
				return map[string]any{"type": valueKinds[r.IntN(len(valueKinds))]}
			}
			return randomSchema(r, depth-1)
		}
		switch keyword {
		case "type":
			s["type"] = valueKinds[r.IntN(len(valueKinds))]
		case "types":
			s["type"] = []any{valueKinds[r.IntN(len(valueKinds))], valueKinds[r.IntN(len(valueKinds))]}
		case "enum":
			s["enum"] = []any{randomValue(r, 1), randomValue(r, 1)}
		case "const":
			s["const"] = randomValue(r, 1)
		case "minimum", "maximum", "multipleOf":
			s[keyword] = 1 + r.IntN(5)
		case "minLength", "maxItems":
			s[keyword] = r.IntN(5)
		case "pattern":
			s["pattern"] = "^[a-c]+$"
		case "uniqueItems":
			s["uniqueItems"] = true
		case "required":
			s["required"] = []any{"a", "b"}
		case "closed":
			s["additionalProperties"] = false
		case "properties":
			s["properties"] = map[string]any{"a": sub(), "b": sub()}
		case "patternProperties":
			s["patternProperties"] = map[string]any{"^c": sub()}
		case "items", "not", "if":
			s[keyword] = sub()
			s["then"] = sub()
		default:
			s[keyword] = []any{sub(), sub()}
		}
	}
	return s
}

func randomValue(r *rand.Rand, depth int) any {
	n := 7
	if depth == 0 {
		n = 5
	}
	switch r.IntN(n) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return float64(r.IntN(9))
	case 3:
		return float64(r.IntN(9)) / 2
	case 4:
		return strings.Repeat("ab北\n", r.IntN(4))
	case 5:
		list := []any{}
		for range r.IntN(3) {
			list = append(list, randomValue(r, depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range r.IntN(4) {
		object[string(rune('a'+r.IntN(4)))] = randomValue(r, depth-1)
	}
	return object
}

func FuzzProblems(f *testing.F) {
	f.Add(`{"properties":{"a":{"type":"string"}}}`, `{"a":{"b":1}}`)
	f.Add(`{"enum":["\u0000\n"],"$ref":"#"}`, `[1,{"map[":null}]`)
	f.Add(`{"anyOf":[{"$ref":"#"},{"not":{"$ref":"#"}}]}`, `"x"`)
	f.Add(fmt.Sprintf(`{"required":[%q]}`, strings.Repeat("长", 500)), `{}`)
	f.Fuzz(func(t *testing.T, schema, text string) {
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			return
		}
		check := Compile(schema)
		if check.Validate(value) == nil {
			return
		}
		got := JoinProblems(check.Problems(value))
		requirePlain(t, got)
		if !strings.ContainsAny(schema+text, "[<&%0") && !strings.Contains(schema+text, "validating") {
			requireNoGoSyntax(t, got)
		}
	})
}
