// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file fuzzes what models send.

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/stretchr/testify/require"
)

// allKinds has an argument of every type that tools take.
type allKinds struct {
	Text    string            `json:"text" jsonschema_description:"a text"`
	Count   int               `json:"count,omitempty" jsonschema:"default=3,minimum=1,maximum=10" jsonschema_description:"a count"`
	Amount  float64           `json:"amount,omitempty" jsonschema:"minimum=-5" jsonschema_description:"an amount"`
	Flag    bool              `json:"flag,omitempty" jsonschema_description:"a flag"`
	Choice  string            `json:"choice,omitempty" jsonschema:"enum=red,enum=blue,default=red" jsonschema_description:"a choice"`
	Numbers []float64         `json:"numbers,omitempty" jsonschema:"minItems=1" jsonschema_description:"numbers"`
	Names   []string          `json:"names,omitempty" jsonschema_description:"names"`
	Map     map[string]string `json:"map,omitempty" jsonschema_description:"a map"`
}

// FuzzArguments: what is accepted keeps to the schema, and means the same when
// it is written out and read again.
func FuzzArguments(f *testing.F) {
	info, err := utils.GoStruct2ToolInfo[allKinds]("fuzz__kinds", "takes everything")
	require.NoError(f, err)
	params := parametersOf(info)
	for _, seed := range []string{`{"text":"a"}`, `{"text":5,"count":"7","amount":"-1e1","flag":"TRUE","choice":" Blue","numbers":"[1,2]","names":"x","map":{"a":"b"}}`,
		`{"text":null}`, `null`, `[]`, ``, `{"text":"","count":1e400}`, `{"text":"a","count":5.0,"numbers":3}`, `{"text":{},"x":1}`, "{\"text\":\"\xff\"}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		var in, again allKinds
		if err := params.decode(arguments, &in); err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.True(t, in.Count >= 1 && in.Count <= 10, in.Count)
		require.GreaterOrEqual(t, in.Amount, -5.0)
		require.Contains(t, []string{"red", "blue"}, in.Choice)
		require.True(t, in.Numbers == nil || len(in.Numbers) > 0)
		out, err := json.Marshal(in)
		require.NoError(t, err)
		require.NoError(t, params.decode(string(out), &again))
		require.Equal(t, in, again)
	})
}

// FuzzExpression: a sum of an expression with itself in parentheses is twice its value.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{"1+2*3", "-2^2", "sqrt(2)", "max(1,2,3)", "((", "1e5", "2 * (3 - 4) % 5", "pi", "0\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		v, err := evaluate(expression)
		if err != nil || len(expression) > 4000 || v != v {
			return
		}
		twice, err := evaluate("(" + expression + ")+(" + expression + ")")
		require.NoError(t, err)
		require.Equal(t, v+v, twice)
	})
}

// FuzzNumeral: a number written in Chinese is read back as itself.
func FuzzNumeral(f *testing.F) {
	for _, seed := range []int64{0, 5, 10, 19, 101, 1010, 10010, 100000001, 1010101010101, 999999999999999} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, n int64) {
		if n < 0 || n > 999999999999999 {
			return
		}
		text := numeral(n, lowerDigits, []string{"", "十", "百", "千"})
		back, err := hanziToNumber(hanziIn{text})
		require.NoError(t, err)
		want, _ := json.Marshal(n)
		require.Equal(t, string(want), back, text)
	})
}

// FuzzWholeNumberArgument: no form of a number becomes another number.
func FuzzWholeNumberArgument(f *testing.F) {
	info, err := utils.GoStruct2ToolInfo[wholeIn]("fuzz__whole", "takes a whole number")
	require.NoError(f, err)
	params := parametersOf(info)
	f.Add(int64(7), false)
	f.Add(int64(1000000000000), true)
	f.Fuzz(func(t *testing.T, n int64, asText bool) {
		sent := args("number", n)
		if asText {
			sent = strings.Replace(sent, ":", `:"`, 1)
			sent = strings.Replace(sent, "}", `"}`, 1)
		}
		var in wholeIn
		err := params.decode(sent, &in)
		if n < 1 || n > 1e12 {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.Equal(t, n, in.Number)
	})
}
