// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The state of one agent run. It is in the context of the run; what must survive an interrupt is in Eino's
// run-local values.

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/reduction/internal/tokencount"
)

// run is what one middleware remembers of a run. Its methods accept nil, which is the state outside a run:
// nothing is known, and nothing is kept.
type run struct {
	sizes tokencount.Tracker

	orderedResults atomic.Bool  // the results of each batch are in the order of its calls
	repeatedPasses atomic.Bool  // the passes of earlier runs were made again
	markedAt       atomic.Int64 // when files were marked as used, in seconds
	requestRefused atomic.Bool  // the request of this model call, as too long or for its media
	media          atomic.Pointer[mediaLimits]
	tools          []tool.BaseTool // of the agent, as the run begins
	retryTarget    atomic.Int64    // how many tokens it may have then; zero: any number
}

// runKey is the key of a run in a context. An agent may have several middlewares, each with its own settings.
type runKey[M adk.MessageType] struct{ settings *settings[M] }

func withRun[M adk.MessageType](ctx context.Context, s *settings[M], r *run) context.Context {
	return context.WithValue(ctx, runKey[M]{s}, r)
}

// withFactor returns a context in which counting a request changes nothing that is known of the run's history. The
// factor corrects the counts; zero: the provider's reports do.
func withFactor[M adk.MessageType](ctx context.Context, s *settings[M], factor float64) context.Context {
	fresh := new(run)
	fresh.sizes.Fix(factor)
	return withRun(ctx, s, fresh)
}

// runFrom returns the run of a middleware, nil outside a run.
func runFrom[M adk.MessageType](ctx context.Context, s *settings[M]) *run {
	r, _ := ctx.Value(runKey[M]{s}).(*run)
	return r
}

// factor is the fixed correction of sizes, zero if none is fixed.
func (r *run) factor() float64 {
	if r == nil {
		return 0
	}
	return r.sizes.FixedFactor()
}

// fixFactor fixes the correction of sizes.
func (r *run) fixFactor(factor float64) {
	if r != nil {
		r.sizes.Fix(factor)
	}
}

// startOrdering reports whether results may not be in the order of their calls, as this is the first model call of the
// run. Only the history that the run started with can be made of events.
func (r *run) startOrdering() bool { return r == nil || !r.orderedResults.Swap(true) }

// startRepeating reports whether the passes of earlier runs must be made again, as nobody has done it in this run.
func (r *run) startRepeating() bool { return r == nil || !r.repeatedPasses.Swap(true) }

// startMarking reports whether files must be marked as used: at the start of a run, and each hour after.
func (r *run) startMarking() bool {
	if r == nil {
		return false
	}
	now, last := time.Now().Unix(), r.markedAt.Load()
	return now-last >= int64(backend.UseInterval/time.Second) && r.markedAt.CompareAndSwap(last, now)
}

// startModelCall forgets whether a request was refused.
func (r *run) startModelCall() {
	if r != nil {
		r.requestRefused.Store(false)
	}
}

// recordRefusal records that the request of this model call was refused, and how many tokens it may have.
func (r *run) recordRefusal(target int64) {
	if r != nil {
		r.retryTarget.Store(target)
		r.requestRefused.Store(true)
	}
}

// refusal returns what recordRefusal has recorded for this model call.
func (r *run) refusal() (target int64, ok bool) {
	if r == nil || !r.requestRefused.Load() {
		return 0, false
	}
	return r.retryTarget.Load(), true
}

// Keys of run-local values, which survive an interrupt. Outside a run there are none, and nothing is kept.
const (
	// noticeFilesKey has the files that notices name and calls of this round must not overwrite.
	noticeFilesKey = "__einolean_reduction_shown__"

	// windowKey has how many tokens a request may have, since one was refused.
	windowKey = "__einolean_reduction_window__"

	// referencesKey has the stored values that notices show, for the calls of this round.
	referencesKey = "__einolean_reduction_references__"

	// questionKey has the last texts of the user and of the model.
	questionKey = "__einolean_reduction_question__"
)

// runLocal returns the value under a key, the zero value if there is none of this type.
func runLocal[T any](ctx context.Context, key string) T {
	v, _, _ := adk.GetRunLocalValue(ctx, key)
	value, _ := v.(T)
	return value
}

// learnWindow keeps how many tokens a request may have, and returns a function that forgets it.
func learnWindow(ctx context.Context, window int64) (forget func()) {
	before := runLocal[int64](ctx, windowKey)
	_ = adk.SetRunLocalValue(ctx, windowKey, window)
	return func() { _ = adk.SetRunLocalValue(ctx, windowKey, before) }
}

// mediaLimits is what refusals have shown about media. A resumed run learns it again.
type mediaLimits struct {
	count   int      // of media that a request may have; zero: unknown
	refused []string // hashes of media that were refused
}

// mediaLimits returns what this run knows.
func (r *run) mediaLimits() mediaLimits {
	if r == nil {
		return mediaLimits{}
	}
	if known := r.media.Load(); known != nil {
		return *known
	}
	return mediaLimits{}
}

// learnMedia keeps limits, and returns a function that forgets them.
func (r *run) learnMedia(limits mediaLimits) (forget func()) {
	if r == nil {
		return func() {}
	}
	before := r.media.Swap(&limits)
	return func() { r.media.Store(before) }
}
