// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package session

// This file marks what a model answers.

import (
	"context"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
)

// Marking returns a model whose answers carry a mark under a key of Extra, if the
// provider keeps the conversation up to them. mark makes it from the messages of the
// request; it is called only for such an answer, and "" leaves the answer as it is.
func Marking[M Message](m model.BaseModel[M], key string, mark func(input []M) string) model.BaseModel[M] {
	return &marking[M]{model: m, key: key, mark: mark}
}

type marking[M Message] struct {
	model model.BaseModel[M]
	key   string
	mark  func([]M) string
}

func (m *marking[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	out, err := m.model.Generate(ctx, input, opts...)
	if err != nil || !isKept(out) {
		return out, err
	}
	if mark := m.mark(input); mark != "" {
		out = marked(out, m.key, mark)
	}
	return out, nil
}

// Stream marks the first chunk that has a response id: chunks are joined, and what
// two of them carry would be joined too.
func (m *marking[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	out, err := m.model.Stream(ctx, input, opts...)
	if err != nil || out == nil {
		return out, err
	}
	done := false
	return schema.StreamReaderWithConvert(out, func(chunk M) (M, error) {
		if done || !isKept(chunk) {
			return chunk, nil
		}
		done = true
		if mark := m.mark(input); mark != "" {
			chunk = marked(chunk, m.key, mark)
		}
		return chunk, nil
	}), nil
}
