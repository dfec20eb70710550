// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/examples/library"
)

const (
	golden   = "testdata/output.golden.txt"
	document = "../../docs/choosing.md"
)

// TestGoldenOutput runs the whole comparison. With LEANCTX_UPDATE=1 it writes what
// came out to the golden file first.
func TestGoldenOutput(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), &out, 0.1, false))
	if os.Getenv("LEANCTX_UPDATE") != "" {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
}

// TestChoosingShowsWhatWasMeasured holds the guide to the golden file.
func TestChoosingShowsWhatWasMeasured(t *testing.T) {
	measured, err := os.ReadFile(golden)
	require.NoError(t, err)
	guide, err := os.ReadFile(document)
	require.NoError(t, err)
	blocks := 0
	for _, block := range strings.Split(string(measured), "\n\n") {
		if strings.Contains(block, "definitions") && strings.Contains(block, "%") {
			blocks++
			require.Contains(t, string(guide), "```\n"+strings.Trim(block, "\n")+"\n```", "docs/choosing.md must show the table as it is")
		}
	}
	require.Equal(t, 2, blocks)
}

func TestNoQuestionHoldsItsAnswer(t *testing.T) {
	for _, task := range tasks {
		for _, q := range task {
			require.NotEmpty(t, q.truth, q.text)
			require.NotContains(t, q.text, q.truth, "an answer that repeats the question would be right")
		}
	}
}

// within runs a function with other tasks and ways.
func within(t *testing.T, other [][]question, only []way) {
	t.Helper()
	oldTasks, oldWays := tasks, ways
	t.Cleanup(func() { tasks, ways = oldTasks, oldWays })
	tasks, ways = other, only
}

func TestAWrongAnswerIsAnError(t *testing.T) {
	within(t, [][]question{{{`Reverse the text "abc"`, "abc reversed"}}}, ways[1:2])
	require.ErrorContains(t, run(context.Background(), io.Discard, 0.1, true), "2 answers are wrong")
}

func TestOnlySearchCallKeepsTheBeginningOfEveryRequest(t *testing.T) {
	tools, err := library.Tools(t.TempDir())
	require.NoError(t, err)
	l := lab{tools: tools, out: io.Discard}
	within(t, tasks[:2], ways)
	for _, w := range ways {
		if w.cfg == nil || w.cfg.UnloadAfter > 0 {
			continue
		}
		calls, err := l.solve(context.Background(), w, true)
		require.NoError(t, err)
		lost := 0
		for i := 1; i < len(calls); i++ {
			if calls[i].cached < calls[i-1].all {
				lost++
			}
		}
		if strings.HasPrefix(w.title, "SearchCall") {
			require.Zero(t, lost, w.title)
		} else {
			require.Positive(t, lost, w.title)
		}
	}
}

func TestMeterCountsWhatIsNew(t *testing.T) {
	for _, c := range []struct {
		a, b   string
		common int
	}{{"", "", 0}, {"abc", "abc", 3}, {"abc", "abd", 2}, {"abc", "ab", 2}, {"xbc", "abc", 0}} {
		require.Equal(t, c.common, common(c.a, c.b))
		require.Equal(t, c.common, common(c.b, c.a))
	}
	require.Equal(t, 30, sum{all: 480, cached: 400}.price(0.1))
	require.Equal(t, "1,234,005", thousands(1234005))
}
