// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"context"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/toolnames"
)

// WrapModel returns a model whose answers bind slots as soon as they contain the name of a call. So calls that run
// while the answer streams find their tools.
func WrapModel[M adk.MessageType](s *Slots, m model.BaseModel[M]) model.BaseModel[M] {
	return slotModel[M]{m, s}
}

type slotModel[M adk.MessageType] struct {
	model model.BaseModel[M]
	slots *Slots
}

// Generate calls the model.
func (m slotModel[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	out, err := m.model.Generate(ctx, input, opts...)
	if err != nil {
		return out, err
	}
	return bindChunk(ctx, m.slots, out, &streamedCall{}), nil
}

// Stream calls the model.
func (m slotModel[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	out, err := m.model.Stream(ctx, input, opts...)
	if err != nil || out == nil {
		return out, err
	}
	last := &streamedCall{}
	return schema.StreamReaderWithConvert(out, func(chunk M) (M, error) {
		return bindChunk(ctx, m.slots, chunk, last), nil
	}), nil
}

// streamedCall is the last call in an answer so far. What call_tool calls is known once its arguments are complete.
// Parsing them with each piece would take quadratic time, so pieces finds the end.
type streamedCall struct {
	call   message.ToolCall
	args   strings.Builder
	pieces jsontext.ValueScanner
}

// appendArguments adds a piece of the arguments, and reports whether they are complete with it.
func (c *streamedCall) appendArguments(piece string) (isComplete bool) {
	c.args.WriteString(piece)
	if isComplete = c.pieces.Add(piece); isComplete {
		c.call.Args = c.args.String()
	}
	return isComplete
}

// bindChunk binds slots to the calls that start in a chunk, and to the call of call_tool whose arguments end in it.
func bindChunk[M adk.MessageType](ctx context.Context, s *Slots, chunk M, last *streamedCall) M {
	var calls []message.ToolCall
	for _, c := range message.Calls(chunk) {
		switch {
		case c.Name != "":
			if *last = (streamedCall{call: c}); c.Name == toolnames.Call {
				last.appendArguments(c.Args)
			}
		case last.call.Name != toolnames.Call || !last.appendArguments(c.Args):
			continue
		}
		calls = append(calls, last.call)
	}
	if len(calls) == 0 {
		return chunk
	}
	return message.EditCalls(chunk, s.BindStreamed(ctx, calls))
}
