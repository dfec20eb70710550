// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package jsontext

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestTexts_ReadsValuesInAnyForm(t *testing.T) {
	for text, want := range map[string][]string{
		`{"query":"mail"}`:                           {"mail"},
		` {"Query":"mail"} `:                         {"mail"},
		`{"que-ry":"mail"}`:                          {"mail"},
		`{"QUERY":"b","query":"a"}`:                  {"a"},
		`{"qUery":"b","Query":"a"}`:                  {"a"},
		`{"query":404}`:                              {"404"},
		`{"query":-1.50}`:                            {"-1.50"},
		`{"query":["a","",4," ",null,["b"],"c"]}`:    {"a", "4", "c"},
		`{"query":{"query":"a"}}`:                    {"a"},
		`{"query":[{"query":"a"},{"q":["b","c"]}]}`:  {"a", "b", "c"},
		`{"query":{"query":{"query":"a"}}}`:          nil,
		`{"query":"","q":"a"}`:                       {"a"},
		`{"query":" \t","q":"a"}`:                    {"a"},
		`{"query":null,"q":"a"}`:                     {"a"},
		`{"query":[],"q":"a"}`:                       {"a"},
		`{"query":{},"q":"a"}`:                       {"a"},
		`{"query":true}`:                             nil,
		`{"q":"b","query":"a"}`:                      {"a"},
		`{"":"a","!":"b"}`:                           nil,
		`{}`:                                         nil,
		`[{"query":"a"},{"q":"b"},{"x":"c"}]`:        {"a", "b"},
		`"{\"query\":\"a\"}"`:                        {"a"},
		`"  {\"query\":\"a\"} then"`:                 {"a"},
		`{"query":"a"} and then`:                     {"a"},
		`{"query":"a"`:                               nil,
		`{"query":"` + "\xff" + `"}`:                 {"\uFFFD"},
		`{"query":"\ud800"}`:                         {"\uFFFD"},
		`{"query":12345678901234567890.12345678901}`: {"12345678901234567890.12345678901"},
	} {
		require.Equal(t, want, DecodeArguments(text).Texts("query", "q"), text)
		require.Empty(t, DecodeArguments(text).BareTexts(), text)
	}
	require.Nil(t, DecodeArguments(`{"查询":"a","":"b"}`).Texts("天气"), "a key without letters is only itself")
	require.Equal(t, []string{"a"}, DecodeArguments(`{"查询":"a"}`).Texts("查询"))
	require.Equal(t, []string{"a"}, DecodeArguments(`{"MaxLines2":"a"}`).Texts("max_lines_2"))
}

func TestBareTexts_ReturnsTextsOutsideOfObjects(t *testing.T) {
	for text, want := range map[string][]string{
		``:                       nil,
		"  \n":                   nil,
		`mail`:                   {"mail"},
		` send "mail" `:          {`send "mail`},
		`"send mail"`:            {"send mail"},
		`"send`:                  {"send"},
		`""`:                     nil,
		`" "`:                    nil,
		`"\""`:                   {`"`},
		`12345`:                  {"12345"},
		`12 monkeys`:             {"12 monkeys"},
		`null`:                   nil,
		`true`:                   nil,
		`false`:                  nil,
		`true story`:             {"true story"},
		`["a"," ",1,["b"],true]`: {"a", "1"},
		`["a",{"x":1}]`:          {"a"},
		`["a"] or so`:            {"a"},
		`[]`:                     nil,
		`[[]]`:                   nil,
		`[`:                      nil,
		`[urgent] mail`:          nil,
		`{`:                      nil,
		`"{"`:                    nil,
		`"[a] b"`:                {"[a] b"},
		"a\xffb":                 {"a\uFFFDb"},
	} {
		require.Equal(t, want, DecodeArguments(text).BareTexts(), text)
	}
}

func TestNumber_ReadsIntegersInAnyForm(t *testing.T) {
	for value, want := range map[string]int64{
		`5`: 5, `-5`: -5, `0`: 0, `5.9`: 5, `-5.9`: -5, `1e2`: 100, `"5"`: 5, `" 5 "`: 5, `"1,024"`: 1024, `"5.9"`: 5, `[5]`: 5, `["5"]`: 5,
		`[5,6]`: 0, `[]`: 0, `{}`: 0, `{"n":5}`: 0, `true`: 0, `null`: 0, `"many"`: 0, `"NaN"`: 0, `""`: 0, `[[5]]`: 0,
		`9007199254740993`: 9007199254740993, `9223372036854775807`: math.MaxInt64, `-9223372036854775808`: -math.MaxInt64,
		`99999999999999999999`: math.MaxInt64, `-99999999999999999999`: -math.MaxInt64, `1e999`: math.MaxInt64, `"-1e999"`: -math.MaxInt64, `"Inf"`: math.MaxInt64,
	} {
		require.Equal(t, want, DecodeArguments(`{"n":`+value+`}`).Number("x", "n"), value)
	}
	require.EqualValues(t, 7, DecodeArguments(`{"a":0,"b":"no","c":7,"d":8}`).Number("a", "b", "c", "d"))
	require.EqualValues(t, 7, DecodeArguments(`[{"b":1},{"a":7}]`).Number("a"))
	require.Zero(t, DecodeArguments(`5`).Number("a"))
}

func TestRaw_ReturnsValueAsWritten(t *testing.T) {
	require.Equal(t, `{"id": 12345678901234567890}`, DecodeArguments(`{"Arguments": {"id": 12345678901234567890}}`).Raw("input", "arguments"))
	require.Equal(t, `null`, DecodeArguments(`{"a":null,"b":1}`).Raw("a", "b"))
	require.Equal(t, `1`, DecodeArguments(`[{"x":2},{"a":1}]`).Raw("a"))
	require.Empty(t, DecodeArguments(`{"b":1}`).Raw("a"))
	require.Empty(t, DecodeArguments(`a`).Raw("a"))
}

func TestDecodeArguments_TakesLinearTime(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("[", 1<<20), strings.Repeat(`{"a":`, 1<<18), strings.Repeat(`[`, 9000) + strings.Repeat("]", 9000),
		`[` + strings.Repeat(`{"a":[1]},`, 1<<15) + `1]`, strings.Repeat(`"`, 1<<20), strings.Repeat("9", 1<<20), strings.Repeat("\xff", 1<<20),
	} {
		a := DecodeArguments(text)
		a.Texts("a", "b", "c")
		a.Number("a", "b", "c")
	}
}

func FuzzDecodeArguments(f *testing.F) {
	for _, text := range []string{`{"a":["x",1,{"a":"y"}],"B":2}`, `"{\"a\":1}"`, `[{"A":"1"},"b"]`, `a "b"`, `{"a":1e999}x`, "\xff", `{"\ud800":"\ud800"}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a := DecodeArguments(text)
		for _, s := range append(a.Texts("a", "b_c", "?"), a.BareTexts()...) {
			require.NotEmpty(t, strings.TrimSpace(s))
			require.True(t, utf8.ValidString(s))
		}
		if raw := a.Raw("a", "b_c"); raw != "" {
			require.True(t, json.Valid([]byte(raw)), raw)
		}
		require.NotEqual(t, int64(math.MinInt64), a.Number("a", "b_c"))
		// A strict object means the same as encoding/json says.
		var object map[string]string
		if json.Unmarshal([]byte(text), &object) == nil && utf8.ValidString(text) {
			if s, ok := object["a"]; ok && strings.TrimSpace(s) != "" {
				require.Equal(t, []string{s}, a.Texts("a"))
			}
		}
	})
}
