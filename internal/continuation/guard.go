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

// Guard describes the changes that a middleware makes to requests.
type Guard[M adk.MessageType] struct {
	// Key is the key of the marks in Extra.
	Key string
	// Mark returns the mark of an answer to a request. If it is empty, the answer is not marked.
	Mark func(input []M, t Continuation) string
	// Stale returns a function that reports whether the provider state of an answer with this mark is no longer
	// valid. It is called for messages of the request in order.
	Stale func(input []M) func(i int, t Continuation, mark string) bool
	// Changed is called if the state of the newest answer was stale.
	Changed func(context.Context)
}

// Model returns a model whose requests have no stale provider state, and whose answers are marked. The result depends
// only on the messages and their marks: state that was dropped once is dropped again as long as the change lasts.
func (k Guard[M]) Model(m model.BaseModel[M]) model.BaseModel[M] { return &guardedModel[M]{m, k} }

type guardedModel[M adk.MessageType] struct {
	model model.BaseModel[M]
	guard Guard[M]
}

// Generate calls the model.
func (m *guardedModel[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	input, hasThinking := m.guard.dropStale(ctx, input)
	out, err := m.model.Generate(ctx, input, opts...)
	if err != nil {
		return out, err
	}
	out, _ = m.guard.markAnswer(input, out, hasThinking)
	return out, nil
}

// Stream marks only the first chunk that shows provider state: chunks are concatenated, and so would be their marks.
func (m *guardedModel[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	input, hasThinking := m.guard.dropStale(ctx, input)
	out, err := m.model.Stream(ctx, input, opts...)
	if err != nil || out == nil {
		return out, err
	}
	done := false
	return schema.StreamReaderWithConvert(out, func(chunk M) (M, error) {
		if !done {
			chunk, done = m.guard.markAnswer(input, chunk, hasThinking)
		}
		return chunk, nil
	}), nil
}

// dropStale returns a request without stale provider state, and whether it contains signed thinking.
func (k Guard[M]) dropStale(ctx context.Context, input []M) (_ []M, hasThinking bool) {
	if !Any(input) {
		return input, false
	}
	stale := k.Stale(input)
	next, changed := DropStale(input, func(i int, t Continuation) bool { return stale(i, t, MarkOf(input[i], k.Key)) })
	if changed {
		k.Changed(ctx)
	}
	return next, hasSignedThinking(input)
}

// markAnswer returns an answer, or a chunk of it, with its mark. done is false for a chunk without provider state.
// With hasThinking, the history has signed thinking: all answers are then marked.
func (k Guard[M]) markAnswer(input []M, answer M, hasThinking bool) (_ M, done bool) {
	t := kindOf(answer)
	if hasThinking && isAnswer(answer) || message.IsFromClaude(answer) { // its thinking may be in another chunk
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
