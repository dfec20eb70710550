// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// Screen prints a demo: the first question with every model call, the others in two lines
// each. It uses colours on a terminal unless NO_COLOR is set, and none elsewhere.
type Screen struct {
	out     io.Writer
	verbose bool // every question with every model call
	colour  bool
	shown   int // questions
}

// NewScreen returns a Screen on out.
func NewScreen(out io.Writer, verbose bool) *Screen {
	s := &Screen{out: out, verbose: verbose}
	if file, ok := out.(*os.File); ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		info, err := file.Stat()
		s.colour = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return s
}

// The colours, as codes of a terminal.
const (
	bold  = "1"
	dim   = "2"
	red   = "31"
	green = "32"
	cyan  = "36"
)

func (s *Screen) paint(code, text string) string {
	if !s.colour || text == "" || code == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Title begins a demo, with what it is about in a line or two.
func (s *Screen) Title(name, about string) {
	fmt.Fprintf(s.out, "%s  %s\n\n", s.paint(bold, name), strings.ReplaceAll(about, "\n", "\n"+strings.Repeat(" ", len(name)+2)))
}

// Print prints lines unchanged.
func (s *Screen) Print(format string, args ...any) { fmt.Fprintf(s.out, format, args...) }

// Writer is where the screen is.
func (s *Screen) Writer() io.Writer { return s.out }

// Colour reports whether the screen shows colours.
func (s *Screen) Colour() bool { return s.colour }

// Step is a model call and its results.
type Step struct {
	With, Without Cost
	Cleared       string   // what was taken out before the call
	Did, Results  []string // the model's calls, and what they returned
}

// Cost is what a model call was sent. The zero value means that there was none.
type Cost struct{ Tools, Tokens int }

func (c Cost) String() string {
	if c == (Cost{}) {
		return strings.Repeat(" ", 16)
	}
	return fmt.Sprintf("%5d %10s", c.Tools, Thousands(c.Tokens))
}

// The columns of a step.
const (
	heading = "          without              with"
	columns = "  tools     tokens  tools     tokens  "
)

// Show prints a question, the model calls and the answer.
func (s *Screen) Show(question string, steps []Step, a Answer) {
	if s.shown++; s.shown == 1 || s.verbose {
		s.inFull(question, steps, a)
		return
	}
	if s.shown == 2 {
		fmt.Fprintln(s.out, s.paint(dim, fmt.Sprintf("  %-55s%11s%11s%8s", "more questions", "without", "with", "saved")))
	}
	s.inBrief(question, a)
}

func (s *Screen) inFull(question string, steps []Step, a Answer) {
	fmt.Fprintf(s.out, "  %s %s\n\n", s.paint(dim, "question"), s.paint(bold, question))
	fmt.Fprintf(s.out, "%s\n%s\n", s.paint(dim, heading), s.paint(dim, columns+"what the model does"))
	for _, step := range steps {
		s.beside("", step.Cleared, dim)
		costs := "  " + s.paint(dim, step.Without.String()) + "  " + step.With.String() + "  "
		for _, did := range step.Did {
			s.beside(costs, did, cyan)
			costs = ""
		}
		if len(step.Did) == 0 {
			fmt.Fprintln(s.out, strings.TrimRight(costs, " "))
		}
		for _, result := range step.Results {
			s.beside("", "→ "+result, "")
		}
	}
	fmt.Fprintf(s.out, "\n  %s   %s\n", s.paint(dim, "answer"), strings.ReplaceAll(a.Text, "\n", "\n           "))
	fmt.Fprintf(s.out, "           %s, %s\n\n", s.verdict(a), s.paint(bold, Ratio(a.Without, a.With)+" fewer tokens"))
}

// beside prints text in the last column, and costs before it.
func (s *Screen) beside(costs, text, code string) {
	if text == "" {
		return
	}
	if costs == "" {
		costs = strings.Repeat(" ", len(columns))
	}
	for _, part := range Wrap(text, Width-len(columns)) {
		fmt.Fprintln(s.out, costs+s.paint(code, part))
		costs = strings.Repeat(" ", len(columns))
	}
}

// Answer is an agent's final answer, and what it cost in tokens.
type Answer struct {
	Text          string
	Wrong         string // what is wrong with it; empty if it is right
	With, Without int
}

func (s *Screen) verdict(a Answer) string {
	if a.Wrong != "" {
		return s.paint(red, "✗ "+a.Wrong)
	}
	return s.paint(green, "✓ right")
}

func (s *Screen) inBrief(question string, a Answer) {
	mark := s.paint(green, "✓")
	if a.Wrong != "" {
		mark = s.paint(red, "✗")
	}
	question = Cut(question, 53)
	fmt.Fprintf(s.out, "%s %s%s%11s%11s%8s\n", mark, question, strings.Repeat(" ", 55-Cells(question)),
		Thousands(a.Without), Thousands(a.With), Ratio(a.Without, a.With))
	fmt.Fprintln(s.out, "    "+s.paint(dim, Cut(strings.ReplaceAll(strings.TrimSpace(a.Text), "\n", "; "), Width-4)))
	if a.Wrong != "" {
		fmt.Fprintln(s.out, "    "+s.paint(red, a.Wrong))
	}
}

// Total ends a demo.
func (s *Screen) Total(format string, args ...any) {
	fmt.Fprintf(s.out, "\n%s\n", s.paint(bold, fmt.Sprintf(format, args...)))
}
