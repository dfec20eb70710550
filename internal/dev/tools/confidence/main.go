// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command confidence derives the numbers with which scorers turn evidence into a
// probability, and measures what the probability is worth.
//
// It asks catalogues of one field requests of another, which no tool serves, and
// requests of their own. A logistic function of the logarithms of the evidence, of the size
// of the catalogue and of the length of its descriptions is fitted to which of the two an answer
// belongs to; answers to a catalogue's own requests that are wrong are left out. Each
// catalogue counts the same, and so do both kinds of requests. Samples of 1 to 100 tools of
// each catalogue stand for small ones, and its bare names for terse ones.
//
// The catalogues are those of the project's own graded set and, if -data names a
// directory, those in it: a folder each, with tools.jsonl and queries.jsonl. The measures
// are of a function fitted without the catalogues of the same origin. What lies in
// heldout.jsonl is never fitted to.
//
// What else was tried on the half to tune on, and left out as it moved the pooled area by less
// than .001 or lowered it: the margin to the second answer (-.001), the number of words (-.005),
// whether there are clauses (-.006), norms of the terms' scores other than their sum (-.001 to
// -.017), the share of matches in the name (0), matches of misspellings for less (-.004), the best
// clause in place of the whole (-.001 to +.001), matches in parameters alone for less (-.002), how
// rare a word is in general English (found: +.0003, missing: 0), the size of the vocabulary (-.003), a
// ceiling for what speaks against an answer (-.001 to -.04), adverbs as talk (0), Chinese words of the same
// English meaning (+.001, and other requests are found no better). The share of
// translations among the matches would refuse a third less of right answers to Chinese requests over
// English tools, and costs .004, since it lets Chinese requests of other fields through.
//
// Run it at the top of the repository.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
)

func main() {
	own := flag.String("own", "toolsearch/toolsearcheval/testdata", "the directory of the project's own graded set")
	data := flag.String("data", os.Getenv("EINOLEAN_DATA"), "a directory of further catalogues; empty: none")
	flag.Parse()
	if err := printAll(os.Stdout, *own, *data); err != nil {
		fmt.Fprintln(os.Stderr, "confidence:", err)
		os.Exit(1)
	}
}

// printAll prints, for each scorer, the fitted numbers and the measures.
func printAll(out io.Writer, own, data string) error {
	catalogues, err := load(own, data)
	if err != nil {
		return err
	}
	for _, s := range scorers {
		if err := s.print(out, catalogues); err != nil {
			return err
		}
	}
	return nil
}

func (s scorer) print(out io.Writer, catalogues []catalog) error {
	answers, err := collectAnswers(s, catalogues)
	if err != nil {
		return err
	}
	c := fit(answers, func(a *answer) bool { return !a.heldout })
	fmt.Fprintf(out, "%s: Calibration{Evidence: %.2f, Size: %.2f, Length: %.2f, Offset: %.2f}\n\n", s.name, c.Evidence, c.Size, c.Length, c.Offset)
	if !slices.ContainsFunc(answers, func(a *answer) bool { return !a.heldout && a.origin != answers[0].origin }) {
		fmt.Fprintln(out, "What that is worth is measured on catalogues of other origins: -data names them.")
		return nil
	}
	judgeLeftOut(answers)
	printMeasures(out, answers)
	return nil
}
