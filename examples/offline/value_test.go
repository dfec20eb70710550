// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValuesAreFoundInText(t *testing.T) {
	type found struct {
		kind kind
		text string
	}
	for text, want := range map[string][]found{
		`say "hello, world" twice`:       {{quoted, "hello, world"}},
		"say ‘hi’ and 'ho'":              {{quoted, "hi"}, {quoted, "ho"}},
		"统计“春眠”和「秋」":                     {{quoted, "春眠"}, {quoted, "秋"}},
		"this: ```csv\na,b\n1,2\n```":    {{quoted, "a,b\n1,2"}},
		`format {"a":[1,{"b":2}]} now`:   {{document, `{"a":[1,{"b":2}]}`}},
		"match /a+b/ here":               {{pattern, "a+b"}},
		"open https://x.org/a?b=1.":      {{url, "https://x.org/a?b=1"}},
		"mail bob@example.com please":    {{email, "bob@example.com"}},
		"on 2026-03-10":                  {{date, "2026-03-10"}},
		"on March 3rd, 2026":             {{date, "2026-03-03"}},
		"on 10 December 1815":            {{date, "1815-12-10"}},
		"2026年5月1日":                      {{date, "2026-05-01"}},
		"at 2:30 pm":                     {{clock, "14:30"}},
		"at 12 am":                       {{clock, "00:00"}},
		"下午14点30分":                       {{clock, "14:30"}},
		"on 2026-03-10 at 9am":           {{moment, "2026-03-10 09:00"}},
		"ping 10.0.0.1 in 10.0.0.0/8":    {{address, "10.0.0.1"}, {network, "10.0.0.0/8"}},
		"paint it #ff8800":               {{colour, "#ff8800"}},
		"from Europe/Paris to UTC":       {{zone, "Europe/Paris"}, {zone, "UTC"}},
		"read docs/notes.txt and a.csv.": {{path, "docs/notes.txt"}, {path, "a.csv"}},
		"get users[0].name and a.b":      {{dotted, "users[0].name"}, {dotted, "a.b"}},
		"work out 3*(4+5)":               {{expression, "3*(4+5)"}},
		"add 1,234.5, -7 and 1e3":        {{number, "1234.5"}, {number, "-7"}, {number, "1e3"}},
		"run at */5 * * * * daily":       {{schedule, "*/5 * * * *"}},
		"in hexadecimal":                 {{named, "16"}},
		"the MD5 of it":                  {{code, "MD5"}},
		"the SHA-256 of it":              {{code, "SHA-256"}},
		"the time in New York":           {{proper, "New York"}},
		"Reverse it":                     nil,
		"convert 5 km to nautical miles": {{number, "5"}, {unit, "km"}, {unit, "nautical miles"}},
		"how many pounds are 80 kg":      {{unit, "pounds"}, {number, "80"}, {unit, "kg"}},
		"把5公里换算成英里":                      {{number, "5"}, {unit, "kilometres"}, {unit, "miles"}},
		"wait 1 hour and 30 minutes":     {{duration, "1h30m"}},
	} {
		t.Run(text, func(t *testing.T) {
			var got []found
			for _, v := range values(text) {
				got = append(got, found{v.kind, v.text})
			}
			require.Equal(t, want, got)
		})
	}
}

func TestValuesInARowAreAGroup(t *testing.T) {
	all := values("the 90th of 1, 2 and 3")
	require.Len(t, all, 4)
	require.NotEqual(t, all[0].group, all[1].group)
	require.Equal(t, all[1].group, all[3].group)
}

func TestWordsAreAlike(t *testing.T) {
	for _, c := range []struct {
		said, meant string
		alike       bool
	}{
		{"words", "word", true}, {"encoding", "encode", true}, {"sorted", "sort", true}, {"dates", "date", true},
		{"statistics", "statistic", true}, {"compressed", "compression", true}, {"平均值", "mean", true}, {"km", "kilometres", true},
		{"average", "mean", true}, {"translate", "transpose", false}, {"decode", "decimal", false}, {"hash", "has", false}, {"count", "number", false},
	} {
		require.Equal(t, c.alike, alike(c.said, c.meant) > 0, "%s and %s", c.said, c.meant)
	}
}

func TestNamesAreCutIntoWords(t *testing.T) {
	require.Equal(t, []string{"hash", "sha", "256", "sha256"}, nameWords("hash__sha_256"))
	require.Equal(t, []string{"max", "retry", "count"}, nameWords("maxRetryCount"))
	require.Equal(t, []string{"sha256", "of", "abc"}, tokens("SHA-256 of abc"))
	require.Equal(t, []string{"url", "encode"}, tokens("URL-encode"))
}
