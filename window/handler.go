// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/programturn"
)

// Handler returns a handler for one agent. It must be the last of the agent's Handlers,
// since it does not see what later ones change. It never changes anything itself.
func (c *Collector) Handler() adk.ChatModelAgentMiddleware { return HandlerFor[*schema.Message](c) }

// HandlerFor is [Collector.Handler] for either message type.
func HandlerFor[M adk.MessageType](c *Collector) adk.TypedChatModelAgentMiddleware[M] {
	return einorun.New(&handler[M]{&adk.TypedBaseChatModelAgentMiddleware[M]{}, c})
}

type handler[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	collector *Collector
}

// Begin opens a run, and also one that resumes after an interrupt.
func (h *handler[M]) Begin(ctx context.Context, run *einorun.RunContext) (context.Context, error) {
	var hidden map[string]int
	if run != nil {
		hidden = h.collector.hiddenAmong(ctx, run.Tools)
	}
	return h.collector.beginRun(ctx, hidden), nil
}

// WrapModel returns a model whose calls are recorded. Retries and failover wrap it, so
// that each attempt is recorded.
func (h *handler[M]) WrapModel(ctx context.Context, m model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	if programturn.InProgramTurn(ctx) {
		return m, nil // a program goes on: no model is called
	}
	return &recordingModel[M]{m, h.collector}, nil
}

type recordingModel[M adk.MessageType] struct {
	model.BaseModel[M]
	collector *Collector
}

// Generate passes the request on and records both.
func (w *recordingModel[M]) Generate(ctx context.Context, in []M, opts ...model.Option) (M, error) {
	call := recordRequest(ctx, w.collector, in, opts, false)
	out, err := w.BaseModel.Generate(ctx, in, opts...)
	recordAnswer(w.collector, call, []M{out}, time.Time{}, err)
	return out, err
}

// Stream records the chunks as they pass: none is copied, delayed or read ahead.
func (w *recordingModel[M]) Stream(ctx context.Context, in []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	call := recordRequest(ctx, w.collector, in, opts, true)
	out, err := w.BaseModel.Stream(ctx, in, opts...)
	if err != nil || out == nil {
		recordAnswer[M](w.collector, call, nil, time.Time{}, err)
		return out, err
	}
	var (
		mu     sync.Mutex
		chunks []M
		first  time.Time
	)
	seen := func(err error) {
		mu.Lock()
		all, at := chunks, first
		mu.Unlock()
		recordAnswer(w.collector, call, all, at, err)
	}
	return schema.StreamReaderWithConvert(out, func(m M) (M, error) {
		mu.Lock()
		defer mu.Unlock()
		if first.IsZero() {
			first = time.Now()
		}
		chunks = append(chunks, m)
		return m, nil
	}, schema.WithOnEOF(func() (any, error) {
		seen(nil)
		return nil, io.EOF
	}), schema.WithErrWrapper(func(err error) error {
		seen(err)
		return err
	})), nil
}
