// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompact_ShortensDocuments(t *testing.T) {
	for given, want := range map[string]string{
		"{\n  \"a\" : 1.50,\n  \"b\" : [ 1e5 , -0.0 , true, null ]\n}\n":      `{"a":1.50,"b":[1e5,-0.0,true,null]}`,
		`[ "\u4e2d\u6587", "\ud83d\ude00", "\/", "\u003ca\u003e", "\u0009" ]`: `["中文","😀","/","<a>","\t"]`,
		`{ "a" : 1,   "a" : 2,   "b" : 1234567890123456789012 }`:              `{"a":1,"a":2,"b":1234567890123456789012}`,
		`[ "\ud83d", "\ud83dx", "\ud83d\u0041", "\ude00" ,  "\u200b"  ]`:      `["\ud83d","\ud83dx","\ud83dA","\ude00","\u200b"]`,
		`[ "\u0022", "\u005c", "\u0000", "\"", "\\", "\ud83d\ud83d\ude00" ]`:  `["\"","\\","\u0000","\"","\\","\ud83d😀"]`,
		`[   ]`: `[]`, `{    }`: `{}`,
	} {
		got, ok := Compact(given)
		require.True(t, ok, given)
		require.Equal(t, want, got)
	}
}

func TestCompact_KeepsOtherTexts(t *testing.T) {
	for _, s := range []string{
		"", "   ", "text", "12   ", `"a    b"`, "[INFO]     started", "{  \"a\" : 1,  }", "{\"a\"   :   01}", "[1,   2", "[  1  ]  x", "{ \"a\":1 }\n{ \"a\":2 }\n",
		"[ tru  ]", "[ +1   ]", "[ 1.   ]", "[ .5   ]", "[ 1e   ]", "[ \"\t\"    ]", "[ \"\\x\"   ]", "[ \"\\u12g4\"   ]", "{ 1 : 2   }", "[ 1  2  ]", "\ufeff{ \"a\" : 1   }", "[ - ]    ", "[ nul l ]   ",
		strings.Repeat("[ ", maxDepth+1) + strings.Repeat(" ]", maxDepth+1),
		`{"a":1}`, `{"a": "` + strings.Repeat("long text ", 100) + `"}`, // not worth it
	} {
		got, ok := Compact(s)
		require.False(t, ok, "%.50s", s)
		require.Equal(t, s, got)
	}
}

func TestCompact_UnwrapsMCPResultOfOneText(t *testing.T) {
	inner := "{\n  \"id\": 1\n}"
	quoted, _ := json.Marshal(inner)
	for given, want := range map[string]string{
		`{"content":[{"type":"text","text":` + string(quoted) + `}]}`:                                            `{"id":1}`,
		`{"content":[{"type":"text","text":"# Title\nline \u003cb\u003e"}],"isError":false}`:                     "# Title\nline <b>",
		`{ "_meta": {}, "content": [ {"text": "ok then", "type": "text", "annotations": null} ] }`:               "ok then",
		`{"content":[{"type":"text","text":` + string(quoted) + `}],"structuredContent":{"id":1}}`:               `{"id":1}`,
		`{"content":[{"type":"text","text":"3 files"}],"structuredContent":{"result":"3 files"}}`:                "3 files",
		`{"content":[{"type":"text","text":"{\"content\":[{\"type\":\"text\",\"text\":\"within another\"}]}"}]}`: `{"content":[{"type":"text","text":"within another"}]}`, // the document that the tool returned
		// As Python's classes write it, and one content by itself or in a list.
		`{"meta": null, "content": [{"type": "text", "text": "ok then", "annotations": null, "meta": null}], "structuredContent": null, "isError": false}`: "ok then",
		`{"content":[{"type":"text","text":"3 files"}],"structuredContent":{"result":"3 files"},"_meta":{"_fastmcp":{"wrap_result":true}}}`:                "3 files",
		`{"type":"text","text":"# Title\nline","annotations":null,"meta":null}`:                                                                            "# Title\nline",
		`{"type":"text","text":` + string(quoted) + `}`:                                                                                                    `{"id":1}`,
		`[{"type": "text", "text": "# Title\nline", "annotations": null}]`:                                                                                 "# Title\nline",
		`[{"text":` + string(quoted) + `,"type":"text"}]`:                                                                                                  `{"id":1}`,
		`{"content":[{"type":"text","text":"{\"type\":\"text\",\"text\":\"deep\",\"meta\":null}"}]}`:                                                       `{"type":"text","text":"deep","meta":null}`,
	} {
		got, ok := Compact(given)
		require.True(t, ok, given)
		require.Equal(t, want, got)
	}
	for _, s := range []string{
		`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, `{"content":[]}`, `{"content":[{"type":"image","data":"a"}]}`, `{"content":"text"}`,
		`{"content":[{"type":"text","text":"failed"}],"isError":1}`, `{"content":[{"type":"text","text":"failed"}],"isError":"true"}`, `{"content":[{"type":"text","text":"failed"}],"isError":{"code":1}}`, `{"content":[{"type":"text","text":"failed"}],"isError":0}`,
		`{"content":[{"type":"text","text":"failed"}],"isError":true}`, `{"content":[{"type":"text","text":"a"}],"next":"b"}`, `{"content":[{"type":"text","text":"a"}],"content":[{"type":"text","text":"b"}]}`,
		`{"content":[{"type":"text","text":"a"}],"structuredContent":{"result":"b"}}`, `{"content":[{"type":"text","text":"a"}],"structuredContent":{"n":1}}`, `{"content":[{"type":"text","text":"a","annotations":{"priority":1}}]}`,
		`{"content":[{"type":"text","text":"\ud800 half"}]}`, `{"content":[{"type":"text","text":""}]}`, `{"content":[{"type":"text","text":7}]}`, `{"content":[{"type":"text"}]}`, `{"content":[{}]}`, `{"content":[7]}`, `{"content":{}}`,
		// No MCP result, as far as one can tell.
		`{"type":"text","text":"bold"}`, `[{"type":"text","text":"bold"}]`, `{"type":"text","text":"a","bold":true}`, `{"type":"image","text":"a","meta":null}`, `{"type":"text","text":"a","annotations":{"priority":1}}`,
		`[{"type":"text","text":"a","meta":null},{"type":"text","text":"b","meta":null}]`, `{"text":"a","meta":null}`, `{"meta":{"page":2},"content":[{"type":"text","text":"a"}]}`, `{"isError":false}`, `{"content":[{"type":"text","text":"a"}],"_meta":{"cursor":"b"}}`,
	} {
		got, ok := Compact(s)
		require.False(t, ok, s)
		require.Equal(t, s, got)
	}
}

// document writes a random document with white space and escapes.
func document(r *rand.Rand, depth int) string {
	space := func() string { return strings.Repeat(string(" \n\t\r"[r.IntN(4)]), r.IntN(4)) }
	str := func() string {
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteString([]string{"a", "中", `\n`, `\"`, `\\`, `\/`, fmt.Sprintf(`\u%04x`, r.IntN(1<<16)), fmt.Sprintf(`\u%04X`, 0xd7f0+r.IntN(0x900)), "\xff", "😀"}[r.IntN(10)])
		}
		return `"` + b.String() + `"`
	}
	list := func(item func() string) string {
		var items []string
		for range r.IntN(5) {
			items = append(items, space()+item()+space())
		}
		return strings.Join(items, ",")
	}
	k := r.IntN(6)
	if depth == 0 {
		k = r.IntN(2)
	} else if depth > 4 {
		k = 2 + r.IntN(4)
	}
	switch k {
	case 0:
		return "{" + list(func() string { return str() + space() + ":" + space() + document(r, depth+1) }) + space() + "}"
	case 1:
		return "[" + list(func() string { return document(r, depth+1) }) + space() + "]"
	case 2:
		return str()
	case 3:
		return []string{"0", "-1", "1.50", "1e9", "-0.0", "12345678901234567890.0e-7"}[r.IntN(6)]
	}
	return []string{"true", "false", "null"}[r.IntN(3)]
}

// tokens are a document's, with numbers digit by digit, in order.
func tokens(t *testing.T, s string) (out []json.Token) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			require.ErrorContains(t, err, "EOF")
			return out
		}
		out = append(out, tok)
	}
}

func TestCompactWriter_KeepsTheValue(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 3))
	for range 5000 {
		given := document(r, 0)
		var w CompactWriter
		var got []byte
		for rest := given; rest != ""; { // in any pieces
			n := 1 + r.IntN(len(rest))
			taken := w.Write(rest[:n])
			require.True(t, taken == n || w.IsComplete() && strings.TrimSpace(rest[taken:]) == "", "seed %d: %q", seed, given)
			got = append(got, w.Take()...)
			rest = rest[n:]
		}
		require.True(t, w.IsComplete(), "seed %d: %q", seed, given)
		require.Equal(t, tokens(t, given), tokens(t, string(got)), "seed %d: %q", seed, given)
		require.LessOrEqual(t, len(got), len(given), "seed %d: %q", seed, given)
		var again CompactWriter
		again.Write(string(got))
		require.Equal(t, string(got), string(again.Take()), "seed %d: once more: %q", seed, given)
	}
}

func FuzzCompact_KeepsTheValue(f *testing.F) {
	for _, s := range []string{`{ "a" : [ 1.0 , "\u4e2d\ud800" ] }`, `{"content":[{"type":"text","text":"{ \"a\" : 1 }"}]}`, `[ "\ud83d\ude00" ]`, "[1e5   ]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := Compact(s)
		if !ok {
			require.Equal(t, s, got)
			return
		}
		require.Less(t, len(got), len(s))
		require.True(t, json.Valid([]byte(s)))
		again, more := Compact(got)
		require.False(t, more && again != got && len(again) >= len(got))
		var result struct{ Content []struct{ Text string } }
		if json.Unmarshal([]byte(s), &result) == nil && len(result.Content) == 1 && !json.Valid([]byte(got)) {
			require.True(t, strings.Contains(s, "content"))
			return
		}
		if !strings.Contains(s, "content") {
			require.Equal(t, tokens(t, s), tokens(t, got))
		}
	})
}

func TestCompactWriter_AcceptsOnlyValidJSON(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 4))
	for range 20_000 {
		text := []byte(document(r, 0))
		for range r.IntN(3) {
			if len(text) > 0 {
				text[r.IntN(len(text))] = `{}[],:"\ue0-+.1tn `[r.IntN(18)]
			}
		}
		var w CompactWriter
		whole := w.writeDocument(string(text))
		want := json.Valid(text) && bytes.IndexByte([]byte("{["), bytes.TrimLeft(text, " \n\t\r")[0]) >= 0
		require.Equal(t, want, whole, "seed %d: %q", seed, text)
	}
}

// The output and the bytes not taken add up to the whole text except white space, also if a document is nested too
// deeply.
func TestCompactWriter_LosesNothingOfInvalidDocuments(t *testing.T) {
	for _, text := range []string{strings.Repeat("[", maxDepth+2), strings.Repeat(`{"a":`, maxDepth+2), `[1,2}`, `{"a"1}`, `[01]`, `[tru]`, `[1.]`} {
		for _, size := range []int{1, 7, len(text)} {
			var w CompactWriter
			var got []byte
			rest := text
			for rest != "" {
				n := min(size, len(rest))
				taken := w.Write(rest[:n])
				got = append(got, w.Take()...)
				if rest = rest[taken:]; taken < n {
					break
				}
			}
			require.Equal(t, text, string(got)+rest, "%d bytes at once", size)
		}
	}
}

func BenchmarkText(b *testing.B) {
	record := map[string]any{"id": 48213, "name": "Ada Lovelace", "email": "ada@example.com", "notes": "a longer text with \"quotes\" and 中文 in it", "tags": []string{"new", "paid"}, "total": 118.5}
	var records []any
	for range 4000 {
		records = append(records, record)
	}
	text, _ := json.MarshalIndent(records, "", "  ")
	wrapped, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": string(text)}}})
	for name, s := range map[string]string{"pretty": string(text), "wrapped": string(wrapped), "text": strings.Repeat("[INFO] some line of a log\n", 40_000), "late": "[" + strings.Repeat(`"a", `, 200_000) + "x"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				Compact(s)
			}
		})
	}
}
