// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/window"
)

// hostile acts on a terminal by an escape sequence, by a C1 control, by turning the direction of
// writing, and by a line of its own.
const hostile = "a\x1b]0;owned\x07\u009b2J\u202e\u2066\x7f\nowned: all is well"

// acts are the characters of an output that act on a terminal.
func acts(text string) (all []rune) {
	for _, r := range text {
		if r != '\n' && !unicode.IsGraphic(r) {
			all = append(all, r)
		}
	}
	return all
}

func TestCommands_PrintNoForeignEscapes(t *testing.T) {
	name := func(text string) string {
		path := filepath.Join(t.TempDir(), hostile)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	tools := name(jsonOf(t, []map[string]string{{"name": hostile, "description": "Sends electronic mail " + hostile}, {"name": "b", "description": "Sends electronic mail"}}))
	chat := name(jsonOf(t, []*schema.Message{schema.SystemMessage(hostile), schema.UserMessage(hostile), schema.AssistantMessage(hostile, nil)}))
	cards := name(jsonOf(t, []map[string]any{{"name": hostile, "write": 1, "cached": .1, "million": 1}}))
	seen := filepath.Join(t.TempDir(), hostile)
	writeHostileWindow(t, seen)
	broken, none, empty, servers := name("{"), filepath.Join(t.TempDir(), hostile), name(""), name(jsonOf(t, map[string]any{"mcpServers": map[string]any{hostile: map[string]any{"command": "/no" + hostile}}}))
	t.Setenv("OPENAI_API_KEY", "none")
	for i, args := range [][]string{
		{"eval", tools}, {"search", tools, "electronic", "mail", "--why"}, {"search", tools, hostile}, {"replay", chat, "--prices", cards}, {"replay", chat, "--config", name("{}")},
		{"view", seen}, {"view", seen, "--call", "1"}, {"view", seen, "--call", "99"}, {"view", seen, "--conversation", hostile + "!"}, {"view", seen, "-o", name("")},
		{"eval", tools, "--queries", name(`{"id":` + jsonOf(t, hostile) + `,"kind":` + jsonOf(t, hostile) + `,"query":` + jsonOf(t, hostile) + `,"relevant":["b"]}`)},
		{"eval", none}, {"eval", broken}, {"eval", empty}, {"eval", chat}, {"eval", servers}, {"eval", servers, "--connect"}, {"eval", servers, "--connect", "--strict"},
		{"replay", none}, {"replay", broken}, {"replay", empty}, {"replay", tools}, {"replay", chat, "--config", broken}, {"replay", chat, "--prices", broken}, {"replay", chat, "--policy", hostile},
		{"view", none}, {"view", broken}, {"view", empty}, {"view", chat}, {"view", tools, "--follow"}, {hostile}, {"eval", "--" + hostile}, {"eval", "--" + hostile + "=1", tools}, {"eval", tools, "--color", hostile},
		{"eval", tools, "--index", hostile}, {"eval", tools, "--top", hostile}, {"bench", hostile, "--model", "m"}, {"bench", "--model", hostile, "--arms", hostile}, {"bench", "--model", hostile, "--key", hostile},
		{"bench", "--model", hostile, "--tasks", hostile}, {"bench", "--model", hostile, "--api", hostile}, {"bench", "--model", "m", "-o", none + "/" + hostile}, {"version", hostile},
	} {
		for _, more := range [][]string{nil, {"--json"}} {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			var o, e bytes.Buffer
			_ = run(ctx, streams{strings.NewReader(""), &o, &e}, append(slices.Clone(args), more...))
			cancel()
			require.Empty(t, acts(o.String()), "%d %q %v: %q", i, args, more, o.String())
			require.Empty(t, acts(e.String()), "%d %q %v: %q", i, args, more, e.String())
			for _, text := range []string{o.String(), e.String()} {
				require.NotContains(t, text, "\nowned", "%d %q %v", i, args, more)
				require.False(t, strings.HasPrefix(text, "owned"))
			}
		}
	}
	queries, _, code := call(t, hostile+"\n", "search", tools)
	require.Zero(t, code)
	require.Empty(t, acts(queries))
}

// writeHostileWindow writes a log in which every string that others wrote is hostile.
func writeHostileWindow(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	require.NoError(t, err)
	defer f.Close()
	see := window.New(window.Config{Log: f, Texts: window.TextsAll, Conversation: func(context.Context) (string, error) { return hostile, nil }})
	ctx, _, err := see.Handler().BeforeAgent(t.Context(), nil)
	require.NoError(t, err)
	ask := func(turn einoleantest.Turn, in ...*schema.Message) {
		m, err := see.Handler().WrapModel(ctx, einoleantest.Script[*schema.Message](turn), nil)
		require.NoError(t, err)
		_, _ = m.Generate(ctx, in, model.WithTools([]*schema.ToolInfo{{Name: hostile, Desc: hostile}}), model.WithModel(hostile))
	}
	result := schema.ToolMessage(strings.Repeat(hostile, 40), "call"+hostile, schema.WithToolName(hostile))
	said := []*schema.Message{schema.SystemMessage(hostile), schema.UserMessage(hostile), schema.AssistantMessage(hostile, []schema.ToolCall{{ID: "call" + hostile, Function: schema.FunctionCall{Name: hostile, Arguments: hostile}}}), result}
	ask(einoleantest.Call(hostile, hostile), said...)
	see.Event(ctx, einolean.Event{Kind: einolean.KindToolsSearched, Search: &einolean.Search{Query: hostile, Hits: []einolean.Hit{{Name: hostile, Terms: []einolean.Term{{Text: hostile}}}}}})
	see.Event(ctx, einolean.Event{Kind: einolean.KindResultCleared, CallID: "call" + hostile, Tool: hostile, Output: &einolean.OutputChange{Path: "/" + hostile, Rule: hostile, Reason: hostile}})
	see.Event(ctx, einolean.Event{Kind: einolean.KindServerDown, Server: hostile, Err: errors.New(hostile), Tools: &einolean.ToolChange{Added: []string{hostile}, AddedCount: 1, Phase: hostile, Reason: hostile}})
	cleared := *result
	cleared.Content = "<persisted-output>Tool result saved to: /" + hostile + "</persisted-output>"
	ask(einoleantest.Say(hostile), said[0], said[1], said[2], &cleared)
	ask(einoleantest.Fail(errors.New(hostile)), said[0], said[1], said[2], &cleared)
}
