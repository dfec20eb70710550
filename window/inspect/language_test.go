// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// said are the texts that expressions find in a file.
func said(t *testing.T, file string, expressions ...string) (all []string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, each := range expressions {
		for _, m := range regexp.MustCompile(each).FindAllStringSubmatch(string(text), -1) {
			all = append(all, strings.NewReplacer(`\"`, `"`, `\n`, "\n").Replace(m[1]))
		}
	}
	return all
}

// block is what stands between a line that begins with a text and the line that closes it.
func block(t *testing.T, file, from string) string {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), from)
	require.True(t, found, from)
	inner, _, _ := strings.Cut(rest, "};")
	return inner
}

func requireTexts(t *testing.T, all []string, have texts) {
	slices.Sort(all)
	require.Equal(t, slices.Compact(all), slices.Sorted(maps.Keys(have)))
	for text, theirs := range have {
		if strings.ContainsFunc(strings.ReplaceAll(text, "%s", ""), unicode.IsLetter) {
			require.NotEqual(t, text, theirs)
		}
	}
}

// Every text of the page has a Chinese one, and there are no others.
func TestLabels_TranslateEveryPageText(t *testing.T) {
	const js, html = "page/page.js", "page/page.html"
	all := slices.Concat(said(t, js, `say\("((?:[^"\\]|\\.)*)"`), said(t, html, `data-say>([^<]*)<`, `(?:aria-label|title)="([^"]*)"`), listTexts, []string{"no cache"})
	for _, from := range []string{"const CATEGORIES = {", "const CAUSES = {", "const RULES = {", "const TAGS = {",
		"const GROUPS = {", "const ADVICE = {"} {
		for _, m := range regexp.MustCompile(`: "([^"]*)"`).FindAllStringSubmatch(block(t, js, from), -1) {
			all = append(all, m[1])
		}
	}
	for _, m := range regexp.MustCompile(`: \["([^"]*)"`).FindAllStringSubmatch(block(t, js, "const MARKS = {"), -1) {
		all = append(all, m[1])
	}
	for _, word := range said(t, js, `plural\([^;"]*?, "([a-z ]+)"\)`) {
		all = append(all, "{0} "+word+"s")
	}
	requireTexts(t, all, labels)
	holes := regexp.MustCompile(`\{\d\}`)
	for text, theirs := range labels {
		require.ElementsMatch(t, holes.FindAllString(text, -1), holes.FindAllString(theirs, -1), text)
	}
}

// Every text of the terminal has a Chinese one, and there are no others.
func TestTerminalTexts_TranslateEveryText(t *testing.T) {
	var all []string
	for _, file := range []string{"text.go", "textcall.go", "bill.go"} {
		all = append(all, said(t, file, `\.say\("((?:[^"\\]|\\.)*)"`, `(?:section|fact)\((?:[^",]*, )?"([^"]*)"\)`, `cause = "([^"]*)"`)...)
		for _, word := range said(t, file, `\.count\([^"]*?, "([a-z ]+)"\)`) {
			all = append(all, "%s "+word+"s")
		}
	}
	for _, g := range groups {
		all = append(all, g.name)
	}
	all = slices.AppendSeq(all, maps.Values(words))
	all = slices.AppendSeq(all, maps.Values(tags))
	all = slices.AppendSeq(all, maps.Values(causes))
	all = append(all, "cut", "cleared", "referred")
	requireTexts(t, all, terminalTexts)
	verbs := regexp.MustCompile(`%(?:\[\d\])?[\d.]*[sdf%]`)
	for text, theirs := range terminalTexts {
		require.Len(t, verbs.FindAllString(theirs, -1), len(verbs.FindAllString(text, -1)), text)
	}
}

func TestWrap_BreaksTextWithoutSpaces(t *testing.T) {
	text := strings.Repeat("供应商保存这段对话", 9)
	lines := wrap(text, 41)
	require.Equal(t, text, strings.Join(lines, ""))
	for _, line := range lines {
		require.LessOrEqual(t, columnsOf(line), 41)
	}
}
