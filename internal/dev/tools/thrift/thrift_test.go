// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/replay"
)

func TestPrintOne_PrintsUsersOwnConversation(t *testing.T) {
	msgs := []*schema.Message{schema.UserMessage("look"), schema.AssistantMessage("done", nil)}
	file := filepath.Join(t.TempDir(), "own.json")
	text, err := json.Marshal(msgs)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, text, 0o600))
	var out strings.Builder
	require.NoError(t, printOne(context.Background(), &out, file, 32_000))
	require.Contains(t, out.String(), "Recommended")
	require.NoError(t, os.WriteFile(file, []byte("no JSON"), 0o600))
	require.Error(t, printOne(context.Background(), &out, file, 32_000))
}

const (
	golden      = "testdata/bills.txt" // what `make thrift` printed
	benchmarks  = "../../../../docs/benchmarks.md"
	resultsPage = "../../RESULTS.md"
)

// shownPolicies and shownColumns are those of docs/benchmarks.md; internal/dev/RESULTS.md has every policy.
var (
	shownPolicies = []string{
		"", "no reduction", "Eino", "einolean", "einolean, Recommended",
		"context editing, keep 3, at least a quarter", "mask all but the last 10",
	}
	shownColumns = []int{8, 9, 10, 12, 13, 14, 16}
	fullColumns  = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 16}
)

// Both pages show what was measured. EINOLEAN_UPDATE=1 writes the tables into them.
func TestBenchmarks_GoldenBills(t *testing.T) {
	measured, err := os.ReadFile(golden)
	require.NoError(t, err)
	table := func(title string) string {
		_, rest, ok := strings.Cut(string(measured), "\n"+title)
		require.True(t, ok, title)
		_, table, _ := strings.Cut(rest, "\n")
		table, _, _ = strings.Cut(table, "\n\n")
		return table
	}
	unread, halfRead := table("held-out half, 0 %"), table("held-out half, 48 %")
	requireShown(t, benchmarks, "bills", brief(t, unread, shownPolicies, shownColumns))
	requireShown(t, resultsPage, "bills", brief(t, unread, nil, fullColumns))
	requireShown(t, resultsPage, "bills where half is read back", brief(t, halfRead, nil, fullColumns))
}

// The page shows what `thrift -windows` printed for models that refuse requests.
func TestResultsPage_GoldenRefusals(t *testing.T) {
	measured, err := os.ReadFile("testdata/windows.txt")
	require.NoError(t, err)
	table, _, ok := strings.Cut(string(measured), "\nwithout an answer")
	require.True(t, ok)
	requireShown(t, resultsPage, "windows", table+"\n")
}

// requireShown checks a table in a page. With EINOLEAN_UPDATE=1 it writes the table there first.
func requireShown(t *testing.T, page, name, table string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)<!-- measured: " + name + " -->\n```\n.*?```\n")
	shown := "<!-- measured: " + name + " -->\n```\n" + table + "```\n"
	if os.Getenv("EINOLEAN_UPDATE") != "" {
		text = block.ReplaceAllLiteral(text, []byte(shown))
		require.NoError(t, os.WriteFile(page, text, 0o644))
	}
	require.Equal(t, shown, block.FindString(string(text)), "%s: EINOLEAN_UPDATE=1 rewrites the tables", page)
}

func named(t *testing.T, names ...string) (runs []replay.Recorded) {
	for _, name := range names {
		r, ok := replay.InventOne(name)
		require.True(t, ok, name)
		runs = append(runs, r)
	}
	return runs
}

// With a small window, runs end with an answer under the preset, however the model refuses requests.
func TestRecommended_RunsEndWithAnswer(t *testing.T) {
	runs := named(t, "web-3", "terminal-5", "service-7")
	for i, refuse := range replay.Refusals {
		run, w := runs[i%len(runs)], replay.Window{Tokens: 20_000, Factor: 1.25, Refuse: refuse}
		preset, none := windowPolicies()[4], windowPolicies()[0]
		end, err := run.Conversation.End(t.Context(), preset, w)
		require.NoError(t, err)
		require.NoError(t, end.Err)
		require.True(t, end.Answered, run.Name)
		without, err := run.Conversation.End(t.Context(), none, w)
		require.NoError(t, err)
		require.Equal(t, without.Err == nil, without.Answered)
		require.Equal(t, without.Answered, without.Refused == 0, "nothing recovers there")
	}
}

func TestPrintRuns_ComparesOnWorstCard(t *testing.T) {
	var out strings.Builder
	require.NoError(t, printRuns(t.Context(), &out, named(t, "web-20"), replay.Options{}))
	require.Contains(t, out.String(), "1 of 1 runs are dearer")
	require.Regexp(t, `web-20 +uncached +11 calls; of no reduction Eino 0\.62, Recommended 0\.35`, out.String())
}

// brief is a table with some of its columns, and some of its rows unless rows is nil.
func brief(t *testing.T, table string, rows []string, columns []int) string {
	t.Helper()
	var out strings.Builder
	found := 0
	for line := range strings.Lines(strings.Trim(table, "\n") + "\n") {
		cells := strings.Fields(line[44:])
		require.Len(t, cells, 17, line)
		if rows != nil && !slices.Contains(rows, strings.TrimSpace(line[:44])) {
			continue
		}
		found++
		fmt.Fprintf(&out, "%-44s", line[:44])
		for _, i := range columns {
			fmt.Fprintf(&out, "%10s", cells[i])
		}
		out.WriteString("\n")
	}
	if rows != nil {
		require.Len(t, rows, found)
	}
	return out.String()
}

func TestPrintCompact_MeasuresByKindAndInEnvelope(t *testing.T) {
	text := "[\n" + strings.Repeat("    {\n        \"id\": 1\n    },\n", 50) + "    {}\n]"
	of := func(kind, text string) replay.Recorded {
		return replay.Recorded{Kind: kind, Conversation: replay.New([]*schema.Message{schema.UserMessage(text), schema.ToolMessage(text, "1")})}
	}
	var b strings.Builder
	require.NoError(t, printCompact(&b, []replay.Recorded{of("data", text), of("prose", strings.Repeat("plain words ", 50)), of("prose", strings.Repeat("x", 60_000))}))
	rows := map[string][]string{}
	for line := range strings.Lines(b.String()) {
		if cells := strings.Fields(line); len(cells) == 3 {
			rows[cells[0]] = cells[1:]
		}
	}
	require.Len(t, rows, 3)
	require.Equal(t, "1.00", rows["prose"][0])
	for _, cell := range []string{rows["data"][0], rows["data"][1], rows["all"][0], rows["prose"][1]} {
		require.Less(t, cell, "1.00")
		require.Greater(t, cell, "0.10")
	}
	require.Less(t, rows["data"][1], rows["data"][0], "the envelope escapes all quotes and lines")
}
