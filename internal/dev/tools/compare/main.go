// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command compare measures Eino's packages and ours on the same work, in the
// same run, and prints one table.
//
// It runs the benchmarks whose names end in /eino and /einolean, at any depth of
// sub-benchmarks (BenchmarkSearch/tools=10000/eino), and pairs those of one
// package that are equal up to that ending. Each figure is the median of -count
// runs. Metrics that a benchmark reports itself (b.ReportMetric) are rows of
// their own.
//
// What go test prints goes to standard error while it runs, and the table to
// standard output. The exit status is 1 if a benchmark failed, has no partner,
// or if there was none.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// deepest is how many levels of sub-benchmarks are searched for the two endings.
const deepest = 6

// settings are the command line.
type settings struct {
	count    int
	time     string
	only     string
	from     string
	dir      string // where go test runs; empty: here
	packages []string
}

func main() {
	var s settings
	flag.IntVar(&s.count, "count", 3, "how often each benchmark runs; the table shows the median")
	flag.StringVar(&s.time, "benchtime", "1s", "how long each run takes, as in go test")
	flag.StringVar(&s.only, "only", ".", "a regular expression that chooses among the Benchmark functions")
	flag.StringVar(&s.from, "from", "", "read what go test printed from this file, and run nothing")
	flag.Parse()
	if s.packages = flag.Args(); len(s.packages) == 0 {
		s.packages = []string{"./..."}
	}
	if err := s.compare(os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// compare measures, or reads what was measured, and writes the table.
func (s settings) compare(table, progress io.Writer) error {
	out, failed := s.output(progress)
	if failed != nil && out == "" {
		return failed
	}
	rows, err := pair(parse(out))
	if len(rows) > 0 {
		fmt.Fprint(table, render(rows, s.count))
	}
	return errors.Join(failed, err)
}

// output returns what go test printed, also where it ended in an error.
func (s settings) output(progress io.Writer) (string, error) {
	if s.from != "" {
		text, err := os.ReadFile(s.from)
		return string(text), err
	}
	var text strings.Builder
	cmd := exec.Command("go", s.arguments()...)
	both := io.MultiWriter(&text, progress)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, both, both
	if err := cmd.Run(); err != nil {
		return text.String(), fmt.Errorf("running go test: %w", err)
	}
	return text.String(), nil
}

// arguments are those of the go command.
func (s settings) arguments() []string {
	args := []string{"test", "-run", "^$", "-bench", pattern(s.only), "-benchmem",
		"-benchtime", s.time, "-count", strconv.Itoa(s.count), "-timeout", "60m"}
	return append(args, s.packages...)
}

// pattern selects the paired benchmarks at every depth. A go test pattern names
// one level per slash, so each depth is an alternative of its own.
func pattern(only string) string {
	var depths []string
	for depth := range deepest {
		depths = append(depths, "("+only+")/"+strings.Repeat("./", depth)+"^("+eino+"|"+ours+")$")
	}
	return strings.Join(depths, "|")
}
