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

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/window/internal/said"
)

// ModelCall is one request to a model and its outcome. A failed attempt and its retry
// are two calls.
type ModelCall struct {
	// N counts the calls of the conversation, from 1.
	N int `json:"n"`
	// Run is the N of the [Run] that it belongs to.
	Run int `json:"run"`
	// Conversation is the ID of the [Conversation] that it belongs to.
	Conversation string `json:"conversation,omitempty"`
	// Agent is the name of the agent that made it, if it is known.
	Agent string `json:"agent,omitempty"`
	// Model is the name of the model, if an option of the request gives one.
	Model string `json:"model,omitempty"`
	// Attempt is 1, or more if the same request is sent again.
	Attempt int `json:"attempt"`
	// Start is when it was sent.
	Start time.Time `json:"start"`
	// Took is the time until the end of the answer, and First until its first chunk.
	Took  time.Duration `json:"took_ns"`
	First time.Duration `json:"first_ns"`
	// Stream says that the answer was streamed.
	Stream bool `json:"stream,omitempty"`
	// Error says why it failed: the error's own text only with TextsAll, since that
	// may name machines and files.
	Error string `json:"error,omitempty"`
	// Unfinished says that its answer was not, or not yet, read to the end.
	Unfinished bool `json:"unfinished,omitempty"`
	// Kept says that the provider keeps the conversation on its server: the model sees
	// more than was sent.
	Kept bool `json:"kept,omitempty"`
	// Tokens counts the request.
	Tokens Tokens `json:"tokens"`
	// By is its estimate by category. It must not be changed.
	By map[Category]int `json:"by"`
	// Prefix compares it with the call before.
	Prefix Prefix `json:"prefix"`
	// Hidden counts the tools that are hidden, and the tokens of their definitions.
	Hidden Hidden `json:"hidden"`
	// LeftOut counts what results lack in this window.
	LeftOut LeftOut `json:"left_out"`
	// Without is an estimate, in tokens, of the same call without einolean. If nil, the
	// call would not have been made: it only searched for tools or read content back.
	Without *int `json:"without"`
	// Did lists the tools that the model called.
	Did []ToolUse `json:"did,omitempty"`
	// Answer is the text of the answer, as Config.Texts allows.
	Answer string `json:"answer,omitempty"`
	// Events are those since the call before.
	Events []einolean.Event `json:"events,omitempty"`

	slots, fresh [][2]int32 // of the parts in their order, and of those that are new
	same         int        // how many parts are equal from the start on
	in           *book
}

// Parts returns the parts of the request in the order in which providers read them: tools,
// then messages. It makes a new slice each time, and returns nil if they were dropped.
// They are no field, because the calls of a conversation share most of them;
// [Conversation.WriteJSON] writes them.
func (c *ModelCall) Parts() []Part { return c.in.parts(c, true) }

// NewParts returns those of [ModelCall.Parts] that the call before did not have.
func (c *ModelCall) NewParts() []Part { return c.in.parts(c, false) }

// Left lists the results that are not whole in this window.
func (c *ModelCall) Left() (all []Left) {
	for _, p := range c.Parts() {
		if p.Left != nil {
			all = append(all, *p.Left)
		}
	}
	return all
}

// Tokens counts a request.
type Tokens struct {
	// Estimated is the sum over the parts.
	Estimated int `json:"estimated"`
	// Calibrated is the estimate corrected by what the provider reported of earlier
	// calls of this conversation. Without a report, it equals Estimated.
	Calibrated int `json:"calibrated"`
	// Reported is the provider's own count. If nil, it reported none.
	Reported *schema.TokenUsage `json:"reported,omitempty"`
}

// Prefix compares a request with the previous one of the same agent. A provider's cache
// can serve at most their common prefix.
type Prefix struct {
	// Same is the length of the common prefix, in tokens.
	Same int `json:"same"`
	// Lost is how many tokens of the previous request come after it.
	Lost int `json:"lost,omitempty"`
	// Cause is what ended it: "tools_loaded", "tools_unloaded", "reminder",
	// "result_cut", "result_cleared" or "other". If empty, nothing did.
	Cause string `json:"cause,omitempty"`
	// Part is the index of the first part that differs; -1 if none does.
	Part int `json:"part"`
}

// Hidden counts hidden tools.
type Hidden struct {
	// Tools counts them, and Tokens their definitions.
	Tools  int `json:"tools"`
	Tokens int `json:"tokens"`
}

// ToolUse is one tool call of an answer.
type ToolUse struct {
	// Tool and CallID are those of the call.
	Tool   string `json:"tool"`
	CallID string `json:"call_id,omitempty"`
	// Arguments are kept as Config.Texts says.
	Arguments string `json:"arguments,omitempty"`
}

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
	q := parse(&c.cfg, r, in, o)
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

// join makes the call the newest of a conversation.
func (r *recorded) join(v *conversation, of *run, q *request) {
	r.conv, r.N, r.Run, r.Conversation = v, v.lastCall, of.n, v.id
	r.Events, v.pending = v.pending, nil
	r.marks, r.count = marksOf(q.pieces), len(q.pieces)
	r.slots = v.book.hold(q.pieces, q.settled(v, r.N-1), r.N, v.heard.outcome)
	q.settle(v, r.N)
	r.measure(of.hidden, q)
}

// measure counts the request, the hidden tools, what is left out, and the size of the
// request without einolean.
func (r *recorded) measure(hide map[string]int, q *request) {
	v := r.conv
	r.By, r.Tokens.Estimated, r.help = q.sums()
	r.LeftOut = v.book.leftOut(r.ModelCall)
	r.Tokens.Calibrated = v.fit.correct(r.Tokens.Estimated, len(q.pieces))
	r.Hidden = q.hidden(v.heard.hidden, hide)
	without := r.Tokens.Estimated - r.help + r.Hidden.Tokens + r.LeftOut.Tokens()
	r.Without = &without
}

// follow compares the request with the previous one, and reports whether that one's
// answer is now known never to be read to the end.
func (r *recorded) follow(before *recorded) (left bool) {
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
		if i >= r.same && !known[r.marks[i].hash] {
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

// tell returns a function that reports the end of the call. It must run after the
// collector's mutex, which is held, is released.
func (r *recorded) tell() func() {
	v, ctx, first, wait := r.conv, r.ctx, !r.told, func() {}
	c := v.c
	r.told, r.ctx = true, nil
	if c.cfg.Log != nil && !v.gone {
		wait = c.log.add(v.written.lines(v, r))
	}
	var done *ModelCall
	if first && c.cfg.OnCall != nil {
		copied := *r.ModelCall
		done = &copied
		done.in = v.book.pick(done)
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
	slim := *r.ModelCall // snapshots share the old one
	slim.slots, slim.fresh, slim.Events, slim.Did, slim.Answer = nil, nil, nil, nil, ""
	r.ModelCall = &slim
	r.resize()
}

// snapshot copies the call, whose parts are in a book. One still in progress is unfinished.
func (r *recorded) snapshot(in *book) ModelCall {
	call := *r.ModelCall
	call.Unfinished = call.Unfinished || !r.ended
	call.in = in
	return call
}
