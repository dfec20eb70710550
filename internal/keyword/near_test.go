// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var nearDocs = []Doc{
	{Name: "github__create_issue"}, {Name: "github__list_issues"}, {Name: "linear__create_issue"}, {Name: "get_weather"},
	{Name: "getWeatherForecast"}, {Name: "slack__post_message"}, {Name: "time-zone.convert"}, {Name: "天气查询"}, {Name: "files__read"},
}

func nearNames(x *Index, name string, limit int) (names []string) {
	for _, doc := range x.Near(name, limit) {
		names = append(names, x.Name(doc))
	}
	return names
}

func TestNearFindsTheNameThatWasMeant(t *testing.T) {
	x := New(nearDocs)
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
		require.Equal(t, []string{want}, nearNames(x, typed, 1), "%q", typed)
	}
	require.ElementsMatch(t, []string{"github__create_issue", "linear__create_issue"}, nearNames(x, "create_issue", 2))
	for _, strange := range []string{"", "   ", "'\"", "qqqqqqqq", "\xff\xff"} {
		require.Empty(t, nearNames(x, strange, 0), "%q", strange)
	}
}

func TestResolveFindsOnlyWhatIsUnmistakable(t *testing.T) {
	x := New(nearDocs)
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
		_, ok := x.Resolve(unclear, nil)
		require.False(t, ok, "%q", unclear)
	}
}

// What must not be seen does not make a name unclear, nor is it an answer.
func TestResolveKeepsToWhatIsAllowed(t *testing.T) {
	x := New([]Doc{{Name: "get_weather"}, {Name: "getWeather"}, {Name: "a__get_weather"}})
	for _, c := range []struct{ typed, without, want string }{
		{"get_weather", "", "get_weather"},
		{"get_weather", "get_weather", "getWeather"},
		{"GET WEATHER", "", ""},
		{"GET WEATHER", "getWeather", "get_weather"},
		{"GET WEATHER", "get_weather getWeather", "a__get_weather"},
		{"GET WEATHER", "get_weather getWeather a__get_weather", ""},
	} {
		got := ""
		if doc, ok := x.Resolve(c.typed, func(doc int) bool { return !contains(strings.Fields(c.without), x.Name(doc)) }); ok {
			got = x.Name(doc)
		}
		require.Equal(t, c.want, got, "%q without %q", c.typed, c.without)
	}
}

func TestNearReadsABoundedPartOfWhatWasTyped(t *testing.T) {
	x := New(nearDocs)
	require.Equal(t, x.Near(strings.Repeat("q", maxNearBytes), 0), x.Near(strings.Repeat("q", 10*maxNearBytes), 0))
	require.NotPanics(t, func() { x.Near(strings.Repeat("get_wether ", 100_000), 5) })
	require.NotPanics(t, func() { New([]Doc{{Name: strings.Repeat("天", 1000)}, {}}).Near("天", 5) })
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

func TestDistanceCountsSlips(t *testing.T) {
	rng := newRand(t)
	word := func() string {
		letters := []rune("abc天")
		var w []rune
		for range rng.IntN(6) {
			w = append(w, letters[rng.IntN(len(letters))])
		}
		return string(w)
	}
	for range 3000 {
		a, b, limit := word(), word(), rng.IntN(5)
		want := slips([]rune(a), []rune(b))
		if got := distance(a, b, limit); want <= limit {
			require.Equal(t, want, got, "%q %q", a, b)
		} else {
			require.Greater(t, got, limit, "%q %q", a, b)
		}
	}
	require.Greater(t, distance(strings.Repeat("a", maxTyped+1), strings.Repeat("a", maxTyped+1), 2), 2)
}

func TestTopKKeepsTheFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		k, n := rng.IntN(6), rng.IntN(30)
		best := newTopK(k, func(a, b int) int { return a - b })
		all := rng.Perm(n)
		for _, v := range all {
			best.add(v)
		}
		var want []int
		for v := range min(k, n) {
			want = append(want, v)
		}
		require.Equal(t, want, append([]int(nil), best.sorted()...))
	}
}
