// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/internal/toolschema"
)

// remote is a tool of a server. It belongs to no session: a call runs in that of the user
// who makes it.
type remote struct {
	s            *Servers
	hints        Hints
	info         *schema.ToolInfo
	definition   []byte
	instructions string
	mended       bool     // the model sees another schema than the server's own
	keys         keyNames // and other names of properties
	tool         tool.BaseTool

	ownOnce sync.Once
	own     map[string]any    // the server's own schema of the arguments
	check   *toolschema.Check // of that schema
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

// InvokableRun calls the tool. The error is that of ctx, or interrupts the run to ask a person;
// everything else is an answer.
func (t *textTool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	result, answer, err := t.call(ctx, args)
	if err != nil || result == nil {
		return answer, err
	}
	return result.text(), nil
}

// InvokableRun calls the tool. The error is that of ctx, or interrupts the run to ask a person;
// everything else is an answer.
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
	return result.enhanced(), nil
}

// call returns the server's result, or what the model reads instead. The error is that of
// ctx, or interrupts the run to ask a person. A program reads everything but a result as a failure.
func (r *remote) call(ctx context.Context, text string) (*result, string, error) {
	result, answer, err := r.converse(ctx, text)
	if err == nil && (result == nil || result.failed || !result.isKnown()) {
		programturn.Fail(ctx, compose.GetToolCallID(ctx))
	}
	return result, answer, err
}

// converse makes the call, and asks a person what the server wants to know, until there is a result.
func (r *remote) converse(ctx context.Context, text string) (*result, string, error) {
	args, ok := arguments(text)
	if !ok {
		return nil, say("arguments", words{}), nil
	}
	r.ownOnce.Do(r.readOwn)
	args = r.keys.restore(r.own, args)
	if wrong := r.misfit(args); wrong != "" {
		return nil, say("misfit", words{Text: wrong}), nil
	}
	u, done, err := r.s.use(ctx)
	if err != nil {
		return nil, r.refusal(err), ctx.Err()
	}
	defer done()
	p := &pending{}
	if _, has, asked := tool.GetInterruptState[*pending](ctx); has && asked != nil {
		p = asked
	}
	l := r.s.linkOf(u, r.hints.Server)
	clock := newClock(l.timeout(), p.Spent)
	for {
		if p.Requests != "" {
			if refused, err := p.answer(ctx, r); err != nil || refused != nil {
				return nil, r.unasked(refused), err
			}
		}
		result, answer, err := r.attempt(ctx, l, args, p, clock)
		p.Spent = clock.spent()
		if result == nil || err != nil || !result.asks() {
			return result, answer, err
		}
		if refused := p.take(result); refused != nil {
			return nil, r.unasked(refused), nil
		}
	}
}

// unasked is the answer where a question cannot be asked.
func (r *remote) unasked(err error) string {
	if err == nil {
		return ""
	}
	return say("unasked", words{Server: r.hints.Server, Text: err.Error()})
}

// attempt makes the call, and again where the connection broke and that is harmless. One that
// carries a person's answer is not repeated.
func (r *remote) attempt(ctx context.Context, l *link, args json.RawMessage, p *pending, clock *clock) (*result, string, error) {
	responses, err := p.responses()
	if err != nil {
		return nil, r.unasked(err), nil
	}
	for again := false; ; again = true {
		s, err := l.waitReady(ctx)
		if err != nil {
			return nil, l.unreachable(err), ctx.Err()
		}
		meta, err := r.s.meta(ctx, MetaRequest{Server: r.hints.Server, User: l.user, Tool: r.hints.Tool})
		if err != nil {
			return nil, say("failed", words{Text: l.redact(s, err.Error())}), ctx.Err()
		}
		var sent delivery
		params := &mcp.CallToolParams{Meta: meta, Name: r.hints.Tool, Arguments: args, InputResponses: responses, RequestState: p.State}
		result, err := s.call(context.WithValue(ctx, deliveryKey{}, &sent), params, clock)
		l.answered(s, r.hints)
		if err == nil {
			return result, "", nil
		}
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		answer, broken := l.explain(s, err)
		if after := sent.busy.Load(); after != nil {
			return nil, l.busy(s, err, *after), nil
		}
		harmless := r.hints.ReadOnly || r.hints.Idempotent || sent.refused.Load()
		if !broken || again || !harmless || len(responses) > 0 {
			return nil, answer, nil
		}
	}
}

// mostWrong is how many bytes the model reads of what is wrong with its arguments.
const mostWrong = 1000

// readOwn reads the server's own schema of the arguments. Only a tool that is called needs it.
func (r *remote) readOwn() {
	var t struct {
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	if json.Unmarshal(r.definition, &t) != nil {
		return
	}
	tree, _ := exactly(t.InputSchema) // it has been read before
	r.own, _ = ownSchema(&mcp.Tool{InputSchema: tree})
	if !r.mended {
		return // the model sees this schema: it is up to the server
	}
	repaired, _ := toolschema.Repair(r.own)
	if text, err := json.Marshal(repaired); err == nil {
		r.check = toolschema.Compile(string(text))
	}
}

// misfit says what the server's own schema has against arguments; "" for nothing, and where
// the model sees that schema: then it is up to the server.
func (r *remote) misfit(args json.RawMessage) string {
	if !r.mended {
		return ""
	}
	var value any
	if json.Unmarshal(args, &value) != nil {
		return ""
	}
	err := r.check.Validate(value)
	if err == nil {
		return ""
	}
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), mostWrong)], "")
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
