// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package adktest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

// Func is what a tool does.
type Func func(ctx context.Context, args string) (string, error)

// Echo returns its arguments.
func Echo(_ context.Context, args string) (string, error) { return "echo " + args, nil }

type base struct {
	info *schema.ToolInfo
	run  Func
}

func (b base) Info(context.Context) (*schema.ToolInfo, error) { return b.info, nil }

type invokable struct{ base }

func (t invokable) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	return t.run(ctx, args)
}

type streamable struct{ base }

func (t streamable) StreamableRun(ctx context.Context, args string, _ ...tool.Option) (*schema.StreamReader[string], error) {
	s, err := t.run(ctx, args)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]string{s[:len(s)/2], s[len(s)/2:]}), nil
}

type enhancedInvokable struct{ base }

func (t enhancedInvokable) InvokableRun(
	ctx context.Context, args *schema.ToolArgument, _ ...tool.Option,
) (*schema.ToolResult, error) {
	s, err := t.run(ctx, args.Text)
	if err != nil {
		return nil, err
	}
	return textResult(s), nil
}

type enhancedStream struct{ base }

func (t enhancedStream) StreamableRun(ctx context.Context, args *schema.ToolArgument, _ ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	s, err := t.run(ctx, args.Text)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.ToolResult{textResult(s[:len(s)/2]), textResult(s[len(s)/2:])}), nil
}

func textResult(s string) *schema.ToolResult {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: s}}}
}

// Form is one of the four shapes a tool can have.
type Form int

// The four tool forms.
const (
	Invokable Form = iota
	Streamable
	Enhanced
	EnhancedStreamable
)

// Forms are all four, with names for subtests.
var Forms = map[string]Form{"invokable": Invokable, "streamable": Streamable, "enhanced": Enhanced, "enhanced streamable": EnhancedStreamable}

// Tool makes a tool of the form; info may be shared between tools and is not changed.
func Tool(form Form, info *schema.ToolInfo, run Func) tool.BaseTool {
	if run == nil {
		run = Echo
	}
	b := base{info, run}
	switch form {
	case Streamable:
		return streamable{b}
	case Enhanced:
		return enhancedInvokable{b}
	case EnhancedStreamable:
		return enhancedStream{b}
	}
	return invokable{b}
}

// Simple makes an invokable tool that echoes its arguments.
func Simple(name, desc string) tool.BaseTool {
	return Tool(Invokable, &schema.ToolInfo{Name: name, Desc: desc, ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
		"value": {Type: schema.String, Desc: "any value"},
	})}, nil)
}

// Comparable makes an invokable tool that echoes its arguments and can be compared with others, as most
// can. Change may be nil.
func Comparable(name string, change func(*schema.ToolInfo)) tool.BaseTool {
	info := &schema.ToolInfo{
		Name: name, Desc: "d", Extra: map[string]any{"k": "v"},
		ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"p": {Type: schema.String}, "q": {Type: schema.Integer}}),
	}
	if change != nil {
		change(info)
	}
	return &comparableTool{Tool(Invokable, info, Echo).(tool.InvokableTool)}
}

type comparableTool struct{ tool.InvokableTool }

// Properties is a schema of n parameters that take about that many bytes together, in values of a keyword.
func Properties(n, bytes int, keyword string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"p%04d":{"type":"string","%s":"%s"}`, i, keyword, strings.Repeat("x", max(0, bytes/n-40)))
	}
	return `{"type":"object","properties":{` + b.String()[1:] + `},"required":["p0001"]}`
}

// Drain reads a stream to its end, which may be an error.
func Drain[T any](r *schema.StreamReader[T]) (out []T, err error) {
	defer r.Close()
	for {
		chunk, err := r.Recv()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, chunk)
	}
}

// EachType runs a test for both message types.
func EachType(t *testing.T, plain, agentic func(*testing.T)) {
	t.Helper()
	t.Run("Message", plain)
	t.Run("AgenticMessage", agentic)
}

// Both runs a test for both message types, streaming and not.
func Both(t *testing.T, plain func(*testing.T, bool), agentic func(*testing.T, bool)) {
	t.Helper()
	for name, streaming := range map[string]bool{"generate": false, "stream": true} {
		t.Run("Message/"+name, func(t *testing.T) { plain(t, streaming) })
		t.Run("AgenticMessage/"+name, func(t *testing.T) { agentic(t, streaming) })
	}
}

// Handlers is a shorthand for a list of middlewares.
func Handlers[M adk.MessageType](h ...adk.TypedChatModelAgentMiddleware[M]) []adk.TypedChatModelAgentMiddleware[M] {
	return h
}
