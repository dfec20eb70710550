// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// One agent is recorded in every way, and replayed.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/window"
)

// everyWay is what recorded one agent.
type everyWay struct{ messages, recorder, window, log string }

// record has a conversation of two questions recorded in every way; with is whether the
// agent has both middlewares.
func record[M adk.MessageType](t *testing.T, with, streaming bool, texts window.Texts) everyWay {
	t.Helper()
	var log bytes.Buffer
	see := window.New(window.Config{Texts: texts, Log: &log, Conversation: func(context.Context) (string, error) { return "acme/42", nil }})
	read := einoleantest.Tool("read_log", "Reads the log of a day.", func(_ context.Context, args string) (string, error) {
		return strings.Repeat("day "+args+": nothing happened between the hours\n", 200), nil
	})
	var handlers []adk.TypedChatModelAgentMiddleware[M]
	tools := []tool.BaseTool{read}
	turns := []einoleantest.Turn{einoleantest.Call("read_log", `{"day":1}`), einoleantest.Call("read_log", `{"day":2}`), einoleantest.Call("read_log", `{"day":3}`), einoleantest.Say("Nothing happened on three days.")}
	if with {
		search, err := toolsearch.NewTyped[M](t.Context(), &toolsearch.Config{DynamicTools: tools, OnEvent: see.Event})
		require.NoError(t, err)
		reduce, err := reduction.NewTyped[M](t.Context(), &reduction.TypedConfig[M]{Backend: store.NewMemory(1 << 20), ProvideReadTool: true, SkipTruncation: true, MaxTokensForClear: 3000, OnEvent: see.Event})
		require.NoError(t, err)
		handlers, tools = []adk.TypedChatModelAgentMiddleware[M]{search, reduce}, nil
		turns = append([]einoleantest.Turn{einoleantest.Call("tool_search", `{"query":"log of a day"}`)}, turns...)
	}
	handlers = append(handlers, window.HandlerFor[M](see))
	recorder := einoleantest.Record[M](einoleantest.Script[M](append(turns, einoleantest.Call("read_log", `{"day":4}`), einoleantest.Say("On the fourth day neither."))...))
	c := &adk.TypedChatModelAgentConfig[M]{Instruction: "Be careful.", Model: recorder, Handlers: handlers}
	c.ToolsConfig = adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools}}
	var options []einoleantest.Option
	if streaming {
		options = append(options, einoleantest.Streaming())
	}
	out := einoleantest.Run(t, c, "Look through the logs.", options...)
	out = einoleantest.Run(t, c, "And the fourth day?", append(options, einoleantest.After(out.Messages...))...)
	file := func(name string, text []byte) string {
		name = filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(name, text, 0o600))
		return name
	}
	all, err := json.Marshal(append([]any{map[string]string{"role": "system", "content": "Be careful."}}, anyOf(out.Messages)...))
	require.NoError(t, err)
	var window bytes.Buffer
	require.NoError(t, see.WriteJSON(&window))
	saved := filepath.Join(t.TempDir(), "run.jsonl")
	recorder.Save(t, saved)
	return everyWay{file("messages.json", all), saved, file("window.jsonl", window.Bytes()), file("log.jsonl", log.Bytes())}
}

func anyOf[T any](list []T) (all []any) {
	for _, v := range list {
		all = append(all, v)
	}
	return all
}

// bills are the bills of a file by policy.
func bills(t *testing.T, file string, args ...string) (all []policyJSON, messages string) {
	t.Helper()
	out, messages, code := call(t, "", append([]string{"replay", file, "--json", "--trigger", "4000"}, args...)...)
	require.Zero(t, code, messages)
	var got replayJSON
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Len(t, got.Conversations, 1)
	return got.Total.Policies, messages
}

func TestReplay_ReadsEveryRecordingAlike(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		t.Run(fmt.Sprintf("Message, streaming %t", streaming), func(t *testing.T) {
			sameBills(t, record[*schema.Message](t, false, streaming, window.TextsAll))
		})
		t.Run(fmt.Sprintf("AgenticMessage, streaming %t", streaming), func(t *testing.T) {
			sameBills(t, record[*schema.AgenticMessage](t, false, streaming, window.TextsAll))
		})
	}
}

func sameBills(t *testing.T, r everyWay) {
	t.Helper()
	want, _ := bills(t, r.messages)
	require.Equal(t, 6, want[0].Calls)
	for _, file := range []string{r.recorder, r.window, r.log} {
		got, messages := bills(t, file)
		require.Empty(t, messages)
		require.Equal(t, want, got, file)
	}
}

func TestReplay_UndoesEinoleanInRecordedWindow(t *testing.T) {
	want, _ := bills(t, record[*schema.Message](t, false, false, window.TextsAll).messages)
	for _, texts := range []window.Texts{window.TextsAll, window.TextsStart, window.TextsNone} {
		got, messages := bills(t, record[*schema.Message](t, true, true, texts).window)
		require.Equal(t, texts != window.TextsAll, strings.Contains(messages, "filler of the same length"), messages)
		require.Equal(t, want[0].Calls, got[0].Calls, "the search is no call without einolean")
		require.InEpsilon(t, want[0].Written, got[0].Written, .4, "texts %d", texts)
		if texts == window.TextsAll {
			require.Equal(t, want, got)
		}
	}
}

// A killed program leaves half a line. The other lines are billed, and a message names the lines that are left
// out.
func TestReplay_ReportsTornLines(t *testing.T) {
	r := record[*schema.Message](t, false, false, window.TextsAll)
	var messages []json.RawMessage
	text, err := os.ReadFile(r.messages)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &messages))
	var rows bytes.Buffer
	for _, m := range messages {
		rows.Write(append(m, '\n'))
	}
	for name, kept := range map[string]string{"messages": file(t, rows.String()), "requests": r.recorder, "log": r.log} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(kept)
			require.NoError(t, err)
			whole, said := bills(t, kept)
			require.Empty(t, said)
			all := strings.SplitAfter(strings.TrimSpace(string(text)), "\n")
			last := all[len(all)-1]
			torn := file(t, strings.Join(all[:len(all)-1], "")+last[:len(last)/2])
			got, said := bills(t, torn)
			require.Contains(t, said, fmt.Sprint("line ", len(all)), "it says which")
			require.Less(t, got[0].Calls, whole[0].Calls)
			require.Positive(t, got[0].Calls)
		})
	}
	require.Equal(t, "line 7", numbered([]int{7}))
	require.Equal(t, "lines 1, 2, 3, 4, 5 and 2 more", numbered([]int{1, 2, 3, 4, 5, 6, 7}))
}

func TestReplay_CountsMedia(t *testing.T) {
	const pixels = "aGVsbG8gd29ybGQ="
	var first int64
	for name, text := range map[string]string{
		"Eino":         `[{"role":"user","user_input_multi_content":[{"type":"text","text":"What is this?"},{"type":"image_url","image":{"base64data":"` + pixels + `","mime_type":"image/png"}}]},{"role":"assistant","content":"A cat."}]`,
		"agentic":      `[{"role":"user","content_blocks":[{"type":"user_input_text","user_input_text":{"text":"What is this?"}},{"type":"user_input_image","user_input_image":{"base64_data":"` + pixels + `","mime_type":"image/png"}}]},{"role":"assistant","content_blocks":[{"type":"assistant_gen_text","assistant_gen_text":{"text":"A cat."}}]}]`,
		"OpenAI":       `{"messages":[{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + pixels + `"}}]},{"role":"assistant","content":"A cat."}]}`,
		"OpenAI, file": `{"messages":[{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"file","file":{"file_id":"f1"}}]},{"role":"assistant","content":"A cat."}]}`,
		"Responses":    `{"input":[{"role":"user","content":[{"type":"input_text","text":"What is this?"},{"type":"input_image","image_url":"https://example.com/a.png"}]},{"role":"assistant","content":"A cat."}]}`,
		"Anthropic":    `{"messages":[{"role":"user","content":[{"type":"text","text":"What is this?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixels + `"}}]},{"role":"assistant","content":"A cat."}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := bills(t, file(t, text))
			require.InDelta(t, 1000, got[0].Written, 30)
			if first == 0 {
				first = got[0].Written
			}
			require.Equal(t, first, got[0].Written, "each format tells the same conversation")
		})
	}
}

func TestReplay_CountsMediaOfToolResults(t *testing.T) {
	for name, result := range map[string]string{
		"Eino":      `{"role":"tool","tool_call_id":"c","user_input_multi_content":[{"type":"text","text":"Here:"},{"type":"image_url","image":{"url":"https://example.com/a.png"}}]}`,
		"OpenAI":    `{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"Here:"},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}`,
		"Anthropic": `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"Here:"},{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]}]}`,
		"agentic":   `{"role":"user","content_blocks":[{"type":"function_tool_result","function_tool_result":{"call_id":"c","name":"shot","content":[{"type":"text","text":{"text":"Here:"}},{"type":"image","image":{"url":"https://example.com/a.png"}}]}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			text := `[{"role":"user","content":"Take a picture."},{"role":"assistant","content":"","tool_calls":[{"id":"c","type":"function","function":{"name":"shot","arguments":"{}"}}]},` + result + `,{"role":"assistant","content":"A cat."}]`
			got, _ := bills(t, file(t, text))
			require.Equal(t, 2, got[0].Calls)
			require.InDelta(t, 1025, got[0].Written, 30, "once, since the second call ends with it")
		})
	}
}

// A log may be torn anywhere, and may start in the middle of a line after rotation.
func TestReplay_ReportsTornLinesAnywhereInLog(t *testing.T) {
	var log bytes.Buffer
	ask := logged(t, &log)
	ask("How far is it?")
	ask("And back?")
	whole := log.String()
	lines := strings.SplitAfter(whole, "\n")
	for what, c := range map[string]struct{ text, says string }{
		"in the middle": {strings.Replace(whole, `{"of"`, `{"o`+"\n"+`{"of"`, 1), "line 2: it is not whole"},
		"at the end":    {whole + lines[1][:len(lines[1])/2], fmt.Sprintf("line %d: it is not whole", len(lines))},
		"rotated":       {lines[1][len(lines[1])/2:] + strings.Join(lines[2:], ""), "line 1: it is not whole"},
	} {
		out, messages, code := call(t, "", "replay", file(t, c.text))
		require.Zero(t, code, "%s: %s", what, messages)
		require.Contains(t, messages, "what cannot be read is left out: "+c.says, what)
		require.Contains(t, out, "2 model calls", what)
	}
}
