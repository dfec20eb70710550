// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The constructors, and the hooks, which only delegate.

import (
	"context"
	"path"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/readtool"
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
	m := &middleware[M]{

		TypedBaseChatModelAgentMiddleware: &adk.TypedBaseChatModelAgentMiddleware[M]{},
		truncator: truncator{
			policy: p, files: files, root: c.RootDir,
			generate: c.GenTruncOffloadFilePath, report: c.OnEvent, names: names,
		},
		clear: &clearPhase[M]{
			cfg: c, codec: codecFor[M](), policy: p, files: files, names: names,
			report: c.OnEvent, estimator: e,
			tracksUse: slices.ContainsFunc(files.Stores(), (*vault.Store).Cleans),
			results:   readtool.Under(path.Join(c.RootDir, vault.TruncDir), path.Join(c.RootDir, vault.ClearDir)),
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
	if state != nil && m.truncator.policy.seeksReader(ctx, m.reader != nil) {
		if err := m.checkReader(ctx, state.ToolInfos, state.DeferredToolInfos); err != nil {
			return ctx, state, err
		}
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

// AfterModelRewriteState notes, for the calls that the model has just made, which
// of the files that they would be given the conversation shows already.
func (m *middleware[M]) AfterModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state != nil {
		m.clear.noteNamedFiles(ctx, state.Messages)
		if m.clear.policy.previews {
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
