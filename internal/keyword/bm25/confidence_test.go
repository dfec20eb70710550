// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/keyword"
)

func confidenceOf(t *testing.T, x *Index, text string) float64 {
	hits, err := x.Search(context.Background(), text, 1)
	require.NoError(t, err)
	if len(hits) == 0 {
		return 0
	}
	return hits[0].Confidence
}

// Three tools are enough to tell what they do from what they do not.
func TestConfidenceOfAFewTools(t *testing.T) {
	x := New([]keyword.Doc{
		{Name: "send_mail", Description: "Sends an e-mail to one or more people."},
		{Name: "list_issues", Description: "Lists the open issues of a repository."},
		{Name: "get_weather", Description: "Returns the weather of a city for the coming days."},
	})
	for _, text := range []string{"weather", "send an email to Ana", "what issues are open?", "明天的天气怎么样", "给张三发一封邮件", "weather in Paris"} {
		require.Greater(t, confidenceOf(t, x, text), .5, text)
	}
	for _, text := range []string{
		"brew an espresso", "play some music for me", "book a flight to Rome and return on Monday", "帮我订一张去北京的火车票", "播放一首歌",
	} {
		require.Less(t, confidenceOf(t, x, text), .35, text)
	}
}

func TestConfidenceKeepsToItsLaws(t *testing.T) {
	rng := newRand(t)
	for range 200 {
		docs := randomDocs(rng, 1+rng.IntN(20))
		x := New(docs)
		query := randomQuery(rng, docs)
		hits, err := x.Search(context.Background(), query, 0)
		require.NoError(t, err)
		for i, a := range hits {
			require.GreaterOrEqual(t, a.Confidence, 0.0)
			require.LessOrEqual(t, a.Confidence, 1.0)
			require.Greater(t, a.Evidence, 0.0)
			for _, b := range hits[:i] {
				if a.Evidence > b.Evidence && b.Confidence < 1 {
					require.GreaterOrEqual(t, a.Confidence, b.Confidence, query)
				}
			}
		}
		top, err := x.Search(context.Background(), query, 1)
		require.NoError(t, err)
		if len(top) > 0 {
			require.Contains(t, hits, top[0], "a limit changes no confidence")
		}
	}
}

func TestWhatAQueryNamesIsCertain(t *testing.T) {
	x := New([]keyword.Doc{{Name: "send_mail", Description: "Sends."}, {Name: "send_parcel", Description: "Sends."}})
	hits, err := x.Search(context.Background(), "please call send_parcel", 0)
	require.NoError(t, err)
	require.Equal(t, 1, hits[0].Doc)
	require.InDelta(t, 1, hits[0].Confidence, 0)
	require.Less(t, hits[1].Confidence, 1.0)
}
