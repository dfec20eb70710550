// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/textstest"
	"github.com/einolean/einolean/internal/prompt"
)

// fullData and fullDescription have a value in every field.
var (
	fullData = Data{
		Name: "the_name", Words: []string{"word_a", "word_b"}, Near: []string{"near_a", "near_b"},
		Limit: 17, Total: 4711, Path: "/the/path", Reason: "the reason", Listed: true,
		Schema: `{"the":"schema"}`, Shortened: true, Language: "German", QueryLanguage: "Japanese",
	}
	fullDescription = DescriptionData{Limit: 17, Total: 4711, Calls: true}
)

// textRows are, for each text, what it contains if it is rendered with full data. Each protocol has its own rows.
type textRows map[string][]string

var sharedTexts = textRows{
	"near":               {"near_a", "near_b"},
	"empty-query":        {`"query"`, `select:`},
	"no-match":           {"word_a", "word_b", "near_a", "near_b", "select:", "<available-deferred-tools>"},
	"not-sure":           {"near_a", "near_b", "select:"},
	"missing-servers":    {"word_a", "word_b"},
	"unknown-name":       {"the_name", "near_a", "near_b"},
	"more-unknown":       {"4711"},
	"cut-results":        {"17"},
	"cut-names":          {"17"},
	"cut-queries":        {"17"},
	"not-allowed":        {"the_name"},
	"too-many-tools":     {"the_name"},
	"from-next-run":      {"the_name"},
	"doubtful":           {},
	"no-such-tool":       {"the_name", "near_a"},
	"no-such-tool-shown": {"the_name", "near_a"},
	"gate":               {"the_name", `{"the":"schema"}`},
	"rest":               {"17", "4711", "word_a", "word_b", "/the/path"},
	"cut-answer":         {"4711", "word_a", "word_b"},
	"shortened-tool":     {"the_name"},
	"shortened":          {"schema"},
	"already-loaded":     {"word_a", "word_b"},
	"changed-added":      {"word_a, word_b"},
	"changed-removed":    {"word_a, word_b"},
	"changed-counted":    {"4711", "word_a", "word_b", "/the/path"},
	"what-finds-more":    {},
	"ask-in":             {},
	"tools-language":     {},
	"query-language":     {},
	"where-names":        {"<available-deferred-tools>"},
}

// allTexts returns the rows of all texts.
func allTexts() textRows {
	all := textRows{}
	for _, rows := range []textRows{sharedTexts, keywordTexts, regexpTexts, searchLoadTexts, searchCallTexts, programTexts} {
		maps.Copy(all, rows)
	}
	return all
}

// describesTool reports whether a text is part of the description of a search tool.
func describesTool(name string) bool {
	for _, p := range All {
		tools := append(slices.Clone(p.Tools), p.ProgramSearch)
		if p.CallTool != nil {
			tools = append(tools, *p.CallTool)
		}
		for _, t := range tools {
			if rest, isPart := strings.CutPrefix(name, t.Text); isPart && (rest == "" || rest[0] == '.') {
				return true
			}
		}
	}
	return name == "where-names"
}

// render renders a text with its kind of data.
func render(texts *prompt.Texts, name string, data Data, description DescriptionData) string {
	if describesTool(name) {
		return texts.Render(name, description)
	}
	return texts.Render(name, data)
}

func hasHan(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

func TestPrompts_BothLanguagesHaveTheSameTexts(t *testing.T) {
	require.Equal(t, Prompts.English().Names(), Prompts.Chinese().Names())
	require.Greater(t, len(Prompts.English().Names()), 30)
}

func TestPrompts_EachTextIsInItsLanguage(t *testing.T) {
	textstest.InBothLanguages(t, Prompts, func(t *testing.T, texts *prompt.Texts) {
		descriptions := []DescriptionData{fullDescription, {}, {Limit: 1, Native: true, Unloads: true, Ungated: true, Partial: true}}
		for _, name := range texts.Names() {
			for i, data := range []Data{fullData, {}, {Limit: 1}} {
				text := render(texts, name, data, descriptions[i])
				if name == "near" && data.Near == nil || name == "shortened" && !data.Shortened ||
					strings.HasSuffix(name, "-language") && data.Language == "" {
					require.Empty(t, text)
					continue
				}
				require.NotEmpty(t, text, name)
				require.NotContains(t, text, "<no value>", name)
				require.NotContains(t, text, "{{", name)
				require.Equal(t, texts == Prompts.Chinese(), hasHan(text), "%s: %s", name, text)
			}
		}
	})
}

func TestPrompts_ContainTheirDataAndKeywords(t *testing.T) {
	textstest.InBothLanguages(t, Prompts, func(t *testing.T, texts *prompt.Texts) {
		rows := allTexts()
		require.ElementsMatch(t, texts.Names(), slices.Collect(maps.Keys(rows)), "the rows have every text")
		for name, parts := range rows {
			text := render(texts, name, fullData, fullDescription)
			for _, part := range parts {
				require.Contains(t, text, part, name)
			}
		}
	})
}

var (
	renderedText = regexp.MustCompile(`\bText\(\s*"([^"]+)"`)
	quotedText   = regexp.MustCompile(`"([a-z_]+(?:-[a-z]+)*)"`)
	nestedText   = regexp.MustCompile(`\{\{template "([^"]+)"`)
)

func TestPrompts_EachTextIsUsedAndExists(t *testing.T) {
	used := map[string]bool{}
	for _, pattern := range []string{"*.go", "../*/*.go", "../../*.go", "prompt/*"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			source, err := os.ReadFile(f)
			require.NoError(t, err)
			for _, m := range renderedText.FindAllStringSubmatch(string(source), -1) {
				require.Contains(t, Prompts.English().Names(), m[1], f)
			}
			mention := quotedText
			if pattern == "prompt/*" {
				mention = nestedText
			}
			for _, m := range mention.FindAllStringSubmatch(string(source), -1) {
				used[m[1]] = true
			}
		}
	}
	for _, name := range Prompts.English().Names() {
		text, _, _ := strings.Cut(name, ".") // the texts of parameters begin with that of their tool
		require.True(t, used[text], "%s is rendered nowhere", name)
	}
}
