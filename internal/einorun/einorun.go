// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package einorun hides the differences between Eino v0.9 and v0.10: the type of a run's context,
// and sessions, whose history is rebuilt from events. One source serves both versions, without
// build tags.
package einorun

import (
	"context"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

// RunContext holds what a handler may change when a run begins. These are fields of Eino's
// ChatModelAgentContext, which is generic since v0.10.
type RunContext struct {
	Tools          []tool.BaseTool
	ReturnDirectly map[string]bool
	ToolSearchTool *schema.ToolInfo
}

// Handler is a middleware with Begin instead of BeforeAgent.
type Handler[M adk.MessageType] interface {
	adk.TypedChatModelAgentMiddleware[M]
	// Begin is called when a run begins, and may change it. The run is nil if BeforeAgent was
	// called without a context of a run.
	Begin(context.Context, *RunContext) (context.Context, error)
}

// New returns the middleware for Eino. In a session, it sends the events for the handler's changes
// of the messages.
func New[M adk.MessageType](h Handler[M]) adk.TypedChatModelAgentMiddleware[M] {
	return asMiddleware(h, (*adk.TypedBaseChatModelAgentMiddleware[M]).BeforeAgent)
}

// asMiddleware infers the type C of the run's context from Eino's method: it has different names in
// the two versions.
func asMiddleware[M adk.MessageType, C any](h Handler[M], _ func(*adk.TypedBaseChatModelAgentMiddleware[M], context.Context, *C) (context.Context, *C, error)) adk.TypedChatModelAgentMiddleware[M] {
	return any(&middleware[M, C]{h}).(adk.TypedChatModelAgentMiddleware[M])
}

// contextOf returns a run's context with its concrete type.
func contextOf[C any](rc any, _ func(context.Context, *C) (context.Context, *C, error)) *C {
	c, _ := rc.(*C)
	return c
}

type middleware[M adk.MessageType, C any] struct{ Handler[M] }

// Unwrap returns the handler itself.
func (m *middleware[M, C]) Unwrap() Handler[M] { return m.Handler }

// BeforeAgent calls Begin on a copy of the run's context.
func (m *middleware[M, C]) BeforeAgent(ctx context.Context, in *C) (context.Context, *C, error) {
	if in == nil {
		ctx, err := m.Begin(ctx, nil)
		return ctx, in, err
	}
	var base *adk.TypedBaseChatModelAgentMiddleware[M]
	next := struct {
		run     RunContext
		context C
	}{context: *in}
	rc, run := contextOf(&next.context, base.BeforeAgent), &next.run
	run.Tools, run.ReturnDirectly, run.ToolSearchTool = rc.Tools, rc.ReturnDirectly, rc.ToolSearchTool
	ctx, err := m.Begin(withSession[M](ctx, in), run)
	if err != nil {
		return ctx, in, err
	}
	rc.Tools, rc.ReturnDirectly, rc.ToolSearchTool = run.Tools, run.ReturnDirectly, run.ToolSearchTool
	return ctx, &next.context, nil
}

// BeforeModelRewriteState calls the handler, and logs its changes in the session.
func (m *middleware[M, C]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], mc *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state == nil {
		return m.Handler.BeforeModelRewriteState(ctx, state, mc)
	}
	s, msgs := sessionOf(ctx, state.Messages)
	if s == nil {
		return m.Handler.BeforeModelRewriteState(ctx, state, mc)
	}
	before := state.Messages
	if !slices.Equal(before, msgs) {
		read := *state
		read.Messages, state = msgs, &read
	}
	ctx, next, err := m.Handler.BeforeModelRewriteState(ctx, state, mc)
	if err != nil || next == nil || slices.Equal(before, next.Messages) {
		return ctx, next, err
	}
	logged := *next
	logged.Messages = s.logChanges(ctx, before, next.Messages)
	return ctx, &logged, nil
}

// Begin calls BeforeAgent of a middleware as Eino does, with run as its context. The middleware may
// change run.
func Begin[M adk.MessageType](ctx context.Context, m adk.TypedChatModelAgentMiddleware[M], run *RunContext) (context.Context, error) {
	rc := newContext(m.BeforeAgent)
	rc.Tools, rc.ReturnDirectly, rc.ToolSearchTool = run.Tools, run.ReturnDirectly, run.ToolSearchTool
	ctx, rc, err := m.BeforeAgent(ctx, rc)
	if err == nil && rc != nil {
		run.Tools, run.ReturnDirectly, run.ToolSearchTool = rc.Tools, rc.ReturnDirectly, rc.ToolSearchTool
	}
	return ctx, err
}

func newContext[C any](func(context.Context, *C) (context.Context, *C, error)) *C { return new(C) }
