// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/store"
)

// Window is the window of a model: it refuses a request of more tokens, in the words of a provider.
type Window struct {
	Tokens int64
	Factor float64                       // what the model counts for a token that is estimated here
	Refuse func(sent, most int64) string // what its error says
}

// Refusals are words of providers. Some name the window, and some do not.
var Refusals = []func(sent, most int64) string{
	func(sent, most int64) string {
		return fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in %d tokens.", most, sent)
	},
	func(_, _ int64) string {
		return "Your input exceeds the context window of this model. Please adjust your input and try again."
	},
	func(sent, most int64) string {
		return fmt.Sprintf("prompt is too long: %d tokens > %d maximum", sent, most)
	},
	func(_, _ int64) string { return "Total tokens of image and text exceed max message tokens." },
	func(sent, most int64) string {
		return fmt.Sprintf("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", sent, most)
	},
	func(_, _ int64) string { return "Prompt exceeds max length" },
	func(_, most int64) string { return fmt.Sprintf("Range of input length should be [1, %d]", most) },
	func(_, _ int64) string { return "the input length exceeds the context length" },
}

// Ending is how a run ended.
type Ending struct {
	Answered bool  // every question, as it was recorded
	Refused  int   // requests
	Err      error // of the run that ended without an answer
}

// End tells how a conversation ends if an agent has it again, with a policy and a model that has a
// window: the model answers what it answered, and the tools return what they returned. Each question
// begins with what the runs before it have said, as an application has it from their events.
func (c *Conversation) End(ctx context.Context, p Policy, w Window) (Ending, error) {
	files := store.NewMemory(1 << 40)
	handler, err := p.New(ctx, files, defaultTrigger)
	if err != nil {
		return Ending{}, fmt.Errorf("replay: %s: %w", p.Name, err)
	}
	a := windowModel{window: w, tokens: map[string]int64{}, results: map[string]*schema.Message{}}
	config := &adk.ChatModelAgentConfig{Name: "replay", Description: "replays", Model: &a, MaxIterations: 1 << 20,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: a.tools(c)}}}
	if handler != nil {
		config.Handlers = []adk.ChatModelAgentMiddleware{handler}
	}
	agent, err := adk.NewChatModelAgent(ctx, config)
	if err != nil {
		return Ending{}, fmt.Errorf("replay: %s: %w", p.Name, err)
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent})
	var history []*schema.Message
	for _, m := range c.msgs {
		switch m.Role {
		case schema.Assistant:
			a.script = append(a.script, m)
			if len(m.ToolCalls) > 0 {
				continue
			}
			if history, err = a.runQuestion(ctx, runner, history); err != nil {
				return Ending{Refused: a.rejections, Err: err}, ctx.Err()
			}
		case schema.Tool:
		default:
			history = append(history, m)
		}
	}
	return Ending{Answered: len(a.script) == 0, Refused: a.rejections}, nil
}

// windowModel is the model of such an agent.
type windowModel struct {
	window     Window
	script     []*schema.Message // the answers that are left of a question
	results    map[string]*schema.Message
	tokens     map[string]int64 // of texts
	rejections int
}

// tools return what was recorded, by the id of the call.
func (a *windowModel) tools(c *Conversation) (all []tool.BaseTool) {
	known := map[string]bool{}
	for _, m := range c.msgs {
		if m.Role == schema.Tool {
			a.results[m.ToolCallID] = m
		}
		for _, tc := range m.ToolCalls {
			if name := tc.Function.Name; !known[name] {
				known[name] = true
				all = append(all, recordedTool{stub{&schema.ToolInfo{Name: name}}, a.results})
			}
		}
	}
	return all
}

// recordedTool is a tool that returns what it returned.
type recordedTool struct {
	stub
	results map[string]*schema.Message
}

func (r recordedTool) InvokableRun(ctx context.Context, _ string, _ ...tool.Option) (string, error) {
	if m := r.results[compose.GetToolCallID(ctx)]; m != nil {
		return m.Content, nil
	}
	return "", errors.New("replay: this call was not recorded")
}

// runQuestion has the agent answer a question, and returns the history with what it said.
func (a *windowModel) runQuestion(ctx context.Context, runner *adk.Runner, history []*schema.Message) ([]*schema.Message, error) {
	events := runner.Run(ctx, slices.Clone(history))
	for {
		e, ok := events.Next()
		switch {
		case !ok:
			return history, nil
		case e.Err != nil:
			return history, e.Err
		case e.Output != nil && e.Output.MessageOutput != nil:
			m, err := e.Output.MessageOutput.GetMessage()
			if err != nil {
				return history, err
			}
			history = append(history, m)
		}
	}
}

// Generate refuses a request that is too long, and answers others as was recorded.
func (a *windowModel) Generate(_ context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	n := definedTokens(definitionsOf(model.GetCommonOptions(&model.Options{}, opts...).Tools))
	for _, m := range in {
		n += a.count(m)
	}
	if n = int64(float64(n) * a.window.Factor); n > a.window.Tokens {
		a.rejections++
		return nil, errors.New(a.window.Refuse(n, a.window.Tokens))
	}
	if len(a.script) == 0 {
		return nil, errUnrecorded
	}
	answer := *a.script[0]
	a.script = a.script[1:]
	return &answer, nil
}

// count counts a message. Each text is counted once.
func (a *windowModel) count(m *schema.Message) int64 {
	key := m.Content
	for _, tc := range m.ToolCalls {
		key += tc.Function.Arguments
	}
	n, ok := a.tokens[key]
	if !ok {
		n = Tokens(m)
		a.tokens[key] = n
	}
	return n
}

// Stream is not asked for.
func (a *windowModel) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return nil, errors.New("replay: this model does not stream")
}
