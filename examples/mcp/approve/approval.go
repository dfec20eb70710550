// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// The part to copy: a handler that asks a person before a destructive tool of an MCP server runs.

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/toolsearch/mcptools"
)

// refusal is what the model is told when the person says no.
const refusal = "The user does not allow this call. It did not run. Do not repeat it; ask what to do instead."

// Approval interrupts the run before a tool of the servers runs that may delete or overwrite.
// Resume the run with true or false for the interrupt's id.
type Approval struct {
	*adk.BaseChatModelAgentMiddleware
	Servers *mcptools.Servers
}

// WrapInvokableToolCall asks before tools that return text.
func (a *Approval) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, t *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return func(ctx context.Context, args string, opts ...tool.Option) (string, error) {
		if ok, err := a.allowed(ctx, t.Name, args); err != nil || !ok {
			return refusal, err
		}
		return next(ctx, args, opts...)
	}, nil
}

// WrapEnhancedInvokableToolCall asks before tools that return media too (Options.Media).
func (a *Approval) WrapEnhancedInvokableToolCall(_ context.Context, next adk.EnhancedInvokableToolCallEndpoint, t *adk.ToolContext) (adk.EnhancedInvokableToolCallEndpoint, error) {
	return func(ctx context.Context, args *schema.ToolArgument, opts ...tool.Option) (*schema.ToolResult, error) {
		if ok, err := a.allowed(ctx, t.Name, args.Text); err != nil || !ok {
			return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: refusal}}}, err
		}
		return next(ctx, args, opts...)
	}, nil
}

// allowed reports whether a call may run. The error interrupts the run, to ask.
func (a *Approval) allowed(ctx context.Context, name, args string) (bool, error) {
	hints, err := a.hintsOf(ctx, name)
	if err != nil || hints.Server == "" || !hints.Destructive {
		return err == nil, err
	}
	is, answered, yes := tool.GetResumeContext[bool](ctx)
	if !is || !answered {
		return false, tool.StatefulInterrupt(ctx, "May "+hints.Server+" run "+hints.Tool+" with "+args+"?", args)
	}
	return yes, nil
}

// hintsOf is what the server says about a tool; nothing for tools of other origin.
func (a *Approval) hintsOf(ctx context.Context, name string) (mcptools.Hints, error) {
	tools, err := a.Servers.Tools(ctx)
	if tools == nil { // beside an error stand the tools of the servers that are up
		return mcptools.Hints{}, err
	}
	for t := range tools.All() {
		if info, err := t.Info(ctx); err == nil && info.Name == name {
			return mcptools.HintsOf(info), nil
		}
	}
	return mcptools.Hints{}, nil
}
