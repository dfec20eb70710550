// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package docs

// What a stranger sees first.

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// importDiff is the change of imports, as both README files show it.
const importDiff = "```diff\n" +
	"-\t\"github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch\"\n" +
	"-\t\"github.com/cloudwego/eino/adk/middlewares/reduction\"\n" +
	"+\t\"github.com/einolean/einolean/reduction\"\n" +
	"+\t\"github.com/einolean/einolean/toolsearch\"\n```\n"

var (
	readmeSnippet = regexp.MustCompile("(?s)<!-- region: readme -->\n```go\n(.*?)```")
	lineComment   = regexp.MustCompile(`(?m) +// \S.*$`)
)

// TestReadme_SnippetIsTheQuickstart compares the first snippet of each README with examples/quickstart. A README
// leaves the handling of errors out.
func TestReadme_SnippetIsTheQuickstart(t *testing.T) {
	_, source, found := strings.Cut(read(t, "examples/quickstart/main.go"), "\t// region: readme\n")
	require.True(t, found)
	source, _, found = strings.Cut(source, "\t// end\n")
	require.True(t, found)
	source = regexp.MustCompile(`(?m)^\t`).ReplaceAllString(source, "")
	source = strings.ReplaceAll(source, "if err != nil {\n\treturn nil, err\n}\n", "// ...\n")
	require.LessOrEqual(t, strings.Count(source, "\n"), 12)
	for _, name := range []string{"README.md", "README.zh.md"} {
		snippet := readmeSnippet.FindStringSubmatch(read(t, name))
		require.NotNil(t, snippet, name)
		for line := range strings.Lines(snippet[1]) {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 120, name)
		}
		if name == "README.md" {
			require.Equal(t, source, snippet[1])
		}
		require.Equal(t, lineComment.ReplaceAllString(source, ""), lineComment.ReplaceAllString(snippet[1], ""), name)
	}
}

func TestReadme_FirstScreenIsOneScreen(t *testing.T) {
	for _, name := range []string{"README.md", "README.zh.md"} {
		screen, _, found := strings.Cut(read(t, name), "\n## ")
		require.True(t, found)
		require.LessOrEqual(t, strings.Count(screen, "\n"), 70, "%s: at most 60 lines, besides blank ones between them", name)
		lines := 0
		for line := range strings.Lines(screen) {
			if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "<!--") {
				lines++
			}
		}
		require.LessOrEqual(t, lines, 60, name)
		for _, must := range []string{importDiff, "make demo", "make test", "CloudWeGo"} {
			require.Contains(t, screen, must, name)
		}
	}
}

// readmeFigures are what each README says of the 60 tasks: sentences of the first screen, and rows of the table.
var readmeFigures = map[string]struct {
	tokens, prices string
	rows           map[string]string
}{
	"README.md": {
		"Eino's two packages at the same limits send %.1f times as many, and an agent without middleware %.1f times as many;",
		"[%.0f to %.0f times](#figures) as expensive",
		map[string]string{"prompt tokens, at four bytes each": "tokens",
			"price at Anthropic's cache prices, in thousands of uncached tokens": "Anthropic",
			"price at OpenAI's": "OpenAI", "price at DeepSeek's": "DeepSeek", "model calls": "calls"},
	},
	"README.zh.md": {
		"Eino 自带的两个包（限额相同）是它的 %.1f 倍，不用中间件是它的 %.1f 倍；",
		"[%.0f 到 %.0f 倍](#数据)",
		map[string]string{"输入 token（按四字节估算）": "tokens", "费用，DeepSeek 缓存价，折合无缓存的千 token": "DeepSeek",
			"费用，Anthropic 缓存价": "Anthropic", "费用，OpenAI 缓存价": "OpenAI", "模型调用": "calls"},
	},
}

// readmeSettings are the columns of the table of the 60 tasks: rows of docs/benchmarks.md.
var readmeSettings = []string{
	"`Recommended`, reduced", "Eino v0.9.21 `toolsearch` and `reduction`, at the limits of `Recommended`", "every tool is listed",
}

// TestReadme_FiguresOfTasksAreMeasured compares both README files with the table that make report writes.
func TestReadme_FiguresOfTasksAreMeasured(t *testing.T) {
	columns := []string{"", "", "right", "calls", "tokens", "cached", "Anthropic", "OpenAI", "DeepSeek"}
	measured := make(map[string][]string) // by column, in the order of readmeSettings
	for _, setting := range readmeSettings {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(setting) + ` \| 60 of 60 \|.*$`).
			FindString(read(t, "docs/benchmarks.md"))
		require.NotEmpty(t, row, setting)
		for i, cell := range strings.Split(row, "|") {
			if i < len(columns) {
				measured[columns[i]] = append(measured[columns[i]], strings.Trim(cell, " *"))
			}
		}
	}
	number := func(column string, setting int) float64 {
		n, err := strconv.ParseFloat(strings.ReplaceAll(measured[column][setting], ",", ""), 64)
		require.NoError(t, err)
		return n
	}
	var times []float64 // how much dearer the other settings are
	for _, provider := range []string{"Anthropic", "OpenAI", "DeepSeek"} {
		times = append(times, number(provider, 1)/number(provider, 0), number(provider, 2)/number(provider, 0))
	}
	for name, figures := range readmeFigures {
		screen, rest, _ := strings.Cut(read(t, name), "\n## ")
		require.Contains(t, screen, measured["tokens"][0], name)
		require.Contains(t, screen, fmt.Sprintf(figures.tokens, number("tokens", 1)/number("tokens", 0),
			number("tokens", 2)/number("tokens", 0)), name)
		require.Contains(t, screen, fmt.Sprintf(figures.prices, slices.Min(times), slices.Max(times)), name)
		for label, column := range figures.rows {
			require.Contains(t, rest, "| "+label+" | "+strings.Join(measured[column], " | ")+" |", name)
		}
	}
}

// TestReadme_FiguresAreThoseOfBenchmarks holds every row of the table of figures to docs/benchmarks.md, except the
// row of times, which differ by machine.
func TestReadme_FiguresAreThoseOfBenchmarks(t *testing.T) {
	_, figures, found := strings.Cut(read(t, "README.md"), "\n## Figures\n")
	require.True(t, found)
	figures, _, _ = strings.Cut(figures, "\n## ")
	benchmarks, rows := figuresIn(read(t, "docs/benchmarks.md")), 0
	for line := range strings.Lines(figures) {
		if !strings.Contains(line, "`make ") || strings.Contains(line, "`make report`") || strings.Contains(line, "`make compare`") {
			continue
		}
		rows++
		for _, number := range figuresIn(line) {
			// benchmarks.md has three decimals where the README has two.
			isThere := slices.ContainsFunc(benchmarks, func(b string) bool { return b == number || rounded(b) == number })
			require.True(t, isThere, "docs/benchmarks.md does not have %s, from %q", number, line)
		}
	}
	require.Equal(t, 5, rows)
}

// rounded is a number with two decimals.
func rounded(number string) string {
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return number
	}
	return fmt.Sprintf("%.2f", value)
}
