// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// Catalogues of many sizes, whose vocabulary grows with them as that of real ones does.

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/postings"
)

// vocabulary makes n distinct words of one to four syllables, short ones first.
func vocabulary(n int) []string {
	var syllables []string
	for _, c := range strings.Split("b c d f g k l m n p r s t v st tr pl gr sh", " ") {
		for _, v := range "aeiou" {
			syllables = append(syllables, c+string(v))
		}
	}
	words := strings.Fields("get list create update delete search send read write the a of for to in with by and or from")
	for i := 0; len(words) < n; i++ {
		word, rest := "", i+len(syllables)
		for rest > 0 {
			word += syllables[rest%len(syllables)]
			rest /= len(syllables)
		}
		words = append(words, word+"rnlt"[i%4:i%4+1])
	}
	return words
}

// catalogueOf makes n tools. Words are as frequent as in a language (Zipf), and one tool in
// four brings a word that no other has.
func catalogueOf(n int) []keyword.Doc {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	words := vocabulary(int(60*math.Pow(float64(n), 0.6)) + 200)
	zipf := rand.NewZipf(random, 1.1, 8, uint64(len(words)-1))
	text := func(n int) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = words[zipf.Uint64()]
		}
		return strings.Join(parts, " ")
	}
	docs := make([]keyword.Doc, n)
	for i := range docs {
		server := words[100+i/20%(len(words)-100)]
		own := ""
		if i%4 == 0 {
			own = fmt.Sprintf(" %sx%d", words[i%len(words)], i)
		}
		docs[i] = keyword.Doc{
			Name:        fmt.Sprintf("%s__%s", server, strings.ReplaceAll(text(2+i%3), " ", "_")),
			Server:      server,
			Description: text(8+i%20) + own,
			Params:      []keyword.Param{{Name: words[zipf.Uint64()] + "_id", Description: text(4)}, {Name: words[zipf.Uint64()], Description: text(5)}},
		}
	}
	return docs
}

// requestsOf are short queries and sentences in the words of a catalogue.
func requestsOf(docs []keyword.Doc, n int) []string {
	random := rand.New(rand.NewPCG(7, 7))
	out := make([]string, n)
	for i := range out {
		d := docs[random.IntN(len(docs))]
		words := strings.Fields(d.Description)
		random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		out[i] = strings.Join(words[:min(len(words), 2+i%12)], " ")
	}
	return out
}

func heapOf(build func() any) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	x := build()
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(x)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}

func BenchmarkScale(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		docs := catalogueOf(n)
		b.Run(fmt.Sprintf("index/%d", n), func(b *testing.B) {
			for b.Loop() {
				New(allWords(), docs)
			}
			b.ReportMetric(heapOf(func() any { return New(allWords(), docs) })/(1<<20), "MB")
		})
		x := New(allWords(), docs)
		requests := requestsOf(docs, 500)
		b.Run(fmt.Sprintf("search/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				if _, err := x.Search(context.Background(), requests[i%len(requests)], 5); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// Documents are scored some thousands at once; what one scores does not depend on that.
func TestSearch_ScoresAddUpInALargeCatalog(t *testing.T) {
	docs := catalogueOf(scoredAtOnce + 500)
	whole, parts := New(allWords(), docs), Join(allWords(),
		postings.Part{Segment: postings.NewSegment(docs[:1000])}, postings.Part{Segment: postings.NewSegment(docs[1000:])})
	for i, text := range requestsOf(docs, 10) {
		if i%3 == 0 {
			text = "+" + text // its first word is required
		}
		hits := search(t, whole, text, 0)
		require.Equal(t, hits, search(t, parts, text, 0), text)
		for _, h := range hits[:min(len(hits), 50)] {
			e := whole.Explain(text, h.Doc)
			score := 0.0
			for _, term := range e.Terms {
				score += term.Score
			}
			for _, f := range e.Factors {
				score *= f.Value
			}
			require.InEpsilon(t, score, h.Score, 1e-9, text)
		}
	}
}
