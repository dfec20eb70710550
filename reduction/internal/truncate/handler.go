// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package truncate

// Results that the user's handler replaces: complete ones and streams.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

// applyHandler returns the replacement that the user's handler has for a result, nil if the result stays.
func (t truncation) applyHandler(ctx context.Context, result *schema.ToolResult) (*schema.ToolResult, error) {
	size := rounds.Bytes(result.Parts)
	answer, err := t.truncator.TruncHandler(ctx, t.detail(copyResult(result)))
	switch {
	case err != nil:
		return nil, err
	case answer.ByDefault:
		t.policy = t.policy.ByDefault()
		return t.applyPolicy(ctx, result)
	case !answer.Replaces || !hasParts(answer.Result):
		t.reportKept(ctx, report.Outcome{Reason: toolpolicy.Handler, Before: size}, firstText(result))
		return nil, nil
	}
	if ok, err := t.storeAnswer(ctx, answer, report.Outcome{Before: size, After: size}); !ok {
		return nil, err
	}
	t.report(ctx, report.Outcome{
		Kind: einolean.KindResultTruncated, Rule: report.ByHandler,
		Before: size, After: rounds.Bytes(answer.Result.Parts), Path: answer.Path,
	})
	return answer.Result, nil
}

func hasParts(r *schema.ToolResult) bool { return r != nil && len(r.Parts) > 0 }

// storeAnswer stores the content of a handler's answer. If ok is false, the original is passed on; if the store
// failed, o is reported.
func (t truncation) storeAnswer(ctx context.Context, answer Answer, o report.Outcome) (ok bool, err error) {
	if !answer.Stores {
		return true, nil
	}
	if t.policy.Store == nil {
		return false, fmt.Errorf("reduction: truncating a result of %q: %w", t.tool.Name, toolpolicy.ErrNoStore)
	}
	place := offload.Place{Path: answer.Path, Fixed: true}
	item := offload.Item{Store: t.policy.Store, At: place, Content: answer.Content}
	if saved := t.truncator.Files.Save(ctx, item); saved.Err != nil {
		o.Kind, o.Err = einolean.KindStoreFailed, saved.Err
		t.report(ctx, o)
		return false, nil
	}
	return true, nil
}

// applyStreamHandler passes a stream to the user's handler and returns the stream that replaces it. On an error of
// the handler, src is closed.
func applyStreamHandler[T any](
	ctx context.Context, t truncation, src *schema.StreamReader[T],
) (*schema.StreamReader[T], error) {
	copies := ownStream(src).Copy(2)
	original, forHandler := copies[0], copies[1]
	out, byDefault, err := askStreamHandler(ctx, t, forHandler)
	if err != nil || out == nil {
		closeStream(forHandler)
	}
	switch {
	case byDefault:
		t.policy = t.policy.ByDefault()
		return truncateStream(ctx, t, original), nil
	case err == nil && out == nil:
		t.policy.SkipReason = toolpolicy.Handler
		return truncateStream(ctx, t, original), nil
	}
	closeStream(original)
	return out, err
}

// askStreamHandler gives a copy of a stream to the user's handler. It returns the replacement of the stream, nil if
// the stream stays, and whether the handler leaves the decision to the default.
func askStreamHandler[T any](
	ctx context.Context, t truncation, forHandler *schema.StreamReader[T],
) (out *schema.StreamReader[T], byDefault bool, err error) {
	var size atomic.Int64 // bytes that the handler has read, on any goroutine
	detail := t.detail(nil)
	detail.Stream = schema.StreamReaderWithConvert(forHandler, func(chunk T) (*schema.ToolResult, error) {
		eachText(chunk, func(text string) { size.Add(int64(len(text))) })
		return toResult(chunk), nil
	})
	answer, err := t.truncator.TruncHandler(ctx, detail)
	if err != nil || answer.ByDefault {
		if answer.Stream != nil {
			closeStream(answer.Stream)
		}
		return nil, answer.ByDefault, err
	}
	if !answer.Replaces || answer.Stream == nil && !hasParts(answer.Result) {
		return nil, false, nil
	}
	read := int(size.Load())
	if ok, err := t.storeAnswer(ctx, answer, report.Outcome{Before: read, After: read, Stream: true}); !ok {
		if answer.Stream != nil {
			closeStream(answer.Stream)
		}
		return nil, false, err
	}
	return replacementStream(answer, forHandler, func(after int) {
		t.report(ctx, report.Outcome{
			Kind: einolean.KindResultTruncated, Rule: report.ByHandler,
			Before: int(size.Load()), After: after, Path: answer.Path, Stream: true,
		})
	}), false, nil
}

// replacementStream returns the stream of a handler's answer. At its end it calls onEnd with the number of bytes of
// the stream. It also closes the handler's copy of the original, of which the handler may have left a part unread.
func replacementStream[T any](
	answer Answer, forHandler *schema.StreamReader[T], onEnd func(bytes int),
) *schema.StreamReader[T] {
	if answer.Stream == nil {
		closeStream(forHandler)
		onEnd(rounds.Bytes(answer.Result.Parts))
		return schema.StreamReaderFromArray([]T{fromResult[T](answer.Result)})
	}
	ended, size := false, 0
	end := func(err error) error {
		switch {
		case isSourceEnd(err):
			return err
		case ended && errors.Is(err, schema.ErrRecvAfterClosed):
			return io.EOF
		}
		if !ended {
			onEnd(size)
		}
		ended = true
		closeStream(forHandler)
		return err
	}
	return schema.StreamReaderWithConvert(answer.Stream, func(r *schema.ToolResult) (T, error) {
		chunk := fromResult[T](r)
		eachText(chunk, func(text string) { size += len(text) })
		return chunk, nil
	}, schema.WithErrWrapper(end), schema.WithOnEOF(func() (any, error) { return nil, end(io.EOF) }))
}
