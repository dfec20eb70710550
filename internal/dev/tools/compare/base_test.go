// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recordedBase and recordedNow are two runs of each side: Grow became slower and
// allocates more, Steady is unchanged, Gone and New exist on one side only.
const (
	recordedBase = `goos: linux
goarch: amd64
pkg: github.com/einolean/einolean/toolsearch
BenchmarkGrow-2     	 1000	      1000 ns/op	     64 B/op	       2 allocs/op
BenchmarkSteady-2   	 1000	       200 ns/op	 40 peak-B	      0 B/op	       0 allocs/op
BenchmarkGone-2     	 1000	       300 ns/op	      0 B/op	       0 allocs/op
PASS
pkg: github.com/einolean/einolean/toolsearch
BenchmarkGrow-2     	 1000	      1010 ns/op	     64 B/op	       2 allocs/op
BenchmarkSteady-2   	 1000	       202 ns/op	 44 peak-B	      0 B/op	       0 allocs/op
BenchmarkGone-2     	 1000	       300 ns/op	      0 B/op	       0 allocs/op
PASS
`
	recordedNow = `pkg: github.com/einolean/einolean/toolsearch
BenchmarkGrow-2     	 1000	      2000 ns/op	    128 B/op	       1 allocs/op
BenchmarkSteady-2   	 1000	       202 ns/op	 40 peak-B	      0 B/op	       0 allocs/op
BenchmarkNew/tools=10-2	 1000	       300 ns/op	      0 B/op	       0 allocs/op
PASS
pkg: github.com/einolean/einolean/toolsearch
BenchmarkGrow-2     	 1000	      2030 ns/op	    128 B/op	       1 allocs/op
BenchmarkSteady-2   	 1000	       200 ns/op	 44 peak-B	      0 B/op	       0 allocs/op
PASS
`
)

func TestCommitsTable_ShowsIntervalAndVerdict(t *testing.T) {
	const want = `
| work               |    base |     now |   ratio | 95 % interval | verdict | B/op | change | allocs/op | change |
|--------------------|--------:|--------:|--------:|--------------:|--------:|-----:|-------:|----------:|-------:|
| toolsearch: Grow   | 1.00 µs | 2.02 µs | 2.005 × |   1.943–2.069 |  slower |  128 |    +64 |         1 |     -1 |
| toolsearch: Steady |  201 ns |  201 ns | 1.000 × |   0.881–1.135 |    same |    0 |      0 |         0 |      0 |
|   peak-B           |      42 |      42 | 1.000 × |   1.000–1.000 |         |      |        |           |        |
Medians of 2. Ratio: now divided by base, geometric mean of the pairs.
Where nothing changed, about 1 row of 20 is still called slower or faster.
Only in the base: toolsearch: Gone
Not in the base: toolsearch: New/tools=10
`
	rows, onlyBase, onlyNow := pair(parse(recordedBase), parse(recordedNow))
	require.Equal(t, want[1:], renderCommits(rows, onlyBase, onlyNow))
}

// repository has one commit, and in its working tree other benchmarks than in
// the commit.
func repository(t *testing.T) string {
	t.Helper()
	dir := sampleModule(t, benchmarks+"\nfunc BenchmarkOld(b *testing.B) { for b.Loop() {} }\n")
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	write("data.txt", "base")
	_, err := git(t.Context(), dir, "init", "--quiet")
	require.NoError(t, err)
	commit(t, dir, ".")
	write("sample_test.go", strings.ReplaceAll(benchmarks, "size=2", "size=3"))
	write("new/new_test.go", "package new\n\nimport \"testing\"\n\nfunc BenchmarkAdded(b *testing.B) { for b.Loop() {} }\n")
	return dir
}

// commit commits what is below a path.
func commit(t *testing.T, dir, path string) {
	t.Helper()
	for _, args := range [][]string{
		{"add", path},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false", "commit", "--quiet", "-m", "a change"},
	} {
		_, err := git(t.Context(), dir, args...)
		require.NoError(t, err)
	}
}

// sides are the lines that say which side runs, in order.
var sides = regexp.MustCompile(`(?m)^-- (\w+)$`)

func TestCompareCommits_NamesWhatOneSideLacks(t *testing.T) {
	dir := repository(t)
	var table, progress bytes.Buffer
	s := settings{base: "HEAD", count: 3, time: "2x", bench: "Deep|Old|Added", dir: dir, packages: []string{"./..."}}
	require.NoError(t, s.compare(t.Context(), &table, &progress), progress.String())
	require.Contains(t, table.String(), "| example.com/sample: Deep/size=1/kind=a/einolean ")
	require.Contains(t, table.String(), "| example.com/sample: Deep/eino-like ")
	require.NotContains(t, table.String(), "/eino ", "Eino's side is the same in both commits")
	require.NotContains(t, table.String(), "Flat")
	_, after, _ := strings.Cut(table.String(), "slower or faster.\n")
	require.Equal(t, `Only in the base: example.com/sample: Deep/size=2/einolean
Only in the base: example.com/sample: Old
Not in the base: example.com/sample: Deep/size=3/einolean
Not in the base: example.com/sample/new: Added
`, after)
	var order []string
	for _, side := range sides.FindAllStringSubmatch(progress.String(), -1) {
		order = append(order, side[1])
	}
	require.Equal(t, []string{"base", "now", "now", "base", "base", "now"}, order)
	worktrees, err := git(t.Context(), dir, "worktree", "list")
	require.NoError(t, err)
	require.NotContains(t, worktrees, "\n", "the temporary worktree is gone")
}

func TestCompareCommits_RunsEachSideInItsTree(t *testing.T) {
	dir := repository(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data.txt"), []byte("tree"), 0o600))
	reading := `package sample

import ("os"; "testing")

func BenchmarkRead(b *testing.B) {
	text, _ := os.ReadFile("data.txt")
	for b.Loop() {}
	b.ReportMetric(float64(text[0]), "first-byte")
}
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sample_test.go"), []byte(reading), 0o600))
	commit(t, dir, "sample_test.go")
	var table, progress bytes.Buffer
	s := settings{base: "HEAD", count: 2, time: "2x", bench: "Read", dir: dir, packages: []string{"./..."}}
	require.NoError(t, s.compare(t.Context(), &table, &progress), progress.String())
	require.Regexp(t, `first-byte +\| +98 \| +116 \|`, table.String(), `"base" and "tree"`)
}

func TestCompareCommits_ReportsFailures(t *testing.T) {
	dir := repository(t)
	var table, progress bytes.Buffer
	s := settings{base: "HEAD", count: 2, time: "2x", bench: "Flat", dir: dir, packages: []string{"."}}
	write := func(source string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "sample_test.go"), []byte(source), 0o600))
	}
	write(strings.Replace(benchmarks, "both(b) }", "b.Fatal(\"broken\") }", 1))
	require.ErrorContains(t, s.compare(t.Context(), &table, &progress), "running example.com/sample, now: exit status 1")
	require.Contains(t, progress.String(), "broken")
	require.NotContains(t, table.String(), "Flat", "the failure is no missing benchmark")
	write(strings.Replace(benchmarks, "both(b) }", "missing(b) }", 1))
	require.ErrorContains(t, s.compare(t.Context(), &table, &progress), "undefined: missing")
}

func TestCompare_RejectsWrongInput(t *testing.T) {
	dir := repository(t)
	for want, s := range map[string]settings{
		`BASE (-base) "nothing" is not a commit: git rev-parse`:         {base: "nothing", count: 2, bench: "."},
		`BASE (-base) "--help" is not a commit: git rev-parse`:          {base: "--help", count: 2, bench: "."},
		"COUNT (-count) is 1: an interval needs at least 2 pairs":       {base: "HEAD", count: 1, bench: "."},
		"COUNT (-count) is 0: an interval needs at least 2 pairs":       {count: 0, bench: "."},
		"BENCH (-only): error parsing regexp":                           {base: "HEAD", count: 2, bench: "("},
		`BENCH (-only) "Absent" matches no benchmark in PKG ./...`:      {base: "HEAD", count: 2, bench: "Absent"},
		`BENCH (-only) "Flat/absent" matches no benchmark in PKG ./...`: {base: "HEAD", count: 2, bench: "Flat/absent"},
		`BENCH (-only) "Absent/x" matches no benchmark in PKG ./...`:    {count: 2, bench: "Absent/x"},
		"a saved run (-from) cannot be combined with BASE (-base)":      {base: "HEAD", from: "file"},
	} {
		t.Run(want, func(t *testing.T) {
			s.dir, s.time, s.packages = dir, "1x", []string{"./..."}
			var table, progress bytes.Buffer
			require.ErrorContains(t, s.compare(t.Context(), &table, &progress), want)
			require.Empty(t, table.String())
		})
	}
}

func TestPattern_SelectsLevels(t *testing.T) {
	s := settings{bench: "Run/Message/calls=1"}
	require.Equal(t, "^BenchmarkRun$/Message/calls=1", s.pattern("Run", ""))
	require.True(t, strings.HasPrefix(s.pattern("Run", eino), "^BenchmarkRun$/Message/calls=1/^eino$|"))
}
