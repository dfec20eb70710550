// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
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
	help  int             // tokens that only einolean needs
	ended bool
	told  bool // OnCall has been told
	slim  bool // its parts are gone
}

// mark is what comparing two requests needs of a part.
type mark struct {
	hash     uint64
	tokens   int32
	category Category
}

// observe records a request that is about to be sent.
func observe[M adk.MessageType](ctx context.Context, c *Collector, in []M, opts []model.Option, stream bool) *recorded {
	at, r := time.Now(), c.runOf(ctx)
	if r == nil {
		return nil // the agent was built without BeforeAgent of this handler
	}
	o := model.GetCommonOptions(&model.Options{}, opts...)
	q := parse(&c.cfg, r, in, o)
	call := &recorded{ctx: ctx, ModelCall: &ModelCall{Attempt: 1, Start: at, Stream: stream, Kept: q.kept, Agent: agentOf(ctx)}}
	if o.Model != nil {
		call.Model = *o.Model
	}
	c.mu.Lock()
	for !q.ready(c.revive(r)) { // what is new passes the door first
		c.mu.Unlock()
		q.keep(&c.cfg)
		c.mu.Lock()
	}
	tell := call.record(r, q)
	c.mu.Unlock()
	r.past.Store(q)
	tell()
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

// record adds the call to the conversation. The collector's mutex is held.
func (r *recorded) record(of *run, q *request) (tell func()) {
	v := of.conv
	c, were := v.c, v.book.bytes+v.marks()
	for _, e := range v.pending {
		were += eventSize(e)
	}
	v.lastCall++
	r.conv, r.N, r.Run, r.Conversation = v, v.lastCall, of.n, v.id
	r.Events, v.pending = v.pending, nil
	v.ask(of.n, q.question)
	r.hold(q)
	r.measure(of.hidden, q)
	tell = func() {}
	before := v.previous[r.Agent]
	if len(v.previous) > 64 { // names of agents that are new each time
		clear(v.previous)
	}
	if r.follow(before, q) {
		tell = c.ended(before)
	}
	if before != nil {
		before.marks = nil
	}
	v.previous[r.Agent] = r
	v.calls = append(v.calls, r)
	r.resize()
	v.grow(v.book.bytes + v.marks() - were)
	c.queue = append(c.queue, r)
	if i := slices.Index(c.idle, v); i >= 0 && i < len(c.idle)-1 {
		c.idle = append(slices.Delete(c.idle, i, i+1), v)
	}
	c.shrink()
	return tell
}

// resize counts anew what is kept of the call.
func (r *recorded) resize() {
	if r.conv.gone || r.size == 0 && r.slim {
		return
	}
	n := callCost + len(r.Agent) + len(r.Model) + len(r.Error) + len(r.Answer) + 16*(len(r.slots)+len(r.fresh))
	for _, d := range r.Did {
		n += 64 + len(d.Tool) + len(d.CallID) + len(d.Arguments)
	}
	size := int64(n)
	for _, e := range r.Events {
		size += eventSize(e)
	}
	r.conv.grow(size - r.size)
	r.size = size
}

// hold keeps the parts.
func (r *recorded) hold(q *request) {
	v := r.conv
	b, settled := &v.book, q.settled(v, r.N-1)
	ids := make([]int32, len(q.pieces))
	r.marks, r.count = make([]mark, len(q.pieces)), len(q.pieces)
	for i := range q.pieces {
		p := &q.pieces[i]
		r.marks[i] = mark{p.Hash, int32(p.Tokens), p.category}
		if i < settled {
			at, _ := b.at(p.slot)
			b.slots[at].last = r.N
			ids[i] = p.slot
			continue
		}
		ids[i] = r.put(p)
	}
	r.slots = ranges(ids)
	q.made.by, q.made.call, q.made.version = v, r.N, v.version
}

// put keeps a part in its slot.
func (r *recorded) put(p *piece) (id int32) {
	b := &r.conv.book
	s := b.find(p.key)
	if s == nil {
		s = b.add(p.key)
	}
	if now := s.in(r.N); now == nil || now.hash != p.Hash || now.Category != p.category {
		k := p.content(r.conv, s)
		k.from = r.N
		b.bytes += s.set(k, r.N)
	}
	s.last = r.N
	if p.category == Result {
		s.whole = max(s.whole, p.Tokens)
	}
	p.slot, p.known, p.done = s.id, true, false
	p.kept = struct{ text, name, id, path string }{} // they are the book's now
	return s.id
}

// measure counts the request, the hidden tools, what is left out, and the size of the
// request without einolean.
func (r *recorded) measure(hide map[string]int, q *request) {
	v := r.conv
	r.By = make(map[Category]int, 8)
	var now Category
	sum := 0
	for i := range q.pieces {
		p := &q.pieces[i]
		if p.category != now {
			r.By[now] += sum
			now, sum = p.category, 0
		}
		sum += p.Tokens
		r.Tokens.Estimated += p.Tokens
		if p.help {
			r.help += p.Tokens
		}
	}
	r.By[now] += sum
	delete(r.By, "")
	v.book.each(r.slots, func(_ int, s *slot) {
		if k := s.in(r.N); k.Left != nil {
			r.LeftOut.add(k.Left)
		}
	})
	r.Tokens.Calibrated = v.fit.correct(r.Tokens.Estimated, len(q.pieces))
	r.Hidden = q.hidden(v, hide)
	without := r.Tokens.Estimated - r.help + r.Hidden.Tokens + r.LeftOut.Tokens()
	r.Without = &without
}

// follow compares the request with the previous one, and reports whether that one's
// answer is now known never to be read to the end.
func (r *recorded) follow(before *recorded, q *request) (left bool) {
	r.Prefix.Part = -1
	if before == nil {
		before = &recorded{ModelCall: &ModelCall{}, ended: true}
	}
	if left = !before.ended && before.Run == r.Run; left {
		next := *before.ModelCall // snapshots may share the old one's slices, never its fields
		next.Unfinished = true
		before.ModelCall = &next
	}
	then := before.marks
	for r.same < min(len(r.marks), len(then)) && r.marks[r.same].hash == then[r.same].hash {
		r.Prefix.Same += int(r.marks[r.same].tokens)
		r.same++
	}
	known := make(map[uint64]bool, len(then)-r.same)
	for _, m := range then[r.same:] {
		known[m.hash] = true
		r.Prefix.Lost += int(m.tokens)
	}
	var fresh []int32
	r.conv.book.each(r.slots, func(i int, s *slot) {
		if i >= r.same && !known[q.pieces[i].Hash] {
			fresh = append(fresh, s.id)
		}
	})
	r.fresh = ranges(fresh)
	switch {
	case r.same < len(then) && r.same < len(r.marks):
		r.Prefix.Part, r.Prefix.Cause = r.same, cause(r.marks[r.same].category, then[r.same].category)
	case r.same == len(then) && r.same == len(r.marks) && before.Error != "" && before.Run == r.Run:
		r.Attempt = before.Attempt + 1
	}
	return left
}

// cause names what ended an equal prefix, by the category there now and then.
func cause(now, then Category) string {
	switch {
	case now == LoadedTools:
		return "tools_loaded"
	case then == OwnTools || then == HelpTools || then == LoadedTools:
		return "tools_unloaded"
	case now == Reminder || then == Reminder:
		return "reminder"
	case now == ResultCleared:
		return "result_cleared"
	case now == ResultCut:
		return "result_cut"
	}
	return "other"
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
		failure, text, calls, usage = "the call failed", "", nil, nil
		if c.cfg.Texts == TextsAll {
			if kept := c.cfg.keep(safe.ErrorText(err), questionBytes); kept != "" {
				failure = kept
			}
		}
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
	tell := c.ended(r)
	c.shrink()
	c.mu.Unlock()
	tell()
}

// ended returns a function that reports the end of a call. It must run after the
// collector's mutex, which is held, is released.
func (c *Collector) ended(r *recorded) (tell func()) {
	ctx, first, wait := r.ctx, !r.told, func() {}
	r.told, r.ctx = true, nil
	if c.cfg.Log != nil && !r.conv.gone {
		wait = c.log.add(r.conv.lines(r))
	}
	var done *ModelCall
	if first && c.cfg.OnCall != nil {
		copied := *r.ModelCall
		done = &copied
		done.in = r.conv.book.pick(done)
	}
	return func() {
		wait()
		if done != nil {
			_ = safe.Call("OnCall", func() error { c.cfg.OnCall(ctx, done); return nil })
		}
	}
}

func (r *recorded) end(at, first time.Time) {
	next := *r.ModelCall // snapshots may share the old one's slices, never its fields
	r.ModelCall, r.ended = &next, true
	r.Took = at.Sub(r.Start)
	r.First, r.Unfinished = r.Took, false
	if !first.IsZero() {
		r.First = first.Sub(r.Start)
	}
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
