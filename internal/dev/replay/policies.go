// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"context"

	"github.com/cloudwego/eino/adk"
	theirs "github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// Policies are those that are compared. The first reduces nothing. All of them count
// tokens alike.
func Policies() []Policy {
	return []Policy{
		{"no reduction", func(context.Context, *store.Memory, int64) (adk.ChatModelAgentMiddleware, error) {
			return nil, nil
		}},
		{"cut at 50,000 bytes only", withConfig(func(c *reduction.Config, _ int64) { c.SkipClear = true })},
		{"Eino", einoReduction},
		{"einolean", withConfig(func(*reduction.Config, int64) {})},
		{"einolean, Recommended", recommended},
		{"einolean, ClearTargetTokens half", withConfig(func(c *reduction.Config, trigger int64) { c.ClearTargetTokens = trigger / 2 })},
		{"einolean, ClearRetentionSuffixLimit 3", withConfig(func(c *reduction.Config, _ int64) { c.ClearRetentionSuffixLimit = 3 })},
		{"einolean, ClearRetentionSuffixLimit 5", withConfig(func(c *reduction.Config, _ int64) { c.ClearRetentionSuffixLimit = 5 })},
		{"einolean, MinSavingBytes 8,000", withConfig(func(c *reduction.Config, _ int64) { c.MinSavingBytes = 8000 })},
		{"einolean, ClearAtLeastTokens a quarter", withConfig(func(c *reduction.Config, trigger int64) { c.ClearAtLeastTokens = trigger / 4 })},
		{"einolean, MaxLengthForTrunc 12,000", withConfig(func(c *reduction.Config, _ int64) { c.MaxLengthForTrunc = 12_000 })},
		{"einolean, cut at 12,000, save a quarter", withConfig(func(c *reduction.Config, trigger int64) {
			c.MinSavingBytes, c.ClearAtLeastTokens, c.MaxLengthForTrunc = 2000, trigger/4, 12_000
		})},
		{"context editing, keep 3, at least a quarter", maskingPolicy(func(trigger int64) maskingHandler {
			return maskingHandler{trigger: trigger, retained: 3, minSaving: trigger / 4}
		})},
		{"low mark, keep 5", maskingPolicy(func(trigger int64) maskingHandler {
			return maskingHandler{trigger: trigger, retained: 5, target: trigger / 2}
		})},
		{"mask all but the last 10", maskingPolicy(func(int64) maskingHandler { return maskingHandler{retained: 10} })},
	}
}

// withConfig is this module's middleware with what set changes.
func withConfig(set func(c *reduction.Config, trigger int64)) NewHandler {
	return func(ctx context.Context, files *store.Memory, trigger int64) (adk.ChatModelAgentMiddleware, error) {
		c := &reduction.Config{Backend: files, MaxTokensForClear: trigger}
		set(c, trigger)
		return reduction.New(ctx, c)
	}
}

// recommended is the preset at another threshold in proportion.
func recommended(ctx context.Context, files *store.Memory, trigger int64) (adk.ChatModelAgentMiddleware, error) {
	c := reduction.Recommended(files)
	c.ClearAtLeastTokens = c.ClearAtLeastTokens * trigger / c.MaxTokensForClear
	c.MaxTokensForClear = trigger
	return reduction.New(ctx, c)
}

// einoReduction is Eino's package, configured to leave the answers of the read tool alone: it
// would store pages of what it stored.
func einoReduction(ctx context.Context, files *store.Memory, trigger int64) (adk.ChatModelAgentMiddleware, error) {
	return theirs.New(ctx, &theirs.Config{Backend: files, MaxTokensForClear: trigger, TruncExcludeTools: []string{readTool},
		TokenCounter: func(_ context.Context, msgs []*schema.Message, _ []*schema.ToolInfo) (n int64, err error) {
			for _, m := range msgs {
				n += Tokens(m)
			}
			return n, nil
		}})
}

// maskingHandler replaces old results with a placeholder, as other agents do. Nothing is
// stored: the agent has to call the tool again for what was replaced.
type maskingHandler struct {
	adk.BaseChatModelAgentMiddleware
	trigger   int64 // tokens from which on something is replaced
	retained  int   // results that stay
	target    int64 // tokens at which replacing ends; zero: everything is replaced
	minSaving int64 // tokens that replacing must save
}

func maskingPolicy(make func(trigger int64) maskingHandler) NewHandler {
	return func(_ context.Context, _ *store.Memory, trigger int64) (adk.ChatModelAgentMiddleware, error) {
		m := make(trigger)
		return &m, nil
	}
}

const placeholder = "[Old tool result cleared]"

// BeforeModelRewriteState replaces results, oldest first.
func (m *maskingHandler) BeforeModelRewriteState(
	ctx context.Context, state *adk.ChatModelAgentState, _ *adk.ModelContext,
) (context.Context, *adk.ChatModelAgentState, error) {
	var all, saved int64
	var results []int
	for i, msg := range state.Messages {
		all += Tokens(msg)
		if msg.Role == schema.Tool {
			results = append(results, i)
		}
	}
	if all < m.trigger || len(results) <= m.retained {
		return ctx, state, nil
	}
	out := &adk.ChatModelAgentState{Messages: append([]*schema.Message(nil), state.Messages...)}
	for _, i := range results[:len(results)-m.retained] {
		if m.target > 0 && all-saved < m.target {
			break
		}
		with := *out.Messages[i]
		with.Content = placeholder
		if gain := Tokens(out.Messages[i]) - Tokens(&with); gain > 0 {
			saved += gain
			out.Messages[i] = &with
		}
	}
	if saved == 0 || saved < m.minSaving {
		return ctx, state, nil
	}
	return ctx, out, nil
}
