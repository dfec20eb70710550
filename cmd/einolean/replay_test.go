// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/dev/replay"
	"github.com/einolean/einolean/internal/display"
)

// talk is a conversation of rounds, each with a result of n lines; the model quotes the
// first result at the end.
func talk(rounds, n int) (all []*schema.Message) {
	all = []*schema.Message{schema.SystemMessage("Be careful."), schema.UserMessage("Look through the logs.")}
	for i := range rounds {
		id := fmt.Sprintf("call_%d", i)
		all = append(all, schema.AssistantMessage("", []schema.ToolCall{{ID: id, Type: "function", Function: schema.FunctionCall{Name: "read_log", Arguments: fmt.Sprintf(`{"day":%d}`, i)}}}),
			schema.ToolMessage(strings.Repeat(fmt.Sprintf("day %d: nothing happened between the hours\n", i), n), id, schema.WithToolName("read_log")))
	}
	return append(all, schema.AssistantMessage("I read: day 0: nothing happened between the hours", nil))
}

// resultLines is how long a result is. Long ones take long under the race detector, which has
// nothing more to see in them.
func resultLines() int { return race.Cases(400) }

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

type object = map[string]any

// formats writes a conversation in every format that is read.
func formats(t *testing.T, msgs []*schema.Message) map[string]string {
	t.Helper()
	var rows, parts, blocks, openai, responses, anthropic []any
	for _, m := range msgs {
		rows = append(rows, m)
		part := object{"role": m.Role, "content": []object{{"type": "text", "text": m.Content}}, "tool_calls": m.ToolCalls, "tool_call_id": m.ToolCallID}
		parts = append(parts, part)
		chat := object{"role": m.Role, "content": m.Content}
		switch {
		case m.Role == schema.Tool:
			chat["tool_call_id"] = m.ToolCallID
			responses = append(responses, object{"type": "function_call_output", "call_id": m.ToolCallID, "output": m.Content})
			anthropic = append(anthropic, object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": m.ToolCallID, "content": []object{{"type": "text", "text": m.Content}}}}})
			blocks = append(blocks, object{"role": "user", "content_blocks": []object{{"type": "function_tool_result", "function_tool_result": object{"call_id": m.ToolCallID, "name": m.ToolName, "content": []object{{"type": "text", "text": object{"text": m.Content}}}}}}})
		case len(m.ToolCalls) > 0:
			c := m.ToolCalls[0]
			chat["content"], chat["tool_calls"] = nil, m.ToolCalls
			responses = append(responses, object{"type": "function_call", "call_id": c.ID, "name": c.Function.Name, "arguments": c.Function.Arguments})
			anthropic = append(anthropic, object{"role": "assistant", "content": []object{{"type": "tool_use", "id": c.ID, "name": c.Function.Name, "input": json.RawMessage(c.Function.Arguments)}}})
			blocks = append(blocks, object{"role": "assistant", "content_blocks": []object{{"type": "function_tool_call", "function_tool_call": object{"call_id": c.ID, "name": c.Function.Name, "arguments": c.Function.Arguments}}}})
		default:
			responses = append(responses, object{"type": "message", "role": m.Role, "content": []object{{"type": "input_text", "text": m.Content}}})
			if m.Role != schema.System {
				anthropic = append(anthropic, object{"role": m.Role, "content": m.Content})
			}
			field := "user_input_text"
			if m.Role == schema.Assistant {
				field = "assistant_gen_text"
			}
			blocks = append(blocks, object{"role": m.Role, "content_blocks": []object{{"type": field, field: object{"text": m.Content}}}})
		}
		openai = append(openai, chat)
	}
	var lines strings.Builder
	for _, r := range rows {
		lines.WriteString(jsonOf(t, r) + "\n")
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write([]byte(jsonOf(t, rows)))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return map[string]string{
		"Eino, Message": jsonOf(t, rows), "Eino, AgenticMessage": jsonOf(t, blocks), "JSON Lines of messages": lines.String(),
		"JSON Lines of conversations": jsonOf(t, object{"name": "a", "kind": "logs", "messages": rows}) + "\n\n",
		"OpenAI":                      jsonOf(t, object{"model": "m", "messages": openai}), "OpenAI, parts": jsonOf(t, parts), "OpenAI, Responses": jsonOf(t, object{"input": responses}),
		"Anthropic": jsonOf(t, object{"system": []object{{"type": "text", "text": "Be careful."}}, "messages": anthropic}), "gzip": zipped.String(),
	}
}

func TestReplay_ReadsEveryConversationFormat(t *testing.T) {
	var first *billedJSON
	for name, text := range formats(t, talk(6, resultLines())) {
		t.Run(name, func(t *testing.T) {
			out, messages, code := call(t, text, "replay", "-", "--all", "--json", "--trigger", strconv.Itoa(20*resultLines()))
			require.Zero(t, code, messages)
			var got replayJSON
			require.NoError(t, json.Unmarshal([]byte(out), &got))
			require.Equal(t, "einolean.replay/1", got.Schema)
			require.Len(t, got.Total.Policies, len(replay.Policies()))
			require.Equal(t, 7, got.Total.Calls)
			require.Greater(t, got.Total.Policies[0].Written, int64(50*resultLines()))
			if first == nil {
				first = &got.Total
			}
			require.Equal(t, *first, got.Total, "each format tells the same conversation")
		})
	}
}

func TestReplay_GoldenOutput(t *testing.T) {
	long, short := filepath.Join(t.TempDir(), "long.json"), filepath.Join(t.TempDir(), "short.json")
	require.NoError(t, os.WriteFile(long, []byte(jsonOf(t, talk(12, 400))), 0o600))
	require.NoError(t, os.WriteFile(short, []byte(jsonOf(t, talk(2, 400))), 0o600))
	args := []string{"replay", long, short, "--trigger", "8000", "--policy", "Eino", "--policy", "einolean", "--policy", "mask all"}
	out, messages, code := call(t, "", args...)
	require.Zero(t, code, messages)
	out = strings.NewReplacer(long, "long.json", short, "short.json").Replace(out)
	compareGolden(t, "testdata/replay.golden.txt", out)
	colored, _, _ := call(t, "", append(args, "--color", "always")...)
	require.Contains(t, colored, "\x1b[32m")
	require.Contains(t, colored, "\x1b[31m", "losses")
}

// body is a request to OpenAI with n tools, of which two are called, and results of size bytes.
func body(t *testing.T, n, size int) string {
	t.Helper()
	tools := []object{{"type": "web_search"}}
	for i := range n {
		tools = append(tools, object{"type": "function", "function": object{"name": fmt.Sprintf("office__%s_%d", []string{"send_mail", "read_log"}[i%2], i), "description": fmt.Sprintf("Does office work of kind %d, with all that belongs to it, and says when it is done.", i),
			"parameters": object{"type": "object", "properties": object{"day": object{"type": "integer", "description": "which day of the month"}}}}})
	}
	var chat []object
	for _, m := range talk(6, size) {
		one := object{"role": m.Role, "content": m.Content}
		if len(m.ToolCalls) > 0 {
			m.ToolCalls[0].Function.Name = "office__read_log_" + strconv.Itoa(min(n-1, 1+2*(len(chat)%2)))
			one["tool_calls"] = m.ToolCalls
		}
		if m.Role == schema.Tool {
			one["tool_call_id"] = m.ToolCallID
		}
		chat = append(chat, one)
	}
	return jsonOf(t, object{"model": "m", "messages": chat, "tools": tools})
}

func TestReplay_BillsToolsAndAdvises(t *testing.T) {
	out, messages, code := call(t, body(t, 300, 100), "replay", "-", "--all", "--json")
	require.Zero(t, code, messages)
	var got replayJSON
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	rows := map[string]policyJSON{}
	for _, p := range got.Total.Policies {
		rows[p.Policy] = p
	}
	nothing := rows["no reduction"]
	require.Greater(t, nothing.Defined, nothing.Tokens/2)
	require.Positive(t, nothing.Dollars["Anthropic"])
	for _, h := range replay.Hidings()[1:] {
		require.Less(t, rows[h.Name].Tokens, nothing.Tokens*2/3, h.Name)
		require.Less(t, rows[h.Name].Defined, nothing.Defined/2, h.Name)
	}
	require.Equal(t, nothing.Defined, rows["einolean, Recommended"].Defined, "reduction lists every tool")
	require.Contains(t, got.Advice, "Set toolsearch.")
	require.Contains(t, got.Advice, "tokens instead of "+display.Grouped(nothing.Tokens))
	require.Contains(t, got.Advice, fmt.Sprintf("instead of $%.2f", nothing.Dollars["Anthropic"]))
	text, _, _ := call(t, body(t, 300, 100), "replay", "-", "--all")
	require.True(t, strings.HasPrefix(text, got.Advice+"\n"), "the first sentence says what to set")
	require.Contains(t, text, "definitions of tools are")
	few, _, _ := call(t, body(t, 2, 100), "replay", "-", "--policy", "Recommended", "--json")
	require.Contains(t, few, "Change nothing: no setting saves a twentieth of these")
}

// At most six rows are shown by default, and the others on request.
func TestReplay_ShowsMainPoliciesByDefault(t *testing.T) {
	rows := func(input string, args ...string) (names []string) {
		out, messages, code := call(t, input, append([]string{"replay", "-", "--json"}, args...)...)
		require.Zero(t, code, messages)
		var got replayJSON
		require.NoError(t, json.Unmarshal([]byte(out), &got))
		for _, p := range got.Total.Policies {
			names = append(names, p.Policy)
		}
		return names
	}
	chat, tools := jsonOf(t, talk(3, 100)), body(t, 40, 100)
	require.Equal(t, chosenBetween, rows(tools))
	require.Equal(t, chosenBetween[:4], rows(chat), "without tools none is hidden")
	require.Len(t, rows(tools, "--all"), len(choices(true)))
	require.Len(t, rows(chat, "--all", "--policy", "Eino"), len(choices(false)))
	require.Contains(t, rows(chat, "--policy", "mask all"), "mask all but the last 10")
	text, _, _ := call(t, tools, "replay", "-")
	require.Contains(t, text, fmt.Sprintf("--all replays %d more policies", len(choices(true))-len(chosenBetween)))
}

func TestReplay_AdviceStatesSavingsOfHidingToolsAlone(t *testing.T) {
	race.Skip(t, "replays many long requests")
	out, messages, code := call(t, body(t, 300, 60_000), "replay", "-", "--json")
	require.Zero(t, code, messages)
	var got replayJSON
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	rows := map[string]policyJSON{}
	for _, p := range got.Total.Policies {
		rows[p.Policy] = p
	}
	nothing, hidden := rows["no reduction"], rows["toolsearch, Recommended"]
	require.Contains(t, got.Advice, "Set toolsearch.Recommended(tools) and reduction.Recommended(store): ")
	require.Contains(t, got.Advice, fmt.Sprintf(" Hiding tools alone saves %s tokens and $%.2f: toolsearch.Recommended(tools).",
		display.Grouped(nothing.Tokens-hidden.Tokens), nothing.Dollars["Anthropic"]-hidden.Dollars["Anthropic"]))
}

// inEveryRequest is a request body whose results fill it: another tool is found before each, and so all
// results are sent once more.
func inEveryRequest(t *testing.T) string {
	var request map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(body(t, 300, 100)), &request))
	messages := []object{{"role": "user", "content": "Use them."}}
	for i := range 14 {
		id, call := fmt.Sprint("c", i), object{"name": fmt.Sprintf("office__%s_%d", []string{"send_mail", "read_log"}[i%2], i), "arguments": "{}"}
		messages = append(messages, object{"role": "assistant", "tool_calls": []object{{"id": id, "type": "function", "function": call}}},
			object{"role": "tool", "tool_call_id": id, "content": strings.Repeat(fmt.Sprintf("line of result %d with a text\n", i), 800)}, object{"role": "assistant", "content": "done"}, object{"role": "user", "content": "next"})
	}
	return jsonOf(t, object{"model": "gpt-5", "messages": messages, "tools": request["tools"]})
}

func TestReplay_UsesPricesOfModelInBody(t *testing.T) {
	race.Skip(t, "replays many long requests")
	out, messages, code := call(t, inEveryRequest(t), "replay", "-", "--json")
	require.Zero(t, code, messages)
	var got replayJSON
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Len(t, got.Cards, 1)
	require.Equal(t, "gpt-5", got.Cards[0].Name)
	require.Contains(t, got.Advice, "at the prices of gpt-5")
	out, _, _ = call(t, body(t, 300, 100), "replay", "-", "--json")
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Equal(t, replay.Cards, got.Cards, "nobody knows the model m")
}

func TestReplay_AdviceStatesWhenHidingToolsCostsMore(t *testing.T) {
	race.Skip(t, "replays many long requests")
	prices := file(t, `[{"name":"nothing is cached","write":1,"cached":1}]`)
	out, messages, code := call(t, inEveryRequest(t), "replay", "-", "--prices", prices, "--json")
	require.Zero(t, code, messages)
	var got replayJSON
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.NotContains(t, got.Advice, "saves -")
	require.Regexp(t, `Hiding tools alone would send [\d,]+ tokens more`, got.Advice)
}

func TestReplay_AcceptsOwnPoliciesAndPrices(t *testing.T) {
	chat := file(t, jsonOf(t, talk(12, 400)))
	mine := filepath.Join(t.TempDir(), "mine.json")
	require.NoError(t, os.WriteFile(mine, []byte(`{"MaxLengthForTrunc": 4000, "SkipClear": true}`), 0o600))
	prices := file(t, `[{"name":"ours","write":2,"cached":0.5}]`)
	out, messages, code := call(t, "", "replay", chat, "--config", mine, "--prices", prices, "--json")
	require.Zero(t, code, messages)
	var got replayJSON
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Len(t, got.Total.Policies, 2, "doing nothing is always compared with")
	require.Equal(t, "mine", got.Total.Policies[1].Policy)
	require.Less(t, got.Total.Policies[1].Ratio["ours"], .5)
	nothing := got.Total.Policies[0]
	require.InDelta(t, 2*float64(nothing.Written)+.5*float64(nothing.Cached), nothing.Cost["ours"], .01)
}

// The file has the form of the embedded price list, so that a newer copy can replace it.
func TestReplay_ReadsPricesFile(t *testing.T) {
	ours := file(t, `{"read":"2027-01-01","prices":[{"model":"m","input":3,"cached":0.3,"written":6,"output":9},{"model":"n","input":1,"cached":1,"written":1}]}`)
	for input, want := range map[string][]replay.Card{
		body(t, 2, 20):          {{Name: "m", Write: 2, Cached: .1, Million: 3, Output: 9}},
		jsonOf(t, talk(3, 100)): {{Name: "m", Write: 2, Cached: .1, Million: 3, Output: 9}, {Name: "n", Write: 1, Cached: 1, Million: 1}},
	} {
		out, messages, code := call(t, input, "replay", "-", "--prices", ours, "--policy", "Eino", "--json")
		require.Zero(t, code, messages)
		var got replayJSON
		require.NoError(t, json.Unmarshal([]byte(out), &got))
		require.Equal(t, want, got.Cards)
	}
	chat := file(t, jsonOf(t, talk(3, 100)))
	_, messages, code := call(t, "", "replay", chat, "--prices", file(t, `{"prices":[{"model":"m","cached":1}]}`))
	require.Equal(t, exitInput, code)
	require.Contains(t, messages, "above 0")
	_, messages, code = call(t, "", "replay", chat, "--prices", filepath.Join("..", "..", "internal", "prices", "prices.json"), "--policy", "Eino")
	require.Zero(t, code, messages)
}

func TestReplay_ExitCodes(t *testing.T) {
	chat, tools := file(t, jsonOf(t, talk(3, 400))), file(t, three)
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no file":                      {nil, exitUsage, "give a file of a conversation"},
		"an unknown policy":            {[]string{chat, "--policy", "magic"}, exitUsage, "mask all but the last 10"},
		"a share above 1":              {[]string{chat, "--read-backs", "2"}, exitUsage, "between 0 and 1"},
		"a share that is not a number": {[]string{chat, "--read-backs", "NaN"}, exitUsage, "between 0 and 1"},
		"a limit that is not a number": {[]string{chat, "--fail-over", "NaN"}, exitUsage, "at least 0"},
		"a negative limit":             {[]string{chat, "--fail-over", "-1"}, exitUsage, "at least 0"},
		"a missing file":               {[]string{"none.json"}, exitInput, "none.json"},
		"tools":                        {[]string{tools}, exitInput, "it holds tools and no conversation"},
		"no model":                     {[]string{file(t, `[{"role":"user","content":"hello"}]`)}, exitInput, "no message from a model"},
		"invalid JSON":                 {[]string{file(t, `{}`+"\nhello")}, exitInput, ":2: this is neither"},
		"an empty file":                {[]string{file(t, " ")}, exitInput, "is empty"},
		"invalid gzip":                 {[]string{file(t, "\x1f\x8bno")}, exitInput, "EOF"},
		"content that is a number":     {[]string{file(t, `[{"role":"assistant","content":1}]`)}, exitInput, "message 1"},
		"a policy with a wrong field":  {[]string{chat, "--config", file(t, `{"MaxLength":1}`)}, exitInput, "MaxLength"},
		"a policy with a wrong value":  {[]string{chat, "--config", file(t, `{"MaxLengthForTrunc":-1}`)}, exitInput, "MaxLengthForTrunc"},
		"prices without a name":        {[]string{chat, "--prices", file(t, `[{"write":1}]`)}, exitInput, "a card has a name"},
		"no prices":                    {[]string{chat, "--prices", file(t, `[]`)}, exitInput, "holds no card"},
		"part of a policy name":        {[]string{chat, "--policy", "no red"}, exitDone, ""},
		"a limit that is met":          {[]string{chat, "--policy", "Eino", "--fail-over", "1"}, exitDone, ""},
		"a limit that is exceeded":     {[]string{chat, "--policy", "mask all", "--fail-over", ".5"}, exitMissed, "more than 0.50"},
	} {
		t.Run(name, func(t *testing.T) {
			_, messages, code := call(t, "", append([]string{"replay"}, c.args...)...)
			require.Equal(t, c.code, code, messages)
			require.Contains(t, messages, c.says)
		})
	}
}
