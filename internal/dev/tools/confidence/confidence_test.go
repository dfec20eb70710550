// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/golden"
	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/toolsearch"
)

const ownSet = "../../../../toolsearch/toolsearcheval/testdata"

// asked are the answers of each scorer to the project's own set: all tests read the same.
var asked = sync.OnceValues(func() ([][]*answer, error) {
	catalogues, err := load(ownSet, "")
	if err != nil {
		return nil, err
	}
	all := make([][]*answer, len(scorers))
	for i, s := range scorers {
		if all[i], err = collectAnswers(s, catalogues); err != nil {
			return nil, err
		}
	}
	return all, nil
})

func answersOf(t *testing.T, scorer int) []*answer {
	all, err := asked()
	require.NoError(t, err)
	return slices.Clone(all[scorer])
}

func TestScorers_GoldenConfidence(t *testing.T) {
	for i, s := range scorers {
		var b strings.Builder
		printMeasures(&b, answersOf(t, i))
		golden.Check(t, "testdata/golden/"+s.name+".txt", b.String())
	}
}

func TestConfidence_SeparatesForeignRequestsFromAnswers(t *testing.T) {
	whole := slices.DeleteFunc(answersOf(t, 0), func(a *answer) bool { return a.size != "all" || !a.heldout })
	require.Greater(t, area(whole), .97)
	require.Greater(t, pairs(whole)[0].area, .95)
	foreign, rights := rejectionShares(whole, toolsearch.Recommended(nil).MinConfidence)
	require.Greater(t, foreign, .77)
	require.Less(t, rights, .04)
}

// Of the answers with confidence p, a share of p is right, within a tenth, in each whole catalog and in samples of
// any size.
func TestConfidence_IsCalibrated(t *testing.T) {
	answers := answersOf(t, 0)
	only := func(chosen func(*answer) bool) []*answer {
		return slices.DeleteFunc(slices.Clone(answers), func(a *answer) bool { return !chosen(a) })
	}
	for _, c := range catalogueNames(answers) {
		require.Less(t, calibrationError(only(func(a *answer) bool { return a.size == "all" && a.label() == c })), .1, c)
	}
	for _, n := range sampleSizes[1:] {
		size := fmt.Sprint(n)
		require.Less(t, calibrationError(only(func(a *answer) bool { return a.size == size })), .1, "%s tools", size)
	}
}

// The numbers in the code are those derived from the catalogs in EINOLEAN_DATA, except for what is added for
// translated and Japanese requests.
func TestFit_DerivesNumbersInCode(t *testing.T) {
	data := os.Getenv("EINOLEAN_DATA")
	if data == "" {
		t.Skip("EINOLEAN_DATA names no directory with graded queries")
	}
	catalogues, err := load(ownSet, data)
	require.NoError(t, err)
	for _, s := range scorers {
		answers, err := collectAnswers(s, catalogues)
		require.NoError(t, err)
		fitted := fit(answers, func(a *answer) bool { return !a.heldout })
		for _, a := range answers {
			if a.outcome != silent && a.confidence < 1 {
				by := math.Log(odds(a.confidence) / odds(probability(weights(fitted), a.features)))
				near := slices.ContainsFunc([]float64{0, .9, -2}, func(added float64) bool { return math.Abs(by-added) < .13 })
				require.True(t, near, "%s: %v in the logarithm of the odds", s.name, by)
			}
		}
	}
}

func odds(p float64) float64 { return p / (1 - p) }

// The fit finds the function from which the answers were drawn.
func TestFit_FindsTheFunction(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	want := []float64{2, -1.5, .5, 1}
	var answers []*answer
	for range 200_000 {
		a := &answer{size: "all", outcome: outOfScope, features: []float64{random.NormFloat64(), random.NormFloat64(), random.NormFloat64(), 1}}
		if random.Float64() < probability(want, a.features) {
			a.outcome = right
		}
		a.weight = 1
		answers = append(answers, a)
	}
	require.InDeltaSlice(t, want, newton(answers), .05)
	balanced := fit(answers, func(*answer) bool { return true })
	require.InDelta(t, want[0], balanced.Evidence, .1, "weights of the two kinds move the offset alone")
	require.InDelta(t, want[1], balanced.Size, .1)
	require.InDelta(t, want[2], balanced.Length, .1)
}

func TestMeasures_KnownExamples(t *testing.T) {
	of := func(outcome outcome, confidences ...float64) (all []*answer) {
		for _, c := range confidences {
			all = append(all, &answer{size: "all", outcome: outcome, confidence: c})
		}
		return all
	}
	perfect := append(of(right, .8, .9), of(outOfScope, .1, .2)...)
	require.InDelta(t, 1, area(perfect), 1e-9)
	require.InDelta(t, .5, area(append(of(right, .5), of(outOfScope, .5)...)), 1e-9)
	require.InDelta(t, .75, area(append(of(right, .3, .9), append(of(outOfScope, .5), of(silent, 0)...)...)), 1e-9)
	foreign, rights := rejectionShares(perfect, .85)
	require.InDelta(t, 1, foreign, 1e-9)
	require.InDelta(t, .5, rights, 1e-9)
	require.InDelta(t, .15, calibrationError(perfect), 1e-9)
	require.InDelta(t, .9, limitAt(perfect, .5), 1e-9)
}

func TestIsRequest_NeedsSubject(t *testing.T) {
	for text, want := range map[string]bool{"search": false, "list events": false, "list my events": true, "查快递": false, "查一下我的快递": true} {
		require.Equal(t, want, isRequest(text), text)
	}
	require.True(t, query{Relevant: []string{"a"}, Equiv: map[string][]string{"a": {"b"}}}.isAnsweredBy("b"))
	require.False(t, query{Relevant: []string{"a"}}.isAnsweredBy("b"))
	_, err := readDocs(t.TempDir() + "/none")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Zero(t, keyword.Calibration{}.Of(0, 3, 0))
}
