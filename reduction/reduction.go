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

	"github.com/leanctx/leanctx/internal/adkrun"
	"github.com/leanctx/leanctx/internal/readtool"
	"github.com/leanctx/leanctx/internal/virtual"
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
	files := vault.New(showable)
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
	clear := &clearer[M]{
		cfg: c, codec: codecFor[M](), policy: p, files: files, names: names, report: c.OnEvent, estimator: e,
		results: readtool.Under(path.Join(c.RootDir, vault.TruncDir), path.Join(c.RootDir, vault.ClearDir)),
	}
	return adkrun.New(&middleware[M]{
		TypedBaseChatModelAgentMiddleware: &adk.TypedBaseChatModelAgentMiddleware[M]{},

		readers: readers,
		truncator: truncator{
			policy: p, files: files, root: c.RootDir,
			generate: c.GenTruncOffloadFilePath, report: c.OnEvent, names: names,
		},
		clear: clear,
		notes: callNotes[M]{clear},
	}), nil
}

// middleware implements the hooks. It is immutable after NewTyped.
type middleware[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	readers   readers
	truncator truncator
	clear     *clearer[M]
	notes     callNotes[M]
}

// Begin adds the read tool if the configuration asks for one and the agent has none.
func (m *middleware[M]) Begin(ctx context.Context, run *adkrun.Run) (context.Context, error) {
	if run == nil {
		return ctx, nil
	}
	tools, found, err := m.readers.withReader(ctx, run.Tools)
	if err != nil {
		return ctx, err
	}
	ctx = m.truncator.policy.begin(ctx, found)
	if m.readers.ours != nil {
		ctx = virtual.WithResults(ctx, m.readers.ours)
		run.Tools = tools
	}
	return ctx, nil
}

// BeforeModelRewriteState clears old results.
func (m *middleware[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state != nil && m.truncator.policy.seeksReader(ctx, m.readers.ours != nil) {
		if err := m.readers.checkReader(ctx, state.ToolInfos, state.DeferredToolInfos); err != nil {
			return ctx, state, err
		}
	}
	if state != nil {
		msgs, isVirtual, err := virtual.Settle(ctx, state.Messages)
		if err != nil {
			return ctx, state, err
		}
		if !slices.Equal(msgs, state.Messages) {
			state = withMessages(state, msgs)
		}
		if isVirtual {
			return ctx, state, nil
		}
		m.notes.markUsed(ctx, msgs)
	}
	return m.clear.state(ctx, state)
}

// WrapModel keeps what a provider ties an answer to in step with what was cleared.
func (m *middleware[M]) WrapModel(_ context.Context, inner model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	if !m.clear.policy.clears {
		return inner, nil
	}
	return m.clear.keeper().Model(inner), nil
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
