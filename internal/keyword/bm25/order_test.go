// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/keyword"
	"github.com/leanctx/leanctx/internal/race"
)

// withoutVectors is an index that ranks by words alone.
func withoutVectors(docs []keyword.Doc) *Index { return Join(Part{Segment: newSegment(docs, nil)}) }

func search(t *testing.T, x *Index, text string, limit int) []keyword.Hit {
	hits, err := x.Search(context.Background(), text, limit)
	require.NoError(t, err)
	return hits
}

// Where words alone leave it open which of several answers is meant, it is the one that is
// about what the query is about.
func TestWhatIsAboutTheSameMovesUp(t *testing.T) {
	for text, docs := range map[string][]keyword.Doc{
		"find an orchestra": {{Name: "a", Description: "Find a bank account."}, {Name: "b", Description: "Find a good piece of music."}},
		"add a potato":      {{Name: "a", Description: "Add two numbers."}, {Name: "b", Description: "Add food to the kitchen list."}},
		"show physicians":   {{Name: "a", Description: "Show films of this week."}, {Name: "b", Description: "Show all hospitals and clinics."}},
		"list guitars":      {{Name: "a", Description: "List all invoices."}, {Name: "b", Description: "List the songs of a band."}},
	} {
		docs = append(docs, keyword.Doc{Name: "c", Description: "Translate a text."}, keyword.Doc{Name: "d", Description: "Sort a list."})
		require.Equal(t, "a", answers(t, withoutVectors(docs), text, 1)[0], "%q by words alone", text)
		require.Equal(t, "b", answers(t, New(docs), text, 1)[0], "%q", text)
	}
}

// nearQuery is a text that may be sure of an answer, unsure, or name it.
func nearQuery(rng *rand.Rand, docs []keyword.Doc, request string) string {
	switch rng.IntN(6) {
	case 0:
		return docs[rng.IntN(len(docs))].Name
	case 1:
		return "use " + docs[rng.IntN(len(docs))].Name + " for music, please"
	case 2:
		return "+" + request
	case 3:
		return "music payment. Then the weather and the rain; " + request
	case 4:
		return "帮我发一个消息给客户 " + request
	}
	return request
}

// The vectors change the order alone, and that only where the words are not sure.
func TestVectorsKeepTheirLaws(t *testing.T) {
	rng := newRand(t)
	tools := slices.Concat(library(400), toolbox)
	changed := 0
	for range race.Cases(60) {
		rng.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
		docs := tools[:2+rng.IntN(200)]
		plain, x := withoutVectors(docs), New(docs)
		for _, request := range requestsOf(docs, 12) {
			text := nearQuery(rng, docs, request)
			before, after := search(t, plain, text, 0), search(t, x, text, 0)
			requireSameAnswers(t, text, before, after)
			if len(before) > 0 && before[0].Confidence >= sureAnswer {
				require.Equal(t, before, after, "%q", text)
			}
			if !slices.Equal(before, after) {
				changed++
			}
			for _, limit := range []int{1, 5, 40} {
				require.Equal(t, after[:min(limit, len(after))], search(t, x, text, limit), "%q: the first %d", text, limit)
			}
			for _, h := range after[:min(len(after), 8)] {
				require.InDelta(t, h.Score, x.Explain(text, h.Doc).Score, 1e-12, "%q", text)
			}
		}
	}
	require.Greater(t, changed, race.Cases(60), "the vectors change something")
}

// requireSameAnswers compares all but the order, and what goes with it.
func requireSameAnswers(t *testing.T, text string, before, after []keyword.Hit) {
	type answer struct {
		doc                  int
		evidence, confidence float64
	}
	bestOf := func(hits []keyword.Hit) (answers []answer, best float64) {
		for _, h := range hits {
			require.Positive(t, h.Score, "%q", text)
			answers = append(answers, answer{h.Doc, h.Evidence, h.Confidence})
			best = max(best, h.Score)
		}
		return answers, best
	}
	a, bestBefore := bestOf(before)
	b, bestAfter := bestOf(after)
	require.ElementsMatch(t, a, b, "%q", text)
	require.InDelta(t, bestBefore, bestAfter, 1e-9, "%q: the best score is that of the words", text)
}

// What a document is about is the same, whatever else is read before it.
func TestWhatADocumentIsAboutIsItsOwn(t *testing.T) {
	alone := make(map[string][]int8)
	for _, d := range toolbox {
		alone[d.Name] = NewSegment([]keyword.Doc{d}).direction(0)
	}
	s := NewSegment(toolbox)
	for i, d := range toolbox {
		require.Equal(t, alone[d.Name], s.direction(s.Ordinal(i)), d.Name)
	}
	require.Equal(t, slices.Repeat([]int8{0}, s.table.Dimensions()), NewSegment([]keyword.Doc{{Name: "x1"}}).direction(0), "no word is known")
}

func TestExplainSaysWhatTheVectorsAdd(t *testing.T) {
	x := New([]keyword.Doc{
		{Name: "a", Description: "Find a bank account."},
		{Name: "b_b", Description: "Find a good piece of music."},
		{Name: "c", Description: "Find the mistakes in the text of a letter."},
	})
	factor := func(doc int) float64 {
		for _, f := range x.Explain("find an orchestra", doc).Factors {
			if f.Name == aboutFactor {
				return f.Value
			}
		}
		return 1
	}
	require.Less(t, factor(0), 1.0, "others are nearer")
	require.Greater(t, factor(1), 1.0)
	for _, f := range x.Explain("b_b", 1).Factors {
		require.NotEqual(t, aboutFactor, f.Name, "the words are sure")
	}
}
