// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

// form is how a tool is called: at once, in pieces, or both; with and for text, or, which is
// enhanced, results of several parts.
type form uint8

const (
	invokable form = iota
	streamable
	both
	enhancedInvokable
	enhancedStreamable
	enhancedBoth
	forms
)

// formOf is the form of a tool; forms if it has none. Of a tool with plain and enhanced forms,
// Eino prefers the enhanced ones.
func formOf(t tool.BaseTool) form {
	_, ei := t.(tool.EnhancedInvokableTool)
	_, es := t.(tool.EnhancedStreamableTool)
	_, in := t.(tool.InvokableTool)
	_, st := t.(tool.StreamableTool)
	switch {
	case ei && es:
		return enhancedBoth
	case ei:
		return enhancedInvokable
	case es:
		return enhancedStreamable
	case in && st:
		return both
	case in:
		return invokable
	case st:
		return streamable
	}
	return forms
}

// Runs reports whether a tool has a form in which it can be called.
func Runs(t tool.BaseTool) bool { return formOf(t) != forms }

// IsEnhanced reports whether a tool returns more than text.
func IsEnhanced(t tool.BaseTool) bool { return formOf(t).isEnhanced() }

func (f form) isEnhanced() bool { return f >= enhancedInvokable && f < forms }

// instead are the forms for a tool of this form, the best first.
func (f form) instead() [3]form {
	base := f - f%enhancedInvokable
	best := [...][3]form{invokable: {invokable, both, streamable}, streamable: {streamable, both, invokable}, both: {both, streamable, invokable}}[f-base]
	return [3]form{base + best[0], base + best[1], base + best[2]}
}

// asTool gives a slot a form.
func (s *slot) asTool(f form) tool.BaseTool {
	if f.isEnhanced() {
		return formed[*schema.ToolArgument, *schema.ToolResult](s, f-enhancedInvokable)
	}
	return formed[string, string](s, f)
}

func formed[I, O any](s *slot, f form) tool.BaseTool {
	switch f {
	case streamable:
		return streamSlot[I, O]{s}
	case both:
		return bothSlot[I, O]{invokeSlot[I, O]{s}}
	}
	return invokeSlot[I, O]{s}
}
