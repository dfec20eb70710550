// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file hands streams to a user's handler.

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx"
)

// streamed returns what takes the place of a stream. An error is that of a user's
// callback; src is closed then.
func streamed[T any](ctx context.Context, t *truncator, j job, chunks chunker[T], src *schema.StreamReader[T]) (*schema.StreamReader[T], error) {
	if j.leave != "" || j.trunc == nil {
		return cutStream(ctx, t, j, chunks, src), nil
	}
	both := own(src).Copy(2)
	h := &handed[T]{t: t, j: j, chunks: chunks, original: both[0], copied: both[1]}
	out, err := h.ask(ctx)
	if err != nil || out == nil {
		shut(h.copied)
	}
	if errors.Is(err, UseDefault) {
		return cutStream(ctx, t, j.byDefault(), chunks, h.original), nil
	}
	if err != nil {
		shut(h.original)
		return nil, err
	}
	if out == nil {
		return cutStream(ctx, t, j.keeping(ReasonHandler), chunks, h.original), nil
	}
	shut(h.original)
	return out, nil
}

// handed is a stream that a user's handler decides on.
type handed[T any] struct {
	t        *truncator
	j        job
	chunks   chunker[T]
	original *schema.StreamReader[T]
	copied   *schema.StreamReader[T]
	size     atomic.Int64 // bytes that the handler has read, on whatever goroutine
}

// ask returns what the handler wants in the place of the stream, nil for nothing.
func (h *handed[T]) ask(ctx context.Context) (*schema.StreamReader[T], error) {
	detail := h.j.detail(nil)
	detail.StreamToolResult = schema.StreamReaderWithConvert(h.copied, func(chunk T) (*schema.ToolResult, error) {
		h.chunks.each(chunk, func(text string) { h.size.Add(int64(len(text))) })
		return h.chunks.result(chunk), nil
	})
	got, err := h.j.trunc(ctx, detail)
	if err != nil {
		if got != nil && got.StreamToolResult != nil {
			shut(got.StreamToolResult)
		}
		return nil, err
	}
	if got == nil || !got.NeedTrunc || got.StreamToolResult == nil && (got.ToolResult == nil || len(got.ToolResult.Parts) == 0) {
		return nil, nil
	}
	if ok, err := h.t.offload(ctx, h.j, got, output{before: h.read(), after: h.read(), stream: true}); !ok {
		if got.StreamToolResult != nil {
			shut(got.StreamToolResult)
		}
		return nil, err
	}
	return h.out(ctx, got), nil
}

// read is how many bytes the handler has read so far.
func (h *handed[T]) read() int { return int(h.size.Load()) }

// tell reports that the handler's stream has taken the place of the original.
func (h *handed[T]) tell(ctx context.Context, got *TruncResult, after int) {
	h.j.report(ctx, h.t, output{kind: leanctx.KindResultCut, rule: byHandler, before: h.read(), after: after, path: got.OffloadFilePath, stream: true})
}

// out is the handler's stream. When it ends, the handler's copy of the original
// is closed, which the handler may have left unread.
func (h *handed[T]) out(ctx context.Context, got *TruncResult) *schema.StreamReader[T] {
	if got.StreamToolResult == nil {
		shut(h.copied)
		h.tell(ctx, got, sizeOf(textsOf(got.ToolResult.Parts)))
		return schema.StreamReaderFromArray([]T{h.chunks.first(got.ToolResult)})
	}
	over, size := false, 0
	closing := func(err error) error {
		switch {
		case isSourceEnd(err):
			return err
		case over && errors.Is(err, schema.ErrRecvAfterClosed):
			return io.EOF
		}
		if !over {
			h.tell(ctx, got, size)
		}
		over = true
		shut(h.copied)
		return err
	}
	return schema.StreamReaderWithConvert(got.StreamToolResult, func(r *schema.ToolResult) (T, error) {
		chunk := h.chunks.first(r)
		h.chunks.each(chunk, func(text string) { size += len(text) })
		return chunk, nil
	}, schema.WithErrWrapper(closing), schema.WithOnEOF(func() (any, error) { return nil, closing(io.EOF) }))
}
