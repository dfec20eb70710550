// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

var existing = []string{
	"github__create_issue", "github__list_issues", "linear__create_issue", "get_weather",
	"getWeatherForecast", "slack__post_message", "time-zone.convert", "天气查询", "files__read",
}

func suggested(x *Catalog, name string, limit int) (names []string) {
	for _, doc := range x.Suggest(name, limit) {
		names = append(names, x.Name(doc))
	}
	return names
}

func TestSuggest_FindsIntendedName(t *testing.T) {
	x := New(existing)
	for typed, want := range map[string]string{
		"get_weather":                 "get_weather",
		"Get-Weather":                 "get_weather",
		`"get_weather",`:              "get_weather",
		"getweather":                  "get_weather",
		"get_wether":                  "get_weather",
		"weather":                     "get_weather",
		"wheather":                    "get_weather",
		"get_weather_forcast":         "getWeatherForecast",
		"forecast":                    "getWeatherForecast",
		"list_issues":                 "github__list_issues",
		"gitlab__list_issues":         "github__list_issues",
		"functions.slack_postMessage": "slack__post_message",
		"postmessage":                 "slack__post_message",
		"time_zone_convert":           "time-zone.convert",
		"ｇｅｔ＿ｗｅａｔｈｅｒ":                 "get_weather",
		"天气查询":                        "天气查询",
	} {
		require.Equal(t, []string{want}, suggested(x, typed, 1), "%q", typed)
	}
	require.ElementsMatch(t, []string{"github__create_issue", "linear__create_issue"}, suggested(x, "create_issue", 2))
	for _, strange := range []string{"", "   ", "'\"", "qqqqqqqq", "\xff\xff"} {
		require.Empty(t, suggested(x, strange, 0), "%q", strange)
	}
}

func TestResolve_FindsOnlyUnambiguousNames(t *testing.T) {
	x := New(existing)
	for typed, want := range map[string]string{
		"get_weather":        "get_weather",
		" `Get.Weather` ":    "get_weather",
		"list_issues":        "github__list_issues",
		"githubListIssues":   "github__list_issues",
		"GITHUB__LISTISSUES": "github__list_issues",
	} {
		doc, ok := x.Resolve(typed, nil)
		require.True(t, ok, "%q", typed)
		require.Equal(t, want, x.Name(doc), "%q", typed)
	}
	for _, unclear := range []string{"create_issue", "get_wether", "weather", "", "_", strings.Repeat("a", 1000)} {
		doc, ok := x.Resolve(unclear, nil)
		require.False(t, ok, "%q", unclear)
		require.Zero(t, doc)
	}
}

// Names that are not allowed neither make another one ambiguous nor are an answer.
func TestResolve_ConsidersOnlyAllowedNames(t *testing.T) {
	x := New([]string{"get_weather", "getWeather", "a__get_weather"})
	for _, c := range []struct{ typed, without, want string }{
		{"get_weather", "", "get_weather"},
		{"get_weather", "get_weather", "getWeather"},
		{"GET WEATHER", "", ""},
		{"GET WEATHER", "getWeather", "get_weather"},
		{"GET WEATHER", "get_weather getWeather", "a__get_weather"},
		{"GET WEATHER", "get_weather getWeather a__get_weather", ""},
	} {
		got := ""
		if doc, ok := x.Resolve(c.typed, func(doc int) bool { return !slices.Contains(strings.Fields(c.without), x.Name(doc)) }); ok {
			got = x.Name(doc)
		}
		require.Equal(t, c.want, got, "%q without %q", c.typed, c.without)
	}
}

func TestSuggest_ReadsBoundedPartOfInput(t *testing.T) {
	x := New(existing)
	require.Equal(t, x.Suggest(strings.Repeat("q", maxTypedBytes), 0), x.Suggest(strings.Repeat("q", 10*maxTypedBytes), 0))
	require.NotPanics(t, func() { x.Suggest(strings.Repeat("get_wether ", 100_000), 5) })
	require.NotPanics(t, func() { New([]string{strings.Repeat("天", 1000), ""}).Suggest("天", 5) })
}

// slips is the definition of the distance, by recursion.
func slips(a, b []rune) int {
	switch {
	case len(a) == 0:
		return len(b)
	case len(b) == 0:
		return len(a)
	case a[0] == b[0]:
		return slips(a[1:], b[1:])
	}
	least := 1 + min(slips(a[1:], b), slips(a, b[1:]), slips(a[1:], b[1:]))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		least = min(least, 1+slips(a[2:], b[2:]))
	}
	return least
}

func TestDistance_CountsTypingErrors(t *testing.T) {
	rng := newRand(t)
	word := func() string {
		letters := []rune("abc天")
		var w []rune
		for range rng.IntN(6) {
			w = append(w, letters[rng.IntN(len(letters))])
		}
		return string(w)
	}
	for range race.Cases(3000) {
		a, b, limit := word(), word(), rng.IntN(5)
		want := slips([]rune(a), []rune(b))
		if got := Distance(a, b, limit); want <= limit {
			require.Equal(t, want, got, "%q %q", a, b)
		} else {
			require.Greater(t, got, limit, "%q %q", a, b)
		}
	}
	require.Greater(t, Distance(strings.Repeat("a", maxRunes+1), strings.Repeat("a", maxRunes+1), 2), 2)
}

func TestTopK_KeepsTheFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		k, n := rng.IntN(6), rng.IntN(30)
		best := NewTopK(k, func(a, b int) int { return a - b })
		all := rng.Perm(n)
		for _, v := range all {
			best.Add(v)
		}
		var want []int
		for v := range min(k, n) {
			want = append(want, v)
		}
		require.Equal(t, want, append([]int(nil), best.Sorted()...))
	}
}

func TestLookup_FindsExactNames(t *testing.T) {
	x := New([]string{"b", "a", "b"})
	doc, ok := x.Lookup("b")
	require.True(t, ok)
	require.Equal(t, 0, doc, "the first of several")
	doc, ok = x.Lookup("B")
	require.False(t, ok)
	require.Zero(t, doc)
	require.Equal(t, 3, x.Len())
	for name, want := range map[string]int{"a": 0, "b": 1, "c": -1} {
		ordinal, ok := x.LookupOrdinal(name)
		require.Equal(t, want >= 0, ok, name)
		require.EqualValues(t, max(want, 0), ordinal, name)
	}
	for doc, ordinal := range []uint32{1, 0, 2} {
		require.Equal(t, ordinal, x.Ordinal(doc))
		require.Equal(t, doc, x.Position(ordinal))
		require.Equal(t, x.Name(doc), x.NameAt(ordinal))
	}
}

func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

func TestIDs_NumberDistinctWords(t *testing.T) {
	var ids IDs
	require.Empty(t, ids.Words())
	for i, id := range []uint32{0, 1, 0, 2, 1} {
		require.Equal(t, id, ids.ID([]string{"b", "", "b", "a", ""}[i]))
	}
	require.Equal(t, []string{"b", "", "a"}, ids.Words())
}
