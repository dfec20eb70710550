// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/window/internal/said"
)

// recorded is the stored record of a call. The collector's mutex guards it.
type recorded struct {
	*ModelCall
	conv  *conversation
	ctx   context.Context // until it has ended
	marks []mark          // of its parts, while it is the newest call of its agent
	count int             // of its parts
	size  int64           // that the conversation counts for it
	ended bool
	told  bool // OnCall has been told
	slim  bool // its parts are gone
}

// marksOf are the marks of the pieces of a request.
func marksOf(pieces []piece) []mark {
	marks := make([]mark, len(pieces))
	for i := range pieces {
		marks[i] = mark{pieces[i].Hash, int32(pieces[i].Tokens), pieces[i].category}
	}
	return marks
}

// observe records a request that is about to be sent.
func observe[M adk.MessageType](ctx context.Context, c *Collector, in []M, opts []model.Option, stream bool) *recorded {
	at, r := time.Now(), c.runOf(ctx)
	if r == nil {
		return nil // the agent was built without BeforeAgent of this handler
	}
	o := model.GetCommonOptions(&model.Options{}, opts...)
	q := parse(&c.cfg, r.past.Swap(nil), r.hidden, r.programs, in, o) // two requests at once do not share one
	call := &recorded{ctx: ctx, ModelCall: &ModelCall{Attempt: 1, Start: at, Stream: stream, Kept: q.kept, Agent: agentOf(ctx)}}
	if o.Model != nil {
		call.Model = *o.Model
	}
	c.add(r, call, q)
	return call
}

// agentOf is the name of the running agent, the innermost one.
func agentOf(ctx context.Context) string {
	for _, at := range slices.Backward(compose.GetCurrentAddress(ctx)) {
		if at.Type == adk.AddressSegmentAgent {
			return at.ID
		}
	}
	return ""
}

// resize counts anew what is kept of the call.
func (r *recorded) resize() {
	if r.conv.gone || r.size == 0 && r.slim {
		return
	}
	size := r.ModelCall.size()
	r.conv.grow(size - r.size)
	r.size = size
}

// join makes the call the newest of a conversation.
func (r *recorded) join(v *conversation, of *run, q *request, settled int) {
	r.conv, r.N, r.Run, r.Conversation = v, v.lastCall, of.n, v.id
	r.Events, v.pending = v.pending, nil
	r.marks, r.count = marksOf(q.pieces), len(q.pieces)
	r.slots = v.book.hold(q.pieces, settled, r.N, v.heard.outcome)
	q.made = made{v.key, r.N, v.version}
	by, estimated, help := q.sums()
	r.Hidden, r.LeftOut = q.hidden(v.heard.hidden, of.hidden), v.book.leftOut(r.places, r.N)
	r.measure(by, estimated, v.fit.correct(estimated, len(q.pieces)), help)
}

// follow compares the request with the previous one, and reports whether that one's
// answer is now known never to be read to the end.
func (r *recorded) follow(before *recorded) (left bool) {
	if before == nil {
		before = &recorded{ModelCall: &ModelCall{}, ended: true}
	}
	if left = !before.ended && before.Run == r.Run; left {
		next := *before.ModelCall // snapshots may share the old one's slices, never its fields
		next.Unfinished = true
		before.ModelCall = &next
	}
	known := r.ModelCall.follow(before.ModelCall, before.marks, r.marks)
	var fresh []int32
	r.conv.book.each(r.slots, func(i int, s *slot) {
		if i >= r.same && !known[r.marks[i].hash] {
			fresh = append(fresh, s.id)
		}
	})
	r.fresh = ranges(fresh)
	return left
}

// finish completes a record with the answer, or with the reason that there is none.
func finish[M adk.MessageType](c *Collector, r *recorded, out []M, first time.Time, err error) {
	if r == nil {
		return
	}
	end := time.Now()
	var whole M
	if err == nil && len(out) > 0 {
		if whole = out[0]; len(out) > 1 { // the arguments of calls and the usage come in pieces
			whole, err = safe.Value("joining the answer", func() (M, error) { return message.Join(out) })
		}
	}
	text, calls, usage := said.Answer(c.cfg.seed, whole)
	failure := ""
	if err != nil {
		failure, text, calls, usage = cmp.Or(c.cfg.keepError(err), "the call failed"), "", nil, nil
	}
	text = c.cfg.keep(text, 0)
	did := make([]ToolUse, len(calls))
	for i := range calls {
		p := calls[i]
		did[i] = ToolUse{Tool: c.cfg.keepName(p.Tool), CallID: c.cfg.keepID(p.CallID), Arguments: c.cfg.keep(p.Text, 0)}
	}
	c.mu.Lock()
	if r.ended {
		c.mu.Unlock()
		return
	}
	r.end(end, first)
	r.Error = failure
	if err == nil {
		r.answered(text, did, calls)
		r.reported(usage)
	}
	r.resize()
	tell := r.tell()
	c.shrink()
	c.mu.Unlock()
	tell()
}

func (r *recorded) end(at, first time.Time) {
	next := *r.ModelCall // snapshots may share the old one's slices, never its fields
	r.ModelCall, r.ended = &next, true
	r.ModelCall.end(at, first)
}

// answered notes what the model said and did: text and did as they may be kept.
func (r *recorded) answered(text string, did []ToolUse, calls []*said.Part) {
	help := 0
	for i := range calls {
		if p := calls[i]; said.Searches(p.Tool) || r.conv.reads(p) {
			help++
		}
	}
	if help > 0 && help == len(calls) {
		r.Without = nil
	}
	if !r.slim {
		r.Answer = text
		if len(did) > 0 {
			r.Did = did
		}
	}
}

func (r *recorded) reported(usage *schema.TokenUsage) {
	if usage == nil {
		return
	}
	reported := *usage
	r.Tokens.Reported = &reported
	if !r.Kept {
		r.conv.fit.learn(r.Tokens.Estimated, r.count, usage.PromptTokens)
	}
}

// tell returns a function that reports the end of the call. It must run after the
// collector's mutex, which is held, is released.
func (r *recorded) tell() func() {
	v, ctx, first, wait := r.conv, r.ctx, !r.told, func() {}
	c := v.c
	r.told, r.ctx = true, nil
	if c.cfg.Log != nil && !v.gone {
		wait = c.log.add(v.lines(r))
	}
	var done *ModelCall
	if first && c.cfg.OnCall != nil {
		copied := *r.ModelCall
		done = &copied
		done.in = v.book.pick(done.places)
	}
	return func() {
		wait()
		if done != nil {
			_ = safe.Call("OnCall", func() error { c.cfg.OnCall(ctx, done); return nil })
		}
	}
}

// thin drops everything of the call but its figures.
func (r *recorded) thin() {
	r.slim = true
	r.ModelCall = r.figures() // snapshots share the old one
	r.resize()
}

// snapshot copies the call, whose parts are in a book. One still in progress is unfinished.
func (r *recorded) snapshot(in *book) ModelCall {
	call := *r.ModelCall
	call.Unfinished = call.Unfinished || !r.ended
	call.in = in
	return call
}
