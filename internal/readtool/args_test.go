// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

import (
	"encoding/json"
	"math"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestParseRequest_ReadsFormsThatModelsUse(t *testing.T) {
	file := request{path: "/tmp/trunc/x"}
	page := request{path: "/tmp/trunc/x", offset: 5, limit: 10}
	for arguments, want := range map[string]request{
		`{"file_path":"/tmp/trunc/x"}`:                                           file,
		`{"path":"/tmp/trunc/x"}`:                                                file,
		`{"filePath":"/tmp/trunc/x"}`:                                            file,
		`{"File-Path":"/tmp/trunc/x"}`:                                           file,
		`{"filename":" /tmp/trunc/x\n"}`:                                         file,
		`{"file_path":["/tmp/trunc/x"]}`:                                         file,
		`{"file_path":"` + "`/tmp/trunc/x`" + `"}`:                               file,
		`{"uri":"file:///tmp/trunc/x"}`:                                          file,
		`{"file_path":"","path":"/tmp/trunc/x"}`:                                 file,
		`"/tmp/trunc/x"`:                                                         file,
		`/tmp/trunc/x`:                                                           file,
		`["/tmp/trunc/x"]`:                                                       file,
		`"{\"file_path\":\"/tmp/trunc/x\"}"`:                                     file,
		`[{"file_path":"/tmp/trunc/x"}]`:                                         file,
		`{"file_path":"/tmp/trunc/x"} trailing`:                                  file,
		`{"file_path":"/tmp/trunc/x","limit":null,"tail":false,"offset":{}}`:     file,
		`{"file_path":"/tmp/trunc/x","offset":"many","limit":"NaN"}`:             file,
		`{"file_path":"/tmp/trunc/x","offset":5,"limit":10}`:                     page,
		`{"file_path":"/tmp/trunc/x","offset":"5","limit":"10"}`:                 page,
		`{"file_path":"/tmp/trunc/x","offset":5.0,"limit":10.7}`:                 page,
		`{"file_path":"/tmp/trunc/x","offset":[5],"limit":" 1e1 "}`:              page,
		`{"file_path":"/tmp/trunc/x","start_line":5,"max_lines":10}`:             page,
		`{"path":"x","pattern":["a","b"]}`:                                       {path: "x", pattern: "a|b"},
		`{"path":"x","regex":"\\d+ "}`:                                           {path: "x", pattern: `\d+ `},
		`{"path":"x","query":["a","b"]}`:                                         {path: "x", query: "a b"},
		`{"path":"x","search":404}`:                                              {path: "x", query: "404"},
		`{"path":"x","tail":-20}`:                                                {path: "x", tail: 20},
		`{"path":"x","byteOffset":"1,024","byteLimit":99}`:                       {path: "x", byteOffset: 1024, byteLimit: 99},
		`{"path":"x","offset":99999999999999999999,"limit":1e999}`:               {path: "x", offset: math.MaxInt64, limit: math.MaxInt64},
		`{"path":"x","offset":-9223372036854775808,"tail":-9223372036854775808}`: {path: "x", tail: math.MaxInt64},
		`12345`: {path: "12345"},
	} {
		got, ok := parseRequest(arguments)
		require.True(t, ok, arguments)
		require.Equal(t, want, got, arguments)
	}
}

func TestParseRequest_RejectsMissingPath(t *testing.T) {
	for _, arguments := range []string{
		``, ` `, `{}`, `[]`, `null`, `true`, `{"file_path":""}`, `{"file_path":null}`, `{"file_path":{}}`, `{"file_path":" "}`,
		`{"offset":1}`, `{"file_path":"x"`, `[`, `""`, `[[]]`, `"{\"a\":1}"`, `"{"`,
	} {
		_, ok := parseRequest(arguments)
		require.False(t, ok, arguments)
	}
}

func TestParseRequest_ReadsBackWrittenRequests(t *testing.T) {
	for _, want := range []request{
		{path: "/tmp/trunc/x"},
		{path: `/tmp/"quoted" <dir>/值\n`, byteOffset: 7, byteLimit: 1 << 40},
		{path: "x", pattern: `a"b\d<&>`, context: 3, limit: 2, byteOffset: 1},
		{path: "x", query: "a +b", offset: 1, limit: 2, tail: 3},
	} {
		got, ok := parseRequest(written(want))
		require.True(t, ok)
		require.Equal(t, want, got)
	}
}

// written is a request as the arguments of a call.
func written(r request) string {
	return r.nextArguments("offset", r.offset, "limit", r.limit, "byte_offset", r.byteOffset, "byte_limit", r.byteLimit, "tail", r.tail, "pattern", r.pattern, "context", r.context, "query", r.query)
}

func FuzzParseRequest(f *testing.F) {
	for _, arguments := range []string{
		`{"file_path":"/tmp/trunc/x","offset":5}`, `"x"`, `x`, `[{"path":"x","tail":"-5"}]`, `{"path":"x","limit":1e999,"pattern":"("}`,
		`{"file_path":"a","File_Path":"b","query":[1,"x"]}`, `{"path":"\ud800"}`,
	} {
		f.Add(arguments)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		req, ok := parseRequest(arguments)
		if !ok {
			require.Empty(t, req.path)
			return
		}
		for _, n := range []int64{req.offset, req.limit, req.byteOffset, req.byteLimit, req.tail, req.context} {
			require.GreaterOrEqual(t, n, int64(0))
		}
		named := written(req)
		require.True(t, json.Valid([]byte(named)), named)
		if again, ok := parseRequest(named); utf8.ValidString(req.path + req.pattern + req.query) {
			require.True(t, ok)
			require.Equal(t, req, again, "a call that is written out means something else")
		}
	})
}
