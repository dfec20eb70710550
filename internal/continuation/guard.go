// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package continuation

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
)

// Keeper is what a middleware knows of its own changes to a request.
type Guard[M adk.MessageType] struct {
	// Key is that of the marks, in Extra.
	Key string
	// Mark is the mark of an answer to a request; "" leaves the answer as it is.
	Mark func(input []M, t Continuation) string
	// Stale returns a function that reports, for messages of the request in order, whether an
	// answer with this tie and mark would be another one now.
	Stale func(input []M) func(i int, t Continuation, mark string) bool
	// Changed is called if the newest answer was tied to something that has changed since.
	Changed func(context.Context)
}

// Model returns a model whose requests have only ties that hold, and whose answers are marked.
// A request is a function of its messages and their marks alone: what was released once is
// released again as long as the change lasts, and the answers after it count on that.
func (k Guard[M]) Model(m model.BaseModel[M]) model.BaseModel[M] { return &kept[M]{m, k} }

type kept[M adk.MessageType] struct {
	model  model.BaseModel[M]
	keeper Guard[M]
}

// Generate asks the model.
func (m *kept[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	input, bound := m.keeper.release(ctx, input)
	out, err := m.model.Generate(ctx, input, opts...)
	if err != nil {
		return out, err
	}
	out, _ = m.keeper.marked(input, out, bound)
	return out, nil
}

// Stream marks the first chunk that shows the tie: chunks are joined, and what two of them
// carry would be joined too.
func (m *kept[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	input, bound := m.keeper.release(ctx, input)
	out, err := m.model.Stream(ctx, input, opts...)
	if err != nil || out == nil {
		return out, err
	}
	done := false
	return schema.StreamReaderWithConvert(out, func(chunk M) (M, error) {
		if !done {
			chunk, done = m.keeper.marked(input, chunk, bound)
		}
		return chunk, nil
	}), nil
}

// release returns a request with only ties that hold, and whether any thinking came with it.
func (k Guard[M]) release(ctx context.Context, input []M) (_ []M, bound bool) {
	if !Any(input) {
		return input, false
	}
	stale := k.Stale(input)
	next, changed := DropStale(input, func(i int, t Continuation) bool { return stale(i, t, MarkOf(input[i], k.Key)) })
	if changed {
		k.Changed(ctx)
	}
	return next, anyBound(input)
}

// marked returns an answer with its mark, or the chunk of it that shows the tie. bound says that
// the conversation holds thinking: all answers are marked then.
func (k Guard[M]) marked(input []M, answer M, bound bool) (_ M, done bool) {
	t := tieOf(answer)
	if bound && isAnswer(answer) || message.IsClaudes(answer) { // its thinking may be in another chunk
		t = SignedThinking
	}
	if t == None {
		return answer, false
	}
	if mark := k.Mark(input, t); mark != "" {
		answer = Marked(answer, k.Key, mark)
	}
	return answer, true
}
