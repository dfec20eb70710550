// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/claude"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

// outcome is what the events of a run said.
type outcome struct {
	err     error
	results []string // of tools
}

// run runs an agent with the tool export on a model that gives the answers in turn.
func run(t *testing.T, handlers []adk.ChatModelAgentMiddleware, history []*schema.Message, answers ...*schema.Message) outcome {
	t.Helper()
	return runOn(t, &scripted{answers: answers}, handlers, history, fake{"export", exported})
}

func runOn(t *testing.T, m model.BaseChatModel, handlers []adk.ChatModelAgentMiddleware, history []*schema.Message, tools ...tool.BaseTool) (out outcome) {
	t.Helper()
	agent, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{
		Name: "agent", Description: "an agent", Model: m, Handlers: handlers,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools}},
	})
	require.NoError(t, err)
	events := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent}).Run(t.Context(), history)
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		if event.Err != nil {
			out.err = event.Err
		}
		if event.Output != nil && event.Output.MessageOutput.Role == schema.Tool {
			out.results = append(out.results, event.Output.MessageOutput.Message.Content)
		}
	}
	return out
}

// scripted is a model that gives its answers in turn.
type scripted struct{ answers []*schema.Message }

func (s *scripted) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	next := s.answers[0]
	s.answers = s.answers[1:]
	return next, nil
}

func (s *scripted) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	m, err := s.Generate(ctx, in, opts...)
	return schema.StreamReaderFromArray([]*schema.Message{m}), err
}

func says(words string) *schema.Message { return schema.AssistantMessage(words, nil) }

func calls(id, name, arguments string) *schema.Message {
	return schema.AssistantMessage("", []schema.ToolCall{{ID: id, Function: schema.FunctionCall{Name: name, Arguments: arguments}}})
}

// does is a call of a tool, with its id or other words as the arguments.
func does(id, name string, words ...string) *schema.Message {
	return calls(id, name, strings.Join(append(words, id)[:1], ""))
}

// exported is what the tool export returns.
func exported(words string) string { return words + strings.Repeat(" of 9,000 bytes", 600) }

// fake is a tool that returns what a function makes of its arguments.
type fake struct {
	name string
	do   func(arguments string) string
}

func (f fake) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: f.name, Desc: "Does " + f.name + ", such as the time.", ParamsOneOf: schema.NewParamsOneOfByParams(nil)}, nil
}

func (f fake) InvokableRun(_ context.Context, arguments string, _ ...tool.Option) (string, error) {
	return f.do(arguments), nil
}

// server answers on loopback as Anthropic's Messages API does.
type server struct {
	mu      sync.Mutex
	url     string
	answers []block
	got     []string
}

type block map[string]any

func toolUse(id, name, arguments string) block {
	return block{"type": "tool_use", "id": id, "name": name, "input": json.RawMessage(arguments)}
}

func text(words string) block { return block{"type": "text", "text": words} }

func claudeServer(t *testing.T, answers ...block) *server {
	t.Helper()
	s := &server{answers: answers}
	at := httptest.NewServer(s)
	t.Cleanup(at.Close)
	s.url = at.URL
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	answer, why := s.answers[min(len(s.got), len(s.answers)-1)], "end_turn"
	if answer["type"] == "tool_use" {
		why = "tool_use"
	}
	s.got = append(s.got, string(body))
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(block{
		"id": "msg", "type": "message", "role": "assistant", "model": "claude", "content": []block{answer}, "stop_reason": why,
		"usage": block{"input_tokens": 1, "output_tokens": 1},
	})
}

func (s *server) model(t *testing.T) model.BaseChatModel {
	t.Helper()
	m, err := claude.NewChatModel(t.Context(), &claude.Config{BaseURL: &s.url, APIKey: "key", Model: "claude", MaxTokens: 100})
	require.NoError(t, err)
	return m
}

func (s *server) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.got)
}

func (s *server) request(n int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got[n]
}
