// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/postings"
	"github.com/einolean/einolean/internal/keyword/names"
)

// byName are the hits of a query with names in place of positions, and what is explained of
// the first.
func byName(t *testing.T, x *Index, query string, limit int) (found []any) {
	hits, err := x.Search(context.Background(), query, limit)
	require.NoError(t, err)
	for i, h := range hits {
		if i == 0 {
			found = append(found, x.Explain(query, h.Doc))
		}
		found = append(found, x.Name(h.Doc), h.Score, h.Evidence, h.Confidence)
	}
	return found
}

// scattered puts documents into segments, among others that the index has not.
func scattered(rng *rand.Rand, docs, others []keyword.Doc) *Index {
	docs, others = slices.Clone(docs), slices.Clone(others)
	var parts []postings.Part
	for len(docs) > 0 {
		mine := docs[:1+rng.IntN(len(docs))]
		docs = docs[len(mine):]
		if rng.IntN(3) == 0 || len(others) == 0 {
			parts = append(parts, postings.Part{Segment: postings.NewSegment(mine)})
			continue
		}
		foreign := others[:1+rng.IntN(len(others))]
		others = others[len(foreign):]
		all := append(slices.Clone(mine), foreign...)
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		has := names.NewSet(len(all))
		for i, d := range all {
			if slices.ContainsFunc(mine, func(m keyword.Doc) bool { return m.Name == d.Name }) {
				has.Add(uint32(i))
			}
		}
		parts = append(parts, postings.Part{Segment: postings.NewSegment(all), Live: has})
	}
	return Join(allWords(), parts...)
}

// misspelt leaves a letter out of a word, or drops its end.
func misspelt(rng *rand.Rand, text string) string {
	at := rng.IntN(max(1, len(text)-1))
	return text[:at] + text[min(len(text), at+1+rng.IntN(2)):]
}

// The results of an index do not depend on the segments that hold its documents, nor on what else
// these hold.
//
//claim:store-18
func TestJoin_AnswersLikeOneIndexOfItsDocuments(t *testing.T) {
	rng := newRand(t)
	tools := slices.Concat(library(400), catalogueOf(400))
	for round := range race.Cases(150) {
		all := randomDocs(rng, 2+rng.IntN(60))
		if round%2 == 0 {
			rng.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
			all = tools[:2+rng.IntN(200)]
		}
		cut := 1 + rng.IntN(len(all))
		whole, view := New(allWords(), all[:cut]), scattered(rng, all[:cut], all[cut:])
		require.Equal(t, whole.Len(), view.Len())
		for n, request := range requestsOf(all, 12) {
			query := []string{request, misspelt(rng, request), "+" + request, randomQuery(rng, all), benchQueries[n%5].text, all[n%len(all)].Name}[n%6]
			for _, limit := range []int{0, 1, 5} {
				require.Equal(t, byName(t, whole, query, limit), byName(t, view, query, limit), "%q", query)
			}
		}
		for _, d := range all {
			_, has := whole.Lookup(d.Name)
			doc, found := view.Lookup(d.Name)
			require.Equal(t, has, found, d.Name)
			require.True(t, !found || view.Name(doc) == d.Name)
		}
	}
}

// A query that names a server prefers its tools, however the name is written, and only if it has
// every word of it.
func TestSearch_PrefersNamedServer(t *testing.T) {
	docs := []keyword.Doc{
		{Name: "write_list", Server: "google-calendar", Description: "Changes entries."},
		{Name: "write_list", Server: "filesystem", Description: "Changes entries."},
		{Name: "write_list", Server: "google-drive", Description: "Changes entries."},
		{Name: "write_list", Server: "百度地图", Description: "Changes entries."},
	}
	x := New(allWords(), docs)
	naming := func(text string) (factors [4]float64) {
		acc := x.accumulator()
		defer acc.release()
		require.NoError(t, acc.scoreWhole(context.Background(), acc.parser.parse(text)))
		for i := range docs {
			factors[i] = acc.naming(x.Ordinal(i), inClause)
		}
		return factors
	}
	for text, want := range map[string][4]float64{
		"list":                     {1, 1, 1, 1},
		"file system list":         {1, 1 + serverBonus, 1, 1},
		"filesystem list":          {1, 1 + serverBonus, 1, 1},
		"google list":              {1, 1, 1, 1},
		"google drive list":        {1, 1, 1 + serverBonus, 1},
		"googledrive list":         {1, 1, 1 + serverBonus, 1},
		"GoogleDrive list":         {1, 1, 1 + serverBonus, 1},
		"google-drive list":        {1, 1, 1 + serverBonus, 1},
		"list the google calendar": {1 + serverBonus, 1, 1, 1},
		"百度地图 list":                {1, 1, 1, 1 + serverBonus},
		"地图 list":                  {1, 1, 1, 1},
	} {
		require.Equal(t, want, naming(text), text)
		hits, err := x.Search(context.Background(), text, 1)
		require.NoError(t, err)
		require.GreaterOrEqual(t, want[hits[0].Doc], slices.Max(want[:]), text)
	}
}
