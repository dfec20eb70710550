// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package docs

// What a stranger sees first.

import (
	"encoding/json"
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

// readmeFigures are the sentences of each README with figures of the 60 tasks: the first screen's, and the table's.
var readmeFigures = map[string][2]string{
	"README.md": {
		"Eino's two packages at the same limits send %.1f times as many, and an agent without middleware %.1f times as many.",
		"prompt price with Anthropic's cache: %s of Eino's two packages, %s of no middleware; with DeepSeek's: %s, %s. Model calls: %.0f; %.0f, %.0f",
	},
	"README.zh.md": {
		"Eino 自带的两个包（限额相同）是它的 %.1f 倍，不用中间件是它的 %.1f 倍。",
		"提示价格，按 Anthropic 的缓存价：Eino 两个包的 0%s，不用中间件的 0%s；按 DeepSeek 的：0%s、0%s。模型调用：%.0f；%.0f、%.0f",
	},
}

// TestReadme_FiguresOfTasksAreMeasured compares both README files with the file that make report writes.
func TestReadme_FiguresOfTasksAreMeasured(t *testing.T) {
	type usage struct{ Calls, Tokens, Cached float64 }
	var measured map[string]map[string]usage
	require.NoError(t, json.Unmarshal([]byte(read(t, "demo/compare/measured.json")), &measured))
	sum := func(setting string) (s usage) {
		for _, task := range measured[setting] {
			s.Calls, s.Tokens, s.Cached = s.Calls+task.Calls, s.Tokens+task.Tokens, s.Cached+task.Cached
		}
		require.Positive(t, s.Tokens, setting)
		return s
	}
	ours := sum("`Recommended`, reduced")
	eino := sum("Eino v0.9.21 `toolsearch` and `reduction`, at the limits of `Recommended`")
	none := sum("every tool is listed")
	// share is the price of our prompts relative to those of another setting, at prices relative to a token in full.
	share := func(other usage, cached, written float64) string {
		price := func(u usage) float64 { return u.Cached*cached + (u.Tokens-u.Cached)*written }
		return strings.TrimPrefix(fmt.Sprintf("%.2f", price(ours)/price(other)), "0")
	}
	row := regexp.MustCompile("(?m)^\\| `Recommended`, reduced \\| 60 of 60 \\| \\d+ \\| ([\\d,]+) \\|").FindStringSubmatch(read(t, "docs/benchmarks.md"))
	require.NotNil(t, row)
	for name, sentences := range readmeFigures {
		screen, rest, _ := strings.Cut(read(t, name), "\n## ")
		require.Contains(t, screen, row[1], name)
		require.Contains(t, screen, fmt.Sprintf(sentences[0], eino.Tokens/ours.Tokens, none.Tokens/ours.Tokens), name)
		require.Contains(t, rest, fmt.Sprintf(sentences[1], share(eino, .1, 1.25), share(none, .1, 1.25),
			share(eino, .02, 1), share(none, .02, 1), ours.Calls, eino.Calls, none.Calls), name)
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
	require.Equal(t, 2, rows)
}

// rounded is a number with two decimals.
func rounded(number string) string {
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return number
	}
	return fmt.Sprintf("%.2f", value)
}
