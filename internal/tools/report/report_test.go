// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBothMiddlewaresSaveTokens(t *testing.T) {
	for name, draw := range map[string]func(context.Context) (figure, error){"toolsearch": toolTokens, "reduction": resultTokens} {
		t.Run(name, func(t *testing.T) {
			f, err := draw(context.Background())
			require.NoError(t, err)
			without, with := f.series[0].values, f.series[1].values
			last := len(with) - 1
			require.Less(t, with[last], without[last]/2, f.table())
		})
	}
}

func TestAFigureIsAnSVGWithItsNames(t *testing.T) {
	for name, f := range map[string]figure{
		"lines": {title: "T", xTitle: "x", yTitle: "y", x: []float64{1, 10}, log: true, series: []series{{"ours", []float64{1, 2}}}},
		"bars":  {title: "T", xTitle: "x", yTitle: "y", labels: []string{"left", "right"}, series: []series{{"ours", []float64{1, 2}}}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "f.svg")
			require.NoError(t, f.save(file))
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Contains(t, string(data), "<svg")
			require.Contains(t, string(data), ">ours<")
			require.Contains(t, f.table(), "ours")
		})
	}
}

func TestRecallIsMeasuredOnTheProjectsOwnSetWhateverTheEnvironmentSays(t *testing.T) {
	t.Setenv("LEANCTX_DATA", t.TempDir())
	f, err := recall(context.Background())
	require.NoError(t, err)
	require.Len(t, f.labels, len(kinds))
	require.Greater(t, f.series[1].values[0], f.series[0].values[0], "BM25Index finds more than the specified score")
}

func TestEveryModelCallCountsOnceInItsQuestion(t *testing.T) {
	f := perQuestion("T", "both", [][]float64{{1, 2, 3}, {4, 5}}, [][]float64{{10, 20}, {30}})
	require.Equal(t, []string{"1", "2"}, f.labels)
	require.Equal(t, []series{
		{"without (3 model calls)", []float64{30, 60}},
		{"with both (5 model calls)", []float64{6, 15}},
	}, f.series)
}

func TestRunsOfDifferentLengthAreNotDrawnCallByCall(t *testing.T) {
	_, err := perCall("T", "both", []float64{1}, []float64{1, 2})
	require.Error(t, err)
	f, err := perCall("T", "both", []float64{1, 2}, []float64{10, 20})
	require.NoError(t, err)
	require.Equal(t, []series{{"without", []float64{10, 30}}, {"with both", []float64{1, 3}}}, f.series)
}
