// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package adktest

import (
	"context"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
)

// Narrow is a model with a window: requests that are too long are refused, and the model that it is
// around does not see them.
type Narrow[M adk.MessageType] struct {
	*Model[M]
	Refuse func(input []M) error // nil if a request fits
	Inside bool                  // a stream's first thing is the error

	mu       sync.Mutex
	refusals []int
}

// Refused are the refused requests, each by the number of requests that had been answered before.
func (n *Narrow[M]) Refused() []int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]int(nil), n.refusals...)
}

func (n *Narrow[M]) check(input []M) error {
	err := n.Refuse(input)
	if err == nil {
		return nil
	}
	answered := len(n.Wires())
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refusals = append(n.refusals, answered)
	return err
}

// Generate answers or refuses.
func (n *Narrow[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	if err := n.check(input); err != nil {
		return *new(M), err
	}
	return n.Model.Generate(ctx, input, opts...)
}

// Stream answers or refuses.
func (n *Narrow[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	if err := n.check(input); err != nil && n.Inside {
		return Broken[M](nil, err), nil
	} else if err != nil {
		return nil, err
	}
	return n.Model.Stream(ctx, input, opts...)
}

// Bytes are those of the texts of messages.
func Bytes[M adk.MessageType](msgs []M) (n int) {
	for _, m := range msgs {
		n += len(Text(m))
	}
	return n
}
