// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package vectors

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func randomVectors(random *rand.Rand, n, dim int) [][]float64 {
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, dim)
		for j := range all[i] {
			all[i][j] = random.NormFloat64() * 50
		}
	}
	return all
}

func cosine(a, b []float64) float64 {
	ab, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		ab, aa, bb = ab+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	return ab / math.Sqrt(aa*bb)
}

// deviations is by how many standard deviations the cosine to one vector is above the mean.
func deviations(q []float64, all [][]float64, at int) float64 {
	mean, variance := 0.0, 0.0
	for _, v := range all {
		mean += cosine(q, v) / float64(len(all))
	}
	for _, v := range all {
		variance += math.Pow(cosine(q, v)-mean, 2) / float64(len(all))
	}
	return (cosine(q, all[at]) - mean) / math.Sqrt(variance)
}

func TestNearest_RanksByCosine(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	all := randomVectors(random, 300, 64)
	var s Set
	for _, v := range all {
		require.NoError(t, s.Add(v))
	}
	require.Equal(t, 300, s.Len())
	require.Equal(t, 64, s.Dimensions())
	for _, q := range randomVectors(random, 20, 64) {
		found, err := s.Nearest(q, 10)
		require.NoError(t, err)
		require.Len(t, found, 10)
		for i, f := range found {
			require.InDelta(t, cosine(q, all[f.At]), f.Similarity, .01)
			require.InDelta(t, deviations(q, all, f.At), f.Deviations, .05)
			if i > 0 {
				require.GreaterOrEqual(t, found[i-1].Similarity, f.Similarity)
			}
		}
	}
	near, those, err := s.Compare(all[1], 3, []int{250, 0, 1})
	require.NoError(t, err)
	require.Len(t, near, 3)
	require.Len(t, those, 3)
	for i, place := range []int{250, 0, 1} {
		require.Equal(t, place, those[i].At)
		require.InDelta(t, cosine(all[1], all[place]), those[i].Similarity, .01)
		require.InDelta(t, deviations(all[1], all, place), those[i].Deviations, .05)
	}
	require.Equal(t, near[0], those[2])

	var same Set
	for range 3 {
		require.NoError(t, same.Add(all[0]))
	}
	alike, err := same.Nearest(all[1], 2)
	require.NoError(t, err)
	require.Zero(t, alike[0].Deviations, "where all are alike none stands out")
	found, err := s.Nearest(all[7], 500)
	require.NoError(t, err)
	require.Equal(t, 7, found[0].At)
	require.Len(t, found, 300)
}

func TestSet_RejectsUnusableVectors(t *testing.T) {
	var s Set
	for _, v := range [][]float64{nil, make([]float64, MaxDimensions+1)} {
		require.Error(t, s.Add(v))
	}
	require.Zero(t, s.Len())
	require.NoError(t, s.Add([]float64{1, 2}))
	require.Error(t, s.Add([]float64{1, 2, 3}))
	_, err := s.Nearest([]float64{1}, 1)
	require.Error(t, err)
	_, err = s.Nearest([]float64{0, 0}, 1)
	require.Error(t, err)
	require.Equal(t, 1, s.Len())
}

// A tool with an unusable vector matches no query, and the others are found.
func TestNearest_VectorsWithoutDirectionMatchNothing(t *testing.T) {
	for _, v := range [][]float64{{0, 0}, {1, math.NaN()}, {math.Inf(1), 1}, {math.MaxFloat64, 1}} {
		var s Set
		require.True(t, s.IsWhole())
		require.NoError(t, s.Add(v))
		require.NoError(t, s.Add([]float64{1, 2}))
		require.False(t, s.IsWhole())
		near, err := s.Nearest([]float64{1, 2}, 2)
		require.NoError(t, err)
		require.Equal(t, 1, near[0].At)
		require.Zero(t, near[1].Similarity)
		_, err = s.Nearest(v, 1)
		require.Error(t, err)
	}
}

func TestCosine_UnusableVectorsGiveZero(t *testing.T) {
	require.InDelta(t, 1, Cosine([]float64{1, 2}, []float64{2, 4}), 1e-12)
	require.InDelta(t, -1, Cosine([]float64{1, 2}, []float64{-1, -2}), 1e-12)
	for _, v := range [][]float64{nil, {0, 0}, {1}, {math.NaN(), 1}, {math.Inf(1), 1}} {
		require.Zero(t, Cosine([]float64{1, 2}, v))
	}
}

// Others may write into the store.
func TestDecode_RejectsHostileRecords(t *testing.T) {
	written := func(n, dim int, body []byte) string {
		return fmt.Sprintf("%s %d %d %x\n%s\n", format, n, dim, sha256.Sum256(body), base64.StdEncoding.EncodeToString(body))
	}
	record := func(scale float32) []byte {
		return append(binary.LittleEndian.AppendUint32(make([]byte, keySize), math.Float32bits(scale)), 1, 2)
	}
	_, set, err := Decode(written(1, 2, record(.5)))
	require.NoError(t, err)
	require.Equal(t, 1, set.Len())
	for name, text := range map[string]string{
		"a count that overflows": written(1<<59, 12, nil), "a count beyond the body": written(1<<40, 2, record(.5)), "a negative count": written(-1, 2, nil),
		"no number": written(1, 2, record(float32(math.NaN()))), "infinite": written(1, 2, record(float32(math.Inf(1)))), "negative": written(1, 2, record(-1)),
		"more than 1": written(1, 2, record(2)), "dimensions": written(1, MaxDimensions+1, record(.5)),
	} {
		_, _, err := Decode(text)
		require.Error(t, err, name)
	}
}

func TestDecode_ReadsEncodedAndRejectsDamaged(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 200} {
		var s Set
		keys := []Key{}
		for i, v := range randomVectors(random, n, 40) {
			require.NoError(t, s.Add(v))
			keys = append(keys, KeyOf(strings.Repeat("x", i)))
		}
		text := Encode(keys, &s)
		read, again, err := Decode(text)
		require.NoError(t, err)
		require.Equal(t, keys, read)
		require.Equal(t, s.scales, again.scales)
		require.Equal(t, s.data, again.data)
		for _, damaged := range []string{"", "x", strings.Replace(text, "vectors/1", "vectors/9", 1), text[:len(text)*2/3], text + "QUJD\n", strings.Replace(text, "\n", "\n!", 1) + "!"} {
			if damaged != text {
				_, _, err := Decode(damaged)
				require.Error(t, err, "%q", damaged)
			}
		}
	}
}

func BenchmarkNearest(b *testing.B) {
	random := rand.New(rand.NewPCG(3, 4))
	var s Set
	for _, v := range randomVectors(random, 100_000, 256) {
		if err := s.Add(v); err != nil {
			b.Fatal(err)
		}
	}
	q := randomVectors(random, 1, 256)[0]
	for b.Loop() {
		if _, err := s.Nearest(q, 30); err != nil {
			b.Fatal(err)
		}
	}
}
