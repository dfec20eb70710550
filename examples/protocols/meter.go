// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/demo/offline"
)

// call is what one model call was sent, in bytes.
type call struct {
	definitions int // of the tools
	all         int
	cached      int // the longest beginning that an earlier request has as well
}

// meter measures each request before it passes it on.
type meter struct {
	model.BaseModel[*schema.Message]
	requests []string
	calls    []call
}

func newMeter() *meter { return &meter{BaseModel: offline.New[*schema.Message]()} }

// Generate measures and passes on.
func (m *meter) Generate(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	request, definitions := offline.Request(input, model.GetCommonOptions(&model.Options{}, opts...).Tools)
	c := call{definitions: definitions, all: len(request)}
	for _, earlier := range m.requests {
		c.cached = max(c.cached, offline.Common(earlier, request))
	}
	m.requests = append(m.requests, request)
	m.calls = append(m.calls, c)
	return m.BaseModel.Generate(ctx, input, opts...)
}
