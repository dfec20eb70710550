// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The constructors and the hooks: the order of the work.

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/emptyresult"
	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/reduction/internal/digest"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/truncate"
)

// New returns the middleware for agents on *schema.Message. See [NewTyped].
func New(ctx context.Context, config *Config) (adk.ChatModelAgentMiddleware, error) {
	return NewTyped(ctx, config)
}

// NewTyped returns the middleware for agents on messages of type M. One value
// serves any number of agents and concurrent runs. The error joins
// a [einolean.FieldError] for each field of the configuration that is wrong.
//
// In Handlers, place it after handlers that add tools and before handlers that should
// see its notices.
func NewTyped[M adk.MessageType](ctx context.Context, config *TypedConfig[M]) (adk.TypedChatModelAgentMiddleware[M], error) {
	c, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	c.recoverCallbacks()
	m := &middleware[M]{
		TypedBaseChatModelAgentMiddleware: &adk.TypedBaseChatModelAgentMiddleware[M]{},

		settings: policyOf(c, config.ReadFileToolName != ""),
	}
	return einorun.New(m), nil
}

// middleware implements the hooks.
type middleware[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	*settings[M]
}

// Begin adds the read tool if the configuration asks for one and the agent has none.
func (m *middleware[M]) Begin(ctx context.Context, rc *einorun.RunContext) (context.Context, error) {
	if rc == nil {
		return ctx, nil
	}
	next, tools, err := m.reader.Begin(ctx, rc.Tools)
	if err != nil {
		return ctx, err
	}
	rc.Tools = tools
	return context.WithValue(next, m.settings, &run{}), nil
}

// BeforeModelRewriteState clears old results.
func (m *middleware[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state == nil {
		return ctx, state, nil
	}
	run, inRun := m.runOf(ctx)
	run.refused.Store(false)
	yields, err := m.reader.Check(ctx, state.ToolInfos, state.DeferredToolInfos)
	if err != nil {
		return ctx, state, err
	}
	if yields {
		next := *state
		next.ToolInfos, next.DeferredToolInfos = m.reader.Without(state.ToolInfos), m.reader.Without(state.DeferredToolInfos)
		state = &next
	}
	if programturn.InProgramTurn(ctx) {
		return ctx, state, nil
	}
	if inRun {
		m.markUsed(ctx, run, state.Messages)
	}
	if !m.clears {
		return ctx, state, nil
	}
	out, err := m.reduced(ctx, state)
	if err != nil {
		return ctx, state, err
	}
	if out == state || m.ClearPostProcess == nil {
		return ctx, out, nil
	}
	next, err := m.postProcess(ctx, out)
	if err != nil {
		return ctx, state, err
	}
	return next, out, nil
}

// reduced returns a state with old results cleared. If configured, rounds also keep to
// their share of the window, references replace repeats, and the whole fits the window.
func (m *middleware[M]) reduced(ctx context.Context, state *adk.TypedChatModelAgentState[M]) (*adk.TypedChatModelAgentState[M], error) {
	out, err := state, error(nil)
	window := m.window(ctx)
	if window > 0 {
		if out, err = fitRounds(ctx, m.settings, out); err != nil {
			return nil, err
		}
	}
	is, err := m.size(ctx, out, false)
	if err != nil {
		return nil, err
	}
	if m.ReferToRepeats {
		if out, is, err = dedupe(ctx, m.settings, out, is); err != nil {
			return nil, err
		}
	}
	if is.Tokens >= m.MaxTokensForClear {
		p := newPass(ctx, m.settings, out, is)
		if out, err = p.apply(ctx); err != nil {
			return nil, err
		}
		if out != p.input {
			run, _ := m.runOf(ctx)
			run.sizes.Invalidate(len(out.Messages))
		}
	}
	if window > 0 && is.Tokens > window && !m.SkipClear {
		return fitWindow(ctx, m.settings, out, window)
	}
	return out, nil
}

// WrapModel keeps what a provider ties an answer to in step with what was cleared, has the model read
// of an empty result that it is, and shortens a request that it refuses as too long.
func (m *middleware[M]) WrapModel(ctx context.Context, inner model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	if m.clears {
		inner = digest.NewGuard[M](func(ctx context.Context) {
			m.report.Send(ctx, einolean.Event{Kind: einolean.KindSessionRestarted})
		}).Model(inner)
	}
	inner = emptyresult.Model(inner)
	if m.recovers && !programturn.InProgramTurn(ctx) {
		return overflowModel[M]{m.settings, inner}, nil
	}
	return inner, nil
}

// AfterModelRewriteState notes for the calls that the model has just made what they need to
// know of the conversation.
func (m *middleware[M]) AfterModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state == nil || len(state.Messages) == 0 {
		return ctx, state, nil
	}
	msgs := state.Messages
	calls := rounds.ViewOf(msgs[len(msgs)-1], rounds.View{}).Calls
	if len(calls) == 0 {
		return ctx, state, nil
	}
	m.noteNamedFiles(ctx, msgs, calls)
	if m.previews {
		m.noteQuestion(ctx, msgs)
	}
	return ctx, state, nil
}

// WrapInvokableToolCall cuts what a tool returns as a string.
func (m *middleware[M]) WrapInvokableToolCall(ctx context.Context, endpoint adk.InvokableToolCallEndpoint, tCtx *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return truncate.WrapInvokable(ctx, &m.cutter, tCtx, endpoint), nil
}

// WrapEnhancedInvokableToolCall cuts what a tool returns in parts.
func (m *middleware[M]) WrapEnhancedInvokableToolCall(ctx context.Context, endpoint adk.EnhancedInvokableToolCallEndpoint, tCtx *adk.ToolContext) (adk.EnhancedInvokableToolCallEndpoint, error) {
	return truncate.WrapInvokable(ctx, &m.cutter, tCtx, endpoint), nil
}

// WrapStreamableToolCall cuts what a tool streams as strings.
func (m *middleware[M]) WrapStreamableToolCall(ctx context.Context, endpoint adk.StreamableToolCallEndpoint, tCtx *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	return truncate.WrapStreamable(ctx, &m.cutter, tCtx, emptyresult.EnsureChunk(endpoint)), nil
}

// WrapEnhancedStreamableToolCall cuts what a tool streams in parts.
func (m *middleware[M]) WrapEnhancedStreamableToolCall(ctx context.Context, endpoint adk.EnhancedStreamableToolCallEndpoint, tCtx *adk.ToolContext) (adk.EnhancedStreamableToolCallEndpoint, error) {
	return truncate.WrapStreamable(ctx, &m.cutter, tCtx, emptyresult.EnsureChunk(endpoint)), nil
}
