// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

// peerForms are one conversation in the formats of others.
var peerForms = map[string]string{
	"Bedrock Converse": `{"system":[{"text":"Be brief."}],"messages":[
		{"role":"user","content":[{"text":"weather?"}]},
		{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm"}}},{"toolUse":{"toolUseId":"c1","name":"weather","input":{"city":"Oslo"}}}]},
		{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"json":{"rain":true}}],"status":"success"}},{"cachePoint":{"type":"default"}}]},
		{"role":"assistant","content":[{"text":"It rains."}]}],
		"toolConfig":{"tools":[{"toolSpec":{"name":"weather","description":"The weather.","inputSchema":{"json":{"type":"object"}}}}]}}`,
	"Vercel UI": `[{"id":"s","role":"system","parts":[{"type":"text","text":"Be brief."}]},
		{"id":"a","role":"user","parts":[{"type":"text","text":"weather?"}]},
		{"id":"b","role":"assistant","parts":[{"type":"step-start"},{"type":"reasoning","text":"hm"},
		{"type":"tool-weather","toolCallId":"c1","state":"output-available","input":{"city":"Oslo"},"output":{"rain":true}},
		{"type":"step-start"},{"type":"text","text":"It rains."}]}]`,
	"Vercel UI, version 4": `[{"role":"system","content":"Be brief."},{"role":"user","content":"weather?"},
		{"role":"assistant","content":"","parts":[{"type":"tool-invocation","toolInvocation":{"toolCallId":"c1","toolName":"weather","args":{"city":"Oslo"},"state":"result","result":{"rain":true}}},
		{"type":"text","text":"It rains."}]}]`,
	"Vercel model messages": `[{"role":"system","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"weather?"}]},
		{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"weather","input":{"city":"Oslo"}}]},
		{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","toolName":"weather","output":{"type":"json","value":{"rain":true}}}]},
		{"role":"assistant","content":[{"type":"text","text":"It rains."}]}]`,
	"Gemini": `{"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"weather?"}]},
		{"role":"model","parts":[{"functionCall":{"id":"c1","name":"weather","args":{"city":"Oslo"}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"weather","response":{"rain":true}}}]},
		{"role":"model","parts":[{"text":"It rains."}]}],
		"tools":[{"functionDeclarations":[{"name":"weather","description":"The weather.","parameters":{"type":"object"}}]}]}`,
}

func TestReplay_ReadsMessagesOfOtherLibraries(t *testing.T) {
	for name, text := range peerForms {
		all, err := recordings(streams{in: strings.NewReader(text)}, options{}, "-")
		require.NoError(t, err, name)
		require.Len(t, all, 1)
		require.Zero(t, all[0].unread.bytes, name)
		var got []string
		for _, m := range all[0].Conversation.Messages() {
			line := string(m.Role) + " " + m.Content
			for _, c := range m.ToolCalls {
				line += fmt.Sprintf("%s %s %s", c.ID, c.Function.Name, c.Function.Arguments)
			}
			if m.Role == schema.Tool {
				line += " of " + m.ToolCallID
			}
			got = append(got, line)
		}
		require.Equal(t, []string{"system Be brief.", "user weather?", `assistant call_0 weather {"city":"Oslo"}`, `tool {"rain":true} of call_0`, "assistant It rains."}, got, name)
		if strings.Contains(text, `"tools":[`) {
			require.Len(t, all[0].Conversation.Tools(), 1, name)
		}
	}
}

func TestReplay_NamesPartsThatItDoesNotUnderstand(t *testing.T) {
	conversation := func(unknown int) string {
		return fmt.Sprintf(`[{"role":"user","content":[{"type":"text","text":%q},{"type":"hologram","data":%q}]},{"role":"assistant","content":"yes"}]`,
			strings.Repeat("known ", 200), strings.Repeat("x", unknown))
	}
	for unknown, advises := range map[int]bool{20: true, 5000: false} {
		out, notes, code := call(t, conversation(unknown), "replay", "-", "--json")
		require.Zero(t, code, notes)
		require.Contains(t, notes, "not understood: 1 of \"hologram\"")
		var got replayJSON
		require.NoError(t, json.Unmarshal([]byte(out), &got))
		require.Equal(t, !advises, strings.HasPrefix(got.Advice, "No advice: parts that are not understood"), got.Advice)
	}
}

func TestReplay_ShowsNoTableForAShortConversation(t *testing.T) {
	out, _, code := call(t, `[{"role":"user","content":"hello"},{"role":"assistant","content":"hi"}]`, "replay", "-")
	require.Zero(t, code)
	require.NotContains(t, out, "1.00")
	require.Contains(t, out, "All policies cost the same")
}

func TestReplay_AdviceSaysWherePricesAreHigher(t *testing.T) {
	require.Equal(t, " But 13 % dearer on DeepSeek.", bench{}.dearer(policyJSON{Dearer: []string{"DeepSeek", "Qwen"}, Ratio: map[string]float64{"DeepSeek": 1.13, "Qwen": 1.001}}))
	require.Empty(t, bench{}.dearer(policyJSON{}))
}

func TestEval_PrintsTenProblemsOfMany(t *testing.T) {
	_, said, code := call(t, strings.Repeat("{\"description\":\"x\"}\n", 100_000), "eval", "-")
	require.Equal(t, exitInput, code)
	require.Equal(t, 11, strings.Count(said, "\n"))
	require.Contains(t, said, "and 99,990 more problems")
}

func TestEval_ListsADuplicateOnce(t *testing.T) {
	var tools strings.Builder
	for i := range 77 {
		fmt.Fprintf(&tools, "{\"name\":\"tool_%d\",\"description\":\"reads the temperature of a room\"}\n", i)
	}
	out, _, _ := call(t, tools.String(), "eval", "-")
	require.Equal(t, 1, strings.Count(out, "it has the description of tool_0"))
	require.Contains(t, out, "75 other tools are like this")
}

func TestSearch_WithoutAHitFails(t *testing.T) {
	tools := `{"name":"mail__draft","description":"writes an electronic mail"}`
	_, _, code := call(t, tools, "search", "-", "mail")
	require.Zero(t, code)
	out, said, code := call(t, tools, "search", "-", "zzzzqqqq")
	require.Equal(t, exitMissed, code)
	require.Equal(t, "no tool fits\n", out)
	require.Contains(t, said, "no tool fits")
}
