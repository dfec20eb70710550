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
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/reduction/internal/digest"
	"github.com/einolean/einolean/reduction/internal/offload"
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
		settings:                          newSettings(c, config.ReadFileToolName != ""),
	}
	return einorun.New(m), nil
}

// middleware implements the hooks.
type middleware[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	settings *settings[M]
}

// Begin adds the read tool if the configuration asks for one and the agent has none.
func (m *middleware[M]) Begin(ctx context.Context, rc *einorun.RunContext) (context.Context, error) {
	if rc == nil {
		return ctx, nil
	}
	next, tools, err := m.settings.reader.Begin(ctx, rc.Tools)
	if err != nil {
		return ctx, err
	}
	rc.Tools = tools
	next = einorun.WithoutPreview[M](next)
	return withRun(offload.WithPass(next), m.settings, &run{tools: tools}), nil
}

// BeforeModelRewriteState clears old results.
func (m *middleware[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state == nil {
		return ctx, state, nil
	}
	runFrom(ctx, m.settings).startModelCall()
	offload.RestartPass(ctx)
	hasOther, err := m.settings.reader.Check(ctx, state.ToolInfos, state.DeferredToolInfos)
	if err != nil {
		return ctx, state, err
	}
	if hasOther {
		next := *state
		next.ToolInfos = m.settings.reader.Without(state.ToolInfos)
		next.DeferredToolInfos = m.settings.reader.Without(state.DeferredToolInfos)
		state = &next
	}
	if programturn.InProgramTurn(ctx) {
		return ctx, state, nil
	}
	if runFrom(ctx, m.settings).startOrdering() {
		state = inCallOrder(state)
	}
	m.settings.markUsed(ctx, state.Messages)
	if !m.settings.mayClear {
		return ctx, state, nil
	}
	request, err := einorun.PreviewOf(ctx, state)
	if err != nil {
		return ctx, state, err
	}
	reduced, err := m.reduce(ctx, request)
	if err != nil {
		return ctx, state, err
	}
	out := withMessagesOf(state, reduced)
	if reduced == request || m.settings.cfg.ClearPostProcess == nil {
		return ctx, out, nil
	}
	next, err := m.settings.cfg.postProcess(ctx, out)
	if err != nil {
		return ctx, state, err
	}
	return next, out, nil
}

// withMessagesOf returns a state with the messages of a later one. Its tools stay: package toolsearch selects them in its
// own hook.
func withMessagesOf[M adk.MessageType](state, later *adk.TypedChatModelAgentState[M]) *adk.TypedChatModelAgentState[M] {
	if message.SameSlice(state.Messages, later.Messages) {
		return state
	}
	next := *later
	next.ToolInfos, next.DeferredToolInfos = state.ToolInfos, state.DeferredToolInfos
	return &next
}

// inCallOrder returns a state with the results of each batch in the order of its calls.
func inCallOrder[M adk.MessageType](state *adk.TypedChatModelAgentState[M]) *adk.TypedChatModelAgentState[M] {
	msgs := message.InCallOrder(state.Messages)
	if message.SameSlice(msgs, state.Messages) {
		return state
	}
	next := *state
	next.Messages = msgs
	return &next
}

// reduce returns a state with old results cleared. If configured, rounds also keep to their share of the window,
// references replace duplicates, and the whole request fits the window. In the first model call of a run, it first
// repeats what earlier runs of the conversation have done.
func (m *middleware[M]) reduce(
	ctx context.Context, state *adk.TypedChatModelAgentState[M],
) (*adk.TypedChatModelAgentState[M], error) {
	s, out, done := m.settings, state, repeated[M]{}
	var err error
	if runFrom(ctx, s).startRepeating() {
		if out, done, err = repeatPasses(ctx, s, state); err != nil {
			return nil, err
		}
	}
	window := s.window(ctx)
	if window > 0 {
		if out, err = fitRounds(ctx, s, out); err != nil {
			return nil, err
		}
	}
	if out, err = s.keepToMediaLimits(ctx, out); err != nil {
		return nil, err
	}
	threshold := s.threshold(startsTurn(out.Messages))
	size, err := s.sizeFor(ctx, out, threshold)
	if err != nil {
		return nil, err
	}
	if s.cfg.DedupeResults {
		if out, size, err = dedupe(ctx, s, out, size, threshold); err != nil {
			return nil, err
		}
	}
	switch {
	case size.Tokens >= threshold:
		out, err = clearOld(ctx, s, out, size, threshold, done)
	case done.tally.Cleared > 0:
		err = reportRepeated(ctx, s, done.tally, state, out)
	}
	if err != nil || window == 0 || size.Tokens <= window {
		return out, err
	}
	size, err = s.exactSize(ctx, out)
	if err != nil {
		return nil, err
	}
	fitted, err := fitWindow(withFactor(ctx, s, size.Factor), s, out, window, false)
	if err != nil {
		return nil, err
	}
	return s.keepFactor(ctx, out, fitted)
}

// WrapModel invalidates provider-side state that belongs to results that were cleared, marks empty results for the
// model, and retries a request that the model refuses as too long.
func (m *middleware[M]) WrapModel(ctx context.Context, inner model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	if m.settings.mayClear {
		inner = digest.NewGuard[M](func(ctx context.Context) {
			m.settings.reporter.Send(ctx, einolean.Event{Kind: einolean.KindSessionRestarted})
		}).Model(inner)
	}
	inner = emptyresult.Model(inner)
	if m.settings.retries && !programturn.InProgramTurn(ctx) {
		return overflowModel[M]{m.settings, inner}, nil
	}
	return inner, nil
}

// AfterModelRewriteState records what the calls that the model has just made need to know of the history.
func (m *middleware[M]) AfterModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state == nil || len(state.Messages) == 0 {
		return ctx, state, nil
	}
	msgs := state.Messages
	calls := rounds.ViewOf(msgs[len(msgs)-1], rounds.View{}).Calls
	if len(calls) == 0 {
		return ctx, state, nil
	}
	m.settings.recordNoticeFiles(ctx, msgs, calls)
	if m.settings.cfg.ResolveReferences {
		m.settings.recordReferences(ctx, msgs)
	}
	if m.settings.hasPreviews {
		m.settings.recordQuestion(ctx, msgs)
	}
	return ctx, state, nil
}

// WrapInvokableToolCall resolves references in the arguments of a tool, and truncates what it returns as a string.
func (m *middleware[M]) WrapInvokableToolCall(ctx context.Context, endpoint adk.InvokableToolCallEndpoint, tCtx *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return truncate.WrapInvokable(ctx, &m.settings.truncator, tCtx, resolveInvokable(m.settings, tCtx, endpoint)), nil
}

// WrapEnhancedInvokableToolCall resolves references in the arguments of a tool, and truncates what it returns in parts.
func (m *middleware[M]) WrapEnhancedInvokableToolCall(ctx context.Context, endpoint adk.EnhancedInvokableToolCallEndpoint, tCtx *adk.ToolContext) (adk.EnhancedInvokableToolCallEndpoint, error) {
	return truncate.WrapInvokable(ctx, &m.settings.truncator, tCtx, resolveInvokable(m.settings, tCtx, endpoint)), nil
}

// WrapStreamableToolCall resolves references in the arguments of a tool, and truncates what it streams as strings.
func (m *middleware[M]) WrapStreamableToolCall(ctx context.Context, endpoint adk.StreamableToolCallEndpoint, tCtx *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	return truncate.WrapStreamable(ctx, &m.settings.truncator, tCtx,
		resolveStreamable(m.settings, tCtx, emptyresult.EnsureChunk(endpoint))), nil
}

// WrapEnhancedStreamableToolCall resolves references in the arguments of a tool, and truncates what it streams in parts.
func (m *middleware[M]) WrapEnhancedStreamableToolCall(ctx context.Context, endpoint adk.EnhancedStreamableToolCallEndpoint, tCtx *adk.ToolContext) (adk.EnhancedStreamableToolCallEndpoint, error) {
	return truncate.WrapStreamable(ctx, &m.settings.truncator, tCtx,
		resolveStreamable(m.settings, tCtx, emptyresult.EnsureChunk(endpoint))), nil
}
