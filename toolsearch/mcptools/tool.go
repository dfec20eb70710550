// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/internal/toolschema"
)

// remoteTool is a tool of a server. It belongs to no session: a call runs in the session of the user
// who makes it.
type remoteTool struct {
	servers       *Servers
	hints         Hints
	info          *schema.ToolInfo
	definition    []byte
	instructions  string
	isRepaired    bool          // the model sees another schema than the server's own
	propertyNames propertyNames // and other names of properties
	tool          tool.BaseTool

	schemaOnce   sync.Once
	serverSchema map[string]any    // the server's own schema of the arguments
	check        *toolschema.Check // of that schema
}

// textTool returns text.
type textTool struct{ *remoteTool }

// mediaTool returns text, images, audio and files.
type mediaTool struct{ *remoteTool }

var (
	_ tool.InvokableTool         = (*textTool)(nil)
	_ tool.EnhancedInvokableTool = (*mediaTool)(nil)
)

// Info describes the tool.
func (t *remoteTool) Info(context.Context) (*schema.ToolInfo, error) { return t.info, nil }

// GetType is what callbacks call the kind of tool.
func (t *remoteTool) GetType() string { return "MCP" }

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
	return result.toolResult(), nil
}

// call returns the server's result, or what the model reads instead. The error is that of
// ctx, or interrupts the run to ask a person. A program reads everything but a result as a failure.
func (t *remoteTool) call(ctx context.Context, text string) (*result, string, error) {
	result, answer, err := t.converse(ctx, text)
	if err == nil && (result == nil || result.isError || !result.isKnown()) {
		programturn.Fail(ctx, compose.GetToolCallID(ctx))
	}
	return result, answer, err
}

// converse makes the call, and asks a person what the server wants to know, until there is a result.
func (t *remoteTool) converse(ctx context.Context, text string) (*result, string, error) {
	args, ok := arguments(text)
	if !ok {
		return nil, answerText("arguments", answerData{}), nil
	}
	t.schemaOnce.Do(t.readServerSchema)
	args = t.propertyNames.restore(t.serverSchema, args)
	if problem := t.checkArguments(args); problem != "" {
		return nil, answerText("misfit", answerData{Text: problem}), nil
	}
	u, done, err := t.servers.use(ctx)
	if err != nil {
		return nil, t.noSessionAnswer(err), ctx.Err()
	}
	defer done()
	p := &pendingCall{}
	if _, wasInterrupted, pending := tool.GetInterruptState[*pendingCall](ctx); wasInterrupted && pending != nil {
		p = pending
	}
	l := t.servers.linkOf(u, t.hints.Server)
	clock := newClock(l.timeout(), p.Spent)
	for {
		if p.Requests != "" {
			if refused, err := p.answerQuestions(ctx, t); err != nil || refused != nil {
				return nil, t.questionAnswer(refused), err
			}
		}
		result, answer, err := t.attempt(ctx, l, args, p, clock)
		p.Spent = clock.elapsed()
		if result == nil || err != nil || !result.needsInput() {
			return result, answer, err
		}
		if refused := p.setQuestions(result); refused != nil {
			return nil, t.questionAnswer(refused), nil
		}
	}
}

// questionAnswer returns the answer for a question that cannot be asked.
func (t *remoteTool) questionAnswer(err error) string {
	if err == nil {
		return ""
	}
	return answerText("unasked", answerData{Server: t.hints.Server, Text: err.Error()})
}

// attempt makes the call, and again where the connection broke and that is harmless. One that
// carries a person's answer is not repeated.
func (t *remoteTool) attempt(
	ctx context.Context, l *link, args json.RawMessage, p *pendingCall, clock *clock,
) (*result, string, error) {
	responses, err := p.responses()
	if err != nil {
		return nil, t.questionAnswer(err), nil
	}
	for isRetry := false; ; isRetry = true {
		s, err := l.waitSessionLimited(ctx)
		if err != nil {
			return nil, l.unreachableAnswer(err), ctx.Err()
		}
		meta, err := t.servers.meta(ctx, MetaRequest{Server: t.hints.Server, User: l.user, Tool: t.hints.Tool})
		if err != nil {
			return nil, answerText("failed", answerData{Text: l.redact(s, err.Error())}), ctx.Err()
		}
		var progress delivery
		params := &mcp.CallToolParams{Meta: meta, Name: t.hints.Tool, Arguments: args, InputResponses: responses, RequestState: p.State}
		result, err := s.callTool(context.WithValue(ctx, deliveryKey{}, &progress), params, clock)
		l.handleCallEnd(s, t.hints)
		if err == nil {
			return result, "", nil
		}
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
		answer, broken := l.failureAnswer(s, err)
		if after := progress.retryAfter.Load(); after != nil {
			return nil, l.busyAnswer(s, err, *after), nil
		}
		harmless := t.hints.ReadOnly || t.hints.Idempotent || progress.isRejected.Load()
		if !broken || isRetry || !harmless || len(responses) > 0 {
			return nil, answer, nil
		}
	}
}

// maxMisfitBytes limits the text that tells the model what is wrong with its arguments.
const maxMisfitBytes = 1000

// readServerSchema reads the server's own schema of the arguments. Only a tool that is called needs it.
func (t *remoteTool) readServerSchema() {
	var definition struct {
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	if json.Unmarshal(t.definition, &definition) != nil {
		return
	}
	tree, _ := decodeExact(definition.InputSchema) // it has been read before
	t.serverSchema, _ = serverSchemaOf(&mcp.Tool{InputSchema: tree})
	if !t.isRepaired {
		return // the model sees this schema: it is up to the server
	}
	repaired, _ := toolschema.Repair(t.serverSchema)
	if text, err := json.Marshal(repaired); err == nil {
		t.check = toolschema.Compile(string(text))
	}
}

// checkArguments returns how arguments violate the server's own schema; "" if they do not. If the
// model sees that schema, the server checks.
func (t *remoteTool) checkArguments(args json.RawMessage) string {
	if !t.isRepaired {
		return ""
	}
	var value any
	if json.Unmarshal(args, &value) != nil {
		return ""
	}
	if t.check.Validate(value) == nil {
		return ""
	}
	return toolschema.JoinProblems(t.check.Problems(value))
}

// noSessionAnswer returns the answer to a call of a user without a session.
func (t *remoteTool) noSessionAnswer(err error) string {
	if errors.Is(err, errClosed) {
		return answerText("closed", answerData{})
	}
	return answerText("user", answerData{Server: t.hints.Server})
}

// arguments returns the model's arguments if they are an object; missing arguments are an empty object.
func arguments(text string) (json.RawMessage, bool) {
	data := bytes.TrimSpace([]byte(text))
	if len(data) == 0 || string(data) == "null" {
		return json.RawMessage("{}"), true
	}
	return data, data[0] == '{' && json.Valid(data)
}
