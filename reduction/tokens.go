// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The default token estimate, corrected by what the provider reports. No message is rendered,
// nothing is allocated, and in a run a message that is still there is mostly not looked at.

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

// corrected estimates what the next request has, and returns the factor by which the
// provider's counts differ from the estimate, which is in it. An answer counts if the
// request that it answered stands in the history: before anything was cleared, and
// not where something would have been, which a history that was kept whole does not
// show; or, in this run, since something last was.
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

// walk is corrected for a run that nobody else looks at. all is false if it took leading
// messages for what they were in the walk before.
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

// addressOf is where a message is.
func addressOf[M adk.MessageType](m M) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&m)) }

// counted is what a run knows about the texts of its messages. The zero value is
// ready for use.
type counted struct {
	busy         atomic.Bool // a second model call of the run at the same time counts by itself
	begun        bool
	from         int // the requests of answers from here on stand as they were sent
	walks        int
	messages     []knownMessage
	end          knownMessage // what stands behind them
	tools, texts memo
	weight       weight
}

// knownMessage is a message of the walk before, with what stood before it. It is known by
// where it is. Whoever changes a message in its place goes unnoticed for a few requests,
// but never in one that would be over the threshold.
type knownMessage struct {
	at     unsafe.Pointer
	before int64 // tokens of the messages before it
	texts  int32 // in them
	usage  int32 // the tokens of its request, as the provider tells
	edited flag  // something before it was
}

// wholeWalk is how often a walk looks at all messages.
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

// forget makes the next walk look at all messages.
func (r *counted) forget() {
	clear(r.messages)
	r.messages = r.messages[:0]
}

// correct learns from the answer that a message is, if its request stands in the history.
func (r *counted) correct(c *tokens.Correction, k *knownMessage, i int, definitions, threshold int64) {
	before := definitions + k.before
	if i >= r.from || k.edited == 0 && float64(before)*c.Factor() < float64(threshold) {
		c.Add(int64(k.usage), before)
	}
}

// edited notes that what the model sees before the message with number n has changed.
func (r *counted) edited(n int) {
	if r != nil && r.busy.CompareAndSwap(false, true) {
		r.from = n
		r.busy.Store(false)
	}
}
