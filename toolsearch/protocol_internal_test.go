// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The texts that a model reads, in both languages, and the search tools on the wire: those of
// testdata/tools.en.json and tools.zh.json.

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/textstest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/prompt"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/protocol"
)

// searchTools are the search tools of a protocol over one tool.
func searchToolsOf(t *testing.T, p Protocol) map[string]tool.InvokableTool {
	h, err := New(context.Background(), &Config{Protocol: p, DynamicTools: []tool.BaseTool{
		adktest.Simple("send_email", "Sends an email"), adktest.Simple("name_of_tool", "Has a name"),
		adktest.Simple("github__create_issue", "Creates an issue"), adktest.Simple("weather__forecast", "Says what the weather will be (天气 预报)"),
		adktest.Simple("calendar__add_event", "Adds an event"), adktest.Simple("read_file", "Reads"), adktest.Simple("write_file", "Writes"),
		adktest.Simple("clock__convert_zone", "Converts a time zone (时区 转换)"),
	}})
	require.NoError(t, err)
	rc := &einorun.RunContext{}
	_, err = einorun.Begin(context.Background(), h, rc)
	require.NoError(t, err)
	found := map[string]tool.InvokableTool{}
	for _, x := range rc.Tools {
		info, err := x.Info(context.Background())
		require.NoError(t, err)
		if toolnames.IsSearchTool(info.Name) {
			found[info.Name] = x.(tool.InvokableTool)
		}
	}
	return found
}

// A model that follows an example of a text gets what the text promises.
func TestProtocol_ExamplesInPromptsWork(t *testing.T) {
	textstest.InBothLanguages(t, protocol.Prompts, func(t *testing.T, all *prompt.Texts) {
		jsonExample := regexp.MustCompile(`\{"(?:[^{}]|\{[^{}]*\})*\}`)
		for _, c := range []struct {
			text     string
			protocol Protocol
			tool     string
			want     int
		}{
			{"empty-query", Keyword, "tool_search", 2}, {"empty-query", SearchLoad, "search_tools", 2}, {"empty-query", SearchCall, "tool_search", 2},
			{"empty-pattern", Regexp, "tool_search", 1}, {"no-name", SearchLoad, "load_tool", 1}, {"no-call-name", SearchCall, "call_tool", 1},
		} {
			examples := jsonExample.FindAllString(all.Render(c.text, protocol.DescriptionData{}), -1)
			require.Len(t, examples, c.want, c.text)
			for _, args := range examples {
				require.True(t, json.Valid([]byte(args)), args)
				answer, err := searchToolsOf(t, c.protocol)[c.tool].InvokableRun(context.Background(), args)
				require.NoError(t, err)
				require.NotContains(t, answer, `"hint"`, "%s: %s", args, answer)
				require.Regexp(t, "send_email|name_of_tool|echo", answer)
			}
		}
		queries := regexp.MustCompile(`"((?:select:|\+|\^|\(\?i\))[^"]*|send email|convert time zone|weather forecast|天气 预报)"`)
		for name, c := range map[string]struct {
			protocol Protocol
			key      string
			least    int
		}{
			"tool_search": {Keyword, "query", 6}, "search_tools": {SearchLoad, "query", 2}, "tool_search_call": {SearchCall, "query", 2}, "tool_search_regexp": {Regexp, "regex_pattern", 2},
		} {
			found := queries.FindAllStringSubmatch(all.Render(name, protocol.DescriptionData{Limit: 17, Total: 4711, Calls: true}), -1)
			require.GreaterOrEqual(t, len(found), c.least, name)
			for _, q := range found {
				if q[1] == "select:" {
					continue // it speaks of the mark
				}
				args, _ := json.Marshal(map[string]string{c.key: strings.ReplaceAll(q[1], "mail", "email")})
				meta := strings.Split(name, "_regexp")[0]
				meta = strings.TrimSuffix(meta, "_call")
				answer, err := searchToolsOf(t, c.protocol)[meta].InvokableRun(context.Background(), string(args))
				require.NoError(t, err)
				require.NotContains(t, answer, `"hint"`, "%s: %s: %s", name, q[1], answer)
			}
		}
	})
}

// In a language, everything that a model reads is in that language.
func TestLanguage_AppliesToAllModelText(t *testing.T) {
	textstest.InBothLanguages(t, protocol.Prompts, func(t *testing.T, all *prompt.Texts) {
		for p := range protocolCount {
			for name, x := range searchToolsOf(t, p) {
				info, err := x.Info(context.Background())
				require.NoError(t, err)
				params, err := info.ToJSONSchema()
				require.NoError(t, err)
				answer, err := x.InvokableRun(context.Background(), "")
				require.NoError(t, err)
				for _, text := range append([]string{info.Desc, answer}, descriptions(params)...) {
					require.Equal(t, all == protocol.Prompts.Chinese(), strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }), "%v %s: %s", p, name, text)
				}
			}
		}
	})
}

func descriptions(s any) []string {
	text, _ := json.Marshal(s)
	var out []string
	for _, m := range regexp.MustCompile(`"description":"([^"]*)"`).FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	return out
}

func TestProtocol_GoldenSearchTools(t *testing.T) {
	textstest.InBothLanguages(t, protocol.Prompts, func(t *testing.T, all *prompt.Texts) {
		type wire struct {
			Protocol    string
			Name        string
			Description string
			Parameters  any
		}
		var got []wire
		for p := range protocolCount {
			cfg := Config{Protocol: p, DynamicTools: []tool.BaseTool{adktest.Simple("send_email", "Sends an email.")}}
			for _, x := range offeredBy(t, cfg) {
				info, err := x.Info(context.Background())
				require.NoError(t, err)
				params, err := info.ToJSONSchema()
				require.NoError(t, err)
				got = append(got, wire{p.String(), info.Name, info.Desc, params})
			}
		}
		require.Len(t, got, 6)
		text, err := json.MarshalIndent(got, "", "\t")
		require.NoError(t, err)
		file := filepath.Join("testdata", "tools.en.json")
		if all == protocol.Prompts.Chinese() {
			file = filepath.Join("testdata", "tools.zh.json")
		}
		if os.Getenv("EINOLEAN_UPDATE") != "" {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(file, append(text, '\n'), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.JSONEq(t, string(want), string(text))
		require.Equal(t, string(want), string(text)+"\n", "the order too is part of what a prompt cache keeps")
	})
}

// offeredBy are the search tools that an agent gets, in order.
func offeredBy(t testing.TB, cfg Config) (found []tool.BaseTool) {
	t.Helper()
	for _, x := range agentTools(t, cfg) {
		info, err := x.Info(context.Background())
		require.NoError(t, err)
		if toolnames.IsSearchTool(info.Name) {
			found = append(found, x)
		}
	}
	return found
}
