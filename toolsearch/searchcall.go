// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file holds the SearchCall protocol: tool_search shows schemas, call_tool runs one.

import (
	"context"
	"encoding/json"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

type describedTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

type describedAnswer struct {
	Tools []describedTool `json:"tools"`
	Hint  string          `json:"hint,omitempty"`
}

func (g *group) searchCallTools() []*metaTool {
	return []*metaTool{
		{
			group: g, name: searchToolName, answer: describeTools,
			info: func() *schema.ToolInfo {
				return metaInfo("tool_search_call", searchToolName, map[string]*schema.ParameterInfo{
					"query":       {Type: schema.String, Required: true},
					"max_results": {Type: schema.Integer},
				})
			},
		},
		{
			group: g, name: callToolName,
			info: func() *schema.ToolInfo {
				return metaInfo("call_tool", callToolName, map[string]*schema.ParameterInfo{
					"name":      {Type: schema.String, Required: true},
					"arguments": {Type: schema.Object, Required: true},
				})
			},
		},
	}
}

func describeTools(ctx context.Context, r *run, a arguments) (string, error) {
	f, err := r.find(ctx, queriesOf(a), a.number(limitKeys...), r.loadable)
	answer := describedAnswer{Tools: []describedTool{}, Hint: f.hint()}
	for _, x := range f.found {
		i := x.entry.info
		answer.Tools = append(answer.Tools, describedTool{i.Name, i.Desc, json.RawMessage(x.entry.parameters())})
	}
	return encode(answer), err
}

// callTool makes call_tool of the form that keeps what the hidden tools return: plain text
// where none of them is enhanced, since some providers take nothing else.
func (g *group) callTool(m *metaTool) tool.BaseTool {
	for _, e := range g.cat.entries {
		if isEnhanced(e.tool) {
			return enhancedCall{m}
		}
	}
	return plainCall{m}
}

// proxied is a call that may run, or the answer to one that may not.
type proxied struct {
	ctx    context.Context
	tool   tool.BaseTool
	args   string
	answer string
}

// proxy reads the arguments of call_tool.
func (t *metaTool) proxy(ctx context.Context, args string) proxied {
	r, a := t.run(ctx), decodeArguments(args)
	name := first(a.texts("name", "tool_name", "toolname", "tool"))
	if name == "" {
		return proxied{answer: say("no-call-name", hint{})}
	}
	e, ok := r.group.cat.resolve(name)
	if !ok || !r.allowed(ctx, e, PhaseLoad) || !r.allowed(ctx, e, PhaseCall) {
		return proxied{answer: r.noSuchTool(ctx, name)}
	}
	text, problem := e.fit(a.fields["arguments"], a.raw("arguments"))
	if problem != "" {
		return proxied{answer: say("bad-arguments", hint{Name: e.info.Name, Reason: problem, Schema: e.parameters()})}
	}
	return proxied{ctx: context.WithValue(ctx, proxyKey{}, e), tool: r.toolOf(e), args: text}
}

// proxyKey marks a context in which call_tool has let a call through.
type proxyKey struct{}

// toolOf is this run's instance of a tool.
func (r *run) toolOf(e *entry) tool.BaseTool {
	if t := r.tools[e]; t != nil {
		return t
	}
	return e.tool
}

type plainCall struct{ *metaTool }

// InvokableRun runs the named tool.
func (c plainCall) InvokableRun(ctx context.Context, args string, opts ...tool.Option) (string, error) {
	s, err := c.StreamableRun(ctx, args, opts...)
	if err != nil {
		return "", err
	}
	return joinText(s)
}

// StreamableRun runs the named tool, passing on its chunks as they come.
func (c plainCall) StreamableRun(ctx context.Context, args string, opts ...tool.Option) (*schema.StreamReader[string], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := c.proxy(ctx, args)
	if p.tool == nil {
		return schema.StreamReaderFromArray([]string{p.answer}), nil
	}
	return runPlain(p, opts)
}

type enhancedCall struct{ *metaTool }

// InvokableRun runs the named tool.
func (c enhancedCall) InvokableRun(ctx context.Context, args *schema.ToolArgument, opts ...tool.Option) (*schema.ToolResult, error) {
	s, err := c.StreamableRun(ctx, args, opts...)
	if err != nil {
		return nil, err
	}
	return joinResults(s)
}

// StreamableRun runs the named tool, passing on its chunks as they come.
func (c enhancedCall) StreamableRun(ctx context.Context, args *schema.ToolArgument, opts ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := c.proxy(ctx, argumentText(args))
	if p.tool == nil {
		return schema.StreamReaderFromArray([]*schema.ToolResult{textResult(p.answer)}), nil
	}
	return runEnhanced(p, opts)
}
