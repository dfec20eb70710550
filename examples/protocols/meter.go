// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file measures what a model is sent, and how much of it a prompt cache knows.

import (
	"context"
	"strings"
	"sync"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/examples/offline"
)

// call is what one model call was sent, in bytes.
type call struct {
	tools       int // their number
	definitions int // of the tools
	all         int
	cached      int // the longest beginning that an earlier request has as well
}

// meter measures each request before it passes it on.
type meter struct {
	model.BaseModel[*schema.Message]
	mu       sync.Mutex
	requests []string
	calls    []call
}

func newMeter() *meter { return &meter{BaseModel: offline.New[*schema.Message]()} }

// Generate measures and passes on.
func (m *meter) Generate(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	m.measure(input, model.GetCommonOptions(&model.Options{}, opts...).Tools)
	return m.BaseModel.Generate(ctx, input, opts...)
}

func (m *meter) measure(input []*schema.Message, tools []*schema.ToolInfo) {
	request, definitions := inOrder(input, tools)
	m.mu.Lock()
	defer m.mu.Unlock()
	c := call{tools: len(tools), definitions: definitions, all: len(request)}
	for _, earlier := range m.requests {
		c.cached = max(c.cached, common(earlier, request))
	}
	m.requests = append(m.requests, request)
	m.calls = append(m.calls, c)
}

// inOrder writes a request in the order in which providers read it: tools, then the
// system message, then the other messages.
func inOrder(input []*schema.Message, tools []*schema.ToolInfo) (request string, definitions int) {
	var b strings.Builder
	for _, t := range tools {
		b.Write(offline.Definition(t))
	}
	definitions = b.Len()
	for _, msg := range input {
		t := offline.Read(msg)
		b.WriteString(t.Text)
		for _, c := range t.Calls {
			b.WriteString(c.Name + c.Args)
		}
		for _, r := range t.Results {
			b.WriteString(r.Text)
		}
	}
	return b.String(), definitions
}

// common is how many bytes two texts begin with alike.
func common(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
