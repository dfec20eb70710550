// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The constructors and the hooks, which only delegate, and all else that depends on the
// version of Eino: the contexts and the state of a run, and the run-local values with which
// one hook tells another something. Messages are the affair of the codecs.

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/session"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

// New returns the middleware for agents on *schema.Message. See [NewTyped].
func New(ctx context.Context, config *Config) (adk.ChatModelAgentMiddleware, error) {
	return NewTyped(ctx, config)
}

// NewTyped returns the middleware for agents on messages of type M. One value
// serves any number of agents and concurrent runs. The error joins
// a [leanctx.FieldError] for each field of the configuration that is wrong.
//
// In Handlers, place it after handlers that add tools and before handlers that should
// see its notices.
func NewTyped[M adk.MessageType](ctx context.Context, config *TypedConfig[M]) (adk.TypedChatModelAgentMiddleware[M], error) {
	c, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	c.contain()
	files, names := vault.New(showable, inMemory), newStoredNames(c.RootDir)
	var own *estimator[M]
	if c.TokenCounter == nil {
		own = newEstimator[M]()
		c.TokenCounter = own.counter
	}
	p := policyOf(c, files)
	p.named = config.ReadFileToolName != "" || config.ProvideReadTool
	m := &middleware[M]{
		asks:                              previewsAny(c),
		TypedBaseChatModelAgentMiddleware: &adk.TypedBaseChatModelAgentMiddleware[M]{},
		truncator: truncator{
			policy: p, files: files, root: c.RootDir,
			generate: c.GenTruncOffloadFilePath, report: c.OnEvent, names: names,
		},
		clear: &clearPhase[M]{
			cfg: c, codec: codecFor[M](), policy: p, files: files, names: names,
			report: c.OnEvent, own: own,
			marks: slices.ContainsFunc(files.Stores(), (*vault.Store).Cleans),
		},
	}
	if c.ProvideReadTool {
		if m.reader, err = m.newReader(ctx, c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// middleware implements the hooks. It never changes after NewTyped.
type middleware[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	truncator truncator
	clear     *clearPhase[M]
	asks      bool      // results have a Preview, which gets a question
	reader    *provided // what ProvideReadTool adds; nil: nothing
}

// BeforeAgent adds the read tool where it is wanted and missing.
func (m *middleware[M]) BeforeAgent(ctx context.Context, runCtx *adk.ChatModelAgentContext) (context.Context, *adk.ChatModelAgentContext, error) {
	if runCtx == nil {
		return ctx, runCtx, nil
	}
	tools, found, err := m.withReader(ctx, runCtx.Tools)
	if err != nil {
		return ctx, runCtx, err
	}
	ctx = m.truncator.policy.begin(ctx, found)
	if m.reader == nil {
		return ctx, runCtx, nil
	}
	return ctx, withTools(runCtx, tools), nil
}

// BeforeModelRewriteState clears old results.
func (m *middleware[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state != nil {
		if err := m.look(ctx, state.ToolInfos, state.DeferredToolInfos); err != nil {
			return ctx, state, err
		}
	}
	ctx, state, err := m.clear.state(ctx, state)
	if err != nil || state == nil || !m.clear.policy.clears() || !session.Any(state.Messages) {
		return ctx, state, err
	}
	return ctx, continued(m.clear.codec, state), nil
}

// WrapModel marks the answers that a provider keeps on its server.
func (m *middleware[M]) WrapModel(_ context.Context, inner model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	if !m.clear.policy.clears() {
		return inner, nil
	}
	return session.Marking(inner, sessionKey, func(msgs []M) string { return clearingMark(m.clear.codec, msgs) }), nil
}

// AfterModelRewriteState notes, for the calls that the model has just made, which
// of the files that they would be given the conversation shows already.
func (m *middleware[M]) AfterModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state != nil {
		m.clear.noteNamedFiles(ctx, state.Messages)
		if m.asks {
			m.clear.noteQuestion(ctx, state.Messages)
		}
		if m.reader != nil {
			m.clear.noteReadable(ctx, state.Messages)
		}
	}
	return ctx, state, nil
}

// WrapInvokableToolCall cuts what a tool returns as a string.
func (m *middleware[M]) WrapInvokableToolCall(ctx context.Context, endpoint adk.InvokableToolCallEndpoint, tCtx *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	info, ok := m.truncator.info(ctx, tCtx)
	if !ok {
		return endpoint, nil
	}
	return func(ctx context.Context, argumentsInJSON string, opts ...tool.Option) (string, error) {
		out, err := endpoint(ctx, argumentsInJSON, opts...)
		if err != nil {
			return "", err
		}
		cut, err := m.truncator.finished(ctx, info.with(&schema.ToolArgument{Text: argumentsInJSON}), textResult(out))
		if err != nil || cut == nil {
			return out, err
		}
		return firstText(cut), nil
	}, nil
}

// WrapEnhancedInvokableToolCall cuts what a tool returns in parts.
func (m *middleware[M]) WrapEnhancedInvokableToolCall(ctx context.Context, endpoint adk.EnhancedInvokableToolCallEndpoint, tCtx *adk.ToolContext) (adk.EnhancedInvokableToolCallEndpoint, error) {
	info, ok := m.truncator.info(ctx, tCtx)
	if !ok {
		return endpoint, nil
	}
	return func(ctx context.Context, toolArgument *schema.ToolArgument, opts ...tool.Option) (*schema.ToolResult, error) {
		out, err := endpoint(ctx, toolArgument, opts...)
		if err != nil {
			return nil, err
		}
		cut, err := m.truncator.finished(ctx, info.with(toolArgument), out)
		if err != nil || cut == nil {
			return out, err
		}
		return cut, nil
	}, nil
}

// WrapStreamableToolCall cuts what a tool streams as strings.
func (m *middleware[M]) WrapStreamableToolCall(ctx context.Context, endpoint adk.StreamableToolCallEndpoint, tCtx *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	info, ok := m.truncator.info(ctx, tCtx)
	if !ok {
		return endpoint, nil
	}
	return func(ctx context.Context, argumentsInJSON string, opts ...tool.Option) (*schema.StreamReader[string], error) {
		out, err := endpoint(ctx, argumentsInJSON, opts...)
		if err != nil || out == nil {
			return nil, err
		}
		return wrapStream(ctx, &m.truncator, info.with(&schema.ToolArgument{Text: argumentsInJSON}), stringChunks{}, out)
	}, nil
}

// WrapEnhancedStreamableToolCall cuts what a tool streams in parts.
func (m *middleware[M]) WrapEnhancedStreamableToolCall(ctx context.Context, endpoint adk.EnhancedStreamableToolCallEndpoint, tCtx *adk.ToolContext) (adk.EnhancedStreamableToolCallEndpoint, error) {
	info, ok := m.truncator.info(ctx, tCtx)
	if !ok {
		return endpoint, nil
	}
	return func(ctx context.Context, toolArgument *schema.ToolArgument, opts ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
		out, err := endpoint(ctx, toolArgument, opts...)
		if err != nil || out == nil {
			return nil, err
		}
		return wrapStream(ctx, &m.truncator, info.with(toolArgument), resultChunks{}, out)
	}, nil
}

// withMessages returns a copy of a state that has other messages.
func withMessages[M adk.MessageType](state *adk.TypedChatModelAgentState[M], msgs []M) *adk.TypedChatModelAgentState[M] {
	out := *state
	out.Messages = msgs
	return &out
}

// withTools returns a copy of a run's context that has other tools.
func withTools(run *adk.ChatModelAgentContext, tools []tool.BaseTool) *adk.ChatModelAgentContext {
	out := *run
	out.Tools = tools
	return &out
}

// begunKey holds, in the context of a run, what one middleware saw at its start.
type begunKey struct{ of *policy }

type begun struct {
	reader reading
	looked atomic.Bool // at the tools of the first model call
	counts counted

	referred atomic.Bool  // the whole history was searched for repeats
	marked   atomic.Int64 // when files were marked as used, in seconds
	fitted   atomic.Bool  // all rounds keep to their share of the window
}

// texts is what the run knows of the texts of its messages; nil outside of a run.
func (b *begun) texts() *counted {
	if b == nil {
		return nil
	}
	return &b.counts
}

// begin notes, in the context of a run, what its agent has for a read tool.
func (p *policy) begin(ctx context.Context, found reading) context.Context {
	return context.WithValue(ctx, begunKey{p}, &begun{reader: found})
}

func (p *policy) begun(ctx context.Context) *begun {
	b, _ := ctx.Value(begunKey{p}).(*begun)
	return b
}

// Keys of run-local values, which survive an interrupt. Outside of a run there are
// none, and nothing is kept.
const (
	shownKey    = "__leanctx_reduction_shown__"    // files that the conversation shows and that calls of this round would otherwise be given
	readableKey = "__leanctx_reduction_readable__" // files outside of the default roots that calls of this round may read
	questionKey = "__leanctx_reduction_question__" // what the user and the model said last
	readerKey   = "__leanctx_reduction_reader__"   // and the tool's name: which reading was found among the tools of a model call
)

// runText returns the text under a key.
func runText(ctx context.Context, key string) (text string, ok bool) {
	v, ok, err := adk.GetRunLocalValue(ctx, key)
	if err != nil || !ok {
		return "", false
	}
	text, ok = v.(string)
	return text, ok
}

func setRunText(ctx context.Context, key, text string) { _ = adk.SetRunLocalValue(ctx, key, text) }

// runNames returns the names under a key.
func runNames(ctx context.Context, key string) []string {
	v, ok, err := adk.GetRunLocalValue(ctx, key)
	if err != nil || !ok {
		return nil
	}
	names, _ := v.([]string)
	return names
}

// setRunNames keeps names for the calls that follow.
func setRunNames(ctx context.Context, key string, names []string) {
	if len(names) == 0 {
		_ = adk.DeleteRunLocalValue(ctx, key)
		return
	}
	_ = adk.SetRunLocalValue(ctx, key, names)
}
