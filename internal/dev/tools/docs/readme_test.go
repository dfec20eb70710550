// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package docs

// What a stranger sees first.

import (
	"encoding/json"
	"fmt"
	"regexp"
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

func TestTheFirstScreenIsOneScreen(t *testing.T) {
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

// TestFiguresOfDocumentsAreThoseThatWereMeasured: make report writes one file, and documents have
// theirs from it.
func TestFiguresOfDocumentsAreThoseThatWereMeasured(t *testing.T) {
	type took struct{ Calls, Tokens, Cached float64 }
	var all map[string]map[string]took
	require.NoError(t, json.Unmarshal([]byte(read(t, "demo/compare/measured.json")), &all))
	sum := func(arm string) (s took) {
		for _, one := range all[arm] {
			s.Calls, s.Tokens, s.Cached = s.Calls+one.Calls, s.Tokens+one.Tokens, s.Cached+one.Cached
		}
		require.Positive(t, s.Tokens, arm)
		return s
	}
	share := func(x float64) string { return strings.TrimPrefix(fmt.Sprintf("%.2f", x), "0") }
	ours := sum("`Recommended`, reduced")
	eino, none := sum("Eino v0.9.21 `toolsearch` and `reduction`, at the limits of `Recommended`"), sum("every tool is listed")
	price := func(s took, cached, write float64) float64 { return s.Cached*cached + (s.Tokens-s.Cached)*write }
	for name, rows := range map[string][2]string{
		"README.md":    {"every answer right; %.1f times fewer tokens; %s of the price with Anthropic's cache, %s with DeepSeek's; %.0f model calls, Eino %.0f", "every answer right; %.1f times fewer tokens; %s of the price with Anthropic's cache, %s with DeepSeek's; %.0f model calls instead of %.0f"},
		"README.zh.md": {"每个都答对；token 少到 %.1f 分之一；按 Anthropic 的缓存价是 %s，按 DeepSeek 的是 %s；模型调用 %.0f 次，Eino %.0f 次", "每个都答对；token 少到 %.1f 分之一；按 Anthropic 的缓存价是 %s，按 DeepSeek 的是 %s；模型调用 %.0f 次，原来 %.0f 次"},
	} {
		for i, other := range []took{eino, none} {
			anthropic, deepseek := share(price(ours, .1, 1.25)/price(other, .1, 1.25)), share(price(ours, .02, 1)/price(other, .02, 1))
			if name == "README.zh.md" {
				anthropic, deepseek = "0"+anthropic, "0"+deepseek
			}
			require.Contains(t, read(t, name), fmt.Sprintf(rows[i], other.Tokens/ours.Tokens, anthropic, deepseek, ours.Calls, other.Calls), name)
		}
	}
	require.Equal(t, "2.6", fmt.Sprintf("%.1f", eino.Tokens/ours.Tokens), "2.6 times, says the first screen")
	require.Equal(t, "16.7", fmt.Sprintf("%.1f", none.Tokens/ours.Tokens), "16.7 times, says the first screen")
	row := regexp.MustCompile("(?m)^\\| `Recommended`, reduced \\| 60 of 60 \\| \\d+ \\| ([\\d,]+) \\|").FindStringSubmatch(read(t, "docs/benchmarks.md"))
	require.NotNil(t, row)
	for _, name := range []string{"README.md", "README.zh.md"} {
		screen, _, _ := strings.Cut(read(t, name), "\n## ")
		require.Contains(t, screen, row[1], name)
	}
}
