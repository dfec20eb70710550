// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Retries a request that the model refuses as too long: it is shortened and sent once more, and the run remembers
// how many tokens a request may have.

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
)

// overflowModel is a model for which the refusal of a long request does not end the run.
type overflowModel[M adk.MessageType] struct {
	settings *settings[M]
	model    model.BaseModel[M]
}

// Generate calls the model, and once more if the request is too long.
func (o overflowModel[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	return callWithRetry(ctx, o, input, opts, func(input []M) (M, error) {
		return o.model.Generate(ctx, input, opts...)
	})
}

// Stream does the same. A refusal may also be the first thing in a stream, so it waits for the first chunk.
func (o overflowModel[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	return callWithRetry(ctx, o, input, opts, func(input []M) (*schema.StreamReader[M], error) {
		stream, err := o.model.Stream(ctx, input, opts...)
		if err != nil || stream == nil {
			return stream, err
		}
		copies := stream.Copy(2)
		_, err = copies[0].Recv()
		copies[0].Close()
		if _, refused := o.parseRefusal(err); refused {
			copies[1].Close()
			return nil, err
		}
		return copies[1], nil
	})
}

// callWithRetry calls a model. A request that is refused as too long is shortened and sent again, once for a model
// call: what Eino retries after that is shortened at once.
func callWithRetry[M adk.MessageType, T any](
	ctx context.Context, o overflowModel[M], input []M, opts []model.Option, call func([]M) (T, error),
) (T, error) {
	run := runFrom(ctx, o.settings)
	tools := model.GetCommonOptions(&model.Options{}, opts...).Tools
	if target, refused := run.refusal(); refused {
		if shorter, _, _, err := o.shorten(ctx, input, tools, target); err == nil {
			input = shorter
		}
		return call(input)
	}
	out, err := call(input)
	named, refused := o.parseRefusal(err)
	if !refused || ctx.Err() != nil {
		return out, err
	}
	before, sizeErr := o.size(ctx, input, tools)
	if sizeErr != nil {
		return out, err
	}
	window, target := windowAfterRefusal(before, named)
	run.recordRefusal(target)
	if known := o.settings.window(ctx); known == 0 || window < known {
		_ = adk.SetRunLocalValue(ctx, windowKey, window)
	}
	shorter, after, changed, shortenErr := o.shorten(ctx, input, tools, target)
	if shortenErr != nil || !changed {
		return out, err
	}
	o.settings.reporter.Send(ctx, einolean.Event{
		Kind: einolean.KindOverflow, Err: err,
		Pass: &einolean.Pass{Before: before, After: after, Threshold: named, Target: window},
	})
	again, retryErr := call(shorter)
	if _, refused := o.parseRefusal(retryErr); refused {
		return out, err
	}
	return again, retryErr
}

// windowReserve is the share of a window that stays free, since counts differ: a tenth.
const windowReserve = 10

// windowAfterRefusal returns how many tokens a request may have after one of so many was refused, and how many the
// next attempt may have. named are the tokens that the error names, zero if it names none: then nobody knows how
// short the request must be, and the next attempt is as short as can be.
func windowAfterRefusal(refused, named int64) (window, target int64) {
	window, target = refused, 1
	if named > 0 && named < refused {
		window = named
	}
	window -= window / windowReserve
	if named > 0 {
		target = window
	}
	return window, target
}

// parseRefusal reports whether an error refuses a request as too long, and how many tokens it names.
func (o overflowModel[M]) parseRefusal(err error) (tokens int64, ok bool) {
	if err == nil {
		return 0, false
	}
	return o.settings.cfg.Overflow(err)
}

// size is how many tokens a request has.
func (o overflowModel[M]) size(ctx context.Context, input []M, tools []*schema.ToolInfo) (int64, error) {
	state := &adk.TypedChatModelAgentState[M]{Messages: input, ToolInfos: tools}
	size, err := o.settings.exactSize(withFactor(ctx, o.settings, runFrom(ctx, o.settings).factor()), state)
	return size.Tokens, err
}

// shorten returns a request of at most target tokens, as far as it can be shortened, its size, and whether it is
// another request.
func (o overflowModel[M]) shorten(
	ctx context.Context, input []M, tools []*schema.ToolInfo, target int64,
) (shorter []M, tokens int64, changed bool, err error) {
	ctx = withFactor(ctx, o.settings, runFrom(ctx, o.settings).factor())
	state := &adk.TypedChatModelAgentState[M]{Messages: input, ToolInfos: tools}
	next, err := fitWindow(ctx, o.settings, state, target, false)
	if err != nil || next == state {
		return input, 0, false, err
	}
	tokens, err = o.size(ctx, next.Messages, tools)
	return next.Messages, tokens, true, err
}
