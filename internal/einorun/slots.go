// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einorun

import (
	"context"

	"github.com/cloudwego/eino/schema"
)

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
