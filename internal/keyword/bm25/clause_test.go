// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
)

// TestScoreClauses_ScoresEachAlone: what one sentence scored does not count for the next, whatever
// their order is.
func TestScoreClauses_ScoresEachAlone(t *testing.T) {
	x := New(allWords(), []keyword.Doc{
		{Name: "create_meeting", Description: "Create a meeting in the calendar"},
		{Name: "send_mail", Description: "Send a mail to a person"},
		{Name: "get_weather", Description: "Get the weather forecast of a city"},
		{Name: "mail_meeting", Description: "Mail the notes of a meeting"},
		{Name: "city_calendar", Description: "The calendar of a city"},
	})
	sentences := []string{"Create a meeting in the calendar.", "Send a mail to a person.", "Get the weather forecast of a city."}
	hitsOf := func(text string) (hits [][]scored) {
		acc := x.accumulator()
		defer acc.release()
		q := acc.parser.parse(text)
		require.NoError(t, acc.scoreWhole(t.Context(), q))
		for _, positions := range q.clauses {
			got, err := acc.scoreClause(t.Context(), q, positions)
			require.NoError(t, err)
			require.NotEmpty(t, got)
			require.Empty(t, acc.touched, "the state of a clause stays")
			require.False(t, slices.ContainsFunc(acc.states, func(s docState) bool { return s != docState{} }), "the state of a clause stays")
			hits = append(hits, slices.Clone(got))
		}
		return hits
	}
	forward := hitsOf(strings.Join(sentences, " "))
	require.Len(t, forward, len(sentences))
	backward := slices.Clone(sentences)
	slices.Reverse(backward)
	reversed := hitsOf(strings.Join(backward, " "))
	slices.Reverse(reversed)
	require.Equal(t, forward, reversed)
}
