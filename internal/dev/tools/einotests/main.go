// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command einotests runs Eino's own unit tests of its two middlewares against ours. It
// reads them from the module cache and writes them, with another package clause and another
// import, into a temporary folder: nothing of them is in this repository. A test function
// that uses more than the exported API is left out. Each test that fails must have a row of
// docs/differences.md in rows.txt, and each that is named there must fail. One that panics hides none behind it: its
// function runs once more without it, and what never runs is named.
//
//	go run ./internal/dev/tools/einotests      # -v lists every test
package main

import (
	"bufio"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	eino     = "github.com/cloudwego/eino"
	einolean = "github.com/einolean/einolean"
)

// packages are ours, by Eino's path of the same.
var packages = []struct{ theirs, ours string }{
	{"adk/middlewares/dynamictool/toolsearch", "toolsearch"},
	{"adk/middlewares/reduction", "reduction"},
}

// knownRows has a line for each test of Eino's that fails here on purpose: its package, its
// name and the row of docs/differences.md.
//
//go:embed rows.txt
var knownRows string

func main() {
	verbose := flag.Bool("v", false, "list every test")
	flag.Parse()
	if err := run(os.Stdout, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "einotests:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, verbose bool) error {
	differences, err := os.ReadFile("docs/differences.md")
	if err != nil {
		return fmt.Errorf("run it in the repository's root: %w", err)
	}
	rows, err := readRows(knownRows, string(differences))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "einotests-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var wrong []error
	for _, p := range packages {
		s, err := prepare(dir, p.theirs, p.ours)
		if err != nil {
			return fmt.Errorf("%s: %w", p.ours, err)
		}
		results, err := s.run()
		if err != nil {
			return fmt.Errorf("%s: %w", p.ours, err)
		}
		wrong = append(wrong, report(out, s, results, rows[p.ours], verbose)...)
	}
	return errors.Join(wrong...)
}

// readRows reads the rows of the tests that fail on purpose, by package and test.
func readRows(text, differences string) (map[string]map[string]string, error) {
	rows := make(map[string]map[string]string)
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Fields(line)
		if len(f) != 3 {
			return nil, fmt.Errorf("rows.txt: %q is not a package, a test and a row", line)
		}
		if !strings.Contains(differences, "| "+f[2]+" ") {
			return nil, fmt.Errorf("rows.txt: docs/differences.md has no row %s", f[2])
		}
		if rows[f[0]] == nil {
			rows[f[0]] = make(map[string]string)
		}
		rows[f[0]][f[1]] = f[2]
	}
	return rows, nil
}

// report prints how Eino's tests went and returns what is not as rows.txt says.
func report(out io.Writer, s *suite, results map[string]result, rows map[string]string, verbose bool) (wrong []error) {
	pass, known := 0, 0
	for _, name := range slices.Sorted(maps.Keys(results)) {
		row, failsOnPurpose := rows[name]
		switch ok := results[name].passed; {
		case ok && failsOnPurpose:
			wrong = append(wrong, fmt.Errorf("%s: %s passes: take its line with %s out of rows.txt", s.ours, name, row))
		case ok:
			pass++
		case failsOnPurpose:
			known++
		default:
			wrong = append(wrong, fmt.Errorf("%s: %s of Eino's fails, and rows.txt names no row for it:\n%s", s.ours, name, results[name].text))
		}
		if verbose {
			fmt.Fprintln(out, s.ours, name, map[bool]string{true: "passes", false: "fails"}[results[name].passed], row)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		if _, there := results[name]; !there {
			wrong = append(wrong, fmt.Errorf("%s: Eino has no test %s that can be run: take its line out of rows.txt", s.ours, name))
		}
	}
	for _, name := range s.notRun {
		wrong = append(wrong, fmt.Errorf("%s: %s did not run: what stands before it in its function ended the function", s.ours, name))
	}
	fmt.Fprintf(out, "Eino's own tests of %s: %d of %d functions use only the exported API; of their %d tests %d pass, %d have a row of docs/differences.md, %d did not run\n",
		s.ours, len(s.functions()), s.all, len(results), pass, known, len(s.notRun))
	return wrong
}

// write makes a file and its folder.
func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
