// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The constructors and the hooks, with their work before a model call.

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
// The error names every mistake in config at once. It wraps ErrNativeUnsupported if
// config.Model has no tool search of its own.
func NewTyped[M adk.MessageType](ctx context.Context, config *Config) (adk.TypedChatModelAgentMiddleware[M], error) {
	c, isAgentic := wire.CodecFor[M]()
	s, err := newSettings(ctx, config, isAgentic)
	if err != nil {
		return nil, err
	}
	me := member{settings: s, groups: newGroupCache()}
	if _, err := groupOf(ctx, []member{me}); err != nil {
		return nil, err
	}
	return &middleware[M]{settings: s, member: me, codec: c}, nil
}

// middleware is safe for concurrent use: the state of a run is in its context.
type middleware[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	settings *settings
	member   member // without tools of an agent
	codec    wire.Codec[M]
}

// BeforeAgent adds the hidden tools, and the search tools, to those that the agent can run.
func (m *middleware[M]) BeforeAgent(ctx context.Context, rc *adk.ChatModelAgentContext) (context.Context, *adk.ChatModelAgentContext, error) {
	if rc == nil {
		return ctx, rc, nil
	}
	j, err := join(ctx, m.member, rc.Tools)
	if err != nil || j == nil {
		return ctx, rc, err
	}
	if groupIn(rc.Tools) == nil { // an agent within a run has its own sources
		ctx = withSourceMemory(ctx)
	}
	j.agent.direct = rc.ReturnDirectly
	r := newRun(j.agent)
	h := newHooks(r, m.codec)
	if h.slots = j.slots; h.slots != nil {
		h.slots.run = r
	}
	h.sources.refresh(ctx, r)
	next := *rc
	next.Tools = j.tools
	if j.agent.start.settings.rules.searchTool {
		next.ToolSearchTool = j.agent.start.metaTools()[0].info()
	}
	ctx = context.WithValue(ctx, runKey{}, r)
	return context.WithValue(ctx, hooksKey{}, h), &next, nil
}

// BeforeModelRewriteState decides which tools the model sees in this call.
func (m *middleware[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state != nil {
		var g *group
		if r := runOf(ctx); r != nil {
			g = r.group()
		}
		m.settings.emitNotHidden(ctx, g, state.ToolInfos)
	}
	h := m.hooks(ctx)
	if state == nil || h == nil || h.done.is(state) {
		return ctx, state, nil
	}
	next := *state
	call := modelCall[M]{next.Messages, next.ToolInfos, next.DeferredToolInfos}
	if err := h.prepare(ctx, &call); err != nil {
		return ctx, state, err
	}
	next.Messages, next.ToolInfos, next.DeferredToolInfos = call.messages, call.tools, call.deferred
	h.done = doneState[M]{&next, next}
	return ctx, &next, nil
}

// WrapModel marks the answers that a provider keeps on its server.
func (m *middleware[M]) WrapModel(ctx context.Context, inner model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	h, ok := ctx.Value(hooksKey{}).(*hooks[M])
	if !ok || h.run.group().settings != m.settings {
		return inner, nil
	}
	if h.visibility.hiding.showsAll && h.run.group().settings.rules.searchTool {
		inner = unsearching[M]{inner}
	}
	now := h.sent // a stream may be read after the next call has begun
	return session.Marking(inner, sessionKey, func([]M) string { return now.mark() }), nil
}

// AfterModelRewriteState notes which tools other handlers showed, and points the slots at
// the tools that the model called. It also keeps checkpoints small and encodable: until the
// next model call, deferred tools are not in the state, and what a provider's search left
// in messages is text.
func (m *middleware[M]) AfterModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	h := m.hooks(ctx)
	if state == nil || h == nil {
		return ctx, state, nil
	}
	noteShownByOthers(ctx, h.run, state.ToolInfos)
	msgs, deferAll := h.bindCalls(ctx, state.Messages), h.run.group().settings.rules.deferAll
	if !deferAll && wire.SameList(msgs, state.Messages) {
		return ctx, state, nil
	}
	next := *state
	next.Messages = msgs
	if deferAll {
		next.DeferredToolInfos = without(next.DeferredToolInfos, h.run.group().cat)
		next.Messages = wire.Each(msgs, m.codec.Pack)
	}
	return ctx, &next, nil
}

// hooks returns the hooks of the run that this instance leads; nil if another instance leads
// it, or if there is nothing to hide. Without a preceding BeforeAgent, as when hooks are called
// by hand, it makes a new run.
func (m *middleware[M]) hooks(ctx context.Context) *hooks[M] {
	if r := runOf(ctx); r != nil && r.group().hasMember(m.settings) {
		if r.group().settings != m.settings {
			return nil
		}
		if h, ok := ctx.Value(hooksKey{}).(*hooks[M]); ok {
			return h
		}
	}
	g, err := groupOf(ctx, []member{m.member})
	if err != nil || g.cat.len() == 0 && !hasSource(g.members) {
		return nil
	}
	return newHooks(newRun(agent{start: g}), m.codec)
}

// hooks is the state that the hooks of one run keep between model calls. Eino calls them one
// after another.
type hooks[M adk.MessageType] struct {
	run        *run
	transcript transcript[M]
	sources    sources
	visibility visibility
	reminder   reminder
	slots      *slots // nil: there is no Source
	sent       sent   // with the last model call
	done       doneState[M]
}

// hooksKey is the key of the hooks in the context of a run.
type hooksKey struct{}

func newHooks[M adk.MessageType](r *run, c wire.Codec[M]) *hooks[M] {
	return &hooks[M]{run: r, transcript: transcript[M]{run: r, codec: c}}
}

// modelCall is the content of the next model call.
type modelCall[M adk.MessageType] struct {
	messages        []M
	tools, deferred []*schema.ToolInfo
}

// prepare decides the content of a model call. It fails only on a misconfiguration.
func (h *hooks[M]) prepare(ctx context.Context, call *modelCall[M]) error {
	r, t := h.run, &h.transcript
	saw, known := r.notes.lastVisible(ctx)
	if !known {
		if err := r.agent.checkLaterTools(r.group(), call.tools); err != nil {
			return err
		}
	}
	if h.sources.refresh(ctx, r) {
		t.forget()
	}
	r.turn().askAgain()
	r.reported.emitCatalog(ctx, r.group())
	rules, msgs := r.group().settings.rules, call.messages
	if r.group().settings.cfg.HideAbove > 0 {
		h.decideHiding(ctx, msgs, saw)
	}
	if rules.hosted {
		msgs = wire.Each(msgs, t.codec.Unpack)
	}
	msgs = h.readWithOffers(ctx, msgs)
	show := h.visibility.visibleTools(ctx, r, &t.evidence)
	if t.evidence.native {
		msgs = h.rewrite(ctx, msgs, show)
	}
	h.reminder.turn, h.reminder.silent = r.turn(), h.visibility.hiding.showsAll
	msgs, list := t.remind(ctx, &h.reminder, msgs, saw)
	h.sent = sent{list: list, names: show.names}
	call.messages = continued(msgs, h.sent)
	t.read(ctx, call.messages)
	lists := toolLists{run: r, group: r.group(), hiding: &h.visibility.hiding, stale: h.sources.stale, show: show}
	call.tools, call.deferred = lists.renew(ctx, &t.evidence, call.tools, call.deferred)
	emitPrefetched(ctx, r, &t.evidence)
	r.reported.emitDenied(ctx, r.group())
	t.evidence.started = true
	return nil
}

// decideHiding decides whether the run hides its tools, before the messages are read.
func (h *hooks[M]) decideHiding(ctx context.Context, msgs []M, saw []string) {
	searched := func() bool { return slices.ContainsFunc(msgs, h.transcript.isSearch) }
	if h.visibility.hiding.decide(ctx, h.run.turn(), saw, searched) {
		h.visibility.last = decision{}
		h.transcript.forget()
	}
}

// readWithOffers reads the messages, and returns them with offers of tools after the messages
// of users.
func (h *hooks[M]) readWithOffers(ctx context.Context, msgs []M) []M {
	t := &h.transcript
	if t.prefetch = nil; h.run.group().settings.cfg.Prefetch > 0 && !h.visibility.hiding.showsAll {
		t.prefetch = (&prefetcher{newSearcher(h.run, h.run.turn().loadableBySearch), map[string][]foundTool{}}).prefetch
	}
	t.read(ctx, msgs)
	if len(t.offered)+len(t.evidence.prefetched.offers) == 0 {
		return msgs
	}
	msgs = t.withOffers(msgs)
	t.read(ctx, msgs)
	return msgs
}

// rewrite returns the messages in a form that the run's provider accepts. It does not change
// the slice.
func (h *hooks[M]) rewrite(ctx context.Context, msgs []M, show visibleSet) []M {
	t, rules := &h.transcript, h.run.group().settings.rules
	if h.visibility.hiding.showsAll {
		rules = plainRules // the provider does not learn of a search
	}
	next := wire.RewriteAll(t.codec, msgs, newEditor(ctx, h.run, rules, show))
	next = restarted(msgs, next)
	t.read(ctx, next)
	if rules.noteOnEmpty && t.evidence.emptyCall != nil {
		next = t.withNote(next, emptyNote(ctx, h.run, t.evidence.emptyCall))
	}
	return next
}

// bindCalls assigns slots to the tools that the last message calls.
func (h *hooks[M]) bindCalls(ctx context.Context, msgs []M) []M {
	if h.slots == nil || len(msgs) == 0 {
		return msgs
	}
	last := len(msgs) - 1
	rename := h.slots.bindCalls(ctx, h.transcript.codec.View(msgs[last]).Calls)
	renamed := h.transcript.codec.Rename(msgs[last], rename)
	if renamed == msgs[last] {
		return msgs
	}
	next := slices.Clone(msgs)
	next[last] = renamed
	return next
}

// doneState is the state that the last hook returned, with its contents.
type doneState[M adk.MessageType] struct {
	state *adk.TypedChatModelAgentState[M]
	held  adk.TypedChatModelAgentState[M]
}

// is reports whether a state is that one, unchanged: the instance is in the agent twice.
func (d doneState[M]) is(s *adk.TypedChatModelAgentState[M]) bool {
	return s == d.state && slices.Equal(s.Messages, d.held.Messages) &&
		slices.Equal(s.ToolInfos, d.held.ToolInfos) && slices.Equal(s.DeferredToolInfos, d.held.DeferredToolInfos)
}
