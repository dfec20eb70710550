// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file is the one place where callbacks of the user are called: every one of
// them is wrapped here, so that a panic in it is its error. What that error means
// is said where the callback is: it ends the run or the call, as an error that the
// callback returned would.

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/safe"
)

// contain wraps the callbacks of c, which is a copy of the user's configuration.
// OnEvent is not among them: see reporter.
func (c *TypedConfig[M]) contain() {
	c.GenTruncOffloadFilePath = contained("GenTruncOffloadFilePath", c.GenTruncOffloadFilePath)
	c.GenClearOffloadFilePath = contained("GenClearOffloadFilePath", c.GenClearOffloadFilePath)
	if count := c.TokenCounter; count != nil {
		c.TokenCounter = func(ctx context.Context, msgs []M, tools []*schema.ToolInfo) (int64, error) {
			return safe.Value("TokenCounter", func() (int64, error) { return count(ctx, msgs, tools) })
		}
	}
	if rewrite := c.ClearMessageRewriter; rewrite != nil {
		c.ClearMessageRewriter = func(ctx context.Context, call M, responses []M) ([]M, error) {
			return safe.Value("ClearMessageRewriter", func() ([]M, error) { return rewrite(ctx, call, responses) })
		}
	}
	for _, own := range c.ToolConfig {
		own.TruncHandler = contained("TruncHandler", own.TruncHandler)
		own.ClearHandler = contained("ClearHandler", own.ClearHandler)
	}
}

// contained wraps a callback that decides on one call of a tool.
func contained[T any](name string, f func(context.Context, *ToolDetail) (T, error)) func(context.Context, *ToolDetail) (T, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, detail *ToolDetail) (T, error) {
		return safe.Value(name, func() (T, error) { return f(ctx, detail) })
	}
}

// postProcess calls ClearPostProcess, which has no error of its own.
func (c *TypedConfig[M]) postProcess(ctx context.Context, state *adk.TypedChatModelAgentState[M]) (context.Context, error) {
	if c.ClearPostProcess == nil {
		return ctx, nil
	}
	next, err := safe.Value("ClearPostProcess", func() (context.Context, error) { return c.ClearPostProcess(ctx, state), nil })
	if err != nil || next == nil {
		return ctx, err
	}
	return next, nil
}
