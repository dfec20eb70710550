// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command suite gives an agent with 449 tools twelve tasks that take many calls or large results,
// offline and without a key, and then eight of one call or two: with a program for each task, and with
// the calls of that program made by the model itself. It prints what each takes.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/programs/javascript"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// arm is a way to do a task.
type arm struct {
	name     string
	prefetch int
	turns    func(t task, batches []batch) script
}

var arms = []arm{
	{"programs", 0, nil},
	{"programs, Prefetch: 12", 12, nil},
	{"SearchCall, calls at once", 0, atOnce},
	{"SearchCall, one by one", 0, oneByOne},
}

// cost is what a task took.
type cost struct {
	calls         int // model calls
	sent, written int // bytes of requests, and of what the model wrote
	asked         int // how often a person was asked
	wrong         string
}

// tokens are four bytes each.
func tokens(bytes int) int { return bytes / 4 }

func run(ctx context.Context, out io.Writer) error {
	for _, set := range [][]task{tasks, direct} {
		results, err := measure(ctx, set)
		if err != nil {
			return err
		}
		show(out, set, results)
		fmt.Fprintln(out)
	}
	return nil
}

// show prints what each task took in each way.
func show(out io.Writer, tasks []task, results [][]cost) {
	line := func(title string, cell func(k int) string) {
		fmt.Fprintf(out, "%-20s", title)
		for k := range arms {
			fmt.Fprintf(out, " %26s", cell(k))
		}
		fmt.Fprintln(out)
	}
	line("calls, tokens", func(k int) string { return arms[k].name })
	sum := make([]cost, len(arms))
	for i, t := range tasks {
		line(t.name, func(k int) string {
			c := results[i][k]
			sum[k].calls, sum[k].sent, sum[k].written, sum[k].asked = sum[k].calls+c.calls, sum[k].sent+c.sent, sum[k].written+c.written, sum[k].asked+c.asked
			return cell(c)
		})
	}
	line("all", func(k int) string { return cell(sum[k]) })
	line("written by the model", func(k int) string { return lab.Thousands(tokens(sum[k].written)) })
	line("times a person asked", func(k int) string { return fmt.Sprint(sum[k].asked) })
}

func cell(c cost) string {
	return fmt.Sprintf("%d %12s", c.calls, lab.Thousands(tokens(c.sent+c.written)))
}

// measure does every task in every way. It is an error if a program did not do its task.
func measure(ctx context.Context, tasks []task) (results [][]cost, err error) {
	in := javascript.New(javascript.Limits{})
	for _, t := range tasks {
		var row []cost
		watch := &recorder{Interpreter: in}
		for _, a := range arms {
			turns := writes(t)
			if a.turns != nil {
				turns = a.turns(t, watch.batches)
			}
			c, err := do(ctx, t, a, watch, turns)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", t.name, a.name, err)
			}
			if a.turns == nil && c.wrong != "" {
				return nil, fmt.Errorf("%s, %s: %s", t.name, a.name, c.wrong)
			}
			row = append(row, c)
		}
		results = append(results, row)
	}
	return results, nil
}

// batch are calls of a program that run at the same time.
type batch []programs.Call

// recorder keeps the calls of the last program that it ran.
type recorder struct {
	programs.Interpreter
	batches []batch
}

// Start runs a program.
func (r *recorder) Start(ctx context.Context, p programs.Program) (programs.Run, error) {
	in, err := r.Interpreter.Start(ctx, p)
	if err != nil {
		return nil, err
	}
	r.batches = nil
	w := &recordedRun{in, r}
	w.note()
	return w, nil
}

type recordedRun struct {
	programs.Run
	in *recorder
}

func (r *recordedRun) note() {
	if calls := r.State().Calls; len(calls) > 0 {
		r.in.batches = append(r.in.batches, calls)
	}
}

// Resume goes on with it.
func (r *recordedRun) Resume(ctx context.Context, results []programs.Result) error {
	defer r.note()
	return r.Run.Resume(ctx, results)
}

// answer is what a program printed or returned, without the line about its calls.
func answer(text string) string {
	text, _, _ = strings.Cut(text, "\n(")
	return text
}
