// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file prints what the agents did and what it cost.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"

	"github.com/leanctx/leanctx/examples/lab"
	"github.com/leanctx/leanctx/examples/offline"
)

// sum is a line of the closing table.
type sum struct {
	title                   string
	leanCalls, plainCalls   int
	lean, plain             int // tokens of the tools' definitions
	leanInFull, plainInFull int // tokens of definitions and messages
}

func report[M adk.MessageType](ctx context.Context, out io.Writer, lean, plain *bench[M]) error {
	fmt.Fprintf(out, "An agent with a library of %d tools, and an offline model. For each model call: how many tools went\n"+
		"over the wire, and their tokens; beside it the same for the agent without the middleware.\n"+
		"Tokens are estimates: a quarter of the bytes of the tools' definitions (name, description, schema)\n"+
		"as JSON. Each answer is checked against one worked out with Go's standard library.\n", lean.tools)
	var sums []sum
	wrong := 0
	for i, t := range tasks {
		fmt.Fprintf(out, "\n%d. %s\n", i+1, t.title)
		s, bad, err := solve(ctx, out, t, lean, plain)
		if err != nil {
			return err
		}
		sums, wrong = append(sums, s), wrong+bad
	}
	summary(out, sums)
	if wrong > 0 {
		return fmt.Errorf("%d answers are wrong", wrong)
	}
	fmt.Fprintln(out, "\nEvery answer is right. The messages hold the list of the hidden tools' names, too.")
	return nil
}

// solve runs a task with both agents, and prints what the lean one did.
func solve[M adk.MessageType](ctx context.Context, out io.Writer, t task, lean, plain *bench[M]) (s sum, wrong int, err error) {
	s.title = t.title
	var with, without lab.Outcome[M]
	for _, q := range t.questions {
		if with, err = lean.Ask(ctx, with.Messages, q.text); err != nil {
			return s, wrong, err
		}
		if without, err = plain.Ask(ctx, without.Messages, q.text); err != nil {
			return s, wrong, err
		}
		add(&s, with.Requests, without.Requests)
		fmt.Fprintf(out, "   > %s\n", q.text)
		printCalls(out, with, without.Requests)
		verdict := "ok"
		if !q.holds(with.Answer()) {
			verdict = "WRONG, it should hold " + strings.Join(q.truth(), " and ")
			wrong++
		}
		fmt.Fprintf(out, "   %s\n   %s\n", strings.ReplaceAll(with.Answer(), "\n", "\n   "), verdict)
	}
	return s, wrong, nil
}

func add[M adk.MessageType](s *sum, lean, plain []lab.Request[M]) {
	for _, w := range lean {
		s.leanCalls++
		s.lean += w.Definitions
		s.leanInFull += w.Tokens()
	}
	for _, w := range plain {
		s.plainCalls++
		s.plain += w.Definitions
		s.plainInFull += w.Tokens()
	}
}

func (s *sum) addSum(t sum) {
	s.leanCalls += t.leanCalls
	s.plainCalls += t.plainCalls
	s.lean += t.lean
	s.plain += t.plain
	s.leanInFull += t.leanInFull
	s.plainInFull += t.plainInFull
}

// printCalls prints a line for each model call, and one for what is notable in the results.
func printCalls[M adk.MessageType](out io.Writer, o lab.Outcome[M], plain []lab.Request[M]) {
	line := func(head, text string) {
		for _, part := range lab.Wrap(text, lab.Width-37) {
			fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("   %-31s  %s", head, part), " "))
			head = ""
		}
	}
	line("tools tokens | without: tokens", "what the model did")
	call := 0
	for _, t := range o.Turns {
		for _, r := range t.Results {
			if text := notable(r); text != "" {
				line("", "→ "+text)
			}
		}
		if len(t.Results) > 0 {
			continue
		}
		for n, text := range did(t) {
			head := ""
			if n == 0 {
				head = costs(o.Requests, plain, call)
			}
			line(head, text)
		}
		call++
	}
	for ; call < len(plain); call++ {
		line(costs(o.Requests, plain, call), "")
	}
}

// costs is the left part of a line: what the call cost, and what it cost without
// the middleware.
func costs[M adk.MessageType](lean, plain []lab.Request[M], call int) string {
	cell := func(requests []lab.Request[M], format string) string {
		if call >= len(requests) {
			return fmt.Sprintf(format, "-", "-")
		}
		return fmt.Sprintf(format, fmt.Sprint(len(requests[call].Tools)), lab.Thousands(requests[call].Definitions))
	}
	return cell(lean, "%5s %6s | ") + cell(plain, "%7s %8s")
}

// did says what the model did in a turn.
func did(t offline.Turn) (out []string) {
	for _, c := range t.Calls {
		out = append(out, c.Name+" "+brief(c))
	}
	if len(out) == 0 {
		out = append(out, "answers")
	}
	return out
}

// brief shortens the long texts among the arguments.
func brief(c offline.Call) string {
	var args map[string]any
	if json.Unmarshal([]byte(c.Args), &args) != nil {
		return c.Args
	}
	for name, v := range args {
		if text, ok := v.(string); ok && utf8.RuneCountInString(text) > 24 && c.Name != "tool_search" {
			args[name] = string([]rune(text)[:12]) + "…"
		}
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(args) != nil {
		return c.Args
	}
	return strings.TrimSpace(b.String())
}

// notable is what a search found, or what a tool complained of; empty for other results.
func notable(r offline.Result) string {
	if strings.HasPrefix(r.Text, "error") {
		return r.Text
	}
	var found struct{ Matches []string }
	if r.Name != "tool_search" || json.Unmarshal([]byte(r.Text), &found) != nil {
		return ""
	}
	if len(found.Matches) == 0 {
		return "nothing"
	}
	return strings.Join(found.Matches, ", ")
}

// summary is the closing table.
func summary(out io.Writer, sums []sum) {
	fmt.Fprintf(out, "\nAll model calls of each task, in tokens\n\n%-36s %-8s  %-24s   %s\n", "", "calls", "tool definitions", "and all messages")
	fmt.Fprintf(out, "%-36s %s  %7s %9s %6s   %7s %9s %6s\n", "", "with/out", "with", "without", "ratio", "with", "without", "ratio")
	all := sum{title: "all tasks"}
	for _, s := range sums {
		all.addSum(s)
	}
	for _, s := range append(sums, all) {
		fmt.Fprintf(out, "%-36s %4d %3d  %7s %9s %5.1fx   %7s %9s %5.1fx\n", s.title, s.leanCalls, s.plainCalls,
			lab.Thousands(s.lean), lab.Thousands(s.plain), ratio(s.plain, s.lean),
			lab.Thousands(s.leanInFull), lab.Thousands(s.plainInFull), ratio(s.plainInFull, s.leanInFull))
	}
}

func ratio(a, b int) float64 { return float64(a) / float64(max(b, 1)) }
