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
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/replay"
)

// A run is made of what real tools returned, and is the same every time.
func TestARunIsRecordedFromRealToolsAndReproducible(t *testing.T) {
	ctx := context.Background()
	b, err := newBench(ctx)
	require.NoError(t, err)
	defer b.session.Close()
	for _, kind := range kinds[:4] {
		var texts []string
		for range 2 {
			r, err := b.one(ctx, kind.name, 7, kind.jobs)
			require.NoError(t, err)
			text, err := json.Marshal(r.Messages)
			require.NoError(t, err)
			texts = append(texts, string(text))
			results := 0
			for _, m := range r.Messages {
				require.False(t, strings.HasPrefix(m.Content, "error:"), "%s: %.200s", kind.name, m.Content)
				if m.Role == schema.Tool {
					results++
				}
			}
			require.Greater(t, results, 4, kind.name)
			require.Contains(t, r.Messages[len(r.Messages)-1].Content, "What I found")
		}
		require.True(t, texts[0] == texts[1], "%s: %s", kind.name, difference(texts[0], texts[1]))
	}
}

// difference shows where two texts begin to differ.
func difference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	around := func(s string) string { return s[max(0, i-100):min(len(s), i+100)] }
	return around(a) + "\n" + around(b)
}

func TestThereAreEnoughRunsOfFiveKinds(t *testing.T) {
	n := 0
	for _, k := range kinds {
		n += k.runs
	}
	require.Len(t, kinds, 5)
	require.GreaterOrEqual(t, n, 200)
}

func TestRunsAreWrittenAndRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.gz")
	msgs := []*schema.Message{schema.UserMessage("look"), schema.AssistantMessage("done", nil)}
	require.NoError(t, write(file, func(put func(*run) error) error { return put(&run{"folders-1", "folders", msgs}) }))
	var got []replay.Recorded
	require.NoError(t, read(file, func(r replay.Recorded) error { got = append(got, r); return nil }))
	require.Len(t, got, 1)
	require.Equal(t, "folders-1", got[0].Name)
	require.Equal(t, 1, got[0].Conversation.Calls())

	var out strings.Builder
	require.NoError(t, printAll(context.Background(), &out, file, 32_000))
	require.Contains(t, out.String(), "1 runs")
	own := filepath.Join(t.TempDir(), "own.json")
	text, err := json.Marshal(msgs)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(own, text, 0o600))
	require.NoError(t, printOne(context.Background(), &out, own, 32_000))
	require.Error(t, printOne(context.Background(), &out, file, 32_000))
}

const (
	golden   = "testdata/bills.txt" // what `make thrift` printed
	document = "../../../../docs/benchmarks.md"
)

// TestGoldenBenchmarksShowTheBills compares the guide with what was measured. With
// EINOLEAN_UPDATE=1 it writes the tables into the guide.
func TestGoldenBenchmarksShowTheBills(t *testing.T) {
	measured, err := os.ReadFile(golden)
	require.NoError(t, err)
	guide, err := os.ReadFile(document)
	require.NoError(t, err)
	for name, title := range map[string]string{"bills": "held-out half, 0 %", "bills where half is read back": "held-out half, 48 %"} {
		_, rest, ok := strings.Cut(string(measured), "\n"+title)
		require.True(t, ok, title)
		_, table, _ := strings.Cut(rest, "\n")
		table, _, _ = strings.Cut(table, "\n\n")
		block := regexp.MustCompile("(?s)<!-- measured: " + name + " -->\n```\n.*?```\n")
		shown := "<!-- measured: " + name + " -->\n```\n" + brief(t, table) + "```\n"
		if os.Getenv("EINOLEAN_UPDATE") != "" {
			guide = block.ReplaceAllLiteral(guide, []byte(shown))
			require.NoError(t, os.WriteFile(document, guide, 0o644))
		}
		require.Equal(t, shown, block.FindString(string(guide)), "EINOLEAN_UPDATE=1 rewrites the tables")
	}
}

// brief is a table with fewer columns.
func brief(t *testing.T, table string) string {
	var out strings.Builder
	for line := range strings.Lines(strings.Trim(table, "\n") + "\n") {
		cells := strings.Fields(line[44:])
		require.Len(t, cells, 14, line)
		fmt.Fprintf(&out, "%-44s", line[:44])
		for _, i := range []int{0, 1, 2, 3, 4, 5, 6, 9, 10, 11, 13} {
			fmt.Fprintf(&out, "%10s", cells[i])
		}
		out.WriteString("\n")
	}
	return out.String()
}

// Invented runs are the same every time, and their results spread from 1 to 100 kB.
func TestInventedRunsSpreadAndAreReproducible(t *testing.T) {
	var sizes [2][3]int // by half: below 4.6 kB, below 22 kB, more
	n := 0
	require.NoError(t, invent(func(r *run) error {
		n++
		half := 0
		if (replay.Recorded{Name: r.Name}).Tuning() {
			half = 1
		}
		for _, m := range r.Messages {
			if m.Role != schema.Tool {
				continue
			}
			require.Less(t, len(m.Content), 150_000, r.Name)
			switch size := len(m.Content); {
			case size < 4_600:
				sizes[half][0]++
			case size < 22_000:
				sizes[half][1]++
			default:
				sizes[half][2]++
			}
		}
		return nil
	}))
	require.GreaterOrEqual(t, n, 200)
	for _, half := range sizes {
		for _, count := range half {
			require.Greater(t, count, 200, "%v", sizes)
		}
	}
	for kind := range invented {
		a, _ := json.Marshal(inventOne(kind, 3))
		b, _ := json.Marshal(inventOne(kind, 3))
		require.Equal(t, string(a), string(b))
	}
}

func TestCompactingIsMeasuredByKindAndInAnEnvelope(t *testing.T) {
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
