// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package keyword

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExplanation_StringListsTermsAndMatches(t *testing.T) {
	x := New([]Doc{{Name: "github__create_IssueComment", Description: "Comments on an issue, re-creates labels."}, {Name: "b"}})
	require.Equal(t, `github__create_IssueComment: 30
  +"issue": 10
    10 name part equals "issue"
  "omm": 5
    5 name part contains "comment"
  "suec": 3
    3 name contains "github__create_issuecomment"
  "b__c": 3
    3 name contains "github__create_issuecomment"
  "labels": 2
    2 description contains "labels."
  "re-c": 2
    2 description contains "re-creates"
  "o": 5
    5 name part contains "comment"
  "zebra": 0
`, x.Explain(Parse("+Issue omm sueC b__c labels re-c o zebra"), 0).String())
	e := Explanation{Name: "a", Score: 1.23456, Terms: []TermExplanation{
		{Term: "x", Required: true, Score: 2, Matches: []Match{{Field: "name", Relation: "equals", Word: "x", Score: 2}, {Field: "server", Relation: "contains", Word: "xy", Score: .5}}},
		{Term: "y"},
	}, Factors: []Factor{{Name: "share", Value: .25}}}
	require.Equal(t, "a: 1.235\n  +\"x\": 2\n    2 name equals \"x\"\n    0.5 server contains \"xy\"\n  \"y\": 0\n  x 0.25 share\n", e.String())
}

func TestCountTerms_MergesEqualTerms(t *testing.T) {
	for _, n := range []int{0, 50} {
		terms, want, counts := []Term{}, []Term{}, []int32{}
		for i := range n {
			term := Term{Text: fmt.Sprint("f", i)}
			terms, want, counts = append(terms, term), append(want, term), append(counts, 1)
		}
		terms = append(terms, Term{Text: "a"}, Term{Text: ""}, Term{Text: "B"}, Term{Text: "A", Required: true}, Term{Text: "b"}, Term{Text: "a"})
		want, counts = append(want, Term{Text: "a", Required: true}, Term{Text: "b"}), append(counts, 3, 2)
		merged, counted := countTerms(terms, nil)
		require.Equal(t, want, merged, n)
		require.Equal(t, counts, counted, n)
	}
}

func TestCandidates_ContainThePiece(t *testing.T) {
	v := newVocabulary([]string{"weather", "feather", "heat", "a"})
	for piece, want := range map[string][]uint32{"a": {0, 1, 2, 3}, "ea": {0, 1, 2}, "eat": {0, 1, 2}, "e": {0, 1, 2}, "x": nil, "xyz": nil} {
		words, exact := v.candidates(piece)
		require.Equal(t, want, words, piece)
		require.True(t, exact, piece)
	}
	words, exact := v.candidates("eath")
	require.Equal(t, []uint32{0, 1}, words, "the rarest part decides")
	require.False(t, exact)
	words, exact = v.candidates("eaxth")
	require.Empty(t, words)
	require.True(t, exact, "a part that no word has")

	// The first maxProbes parts of a long piece are looked up, and no others.
	long := strings.Repeat("a", maxProbes+gramSize-1)
	v = newVocabulary([]string{long, long + "b"})
	words, _ = v.candidates(long + "x")
	require.Len(t, words, 2)
	words, _ = v.candidates(long[1:] + "x")
	require.Empty(t, words)
}

func TestGram_KeysAreDistinct(t *testing.T) {
	seen := make(map[uint32]string)
	for _, piece := range []string{"a", "b", "aa", "ab", "ba", "a\x00", "\x00a", "\x00", "\x00\x00", "\x00\x00\x00", "abc", "cba", "acb", "\xff\xff\xff"} {
		key := Gram(piece)
		require.Empty(t, seen[key], "%q", piece)
		seen[key] = piece
	}
	require.Equal(t, map[uint32][]uint32{Gram("ab"): {0, 2}, Gram("ba"): {2}, Gram("bc"): {0}}, GramLists([]string{"abc", "x", "abab"}, 2, 2))
}
