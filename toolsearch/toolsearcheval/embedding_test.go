// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

// The index by meaning must not be worse than that by words, with embedders that know
// little: vectors of pieces of words, and of words by the tools in which they stand (random
// indexing: Kanerva, Kristoferson and Holst, CogSci 2000). Both are computed here.

import (
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	"github.com/cloudwego/eino/components/embedding"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/race"
	"github.com/leanctx/leanctx/toolsearch"
	"github.com/leanctx/leanctx/toolsearch/toolsearcheval"
)

const dimensions = 128

// embedderFunc makes the vector of a text.
type embedderFunc func(text string) []float64

func (f embedderFunc) EmbedStrings(_ context.Context, texts []string, _ ...embedding.Option) ([][]float64, error) {
	all := make([][]float64, len(texts))
	for i, text := range texts {
		all[i] = f(text)
	}
	return all, nil
}

// direction is a random vector that belongs to a text.
func direction(text string) []float64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	random := rand.New(rand.NewPCG(h.Sum64(), 1))
	v := make([]float64, dimensions)
	for i := range v {
		v[i] = random.NormFloat64()
	}
	return v
}

func addTo(v, w []float64, weight float64) {
	for i := range v {
		v[i] += w[i] * weight
	}
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// pieces is the sum over the pieces of three letters of each word.
func pieces(text string) []float64 {
	v := make([]float64, dimensions)
	v[0] = 1e-6
	for _, word := range wordsOf(text) {
		letters := []rune("^" + word + "$")
		for i := 0; i+3 <= len(letters); i++ {
			addTo(v, direction(string(letters[i:i+3])), 1/math.Sqrt(float64(len(letters))))
		}
	}
	return v
}

// byCompany knows words by the tools in which they stand.
func byCompany(tools []*schema.ToolInfo) embedderFunc {
	meaning, users := map[string][]float64{}, map[string]float64{}
	for _, tool := range tools {
		seen := map[string]bool{}
		for _, word := range wordsOf(tool.Name + " " + tool.Desc) {
			if seen[word] {
				continue
			}
			seen[word] = true
			users[word]++
			if meaning[word] == nil {
				meaning[word] = make([]float64, dimensions)
			}
			addTo(meaning[word], direction(tool.Name), 1)
		}
	}
	return func(text string) []float64 {
		v := make([]float64, dimensions)
		v[0] = 1e-6
		for _, word := range wordsOf(text) {
			if m := meaning[word]; m != nil {
				addTo(v, m, math.Log(float64(len(tools))/users[word])/math.Sqrt(users[word]))
			}
		}
		return v
	}
}

func TestAnEmbedderNeverMakesTheRankingWorse(t *testing.T) {
	race.Skip(t, "evaluates eight rankings")
	own := ownSet(t)
	for name, e := range map[string]embedderFunc{"pieces": pieces, "company": byCompany(own.tools)} {
		for half, cases := range map[string][]toolsearcheval.Case{"dev": own.dev, "heldout": own.heldout} {
			words := evaluate(t, namedIndex{"words", toolsearch.BM25Index}, own.tools, cases)
			synctest.Test(t, func(t *testing.T) {
				x := namedIndex{name, func(ctx context.Context, tools []*schema.ToolInfo) (toolsearch.Index, error) {
					index, err := toolsearch.EmbeddingIndex(name, e, nil)(ctx, tools)
					if err == nil {
						_, err = index.Search(ctx, toolsearch.Query{Text: "anything"})
					}
					synctest.Wait() // the tools are embedded
					return index, err
				}}
				both := evaluate(t, x, own.tools, cases)
				t.Logf("%s, %s: recall@1 %.4f, @5 %.4f; words alone %.4f, %.4f", name, half, both.Recall1, both.Recall5, words.Recall1, words.Recall5)
				require.GreaterOrEqual(t, both.Recall5, words.Recall5-.005)
				require.GreaterOrEqual(t, both.MRR, words.MRR-.005)
			})
		}
	}
}
