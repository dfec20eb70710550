// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// figure is a number of two digits or more that is not part of a name.
var figure = regexp.MustCompile(`(?:^|[^\w.,])(\d[\d,]*(?:\.\d+)?|\.\d+)`)

// figuresIn are the figures of a text, written alike: .36 and 0.36, 1,000 and 1000.
func figuresIn(text string) (figures []string) {
	for _, m := range figure.FindAllStringSubmatch(text, -1) {
		number := strings.ReplaceAll(strings.TrimRight(m[1], ","), ",", "")
		if strings.HasPrefix(number, ".") {
			number = "0" + number
		}
		if len(strings.ReplaceAll(number, ".", "")) > 1 {
			figures = append(figures, number)
		}
	}
	return figures
}

// paragraphsIn are the paragraphs of the comments of a file of Go, each as one line.
func paragraphsIn(t *testing.T, name string) (paragraphs []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), parser.ParseComments)
	require.NoError(t, err)
	for _, group := range parsed.Comments {
		for paragraph := range strings.SplitSeq(group.Text(), "\n\n") {
			paragraphs = append(paragraphs, strings.Join(strings.Fields(paragraph), " "))
		}
	}
	return paragraphs
}

// docOf is the comment of a function.
func docOf(t *testing.T, name, function string) string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), parser.ParseComments)
	require.NoError(t, err)
	for _, decl := range parsed.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == function {
			return fn.Doc.Text()
		}
	}
	require.Fail(t, "no function "+function)
	return ""
}

// TestComments_FiguresAreThoseOfBenchmarks holds every paragraph that refers to docs/benchmarks.md to its figures.
func TestComments_FiguresAreThoseOfBenchmarks(t *testing.T) {
	measured := map[string]bool{}
	for _, number := range figuresIn(read(t, "docs/benchmarks.md")) {
		measured[number] = true
	}
	out, err := exec.Command("git", "-C", root, "ls-files", "*.go").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	compared := 0
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/dev/") || strings.Contains(name, "testdata/") {
			continue
		}
		for _, paragraph := range paragraphsIn(t, name) {
			if !strings.Contains(paragraph, "docs/benchmarks.md") {
				continue
			}
			for _, number := range figuresIn(paragraph) {
				compared++
				require.True(t, measured[number], "%s: docs/benchmarks.md does not have %s, from %q", name, number, paragraph)
			}
		}
	}
	require.Greater(t, compared, 10)
}

// TestComments_TokensOfRecommendedAreMeasured compares the totals with the rows of their settings, which make report
// writes.
func TestComments_TokensOfRecommendedAreMeasured(t *testing.T) {
	benchmarks := read(t, "docs/benchmarks.md")
	var want []string
	for _, setting := range []string{"`Recommended`", "`Keyword`", "every tool is listed"} {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(setting) + ` \| 60 of 60 \| \d+ \| ([\d,]+) \|`)
		m := row.FindStringSubmatch(benchmarks)
		require.NotNil(t, m, setting)
		want = append(want, m[1])
	}
	comment := docOf(t, "toolsearch/config.go", "Recommended")
	require.Equal(t, want, regexp.MustCompile(`\d[\d,]{5,}\d`).FindAllString(comment, -1))
}
