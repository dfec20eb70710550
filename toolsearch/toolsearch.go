// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The constructors, and the hooks.

import (
	"context"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/session"
	"github.com/leanctx/leanctx/toolsearch/internal/wire"
)

// New returns the middleware for agents on *schema.Message. See NewTyped.
func New(ctx context.Context, config *Config) (adk.ChatModelAgentMiddleware, error) {
	return NewTyped[*schema.Message](ctx, config)
}

// NewTyped returns the middleware for agents on either message type. Put it into Handlers
// of the agent's configuration. One instance serves any number of agents and concurrent
// runs. It calls Info of each dynamic tool once, and never again.
//
// The error names everything that is wrong with config at once; it wraps
// ErrNativeUnsupported where config.Model has no tool search of its own.
func NewTyped[M adk.MessageType](ctx context.Context, config *Config) (adk.TypedChatModelAgentMiddleware[M], error) {
	c, isAgentic := wire.CodecFor[M]()
	set, err := newSettings(ctx, config, isAgentic)
	if err != nil {
		return nil, err
	}
	if _, err := groupOf(ctx, []member{{settings: set}}); err != nil {
		return nil, err
	}
	return &middleware[M]{settings: set, codec: c}, nil
}

// middleware is safe for concurrent use: what a run needs is in its context.
type middleware[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	settings *settings
	codec    wire.Codec[M]
}

// BeforeAgent adds the hidden tools, and the search tools, to those that the agent can run.
func (m *middleware[M]) BeforeAgent(ctx context.Context, rc *adk.ChatModelAgentContext) (context.Context, *adk.ChatModelAgentContext, error) {
	if rc == nil {
		return ctx, rc, nil
	}
	joined, err := join(ctx, m.settings, rc.Tools)
	if err != nil || joined == nil {
		return ctx, rc, err
	}
	if groupIn(rc.Tools) == nil { // an agent within a run has sources of its own
		ctx = withSourceMemory(ctx)
	}
	r := newRun(joined.group, agent{own: joined.own, size: len(joined.tools), direct: rc.ReturnDirectly, slots: joined.slots})
	r.refresh(ctx)
	next := *rc
	next.Tools = joined.tools
	if joined.group.rules.searchTool {
		next.ToolSearchTool = joined.group.metaTools()[0].info()
	}
	ctx = context.WithValue(ctx, runKey{}, r)
	return context.WithValue(ctx, transcriptKey{}, &transcript[M]{run: r, codec: m.codec}), &next, nil
}

// BeforeModelRewriteState decides which tools the model sees in this call.
func (m *middleware[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state != nil {
		m.settings.emitNotHidden(ctx, state.ToolInfos)
	}
	t := m.transcript(ctx)
	if state == nil || t == nil || t.done.is(state) {
		return ctx, state, nil
	}
	next := *state
	call := modelCall[M]{next.Messages, next.ToolInfos, next.DeferredToolInfos}
	if err := t.prepare(ctx, &call); err != nil {
		return ctx, state, err
	}
	next.Messages, next.ToolInfos, next.DeferredToolInfos = call.messages, call.tools, call.deferred
	t.done = doneState[M]{&next, next}
	return ctx, &next, nil
}

// doneState is the state that the last hook returned, and what was in it.
type doneState[M adk.MessageType] struct {
	state *adk.TypedChatModelAgentState[M]
	held  adk.TypedChatModelAgentState[M]
}

// is reports whether a state is that one, with nothing new in it: the instance is in the
// agent twice.
func (d doneState[M]) is(s *adk.TypedChatModelAgentState[M]) bool {
	return s == d.state && slices.Equal(s.Messages, d.held.Messages) &&
		slices.Equal(s.ToolInfos, d.held.ToolInfos) && slices.Equal(s.DeferredToolInfos, d.held.DeferredToolInfos)
}

// WrapModel marks the answers that a provider keeps on its server.
func (m *middleware[M]) WrapModel(ctx context.Context, inner model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	r := runOf(ctx)
	if r == nil || r.group().settings != m.settings {
		return inner, nil
	}
	if r.hiding.off && r.group().rules.searchTool {
		inner = unsearching[M]{inner}
	}
	now := r.sent // a stream may be read after the next call has begun
	return session.Marking(inner, sessionKey, func([]M) string { return now.mark() }), nil
}

// AfterModelRewriteState notes which tools other handlers showed, and makes the slots stand
// for the tools that the model called. It takes the deferred ones out of the state again, so that they do not become part of every checkpoint, and
// makes what a provider's search left fit to be part of one. Before each model call both
// are as they were.
func (m *middleware[M]) AfterModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	t := m.transcript(ctx)
	if state == nil || t == nil {
		return ctx, state, nil
	}
	t.run.noteShownByOthers(ctx, state.ToolInfos)
	msgs := t.bindCalls(ctx, state.Messages)
	if !t.run.group().rules.deferAll {
		if wire.SameList(msgs, state.Messages) {
			return ctx, state, nil
		}
		next := *state
		next.Messages = msgs
		return ctx, &next, nil
	}
	next := *state
	next.DeferredToolInfos = without(next.DeferredToolInfos, t.run.group().cat)
	next.Messages = wire.Each(msgs, m.codec.Pack)
	return ctx, &next, nil
}

// transcript is that of the run that this instance leads; nil if another instance does, or
// if there is nothing to hide. Without a BeforeAgent before it, as when hooks are called by
// hand, it is that of a run of its own.
func (m *middleware[M]) transcript(ctx context.Context) *transcript[M] {
	if r := runOf(ctx); r != nil && r.group().hasMember(m.settings) {
		if r.group().settings != m.settings {
			return nil
		}
		if t, ok := ctx.Value(transcriptKey{}).(*transcript[M]); ok {
			return t
		}
	}
	g, err := groupOf(ctx, []member{{settings: m.settings}})
	if err != nil || g.cat.len() == 0 && !hasSource(g.members) {
		return nil
	}
	return &transcript[M]{run: newRun(g, agent{}), codec: m.codec}
}
