// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
)

// endsAt is a context that ends when it is asked for the nth time whether it has.
type endsAt struct {
	context.Context
	left int
}

func (c *endsAt) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A search looks at its context before each term of the query and of each clause, and
// wherever it ends, its error is all that is returned and the next search is a new one.
func TestASearchEndsWithItsContextWhereverItIs(t *testing.T) {
	for text, looks := range map[string]int{
		"":                                  1,
		"mail":                              1 + 1,
		"mail weather":                      2 + 1,
		"send mail. then the weather":       3 + 1 + 2 + 1, // the whole, its end, and two clauses
		"send mail. weather. delete a file": 5 + 1 + 2 + 1 + 2,
	} {
		x := New(allWords(), toolbox)
		want := answers(t, x, text, 0)
		counting := &endsAt{Context: t.Context(), left: 1 << 30}
		_, err := x.Search(counting, text, 0)
		require.NoError(t, err)
		require.Equal(t, looks, 1<<30-counting.left, "%q", text)
		for n := range looks {
			hits, err := x.Search(&endsAt{Context: t.Context(), left: n}, text, 0)
			require.ErrorIs(t, err, context.Canceled, "%q, after %d", text, n)
			require.Empty(t, hits)
			require.Equal(t, want, answers(t, x, text, 0), "%q, after %d", text, n)
		}
	}
}

// A query of stop words alone is read a second time, like a first one.
func TestTheSecondPassStartsAfresh(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Name: "of", Description: "of"}, {Name: "the", Description: "the"}, {Name: "then", Description: "of the then"}})
	parse := func(text string) parsedQuery { return parsed(x, text) }
	describe := func(q parsedQuery) string {
		var b strings.Builder
		for _, w := range q.terms {
			fmt.Fprintf(&b, "%s %v; ", w.text, w.required)
		}
		return b.String() + fmt.Sprint(q.clauses, len(q.required))
	}
	for text, want := range map[string]string{
		"the of":             "the false; of false; [] 0",
		"of the. the of the": "of false; the false; [[0 1] [1 0]] 0",
		"the of +" + strings.Repeat("z", maxWordBytes+1): "the false; of false; [] 0",
		"+的": "的 true; [] 1",
	} {
		require.Equal(t, want, describe(parse(text)), "%q", text)
	}
	// The same words, once read at the first pass and once at the second.
	first := parse("zebra of the. the of then")
	require.Len(t, first.terms, 1)
	require.Nil(t, parse("zebra mail. the of then").clauses, "a clause without terms is none")
	require.Equal(t, "+the", "+"+parse("+the").terms[0].text)
	require.True(t, parse("+the").terms[0].required)
}

// What does not answer a query is explained by its terms alone.
func TestNothingMatchesIsExplained(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Name: "mail"}, {Name: "weather"}})
	for text, want := range map[string]keyword.Explanation{
		"":        {Name: "mail"},
		"zebra":   {Name: "mail", Terms: []keyword.TermExplanation{{Term: "zebra"}}},
		"weather": {Name: "mail", Terms: []keyword.TermExplanation{{Term: "weather"}}},
		"+zebra +weather": {Name: "mail", Terms: []keyword.TermExplanation{
			{Term: "zebra", Required: true}, {Term: "weather", Required: true}}},
	} {
		require.Equal(t, want, x.Explain(text, 0), "%q", text)
	}
	e := x.Explain("mail +weather", 0)
	require.Zero(t, e.Score)
	require.Equal(t, keyword.Factor{Name: "lacks what is required"}, e.Factors[len(e.Factors)-1])
	require.Len(t, e.Factors, 3)
	e = x.Explain("mail weather", 0)
	require.Len(t, e.Factors, 2, "one clause, and not named")
	require.Equal(t, 1+nameBonus, e.Factors[0].Value)
	a, b := rarity(x, "mail"), rarity(x, "weather")
	require.InDelta(t, math.Sqrt(a/(a+b)), e.Factors[1].Value, 1e-12)
}

// The lines of the word lists, one of each form.
func TestLinesOfTheLists(t *testing.T) {
	s := make(stemmer)
	list := make(map[string][]string)
	addEquivalents(list, s, []string{"delete", "removing", "erases"})
	require.Equal(t, map[string][]string{"delet": {"remov", "eras"}}, list, "the first word alone leads to the others")
	list = make(map[string][]string)
	addEquivalents(list, s, []string{"=", "delete", "removing", "erases", "removed"})
	require.Equal(t, map[string][]string{"delet": {"remov", "eras"}, "remov": {"delet", "eras"}, "eras": {"delet", "remov"}}, list)

	l := &Words{lexicon: make(map[string][][]string), chinese: make(map[string][]string), longest: make(map[rune]int), stop: map[string]bool{"the": true, "off": true, "on": true}}
	l.addTranslations(s, "天气", []string{"weather", "the+weather+reports", "climate"})
	l.addTranslations(s, "关", []string{"turn+off", "switch+off"})
	l.addTranslations(s, "在线中", []string{"on+line"})
	require.Equal(t, map[string][][]string{
		"天气": {{"weather", "climat"}, {"report"}}, "关": {{"turn", "switch"}, {"off"}}, "在线中": {{"on"}, {"line"}},
	}, l.lexicon)
	require.Equal(t, map[string][]string{"weather": {"天气"}, "climat": {"天气"}}, l.chinese, "of words of two characters")
	require.Equal(t, map[rune]int{'天': 2, '关': 1, '在': 3}, l.longest)

	l = &Words{phrases: make(map[string][]phrase)}
	l.addPhrase(s, strings.Fields("setting ~ up = create arrange creating"))
	l.addPhrase(s, strings.Fields("set back + restore"))
	require.Equal(t, map[string][]phrase{"set": {
		{text: "set up", words: []string{"set", "up"}, means: []string{"creat", "arrang"}, ignored: true, open: true},
		{text: "set back", words: []string{"set", "back"}, means: []string{"restor"}},
	}}, l.phrases)
}

// A run is cut into words of the lexicon at the least cost, in stretches of bounded
// length.
func TestCutsOfARun(t *testing.T) {
	words := func(all ...string) *Words {
		l := &Words{lexicon: make(map[string][][]string), politeness: map[string]bool{"请": true}, chinese: make(map[string][]string), longest: make(map[rune]int)}
		for _, word := range all {
			l.addTranslations(make(stemmer), word, []string{"x"})
		}
		return l
	}
	for _, c := range []struct {
		lexicon string
		text    string
		want    string
	}{
		{"甲乙 乙丙 丙", "甲乙丙", "甲乙 丙"},
		{"甲乙 乙丙", "甲乙丙", "乙丙"}, // as many words as the other cut: the later one
		{"甲 乙 甲乙", "甲乙", "甲乙"},
		{"甲 乙 丙 甲乙丙", "甲乙丙", "甲乙丙"},
		{"甲", "乙甲丙", "甲"},
		{"甲乙丙丁", "甲乙丙", ""},
		{"甲乙", "请甲乙请", "甲乙"},
		{"甲乙", "", ""},
	} {
		l := words(strings.Fields(c.lexicon)...)
		require.Equal(t, c.want, strings.Join(segment(l, c.text), " "), "%s with %s", c.text, c.lexicon)
	}
	l := words("甲乙")
	odd := "丙" + strings.Repeat("甲乙", maxSegmented)
	require.Len(t, segment(l, odd), maxSegmented-2, "a word across two stretches is lost")
	require.Equal(t, []string{"", "甲", ""}, withoutPoliteness(l, "请甲请"))
}

// Characters are of scripts without spaces, parts of words, or neither.
func TestKindsOfCharacters(t *testing.T) {
	for _, r := range "天あカー한ไລកက" {
		require.True(t, isUnspaced(r) && isWordRune(r), "%c", r)
	}
	for _, r := range "azAZ09éßя٣" {
		require.True(t, !isUnspaced(r) && isWordRune(r), "%c", r)
	}
	for _, r := range "`{@[/:_-. 。\u3000€" {
		require.True(t, !isUnspaced(r) && !isWordRune(r), "%c", r)
	}
	require.True(t, startsUnspaced("天x") && !startsUnspaced("x天") && !startsUnspaced(""))
}

// On each side of the limits that are not of documents or queries.
func TestLimitsOfIdentifiersAndClauses(t *testing.T) {
	id := strings.Repeat("x", maxWordBytes-2) + "_y"
	require.Equal(t, id, leadingIdentifier(id))
	require.Empty(t, leadingIdentifier("x"+id))
	for text, want := range map[string]int{"abcdef. bcdef; x": 3, "abcdef. cdef; x": 2, "abcdef.\nbcdef; x": 2, "abcde. x": 1, "abcdef.": 2, "abcdef.b; x": 2} {
		require.Len(t, appendClauseEnds(nil, text), want, "%q", text)
	}
	for text, want := range map[string]int{". x": 1, ".": 1, ".x": 0, ".\"": 1, ".)": 1, ".'": 1, "! ": 1, ", and x": 6, ", andx": 0, "然后": 6, "x": 0} {
		require.Equal(t, want, breakAt(text, 0), "%q", text)
	}
	for field, want := range map[string]bool{"http://x": true, "a://b": true, "a@b.c": true, "@b.c": false, "a@bc": false, "a.b@c": false, "a@": false} {
		require.Equal(t, want, isAddress(field), field)
	}
	require.Equal(t, 0.5, affixRatio("abcdefgh", "abcd"))
	require.Zero(t, affixRatio("abcdefgh", "bcde"))
	require.Zero(t, affixRatio("abcdefghijk", "abcd"), "less than minAffixRatio")
	require.Equal(t, 0.4, affixRatio("abcd", "abcdefghij"))
	require.Zero(t, affixRatio("abcd", "abc"), "less than minTyped")
	require.InDelta(t, 1-1./7, typoCloseness("wether", "weather", 1), 1e-12)
	require.InDelta(t, .6*(1-1./7), typoCloseness("xeather", "weather", 1), 1e-12)
	require.Zero(t, typoCloseness("weather", "wxxther", 1))
	require.Equal(t, []string{"ab", "abc"}, startingWith([]string{"a", "ab", "abc", "b"}, "ab"))
	require.Empty(t, startingWith([]string{"a", "ab"}, "abc"))
	require.Equal(t, "cba", string(appendBackwards(nil, "abc")))
	for word, want := range map[string]bool{"undo do": true, "do undo": true, "redo do": false, "do do": false, "nonsense sense": true, "sense sensible": false} {
		a, b, _ := strings.Cut(word, " ")
		require.Equal(t, want, areOpposite(a, b), word)
	}
}

// What a term matters: its rarity, half of the greatest rarity if no document has it,
// and of a phrase that of its meaning.
func TestImportanceOfTerms(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Name: "create"}, {Name: "schedule"}, {Name: "weather", Description: "create"}, {Name: "set"}, {Name: "明日"}})
	rarity := func(token string) float64 { return rarity(x, token) }
	unknown := float64(float32(idf(0, x.Len()))) / 2
	for text, want := range map[string]map[string]float64{
		"set up":   {"set up": max(rarity("creat")*weightMeaning, rarity("schedul")*weightOtherMeaning), "set": rarity("set")},
		"zebra":    {"zebra": unknown},
		"create":   {"creat": rarity("creat")},
		"天气":       {"天": unknown * .1, "气": unknown * .1, "天气": unknown * .1, "天气/weather": rarity("weather")},
		"schedule": {"schedul": rarity("schedul")},
	} {
		got := make(map[string]float64)
		for _, w := range parsed(x, text).terms {
			got[w.text] = w.importance
		}
		require.Len(t, got, len(want), "%q: %v", text, got)
		for word, importance := range want {
			require.InDelta(t, importance, got[word], 1e-9, "%q in %q", word, text)
		}
	}
}

// Two words are also one where a single character is between them, and no more.
func TestOnlyNeighboursAreJoined(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Description: "xyzqv"}})
	for text, want := range map[string]bool{"xy zqv": true, "xy-zqv": true, "xy  zqv": false, "xy, zqv": false, "xy the zqv": false, "xy 天 zqv": false} {
		joined := 0
		for _, w := range parsed(x, text).terms {
			for _, e := range w.expansions {
				if e.relation == joinedIn {
					joined++
				}
			}
		}
		require.Equal(t, map[bool]int{true: 2}[want], joined, "%q", text)
	}
}

// A word without spaces that is required is found by its pairs of characters and its
// meaning, and by single characters where there is nothing else.
func TestTokensOfARequiredWord(t *testing.T) {
	for _, c := range []struct{ description, word, want string }{
		{"天气", "天气", "天气"},
		{"天 气", "天气", "天 气"},
		{"天 weather", "天气", "weather"},
		{"天气 weather", "天气", "天气 weather"},
		{"climate weather", "天气", "weather"}, // the first meaning that is known
		{"气温", "天气", "气"},
		{"𠮷野 𠮷", "𠮷野", "𠮷野"}, // a single character of four bytes is not a pair
		{"zebra", "天气", ""},
	} {
		x := New(allWords(), []keyword.Doc{{Description: c.description}})
		q := &queryParser{finder: finderOf(x), l: allWords()}
		var got []string
		for _, token := range q.appendTokensOf(nil, c.word) {
			got = append(got, x.text(token))
		}
		require.Equal(t, c.want, strings.Join(got, " "), "%q in %q", c.word, c.description)
	}
}
