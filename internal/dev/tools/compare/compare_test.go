// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// printed is what go test prints, with all that may stand between the results.
const printed = `goos: linux
goarch: amd64
pkg: github.com/einolean/einolean/toolsearch
cpu: Some CPU @ 2.00GHz
BenchmarkSearch/keywords=2/tools=10000/eino-2         	     100	  10000000 ns/op	 2000000 B/op	   30000 allocs/op
BenchmarkSearch/keywords=2/tools=10000/eino-2         	     100	  12000000 ns/op	 2000000 B/op	   30002 allocs/op
BenchmarkSearch/keywords=2/tools=10000/eino-2         	     100	  11000000 ns/op	 2000000 B/op	   30001 allocs/op
BenchmarkSearch/keywords=2/tools=10000/einolean-2      	   10000	     51000 ns/op	     512 B/op	       8 allocs/op
BenchmarkSearch/keywords=2/tools=10000/einolean-2      	   10000	     50000 ns/op	     512 B/op	       8 allocs/op
BenchmarkAlone-2	 1	 5 ns/op
BenchmarkAlone/tools=10
PASS
ok  	github.com/einolean/einolean/toolsearch	12.345s
?   	github.com/einolean/einolean/internal/none	[no test files]
pkg: github.com/einolean/einolean/reduction
BenchmarkStream/eino
a log line that the benchmark wrote
       2	 500.5 ns/op	 298000000 peak-B	 0 B/op	 0 allocs/op
BenchmarkStream/einolean 	       2	 0.25 ns/op	 123.45 MB/s	 1900000 peak-B	 0 B/op	 0 allocs/op
PASS
`

func TestParse_ReadsEveryResult(t *testing.T) {
	got := parse(printed)
	require.Len(t, got, 8)
	require.Equal(t, sample{
		pkg: "github.com/einolean/einolean/toolsearch", name: "Search/keywords=2/tools=10000/eino",
		values: map[string]float64{"ns/op": 1e7, "B/op": 2e6, "allocs/op": 30000},
	}, got[0])
	require.Equal(t, sample{
		pkg: "github.com/einolean/einolean/reduction", name: "Stream/eino",
		values: map[string]float64{"ns/op": 500.5, "peak-B": 298e6, "B/op": 0, "allocs/op": 0},
	}, got[6], "results that stand below their name")
	require.Equal(t, 123.45, got[7].values["MB/s"])
}

func TestParse_SkipsOtherLines(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                 "",
		"a name alone":            "BenchmarkX/eino-2\n",
		"a value without a unit":  "BenchmarkX/eino-2  100  5 ns/op  7\n",
		"words in place of value": "BenchmarkX/eino-2  100  five ns/op\n",
		"a failure":               "--- FAIL: BenchmarkX/eino-2\n    x_test.go:3: 100 5 ns/op\n",
		"results without a name":  "  100  5 ns/op\n",
		"a name of the package before": "pkg: a\nBenchmarkX/eino-2\npkg: b\n" +
			"  100  5 ns/op\n",
	} {
		t.Run(name, func(t *testing.T) { require.Empty(t, parse(text)) })
	}
}

func FuzzParse_KeepsResultsWhole(f *testing.F) {
	f.Add(printed)
	f.Add("BenchmarkX/eino-2 1 NaN ns/op\r\npkg: \n1 2 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		const last = "\npkg: p\nBenchmarkX/eino-8 7 42 ns/op 3 odd-unit\n"
		got := parse(text + last)
		require.NotEmpty(t, got)
		require.Equal(t, sample{pkg: "p", name: "X/eino", values: map[string]float64{"ns/op": 42, "odd-unit": 3}}, got[len(got)-1])
		for _, s := range got {
			require.NotEmpty(t, s.values)
		}
	})
}

func TestEinoTable_ShowsIntervalOfEachRatio(t *testing.T) {
	const want = `
| work                                      |        Eino |  einolean |   ratio | 95 % interval | Eino B/op | ours | Eino allocs/op | ours |
|-------------------------------------------|------------:|----------:|--------:|--------------:|----------:|-----:|---------------:|-----:|
| toolsearch: Search/keywords=2/tools=10000 |     11.0 ms |   50.5 µs |   217 × |      60.1–783 | 2,000,000 |  512 |         30,001 |    8 |
| reduction: Stream                         |      500 ns |   0.25 ns | 2,002 × |             - |         0 |    0 |              0 |    0 |
|   peak-B                                  | 298,000,000 | 1,900,000 |   157 × |             - |           |      |                |      |
Medians of 3. Ratio: Eino's divided by ours, geometric mean of the pairs.
`
	var table bytes.Buffer
	require.NoError(t, writeEinoTable(&table, printed))
	require.Equal(t, want[1:], table.String())
}

func TestEinoTable_NamesBenchmarkWithoutCounterpart(t *testing.T) {
	var table bytes.Buffer
	err := writeEinoTable(&table, "pkg: p\nBenchmarkA/x/eino 1 5 ns/op\nBenchmarkB/einolean 1 5 ns/op\nBenchmarkC/eino 1 5 ns/op\nBenchmarkC/einolean 1 5 ns/op\n")
	require.EqualError(t, err, "p: A/x was measured on one side only\np: B was measured on one side only")
	require.Contains(t, table.String(), "| p: C ")
	require.NotContains(t, table.String(), "p: A")
	err = writeEinoTable(&table, "pkg: p\nBenchmarkA/x 1 5 ns/op\nBenchmarkB/my-eino 1 5 ns/op\n")
	require.EqualError(t, err, "no benchmark has a name that ends in /eino or /einolean")
}

func TestMedian_IsInTheMiddleOfAnyOrder(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		values := make([]float64, 1+r.IntN(9))
		for i := range values {
			values[i] = float64(r.IntN(5))
		}
		given := slices.Clone(values)
		m := median(values)
		require.Equal(t, given, values, "the caller's slice stays as it is")
		var below, above int
		for _, v := range values {
			if v < m {
				below++
			}
			if v > m {
				above++
			}
		}
		require.LessOrEqual(t, below, len(values)/2, "%v", values)
		require.LessOrEqual(t, above, len(values)/2, "%v", values)
	}
}

func TestFigures_RoundToThreeDigits(t *testing.T) {
	for want, v := range map[string]float64{"0.00": 0, "0.25": 0.25, "9.99": 9.99, "10.0": 9.996, "99.9": 99.9, "100": 99.96, "1,000": 999.9, "1,234,568": 1234567.8, "-1,000": -1000} {
		require.Equal(t, want, figures(v))
	}
	for want, ns := range map[string]float64{"999 ns": 999, "1.00 µs": 1000, "1.50 ms": 1.5e6, "2.00 s": 2e9} {
		require.Equal(t, want, duration(series{timeUnit: {ns}}))
	}
	nothing := series{}
	require.Equal(t, "-", duration(nothing))
	require.Equal(t, "-", formatMedian(nothing, bytesUnit))
	require.Equal(t, "-", change(nothing, series{bytesUnit: {1}}, bytesUnit))
}

// benchmarks has pairs at three depths, and unpaired ones that must not run more than once.
const benchmarks = `package sample

import "testing"

func both(b *testing.B) {
	b.Run("eino", func(b *testing.B) { for b.Loop() {} })
	b.Run("einolean", func(b *testing.B) { for b.Loop() {}; b.ReportMetric(3, "extra") })
}

func BenchmarkFlat(b *testing.B) { both(b) }

func BenchmarkDeep(b *testing.B) {
	b.Run("size=1", func(b *testing.B) { b.Run("kind=a", both) })
	b.Run("size=2", both)
	b.Run("eino-like", func(b *testing.B) { for b.Loop() {} })
}

func BenchmarkAlone(b *testing.B) { for b.Loop() {} }
`

func sampleModule(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/sample\n\ngo 1.26.0\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sample_test.go"), []byte(source), 0o600))
	return dir
}

func TestCompare_RunsOnlyPairsAtEveryDepth(t *testing.T) {
	var table, progress bytes.Buffer
	s := settings{count: 2, time: "2x", bench: ".", dir: sampleModule(t, benchmarks), packages: []string{"./..."}}
	require.NoError(t, s.compare(t.Context(), &table, &progress), progress.String())
	for _, work := range []string{"sample: Flat ", "sample: Deep/size=1/kind=a ", "sample: Deep/size=2 "} {
		require.Contains(t, table.String(), "| example.com/"+work)
	}
	require.Contains(t, table.String(), "|   extra ")
	require.NotContains(t, progress.String(), "eino-like")
	require.NotContains(t, progress.String(), "BenchmarkAlone")
}

func TestCompare_FailureIsErrorAndRestIsShown(t *testing.T) {
	var table, progress bytes.Buffer
	failing := benchmarks + "\nfunc BenchmarkZ(b *testing.B) { b.Run(\"eino\", func(b *testing.B) { b.Fatal(\"broken\") }) }\n"
	s := settings{count: 2, time: "2x", bench: "Flat|Z", dir: sampleModule(t, failing), packages: []string{"./..."}}
	require.ErrorContains(t, s.compare(t.Context(), &table, &progress), "running example.com/sample, eino: exit status 1")
	require.Contains(t, table.String(), "Flat")
	require.NotContains(t, table.String(), "Deep")
	require.Contains(t, progress.String(), "broken")
}

func TestCompare_ReadsSavedRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.txt")
	require.NoError(t, os.WriteFile(file, []byte(printed), 0o600))
	var table bytes.Buffer
	require.NoError(t, settings{from: file}.compare(t.Context(), &table, nil))
	require.Contains(t, table.String(), "217 ×")
	require.Error(t, settings{from: file + "x"}.compare(t.Context(), &table, nil))
}
