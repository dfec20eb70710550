// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package models

// Calls of call_tool through the adapters: what goes out is what goes out without the middleware.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/agenticopenai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

// wireCall is a call as it stands on the wire.
type wireCall struct{ id, name, args string }

// wireTurn is one answer of the model: thinking, a text, and calls. An answer without calls ends a run.
type wireTurn struct {
	thought, text string
	calls         []wireCall
}

// wireFormat is how a provider writes an answer, in one piece and as a stream.
type wireFormat struct {
	whole  func(wireTurn) any
	stream func(wireTurn) string
}

// callServer answers with the turns, and keeps the requests.
type callServer struct {
	mu     sync.Mutex
	format wireFormat
	turns  []wireTurn
	bodies []string
}

func (s *callServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || len(s.bodies) >= len(s.turns) {
		http.Error(w, "the script is at its end", http.StatusBadRequest)
		return
	}
	turn := s.turns[len(s.bodies)]
	s.bodies = append(s.bodies, string(body))
	if isStreamRequest(r, body) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, s.format.stream(turn)) // a client that is gone needs no answer
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, mustJSON(s.format.whole(turn)))
}

func isStreamRequest(r *http.Request, body []byte) bool {
	var q struct {
		Stream bool `json:"stream"`
	}
	return json.Unmarshal(body, &q) == nil && q.Stream || strings.Contains(r.URL.Path, "stream")
}

// mustJSON encodes as a provider does: raw messages keep their bytes.
func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// pieces cuts a text into three.
func pieces(text string) []string {
	r := []rune(text)
	return []string{string(r[:len(r)/3]), string(r[len(r)/3 : 2*len(r)/3]), string(r[2*len(r)/3:])}
}

func sse(name string, data object) string {
	if name == "" {
		return "data: " + mustJSON(data) + "\n\n"
	}
	data["type"] = name
	return "event: " + name + "\ndata: " + mustJSON(data) + "\n\n"
}

var chatWire = wireFormat{
	whole: func(t wireTurn) any {
		m, reason := object{"role": "assistant", "content": t.text, "reasoning_content": t.thought}, "stop"
		var calls []object
		for _, c := range t.calls {
			calls = append(calls, object{"id": c.id, "type": "function", "function": object{"name": c.name, "arguments": c.args}})
		}
		if calls != nil {
			m["tool_calls"], reason = calls, "tool_calls"
		}
		return object{
			"id": "c", "object": "chat.completion", "model": "m", "choices": []object{{"index": 0, "message": m, "finish_reason": reason}},
			"usage": object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
		}
	},
	stream: func(t wireTurn) string {
		var b strings.Builder
		send := func(delta object, reason any) {
			b.WriteString(sse("", object{
				"id": "c", "object": "chat.completion.chunk", "model": "m", "created": 1,
				"choices": []object{{"index": 0, "delta": delta, "finish_reason": reason}},
			}))
		}
		send(object{"role": "assistant", "content": ""}, nil)
		for _, p := range pieces(t.thought) {
			send(object{"reasoning_content": p}, nil)
		}
		for _, p := range pieces(t.text) {
			send(object{"content": p}, nil)
		}
		for i, c := range t.calls {
			send(object{"tool_calls": []object{{"index": i, "id": c.id, "type": "function", "function": object{"name": c.name, "arguments": ""}}}}, nil)
		}
		for at := range 3 { // the pieces of all calls take turns
			for i, c := range t.calls {
				send(object{"tool_calls": []object{{"index": i, "function": object{"arguments": pieces(c.args)[at]}}}}, nil)
			}
		}
		reason := "stop"
		if len(t.calls) > 0 {
			reason = "tool_calls"
		}
		send(object{}, reason)
		return b.String() + "data: [DONE]\n\n"
	},
}

var messagesWire = wireFormat{
	whole: func(t wireTurn) any {
		content := []object{}
		if t.thought != "" {
			content = append(content, object{"type": "thinking", "thinking": "Hm.", "signature": t.thought})
		}
		if t.text != "" {
			content = append(content, object{"type": "text", "text": t.text})
		}
		reason := "end_turn"
		for _, c := range t.calls {
			reason = "tool_use"
			content = append(content, object{"type": "tool_use", "id": c.id, "name": c.name, "input": json.RawMessage(c.args)})
		}
		return object{
			"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": reason,
			"usage": object{"input_tokens": 1, "output_tokens": 1},
		}
	},
	stream: func(t wireTurn) string {
		var b strings.Builder
		index, reason := 0, "end_turn"
		block := func(head object, deltas ...object) {
			b.WriteString(sse("content_block_start", object{"index": index, "content_block": head}))
			for _, d := range deltas {
				b.WriteString(sse("content_block_delta", object{"index": index, "delta": d}))
			}
			b.WriteString(sse("content_block_stop", object{"index": index}))
			index++
		}
		b.WriteString(sse("message_start", object{"message": object{
			"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": []object{}, "usage": object{"input_tokens": 1, "output_tokens": 1},
		}}))
		if t.thought != "" {
			block(object{"type": "thinking", "thinking": "", "signature": ""}, object{"type": "thinking_delta", "thinking": "Hm."},
				object{"type": "signature_delta", "signature": t.thought})
		}
		if t.text != "" {
			block(object{"type": "text", "text": ""}, object{"type": "text_delta", "text": t.text})
		}
		for _, c := range t.calls {
			reason = "tool_use"
			var deltas []object
			for _, p := range pieces(c.args) {
				deltas = append(deltas, object{"type": "input_json_delta", "partial_json": p})
			}
			block(object{"type": "tool_use", "id": c.id, "name": c.name, "input": object{}}, deltas...)
		}
		b.WriteString(sse("message_delta", object{"delta": object{"stop_reason": reason}, "usage": object{"output_tokens": 1}}))
		b.WriteString(sse("message_stop", object{}))
		return b.String()
	},
}

// geminiParts are the parts of an answer: only the first call has a signature, as with parallel calls.
func geminiParts(t wireTurn) []object {
	var parts []object
	if t.text != "" {
		parts = append(parts, object{"text": t.text})
	}
	for i, c := range t.calls {
		part := object{"functionCall": object{"name": c.name, "args": json.RawMessage(c.args)}}
		if i == 0 && t.thought != "" {
			part["thoughtSignature"] = t.thought
		}
		parts = append(parts, part)
	}
	return parts
}

func geminiAnswer(parts []object, reason string) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if reason != "" {
		candidate["finishReason"] = reason
	}
	return object{"candidates": []object{candidate}, "usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
}

var geminiWire = wireFormat{
	whole: func(t wireTurn) any { return geminiAnswer(geminiParts(t), "STOP") },
	stream: func(t wireTurn) string {
		var b strings.Builder
		parts := geminiParts(t)
		for i := range parts {
			reason := ""
			if i == len(parts)-1 {
				reason = "STOP"
			}
			b.WriteString(sse("", geminiAnswer(parts[i:i+1], reason)))
		}
		return b.String()
	},
}

func ollamaAnswer(t wireTurn, isDone bool) object {
	m := object{"role": "assistant", "content": t.text, "thinking": t.thought}
	var calls []object
	for _, c := range t.calls {
		calls = append(calls, object{"function": object{"name": c.name, "arguments": json.RawMessage(c.args)}})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	o := object{"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": m, "done": isDone}
	if isDone {
		o["done_reason"] = "stop"
	}
	return o
}

var ollamaWire = wireFormat{
	whole: func(t wireTurn) any { return ollamaAnswer(t, true) },
	stream: func(t wireTurn) string {
		var b strings.Builder
		b.WriteString(mustJSON(ollamaAnswer(wireTurn{thought: t.thought}, false)) + "\n")
		b.WriteString(mustJSON(ollamaAnswer(wireTurn{text: t.text}, false)) + "\n")
		for _, c := range t.calls {
			b.WriteString(mustJSON(ollamaAnswer(wireTurn{calls: []wireCall{c}}, false)) + "\n")
		}
		return b.String() + mustJSON(ollamaAnswer(wireTurn{}, true)) + "\n"
	},
}

func responsesItems(t wireTurn) (items []object) {
	if t.thought != "" {
		items = append(items, object{"type": "reasoning", "id": "rs_" + t.thought, "summary": []object{}, "encrypted_content": t.thought, "status": "completed"})
	}
	if t.text != "" {
		items = append(items, object{"type": "message", "id": "m", "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": t.text, "annotations": []object{}}}})
	}
	for i, c := range t.calls {
		items = append(items, object{"type": "function_call", "id": fmt.Sprintf("fc_%d", i), "call_id": c.id, "name": c.name, "arguments": c.args, "status": "completed"})
	}
	return items
}

func responsesAnswer(items []object, status string) object {
	return object{
		"id": "resp", "object": "response", "model": "m", "created_at": 1, "status": status, "output": items,
		"usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
	}
}

var responsesWire = wireFormat{
	whole: func(t wireTurn) any { return responsesAnswer(responsesItems(t), "completed") },
	stream: func(t wireTurn) string {
		var b strings.Builder
		number := 0
		send := func(name string, data object) {
			data["sequence_number"] = number
			number++
			b.WriteString(sse(name, data))
		}
		items := responsesItems(t)
		send("response.created", object{"response": responsesAnswer([]object{}, "in_progress")})
		for i, item := range items {
			head := object{}
			for k, v := range item {
				head[k] = v
			}
			head["status"] = "in_progress"
			at := func(o object) object { o["output_index"], o["item_id"] = i, item["id"]; return o }
			switch item["type"] {
			case "message":
				head["content"] = []object{}
				send("response.output_item.added", object{"output_index": i, "item": head})
				part := object{"type": "output_text", "text": "", "annotations": []object{}}
				send("response.content_part.added", at(object{"content_index": 0, "part": part}))
				for _, p := range pieces(t.text) {
					send("response.output_text.delta", at(object{"content_index": 0, "delta": p}))
				}
				send("response.output_text.done", at(object{"content_index": 0, "text": t.text}))
			case "function_call":
				head["arguments"] = ""
				send("response.output_item.added", object{"output_index": i, "item": head})
				for _, p := range pieces(item["arguments"].(string)) {
					send("response.function_call_arguments.delta", at(object{"delta": p}))
				}
				send("response.function_call_arguments.done", at(object{"arguments": item["arguments"]}))
			default:
				send("response.output_item.added", object{"output_index": i, "item": head})
			}
			send("response.output_item.done", object{"output_index": i, "item": item})
		}
		send("response.completed", object{"response": responsesAnswer(items, "completed")})
		return b.String()
	},
}

// wireRequest is what a request says of calls.
type wireRequest struct {
	answers  []string // entries of the model, as they were sent
	results  []string // results of tools, without their content
	calls    []wireCall
	resultOf []wireCall // of each result, its id and name, as far as the format has them
	declared []string
}

func readRequest(t *testing.T, body string) (q wireRequest) {
	t.Helper()
	var all struct {
		Messages, Contents, Input []json.RawMessage
		Tools                     []json.RawMessage
	}
	require.NoError(t, json.Unmarshal([]byte(body), &all))
	for _, text := range slices.Concat(all.Messages, all.Contents, all.Input) {
		var o object
		require.NoError(t, json.Unmarshal(text, &o))
		switch {
		case o["role"] == "assistant", o["role"] == "model", o["type"] == "function_call", o["type"] == "reasoning":
			q.answers = append(q.answers, string(text))
			q.calls = append(q.calls, callsIn(o)...)
		default:
			q.addResults(o)
		}
	}
	for _, text := range all.Tools {
		var o object
		require.NoError(t, json.Unmarshal(text, &o))
		q.declared = append(q.declared, namesIn(o)...)
	}
	return q
}

func callsIn(o object) (calls []wireCall) {
	if o["type"] == "function_call" {
		return []wireCall{{id: textOf(o["call_id"]), name: textOf(o["name"]), args: textOf(o["arguments"])}}
	}
	for _, c := range listOf(o["tool_calls"]) {
		f, _ := c["function"].(object)
		calls = append(calls, wireCall{id: textOf(c["id"]), name: textOf(f["name"]), args: textOf(f["arguments"])})
	}
	for _, c := range listOf(o["content"]) {
		if c["type"] == "tool_use" {
			calls = append(calls, wireCall{id: textOf(c["id"]), name: textOf(c["name"])})
		}
	}
	for _, p := range listOf(o["parts"]) {
		if f, ok := p["functionCall"].(object); ok {
			calls = append(calls, wireCall{name: textOf(f["name"])})
		}
	}
	return calls
}

// addResults adds the results in an entry, whatever the format.
func (q *wireRequest) addResults(o object) {
	add := func(result object, content, id string) {
		delete(result, content)
		q.results = append(q.results, mustJSON(result))
		q.resultOf = append(q.resultOf, wireCall{id: textOf(result[id]), name: textOf(result["name"]) + textOf(result["tool_name"])})
	}
	switch {
	case o["role"] == "tool":
		add(o, "content", "tool_call_id")
	case o["type"] == "function_call_output":
		add(o, "output", "call_id")
	}
	for _, c := range listOf(o["content"]) {
		if c["type"] == "tool_result" {
			add(c, "content", "tool_use_id")
		}
	}
	for _, p := range listOf(o["parts"]) {
		if f, ok := p["functionResponse"].(object); ok {
			add(f, "response", "id")
		}
	}
}

func namesIn(o object) (names []string) {
	if f, ok := o["function"].(object); ok {
		names = append(names, textOf(f["name"]))
	}
	for _, f := range listOf(o["functionDeclarations"]) {
		names = append(names, textOf(f["name"]))
	}
	if len(names) == 0 {
		names = append(names, textOf(o["name"]))
	}
	return names
}

func textOf(v any) string { s, _ := v.(string); return s }

func listOf(v any) (list []object) {
	items, _ := v.([]any)
	for _, x := range items {
		if o, ok := x.(object); ok {
			list = append(list, o)
		}
	}
	return list
}

// counted is a tool that counts its calls by name, for a whole conversation.
type counted struct {
	name   string
	params map[string]*schema.ParameterInfo
	runs   *callCounts
}

type callCounts struct {
	mu    sync.Mutex
	lines []string
}

func (c counted) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: c.name, Desc: "Does " + c.name + ".", ParamsOneOf: schema.NewParamsOneOfByParams(c.params)}, nil
}

func (c counted) InvokableRun(_ context.Context, args string, _ ...tool.Option) (string, error) {
	c.runs.mu.Lock()
	defer c.runs.mu.Unlock()
	c.runs.lines = append(c.runs.lines, c.name+" "+args)
	return "done", nil
}

var callParams = map[string]*schema.ParameterInfo{"name": {Type: schema.String, Required: true}, "arguments": {Type: schema.Object, Required: true}}

// hiddenCalls are the tools behind call_tool.
func hiddenCalls(runs *callCounts) []tool.BaseTool {
	text := func(required bool) *schema.ParameterInfo {
		return &schema.ParameterInfo{Type: schema.String, Required: required}
	}
	return []tool.BaseTool{
		counted{"weather__get_forecast", map[string]*schema.ParameterInfo{"city": text(true), "days": {Type: schema.Integer}}, runs},
		counted{"files__write", map[string]*schema.ParameterInfo{"path": text(true), "content": text(true)}, runs},
		counted{"files__list", map[string]*schema.ParameterInfo{"path": text(false)}, runs},
	}
}

// converse asks twice, in two processes with a stored history between. A process without the middleware has a tool
// call_tool of its own.
func converse[M adk.MessageType](
	t *testing.T, f wireFormat, build func(given) setup[M], turns []wireTurn, isStream, isOurs bool,
) (requests []wireRequest, bodies []string, ran []string) {
	t.Helper()
	server := &callServer{format: f}
	for range 2 {
		server.turns = append(append(server.turns, turns...), wireTurn{text: "It is done."})
	}
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	counts := &callCounts{}
	var history []M
	for n := range 2 {
		s := build(given{t.Context(), "a key for loopback", web.URL, nil, store.NewMemory(1 << 20)})
		require.NoError(t, s.err)
		tools := []tool.BaseTool{counted{"own", map[string]*schema.ParameterInfo{"value": {Type: schema.String}}, counts}}
		var list []adk.TypedChatModelAgentMiddleware[M]
		if isOurs {
			h, err := toolsearch.NewTyped[M](t.Context(), &toolsearch.Config{
				DynamicTools: hiddenCalls(counts), Protocol: toolsearch.SearchCall,
			})
			require.NoError(t, err)
			list = append(list, h)
		} else {
			tools = append(tools, counted{"call_tool", callParams, &callCounts{}})
		}
		agent, err := adk.NewTypedChatModelAgent(t.Context(), &adk.TypedChatModelAgentConfig[M]{
			Name: "agent", Description: "an agent", Instruction: "Help.", Model: s.model, Handlers: list,
			ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools, ExecuteSequentially: true}},
		})
		require.NoError(t, err)
		history = append(history, userText[M](fmt.Sprintf("Question %d.", n)))
		runner := adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent, EnableStreaming: isStream})
		events := runner.Run(t.Context(), slices.Clone(history))
		for ev, ok := events.Next(); ok; ev, ok = events.Next() {
			require.NoError(t, ev.Err)
			if ev.Output != nil && ev.Output.MessageOutput != nil {
				m, err := ev.Output.MessageOutput.GetMessage()
				require.NoError(t, err)
				history = append(history, m)
			}
		}
	}
	for _, body := range server.bodies {
		requests = append(requests, readRequest(t, body))
	}
	return requests, server.bodies, counts.lines
}

func userText[M adk.MessageType](text string) M {
	if _, isAgentic := any(*new(M)).(*schema.AgenticMessage); isAgentic {
		return any(schema.UserAgenticMessage(text)).(M)
	}
	return any(schema.UserMessage(text)).(M)
}

// eachWire runs a test for every adapter, in one piece and streaming.
func eachWire(
	t *testing.T, plain func(*testing.T, wireFormat, func(given) setup[*schema.Message], bool),
	agentic func(*testing.T, wireFormat, func(given) setup[*schema.AgenticMessage], bool),
) {
	for _, isStream := range []bool{false, true} {
		for name, m := range map[string]struct {
			build  func(given) setup[*schema.Message]
			format wireFormat
		}{
			"openai": {gpt, chatWire}, "claude": {claude55, messagesWire}, "gemini": {gemini3, geminiWire}, "ark": {doubao, chatWire},
			"qwen": {qwen3, chatWire}, "deepseek": {deepseek4, chatWire}, "ollama": {local, ollamaWire},
		} {
			t.Run(fmt.Sprintf("%s/streaming %v", name, isStream), func(t *testing.T) { plain(t, m.format, m.build, isStream) })
		}
		t.Run(fmt.Sprintf("agenticopenai/streaming %v", isStream), func(t *testing.T) { agentic(t, responsesWire, fullResponses, isStream) })
		t.Run(fmt.Sprintf("agenticopenai continued/streaming %v", isStream), func(t *testing.T) { agentic(t, responsesWire, responses, isStream) })
	}
}

// fullResponses sends the whole conversation in each request, where responses continues the last one.
func fullResponses(g given) setup[*schema.AgenticMessage] {
	m, err := agenticopenai.NewResponsesModel(g.ctx, &agenticopenai.ResponsesConfig{APIKey: g.key, BaseURL: g.url, Model: "gpt-6.2-sol"})
	return setup[*schema.AgenticMessage]{model: m, err: err}
}

const oddCall = `{ "arguments" : {"days":2, "city":"Oslo","x":12345678901234567890}, "Name":"Weather-get-forecast" }`

var callScripts = map[string]struct {
	turns []wireTurn
	ran   []string // in each of the two runs
}{
	"one call": {
		[]wireTurn{{"T0==", "", []wireCall{{"c0", "call_tool", `{"name":"files__list","arguments":{"path":"/srv"}}`}}}},
		[]string{`files__list {"path":"/srv"}`},
	},
	"calls in parallel beside an own tool": {
		[]wireTurn{{"T0==", "Let me see.", []wireCall{
			{"c0", "call_tool", `{"name":"files__list","arguments":{"path":"/srv"}}`},
			{"c1", "own", `{"value":"x"}`},
			{"c2", "call_tool", `{"name":"files__write","arguments":{"path":"/srv/a","content":"é \"q\""}}`},
		}}},
		[]string{`files__list {"path":"/srv"}`, `own {"value":"x"}`, `files__write {"path":"/srv/a","content":"é \"q\""}`},
	},
	"equal ids": {
		[]wireTurn{
			{"T0==", "", []wireCall{
				{"c", "call_tool", `{"name":"files__list","arguments":{"path":"/a"}}`},
				{"c", "own", `{"value":"x"}`},
				{"c", "call_tool", `{"name":"weather__get_forecast","arguments":{"city":"Oslo"}}`},
			}},
			{"T1==", "", []wireCall{{"c", "call_tool", `{"name":"files__list","arguments":{"path":"/b"}}`}}},
		},
		[]string{`files__list {"path":"/a"}`, `own {"value":"x"}`, `weather__get_forecast {"city":"Oslo"}`, `files__list {"path":"/b"}`},
	},
	"empty ids": {
		[]wireTurn{{"T0==", "", []wireCall{
			{"", "call_tool", `{"name":"files__list","arguments":{"path":"/a"}}`},
			{"", "call_tool", `{"name":"files__list","arguments":{"path":"/b"}}`},
			{"", "own", `{"value":"x"}`},
			{"", "call_tool", `{"name":"weather__get_forecast","arguments":{"city":"Oslo"}}`},
		}}},
		[]string{`files__list {"path":"/a"}`, `files__list {"path":"/b"}`, `own {"value":"x"}`, `weather__get_forecast {"city":"Oslo"}`},
	},
	"written in other ways": {
		[]wireTurn{
			{"T0==", "First.", []wireCall{
				{"c0", "call_tool", oddCall},
				{"c1", "call_tool", `{"Parameters": "{\"path\": \"\u00e9\"}", "tool": "files__list"}`},
			}},
			{"T1==", "", []wireCall{{"c2", "call_tool", `{"name":"files__list","name":"weather__get_forecast","arguments":{"city":"a"},"arguments":{"city":"b"}}`}}},
			{"T2==", "", []wireCall{{"c3", "call_tool", `{"name":"files__list","path":"/srv"}`}}},
		},
		nil,
	},
	"calls that do not run": {
		[]wireTurn{
			{"T0==", "", []wireCall{
				{"c0", "call_tool", `{"name":"files__lost","arguments":{}}`},
				{"c1", "call_tool", `{"name":"files__write","arguments":{"path":"/srv"}}`},
				{"c2", "call_tool", `{"name":"files__list","arguments":{}}`},
			}},
			{"T1==", "", []wireCall{{"c3", "call_tool", `{}`}}},
		},
		[]string{`files__list {}`},
	},
}

// Each request has the model's entries as they are without the middleware: calls, ids, order, thinking and signatures.
func TestCallTool_AdapterSendsWhatModelWrote(t *testing.T) {
	eachWire(t, sendsWhatModelWrote[*schema.Message], sendsWhatModelWrote[*schema.AgenticMessage])
}

func sendsWhatModelWrote[M adk.MessageType](t *testing.T, f wireFormat, build func(given) setup[M], isStream bool) {
	for name, script := range callScripts {
		t.Run(name, func(t *testing.T) {
			want, _, _ := converse(t, f, build, script.turns, isStream, false)
			got, bodies, ran := converse(t, f, build, script.turns, isStream, true)
			require.Len(t, got, len(want))
			for i := range got {
				require.Equal(t, want[i].answers, got[i].answers, "request %d", i)
				require.Equal(t, want[i].results, got[i].results, "request %d", i)
				requireDeclared(t, got[i])
			}
			writesAnew := strings.Contains(t.Name(), "gemini") || strings.Contains(t.Name(), "ollama") // members in any order
			if script.ran != nil && !writesAnew {
				require.Equal(t, slices.Concat(script.ran, script.ran), ran)
			}
			last := got[len(got)-1]
			isContinued := strings.Contains(t.Name(), "continued")
			if !isContinued {
				require.Len(t, last.calls, 2*len(callsOf(script.turns)))
			}
			for i, c := range last.calls {
				if f.sendsText() && !isContinued {
					require.Equal(t, callsOf(script.turns)[i%len(callsOf(script.turns))].args, c.args)
				}
			}
			require.NotContains(t, strings.Join(bodies, ""), "__einolean")
		})
	}
}

// sendsText reports whether arguments are a text on the wire, so that they keep their bytes.
func (f wireFormat) sendsText() bool {
	text := mustJSON(f.whole(wireTurn{calls: []wireCall{{"c", "t", "{}"}}}))
	return strings.Contains(text, `"arguments":"{}"`)
}

// Requests show no name that they do not declare, also where a model calls a hidden tool by its own name, or by a name
// that is nearly right or unknown.
func TestCallTool_AdapterSendsDeclaredNames(t *testing.T) {
	eachWire(t, sendsDeclaredNames[*schema.Message], sendsDeclaredNames[*schema.AgenticMessage])
}

func sendsDeclaredNames[M adk.MessageType](t *testing.T, f wireFormat, build func(given) setup[M], isStream bool) {
	for _, name := range []string{"files__list", "Files-list", "functions.files__list", "files__lost", "Own"} {
		t.Run(name, func(t *testing.T) {
			turns := []wireTurn{{"T0==", "", []wireCall{
				{"c0", name, `{"path":"/srv"}`}, {"c1", "call_tool", `{"name":"files__list","arguments":{}}`},
			}}}
			got, _, _ := converse(t, f, build, turns, isStream, true)
			for _, q := range got {
				requireDeclared(t, q)
			}
		})
	}
}

// callsOf returns the calls of the turns.
func callsOf(turns []wireTurn) (calls []wireCall) {
	for _, t := range turns {
		calls = append(calls, t.calls...)
	}
	return calls
}

// requireDeclared checks that a request declares the tools of its calls, and that call and result have the same name.
func requireDeclared(t *testing.T, q wireRequest) {
	t.Helper()
	for _, c := range q.calls {
		require.Contains(t, q.declared, c.name)
	}
	if len(q.resultOf) != len(q.calls) { // the provider continues from its own state, or Eino lost results without ids
		return
	}
	for i, r := range q.resultOf {
		require.Equal(t, q.calls[i].id, r.id)
		if r.name != "" {
			require.Equal(t, q.calls[i].name, r.name)
		}
	}
}

// The arguments of call_tool are an object of any members for every adapter. A conversion that closes it, as for strict
// schemas, would let models send only {}.
func TestCallTool_AdapterSendsOpenArguments(t *testing.T) {
	eachWire(t, sendsOpenArguments[*schema.Message], sendsOpenArguments[*schema.AgenticMessage])
}

func sendsOpenArguments[M adk.MessageType](t *testing.T, f wireFormat, build func(given) setup[M], isStream bool) {
	_, bodies, _ := converse(t, f, build, callScripts["one call"].turns, isStream, true)
	params := callToolParameters(t, bodies[0])
	t.Log(mustJSON(params))
	arguments, _ := params["properties"].(object)["arguments"].(object)
	require.Equal(t, "object", strings.ToLower(textOf(arguments["type"])))
	require.NotContains(t, arguments, "properties")
	require.NotEqual(t, false, arguments["additionalProperties"])
	require.NotEqual(t, false, params["additionalProperties"])
	require.NotContains(t, bodies[0], `"strict":true`)
}

// callToolParameters returns the schema of call_tool in a request.
func callToolParameters(t *testing.T, body string) object {
	t.Helper()
	var all struct{ Tools []object }
	require.NoError(t, json.Unmarshal([]byte(body), &all))
	var find func(o object) object
	find = func(o object) object {
		if o["name"] == "call_tool" {
			for _, key := range []string{"parameters", "input_schema", "parametersJsonSchema"} {
				if params, ok := o[key].(object); ok {
					return params
				}
			}
		}
		if f, ok := o["function"].(object); ok {
			return find(f)
		}
		for _, f := range listOf(o["functionDeclarations"]) {
			if params := find(f); params != nil {
				return params
			}
		}
		return nil
	}
	for _, o := range all.Tools {
		if params := find(o); params != nil {
			return params
		}
	}
	t.Fatalf("no call_tool in %s", body)
	return nil
}
