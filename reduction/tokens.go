// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The default token estimate, corrected by the provider's reports. It renders no message and
// allocates nothing, reads texts only where their lengths do not decide, and in a run it mostly
// skips unchanged messages.

import (
	"context"
	"math"
	"slices"
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

// size is what is known of the size of a request, in tokens.
type size struct {
	tokens int64   // at least or at most, whichever decides, unless exact
	factor float64 // by which the provider's counts differ from the estimate, which is included
	exact  bool    // every text was read
}

// corrected estimates the size of the next request. An answer counts if the request that it
// answered is still in the history: before anything was cleared or would have been, which a
// history kept whole does not show; or, in this run, since the last change.
func (e *estimator[M]) corrected(run *counted, msgs []M, tools []*schema.ToolInfo, threshold int64) (int64, float64) {
	s := e.compared(run, msgs, tools, threshold, -1)
	return s.tokens, s.factor
}

// compared is corrected as far as it must be known to tell whether the request has fewer tokens
// than a limit. The first request of a run would otherwise wait until all its texts are read,
// and most are far from the limit. A negative limit wants to know it exactly.
func (e *estimator[M]) compared(run *counted, msgs []M, tools []*schema.ToolInfo, threshold, limit int64) size {
	if run == nil || !run.busy.CompareAndSwap(false, true) {
		run = &counted{}
	} else {
		defer run.busy.Store(false)
	}
	again := run.begin(len(msgs))
	run.weight.sizes = e.sizes
	definitions := run.definitions(tools)
	outline(e, run, msgs)
	if again {
		verify(e, run, msgs)
	}
	if s, sure := e.glance(run, msgs, definitions, limit); sure {
		return s
	}
	s := e.read(run, msgs, definitions, threshold)
	if s.tokens >= threshold && !run.verified {
		verify(e, run, msgs)
		s = e.read(run, msgs, definitions, threshold)
	}
	return s
}

// likely is how far a sample of texts may be off, as a factor.
const likely = 1.25

// glance tells on which side of a limit a request is, if that is sure without reading its
// texts.
func (e *estimator[M]) glance(run *counted, msgs []M, definitions, limit int64) (s size, sure bool) {
	most, unseen, reports := definitions, int64(0), 0
	for i := range run.messages {
		k := &run.messages[i]
		most += k.most
		reports += int(min(1, k.usage))
		if k.tokens < 0 && !k.sampled {
			unseen += k.most
		}
	}
	high, low := 1., 1.
	if reports > 1 {
		high, low = tokens.MaxRatio, tokens.MinRatio
	}
	if limit < 0 || float64(most)*high < float64(limit) {
		return size{tokens: int64(float64(most) * high), factor: 1}, limit >= 0
	}
	if unseen < leastSample || unseen*2 < most || e.known(run, msgs) {
		return size{}, false
	}
	if about := float64(definitions + e.sampled(run, msgs, unseen/fewBlocks, false)); about/2*low >= float64(limit) && reports < 2 {
		return size{tokens: int64(about / 2), factor: 1}, true // most requests that are over it are far over it
	}
	about := float64(definitions + e.sampled(run, msgs, unseen/sampleBlocks, true))
	switch {
	case about*likely*high < float64(limit):
		return size{tokens: int64(about * likely * high), factor: 1}, true
	case about/likely*low >= float64(limit) && reports < 2:
		return size{tokens: int64(about / likely), factor: 1}, true
	}
	return size{}, false
}

// leastSample is how many bytes a sample must stand for, to be worth it.
const leastSample = 4 * sampleBlock * sampleBlocks

// leastUnknown is more than what a message of known texts has besides these.
const leastUnknown = 100

// known reports whether the process knows these messages from another run: reading them again
// then takes no longer than a sample. That of the one in the middle is true of all, mostly.
func (e *estimator[M]) known(run *counted, msgs []M) bool {
	w := weight{by: byMemory, sizes: e.sizes}
	e.codec.weigh(&w, msgs[len(msgs)/2])
	return w.tokens < leastUnknown
}

// sampled estimates messages from a sample of those that nothing is known of, one block for so
// many bytes. It may note how many tokens each has at most.
func (e *estimator[M]) sampled(run *counted, msgs []M, every int64, note bool) (n int64) {
	w := weight{by: bySample, sizes: e.sizes, sample: newSample(every)}
	for i := range run.messages {
		if k := &run.messages[i]; k.tokens < 0 && !k.sampled {
			e.codec.weigh(&w, msgs[i])
		} else {
			n += k.most
		}
	}
	density := min(1, float64(w.sample.tokens)/float64(max(1, w.sample.bytes)))
	for i := range run.messages {
		if k := &run.messages[i]; k.tokens < 0 && !k.sampled {
			n += int64(float64(k.most) * density)
			if note {
				k.most, k.sampled = min(k.most, int64(float64(k.most)*density*likely)+mediaTokens), true
			}
		}
	}
	return n + w.tokens
}

// outline finds the messages of the previous request again, and looks at the others without
// reading their texts.
func outline[M adk.MessageType](e *estimator[M], run *counted, msgs []M) {
	at, had := 0, len(run.messages)
	for at < min(had, len(msgs)) && run.messages[at].at == addressOf(msgs[at]) {
		at++
	}
	run.verified = at == 0
	if at == had && at == len(msgs) {
		return
	}
	run.old = append(run.old[:0], run.messages[at:]...)
	run.messages = slices.Grow(run.messages[:at], len(msgs)-at)
	for _, m := range msgs[at:] {
		k, found := run.before(addressOf(m))
		if !found {
			k = look(e, run, m)
		}
		run.verified = run.verified && !found
		run.messages = append(run.messages, k)
	}
	clear(run.messages[len(run.messages):max(had, len(run.messages))])
	clear(run.old)
	run.old, run.moved = run.old[:0], 0
}

// look describes a message without reading its texts.
func look[M adk.MessageType](e *estimator[M], run *counted, m M) knownMessage {
	w := &run.weight
	w.by, w.tokens, w.mark, w.edited = byLength, 0, 0, false
	usage := e.codec.weigh(w, m)
	return knownMessage{at: addressOf(m), mark: w.mark, most: w.tokens, tokens: -1, usage: int32(max(0, min(usage, math.MaxInt32))), edited: w.edited}
}

// verify looks at each message again, for those that were changed in place.
func verify[M adk.MessageType](e *estimator[M], run *counted, msgs []M) {
	for i := range run.messages {
		k := &run.messages[i]
		if now := look(e, run, msgs[i]); now.mark != k.mark || now.usage != k.usage || now.edited != k.edited {
			*k = now
		}
	}
	run.verified = true
}

// read is the estimate with every text read.
func (e *estimator[M]) read(run *counted, msgs []M, definitions, threshold int64) size {
	w := &run.weight
	c, sum, changed := tokens.Correction{}, definitions, false
	for i := range run.messages {
		k := &run.messages[i]
		if k.tokens < 0 {
			w.by, w.tokens = byReading, 0
			e.codec.weigh(w, msgs[i])
			k.tokens, k.most = w.tokens, w.tokens
		}
		if k.usage > 0 && (i >= run.from || !changed && float64(sum)*c.Factor() < float64(threshold)) {
			c.Add(int64(k.usage), sum)
		}
		sum += k.tokens
		changed = changed || k.edited
	}
	return size{int64(float64(sum) * c.Factor()), c.Factor(), true}
}

// addressOf is the address of a message.
func addressOf[M adk.MessageType](m M) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&m)) }

// counted is a run's knowledge of its messages. The zero value is ready for use.
type counted struct {
	busy     atomic.Bool // a concurrent second model call of the run counts by itself
	begun    bool
	from     int // the requests of answers from here on are unchanged
	calls    int
	messages []knownMessage
	verified bool           // each of them was looked at for this request
	old      []knownMessage // those of the previous request, from the first difference on
	moved    int            // how far old was used
	tools    knownMessage   // the definitions
	weight   weight
}

// knownMessage is what is known of a message. It is identified by its address. A message that
// was changed in place goes unnoticed for a few requests, but never in one over the threshold.
type knownMessage struct {
	at      unsafe.Pointer
	mark    uint64 // of the places of its texts
	most    int64  // tokens at most
	tokens  int64  // negative: not read
	usage   int32  // the tokens of its request, as the provider reports
	edited  bool   // it was edited
	sampled bool   // most is that of a sample of all texts
}

// verifyEvery is how often all messages are looked at.
const verifyEvery = 16

// begin begins to count a request of n messages, and reports whether to look at all of them.
func (r *counted) begin(n int) bool {
	if !r.begun {
		r.begun, r.from = true, n
	}
	r.calls++
	return r.calls%verifyEvery == 0
}

// near is how many messages may be missing at one place for those after them to be found again.
const near = 32

// before finds a message in the previous request.
func (r *counted) before(at unsafe.Pointer) (knownMessage, bool) {
	for i := r.moved; i < min(len(r.old), r.moved+near); i++ {
		if r.old[i].at == at {
			r.moved = i + 1
			return r.old[i], true
		}
	}
	return knownMessage{}, false
}

// definitions is the size of tools. They are read again only where one has another text.
func (r *counted) definitions(tools []*schema.ToolInfo) int64 {
	w := &r.weight
	w.by, w.tokens, w.mark = byLength, 0, 0
	w.tools(tools)
	if w.mark != r.tools.mark || w.tokens != r.tools.most {
		r.tools.mark, r.tools.most = w.mark, w.tokens
		w.by, w.tokens = byReading, 0
		w.tools(tools)
		r.tools.tokens = w.tokens
	}
	return r.tools.tokens
}

// edited records that what the model sees before the message with number n has changed.
func (r *counted) edited(n int) {
	if r != nil && r.busy.CompareAndSwap(false, true) {
		r.from = n
		r.busy.Store(false)
	}
}
