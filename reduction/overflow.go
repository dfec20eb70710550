// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// A request that the model refuses as too long: it is made shorter and asked once more, and the run keeps
// to what it has learned.

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
)

// recovering is a model whose refusals of long requests do not end the run.
type overflowModel[M adk.MessageType] struct {
	settings *settings[M]
	model    model.BaseModel[M]
}

// Generate asks the model, and once more if the request is too long.
func (r overflowModel[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	return generateWithRetry(ctx, r, input, opts, func(input []M) (M, error) { return r.model.Generate(ctx, input, opts...) })
}

// Stream does the same. A refusal may also be the first thing in a stream, so it waits for that.
func (r overflowModel[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	return generateWithRetry(ctx, r, input, opts, func(input []M) (*schema.StreamReader[M], error) {
		out, err := r.model.Stream(ctx, input, opts...)
		if err != nil || out == nil {
			return out, err
		}
		both := out.Copy(2)
		_, err = both[0].Recv()
		both[0].Close()
		if _, refused := r.parseRefusal(err); refused {
			both[1].Close()
			return nil, err
		}
		return both[1], nil
	})
}

// asked asks a model. A request that is refused as too long is shortened and asked again, once for
// a model call: what Eino retries after that is short from the beginning.
func generateWithRetry[M adk.MessageType, T any](ctx context.Context, r overflowModel[M], input []M, opts []model.Option, ask func([]M) (T, error)) (T, error) {
	run, _ := r.settings.runOf(ctx)
	tools := model.GetCommonOptions(&model.Options{}, opts...).Tools
	if run.requestRefused.Load() {
		if shorter, _, _, err := r.shorten(ctx, input, tools, run.retryTarget.Load()); err == nil {
			input = shorter
		}
		return ask(input)
	}
	out, err := ask(input)
	named, refused := r.parseRefusal(err)
	if !refused || ctx.Err() != nil {
		return out, err
	}
	before, failed := r.size(ctx, input, tools)
	if failed != nil {
		return out, err
	}
	learned, target := before, int64(1) // as short as can be, where nobody knows how short it must be
	if named > 0 && named < before {
		learned = named
	}
	learned -= learned / windowReserve
	if named > 0 {
		target = learned
	}
	run.retryTarget.Store(target)
	run.requestRefused.Store(true)
	if was := r.settings.window(ctx); was == 0 || learned < was {
		_ = adk.SetRunLocalValue(ctx, windowKey, learned)
	}
	shorter, after, changed, failed := r.shorten(ctx, input, tools, target)
	if failed != nil || !changed {
		return out, err
	}
	r.settings.reporter.Send(ctx, einolean.Event{Kind: einolean.KindOverflow, Err: err, Pass: &einolean.Pass{Before: before, After: after, Threshold: named, Target: learned}})
	again, failed := ask(shorter)
	if _, refused := r.parseRefusal(failed); refused {
		return out, err
	}
	return again, failed
}

// tenth is the share of a window that stays free, since counts differ.
const windowReserve = 10

// refused reports whether an error refuses a request as too long, and the tokens that it names.
func (r overflowModel[M]) parseRefusal(err error) (tokens int64, ok bool) {
	if err == nil {
		return 0, false
	}
	return r.settings.Overflow(err)
}

// size is how many tokens a request has.
func (r overflowModel[M]) size(ctx context.Context, input []M, tools []*schema.ToolInfo) (int64, error) {
	n, err := r.settings.size(r.detached(ctx), &adk.TypedChatModelAgentState[M]{Messages: input, ToolInfos: tools}, true)
	return n.Tokens, err
}

// shorten returns a request of at most so many tokens, as far as it can be shortened, its size then,
// and whether it is another one.
func (r overflowModel[M]) shorten(ctx context.Context, input []M, tools []*schema.ToolInfo, target int64) ([]M, int64, bool, error) {
	ctx = r.detached(ctx)
	given := &adk.TypedChatModelAgentState[M]{Messages: input, ToolInfos: tools}
	next, err := fitWindow(ctx, r.settings, given, target)
	if err != nil || next == given {
		return input, 0, false, err
	}
	after, err := r.size(ctx, next.Messages, tools)
	return next.Messages, after, true, err
}

// apart returns a context in which counting this request changes nothing that is known of the run's
// conversation.
func (r overflowModel[M]) detached(ctx context.Context) context.Context {
	return context.WithValue(ctx, r.settings, &run{})
}
