// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package models

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/prices"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

// says is a tool that answers with a text.
type says struct{ name, text string }

func (s says) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: s.name, Desc: "Says what the " + s.name + " is.", ParamsOneOf: schema.NewParamsOneOfByParams(
		map[string]*schema.ParameterInfo{"value": {Type: schema.String, Desc: "what for"}})}, nil
}

func (s says) InvokableRun(_ context.Context, args string, _ ...tool.Option) (string, error) {
	return s.text + " for " + args, nil
}

// library is many tools, so that they are hidden.
func library() (list []tool.BaseTool) {
	for i := range 200 {
		list = append(list, says{fmt.Sprintf("gauge_%03d", i), strings.Repeat("steady ", 20)})
	}
	return append(list, says{"weather", "sunny"})
}

// inTest is what a program has in a test.
func inTest(t *testing.T, p *provider) given {
	return given{t.Context(), "a key for loopback", p.http.URL, library(), store.NewMemory(1 << 24)}
}

// answer runs an agent with the tool read of its own, and returns the last thing that it said.
func answer[M adk.MessageType](t *testing.T, s setup[M], handlers ...adk.TypedChatModelAgentMiddleware[M]) string {
	t.Helper()
	require.NoError(t, s.err)
	agent, err := adk.NewTypedChatModelAgent(t.Context(), &adk.TypedChatModelAgentConfig[M]{
		Name: "agent", Description: "an agent", Instruction: "Help.", Model: s.model, Handlers: handlers, MaxIterations: 20,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{says{"read", strings.Repeat("lorem ipsum ", 500)}}}},
	})
	require.NoError(t, err)
	var question any = schema.UserMessage("Please read, and tell me about the weather.")
	if _, agentic := any(*new(M)).(*schema.AgenticMessage); agentic {
		question = schema.UserAgenticMessage("Please read, and tell me about the weather.")
	}
	last := ""
	events := adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent}).Run(t.Context(), []M{question.(M)})
	for ev, ok := events.Next(); ok; ev, ok = events.Next() {
		require.NoError(t, ev.Err)
		if ev.Output != nil && ev.Output.MessageOutput != nil {
			m, err := ev.Output.MessageOutput.GetMessage()
			require.NoError(t, err)
			last = fmt.Sprint(m)
		}
	}
	return last
}

// handlers are both middlewares.
func handlers[M adk.MessageType](t *testing.T, s setup[M]) []adk.TypedChatModelAgentMiddleware[M] {
	t.Helper()
	require.NoError(t, s.err)
	search, err := toolsearch.NewTyped[M](t.Context(), s.search)
	require.NoError(t, err)
	reduce, err := reduction.NewTyped(t.Context(), s.reduce)
	require.NoError(t, err)
	return []adk.TypedChatModelAgentMiddleware[M]{search, reduce}
}

// called is how the model calls a tool that it found.
func called[M adk.MessageType](s setup[M]) step {
	if s.search.Protocol == toolsearch.SearchCall {
		return step{tool: "call_tool", args: `{"name":"weather","arguments":{"value":"Rome"}}`}
	}
	return step{tool: "weather", args: `{"value":"Rome"}`}
}

func find() step { return step{tool: "tool_search", args: `{"query":"select:weather"}`} }
func read() step { return step{tool: "read", args: `{"value":"page"}`} }
func end() step  { return step{text: "It is sunny."} }

// each runs a test for every model of the page.
func each(t *testing.T, plain func(*testing.T, format, func(given) setup[*schema.Message]), agentic func(*testing.T, format, func(given) setup[*schema.AgenticMessage])) {
	for name, m := range map[string]struct {
		make   func(given) setup[*schema.Message]
		format format
	}{
		"gpt": {gpt, chatFormat}, "claude55": {claude55, messagesFormat}, "claude5": {claude5, messagesFormat}, "gemini3": {gemini3, geminiFormat},
		"doubao": {doubao, chatFormat}, "qwen3": {qwen3, chatFormat}, "deepseek4": {deepseek4, chatFormat}, "kimi": {kimi, chatFormat},
		"glm": {glm, chatFormat}, "vllm": {vllm, chatFormat}, "local": {local, ollamaFormat},
	} {
		t.Run(name, func(t *testing.T) { plain(t, m.format, m.make) })
	}
	t.Run("responses", func(t *testing.T) { agentic(t, responsesFormat, responses) })
}

func TestModels_FindAndCallATool(t *testing.T) {
	each(t, finds[*schema.Message], finds[*schema.AgenticMessage])
}

func finds[M adk.MessageType](t *testing.T, f format, build func(given) setup[M]) {
	p := start(t, f, nil)
	s := build(inTest(t, p))
	s.search.Prefetch = 0 // the model searches
	p.steps = []step{read(), find(), called(s), end()}
	require.Contains(t, answer(t, s, handlers(t, s)...), "It is sunny.")
	require.Len(t, p.bodies, 4)
	require.Contains(t, p.bodies[3], "sunny for ")
	require.NotContains(t, p.bodies[0], "gauge_199", "hidden")
	for _, body := range p.bodies {
		requireFreeChoice(t, body)
	}
}

// requireFreeChoice checks that nothing forces the model to call a tool.
func requireFreeChoice(t *testing.T, body string) {
	t.Helper()
	var q object
	require.NoError(t, json.Unmarshal([]byte(body), &q))
	for _, key := range []string{"tool_choice", "toolConfig", "tool_config", "function_call"} {
		if choice, ok := q[key]; ok {
			text, err := json.Marshal(choice)
			require.NoError(t, err)
			require.Contains(t, strings.ToLower(string(text)), "auto", body)
		}
	}
}

// A model's thinking returns byte for byte as without the middlewares, whatever is truncated, cleared or
// rewritten. Only Claude's is left out after a change.
func TestModels_ReductionKeepsThinking(t *testing.T) {
	each(t, keeps[*schema.Message], func(*testing.T, format, func(given) setup[*schema.AgenticMessage]) {})
}

func keeps[M adk.MessageType](t *testing.T, f format, build func(given) setup[M]) {
	steps := []step{read(), read(), read(), read(), read(), end()}
	bare := start(t, f, steps)
	answer(t, build(inTest(t, bare)))
	p := start(t, f, steps)
	s := build(inTest(t, p))
	s.reduce.MaxTokensForClear, s.reduce.ClearTargetTokens, s.reduce.ClearAtLeastTokens = 1500, 0, 0
	s.reduce.MaxLengthForTrunc, s.reduce.DedupeResults, s.reduce.MaxArgumentBytes = 4000, true, 1
	answer(t, s, handlers(t, s)...)
	require.Len(t, p.bodies, len(bare.bodies))
	last := p.bodies[len(p.bodies)-1]
	require.NotEqual(t, strings.Count(bare.bodies[5], "lorem"), strings.Count(last, "lorem"), "results were cut or cleared")
	for i, body := range p.bodies {
		requireFreeChoice(t, body)
		if strings.HasPrefix(t.Name(), "TestModels_ReductionKeepsThinking/claude") {
			require.Subset(t, thoughts(bare.bodies[i]), thoughts(body))
			continue
		}
		require.Equal(t, thoughts(bare.bodies[i]), thoughts(body), "request %d", i)
	}
	switch t.Name()[strings.LastIndex(t.Name(), "/")+1:] {
	case "deepseek4", "gemini3":
		require.Equal(t, []int{0, 1, 2, 3, 4}, thoughts(last), "the provider needs all of them")
	}
}

// The page shows the lines of models.go and the prices of the data file.
func TestModelsPage_ShowsCodeAndPrices(t *testing.T) {
	source, err := os.ReadFile("models.go")
	require.NoError(t, err)
	text, err := os.ReadFile("../../docs/models.md")
	require.NoError(t, err)
	page := string(text)
	blocks := regexp.MustCompile(`(?s)\n\t(// [^\n]*\n\t.*?)\n\treturn setup`).FindAllStringSubmatch(string(source), -1)
	require.Len(t, blocks, 12)
	for _, b := range blocks {
		require.Contains(t, page, "```go\n"+strings.ReplaceAll(b[1], "\n\t", "\n")+"\n```\n")
	}
	require.Contains(t, page, prices.Read())
	chinese, err := os.ReadFile("../../docs/zh/models.md")
	require.NoError(t, err)
	for _, p := range prices.All() {
		row := fmt.Sprintf("| %s | %s | %s | %v / %v / %v / %v | %v |", p.Provider, p.Model, thousands(p.Window), p.Input, p.Cached, p.Written, p.Output, p.Hit())
		require.Contains(t, page, row)
		require.Contains(t, string(chinese), row)
	}
}

func thousands(n int) string { return fmt.Sprintf("%dk", n/1000) }
