// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPatternCanBeReadBack(t *testing.T) {
	const seed = 11
	random := rand.New(rand.NewPCG(seed, seed))
	pool := []string{"convert", "time", "zone", "sha256", "汉字", "c++", "a.b", "x"}
	for range 300 {
		random.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
		words := pool[:1+random.IntN(5)]
		for _, query := range []string{strings.Join(words, " "), strings.Join(words, "|"), selectPrefix + strings.Join(words, ",")} {
			pattern := patternOfQuery(query)
			_, err := regexp.Compile(pattern)
			require.NoError(t, err)
			require.Equal(t, query, queryOfPattern(pattern), "seed %d: %s", seed, pattern)
		}
	}
}

func TestAPatternFindsWhatTheQueryNames(t *testing.T) {
	for _, c := range []struct {
		query, name string
		found       bool
	}{
		{"convert zone", "time__convert_zone", true},
		{"zone convert city", "time__Convert_Zone", true},
		{"zone city", "time__convert_zone", false},
		{"city|zone", "time__convert_zone", true},
		{"zone", "time__convert_zone", true},
		{"select:a__b,time__convert_zone", "time__convert_zone", true},
		{"select:time__convert", "time__convert_zone", false},
		{"a.b", "axb", false},
	} {
		require.Equal(t, c.found, regexp.MustCompile(patternOfQuery(c.query)).MatchString(c.name), "%s in %s", c.query, c.name)
	}
}
