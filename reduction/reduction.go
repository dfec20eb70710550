// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file holds the constructors and the hooks, which only delegate.

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/session"
)

// New returns the middleware for agents on *schema.Message. See [NewTyped].
func New(ctx context.Context, config *Config) (adk.ChatModelAgentMiddleware, error) {
	return NewTyped(ctx, config)
}

// NewTyped returns the middleware for agents on messages of type M. One value
// serves any number of agents and concurrent runs. The error names every field
// of the configuration that is wrong.
//
// In Handlers, it belongs behind what adds tools and before what should see its
// notices.
func NewTyped[M adk.MessageType](ctx context.Context, config *TypedConfig[M]) (adk.TypedChatModelAgentMiddleware[M], error) {
	c, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	c.contain()
	files := &offloader{}
	p := policyOf(c, files)
	m := &middleware[M]{
		TypedBaseChatModelAgentMiddleware: &adk.TypedBaseChatModelAgentMiddleware[M]{},
		readTool:                          c.ReadFileToolName,
		truncator: truncator{
			policy: p, files: files, root: c.RootDir,
			path: c.GenTruncOffloadFilePath, report: c.OnEvent,
		},
		clearer: clearer[M]{
			planner: planner{policy: p, root: c.RootDir, path: c.GenClearOffloadFilePath, minSaving: c.MinSavingBytes, report: c.OnEvent},
			cfg:     c, codec: codecFor[M](), files: files, ownCounter: config.TokenCounter == nil,
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
	clearer   clearer[M]
	readTool  string        // name of the tool that reads back
	reader    tool.BaseTool // what ProvideReadTool adds; nil: nothing
}

// BeforeAgent adds the read tool where it is wanted and missing.
func (m *middleware[M]) BeforeAgent(ctx context.Context, runCtx *adk.ChatModelAgentContext) (context.Context, *adk.ChatModelAgentContext, error) {
	if runCtx == nil || hasTool(ctx, runCtx.Tools, m.readTool) {
		return ctx, runCtx, nil
	}
	if m.reader == nil {
		return context.WithValue(ctx, unsureKey{}, true), runCtx, nil
	}
	out := *runCtx
	out.Tools = append(append([]tool.BaseTool(nil), runCtx.Tools...), m.reader)
	return ctx, &out, nil
}

// hasTool looks for a tool by name. One that cannot say its name is not the one;
// the agent itself will report it.
func hasTool(ctx context.Context, tools []tool.BaseTool, name string) bool {
	for _, t := range tools {
		if t == nil {
			continue
		}
		if info, err := t.Info(ctx); err == nil && info != nil && info.Name == name {
			return true
		}
	}
	return false
}

// BeforeModelRewriteState clears old results.
func (m *middleware[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state != nil {
		findReader(ctx, m.readTool, state.ToolInfos, state.DeferredToolInfos)
	}
	ctx, state, err := m.clearer.state(ctx, state)
	if err != nil || !m.clearer.policy.clears() {
		return ctx, state, err
	}
	return ctx, continued(m.clearer.codec, state), nil
}

// WrapModel marks the answers that a provider keeps on its server.
func (m *middleware[M]) WrapModel(_ context.Context, inner model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	if !m.clearer.policy.clears() {
		return inner, nil
	}
	return session.Marking(inner, sessionKey, func(msgs []M) string { return clearingMark(m.clearer.codec, msgs) }), nil
}

// AfterModelRewriteState notes, for the calls that the model has just made, which
// of the files that they would be given the conversation shows already.
func (m *middleware[M]) AfterModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state != nil {
		m.clearer.noteShown(ctx, state.Messages)
	}
	return ctx, state, nil
}

// WrapInvokableToolCall cuts what a tool returns as a string.
func (m *middleware[M]) WrapInvokableToolCall(_ context.Context, endpoint adk.InvokableToolCallEndpoint, tCtx *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	j, ok := m.truncator.job(tCtx)
	if !ok {
		return endpoint, nil
	}
	return func(ctx context.Context, argumentsInJSON string, opts ...tool.Option) (string, error) {
		out, err := endpoint(ctx, argumentsInJSON, opts...)
		if err != nil {
			return "", err
		}
		cut, err := m.truncator.finished(ctx, j.with(&schema.ToolArgument{Text: argumentsInJSON}), textResult(out))
		if err != nil || cut == nil {
			return out, err
		}
		return firstText(cut), nil
	}, nil
}

// WrapEnhancedInvokableToolCall cuts what a tool returns in parts.
func (m *middleware[M]) WrapEnhancedInvokableToolCall(_ context.Context, endpoint adk.EnhancedInvokableToolCallEndpoint, tCtx *adk.ToolContext) (adk.EnhancedInvokableToolCallEndpoint, error) {
	j, ok := m.truncator.job(tCtx)
	if !ok {
		return endpoint, nil
	}
	return func(ctx context.Context, toolArgument *schema.ToolArgument, opts ...tool.Option) (*schema.ToolResult, error) {
		out, err := endpoint(ctx, toolArgument, opts...)
		if err != nil {
			return nil, err
		}
		cut, err := m.truncator.finished(ctx, j.with(toolArgument), out)
		if err != nil || cut == nil {
			return out, err
		}
		return cut, nil
	}, nil
}

// WrapStreamableToolCall cuts what a tool streams as strings.
func (m *middleware[M]) WrapStreamableToolCall(_ context.Context, endpoint adk.StreamableToolCallEndpoint, tCtx *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	j, ok := m.truncator.job(tCtx)
	if !ok {
		return endpoint, nil
	}
	return func(ctx context.Context, argumentsInJSON string, opts ...tool.Option) (*schema.StreamReader[string], error) {
		out, err := endpoint(ctx, argumentsInJSON, opts...)
		if err != nil || out == nil {
			return nil, err
		}
		return streamed(ctx, &m.truncator, j.with(&schema.ToolArgument{Text: argumentsInJSON}), stringChunks{}, out)
	}, nil
}

// WrapEnhancedStreamableToolCall cuts what a tool streams in parts.
func (m *middleware[M]) WrapEnhancedStreamableToolCall(_ context.Context, endpoint adk.EnhancedStreamableToolCallEndpoint, tCtx *adk.ToolContext) (adk.EnhancedStreamableToolCallEndpoint, error) {
	j, ok := m.truncator.job(tCtx)
	if !ok {
		return endpoint, nil
	}
	return func(ctx context.Context, toolArgument *schema.ToolArgument, opts ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
		out, err := endpoint(ctx, toolArgument, opts...)
		if err != nil || out == nil {
			return nil, err
		}
		return streamed(ctx, &m.truncator, j.with(toolArgument), resultChunks{}, out)
	}, nil
}
