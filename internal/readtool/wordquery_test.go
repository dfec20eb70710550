// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestWordQuery_HoldsTheStemsOfItsWords(t *testing.T) {
	for query, want := range map[string]string{
		"查询天气 +必须有 go语言 ok 天气":                "查询 询天 天气 必须 须有 go 语言 ok",
		"Failing tests, failed":               "fail test",
		"TestRefund refund_test.go:41":        "test refund testrefund go 41 refund_test.go:41",
		"“天” 気 É é straße":                    "天 気 é straße",
		"+ ++ ,.;":                            "",
		"HTTPServer v2Beta a":                 "httpserver v2 beta v2beta a",
		strings.Repeat("x", maxWord+1) + " y": strings.Repeat("x", maxWord+1) + " y",
	} {
		var got []string
		for _, each := range newWordQuery(query).terms {
			require.True(t, utf8.ValidString(each.stem))
			got = append(got, each.stem)
		}
		require.Equal(t, want, strings.Join(got, " "), query)
	}
	var many strings.Builder
	for i := range 2 * maxTerms {
		fmt.Fprintf(&many, "word%d ", i)
	}
	require.Len(t, newWordQuery(many.String()).terms, maxTerms)
}

// A passage with more of the query fits no worse than one with less, and one without any fits not at all,
// whatever the others are.
func TestWordQuery_MoreTermsScoreHigher(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	words := strings.Fields("rotate signing keys gateway 天气 refund_test.go:41 e07e7f02 Lisbon weather total")
	for range 300 {
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		asked, filler := words[:3], words[3:]
		q := newWordQuery(strings.Join(asked, " "))
		some := func() string { return "much that " + filler[r.IntN(len(filler))] + " says of it" }
		var texts []string
		for n := range len(asked) + 1 {
			texts = append(texts, some()+" "+strings.Join(asked[:n], " ")+strings.Repeat(" it", 2*(len(asked)-n)))
		}
		for range r.IntN(60) {
			texts = append(texts, some())
		}
		var fits []passageTerms
		for _, i := range r.Perm(len(texts)) {
			f := q.add("", texts[i], true)
			for len(fits) <= i {
				fits = append(fits, passageTerms{})
			}
			fits[i] = f
		}
		score := q.scorer()
		for n := range asked {
			require.Greater(t, score(fits[n+1]), score(fits[n]), "seed %d: %q", seed, asked)
		}
		for i, f := range fits {
			require.Equal(t, f.hasAny(), score(f) > 0, "seed %d: %q", seed, texts[i])
			if i > len(asked) {
				require.False(t, f.hasAny(), "seed %d: %q of %q", seed, texts[i], asked)
			}
		}
	}
}
