// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package compare

// The settings that are compared.

import (
	"context"

	"github.com/cloudwego/eino/adk"
	einosearch "github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch"
	"github.com/cloudwego/eino/components/tool"

	"github.com/einolean/einolean/programs"
	"github.com/einolean/einolean/programs/javascript"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

type (
	tools    = []tool.BaseTool
	handlers = []adk.ChatModelAgentMiddleware
)

// Hides is an arm that hides all tools behind package toolsearch.
func Hides(name string, config func(tools []tool.BaseTool) *toolsearch.Config) Arm {
	return Arm{name, func(ctx context.Context, all tools) (tools, handlers, error) {
		h, err := toolsearch.New(ctx, config(all))
		return nil, handlers{h}, err
	}}
}

// with is a configuration with a protocol.
func with(p toolsearch.Protocol) func(tools) *toolsearch.Config {
	return func(all tools) *toolsearch.Config { return &toolsearch.Config{DynamicTools: all, Protocol: p} }
}

// recommended is an arm with the recommended configuration, but for its protocol and the number of prefetched tools.
func recommended(name string, p toolsearch.Protocol, prefetch int) Arm {
	return Hides(name, func(all tools) *toolsearch.Config {
		c := toolsearch.Recommended(all)
		c.Protocol, c.Prefetch = p, prefetch
		return c
	})
}

// runs is the arm of programs over hidden tools.
func runs(ctx context.Context, all tools) (tools, handlers, error) {
	first, err := programs.New(ctx, &programs.Config{Interpreter: javascript.New(javascript.Limits{}), MaxIterations: maxIterations})
	if err != nil {
		return nil, nil, err
	}
	search, err := toolsearch.New(ctx, with(toolsearch.SearchCall)(all))
	return nil, handlers{first, search}, err
}

// Direct is the arm that lists every tool.
var Direct = Arm{"every tool is listed", func(_ context.Context, all tools) (tools, handlers, error) { return all, nil, nil }}

// Arms are the settings of tools that are compared: those of einolean, and Eino's. A new one is a
// new line. The caller owns the slice.
func Arms() []Arm {
	return []Arm{
		Direct,
		{"Eino v0.9.21 `toolsearch`", func(ctx context.Context, all tools) (tools, handlers, error) {
			h, err := einosearch.New(ctx, &einosearch.Config{DynamicTools: all})
			return nil, handlers{h}, err
		}},
		Hides("`Keyword`", with(toolsearch.Keyword)),
		Hides("`Regexp`", with(toolsearch.Regexp)),
		Hides("`SearchLoad`", with(toolsearch.SearchLoad)),
		Hides("`SearchCall`", with(toolsearch.SearchCall)),
		{"`SearchCall`, `programs`", runs},
		Hides("`Recommended`", toolsearch.Recommended),
		recommended("`Recommended`, `Keyword`, no `Prefetch`", toolsearch.Keyword, 0),
		recommended("`Recommended`, no `Prefetch`", toolsearch.SearchCall, 0),
		recommended("`Recommended`, `Prefetch: 3`", toolsearch.SearchCall, 3),
	}
}

// Reduced is the arm with reduction.Recommended besides.
func Reduced(a Arm) Arm {
	return Arm{a.Name + ", reduced", func(ctx context.Context, all tools) (tools, handlers, error) {
		own, h, err := a.Set(ctx, all)
		if err != nil {
			return nil, nil, err
		}
		reduce, err := reduction.New(ctx, reduction.Recommended(store.NewMemory(0)))
		return own, append(h, reduce), err
	}}
}
