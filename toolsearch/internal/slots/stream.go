// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"context"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
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
	m.slots.beginBatch() // another one if the model is asked again
	out, err := m.model.Generate(ctx, input, opts...)
	if err != nil {
		return out, err
	}
	return bindChunk(ctx, m.slots, out), nil
}

// Stream calls the model.
func (m slotModel[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	m.slots.beginBatch() // another one if the model is asked again
	out, err := m.model.Stream(ctx, input, opts...)
	if err != nil || out == nil {
		return out, err
	}
	return schema.StreamReaderWithConvert(out, func(chunk M) (M, error) {
		return bindChunk(ctx, m.slots, chunk), nil
	}), nil
}

// bindChunk binds slots to the tools whose calls begin in a chunk.
func bindChunk[M adk.MessageType](ctx context.Context, s *Slots, chunk M) M {
	calls := slices.DeleteFunc(message.Calls(chunk), func(c message.ToolCall) bool { return c.Name == "" })
	if len(calls) == 0 {
		return chunk
	}
	return message.EditCalls(chunk, s.BindStreamed(ctx, calls))
}
