// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/jsontext"
)

func cutInto(most int) PartLimits {
	return PartLimits{RecordBytes: most, PartBytes: most, SplitText: func(text string) []Part { return lineParts(text, most) }}
}

func TestParts_AreWholeRecords(t *testing.T) {
	text := goods(50)
	parts, ok := Parts(text, cutInto(600))
	require.True(t, ok)
	records := 0
	end := 0
	for _, p := range parts {
		require.LessOrEqual(t, end, p.Start)
		require.Less(t, p.Start, p.End)
		end = p.End
		if strings.HasPrefix(p.Text, `{"id":`) {
			records++
			require.JSONEq(t, text[p.Start:p.End], p.Text)
			require.NotContains(t, p.Text, ": ")
		}
	}
	require.Equal(t, 50, records)
	require.Equal(t, `"total":1.0,"next":null`, parts[0].Text)
}

func TestParts_OfMCPResultPointIntoFile(t *testing.T) {
	inner := goods(20)
	text := `{"content":[{"type":"text","text":` + quoted(inner) + `}]}`
	parts, ok := Parts(text, cutInto(600))
	require.True(t, ok)
	for _, p := range parts[1:] {
		require.JSONEq(t, jsontext.Unescape(text[p.Start:p.End]), p.Text)
	}
	lines := "one \"line\"\nanother\té\n" + strings.Repeat("more of them\n", 100)
	text = `{"content":[{"type":"text","text":` + quoted(lines) + `}]}`
	parts, ok = Parts(text, cutInto(100))
	require.True(t, ok)
	var all strings.Builder
	for _, p := range parts {
		require.Equal(t, jsontext.Unescape(text[p.Start:p.End]), p.Text)
		all.WriteString(p.Text)
	}
	require.Equal(t, lines, all.String())
	_, ok = Parts("no JSON", cutInto(100))
	require.False(t, ok)
}

func TestDocument_ReturnsValidJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": [1, 2.0]}`:                                  `{"a": [1, 2.0]}`,
		"[\"a\nb\", \"\xff\"]":                             `["a\nb","?"]`,
		"{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n":                `[{"a":1},{"a":2},{"a":3}]`,
		`{"content":[{"type":"text","text":"[1,\"x\"]"}]}`: `[1,"x"]`,
		`[{"a":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},{"b":`:     `[{"a":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},{}]`,
		`[1,2,3,4,5,6,7,8,9,[]`:                            `[1,2,3,4,5,6,7,8,9,[]]`,
	} {
		got, _, ok := Document(text)
		require.True(t, ok, text)
		require.Equal(t, want, string(got))
	}
	_, cut, _ := Document(goods(9)[:1500])
	require.True(t, cut)
	for _, text := range []string{`{"content":[{"type":"text","text":"words"}]}`, strings.Repeat("[", 5<<20), strings.Repeat("[", 1001) + strings.Repeat("]", 1001), strings.Repeat(" ", MaxDocument) + "[]"} {
		_, _, ok := Document(text)
		require.False(t, ok)
		_, _, ok = Decode(text[:min(len(text), 5<<20)])
		require.Equal(t, strings.Contains(text, "words"), ok, "an MCP result is JSON as well")
	}
}

func TestDecode_ReadsLinesAndTruncatedJSON(t *testing.T) {
	long := strings.Repeat("9", 1001)
	for text, want := range map[string]any{
		`{"a": [1, 2.0, null, true, false, "x\u00e9\n", {}, []], "a\"b": -1e3}`: map[string]any{
			"a": []any{json.Number("1"), json.Number("2.0"), nil, true, false, "xé\n", map[string]any{}, []any{}}, `a"b`: json.Number("-1e3")},
		"{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n":        []any{map[string]any{"a": json.Number("1")}, map[string]any{"a": json.Number("2")}, map[string]any{"a": json.Number("3")}},
		`["xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",[1,"y`: []any{"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", []any{json.Number("1"), "y"}},
		`[` + long + `]`:                           []any{long},
	} {
		got, _, ok := Decode(text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
}

// A query reads the value that the model sees, whether the result was compacted or, being too long for that, stored
// as the tool returned it.
func TestDocument_HasValueOfCompactedResult(t *testing.T) {
	race.Skip(t, "goes through many texts")
	r := rand.New(rand.NewPCG(7, 7))
	wrapped := 0
	for i := range 500 {
		inner := randomJSON(r, 4)
		if inner[0] != '{' && inner[0] != '[' {
			continue
		}
		for _, form := range []string{"%s", `{"content":[{"type":"text","text":%q}]}`, `{"meta": null, "content": [{"type": "text", "text": %q, "annotations": null, "meta": null}], "structuredContent": null, "isError": false}`,
			`{"type":"text","text":%q,"annotations":null}`, `{"text":%q,"type":"text"}`, `[{"type":"text","text":%q}]`} {
			given := strings.NewReplacer("%q", quoted(inner), "%s", inner).Replace(form)
			short, ok := jsontext.Compact(given)
			if !ok {
				continue
			}
			wrapped++
			again, _ := jsontext.Compact(short)
			require.Equal(t, short, again, "%d: once more", i)
			stored, _, ok := Document(given)
			require.True(t, ok, "%d: %s", i, given)
			want, _, ok := Decode(short)
			require.True(t, ok, "%d: %s", i, short)
			got, _, ok := Decode(string(stored))
			require.True(t, ok, "%d: %s", i, stored)
			require.Equal(t, want, got, "%d: %s", i, given)
		}
	}
	require.Greater(t, wrapped, 1000)
}

func FuzzParts(f *testing.F) {
	f.Add(goods(3), 60)
	f.Add(`{"content":[{"type":"text","text":"[{\"a\":1},{\"a\":2},{\"a\":\"\\u00e9\\n\"}]"}]}`, 10)
	f.Fuzz(func(t *testing.T, text string, most int) {
		parts, ok := Parts(text, cutInto(20+min(max(most, 0), 1000)))
		end := 0
		for _, p := range parts {
			if p.Start < end || p.End < p.Start || p.End > len(text) {
				t.Fatalf("%d to %d behind %d of %d", p.Start, p.End, end, len(text))
			}
			end = p.End
		}
		document, _, parses := Document(text)
		if parses && (!ok || !json.Valid(document)) {
			t.Fatalf("no JSON: %q", document)
		}
		got, _, decodes := Decode(string(document))
		if parses && decodes {
			var want any
			d := json.NewDecoder(strings.NewReader(string(document)))
			d.UseNumber()
			if err := d.Decode(&want); err != nil || len(document) < maxNumber && !reflect.DeepEqual(want, got) {
				t.Fatalf("%q is %v, not %v: %v", document, got, want, err)
			}
		}
	})
}
