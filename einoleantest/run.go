// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einoleantest

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/window"
)

// Tool returns a tool without parameters that calls run with the arguments of the call,
// which are JSON. To make a tool with parameters, use Eino's utils.InferTool.
func Tool(name, desc string, run func(ctx context.Context, args string) (string, error)) tool.InvokableTool {
	return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, Desc: desc}, run).(tool.InvokableTool)
}

// Option changes how [Run] runs an agent.
type Option func(*settings)

type settings struct {
	ctx       context.Context
	streaming bool
	mayFail   bool
	history   any // of type []M
}

// Streaming lets the agent stream.
func Streaming() Option { return func(s *settings) { s.streaming = true } }

// MayFail lets the run end with an error, which is in [Outcome]. Without it, the test
// fails.
func MayFail() Option { return func(s *settings) { s.mayFail = true } }

// WithContext sets the context of the run. Without it, the run has the test's context.
func WithContext(ctx context.Context) Option { return func(s *settings) { s.ctx = ctx } }

// After puts messages before the question, such as [Outcome.Messages] of the previous
// run. They must have the agent's message type.
func After[M adk.MessageType](messages ...M) Option {
	return func(s *settings) { s.history = messages }
}

// Outcome is the outcome of a run.
type Outcome[M adk.MessageType] struct {
	Answer   string // the text of the last message
	Messages []M    // the history, the question, and what the run added; streams are joined
	Err      error  // why the run ended; only with MayFail

	// Conversation has every model call of the run as it was sent, with its parts,
	// their reasons and all texts. Package inspect makes a page of it.
	Conversation *window.Conversation

	watch *watcher[M]
}

// Run runs an agent with configuration c on a question, to the end. It adds handlers
// after those of c, and does not change c. An empty Name or Description is filled in.
func Run[M adk.MessageType](t testing.TB, c *adk.TypedChatModelAgentConfig[M], question string, options ...Option) *Outcome[M] {
	t.Helper()
	s := settings{ctx: t.Context()}
	for _, o := range options {
		o(&s)
	}
	var input []M
	if s.history != nil {
		history, ok := s.history.([]M)
		if !ok {
			t.Fatalf("einoleantest: After has messages of type %T, and the agent's are %T", s.history, input)
		}
		input = slices.Clone(history)
	}
	input = append(input, adktest.User[M](question))
	watch := &watcher[M]{TypedBaseChatModelAgentMiddleware: &adk.TypedBaseChatModelAgentMiddleware[M]{}}
	see := window.New(window.Config{Texts: window.TextsAll, Conversation: func(context.Context) (string, error) { return t.Name(), nil }})
	agent, err := adk.NewTypedChatModelAgent(s.ctx, watch.config(c, window.HandlerFor[M](see)))
	if err != nil {
		t.Fatalf("einoleantest: the agent: %v", err)
	}
	runner := adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent, EnableStreaming: s.streaming})
	out := adktest.Collect(runner.Run(s.ctx, input))
	if out.Err != nil && !s.mayFail {
		t.Fatalf("einoleantest: the run ended with: %v", out.Err)
	}
	return &Outcome[M]{Answer: out.Answer(), Messages: append(input, out.Messages...), Err: out.Err, Conversation: see.Conversation(t.Name()), watch: watch}
}

// watcher is the handler after the agent's own: it sees requests as the model gets them,
// and results as the tools return them.
type watcher[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]

	mu       sync.Mutex
	requests []Request[M]
	results  []*returned
}

// returned is what one tool returned: a text, or the texts of its parts.
type returned struct {
	tool, id string
	texts    []string
	failed   bool
}

func (w *watcher[M]) config(c *adk.TypedChatModelAgentConfig[M], last adk.TypedChatModelAgentMiddleware[M]) *adk.TypedChatModelAgentConfig[M] {
	own := *c
	if own.Name == "" {
		own.Name = "agent"
	}
	if own.Description == "" {
		own.Description = "an agent under test"
	}
	own.Handlers = append(slices.Clip(own.Handlers), w, last)
	return &own
}

// BeforeModelRewriteState keeps the request.
func (w *watcher[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if programturn.InProgramTurn(ctx) { // a program runs, and no model is asked
		return ctx, state, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, Request[M]{
		Messages: slices.Clone(state.Messages), Tools: slices.Clone(state.ToolInfos), Deferred: slices.Clone(state.DeferredToolInfos),
	})
	return ctx, state, nil
}

// began keeps a place for a result, unless no model reads it: those of the calls of a program, and the first
// one of a program, which only says that it runs.
func (w *watcher[M]) began(ctx context.Context, c *adk.ToolContext) *returned {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &returned{tool: c.Name, id: c.CallID}
	if !programturn.IsProgramCall(ctx, c.CallID) && (c.Name != toolnames.Run || programturn.ProgramsOf(ctx) == nil) {
		w.results = append(w.results, r)
	}
	return r
}

// add appends to the text at a place of a result.
func (w *watcher[M]) add(r *returned, at int, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(r.texts) <= at {
		r.texts = append(r.texts, "")
	}
	r.texts[at] += text
}

func (w *watcher[M]) fail(r *returned) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.failed = true
}

func (w *watcher[M]) parts(r *returned, result *schema.ToolResult, whole bool) {
	if result == nil {
		return
	}
	for i, p := range result.Parts {
		if p.Type != schema.ToolPartTypeText {
			continue
		}
		if !whole {
			i = 0 // chunks of one stream are one text
		}
		w.add(r, i, p.Text)
	}
}

// WrapInvokableToolCall keeps the result.
func (w *watcher[M]) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, c *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return func(ctx context.Context, args string, opts ...tool.Option) (string, error) {
		r := w.began(ctx, c)
		out, err := next(ctx, args, opts...)
		if err != nil {
			w.fail(r)
		} else {
			w.add(r, 0, out)
		}
		return out, err
	}, nil
}

// WrapStreamableToolCall keeps the chunks that are read.
func (w *watcher[M]) WrapStreamableToolCall(_ context.Context, next adk.StreamableToolCallEndpoint, c *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	return func(ctx context.Context, args string, opts ...tool.Option) (*schema.StreamReader[string], error) {
		r := w.began(ctx, c)
		out, err := next(ctx, args, opts...)
		if err != nil {
			w.fail(r)
			return nil, err
		}
		return schema.StreamReaderWithConvert(out, func(chunk string) (string, error) {
			w.add(r, 0, chunk)
			return chunk, nil
		}), nil
	}, nil
}

// WrapEnhancedInvokableToolCall keeps the texts of the parts.
func (w *watcher[M]) WrapEnhancedInvokableToolCall(_ context.Context, next adk.EnhancedInvokableToolCallEndpoint, c *adk.ToolContext) (adk.EnhancedInvokableToolCallEndpoint, error) {
	return func(ctx context.Context, args *schema.ToolArgument, opts ...tool.Option) (*schema.ToolResult, error) {
		r := w.began(ctx, c)
		out, err := next(ctx, args, opts...)
		if err != nil {
			w.fail(r)
		} else {
			w.parts(r, out, true)
		}
		return out, err
	}, nil
}

// WrapEnhancedStreamableToolCall keeps the text of the chunks that are read.
func (w *watcher[M]) WrapEnhancedStreamableToolCall(_ context.Context, next adk.EnhancedStreamableToolCallEndpoint, c *adk.ToolContext) (adk.EnhancedStreamableToolCallEndpoint, error) {
	return func(ctx context.Context, args *schema.ToolArgument, opts ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
		r := w.began(ctx, c)
		out, err := next(ctx, args, opts...)
		if err != nil {
			w.fail(r)
			return nil, err
		}
		return schema.StreamReaderWithConvert(out, func(chunk *schema.ToolResult) (*schema.ToolResult, error) {
			w.parts(r, chunk, false)
			return chunk, nil
		}), nil
	}, nil
}
