// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package keyword

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/keyword/names"
)

// scattered puts documents into segments, among others that the index has not.
func scattered(rng *rand.Rand, docs, others []Doc) *Index {
	var parts []Part
	for at := 0; at < len(docs); {
		mine := docs[at : at+1+rng.IntN(len(docs)-at)]
		at += len(mine)
		all := slices.Concat(mine, others[:rng.IntN(len(others)+1)])
		others = others[len(all)-len(mine):]
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		has := names.NewSet(len(all))
		for i, d := range all {
			if slices.ContainsFunc(mine, func(m Doc) bool { return m.Name == d.Name }) {
				has.Add(uint32(i))
			}
		}
		if len(all) == len(mine) && rng.IntN(2) == 0 {
			has = nil
		}
		parts = append(parts, Part{NewSegment(all), has})
	}
	return Join(parts...)
}

// Answers do not depend on which segments hold the documents, nor on what else the segments hold.
//
//claim:store-18
func TestJoin_SegmentsDoNotChangeAnswers(t *testing.T) {
	rng := newRand(t)
	for range race.Cases(300) {
		all := randomDocs(rng, 2+rng.IntN(40))
		cut := 1 + rng.IntN(len(all))
		whole, view := New(all[:cut]), scattered(rng, all[:cut], all[cut:])
		require.Equal(t, whole.Len(), view.Len())
		named := func(x *Index, docs []int) (list []string) {
			for _, doc := range docs {
				list = append(list, x.Name(doc))
			}
			return list
		}
		for range 20 {
			text := randomQuery(rng, all)
			for _, limit := range []int{0, 1, 5} {
				found := func(x *Index) (list []any) {
					hits, err := x.Search(context.Background(), Parse(text), limit)
					require.NoError(t, err)
					for _, h := range hits {
						list = append(list, x.Name(h.Doc), h.Score, h.Evidence, h.Confidence, x.Explain(Parse(text), h.Doc))
					}
					return list
				}
				require.Equal(t, found(whole), found(view), "%q", text)
				require.Equal(t, named(whole, whole.Suggest(text, limit)), named(view, view.Suggest(text, limit)), "%q", text)
			}
			a, one := whole.Resolve(text, nil)
			b, other := view.Resolve(text, nil)
			require.Equal(t, one, other, "%q", text)
			require.True(t, !one || whole.Name(a) == view.Name(b), "%q", text)
		}
		for _, d := range all {
			_, has := whole.Lookup(d.Name)
			doc, found := view.Lookup(d.Name)
			require.Equal(t, has, found, d.Name)
			require.True(t, !found || view.Name(doc) == d.Name)
		}
	}
}
