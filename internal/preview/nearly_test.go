// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rowsShown is how many whole names of records a preview has.
func rowsShown(shown string) (n int) {
	for i := range 300 {
		if strings.Contains(shown, fmt.Sprintf(`"Charger v%d"`, i)) {
			n++
		}
	}
	return n
}

func TestScan_NearlyJSONIsReadAsJSON(t *testing.T) {
	plain := goods(300)
	want := rowsShown(of(plain, 4000))
	require.Greater(t, want, 40)
	for name, text := range map[string]string{
		"NaN":              strings.Replace(plain, `"width": 7`, `"width": NaN`, 1),
		"infinity":         strings.NewReplacer(`"width": 7`, `"width": -Infinity`, `"width": 8`, `"width":inf`).Replace(plain),
		"trailing comma":   strings.TrimSuffix(plain, "]}") + ",\n],\n}",
		"a warning":        "(node:1234) Warning: the API is deprecated\n" + plain,
		"a bracketed one":  "[warn] slow query\n" + plain,
		"three lines":      "one\ntwo\nthree\n" + plain,
		"a fence":          "```json\n" + plain + "\n```\n",
		"a mark":           "\ufeff" + plain,
		"fence and words":  "Here they are:\n\n```json\n" + plain + "\n```",
		"cut behind comma": strings.TrimSuffix(plain, "]}") + ",",
	} {
		shown, format := Render(Request{Text: text, Room: 4000})
		require.Equal(t, JSON, format, name)
		require.True(t, json.Valid([]byte(shown)), name)
		require.GreaterOrEqual(t, rowsShown(shown), want*9/10, name)
	}
	lines := "```\n" + strings.Repeat(`{"a":1,"b":"some words of it"}`+"\n", 300) + "```\n"
	_, format := Render(Request{Text: lines, Room: 1000})
	require.Equal(t, JSON, format)
	for name, text := range map[string]string{
		"prose":          strings.Repeat("words of it\n", 4) + plain,
		"no value":       `{"a":,` + strings.Repeat(`"b":1,`, 999) + `}`,
		"two commas":     `[1,,` + strings.Repeat(`2,`, 999) + `3]`,
		"only a comma":   `[,` + strings.Repeat(" ", 999) + `]`,
		"log with times": strings.Repeat("[2025-03-01 10:00:00] worker: {\"a\":1}\n", 100),
	} {
		_, format := Render(Request{Text: text, Room: 500})
		require.NotEqual(t, JSON, format, name)
	}
	document, _, ok := Document(`{"a":NaN,"b":[1,2,],}`)
	require.True(t, ok)
	require.JSONEq(t, `{"a":"NaN","b":[1,2]}`, string(document))
	value, _, ok := Decode(`{"a":NaN}`)
	require.True(t, ok)
	require.Equal(t, map[string]any{"a": "NaN"}, value)
}

func TestShowJSON_ShortValuesComeFirst(t *testing.T) {
	out, errs := strings.Repeat("compiling part of it\\n", 5000), strings.Repeat("warning: something\\n", 5000)
	for name, text := range map[string]string{
		"flat":   `{"stdout":"` + out + `","stderr":"` + errs + `","exit_code":137}`,
		"nested": `{"result":{"process":{"stdout":"` + out + `","stderr":"` + errs + `","exit_code":137}}}`,
		"list":   `[{"stdout":"` + out + `"},{"stderr":"` + errs + `"},{"exit_code":137}]`,
		"MCP":    `{"content":[{"type":"text","text":` + quoted(`{"stdout":"`+out+`","stderr":"`+errs+`","exit_code":137}`) + `}]}`,
	} {
		for _, room := range []int{500, 2000, 8000} {
			shown := of(text, room)
			require.Regexp(t, `"exit_code":137|\[137,`, shown, "%s in %d", name, room)
			require.Contains(t, shown, "compiling part of it", name)
			require.Contains(t, shown, "warning: something", name)
			require.LessOrEqual(t, len(shown), room)
		}
	}
}

// Whatever the values of an object are, those that are no longer than an equal share of the room are shown.
func TestShowJSON_ValuesWithinTheirShareAreWhole(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		object, members := make(map[string]any), 2+random.IntN(12)
		for i := range members {
			size := 1 + random.IntN(40)
			if random.IntN(3) == 0 {
				size = 2000 + random.IntN(9000)
			}
			object[fmt.Sprintf("key%d", i)] = strings.Repeat("value ", size/6+1)
		}
		source, _ := json.Marshal(object)
		room := 900 + random.IntN(2000)
		if len(source) <= room {
			continue
		}
		shown := of(string(source), room)
		require.LessOrEqual(t, len(shown), room)
		var got map[string]string
		require.NoError(t, json.Unmarshal([]byte(shown), &got), "%s", shown)
		for key, value := range object {
			if text := value.(string); len(text) < room/members-30 {
				require.Equal(t, text, got[key], "%s", shown)
			}
		}
	}
}

// Rows of a table are records: a column of bare ids tells how many there are and little else.
func TestTable_RowsAreMostOfARecord(t *testing.T) {
	var b strings.Builder
	for i := range 120 {
		fmt.Fprintf(&b, `,{"id":%d,"sha":"%040x","state":{"codes":[%d,%d,%d],"flags":[%t,%t]},"score":%d.5}`, 1000+i, i*7919, i, i+1, i+2, i%2 == 0, i%3 == 0, i)
	}
	shown := of("["+b.String()[1:]+"]", 1500)
	require.Contains(t, shown, `"columns":["id","sha"`)
	var table struct {
		Count int
		Rows  []any
	}
	require.NoError(t, json.Unmarshal([]byte(shown), &table), shown)
	require.Equal(t, 120, table.Count)
	first, last := table.Rows[0].([]any), table.Rows[len(table.Rows)-1].([]any)
	require.GreaterOrEqual(t, len(first), 2)
	require.EqualValues(t, []any{1000.0, 1119.0}, []any{first[0], last[0]}, "the range of ids")
}

func TestTable_EqualRowsAreNotRepeated(t *testing.T) {
	shown := of("["+strings.Repeat(`{"a":"some words","b":2,"c":[1]},`, 400)+`{"a":"other words","b":3,"c":[1]}]`, 2000)
	require.True(t, json.Valid([]byte(shown)), shown)
	require.LessOrEqual(t, strings.Count(shown, "some words"), 2*equalRows, shown)
	require.Contains(t, shown, "other words")
	require.Regexp(t, `"… 39\d rows"`, shown)
}
