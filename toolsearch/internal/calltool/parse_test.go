// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package calltool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/internal/calltool"
)

func TestParse_AcceptsWhatHasOneMeaning(t *testing.T) {
	for _, c := range []struct {
		args, name, arguments string
		beside                []string
	}{
		{`{"name":"t","arguments":{"a":1}}`, "t", `{"a":1}`, nil},
		{`{ "Name" : "t", "Parameters" : {"a": 12345678901234567890} }`, "t", `{"a": 12345678901234567890}`, nil},
		{`{"tool_name":"t","input":{"a":1}}`, "t", `{"a":1}`, nil},
		{`{"name":"t"}`, "t", "", nil},
		{`{"name":"t","arguments":null}`, "t", "", nil},
		{`{"name":"t","arguments":"{\"a\":1}"}`, "t", `"{\"a\":1}"`, nil},
		{`"{\"name\":\"t\",\"arguments\":{\"a\":1}}"`, "t", `{"a":1}`, nil},
		{`[{"name":["t"],"arguments":{"a":1}}]`, "t", `{"a":1}`, nil},
		{`{"name":"t","arguments":{"a":1},"arguments":{"a":2}}`, "t", `{"a":2}`, nil},
		{`{"name":"t","a":1,"b":[2]}`, "t", `{"a":1,"b":[2]}`, []string{"a", "b"}},
		{`{"name":"t","arguments":{},"a":1}`, "t", `{"a":1}`, []string{"a"}},
		{`{"name":"t","input":"a text"}`, "t", `{"input":"a text"}`, []string{"input"}},
		{`{"name":"call_tool","arguments":{"name":"t","arguments":{"a":1}}}`, "t", `{"a":1}`, nil},
	} {
		w, err := calltool.Parse(c.args)
		require.NoError(t, err, c.args)
		require.Equal(t, c.name, w.Name, c.args)
		require.Equal(t, c.beside, w.Beside, c.args)
		if c.arguments == "" {
			require.Contains(t, []string{"", "null"}, w.Arguments, c.args)
		} else {
			require.Equal(t, c.arguments, w.Arguments, c.args)
		}
	}
}

func TestParse_RejectsWhatHasSeveralMeanings(t *testing.T) {
	for args, want := range map[string]error{
		``:                                       calltool.ErrNoName,
		`"t"`:                                    calltool.ErrNoName,
		`t`:                                      calltool.ErrNoName,
		`{}`:                                     calltool.ErrNoName,
		`7`:                                      calltool.ErrNoName,
		`{"name":""}`:                            calltool.ErrNoName,
		`{"name":{"a":1}}`:                       calltool.ErrNoName,
		`[]`:                                     calltool.ErrSeveralCalls,
		`[{"name":"t"},{"name":"u"}]`:            calltool.ErrSeveralCalls,
		`{"name":["t","u"]}`:                     calltool.ErrSeveralCalls,
		`{"name":"t","arguments":{"a":1},"b":2}`: calltool.ErrScattered,
	} {
		_, err := calltool.Parse(args)
		require.ErrorIs(t, err, want, args)
	}
}

func TestParse_SaysWhereJSONBreaks(t *testing.T) {
	for args, want := range map[string]calltool.SyntaxError{
		`{"name":"t","arguments":{"a":"b`: {Offset: 31, IsCut: true},
		`{"name":}`:                       {Offset: 9},
		`{"name":"t"}{"name":"u"}`:        {Offset: 12},
	} {
		_, err := calltool.Parse(args)
		var syntax *calltool.SyntaxError
		require.ErrorAs(t, err, &syntax, args)
		require.Equal(t, want, *syntax, args)
	}
}

func FuzzParse(f *testing.F) {
	for _, args := range []string{`{"name":"t","arguments":{"a":1}}`, `[{"name":"t","a.b":1}]`, `"{\"name\":\"t\"}"`, `{"name":"call_tool","arguments":{"name":"t"}}`} {
		f.Add(args)
	}
	f.Fuzz(func(t *testing.T, args string) {
		w, err := calltool.Parse(args)
		if err == nil {
			require.NotEmpty(t, w.Name)
			_, _ = calltool.Unwrap(w.Arguments, w.Name)
		}
	})
}
