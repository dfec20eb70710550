// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/display"
)

// goods is a list of n records in an object.
func goods(n int) string {
	var b strings.Builder
	b.WriteString(`{"total": 1.0, "next": null, "items": [`)
	for i := range n {
		if i > 0 {
			b.WriteString(",\n ")
		}
		fmt.Fprintf(&b, `{"id": %d, "name": "Charger v%d", "price": "%d.90", "status": "active", "ean": 12345678901234567%03d, `+
			`"size": {"width": %d, "height": 2.0}, "tags": ["a", "b"], "avatar_url": "https://img.example/%d", "note": ""}`, i, i, i%7, i, i%3, i)
	}
	return b.String() + "]}"
}

// of previews a text in English.
func of(text string, room int) string {
	shown, _ := Render(Request{Text: text, Room: room})
	return shown
}

// checkJSON holds what is true of every preview of JSON.
func checkJSON(t *testing.T, text string, room int) map[string]any {
	t.Helper()
	shown, format := Render(Request{Text: text, Room: room})
	require.LessOrEqual(t, len(shown), room)
	if room < 5 || len(text) <= room {
		return nil
	}
	require.Equal(t, JSON, format)
	require.True(t, json.Valid([]byte(shown)), "room %d: %s", room, shown)
	var out map[string]any
	_ = json.Unmarshal([]byte(shown), &out)
	return out
}

func TestRender_RecordsBecomeTable(t *testing.T) {
	got := checkJSON(t, goods(120), 8000)
	require.Equal(t, map[string]any{"total": 1.0, "next": nil}, got["rest"])
	require.Equal(t, "$.items", got["list"])
	require.Equal(t, 120.0, got["count"])
	require.Equal(t, map[string]any{"status": "active", "size.height": 2.0, "tags": []any{"a", "b"}}, got["same in all"])
	require.Subset(t, got["columns"], []any{"id", "name", "price", "ean"})
	require.Contains(t, of(goods(120), 2000), `"rest":{"total":1.0,"next":null}`, "numbers keep their spelling")
	require.Contains(t, of(goods(120), 8000), "12345678901234567000")
	require.Contains(t, of(goods(120), 2000), `"… `)
	require.Contains(t, of(goods(120), 2000), `"Charger v119"`, "the last record")
	require.Contains(t, of(goods(120), 2000), `"columns left out":"`)
}

func TestRender_FindsListsOfRecordsAnywhere(t *testing.T) {
	record := `{"name":"n%[1]d","text":"some words %[1]d"}`
	many := func(sep, format string) string {
		var all []string
		for i := range 200 {
			all = append(all, fmt.Sprintf(format, i))
		}
		return strings.Join(all, sep)
	}
	for name, text := range map[string]string{
		"a list":             "[" + many(",", record) + "]",
		"lines":              many("\n", record) + "\n",
		"several lines":      many("\n", strings.Replace(record, ",", ",\n", 1)),
		"in an object":       `{"a":{"b":[1,{"c":[` + many(",", record) + `]}]}}`,
		"under their keys":   "{" + many(",", `"k%[1]d":`+record) + "}",
		"lists":              "[" + many(",", `["n%[1]d","some words %[1]d"]`) + "]",
		"in an MCP result":   `{"content":[{"type":"text","text":` + quoted("["+many(",", record)+"]") + `}],"isError":false}`,
		"in a string":        quoted("[" + many(",", record) + "]"),
		"behind white space": "\n  [" + many(",", record) + "] \n",
	} {
		t.Run(name, func(t *testing.T) {
			shown, format := Render(Request{Text: text, Room: 1000})
			require.Equal(t, JSON, format)
			_, body, framed := strings.Cut(shown, "\n")
			if !framed {
				body = shown
			}
			require.True(t, json.Valid([]byte(body)), shown)
			require.Contains(t, body, `"count":200`)
			require.Contains(t, body, `"n199"`)
			require.LessOrEqual(t, len(shown), 1000)
			require.Greater(t, len(shown), 800, "the room is used")
		})
	}
}

func TestRender_ShowsErrorsAmongJSONLines(t *testing.T) {
	var lines []string
	for i := range 3000 {
		lines = append(lines, fmt.Sprintf(`{"level":"info","msg":"handled request %d","ms":%d,"error":null}`, i, i%90))
	}
	lines[1000] = `{"level":"error","msg":"payment 4711 was refused","ms":12,"error":"declined"}`
	lines[2000] = `{"level":"info","msg":"panic: index out of range","ms":0,"error":null}`
	shown := of(strings.Join(lines, "\n"), 2000)
	require.True(t, json.Valid([]byte(shown)), shown)
	require.LessOrEqual(t, len(shown), 2000)
	require.Regexp(t, `"… \d+ rows",\[[^\]]*"payment 4711 was refused"[^\]]*\],"… 999 rows",\[[^\]]*"panic: index out of range"[^\]]*\],"… \d+ rows"`, shown)
	require.Contains(t, shown, `"handled request 2999"`)
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func TestRender_WithoutListClosesTheStart(t *testing.T) {
	text := `{"a":{"b":[1,2,3,4,5,6,7,8,9,10,11,12,13,14],"c":"` + strings.Repeat("long ", 40) + `"},"d":12345,"e":{"f":` + strings.Repeat(`{"x":1,"y":`, 9) + `0` + strings.Repeat("}", 9) + "}}"
	require.Equal(t, `{"a":{"b":[1,2,3,"…"],"c":"lon…"},"…":"…"}`, of(text, 50))
	for room := range len(text) {
		checkJSON(t, text, room)
	}
}

func TestRender_LongTextInDocumentHasOwnPreview(t *testing.T) {
	inner := goods(200)
	text := `{"status":200,"headers":{"a":"b"},"body":` + quoted(inner) + `,"ms":12}`
	got := checkJSON(t, text, 2000)
	require.Equal(t, 200.0, got["status"])
	require.Equal(t, 12.0, got["ms"])
	require.True(t, json.Valid([]byte(got["body"].(string))))
	require.Contains(t, got["body"], `"count":200`)
}

func TestRender_MarksTruncatedDocuments(t *testing.T) {
	whole := goods(60)
	for cut := len(whole) / 2; cut < len(whole); cut += 7 {
		got := checkJSON(t, whole[:cut], 3000)
		if strings.Count(whole[:cut], `"id"`) > 3 && strings.HasSuffix(whole[:cut], `"`) {
			require.NotEmpty(t, got["cut"], "a preview says that its document was cut: %s", whole[max(0, cut-30):cut])
		}
		checkJSON(t, whole[:cut], 300)
	}
	got := checkJSON(t, whole[:5000]+"... [truncated]", 1000)
	require.NotEmpty(t, got["cut"])
	shown := of(`{"content":[{"type":"text","text":`+quoted(whole)[:6000], 1000)
	_, body, _ := strings.Cut(shown, "\n")
	require.True(t, json.Valid([]byte(body)), shown)
	require.Contains(t, body, `"columns"`)
	require.NotContains(t, of(`{"a":"`+strings.Repeat("a", 500)+`","n":`+strings.Repeat("1", 50), 560), "111", "a number that may go on is not shown")
}

func TestRender_OtherTextIsNotReadAsJSON(t *testing.T) {
	for _, text := range []string{
		`{"a":1} and then some words, as a log has them after an object ` + strings.Repeat("x ", 100),
		"[info] starting\n[warn] slow\n" + strings.Repeat("[info] working\n", 40),
		"{{ template }}" + strings.Repeat("y\n", 200),
		"{'python': 'dict'}" + strings.Repeat(" ", 200),
	} {
		_, format := Render(Request{Text: text, Room: 100})
		require.NotEqual(t, JSON, format, text)
	}
}

func TestRender_UnwrapsMCPResults(t *testing.T) {
	long := strings.Repeat("A line of words that is not JSON.\n", 100)
	one := of(`{"content":[{"type":"text","text":`+quoted(long)+`}],"isError":true}`, 600)
	require.True(t, strings.HasPrefix(one, "isError: true. Text inside the MCP result, escaped in the saved file:\nA line of words"), one)
	require.NotContains(t, one, `\n`)
	several := of(`{"content":[{"type":"text","text":`+quoted(long)+`},{"type":"image","data":"`+strings.Repeat("iVBO", 500)+`","mimeType":"image/png"},`+
		`{"type":"text","text":`+quoted(goods(50))+`}]}`, 2000)
	require.Contains(t, several, "part 1, text, 3")
	require.Contains(t, several, "part 2, image/png, 20")
	require.Contains(t, several, "part 3, text, ")
	require.Contains(t, several, `"count":50`)
	require.LessOrEqual(t, len(several), 2000)
	require.NotContains(t, several, "iVBO")
	require.Contains(t, func() string {
		s, _ := Render(Request{Text: `{"content":[{"type":"text","text":` + quoted(long) + `}]}`, Room: 400, Chinese: true})
		return s
	}(), "MCP 结果中的文本")
}

// randomJSON writes a random value.
func randomJSON(r *rand.Rand, depth int) string {
	texts := []string{`""`, `"é…\n\"\\"`, `"\ud83d\ude00x"`, `"日本語"`, `"` + strings.Repeat("word ", r.IntN(60)) + `"`, "null", "true", "-1.50e+9", "0", "12345678901234567890"}
	if depth <= 0 || r.IntN(4) == 0 {
		return texts[r.IntN(len(texts))]
	}
	var items []string
	n := r.IntN(12)
	if r.IntN(2) == 0 {
		for range n {
			items = append(items, randomJSON(r, depth-1))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	for i := range n {
		items = append(items, fmt.Sprintf(`"k%d": %s`, i, randomJSON(r, depth-1)))
	}
	return "{" + strings.Join(items, ",\n") + "}"
}

func TestRender_ParsesDespiteBrokenEscapes(t *testing.T) {
	for _, escape := range []string{`\ud83d\uzzzz`, "\\u123\x11", `\ud83d\ud8`} {
		checkJSON(t, `{"a":[`+strings.Repeat(`{"k":"`+escape+`","n":1234},`, 40)+`{"k":1}]}`, 600)
	}
}

func TestRender_JSONPreviewsParse(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	for range race.Cases(150) {
		text := randomJSON(r, 5)
		if text[0] != '{' && text[0] != '[' {
			continue
		}
		require.True(t, json.Valid([]byte(text)))
		for range 6 {
			room := 5 + r.IntN(len(text)+10)
			shown, format := Render(Request{Text: text, Room: room})
			require.LessOrEqual(t, len(shown), room)
			require.True(t, utf8.ValidString(shown))
			if _, wrapped := func() (envelope, bool) { d, _ := scan(text); return envelopeIn(d) }(); !wrapped && len(text) > room {
				require.Equal(t, JSON, format)
				require.True(t, json.Valid([]byte(shown)), "%s\n%s", text, shown)
			}
		}
	}
}

func TestRender_HardJSONStaysValid(t *testing.T) {
	for name, text := range map[string]string{
		"10,000 open brackets":   strings.Repeat("[", 10_000),
		"10,000 nested brackets": strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000),
		"10,000 nested objects":  strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000),
		"one long key":           `{"` + strings.Repeat("k", 100_000) + `":1}`,
		"100,000 keys":           "{" + strings.Repeat(`"k":1,`, 100_000) + `"l":1}`,
		"records of many keys":   "[" + strings.Repeat("{"+strings.Repeat(`"a":1,`, 999)+`"b":2},`, 9) + "{}]",
		"backslashes":            `["` + strings.Repeat(`\\`, 50_000) + `"]`,
		"wrong escapes":          `["` + strings.Repeat(`\x\u12\ud800`, 5_000) + `"]`,
		"no UTF-8":               `["` + strings.Repeat("\xff\xfe\x00", 5_000) + `"]`,
	} {
		for _, room := range []int{5, 17, 100, 999, 20_000, 60_000} {
			shown, _ := Render(Request{Text: text, Room: room})
			require.LessOrEqual(t, len(shown), room, name)
			require.True(t, utf8.ValidString(shown), name)
			if len(text) > room {
				require.True(t, json.Valid([]byte(shown)), "%s: %s", name, display.Start(shown, 200))
			}
		}
	}
}

// Four megabytes of brackets take no more time than plain text of that size, and at most twice their size in memory.
//
//claim:security-65
func TestRender_HostileNestingIsCheap(t *testing.T) {
	race.Skip(t, "measures memory and time")
	const size = 4 << 20
	fill := func(part, end string) string { return strings.Repeat(part, size/len(part)-1) + end }
	for name, text := range map[string]string{
		"open lists":         fill("[", ""),
		"open objects":       fill(`{"a":`, ""),
		"both":               fill(`[{"a":`, ""),
		"closed lists":       strings.Repeat("[", size/2) + strings.Repeat("]", size/2),
		"many deep lists":    "[" + fill(strings.Repeat("[", 400)+strings.Repeat("]", 400)+",", "1]"),
		"many empty lists":   "[" + fill("[],", "1]"),
		"many empty objects": "[" + fill("{},", "1]"),
		"lines of brackets":  fill(strings.Repeat("[", 50)+strings.Repeat("]", 50)+"\n", "[1]"),
		"in an MCP result":   `{"content":[{"type":"text","text":"` + fill("[", `"}]}`),
	} {
		text = text[:min(len(text), size)]
		part := race.Fastest(time.Second, func() { _, _ = Render(Request{Text: text[:size/8], Room: 4000}) })
		most := 32*part + 10*time.Millisecond // four times as much as if each byte took as long as in the part
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		runs := uint64(0)
		took := race.Fastest(most, func() {
			runs++
			shown, _ := Render(Request{Text: text, Room: 4000})
			require.LessOrEqual(t, len(shown), 4000, name)
		})
		runtime.ReadMemStats(&after)
		require.Less(t, (after.TotalAlloc-before.TotalAlloc)/runs, uint64(2*size), name)
		require.Less(t, took, most, "%s: an eighth takes %s", name, part)
	}
}

func FuzzJSON(f *testing.F) {
	f.Add(goods(20), 300)
	f.Add(`[{"a":1},{"a":2},{"a":"x`, 20)
	f.Add("{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n", 15)
	f.Add(`{"content":[{"type":"text","text":"[1,2,3,\"\\u12"}]}`, 30)
	f.Add(`[["\ud83d\ude00","…"],[1.0],[]]`, 12)
	f.Fuzz(func(t *testing.T, text string, room int) {
		room = min(max(room, -1), 1<<16)
		shown, format := Render(Request{Text: text, Room: room, Question: "a?"})
		if len(shown) > max(room, 0) || !utf8.ValidString(shown) {
			t.Fatalf("%d bytes in a room of %d: %q", len(shown), room, shown)
		}
		if again, _ := Render(Request{Text: text, Room: room, Question: "a?"}); again != shown {
			t.Fatal("not the same again")
		}
		d, ok := scan(text)
		if !ok || room < leastValue || len(text) <= room {
			return
		}
		if _, wrapped := envelopeIn(d); !wrapped && (format != JSON || !json.Valid([]byte(shown))) {
			t.Fatalf("no JSON: %s", shown)
		}
	})
}

func BenchmarkJSON(b *testing.B) {
	for name, text := range map[string]string{"1MB": goods(4700), "4MB": goods(19_000), "MCP_1MB": `{"content":[{"type":"text","text":` + quoted(goods(4000)) + "}]}"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				Render(Request{Text: text, Room: 8000})
			}
		})
	}
}
