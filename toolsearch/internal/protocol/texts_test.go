// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol_test

// The texts that a model reads, in both languages.

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
	"github.com/einolean/einolean/toolsearch/internal/protocol"
)

// full has something in every field.
var full = protocol.Data{
	Name: "the_name", Words: []string{"word_a", "word_b"}, Near: []string{"near_a", "near_b"},
	Limit: 17, Total: 4711, Path: "/the/path", Reason: "the reason", Listed: true,
	SchemaText: protocol.SchemaText{Schema: `{"the":"schema"}`, Shortened: true}, Languages: protocol.Languages{Language: "German", Asked: "Japanese"},
}

var fullOfTools = protocol.SearchToolParams{Limit: 17, Total: 4711, Calls: true}

// isOfTool reports whether a text describes a search tool.
func isOfTool(name string) bool {
	for _, tool := range []string{"tool_search", "search_tools", "load_tool", "call_tool", "where-names"} {
		if strings.HasPrefix(name, tool) {
			return true
		}
	}
	return false
}

// sayAny renders a text with its kind of data.
func sayAny(all *prompt.Texts, name string, h protocol.Data, of protocol.SearchToolParams) string {
	if isOfTool(name) {
		return all.Say(name, of)
	}
	return all.Say(name, h)
}

func TestBothLanguagesHaveTheSameTexts(t *testing.T) {
	require.Equal(t, protocol.Prompts.English().Names(), protocol.Prompts.Chinese().Names())
	require.Greater(t, len(protocol.Prompts.English().Names()), 30)
}

func TestEveryTextIsInItsLanguage(t *testing.T) {
	textstest.InBothLanguages(t, protocol.Prompts, func(t *testing.T, all *prompt.Texts) {
		for _, name := range all.Names() {
			for i, of := range []protocol.SearchToolParams{fullOfTools, {}, {Limit: 1, Native: true, Unloads: true, Ungated: true, Partial: true}} {
				h := []protocol.Data{full, {}, {Limit: 1}}[i]
				text := sayAny(all, name, h, of)
				if name == "near" && h.Near == nil || name == "shortened" && !h.Shortened || strings.HasSuffix(name, "-language") && h.Language == "" {
					require.Empty(t, text)
					continue
				}
				require.NotEmpty(t, text, name)
				require.NotContains(t, text, "<no value>", name)
				require.NotContains(t, text, "{{", name)
				require.Equal(t, all == protocol.Prompts.Chinese(), strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }), "%s: %s", name, text)
			}
		}
	})
}

func TestTextsHoldTheirDataAndKeywords(t *testing.T) {
	textstest.InBothLanguages(t, protocol.Prompts, func(t *testing.T, all *prompt.Texts) {
		table := map[string][]string{
			"near":                             {"near_a", "near_b"},
			"empty-query":                      {`"query"`, `select:`},
			"no-match":                         {"word_a", "word_b", "near_a", "near_b", "select:", "<available-deferred-tools>"},
			"not-sure":                         {"near_a", "near_b", "select:"},
			"missing-servers":                  {"word_a", "word_b"},
			"unknown-name":                     {"the_name", "near_a", "near_b"},
			"more-unknown":                     {"4711"},
			"cut-results":                      {"17"},
			"cut-names":                        {"17"},
			"cut-queries":                      {"17"},
			"not-allowed":                      {"the_name"},
			"too-many-tools":                   {"the_name"},
			"from-next-run":                    {"the_name"},
			"no-such-tool":                     {"the_name", "near_a"},
			"no-such-tool-shown":               {"the_name", "near_a"},
			"gate":                             {"the_name", `{"the":"schema"}`},
			"gate-call":                        {"the_name", `{"the":"schema"}`, "call_tool"},
			"rest":                             {"17", "4711", "word_a", "word_b", "/the/path"},
			"cut-answer":                       {"4711", "word_a", "word_b"},
			"shortened-tool":                   {"the_name"},
			"shortened":                        {"schema"},
			"already-loaded":                   {"word_a", "word_b"},
			"offer":                            {"call_tool", "tool_search"},
			"offer-code":                       {"run_code", "tool_search"},
			"changed-added":                    {"word_a, word_b"},
			"changed-removed":                  {"word_a, word_b"},
			"changed-counted":                  {"4711", "word_a", "word_b", "/the/path"},
			"empty-pattern":                    {`"regex_pattern"`},
			"long-pattern":                     {"17"},
			"bad-pattern":                      {"the reason", "RE2"},
			"no-name-matches":                  {"near_a", "(?i)"},
			"no-name":                          {`"tool_name"`, `"tool_names"`, "search_tools"},
			"no-call-name":                     {`"name"`, `"arguments"`, "tool_search"},
			"no-object":                        {`"arguments"`, "JSON"},
			"bad-arguments":                    {"the_name", "the reason", `{"the":"schema"}`},
			"tool_search":                      {"<available-deferred-tools>", "select:", "+github", "max_results", "17", `"matches"`, `"hint"`},
			"tool_search.query":                {"select:", "+"},
			"tool_search.max_results":          {"17", "4711", "select:"},
			"tool_search_regexp":               {"<available-deferred-tools>", "RE2", `"selectedTools"`, `"hint"`, "4711"},
			"tool_search_regexp.regex_pattern": {"RE2", "(?i)"},
			"search_tools":                     {"<available-deferred-tools>", "load_tool", `"results"`, `"hint"`, `"already_loaded"`},
			"search_tools.query":               {"select:"},
			"search_tools.max_results":         {"17", "4711"},
			"load_tool":                        {"<available-deferred-tools>", "search_tools", `"tool_name"`, `"tool_names"`, `"loaded"`, `"already_loaded"`, `"hint"`},
			"load_tool.tool_name":              {},
			"load_tool.tool_names":             {},
			"tool_search_call":                 {"<available-deferred-tools>", "call_tool", `"tools"`, `"hint"`},
			"tool_search_call.query":           {"select:"},
			"tool_search_call.max_results":     {"17", "4711"},
			"call_tool":                        {"tool_search", `"name"`, `"arguments"`},
			"call_tool.name":                   {"tool_search"},
			"call_tool.arguments":              {"tool_search"},
			"tool_search_code":                 {"<available-deferred-tools>", "run_code", "call_tool", "TypeScript", `"tools"`, `"hint"`},
			"tool_search_code.query":           {"select:"},
			"tool_search_code.max_results":     {"17", "4711"},
			"program-meta":                     {"the_name", "run_code"},
			"what-finds-more":                  {},
			"ask-in":                           {},
			"tools-language":                   {},
			"query-language":                   {},
			"where-names":                      {"<available-deferred-tools>"},
		}
		require.ElementsMatch(t, all.Names(), slices.Collect(maps.Keys(table)), "the table holds every text")
		for name, must := range table {
			text := sayAny(all, name, full, fullOfTools)
			for _, part := range must {
				require.Contains(t, text, part, name)
			}
		}
	})
}

var saysName = regexp.MustCompile(`\b(?:say\.Text|Text|cut)\(\s*"([^"]+)"`)

func TestEveryTextThatIsRenderedExists(t *testing.T) {
	said := map[string]bool{}
	for _, pattern := range []string{"*.go", "../*/*.go", "../../*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			source, err := os.ReadFile(f)
			require.NoError(t, err)
			for _, m := range saysName.FindAllStringSubmatch(string(source), -1) {
				require.Contains(t, protocol.Prompts.English().Names(), m[1], f)
				said[m[1]] = true
			}
		}
	}
	require.Greater(t, len(said), 25)
}
