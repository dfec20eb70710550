// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/programs/javascript"
)

// table is what each task took in every way; docs/benchmarks.md leads to it.
const table = "tasks.golden.txt"

var (
	measured = sync.OnceValues(func() ([][]cost, error) { return measure(context.Background(), tasks) })
	directly = sync.OnceValues(func() ([][]cost, error) { return measure(context.Background(), direct) })
)

// TestSuite_GoldenTable does every task in every way, and compares the cost with the table. With EINOLEAN_UPDATE=1
// it writes the table.
func TestSuite_GoldenTable(t *testing.T) {
	results, err := measured()
	require.NoError(t, err, "a program whose answer is not the computed one")
	var out strings.Builder
	show(&out, tasks, results)
	results, err = directly()
	require.NoError(t, err)
	out.WriteString("\n")
	show(&out, direct, results)
	if os.Getenv("EINOLEAN_UPDATE") != "" {
		require.NoError(t, os.WriteFile(table, []byte(out.String()), 0o644))
	}
	kept, err := os.ReadFile(table)
	require.NoError(t, err)
	require.Equal(t, string(kept), out.String(), "make golden rewrites it")
}

//claim:bench-03
func TestPrograms_DoEachTaskInThreeModelCalls(t *testing.T) {
	require.Len(t, tasks, 12)
	results, err := measured()
	require.NoError(t, err)
	programs, prefetched, direct := 0, cost{}, 0
	for i, row := range results {
		require.LessOrEqual(t, row[0].calls, 3, tasks[i].name)
		require.Less(t, row[0].sent+row[0].written, row[2].sent+row[2].written, tasks[i].name)
		programs, direct = programs+row[0].sent, direct+row[2].sent
		prefetched.calls, prefetched.sent = prefetched.calls+row[1].calls, prefetched.sent+row[1].sent
		require.Empty(t, row[1].wrong, tasks[i].name)
	}
	require.LessOrEqual(t, 2*prefetched.calls, 5*len(tasks), "two and a half model calls each, where tools are offered")
	require.Less(t, prefetched.sent*10, direct)
	require.Less(t, programs*10, direct, "a tenth of what the same calls cost at once")
}

// If a program saves nothing, an agent with programs costs at most three percent more than one without.
func TestPrograms_CostNothingWhereTheySaveNothing(t *testing.T) {
	require.Len(t, direct, 8)
	results, err := directly()
	require.NoError(t, err)
	with, without := 0, 0
	for i, row := range results {
		require.LessOrEqual(t, row[0].calls, row[2].calls, direct[i].name)
		require.Empty(t, row[2].wrong, direct[i].name)
		with, without = with+row[0].sent+row[0].written, without+row[2].sent+row[2].written
	}
	require.LessOrEqual(t, float64(with), 1.03*float64(without))
}

// A program that does something else does not count as done.
func TestDo_DetectsWrongProgram(t *testing.T) {
	in := javascript.New(javascript.Limits{})
	for _, task := range append(tasks[:len(tasks):len(tasks)], direct...) {
		task.code = `print("written: 20")`
		watch := &recorder{Interpreter: in}
		c, err := do(context.Background(), task, arms[0], watch, writes(task))
		require.NoError(t, err)
		require.NotEmpty(t, c.wrong, task.name)
	}
}
