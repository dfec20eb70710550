// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolschema

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSignature_IsLineOfTypeScript(t *testing.T) {
	for _, c := range []struct{ name, about, params, returns, want string }{
		{"list_orders", "Orders of a\ncustomer.", `{"type":"object","properties":{"page":{"type":"integer"},"customer":{"type":"number","description":"its id"}},"required":["customer"]}`,
			`{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"total":{"type":"number"}},"required":["id","total"]}}`,
			`tools.list_orders({customer: number /* its id */, page?: number}): Promise<{id: string, total: number}[]>  // Orders of a customer.`},
		{"get-it", "", "", "", `tools["get-it"]({}): Promise<string>`},
		{"f", "", `{"type":"object","properties":{"a":{"enum":["x","y",1]},"b":{"type":["string","null"]},"c":{"type":"array","items":{"type":["string","number"]}},"d-e":{"anyOf":[{"type":"string"},{"type":"integer"}]},"f":{"type":"object"},"g":{}}}`, `{"type":"string"}`,
			`tools.f({a?: "x" | "y" | 1, b?: string | null, c?: (string | number)[], "d-e"?: string | number, f?: {}, g?: any}): Promise<string>`},
		{"h", "", `{"type":"object","properties":{"x":{"type":"string","description":"ends */ early"}}}`, `{"type":"object","additionalProperties":{"type":"number"}}`,
			`tools.h({x?: string /* ends * / early */}): Promise<{[key: string]: any}>`},
		{"g", "", `{"type":"object","properties":{"n":{"type":"integer","default":2,"description":"how many"},"s":{"type":"string","default":"a\"b"},"u":{"enum":["x","y"],"default":"x"},"o":{"type":["string","null"],"default":null},"l":{"type":"array","default":[]},"r":{"type":"boolean","default":false},"big":{"type":"string","default":"` + strings.Repeat("x", 60) + `"}},"required":["r"]}`, `{}`,
			`tools.g({r: boolean, big?: string, l?: any[], n = 2 /* how many */, o?: string | null, s = "a\"b", u?: "x" | "y"}): Promise<any>`},
		{"i", "", `not json`, `{"type":"array"}`, `tools.i({}): Promise<any[]>`},
	} {
		require.Equal(t, c.want, Signature(c.name, c.about, c.params, c.returns))
	}
}

// A long description is cut where a clause ends, unless that loses two thirds of what fits.
func TestOneLine_EndsWithClause(t *testing.T) {
	for text, want := range map[string]string{
		"short":                              "short",
		"Counts words, lines and characters": "Counts words…",
		"One sentence. Another one follows":  "One sentence.",
		"版本号，时区名称与日期格式":                      "版本号…",
		"Nothing ends anywhere in this text": "Nothing ends anywhe…",
		"v1.2.3.4.5.6.7.8.9.10.11.12":        "v1.2.3.4.5.6.7.8.9.…",
	} {
		require.Equal(t, want, oneLine(text, 19), text)
	}
}

func TestSignature_IsBounded(t *testing.T) {
	deep := strings.Repeat(`{"type":"array","items":`, 2000) + `{}` + strings.Repeat(`}`, 2000)
	require.Less(t, len(Signature("a", strings.Repeat("中", 5000), deep, deep)), 500)
	wide := `{"type":"object","properties":{` + strings.TrimSuffix(strings.Repeat(`"a`+strings.Repeat("b", 200)+`":{"type":"string"},`, 1), ",") + `}}`
	require.Less(t, len(Signature("a", "", wide, wide)), 4000)
}

func TestShape_NamesTypesWithoutValues(t *testing.T) {
	for text, want := range map[string]string{
		`[{"id":1,"secret":"x","tags":["a"],"none":null,"ok":true}]`: `{id: number, none: null, ok: boolean, secret: string, tags: string[]}[]`,
		`{"a":{"b":{"c":{"d":{"e":1}}}}}`:                            `{a: {b: {c: {d: object}}}}`,
		`[]`:                                                         "any[]", `{}`: "{}", `plain`: "string", `42`: "number", `false`: "boolean", `{"id":9007199254740993}`: "{id: bigint}", `007`: "string", `{broken`: "string", ``: "string",
	} {
		require.Equal(t, want, Shape(text), text)
	}
}
