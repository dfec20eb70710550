// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The constructors and the hooks, with the order of their work before a model call.

import (
	"context"
	"path"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/readtool"
	"github.com/leanctx/leanctx/internal/safe"
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
	files := vault.New(showable, inMemory)
	var names *storedNames
	if c.ProvideReadTool {
		names = newStoredNames(c.RootDir)
	}
	var e *estimator[M]
	if c.TokenCounter == nil {
		e = newEstimator[M]()
		c.TokenCounter = e.counter
	}
	p := policyOf(c, files)
	p.named = config.ReadFileToolName != "" || config.ProvideReadTool
	readers, err := newReaders(ctx, c, p, files.Stores(), names)
	if err != nil {
		return nil, err
	}
	codec := codecFor[M]()
	return &middleware[M]{
		TypedBaseChatModelAgentMiddleware: &adk.TypedBaseChatModelAgentMiddleware[M]{},

		readers: readers,
		truncator: truncator{
			policy: p, files: files, root: c.RootDir,
			generate: c.GenTruncOffloadFilePath, report: c.OnEvent, names: names,
		},
		clear: &clearPhase[M]{
			cfg: c, codec: codec, policy: p, files: files, names: names, report: c.OnEvent, estimator: e,
			results: readtool.Under(path.Join(c.RootDir, vault.TruncDir), path.Join(c.RootDir, vault.ClearDir)),
		},
		notes: callNotes[M]{
			cfg: c, codec: codec, policy: p, files: files, names: names,
			tracksUse: slices.ContainsFunc(files.Stores(), (*vault.Store).Cleans),
		},
	}, nil
}

// middleware implements the hooks. It is immutable after NewTyped.
type middleware[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	readers   readers
	truncator truncator
	clear     *clearPhase[M]
	notes     callNotes[M]
}

// BeforeAgent adds the read tool if the configuration asks for one and the agent has none.
func (m *middleware[M]) BeforeAgent(ctx context.Context, runCtx *adk.ChatModelAgentContext) (context.Context, *adk.ChatModelAgentContext, error) {
	if runCtx == nil {
		return ctx, runCtx, nil
	}
	tools, found, err := m.readers.withReader(ctx, runCtx.Tools)
	if err != nil {
		return ctx, runCtx, err
	}
	ctx = m.truncator.policy.begin(ctx, found)
	if m.readers.ours == nil {
		return ctx, runCtx, nil
	}
	return ctx, withTools(runCtx, tools), nil
}

// BeforeModelRewriteState clears old results.
func (m *middleware[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state != nil && m.truncator.policy.seeksReader(ctx, m.readers.ours != nil) {
		if err := m.readers.checkReader(ctx, state.ToolInfos, state.DeferredToolInfos); err != nil {
			return ctx, state, err
		}
	}
	if state != nil {
		m.notes.markUsed(ctx, state.Messages)
	}
	ctx, state, err := m.clear.state(ctx, state)
	if err != nil || state == nil || !m.clear.policy.clears || !session.Any(state.Messages) {
		return ctx, state, err
	}
	return ctx, continued(m.clear.codec, state), nil
}

// WrapModel marks the answers that a provider keeps on its server.
func (m *middleware[M]) WrapModel(_ context.Context, inner model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	if !m.clear.policy.clears {
		return inner, nil
	}
	return session.Marking(inner, sessionKey, func(msgs []M) string { return requestMark(m.clear.codec, msgs) }), nil
}

// AfterModelRewriteState notes for the calls that the model has just made what they need to
// know of the conversation.
func (m *middleware[M]) AfterModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state != nil {
		m.notes.note(ctx, state.Messages)
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

// state returns the state that the model call should see, the given one if there is nothing
// to do.
func (c *clearPhase[M]) state(ctx context.Context, state *adk.TypedChatModelAgentState[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state == nil || !c.policy.clears {
		return ctx, state, nil
	}
	out, err := c.reduced(ctx, state)
	if err != nil || out == state {
		return ctx, state, err
	}
	next, err := c.cfg.postProcess(ctx, out)
	if err != nil {
		return ctx, state, err
	}
	return next, out, nil
}

// postProcess calls ClearPostProcess, which has no error of its own.
func (c *TypedConfig[M]) postProcess(ctx context.Context, state *adk.TypedChatModelAgentState[M]) (context.Context, error) {
	if c.ClearPostProcess == nil {
		return ctx, nil
	}
	next, err := safe.Value("ClearPostProcess", func() (context.Context, error) { return c.ClearPostProcess(ctx, state), nil })
	if err != nil || next == nil {
		return ctx, err
	}
	return next, nil
}

// reduced returns a state with old results cleared. If configured, rounds also keep to
// their share of the window, references replace repeats, and the whole fits the window.
func (c *clearPhase[M]) reduced(ctx context.Context, state *adk.TypedChatModelAgentState[M]) (*adk.TypedChatModelAgentState[M], error) {
	out, err := state, error(nil)
	if c.cfg.WindowTokens > 0 {
		if out, err = c.fitRounds(ctx, out); err != nil {
			return nil, err
		}
	}
	count, factor, err := c.countTokens(ctx, out)
	if err != nil {
		return nil, err
	}
	if c.cfg.ReferToRepeats {
		clears, before := count >= c.cfg.MaxTokensForClear, out
		if out, err = c.refer(ctx, out, clears); err != nil {
			return nil, err
		}
		if out != before && clears {
			if count, factor, err = c.countTokens(ctx, out); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case count >= c.cfg.MaxTokensForClear:
		out, err = c.runPass(ctx, c.pass(ctx, out, count, factor), out)
	case c.cfg.CachedPrice > 0:
		out, err = c.early(ctx, out, count, factor)
	}
	if err != nil {
		return nil, err
	}
	if c.cfg.WindowTokens > 0 && count > c.cfg.WindowTokens && !c.cfg.SkipClear {
		return c.within(ctx, out)
	}
	return out, nil
}

// early returns a state with old results cleared if that breaks even under CachedPrice. It
// decides by the messages alone.
func (c *clearPhase[M]) early(ctx context.Context, state *adk.TypedChatModelAgentState[M], count int64, factor float64) (*adk.TypedChatModelAgentState[M], error) {
	if c.cfg.SkipClear {
		return state, nil
	}
	p := c.pass(ctx, state, count, factor)
	p.early = true
	p.listed = p.list(ctx)
	if !p.planner.breaksEven(p.listed) {
		return state, nil
	}
	return c.runPass(ctx, p, state)
}
