// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// byLetters returns how similar a name is to an existing one as a whole.
func byLetters(existing, typed string) float64 {
	similarity := make([]float64, 1)
	NewList([]string{existing}).compareLetters(typed, similarity)
	return similarity[0]
}

// byWords returns how similar the words of a name are to those of an existing one.
func byWords(existing, typed string) float64 {
	similarity := make([]float64, 1)
	NewList([]string{existing}).compareWords(typed, similarity)
	return similarity[0]
}

func TestByLetters_ScoresWholeNames(t *testing.T) {
	for _, c := range []struct {
		existing, typed string
		want            float64
	}{
		{"get_weather", "Get-Weather", 1},
		{"a__get_weather", "get_weather", 0.97},
		{"a__get_weather", "b__get_weather", 0.97},
		{"get_weather", "b__get_weather", 0.97},
		{"current_weather", "weather", 0.9},
		{"weather", "current_weather", 0.9},
		{"abcdefgh1234", "1234", 0.9},                    // a third of it
		{"abcdefghi1234", "1234", 0},                     // less than a third
		{"ab1234", "234", 0},                             // too short
		{"a__b", "x__", 0},                               // no tail to compare
		{"get_weather", "get_wether", .9},                // one error in ten letters
		{"get_weather_now", "gt_weather_nw", 1 - 2.0/13}, // two in eleven
		{"getweather", "gtwether", 0},                    // two in eight are too many
		{"weather", "whather", 1 - 1.0/7},                // one in seven
		{"weather", "whethar", 0},                        // two in seven are too many
		{"abcdefghijklm", "abxdefghyjklm", 1 - 2.0/13},   // two letters for two others
		{"abc", "abd", 1 - 1.0/3},                        // one is always plausible
		{"abcd", "wxyz", 0},
		{"", "a", 0},
		{"a", "--", 0},
	} {
		require.InDelta(t, c.want, byLetters(c.existing, c.typed), 1e-9, "%q %q", c.existing, c.typed)
	}
}

func TestByWords_ScoresSharedWords(t *testing.T) {
	for _, c := range []struct {
		existing, typed string
		want            float64
	}{
		{"send_mail", "mail send", 0.85 * (0.75 + 0.25*8/9.0)},
		{"send_mail", "send", 0.85 * (0.75 + 0.25*4/9.0)},
		{"send", "send_mail", 0.85 * (0.75*4/8.0 + 0.25*4/8.0)},
		{"send_mail", "sendMAIL", 0.85 * (0.75 + 0.25*8/9.0)},
		{"send_mail", "zebra", 0},
		{"send_mail", "", 0},
		{"a_send", "send_send", 0.85 * (0.75 + 0.25*4/6.0)}, // each word once
	} {
		require.InDelta(t, c.want, byWords(c.existing, c.typed), 1e-9, "%q %q", c.existing, c.typed)
	}
}

func TestCompareWord_ScoresSimilarWords(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"mail", "mail", 1},
		{"cal", "calendar", 0},            // less than two fifths
		{"cale", "calendarxx", 0.5 + .16}, // two fifths
		{"dar", "scandar", 0.5 + .4*3/7.0},
		{"ma", "mail", 0}, // too short
		{"mal", "mail", 0},
		{"mail", "mial", 0.75},
		{"mail", "main", 0.75},
		{"mail", "mian", 0},       // two errors in four letters
		{"weather", "wxathxr", 0}, // two errors in seven
		{"calendar", "cxlendxr", 0.75},
		{"calendar", "cxlxndxr", 0}, // three errors in eight
	} {
		require.InDelta(t, c.want, compareWord(c.a, c.b), 1e-9, "%q %q", c.a, c.b)
		require.InDelta(t, c.want, compareWord(c.b, c.a), 1e-9, "%q %q", c.b, c.a)
	}
	for length, want := range map[int]int{0: 0, 3: 0, 4: 1, 7: 1, 8: 2, 64: 2} {
		require.Equal(t, want, MaxTypos(length), length)
	}
}

func TestSuggest_Limits(t *testing.T) {
	x := New([]string{"b_mail", "a_mail", "mail", "zebra"})
	require.Equal(t, []int{2, 1, 0}, x.Suggest("mail", 0), "the best, and then by name")
	require.Equal(t, []int{2, 1, 0}, x.Suggest("mail", -1))
	require.Equal(t, []int{2, 1, 0}, x.Suggest("mail", 99))
	require.Equal(t, []int{2}, x.Suggest("mail", 1))

	long := strings.Repeat("a", maxTypedBytes)
	for _, c := range []struct {
		typed string
		want  bool
	}{{long, true}, {long + "-", false}} {
		_, ok := New([]string{long + "_"}).Resolve(c.typed, nil)
		require.Equal(t, c.want, ok)
	}
	_, ok := New([]string{long + "-"}).Resolve(long+"-", nil)
	require.True(t, ok, "exactly its name")
	require.Equal(t, []int{0}, New([]string{long}).Suggest(long+"zzz", 0), "the rest is ignored")

	words := strings.Fields("a b c d e f g h i j k l m n o p q")
	require.Equal(t, words[:maxTypedWords], wordsOf(strings.Join(words, " ")))
}

func TestSuggest_NamesWithoutLettersMatchNothing(t *testing.T) {
	x := New([]string{"_", "--", "a__"})
	_, ok := x.Resolve("...", nil)
	require.False(t, ok)
	require.Empty(t, x.Suggest("...", 0))
}

func TestClip_CutsBetweenCharacters(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"abc", 0, ""}, {"天气", 6, "天气"}, {"天气", 5, "天"}, {"天气", 4, "天"}, {"天气", 3, "天"}, {"天气", 2, ""}} {
		require.Equal(t, c.want, Clip(c.text, c.limit), "%q %d", c.text, c.limit)
	}
}

func TestCamelParts_SplitsAtCapitals(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "a": {"a"}, "A": {"A"}, "ab": {"ab"}, "aB": {"a", "B"}, "Ab": {"Ab"}, "AB": {"AB"}, "ABc": {"A", "Bc"}, "aBC": {"a", "BC"},
		"getHTTPServer": {"get", "HTTP", "Server"}, "a1B": {"a1B"}, "a1Bc": {"a1", "Bc"}, "éÉ": {"é", "É"}, "ÉÉé": {"É", "Éé"}, "\xffB": {"\xffB"}, "A\xff": {"A\xff"},
	} {
		require.Equal(t, want, CamelParts(text), "%q", text)
	}
}

func TestLetterSet_HasOneBitPerLetter(t *testing.T) {
	require.Equal(t, uint64(1<<('a'&63)|1<<('b'&63)), letterSet("abba"))
	require.Zero(t, letterSet(""))
}

func TestDistance_Limits(t *testing.T) {
	long := strings.Repeat("天", maxRunes)
	require.Zero(t, Distance(long, long, 0))
	require.Greater(t, Distance(long+"a", long+"a", 5), 5)
	require.Equal(t, 1, Distance(long[3:]+"a", long, 1))
	require.Equal(t, 2, Distance("ab", "", 2))
	require.Equal(t, 2, Distance("", "ab", 2))
	require.Equal(t, 1, Distance("ba", "ab", 1))
	require.Greater(t, Distance("abc", "", 2), 2)
}

func TestTopK_SortsForAnySize(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for k := range 70 {
		best := NewTopK(k, func(a, b int) int { return a - b })
		for _, v := range rng.Perm(100) {
			best.Add(v)
		}
		sorted := best.Sorted()
		require.Len(t, sorted, k)
		for i, v := range sorted {
			require.Equal(t, i, v)
		}
	}
}
