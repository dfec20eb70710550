// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command previews measures what cut results show: how many of the facts that a later
// step needs are in what PreviewByKind and PreviewHeadTail show, by kind of result and
// size of the preview; and how many calls of the read tool find the others.
//
// The results are outputs of the tools in demo/library, logs of go test and go vet,
// JSON of several shapes as services return it, MCP results, pages, and documents that
// arrived cut. Facts are chosen by rule before anything is previewed: values of records,
// names and messages of failed tests, texts of pages.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/einolean/einolean/reduction"
)

func main() {
	log.SetFlags(0)
	results, err := graded()
	if err != nil {
		log.Fatalf("previews: %v", err)
	}
	if more, err := pagesOfGo(); err == nil {
		results = append(results, more...)
	}
	print(os.Stdout, results)
	fmt.Println()
	if err := printReads(os.Stdout, results); err != nil {
		log.Fatalf("previews: %v", err)
	}
}

// budgets are the sizes of the previews, in bytes.
var budgets = []int{2_000, 4_000, 8_000, 16_000}

// result is what a tool returned, with what a later step needs of it.
type result struct {
	kind, name string
	text       string
	question   string // what the user asked
	facts      []string
}

// sum adds up the shares of the results of one kind.
type sum struct {
	results, facts int
	kind, ends     [4]float64 // shares of facts by budget
	worse          [4]int     // results of which much less is shown than by start and end
}

// much is how much less, in shares.
const much = .25

func (s *sum) add(r result) {
	s.results++
	s.facts += len(r.facts)
	for i, room := range budgets {
		req := reduction.PreviewRequest{Text: r.text, MaxBytes: room, Question: r.question}
		byKind, ends := share(reduction.PreviewByKind(req), r), share(reduction.PreviewHeadTail(req), r)
		s.kind[i] += byKind
		s.ends[i] += ends
		if byKind < ends-much {
			s.worse[i]++
		}
	}
}

// share is how many of the facts of a result are in a preview, from 0 to 1. A text inside
// JSON counts with and without its escapes.
func share(preview string, r result) float64 {
	n := 0
	for _, f := range r.facts {
		if shows(preview, f) {
			n++
		}
	}
	return float64(n) / float64(len(r.facts))
}

func shows(text, fact string) bool {
	return strings.Contains(text, fact) || strings.Contains(text, escaped(fact)) || strings.Contains(text, escaped(escaped(fact)))
}

// print writes the table: by kind, the share of facts that is shown with each budget.
func print(w io.Writer, results []result) {
	var kinds []string
	sums := make(map[string]*sum)
	for _, r := range results {
		for _, kind := range []string{r.kind, "all"} {
			if sums[kind] == nil {
				sums[kind] = new(sum)
				kinds = append(kinds, kind)
			}
			sums[kind].add(r)
		}
	}
	fmt.Fprintf(w, "Percent of facts that a preview of 2, 4, 8 and 16 KB shows, and how many results show over 25 points less by kind.\n\n")
	fmt.Fprintf(w, "%-16s %7s %6s   %-19s   %-19s   %s\n", "kind", "results", "facts", "by kind", "start and end", "worse")
	line := func(kind string) {
		s := sums[kind]
		fmt.Fprintf(w, "%-16s %7d %6d   %s   %s   %d %d %d %d\n", kind, s.results, s.facts, percents(s.kind, s.results), percents(s.ends, s.results), s.worse[0], s.worse[1], s.worse[2], s.worse[3])
	}
	for _, kind := range kinds {
		if kind != "all" {
			line(kind)
		}
	}
	line("all")
}

func percents(shares [4]float64, n int) string {
	var b strings.Builder
	for _, s := range shares {
		fmt.Fprintf(&b, "%4.0f ", 100*s/float64(n))
	}
	return strings.TrimSuffix(b.String(), " ")
}
