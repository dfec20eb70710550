// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file has the conversation with every agent and prints what happened.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cloudwego/eino/adk"

	"github.com/leanctx/leanctx/examples/lab"
	"github.com/leanctx/leanctx/examples/offline"
)

// run has the conversation with both middlewares, with each one and with none. It
// is an error if an answer is wrong, a loaded tool vanishes, or an answer of
// tool_search is not as it was.
func run[M adk.MessageType](ctx context.Context, out io.Writer, streaming bool) error {
	dir, err := os.MkdirTemp("", "leanctx-both-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var trials []*trial[M]
	for i, use := range []parts{{search: true, reduce: true}, {search: true}, {reduce: true}, {}} {
		t, err := newTrial[M](ctx, []string{"both", "toolsearch", "reduction", "none"}[i], filepath.Join(dir, fmt.Sprint(i)), streaming, use)
		if err != nil {
			return err
		}
		defer t.store.Close()
		trials = append(trials, t)
	}
	return play(ctx, out, trials)
}

func play[M adk.MessageType](ctx context.Context, out io.Writer, trials []*trial[M]) error {
	both := trials[0]
	fmt.Fprintf(out, "An agent with a library of %d tools behind toolsearch, and reduction for their results: one conversation\n"+
		"of %d runs with an offline model. For each model call: how many tools it sees, its tokens in all, and what\n"+
		"happened. Tokens are estimates, a quarter of the bytes of messages and tool definitions.\n\n", both.tools, len(conversation))
	for _, q := range conversation {
		first := both.calls
		right := true
		for _, t := range trials {
			ok, err := t.ask(ctx, q)
			if err != nil {
				return err
			}
			if t == both {
				right = ok
			}
		}
		fmt.Fprintf(out, "> %s\n", q.Text)
		both.print(out, both.events.From(first))
		verdict := "ok"
		if !right {
			verdict = "WRONG, it should hold " + strings.Join(q.Truth(), " and ")
		}
		fmt.Fprintf(out, "%s\n  %s\n\n", lab.Indent(both.last.Answer(), "  "), verdict)
	}
	table(out, trials)
	return both.verdict(out, trials)
}

// left is the width of the columns of the costs.
const left = 17

// print prints a line for each model call, with what became of results before it.
func (t *trial[M]) print(out io.Writer, calls []lab.Happened) {
	fmt.Fprint(out, lab.Columns(left, " tools  tokens", "what happened"))
	call := 0
	for _, turn := range t.last.Turns {
		for _, r := range turn.Results {
			fmt.Fprint(out, lab.Columns(left, "", outcome(r, calls[call])))
		}
		if len(turn.Results) > 0 {
			continue
		}
		if cleared := calls[call].Cleared; len(cleared) > 0 {
			fmt.Fprint(out, lab.Columns(left, "", lab.TakenOut(cleared)))
		}
		request := t.last.Requests[call]
		head := fmt.Sprintf("%6d %7s", len(request.Tools), lab.Thousands(request.Tokens()))
		for _, text := range lab.Did(turn) {
			fmt.Fprint(out, lab.Columns(left, head, text))
			head = ""
		}
		call++
	}
}

// outcome says what a search found, and of other results what became of them.
func outcome(r offline.Result, h lab.Happened) string {
	var found struct{ Matches []string }
	if r.Name != "tool_search" || json.Unmarshal([]byte(r.Text), &found) != nil {
		return lab.Became(h.Tools[r.ID], r.Text)
	}
	if len(found.Matches) == 0 {
		return "→ nothing"
	}
	return "→ " + strings.Join(found.Matches, ", ")
}

// table is what the conversation cost each agent.
func table[M adk.MessageType](out io.Writer, trials []*trial[M]) {
	const row = "%-12s %12s %15s %14s %15s %8s\n"
	fmt.Fprintf(out, row, "middlewares", "model calls", "tokens in all", "largest call", "right answers", "less")
	all := trials[len(trials)-1].tokens
	for _, t := range trials {
		fmt.Fprintf(out, row, t.title, fmt.Sprint(t.calls), lab.Thousands(t.tokens), lab.Thousands(t.largest),
			fmt.Sprintf("%d of %d", len(conversation)-t.wrong, len(conversation)), lab.Ratio(all, t.tokens))
	}
}

// verdict says whether everything that must stay has stayed.
func (t *trial[M]) verdict(out io.Writer, trials []*trial[M]) error {
	cut, cleared, reads, _ := t.events.Counts()
	fmt.Fprintf(out, "\nWith both: results cut: %d, results cleared: %d, calls of read_file: %d.\n", cut, cleared, reads)
	fmt.Fprintf(out, "Tools that a model call showed: %d. Shown again in later calls: %d times; missing there: %d.\n", len(t.loaded.seen), t.loaded.shown, t.loaded.lost)
	fmt.Fprintf(out, "Answers of tool_search: %d. Whole in later calls: %d times; changed or missing there: %d.\n", len(t.found.seen), t.found.shown, t.found.lost)
	wrong := 0
	for _, each := range trials {
		wrong += each.wrong
	}
	switch {
	case wrong > 0:
		return fmt.Errorf("%d answers are wrong", wrong)
	case t.loaded.lost > 0:
		return fmt.Errorf("loaded tools were missing %d times", t.loaded.lost)
	case t.found.lost > 0:
		return fmt.Errorf("answers of tool_search were not whole %d times", t.found.lost)
	}
	return nil
}
