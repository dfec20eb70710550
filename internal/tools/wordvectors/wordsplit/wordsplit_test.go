// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package wordsplit

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsPackedIsUnpackedToWithinHalfAStep(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for range 200 {
		v, most := make([]float64, 2*(1+random.IntN(40))), 0.0
		for i := range v {
			v[i] = random.NormFloat64()
			most = max(most, math.Abs(v[i]))
		}
		greatest, steps, found := strings.Cut(Pack(v), " ")
		require.True(t, found)
		read, err := Unpack(greatest, steps)
		require.NoError(t, err)
		require.InDeltaSlice(t, v, read, most/mostSteps/2+1e-3)
	}
	for _, damaged := range [][2]string{{"x", ""}, {"1", "!"}} {
		_, err := Unpack(damaged[0], damaged[1])
		require.Error(t, err)
	}
}

func TestSplitTakesWordsAndPairsOfCharacters(t *testing.T) {
	require.Equal(t, []string{"create", "issue", "in", "teamchat", "文", "件", "文件"}, Split("createIssue in teamchat__文件 42"))
	require.NotEqual(t, Key("a"), Key("b"))
}
