// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einorun

import (
	"context"

	"github.com/cloudwego/eino/schema"
)

// Slot is a tool that stands for hidden ones. Eino takes its tools by their Go types, so a middleware may add slots of all
// types.
type Slot interface {
	// StandsForNone reports that the slot stands for no certain tool: its Go type then says nothing of the agent's tools.
	StandsForNone() bool
}

// slotsKey is the key of the function that removes slots.
type slotsKey struct{}

// WithSlots returns a context for a run whose list of tools has slots, which stand for hidden tools: no request has them.
// The function returns a list without them, which may be the list itself.
func WithSlots(ctx context.Context, remove func([]*schema.ToolInfo) []*schema.ToolInfo) context.Context {
	return context.WithValue(ctx, slotsKey{}, remove)
}

// WithoutSlots returns a list of tools without slots. Package toolsearch removes them in its hook; until then, the first
// model call of a run has them in its list.
func WithoutSlots(ctx context.Context, infos []*schema.ToolInfo) []*schema.ToolInfo {
	if remove, ok := ctx.Value(slotsKey{}).(func([]*schema.ToolInfo) []*schema.ToolInfo); ok {
		return remove(infos)
	}
	return infos
}
