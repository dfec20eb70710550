// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package models

// Providers on loopback, one for each wire format, with a model whose answers are written in
// advance and that thinks before each.

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

type object = map[string]any

// step is one answer: a call, or else a text.
type step struct{ tool, args, text string }

// format is how a provider writes an answer, with a thought.
type format func(n int, s step, thought string) object

// provider answers with the steps, and keeps the requests.
type provider struct {
	mu     sync.Mutex
	bodies []string
	steps  []step
	format format
	http   *httptest.Server
}

func start(t *testing.T, f format, steps []step) *provider {
	p := &provider{steps: steps, format: f}
	p.http = httptest.NewServer(p)
	t.Cleanup(p.http.Close)
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.bodies)
	if err != nil || n >= len(p.steps) {
		http.Error(w, "the script is at its end", http.StatusBadRequest)
		return
	}
	p.bodies = append(p.bodies, string(body))
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(p.format(n, p.steps[n], thought(n))) // a client that is gone needs no answer
}

// thought is what the model thinks before an answer, as it stands on the wire.
func thought(n int) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "thought no. %03d", n))
}

// thoughts lists which thoughts a request holds.
func thoughts(body string) (list []int) {
	for n := range 20 {
		if strings.Contains(body, thought(n)) {
			list = append(list, n)
		}
	}
	return list
}

func chatFormat(n int, s step, thought string) object {
	m := object{"role": "assistant", "content": s.text, "reasoning_content": thought}
	reason := "stop"
	if s.tool != "" {
		reason = "tool_calls"
		m["tool_calls"] = []object{{"id": fmt.Sprintf("call_%d", n), "type": "function", "function": object{"name": s.tool, "arguments": s.args}}}
	}
	return object{"id": "c", "object": "chat.completion", "model": "m", "choices": []object{{"index": 0, "message": m, "finish_reason": reason}},
		"usage": object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
}

func messagesFormat(n int, s step, thought string) object {
	content := []object{{"type": "thinking", "thinking": "Hm.", "signature": thought}}
	reason := "end_turn"
	if s.text != "" {
		content = append(content, object{"type": "text", "text": s.text})
	}
	if s.tool != "" {
		reason = "tool_use"
		content = append(content, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", n), "name": s.tool, "input": json.RawMessage(s.args)})
	}
	return object{"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": reason, "usage": object{"input_tokens": 1, "output_tokens": 1}}
}

func responsesFormat(n int, s step, _ string) object {
	out := object{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": []object{{"type": "output_text", "text": s.text, "annotations": []object{}}}}
	switch s.tool {
	case "":
	case "tool_search":
		out = object{"type": "tool_search_call", "id": fmt.Sprintf("ts_%d", n), "call_id": fmt.Sprintf("call_%d", n), "status": "completed", "execution": "client", "arguments": json.RawMessage(s.args)}
	default:
		out = object{"type": "function_call", "id": fmt.Sprintf("fc_%d", n), "call_id": fmt.Sprintf("call_%d", n), "name": s.tool, "arguments": s.args, "status": "completed"}
	}
	return object{"id": fmt.Sprintf("resp_%d", n), "object": "response", "model": "m", "created_at": 1, "status": "completed", "output": []object{out},
		"usage": object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}
}

func geminiFormat(_ int, s step, thought string) object {
	part := object{"text": s.text}
	if s.tool != "" {
		part = object{"functionCall": object{"name": s.tool, "args": json.RawMessage(s.args)}}
	}
	part["thoughtSignature"] = thought
	return object{"candidates": []object{{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []object{part}}}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
}

func ollamaFormat(n int, s step, thought string) object {
	m := object{"role": "assistant", "content": s.text, "thinking": thought}
	if s.tool != "" {
		m["tool_calls"] = []object{{"id": fmt.Sprintf("call_%d", n), "function": object{"name": s.tool, "arguments": json.RawMessage(s.args)}}}
	}
	return object{"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": m, "done": true, "done_reason": "stop"}
}
