// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package slots

// The forms of slots and of call_tool, as the tools that Eino calls.

import (
	"context"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

// toolForm is which of Eino's tool interfaces a tool implements. Enhanced tools return results of several parts, others
// text.
type toolForm uint8

const (
	invokable toolForm = iota
	streamable
	invokableStreamable
	enhancedInvokable
	enhancedStreamable
	enhancedInvokableStreamable
	formCount
)

// formOf returns the form of a tool; formCount if it has none. Of a tool with plain and enhanced forms, Eino prefers
// the enhanced ones.
func formOf(t tool.BaseTool) toolForm {
	_, ei := t.(tool.EnhancedInvokableTool)
	_, es := t.(tool.EnhancedStreamableTool)
	_, in := t.(tool.InvokableTool)
	_, st := t.(tool.StreamableTool)
	switch {
	case ei && es:
		return enhancedInvokableStreamable
	case ei:
		return enhancedInvokable
	case es:
		return enhancedStreamable
	case in && st:
		return invokableStreamable
	case in:
		return invokable
	case st:
		return streamable
	}
	return formCount
}

// IsEnhanced reports whether a tool returns more than text.
func IsEnhanced(t tool.BaseTool) bool {
	f := formOf(t)
	return f >= enhancedInvokable && f < formCount
}

// fallbacks returns the forms of slots that a tool of this form may have, the best first.
func (f toolForm) fallbacks() [3]toolForm {
	base := f - f%enhancedInvokable
	best := [...][3]toolForm{
		invokable:           {invokable, invokableStreamable, streamable},
		streamable:          {streamable, invokableStreamable, invokable},
		invokableStreamable: {invokableStreamable, streamable, invokable},
	}[f-base]
	return [3]toolForm{base + best[0], base + best[1], base + best[2]}
}

// asTool returns a slot as a tool of a form.
func (s *slot) asTool(f toolForm) tool.BaseTool {
	if f >= enhancedInvokable {
		return newSlotTool[*schema.ToolArgument, *schema.ToolResult](s, f-enhancedInvokable)
	}
	return newSlotTool[string, string](s, f)
}

// newSlotTool returns a slot with arguments I and results O as a tool of a form that is not enhanced.
func newSlotTool[I, O any](s *slot, f toolForm) tool.BaseTool {
	switch f {
	case streamable:
		return streamSlot[I, O]{s}
	case invokableStreamable:
		return invokeStreamSlot[I, O]{invokeSlot[I, O]{s}}
	}
	return invokeSlot[I, O]{s}
}

// invokeSlot is a slot for a tool that is invoked.
type invokeSlot[I, O any] struct{ *slot }

func (s invokeSlot[I, O]) InvokableRun(ctx context.Context, args I, opts ...tool.Option) (O, error) {
	return runCall[O](s.invocation(ctx, argumentText(args)), opts)
}

// streamSlot is a slot for a tool that streams.
type streamSlot[I, O any] struct{ *slot }

func (s streamSlot[I, O]) StreamableRun(ctx context.Context, args I, opts ...tool.Option) (*schema.StreamReader[O], error) {
	return streamCall[O](s.invocation(ctx, argumentText(args)), opts)
}

// invokeStreamSlot is a slot for a tool of both forms.
type invokeStreamSlot[I, O any] struct{ invokeSlot[I, O] }

func (s invokeStreamSlot[I, O]) StreamableRun(ctx context.Context, args I, opts ...tool.Option) (*schema.StreamReader[O], error) {
	return streamCall[O](s.invocation(ctx, argumentText(args)), opts)
}

// callTool is call_tool for one kind of result.
type callTool[I, O any] struct {
	description tool.BaseTool
	host        Host
	slots       *Slots
}

// CallTools returns call_tool, once for each kind of result, with the info of another tool. The one that a batch does
// not need has the name of an unused slot.
func (s *Slots) CallTools(description tool.BaseTool) []tool.BaseTool {
	return []tool.BaseTool{
		callTool[string, string]{description, s.host, s},
		callTool[*schema.ToolArgument, *schema.ToolResult]{description, s.host, s},
	}
}

func (c callTool[I, O]) isEnhanced() bool {
	_, plain := any(*new(I)).(string)
	return !plain
}

// StandsForNone implements [einorun.Slot].
func (c callTool[I, O]) StandsForNone() bool { return true }

// GetType returns the type for callbacks.
func (c callTool[I, O]) GetType() string {
	if c.isEnhanced() {
		return "enhancedCall"
	}
	return "plainCall"
}

// Info returns the info of call_tool; that of an unused slot if the batch does not need this one.
func (c callTool[I, O]) Info(ctx context.Context) (*schema.ToolInfo, error) {
	if c.slots.needsEnhancedCallTool(ctx) != c.isEnhanced() {
		return &schema.ToolInfo{Name: spareCallTool, Desc: unusedDesc}, nil
	}
	return c.description.Info(ctx)
}

// InvokableRun runs the named tool.
func (c callTool[I, O]) InvokableRun(ctx context.Context, args I, opts ...tool.Option) (O, error) {
	return runCall[O](c.host.ResolveCallTool(ctx, argumentText(args)), opts)
}

// StreamableRun runs the named tool as a stream.
func (c callTool[I, O]) StreamableRun(ctx context.Context, args I, opts ...tool.Option) (*schema.StreamReader[O], error) {
	return streamCall[O](c.host.ResolveCallTool(ctx, argumentText(args)), opts)
}

// argumentText returns the text of the arguments of a call of either kind.
func argumentText(args any) string {
	switch a := args.(type) {
	case string:
		return a
	case *schema.ToolArgument:
		if a != nil {
			return a.Text
		}
	}
	return ""
}
