// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// This file makes Eino tools of a server's tools, and calls them.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// remote is a tool of a server. It belongs to no session: a call runs in that of the user
// who makes it.
type remote struct {
	s          *Servers
	hints      Hints
	info       *schema.ToolInfo
	definition []byte
	tool       tool.BaseTool
}

// textTool returns text.
type textTool struct{ *remote }

// mediaTool returns text, images, audio and files.
type mediaTool struct{ *remote }

var (
	_ tool.InvokableTool         = (*textTool)(nil)
	_ tool.EnhancedInvokableTool = (*mediaTool)(nil)
)

// Info describes the tool.
func (r *remote) Info(context.Context) (*schema.ToolInfo, error) { return r.info, nil }

// GetType is what callbacks call the kind of tool.
func (r *remote) GetType() string { return "MCP" }

// InvokableRun calls the tool. The error is that of ctx; everything else is an answer.
func (t *textTool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	result, answer, err := t.call(ctx, args)
	if err != nil || result == nil {
		return answer, err
	}
	return textOf(result), nil
}

// InvokableRun calls the tool. The error is that of ctx; everything else is an answer.
func (t *mediaTool) InvokableRun(ctx context.Context, args *schema.ToolArgument, _ ...tool.Option) (*schema.ToolResult, error) {
	text := ""
	if args != nil {
		text = args.Text
	}
	result, answer, err := t.call(ctx, text)
	switch {
	case err != nil:
		return nil, err
	case result == nil:
		return &schema.ToolResult{Parts: []schema.ToolOutputPart{textPart(answer)}}, nil
	}
	return &schema.ToolResult{Parts: partsOf(result, true)}, nil
}

// call returns the server's result, or what the model reads instead. The error is that of
// ctx.
func (r *remote) call(ctx context.Context, text string) (*mcp.CallToolResult, string, error) {
	args, ok := arguments(text)
	if !ok {
		return nil, say("arguments", words{}), nil
	}
	u, done, err := r.s.use(ctx)
	if err != nil {
		return nil, r.refusal(err), ctx.Err()
	}
	defer done()
	l := r.s.linkOf(u, r.hints.Server)
	for again := false; ; again = true {
		s, err := l.waitReady(ctx)
		if err != nil {
			return nil, l.unreachable(err), ctx.Err()
		}
		var sent delivery
		result, err := s.call(context.WithValue(ctx, deliveryKey{}, &sent), r.hints.Tool, args, l.timeout())
		l.answered(s, r.hints)
		if err == nil {
			return result, "", nil
		}
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		answer, broken := l.explain(s, err)
		harmless := r.hints.ReadOnly || r.hints.Idempotent || sent.refused.Load()
		if !broken || again || !harmless {
			return nil, answer, nil
		}
	}
}

// refusal is the answer to a call of somebody who has no session.
func (r *remote) refusal(err error) string {
	if errors.Is(err, errClosed) {
		return say("closed", words{})
	}
	return say("user", words{Server: r.hints.Server})
}

// arguments are what the model sent, if it is an object; nothing is an empty one.
func arguments(text string) (json.RawMessage, bool) {
	data := bytes.TrimSpace([]byte(text))
	if len(data) == 0 || string(data) == "null" {
		return json.RawMessage("{}"), true
	}
	return data, data[0] == '{' && json.Valid(data)
}

// waitReady is ready, for as long as a call may take.
func (l *link) waitReady(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, min(l.timeout(), connectLimit), errNoAnswer)
	defer cancel()
	return l.ready(ctx)
}

// unreachable is the answer where there is no session.
func (l *link) unreachable(err error) string {
	l.mu.Lock()
	since, state := l.since, l.state
	l.mu.Unlock()
	switch {
	case errors.Is(err, errClosed):
		return say("closed", words{})
	case state == StateSignIn:
		return say("sign-in", words{Server: l.name})
	}
	return say("down", words{Server: l.name, Since: since.Format("15:04")})
}

// explain is the answer to a call that failed, and whether the session is no longer usable.
func (l *link) explain(s *session, err error) (answer string, broken bool) {
	if a := answerOf(err); a != nil {
		return say("failed", words{Text: a.Message}), false
	}
	if errors.Is(err, errNoAnswer) {
		l.raise() // if the server does not answer that either, the session ends
		return say("late", words{Server: l.name, Limit: l.timeout().String()}), false
	}
	if s.unreadable(err) {
		return say("unreadable", words{Server: l.name, Text: err.Error()}), false
	}
	l.lost(s, err)
	if s.wantsSignIn() {
		return say("sign-in", words{Server: l.name}), true
	}
	if errors.Is(err, errEnded) || errors.Is(err, errClosed) {
		return say("closed", words{}), false
	}
	return say("lost", words{Server: l.name}), true
}
