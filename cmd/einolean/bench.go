// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// einolean bench compares settings with one's own model.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/einolean/einolean/demo/compare"
	"github.com/einolean/einolean/internal/dev/replay"
	"github.com/einolean/einolean/internal/display"
)

// benchSchema is the schema name of benchJSON.
const benchSchema = "einolean.bench/1"

// benchJSON is what --json writes.
type benchJSON struct {
	Schema   string `json:"schema"`
	Model    string `json:"model"`
	Spent    int64  `json:"spent_tokens"`
	Budget   int64  `json:"max_tokens"`
	Complete bool   `json:"complete"` // false if the budget ended it
	Arms     []struct {
		Arm    string `json:"arm"`
		Done   int    `json:"tasks"`
		Right  int    `json:"right"`
		Worst  int    `json:"right_least"` // in the worst run
		Best   int    `json:"right_most"`  // in the best run
		Calls  int    `json:"model_calls"`
		In     int64  `json:"prompt_tokens"`
		Cached int64  `json:"cached_tokens"`
		// Estimated says that the provider reported no cached tokens, and Counted that it reported no
		// usage, of some task at least.
		Estimated bool               `json:"cached_estimated,omitempty"`
		Counted   bool               `json:"tokens_counted,omitempty"`
		Out       int64              `json:"answer_tokens"`
		Seconds   float64            `json:"median_task_seconds"`
		Dollars   map[string]float64 `json:"dollars"` // by card, where its prices are known
		Losing    []string           `json:"losing"`  // tasks that went wrong, with what was wrong
	} `json:"arms"` // what each setting did; counts are of all runs
}

// trial is one run of a task by an arm. Each trial is a line of the file from which a later start resumes. A
// line without a task records what a request spent, or did not spend after all, of the budget.
type trial struct {
	Model   string  `json:"model"`
	Arm     string  `json:"arm,omitempty"`
	Task    string  `json:"task,omitempty"`
	Run     int     `json:"run,omitempty"`
	Wrong   string  `json:"wrong,omitempty"`
	Calls   int     `json:"model_calls,omitempty"`
	In      int64   `json:"prompt_tokens,omitempty"`
	Cached  int64   `json:"cached_tokens,omitempty"`
	Prefix  int64   `json:"common_tokens,omitempty"`  // of the prompts, what begins as an earlier one
	Counted bool    `json:"tokens_counted,omitempty"` // estimated: the provider reported no usage
	Out     int64   `json:"answer_tokens,omitempty"`
	Spent   int64   `json:"spent_tokens,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
}

func (t trial) key() string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%d", t.Model, t.Arm, t.Task, t.Run)
}

// comparison says what to compare, and with which model.
type comparison struct {
	provider
	common             options
	repetitions, calls int
	file, prices       string
	arms, tasks        []string
	recordings         string
	spent              int64 // of the budget, by all starts
}

func runBench(ctx context.Context, s streams, args []string) error {
	var c comparison
	f := flags(s, "bench", &c.common)
	c.provider.flags(f)
	f.IntVar(&c.repetitions, "runs", 1, "how often each task is done with each setting")
	f.StringVar(&c.file, "o", "einolean-bench.jsonl", "where the result of each task is kept; a later start goes on from there")
	f.IntVar(&c.calls, "max-calls", 20, "the most requests of one task; one that needs more is not done")
	f.StringVar(&c.recordings, "recordings", "", "a folder for the requests and answers of each task, which einolean replay reads")
	f.StringVar(&c.prices, "prices", "", "a model of docs/models.md, or a file of your own, as for einolean replay; by default those of --model, or of common providers")
	repeated(f, &c.arms, "arms", "a setting to compare, by its name or a part of it; may be repeated; by default all")
	repeated(f, &c.tasks, "tasks", "tasks to do, by their id or part of their kind; may be repeated; by default all")
	rest, err := parse(f, args)
	switch {
	case err != nil:
		return err
	case c.common.schema:
		return writeSchema[benchJSON](s.out, benchSchema)
	case len(rest) > 0:
		return fail(exitUsage, "it takes no arguments, only flags: %q", rest[0])
	}
	if err := c.check(); err != nil {
		return err
	}
	priceTables, err := cards(s, c.prices, c.model)
	if err != nil {
		return err
	}
	arms, tasks, err := c.chosen()
	if err != nil {
		return err
	}
	done, err := c.resume()
	if err != nil {
		return err
	}
	if err := c.announce(s, arms, tasks, done, priceTables); err != nil {
		return err
	}
	complete, err := c.work(ctx, s, arms, tasks, done)
	if err != nil {
		return err
	}
	out := c.report(arms, tasks, done, priceTables)
	if out.Complete = complete; c.common.json {
		return writeJSON(s.out, out)
	}
	color, err := c.common.colored(s.out)
	if err != nil {
		return err
	}
	out.show(s, painter(color), c.repetitions, priceTables)
	return nil
}

func (c *comparison) check() error {
	if c.repetitions < 1 || c.calls < 1 {
		return fail(exitUsage, "--runs and --max-calls are at least 1")
	}
	c.limit = c.calls
	return c.provider.check()
}

// chosen are the settings and tasks.
func (c *comparison) chosen() (arms []compare.Arm, tasks []compare.Task, err error) {
	all := compare.All()
	names := make([][]string, len(all))
	for i, a := range all {
		names[i] = []string{plain(a.Name)}
	}
	selected, unmatched := matching(c.arms, names)
	if unmatched != "" {
		allNames := make([]string, len(names))
		for i, n := range names {
			allNames[i] = n[0]
		}
		return nil, nil, fail(exitUsage, "no setting has %q in its name. The settings are:\n  %s", unmatched, allNames)
	}
	for _, i := range selected {
		arms = append(arms, all[i])
	}
	allTasks, err := compare.Tasks()
	if err != nil {
		return nil, nil, err
	}
	names = make([][]string, len(allTasks))
	for i, t := range allTasks {
		names[i] = []string{plain(t.ID), plain(t.Kind)}
	}
	if selected, unmatched = matching(c.tasks, names); unmatched != "" {
		return nil, nil, fail(exitUsage, "no task has %q in its id or kind", unmatched)
	}
	for _, i := range selected {
		tasks = append(tasks, allTasks[i])
	}
	return arms, tasks, nil
}

// plain normalizes a name for comparison: lower case, without backticks.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "`", "")) }

// matching returns the indices of the entries that match one of the words. A word selects the entries with
// exactly that name, or else those that contain it. Without words it returns all entries. A setting with
// reduction matches only a word that says "reduced". unmatched is the first word that matches nothing.
func matching(words []string, names [][]string) (indices []int, unmatched string) {
	selected := make([]bool, len(names))
	for _, word := range words {
		found := false
		for _, matches := range []func(name string) bool{
			func(name string) bool { return name == plain(word) },
			func(name string) bool {
				reduced := strings.HasSuffix(name, ", reduced") && !strings.Contains(plain(word), "reduced")
				return strings.Contains(name, plain(word)) && !reduced
			},
		} {
			for i := range names {
				if slices.ContainsFunc(names[i], matches) {
					selected[i], found = true, true
				}
			}
			if found {
				break
			}
		}
		if !found || word == "" {
			return nil, cmp.Or(word, " ")
		}
	}
	for i := range names {
		if selected[i] || len(words) == 0 {
			indices = append(indices, i)
		}
	}
	return indices, ""
}

// resume reads the results of earlier starts with this model, by key, and what they spent. A truncated line is
// skipped, so its task runs again.
func (c *comparison) resume() (map[string]trial, error) {
	done := map[string]trial{}
	text, err := os.ReadFile(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		return done, nil
	}
	if err != nil {
		return nil, fail(exitInput, "%s: %w", c.file, unnamed(err))
	}
	for line := range bytes.Lines(text) {
		var t trial
		switch {
		case json.Unmarshal(line, &t) != nil || t.Model != c.model:
		case t.Task == "":
			c.spent += t.Spent
		default:
			done[t.key()] = t
		}
	}
	return done, nil
}

// work runs the tasks that have no result yet. All settings run a task before the next task begins, so that a
// small budget still compares them on the same tasks. It reports whether all tasks have results.
func (c *comparison) work(ctx context.Context, s streams, arms []compare.Arm, tasks []compare.Task, done map[string]trial) (complete bool, err error) {
	m, err := c.open(ctx, func(tokens int64) error { return c.keep(trial{Model: c.model, Spent: tokens}) })
	if err != nil {
		return false, err
	}
	m.spent = c.spent
	defer func() { c.spent = m.spent }()
	wait := newProgress(s, c.common, "doing tasks", len(arms)*len(tasks)*c.repetitions)
	defer wait.stop()
	for run := 1; run <= c.repetitions; run++ {
		for _, task := range tasks {
			for _, arm := range arms {
				t := trial{Model: c.model, Arm: arm.Name, Task: task.ID, Run: run}
				if _, ok := done[t.key()]; !ok {
					if t, err = c.try(ctx, m, arm, task, t); err != nil {
						return false, err
					}
					if m.overBudget {
						wait.stop()
						c.common.note(s, "the budget of %s tokens does not suffice for the next request; --max-tokens raises it, and the same command goes on", display.Grouped(c.budget))
						return false, nil
					}
					done[t.key()] = t
					if err := c.keep(t); err != nil {
						return false, err
					}
				}
				wait.step()
			}
		}
	}
	return true, nil
}

// try runs one task.
func (c *comparison) try(ctx context.Context, m *meter, arm compare.Arm, task compare.Task, t trial) (trial, error) {
	m.begin(t)
	bench, err := arm.StartWorking(ctx, m)
	if err != nil {
		return t, err
	}
	defer bench.Close()
	start := time.Now()
	wrong, err := bench.Do(ctx, task)
	t = m.current
	t.Wrong, t.Seconds = wrong, time.Since(start).Seconds()
	var failed *failure
	switch {
	case err != nil || m.overBudget:
		return t, err
	case errors.As(m.fatal, &failed):
		return t, m.fatal
	case m.fatal != nil:
		return t, fail(exitServer, "%s: %w\nWhat was done is kept in %s, and the same command goes on from there", c.model, m.fatal, c.file)
	case m.unfit != nil:
		t.Wrong = "the provider refused a request: " + display.Line(m.unfit.Error())
	}
	return t, m.save(c.recordings, t)
}

// keep appends a result to the file.
func (c *comparison) keep(t trial) error {
	f, err := os.OpenFile(c.file, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fail(exitInput, "%s: %w", c.file, unnamed(err))
	}
	defer f.Close()
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if info, err := f.Stat(); err == nil && info.Size() > 0 { // do not append to a truncated line
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			line = append([]byte("\n"), line...)
		}
	}
	if _, err = f.Write(append(line, '\n')); err != nil {
		return fail(exitInput, "%s: %w", c.file, unnamed(err))
	}
	return nil
}

// report aggregates the results.
func (c *comparison) report(
	arms []compare.Arm, tasks []compare.Task, done map[string]trial, priceTables []replay.Card,
) benchJSON {
	out := benchJSON{Schema: benchSchema, Model: c.model, Budget: c.budget, Spent: c.spent}
	unreported := noCache(done)
	for _, arm := range arms {
		a := appendZero(&out.Arms)
		a.Arm, a.Worst, a.Dollars, a.Losing = arm.Name, len(tasks), map[string]float64{}, []string{}
		var took []float64
		for run := 1; run <= c.repetitions; run++ {
			right := 0
			for _, task := range tasks {
				t, ok := done[trial{Model: c.model, Arm: arm.Name, Task: task.ID, Run: run}.key()]
				if !ok {
					continue
				}
				a.Done++
				if unreported {
					t.Cached = t.Prefix
				}
				a.Calls, a.In, a.Cached, a.Out, a.Counted = a.Calls+t.Calls, a.In+t.In, a.Cached+t.Cached, a.Out+t.Out, a.Counted || t.Counted
				took = append(took, t.Seconds)
				if t.Wrong == "" {
					right++
				} else {
					a.Losing = append(a.Losing, fmt.Sprintf("%s, run %d: %s", task.ID, run, t.Wrong))
				}
			}
			a.Right, a.Worst, a.Best = a.Right+right, min(a.Worst, right), max(a.Best, right)
		}
		a.Estimated = unreported && a.Done > 0
		if slices.Sort(took); len(took) > 0 {
			a.Seconds = took[len(took)/2]
		}
		bill := replay.Bill{Written: a.In - a.Cached, Cached: a.Cached}
		for _, card := range priceTables {
			if card.Million > 0 {
				a.Dollars[card.Name] = (card.Cost(bill)*card.Million + float64(a.Out)*card.Output) / 1e6
			}
		}
	}
	return out
}

// show writes the table, the losing cases, and a row for each setting in the form of
// docs/benchmarks.md.
func (r benchJSON) show(s streams, p painter, repetitions int, priceTables []replay.Card) {
	fmt.Fprintf(s.out, "%s, %s of each task, %s of %s tokens spent\n\n", p.bold(display.Line(r.Model)),
		plural(repetitions, "run"), display.Grouped(r.Spent), display.Grouped(r.Budget))
	head, line := "| policy | right | least to most | calls | tokens in | cached | tokens out | seconds |", "|---|---|---|---|---|---|---|---|"
	for _, c := range priceTables {
		if c.Million > 0 {
			head, line = head+" $ "+display.Line(c.Name)+" |", line+"---|"
		}
	}
	fmt.Fprintf(s.out, "%s\n%s\n", head, line)
	for _, a := range r.Arms {
		note, mark := "", ""
		if a.Counted {
			note = "~"
		}
		if a.Estimated {
			mark = " estimated"
		}
		fmt.Fprintf(s.out, "| %s | %d of %d | %d to %d | %d | %s%s | %.0f %%%s | %s%s | %.1f |",
			a.Arm, a.Right, a.Done, a.Worst, a.Best, a.Calls,
			note, display.Grouped(a.In), 100*float64(a.Cached)/float64(max(1, a.In)), mark, note, display.Grouped(a.Out), a.Seconds)
		for _, c := range priceTables {
			if c.Million > 0 {
				fmt.Fprintf(s.out, " %.4f |", a.Dollars[c.Name])
			}
		}
		fmt.Fprintln(s.out)
	}
	fmt.Fprintf(s.out, "\n%s\n", p.dim("seconds: the median of a task. $: prompts and answers, at the prices of docs/models.md or your own. Tokens as the provider counts them."))
	for _, line := range r.marks() {
		fmt.Fprintln(s.out, p.dim(line))
	}
	for _, a := range r.Arms {
		for _, text := range a.Losing {
			fmt.Fprintf(s.out, "%s %s\n", p.red(a.Arm+":"), display.Line(text))
		}
	}
	if !r.Complete {
		done := 0
		for _, a := range r.Arms {
			done += a.Done
		}
		fmt.Fprintln(s.out, p.bold(fmt.Sprintf("not complete: the budget of %s tokens ended it after %s. The same command with a larger --max-tokens goes on; --arms and --tasks choose less to do", display.Grouped(r.Budget), plural(done, "task"))))
	}
}
