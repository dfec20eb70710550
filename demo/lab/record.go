// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"slices"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/demo/offline"
)

// Request is what one model call was sent.
type Request[M adk.MessageType] struct {
	Messages []M
	Tools    []string // their names, in order
	// What it cost, in tokens: a quarter of the bytes.
	Definitions, Text int
}

// Tokens is what the request cost in all.
func (r Request[M]) Tokens() int { return r.Definitions + r.Text }

// Recorder keeps each request before it passes it on. It is safe for concurrent use.
type Recorder[M adk.MessageType] struct {
	model.BaseModel[M]
	mu       sync.Mutex
	requests []Request[M]
	before   func() // called for each request; nil: nothing is
}

// Generate records and passes on.
func (r *Recorder[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	r.record(input, opts)
	return r.BaseModel.Generate(ctx, input, opts...)
}

// Stream records and passes on.
func (r *Recorder[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	r.record(input, opts)
	return r.BaseModel.Stream(ctx, input, opts...)
}

func (r *Recorder[M]) record(input []M, opts []model.Option) {
	tools := model.GetCommonOptions(&model.Options{}, opts...).Tools
	req := Request[M]{Messages: slices.Clone(input)}
	req.Text, req.Definitions = offline.Cost(input, tools)
	for _, t := range tools {
		req.Tools = append(req.Tools, t.Name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, req)
	if r.before != nil {
		r.before()
	}
}

// take returns what was recorded since the last time.
func (r *Recorder[M]) take() []Request[M] {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.requests
	r.requests = nil
	return out
}
