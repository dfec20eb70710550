// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strconv"
	"strings"
)

// sample is one line of results: what one benchmark measured in one run.
type sample struct {
	pkg    string             // import path
	name   string             // without "Benchmark" and without the number of CPUs
	values map[string]float64 // by unit: "ns/op", "B/op", …
}

var (
	// cpus is what go test appends to a name where GOMAXPROCS is not 1.
	cpus = regexp.MustCompile(`-\d+$`)
	// results starts a line of results: the iterations, then value and unit in turn.
	results = regexp.MustCompile(`^\s*\d+\s+[-+.\dNI]\S*\s+\S`)
)

// parse reads every result in the output of go test, in order. A benchmark that
// itself prints has its results on a later line than its name; lines that are
// neither are passed over.
func parse(output string) []sample {
	var samples []sample
	var pkg, name string
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if path, ok := strings.CutPrefix(line, "pkg: "); ok {
			pkg, name = strings.TrimSpace(path), ""
			continue
		}
		if rest, ok := strings.CutPrefix(line, "Benchmark"); ok {
			head := strings.IndexAny(rest+" ", " \t")
			name, line = cpus.ReplaceAllString(rest[:head], ""), rest[head:]
		}
		if name == "" || !results.MatchString(line) {
			continue
		}
		if values := measures(strings.Fields(line)[1:]); len(values) > 0 {
			samples = append(samples, sample{pkg: pkg, name: name, values: values})
			name = ""
		}
	}
	return samples
}

// measures reads "12 ns/op 3 B/op …"; nil if the fields are anything else.
func measures(fields []string) map[string]float64 {
	if len(fields)%2 != 0 {
		return nil
	}
	values := make(map[string]float64)
	for i := 0; i < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return nil
		}
		values[fields[i+1]] = v
	}
	return values
}
