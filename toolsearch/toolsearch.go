// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file holds the constructors and the middleware, whose hooks only delegate.

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/session"
	"github.com/leanctx/leanctx/toolsearch/internal/wire"
)

// New makes the middleware for agents on *schema.Message. See NewTyped.
func New(ctx context.Context, config *Config) (adk.ChatModelAgentMiddleware, error) {
	return NewTyped[*schema.Message](ctx, config)
}

// NewTyped makes the middleware for agents on either message type. Put it into Handlers
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
	if _, err := joinGroup(ctx, []*settings{set}, nil); err != nil {
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
	r, next, err := join(ctx, m.settings, rc)
	if err != nil || r == nil {
		return ctx, rc, err
	}
	r.memory = &memory[M]{codec: m.codec}
	return context.WithValue(ctx, runKey{}, r), next, nil
}

// BeforeModelRewriteState decides which tools the model sees in this call.
func (m *middleware[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	r := m.run(ctx)
	if state == nil || r == nil {
		return ctx, state, nil
	}
	mem := r.memory.(*memory[M])
	if mem.isDone(state) {
		return ctx, state, nil
	}
	if err := r.checkLaterTools(state.ToolInfos); err != nil {
		return ctx, state, err
	}
	r.verdicts.forget()
	r.tellCatalog(ctx)
	next := *state
	if r.group.rules.hosted {
		next.Messages = wire.Each(next.Messages, m.codec.Unpack)
	}
	mem.read(next.Messages, r)
	show := r.visibleTools(ctx, &mem.evidence)
	fit := mem.fit(next.Messages, func(p wire.Pairs) wire.Editor { return r.editor(ctx, show, p) })
	next.Messages = restartedAt(firstChange(next.Messages, fit), fit)
	mem.read(next.Messages, r)
	if r.group.rules.noteOnEmpty && mem.evidence.emptyCall != nil {
		next.Messages = mem.withNote(next.Messages, r.emptyNote(ctx, mem.evidence.emptyCall))
	}
	reminder := r.reminder(ctx)
	next.Messages = mem.withReminder(next.Messages, reminder)
	r.sent = sent{reminder: reminder, tools: show.names}
	next.Messages = continued(next.Messages, r.sent)
	mem.read(next.Messages, r)
	r.setToolLists(ctx, &mem.evidence, show, &next.ToolInfos, &next.DeferredToolInfos)
	r.tellDenied(ctx)
	mem.done, mem.given = &next, next
	mem.evidence.started = true
	return ctx, &next, nil
}

// WrapModel marks the answers that a provider keeps on its server.
func (m *middleware[M]) WrapModel(ctx context.Context, inner model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	r := runOf(ctx)
	if r == nil || r.group.settings != m.settings {
		return inner, nil
	}
	now := r.sent // a stream may be read after the next call has begun
	return session.Marking(inner, sessionKey, func([]M) string { return now.mark() }), nil
}

// AfterModelRewriteState notes which tools other handlers showed. It takes the deferred
// ones out of the state again, so that they do not become part of every checkpoint, and
// makes what a provider's search left fit to be part of one. Before each model call both
// are as they were.
func (m *middleware[M]) AfterModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	r := m.run(ctx)
	if state == nil || r == nil {
		return ctx, state, nil
	}
	r.noteShownByOthers(ctx, state.ToolInfos)
	if !r.group.rules.deferAll {
		return ctx, state, nil
	}
	next := *state
	next.DeferredToolInfos = without(next.DeferredToolInfos, r.group.cat)
	next.Messages = wire.Each(next.Messages, m.codec.Pack)
	return ctx, &next, nil
}

// run is the run that this instance leads; nil if another instance does, or if there is
// nothing to hide. Without a BeforeAgent before it, as when hooks are called by hand, it is
// a run of its own.
func (m *middleware[M]) run(ctx context.Context) *run {
	r := runOf(ctx)
	if r != nil && r.group.has(m.settings) {
		if r.group.settings != m.settings {
			return nil
		}
		if _, ok := r.memory.(*memory[M]); ok {
			return r
		}
	}
	g, err := joinGroup(ctx, []*settings{m.settings}, nil)
	if err != nil || len(g.cat.entries) == 0 {
		return nil
	}
	return &run{group: g, memory: &memory[M]{codec: m.codec}}
}
