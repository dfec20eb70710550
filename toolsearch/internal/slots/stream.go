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

// Watch has the slots bound as soon as the name of a call passes in an answer of the model:
// whoever runs calls while the answer streams finds them.
func WrapModel[M adk.MessageType](s *Slots, m model.BaseModel[M]) model.BaseModel[M] {
	return watched[M]{m, s}
}

type watched[M adk.MessageType] struct {
	model model.BaseModel[M]
	slots *Slots
}

// Generate asks the model.
func (w watched[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	out, err := w.model.Generate(ctx, input, opts...)
	if err != nil {
		return out, err
	}
	return bindChunk(ctx, w.slots, out, &streamedCall{}), nil
}

// Stream asks the model.
func (w watched[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	out, err := w.model.Stream(ctx, input, opts...)
	if err != nil || out == nil {
		return out, err
	}
	so := &streamedCall{}
	return schema.StreamReaderWithConvert(out, func(chunk M) (M, error) { return bindChunk(ctx, w.slots, chunk, so), nil }), nil
}

// heard is the last call that passed in an answer. The arguments of call_tool say what it calls once they are
// whole: to read all of them again with each piece would take quadratic time.
type streamedCall struct {
	call message.ToolCall
	args strings.Builder
	json jsontext.ValueScanner
}

// goesOn takes the next piece of the arguments, and reports whether they are whole with it.
func (h *streamedCall) appendArguments(args string) (whole bool) {
	h.args.WriteString(args)
	if whole = h.json.Add(args); whole {
		h.call.Args = h.args.String()
	}
	return whole
}

// met gives slots to the calls that a chunk begins, or whose arguments say what they call.
func bindChunk[M adk.MessageType](ctx context.Context, s *Slots, chunk M, h *streamedCall) M {
	var calls []message.ToolCall
	for _, c := range message.Calls(chunk) {
		switch {
		case c.Name != "":
			if *h = (streamedCall{call: c}); c.Name == toolnames.Call {
				h.appendArguments(c.Args)
			}
		case h.call.Name != toolnames.Call || !h.appendArguments(c.Args):
			continue
		}
		calls = append(calls, h.call)
	}
	if len(calls) == 0 {
		return chunk
	}
	return message.EditCalls(chunk, s.BindStreamed(ctx, calls))
}
