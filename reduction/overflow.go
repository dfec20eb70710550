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
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/reduction/internal/refusal"
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

// callWithRetry calls a model. A request that is refused is shortened and sent again, once for a model call: what
// Eino retries after that is shortened at once.
func callWithRetry[M adk.MessageType, T any](
	ctx context.Context, o overflowModel[M], input []M, opts []model.Option, call func([]M) (T, error),
) (T, error) {
	run := runFrom(ctx, o.settings)
	tools := model.GetCommonOptions(&model.Options{}, opts...).Tools
	if target, again := run.refusal(); again {
		return call(o.shortenAgain(ctx, input, tools, target))
	}
	out, err := call(input)
	r, isRefused := o.parseRefusal(err)
	if !isRefused || ctx.Err() != nil {
		return out, err
	}
	shorter, ok := o.recover(ctx, input, tools, r)
	if !ok {
		return out, err
	}
	o.settings.reporter.Send(ctx, einolean.Event{Kind: einolean.KindOverflow, Err: err, Pass: &shorter.pass})
	again, retryErr := call(shorter.input)
	if _, isRefused := o.parseRefusal(retryErr); isRefused {
		shorter.forget()
		return out, err
	}
	return again, retryErr
}

// recovery is a shorter request in place of a refused one.
type recovery[M adk.MessageType] struct {
	input  []M
	pass   einolean.Pass // for the event
	forget func()        // forgets what the refusal has shown
}

// recover returns a shorter request. ok is false if there is none.
func (o overflowModel[M]) recover(
	ctx context.Context, input []M, tools []*schema.ToolInfo, r refused,
) (out recovery[M], ok bool) {
	run := runFrom(ctx, o.settings)
	before, err := o.size(ctx, input, tools)
	if err != nil {
		return out, false
	}
	if r.hasTooManyBytes && mediaBytes(input) > before*bytesPerToken {
		r.media = refusal.TooManyMedia
	}
	if r.media != refusal.NoMediaProblem {
		if out, ok = o.recoverMedia(ctx, input, tools, r); ok || !r.isTooLong {
			run.recordRefusal(0)
			out.pass.Before = before
			return out, ok
		}
	}
	if r.tokens < before/smallestWindow {
		r.tokens = 0 // it means something else
	}
	window, target := windowAfterRefusal(before, r.tokens)
	run.recordRefusal(target)
	out.forget = func() {}
	if known := o.settings.window(ctx); known == 0 || window < known {
		out.forget = learnWindow(ctx, window)
	}
	out.pass = einolean.Pass{Before: before, Threshold: r.tokens, Target: window}
	var changed bool
	out.input, out.pass.After, changed, err = o.shorten(ctx, input, tools, target)
	if err != nil || !changed || out.pass.After >= before {
		out.forget()
		return out, false
	}
	return out, true
}

// shortenAgain shortens a request of this model call after an earlier one was refused.
func (o overflowModel[M]) shortenAgain(ctx context.Context, input []M, tools []*schema.ToolInfo, target int64) []M {
	state, err := o.settings.keepToMediaLimits(ctx, &adk.TypedChatModelAgentState[M]{Messages: input, ToolInfos: tools})
	if err == nil {
		input = state.Messages
	}
	if target == 0 {
		return input
	}
	shorter, _, _, err := o.shorten(ctx, input, tools, target)
	if err != nil {
		return input
	}
	return shorter
}

// windowReserve is the share of a window that stays free, since counts differ: a tenth.
const windowReserve = 10

// smallestWindow is the share of a refused request that a window has at least: a fiftieth. A smaller number in an
// error is a code, or a limit of something else.
const smallestWindow = 50

// bytesPerToken is about how many bytes of text a token has.
const bytesPerToken = 4

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

// refused is why a provider has refused a request: as too long, for its media, or both.
type refused struct {
	isTooLong  bool
	tokens     int64 // that the model takes; zero: unknown
	media      refusal.MediaProblem
	mediaLimit int // how many media the model takes; zero: unknown

	hasTooManyBytes bool // as they are sent, not in tokens
}

// parseRefusal reports whether an error refuses a request in a way that a shorter one may avoid.
func (o overflowModel[M]) parseRefusal(err error) (r refused, ok bool) {
	if err == nil {
		return refused{}, false
	}
	text := safe.ErrorText(err)
	r.media, r.mediaLimit = refusal.Media(text)
	if r.media == refusal.NoMediaProblem || r.media == refusal.TooManyMedia {
		r.tokens, r.isTooLong = o.settings.cfg.Overflow(err)
	}
	r.hasTooManyBytes = r.isTooLong && refusal.RequestSize(text)
	return r, r.isTooLong || r.media != refusal.NoMediaProblem
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
