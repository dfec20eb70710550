// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command compare runs two sides of the same benchmarks in turn and prints one
// table with the ratio of each pair of results and its 95 % confidence interval.
//
// Without -base the sides are Eino's packages and ours: the benchmarks whose
// names end in /eino and /einolean, at any depth of sub-benchmarks
// (BenchmarkSearch/tools=10000/eino), paired by the rest of the name.
//
// With -base the sides are a commit and the working tree. The commit is checked
// out into a temporary git worktree. All benchmarks but Eino's run; those of the
// same package and name are paired. What exists on one side only is named below
// the table.
//
// Every Benchmark function runs in a process of its own, in the order A B, B A,
// A B, and so on, so that a machine that slows down gradually affects both sides
// alike. Metrics that a benchmark reports itself (b.ReportMetric) are rows of
// their own.
//
// What the benchmarks print goes to standard error while they run, and the table
// to standard output. The exit status is 0 whatever the ratios are. It is 1 if
// the input is wrong or a benchmark cannot be built or fails, and without -base
// also if a benchmark has no partner.
//
// Run it at the top of the repository.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// settings are the command line.
type settings struct {
	base     string
	count    int
	time     string
	bench    string
	from     string
	dir      string // the working tree; empty: the current directory
	packages []string
}

func main() {
	var s settings
	flag.StringVar(&s.base, "base", "", "the commit to compare the working tree with; empty: compare with Eino's packages")
	flag.IntVar(&s.count, "count", 3, "how many pairs of runs are measured, at least 2")
	flag.StringVar(&s.time, "benchtime", "1s", "how long each run takes, as in go test")
	flag.StringVar(&s.bench, "only", ".",
		"a regular expression for Benchmark functions, and after each slash one for the next level of sub-benchmarks")
	flag.StringVar(&s.from, "from", "", "read a run without -base from this file, and run nothing")
	flag.Parse()
	if s.packages = flag.Args(); len(s.packages) == 0 {
		s.packages = []string{"./..."}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := s.compare(ctx, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// compare measures, or reads what was measured, and writes the table.
func (s settings) compare(ctx context.Context, table, progress io.Writer) error {
	switch {
	case s.from != "" && s.base != "":
		return errors.New("a saved run (-from) cannot be combined with BASE (-base)")
	case s.from != "":
		text, err := os.ReadFile(s.from)
		if err != nil {
			return err
		}
		return writeEinoTable(table, string(text))
	case s.count < 2:
		return fmt.Errorf("COUNT (-count) is %d: an interval needs at least 2 pairs", s.count)
	case s.base != "":
		return s.compareCommits(ctx, table, progress)
	}
	return s.compareWithEino(ctx, table, progress)
}

func (s settings) compareWithEino(ctx context.Context, table, progress io.Writer) error {
	temp, err := os.MkdirTemp("", "compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	programs, err := s.findPrograms(ctx, s.dir)
	if err != nil {
		return err
	}
	if len(programs) == 0 {
		return s.errNoBenchmark()
	}
	var jobs []job
	for _, p := range programs {
		if p.path, err = p.build(ctx, temp); err != nil {
			return err
		}
		for _, function := range p.functions {
			jobs = append(jobs, job{
				{side: "eino", program: p, pattern: s.pattern(function, eino)},
				{side: "einolean", program: p, pattern: s.pattern(function, ours)},
			})
		}
	}
	printed, failed := s.measure(ctx, progress, jobs)
	return errors.Join(failed, writeEinoTable(table, printed[0]+printed[1]))
}

// writeEinoTable writes the table of what both sides printed, in any order.
func writeEinoTable(table io.Writer, printed string) error {
	theirs, own := splitEndings(parse(printed))
	if len(theirs)+len(own) == 0 {
		return errors.New("no benchmark has a name that ends in /" + eino + " or /" + ours)
	}
	rows, onlyEino, onlyOurs := pair(theirs, own)
	if len(rows) > 0 {
		fmt.Fprint(table, renderEino(rows))
	}
	var missing []error
	for _, work := range append(onlyEino, onlyOurs...) {
		missing = append(missing, fmt.Errorf("%s was measured on one side only", work))
	}
	return errors.Join(missing...)
}
