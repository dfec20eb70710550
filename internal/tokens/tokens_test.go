// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Package tokentest, a separate module, compares with a tokenizer. The counts here are those of o200k for each text
// twenty times.
func TestEstimate_TextsOfEveryKind(t *testing.T) {
	for text, tokens := range map[string]int{
		"The middleware stores the whole result and shows the model its beginning and its end. ":                               321,
		"func (s *Store) Read(ctx context.Context, path string) ([]byte, error) {\n\treturn nil, ErrNotFound\n}\n":             560,
		`{"id": 48213, "status": "shipped", "total": 118.50, "items": [{"sku": "A-119", "count": 2}]}` + "\n":                  800,
		"2026-03-04T05:06:07.123Z WARN [4711] request_id=8f3a9c17 status=503 took=1290ms\n":                                    780,
		"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n":                                                   880,
		"3fa85f64-5717-4562-b3fc-2c963f66afa6\n":                                                                               460,
		"工具的结果会保存到存储中，模型只看到开头和结尾。":                                                                                             380,
		"iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==": 1320,
		"12.5,118,0.031,-44.2,1900,7.75\n":                                                                                     420,
		"  - button \"Add to basket\" [ref=e118] [cursor=pointer]:\n":                                                          360,
	} {
		require.InEpsilon(t, tokens, Estimate(strings.Repeat(text, 20)), .15, text)
	}
}

func TestWeights_HaveEveryCell(t *testing.T) {
	require.Len(t, weights, Cells)
	require.Len(t, rarity, Pairs)
	for i := range weights {
		require.True(t, weights[i] >= FirstWeight && weights[i] <= FirstWeight+WeightSteps, i)
	}
	require.Empty(t, strings.Trim(rarity, "01234567"))
}

// The estimate is at most one token per byte.
func TestEstimate_AcceptsAnyBytes(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	require.Zero(t, Estimate(""))
	for range 2000 {
		text := make([]byte, r.IntN(200))
		for i := range text {
			text[i] = byte(r.IntN(256))
		}
		n := Estimate(string(text))
		require.True(t, 0 <= n && n <= len(text), "seed %d: %q: %d", seed, text, n)
		more := Estimate(string(text) + "x y z")
		require.Greater(t, more+1, n, "seed %d: %q", seed, text)
	}
}

func TestEstimate_AllocatesNothing(t *testing.T) {
	text := strings.Repeat("some text, 12 of it; 中文\n", 100)
	require.Zero(t, testing.AllocsPerRun(10, func() { Estimate(text) }))
}

func TestCorrection_FollowsReportedCounts(t *testing.T) {
	var c Correction
	require.Equal(t, 1., c.Factor())
	for _, step := range []struct {
		reported, estimated int64
		factor              float64
	}{
		{120, 100, 1}, // one may be anything
		{140, 100, 1.3},
		{500, 100, 1.3}, {10, 100, 1.3}, {0, 100, 1.3}, {100, 0, 1.3}, {-5, 100, 1.3}, // not of this request
		{170, 100, 1.4}, {100, 100, 1.4}, {90, 100, 1}, // the median of the last three
		{60, 100, .9}, {180, 100, .9},
	} {
		c.Add(step.reported, step.estimated)
		require.InDelta(t, step.factor, c.Factor(), 1e-9, "%+v", step)
	}
}

func BenchmarkEstimate(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over 13 lazy dogs; {\"id\": \"3fa85f64\", \"at\": 17.5}\n", 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Estimate(text)
	}
}

func TestOf_ReturnsEstimateOfRememberedTexts(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 2))
	texts := make([]string, 40_000) // more than some sets have room for
	for i := range texts {
		texts[i] = strings.Repeat(fmt.Sprintf("%x %x ", seed, i), minRemembered/20+r.IntN(10))
	}
	var wg sync.WaitGroup
	for range 4 {
		from := r.IntN(len(texts))
		wg.Go(func() {
			for i := range len(texts) / 2 {
				text := texts[(from+i)%len(texts)]
				if got, want := Of(text), Estimate(text); got != want {
					t.Errorf("seed %d: %d tokens, want %d", seed, got, want)
				}
			}
		})
	}
	wg.Wait()
	long := strings.Repeat(fmt.Sprintf("some text, %d of it; ", seed), 1000)
	require.False(t, Known(long))
	Of(long)
	require.True(t, Known(long))
	require.False(t, Known(long+"."))
	require.Zero(t, testing.AllocsPerRun(10, func() { Of(long) }))
}

// A long text that was read before takes a tenth of the time at most.
func BenchmarkOf(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over 13 lazy dogs; {\"id\": \"3fa85f64\", \"at\": 17.5}\n", 50)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Of(text)
	}
}
