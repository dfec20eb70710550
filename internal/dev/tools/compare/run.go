// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// deepest is how many levels of sub-benchmarks are searched for an ending.
const deepest = 6

// program is the test binary of one package.
type program struct {
	pkg       string   // import path
	dir       string   // of the package: where the binary runs
	path      string   // of the binary; empty before build
	functions []string // the chosen Benchmark functions, without "Benchmark"
}

// findPrograms returns the programs in dir that have a chosen Benchmark function.
func (s settings) findPrograms(ctx context.Context, dir string) ([]program, error) {
	function, _, _ := strings.Cut(s.bench, "/")
	chosen, err := regexp.Compile(function)
	if err != nil {
		return nil, fmt.Errorf("BENCH (-only): %w", err)
	}
	const format = "{{.ImportPath}}\t{{.Dir}}\t{{join .TestGoFiles \"\\t\"}}\t{{join .XTestGoFiles \"\\t\"}}"
	// -e: a package may be missing on one side.
	listing, err := goCommand(ctx, dir, append([]string{"list", "-e", "-f", format}, s.packages...)...)
	if err != nil {
		return nil, err
	}
	var programs []program
	for line := range strings.Lines(listing) {
		fields := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		p := program{pkg: fields[0], dir: fields[1]}
		if p.functions, err = benchmarkFunctions(p.dir, fields[2:], chosen); err != nil {
			return nil, err
		}
		if len(p.functions) > 0 {
			programs = append(programs, p)
		}
	}
	return programs, nil
}

func (s settings) errNoBenchmark() error {
	return fmt.Errorf("BENCH (-only) %q matches no benchmark in PKG %s", s.bench, strings.Join(s.packages, " "))
}

// benchmarkFunctions returns the Benchmark functions in test files whose names match.
func benchmarkFunctions(dir string, files []string, chosen *regexp.Regexp) (names []string, err error) {
	for _, file := range files {
		if file == "" {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, declaration := range syntax.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !chosen.MatchString(f.Name.Name) {
				continue
			}
			if name, ok := strings.CutPrefix(f.Name.Name, "Benchmark"); ok {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// build compiles the program into a new file of temp and returns its path.
func (p program) build(ctx context.Context, temp string) (string, error) {
	f, err := os.CreateTemp(temp, "*.test")
	if err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	_, err = goCommand(ctx, p.dir, "test", "-c", "-o", f.Name(), ".")
	return f.Name(), err
}

// goCommand runs the go command and returns its standard output.
func goCommand(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var out, problem strings.Builder
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &problem
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, strings.TrimSpace(problem.String()+out.String()))
	}
	return out.String(), nil
}

// benchmarkRun is what one side runs: some benchmarks of a program.
type benchmarkRun struct {
	side    string
	program program
	pattern string // for -bench
	skip    string // for -skip; empty: none
}

// job is the runs of both sides that are measured in turn.
type job [2]benchmarkRun

// measure carries out all jobs and returns what each side printed.
func (s settings) measure(ctx context.Context, progress io.Writer, jobs []job) (printed [2]string, failed error) {
	for _, j := range jobs {
		if err := ctx.Err(); err != nil {
			return printed, errors.Join(failed, err)
		}
		outputs, err := s.alternate(ctx, progress, j)
		for side, out := range outputs {
			printed[side] += out
		}
		failed = errors.Join(failed, err)
	}
	return printed, failed
}

// alternate runs both sides s.count times, in the order 0 1, 1 0, 0 1, and so
// on. It stops after a pair that failed.
func (s settings) alternate(ctx context.Context, progress io.Writer, sides job) (printed [2]string, failed error) {
	for i := range s.count {
		first := i % 2
		for _, side := range []int{first, 1 - first} {
			out, err := s.execute(ctx, progress, sides[side])
			printed[side] += out
			failed = errors.Join(failed, err)
		}
		if failed != nil {
			break
		}
	}
	return printed, failed
}

// execute runs the benchmarks of one side once and returns what they printed,
// also if they failed.
func (s settings) execute(ctx context.Context, progress io.Writer, r benchmarkRun) (string, error) {
	fmt.Fprintln(progress, "--", r.side)
	cmd := exec.CommandContext(ctx, r.program.path, "-test.run", "^$", "-test.bench", r.pattern, "-test.skip", r.skip,
		"-test.benchmem", "-test.benchtime", s.time, "-test.timeout", "60m")
	var text strings.Builder
	both := io.MultiWriter(&text, progress)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.program.dir, both, both
	if err := cmd.Run(); err != nil {
		return text.String(), fmt.Errorf("running %s, %s: %w", r.program.pkg, r.side, err)
	}
	return text.String(), nil
}

// pattern selects one function, those of its sub-benchmarks that s.bench names,
// and of these the ones with an ending; empty: any.
func (s settings) pattern(function, ending string) string {
	selected := "^Benchmark" + function + "$"
	if _, levels, ok := strings.Cut(s.bench, "/"); ok {
		selected += "/" + levels
	}
	if ending == "" {
		return selected
	}
	return endingAtAnyDepth(selected, ending)
}

// endingAtAnyDepth selects sub-benchmarks below a pattern by their last name. A
// go test pattern names one level per slash, so each depth is an alternative.
func endingAtAnyDepth(above, ending string) string {
	var depths []string
	for depth := range deepest {
		depths = append(depths, above+"/"+strings.Repeat("./", depth)+"^"+ending+"$")
	}
	return strings.Join(depths, "|")
}
