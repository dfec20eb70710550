// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The default token estimate, corrected by the provider's reports. It renders no message and
// allocates nothing, and in a run it mostly skips unchanged messages.

import (
	"context"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/tokens"
)

// estimator estimates tokens. It is safe for concurrent use.
type estimator[M adk.MessageType] struct {
	codec codec[M]
	sizes *schemaSizes
}

func newEstimator[M adk.MessageType]() *estimator[M] {
	return &estimator[M]{codecFor[M](), &schemaSizes{}}
}

// counter is the estimate as a TokenCounter. It never fails.
func (e *estimator[M]) counter(_ context.Context, msgs []M, tools []*schema.ToolInfo) (int64, error) {
	return e.count(msgs, tools), nil
}

// count estimates messages and tools.
func (e *estimator[M]) count(msgs []M, tools []*schema.ToolInfo) int64 {
	w := weight{sizes: e.sizes}
	w.tools(tools)
	for _, m := range msgs {
		e.codec.weigh(&w, m)
	}
	return w.tokens
}

// corrected estimates the size of the next request, and returns the factor by which the
// provider's counts differ from the estimate, which is included. An answer counts if the
// request that it answered is still in the history: before anything was cleared or would have
// been, which a history kept whole does not show; or, in this run, since the last change.
func (e *estimator[M]) corrected(run *counted, msgs []M, tools []*schema.ToolInfo, threshold int64) (int64, float64) {
	if run == nil || !run.busy.CompareAndSwap(false, true) {
		run = &counted{}
	} else {
		defer run.busy.Store(false)
	}
	run.begin(len(msgs))
	n, factor, all := e.walk(run, msgs, tools, threshold)
	if n >= threshold && !all {
		run.forget()
		n, factor, _ = e.walk(run, msgs, tools, threshold)
	}
	return n, factor
}

// walk is corrected for a run that has no other model call at the time. all is false if it
// reused results of the previous walk for leading messages.
func (e *estimator[M]) walk(run *counted, msgs []M, tools []*schema.ToolInfo, threshold int64) (n int64, factor float64, all bool) {
	run.weight = weight{sizes: e.sizes}
	w := &run.weight
	w.remember(&run.tools)
	w.tools(tools)
	w.remember(&run.texts)
	c, of := tokens.Correction{}, w.tokens // the definitions
	known, had := run.messages, len(run.messages)
	at := 0
	for at < min(len(known), len(msgs)) && known[at].at == addressOf(msgs[at]) {
		if k := &known[at]; k.usage > 0 {
			run.correct(&c, k, at, of, threshold)
		}
		at++
	}
	all = at == 0
	switch {
	case at < len(known):
		w.tokens, w.at, w.edited = of+known[at].before, int(known[at].texts), known[at].edited
	case at > 0:
		w.tokens, w.at, w.edited = of+run.end.before, int(run.end.texts), run.end.edited
	}
	known = known[:at]
	for i, m := range msgs[at:] {
		k := knownMessage{addressOf(m), w.tokens - of, int32(w.at), 0, w.edited}
		if usage := e.codec.weigh(w, m); usage > 0 {
			k.usage = int32(min(usage, math.MaxInt32))
			run.correct(&c, &k, at+i, of, threshold)
		}
		known = append(known, k)
	}
	run.end = knownMessage{nil, w.tokens - of, int32(w.at), 0, w.edited}
	clear(known[len(known):max(had, len(known))])
	run.messages = known
	run.texts.end(w.at)
	return int64(float64(w.tokens) * c.Factor()), c.Factor(), all
}

// addressOf is the address of a message.
func addressOf[M adk.MessageType](m M) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&m)) }

// counted is a run's knowledge of the texts of its messages. The zero value is ready for use.
type counted struct {
	busy         atomic.Bool // a concurrent second model call of the run counts by itself
	begun        bool
	from         int // the requests of answers from here on are unchanged
	walks        int
	messages     []knownMessage
	end          knownMessage // the totals after the last message
	tools, texts memo
	weight       weight
}

// knownMessage is a message of the previous walk, with the totals before it. It is identified
// by its address. A message that was changed in place goes unnoticed for a few requests, but
// never in one over the threshold.
type knownMessage struct {
	at     unsafe.Pointer
	before int64 // tokens of the messages before it
	texts  int32 // in them
	usage  int32 // the tokens of its request, as the provider reports
	edited flag  // an earlier message was edited
}

// wholeWalk is how often a walk reads all messages.
const wholeWalk = 16

// begin begins a walk over n messages.
func (r *counted) begin(n int) {
	if !r.begun {
		r.begun, r.from = true, n
	}
	if r.walks++; r.walks%wholeWalk == 0 {
		r.forget()
	}
}

// forget makes the next walk read all messages.
func (r *counted) forget() {
	clear(r.messages)
	r.messages = r.messages[:0]
}

// correct learns from the answer that a message is, if its request is still in the history.
func (r *counted) correct(c *tokens.Correction, k *knownMessage, i int, definitions, threshold int64) {
	before := definitions + k.before
	if i >= r.from || k.edited == 0 && float64(before)*c.Factor() < float64(threshold) {
		c.Add(int64(k.usage), before)
	}
}

// edited records that what the model sees before the message with number n has changed.
func (r *counted) edited(n int) {
	if r != nil && r.busy.CompareAndSwap(false, true) {
		r.from = n
		r.busy.Store(false)
	}
}
