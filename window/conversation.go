// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

// A conversation as it is recorded, and its calls.

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/window/internal/parts"
)

// conversation is the record of one conversation. The collector's mutex guards it.
type conversation struct {
	c           *Collector
	id, key     string
	bytes       int64 // approximately, of all that follows
	isForgotten bool
	book        book
	version     int // counts what makes parts of earlier calls other than they were

	history
	eventNotes
	newest
	logState
}

// history is what a conversation has of its runs and calls.
type history struct {
	runs     []Run
	lastRun  int
	calls    []*recordedCall
	lastCall int
	earlier  Totals // of the calls before
	dropped  int
	pending  []einolean.Event // since the last call
}

// newest is what the next call is compared with.
type newest struct {
	previous map[string]*recordedCall // the newest call of each agent
	fit      calibration
}

// newConversation returns the record of a conversation that begins.
func newConversation(c *Collector, id string) *conversation {
	v := &conversation{c: c, id: id, key: rand.Text()[:12], newest: newest{previous: map[string]*recordedCall{}}}
	v.book.textless = c.cfg.Texts == TextsNone
	v.eventNotes = newEventNotes(c.cfg.hash, v.grow)
	v.grow(conversationCost + int64(len(id)))
	return v
}

// Approximate bytes of memory, without strings.
const (
	conversationCost = 2048
	runCost          = 96
	markCost         = 32
)

// grow counts bytes that are kept in addition.
func (v *conversation) grow(bytes int64) {
	if v.isForgotten {
		return
	}
	v.bytes += bytes
	v.c.bytes += bytes
}

// addRun adds a run.
func (v *conversation) addRun(at time.Time) (n int) {
	v.lastRun++
	v.runs = append(v.runs, Run{N: v.lastRun, Start: at})
	v.grow(runCost)
	if len(v.runs) > maxNotes {
		v.dropRun()
	}
	return v.lastRun
}

// setQuestion sets the question of a run, if it has none.
func (v *conversation) setQuestion(run int, question string) {
	i, ok := slices.BinarySearchFunc(v.runs, run, func(r Run, n int) int { return r.N - n })
	if ok && v.runs[i].Question == "" && question != "" {
		v.runs = slices.Clone(v.runs) // snapshots share the old ones
		v.runs[i].Question = question
		v.grow(int64(len(question)))
	}
}

// hasQuestion reports whether a run has its question.
func (v *conversation) hasQuestion(run int) bool {
	i, ok := slices.BinarySearchFunc(v.runs, run, func(r Run, n int) int { return r.N - n })
	return !ok || v.runs[i].Question != ""
}

// noteEvent takes the facts from an event; kept is the event as it may be kept.
func (v *conversation) noteEvent(e, kept einolean.Event) {
	isNew := v.eventNotes.note(e, kept)
	if isNew && (e.Output == nil || v.book.find(v.c.cfg.hash("result "+e.CallID+" ")) != nil) { // of a result that is no part yet it changes nothing
		v.version++
	}
}

// addPending keeps an event for the next call.
func (v *conversation) addPending(e einolean.Event) {
	if len(v.pending) < maxNotes {
		v.pending = append(v.pending, e)
		v.grow(eventSize(e))
	}
}

// unchangedPieces returns how many pieces from the start of a request are as the conversation
// recorded them in its last call.
func (v *conversation) unchangedPieces(q *request) int {
	if q.recording != (recordingID{v.key, v.lastCall, v.version}) {
		return 0
	}
	return q.equal
}

// classifyPieces sets the category of each piece of a request. It reports whether all new strings
// are prepared, see Config.keep. The collector's mutex is held.
func (v *conversation) classifyPieces(r *agentRun, q *request) bool {
	ready := q.questionReady || q.userText == "" || v.hasQuestion(r.number)
	from := v.unchangedPieces(q)
	helps := map[uint64]bool{} // calls that only einolean needs, by the hash of their ID
	for i := range q.pieces[:from] {
		if p := &q.pieces[i]; p.Kind == parts.Call {
			helps[p.ID] = p.onlyEinolean
		}
	}
	for i := from; i < len(q.pieces); i++ {
		p := &q.pieces[i]
		v.classify(p, helps, r.programs)
		p.isKnown = v.book.containsPiece(p, v.lastCall)
		ready = ready && (p.isKnown || p.isPrepared)
	}
	return ready
}

// record adds a call with its request. The collector's mutex is held. The result reports the end of
// the call before, and must run after the mutex is released.
func (v *conversation) record(r *recordedCall, of *agentRun, q *request) (report func()) {
	sizeBefore := v.book.bytes + v.marks()
	for _, e := range v.pending {
		sizeBefore += eventSize(e)
	}
	settled := v.unchangedPieces(q)
	v.lastCall++
	v.setQuestion(of.number, q.question)
	r.join(v, of, q, settled)
	report = func() {}
	before := v.previous[r.Agent]
	if len(v.previous) > 64 { // names of agents that are new each time
		clear(v.previous)
	}
	if r.follow(before) {
		report = before.reporter()
	}
	if before != nil {
		before.marks = nil
	}
	v.previous[r.Agent] = r
	v.calls = append(v.calls, r)
	r.resize()
	v.grow(v.book.bytes + v.marks() - sizeBefore)
	return report
}

// dropParts drops everything of a call except its figures.
func (v *conversation) dropParts(r *recordedCall) {
	if v.isForgotten || r.isSlim {
		return
	}
	next := v.calls[len(v.calls)-1].N + 1
	for _, later := range v.calls {
		if !later.isSlim && later.N > r.N {
			next = later.N
			break
		}
	}
	v.version++
	before := v.book.bytes
	v.book.drop(r.callSlots, r.N, next)
	v.grow(v.book.bytes - before)
	v.dropped++
	r.dropDetails()
}

// dropCall drops the oldest call, and adds its figures to the earlier ones.
func (v *conversation) dropCall() {
	r := v.calls[0]
	v.earlier.add(r.ModelCall)
	v.calls[0] = nil
	v.calls = v.calls[1:]
	v.dropped--
	v.grow(-r.size)
	r.size = 0
}

func (v *conversation) dropRun() {
	delete(v.questions, v.runs[0].N)
	v.grow(-runCost - int64(len(v.runs[0].Question)))
	v.runs = v.runs[1:]
}

// dropRuns drops the runs whose calls are gone.
func (v *conversation) dropRuns() {
	first := v.lastRun
	if len(v.calls) > 0 {
		first = v.calls[0].Run
	}
	for len(v.runs) > 1 && v.runs[0].N < first {
		v.dropRun()
	}
}

// forgetNotes drops what is known about results and tools, and what waits.
func (v *conversation) forgetNotes() {
	v.version++
	for len(v.runs) > 1 {
		v.dropRun()
	}
	for _, r := range v.previous {
		r.marks = nil
	}
	clear(v.previous)
	v.eventNotes.forget()
	v.pending = nil
	for _, r := range v.calls {
		r.resize()
	}
	v.grow(v.size() - v.bytes)
}

// size counts all that is kept anew.
func (v *conversation) size() int64 {
	n := conversationCost + int64(len(v.id)) + v.book.bytes + v.eventNotes.size()
	for _, r := range v.runs {
		n += runCost + int64(len(r.Question))
	}
	for _, r := range v.calls {
		n += r.size
	}
	for _, e := range v.pending {
		n += eventSize(e)
	}
	return n + v.marks()
}

// marks counts what is kept of the newest calls for comparison.
func (v *conversation) marks() (n int64) {
	for _, r := range v.previous {
		n += markCost * int64(len(r.marks))
	}
	return n
}

// snapshot copies a conversation, except for its texts.
func (v *conversation) snapshot() *Conversation {
	s := &Conversation{ID: v.id, Runs: slices.Clone(v.runs), Dropped: v.dropped, key: v.key, book: &book{slots: slices.Clone(v.book.slots)}}
	if v.earlier.Calls > 0 {
		earlier := v.earlier
		s.Earlier = &earlier
	}
	calls := make([]ModelCall, len(v.calls))
	s.Calls = make([]*ModelCall, len(v.calls))
	for i, r := range v.calls {
		calls[i] = r.snapshot(s.book)
		s.Calls[i] = &calls[i]
	}
	return s
}

// lines returns the lines of a call for the log.
func (v *conversation) lines(r *recordedCall) []line {
	return v.logState.lines(&Conversation{ID: v.id, Runs: v.runs, key: v.key, book: &v.book}, r.ModelCall, v.c.log.lossCount())
}

// recordedCall is the stored record of a call. The collector's mutex guards it.
type recordedCall struct {
	*ModelCall
	conv       *conversation
	ctx        context.Context // until it has ended
	marks      []partMark      // of its parts, while it is the newest call of its agent
	count      int             // of its parts
	size       int64           // that the conversation counts for it
	hasEnded   bool
	isReported bool // OnCall has been told
	isSlim     bool // its parts are gone
}

// marksOf are the marks of the pieces of a request.
func marksOf(pieces []piece) []partMark {
	marks := make([]partMark, len(pieces))
	for i := range pieces {
		marks[i] = partMark{pieces[i].Hash, int32(pieces[i].Tokens), pieces[i].category}
	}
	return marks
}

// recordRequest records a request that is about to be sent.
func recordRequest[M adk.MessageType](ctx context.Context, c *Collector, in []M, opts []model.Option, stream bool) *recordedCall {
	at, r := time.Now(), c.runFrom(ctx)
	if r == nil {
		return nil // the agent was built without BeforeAgent of this handler
	}
	o := model.GetCommonOptions(&model.Options{}, opts...)
	q := parse(&c.cfg, r.agent, r.previous.Swap(nil), in, o) // two requests at once do not share one
	call := &recordedCall{ctx: ctx, ModelCall: newCall(at, agentOf(ctx), o.Model, stream, q.isStored)}
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
func (r *recordedCall) resize() {
	if r.conv.isForgotten || r.size == 0 && r.isSlim {
		return
	}
	size := r.ModelCall.size()
	r.conv.grow(size - r.size)
	r.size = size
}

// join makes the call the newest of a conversation.
func (r *recordedCall) join(v *conversation, of *agentRun, q *request, settled int) {
	r.ModelCall.setPlace(v.id, v.lastCall, of.number, v.pending)
	r.conv, v.pending = v, nil
	r.marks, r.count = marksOf(q.pieces), len(q.pieces)
	r.slots = v.book.putAll(q.pieces, settled, r.N, v.eventNotes.outcome)
	q.recording = recordingID{v.key, r.N, v.version}
	by, estimated, help := q.sums()
	r.Hidden, r.OmittedTokens = q.hiddenTools(v.eventNotes.hiddenTools, of.hidden), v.book.omittedTokens(r.callSlots, r.N)
	r.setSize(by, estimated, v.fit.correct(estimated, len(q.pieces)), help)
}

// follow compares the request with the previous one, and reports whether that one's
// answer is now known never to be read to the end.
func (r *recordedCall) follow(before *recordedCall) (left bool) {
	if before == nil {
		before = &recordedCall{ModelCall: &ModelCall{}, hasEnded: true}
	}
	if left = !before.hasEnded && before.Run == r.Run; left {
		next := *before.ModelCall // snapshots may share the old one's slices, never its fields
		next.Unfinished = true
		before.ModelCall = &next
	}
	ok := r.ModelCall.compare(before.ModelCall, before.marks, r.marks)
	var fresh []int32
	r.conv.book.eachSlot(r.slots, func(i int, s *slot) {
		if i >= r.equalParts && !ok[r.marks[i].hash] {
			fresh = append(fresh, s.id)
		}
	})
	r.newSlots = ranges(fresh)
	return left
}

// recordAnswer completes a record with the answer, or with the error.
func recordAnswer[M adk.MessageType](c *Collector, r *recordedCall, out []M, first time.Time, err error) {
	if r == nil {
		return
	}
	end := time.Now()
	var joined M
	if err == nil && len(out) > 0 {
		if joined = out[0]; len(out) > 1 { // the arguments of calls and the usage come in pieces
			joined, err = safe.Value("joining the answer", func() (M, error) { return message.Join(out) })
		}
	}
	text, calls, usage := parts.Answer(c.cfg.seed, joined)
	failure := ""
	if err != nil {
		failure, text, calls, usage = cmp.Or(c.cfg.keepError(err), "the call failed"), "", nil, nil
	}
	text = c.cfg.keep(text, 0)
	uses := make([]ToolUse, len(calls))
	for i := range calls {
		uses[i] = c.cfg.keepCall(calls[i])
	}
	c.mu.Lock()
	if r.hasEnded {
		c.mu.Unlock()
		return
	}
	r.setEnd(end, first)
	r.Error = failure
	if err == nil {
		r.noteAnswer(text, uses, calls)
		r.setUsage(usage)
	}
	r.resize()
	report := r.reporter()
	c.shrink()
	c.mu.Unlock()
	report()
}

func (r *recordedCall) setEnd(at, first time.Time) {
	next := *r.ModelCall // snapshots may share the old one's slices, never its fields
	r.ModelCall, r.hasEnded = &next, true
	r.ModelCall.setEnd(at, first)
}

// noteAnswer records the answer of the model: text and did as they may be kept.
func (r *recordedCall) noteAnswer(text string, uses []ToolUse, calls []*parts.Part) {
	help := 0
	for i := range calls {
		if p := calls[i]; parts.Searches(p.Tool) || r.conv.isReadCall(p) {
			help++
		}
	}
	if help > 0 && help == len(calls) {
		r.Without = nil
	}
	if !r.isSlim {
		r.setAnswer(text, uses)
	}
}

func (r *recordedCall) setUsage(usage *schema.TokenUsage) {
	if usage == nil {
		return
	}
	reported := *usage
	r.Tokens.Reported = &reported
	if !r.Kept {
		r.conv.fit.learn(r.Tokens.Estimated, r.count, usage.PromptTokens)
	}
}

// reporter returns a function that reports the end of the call. It must run after the collector's
// mutex, which is held, is released.
func (r *recordedCall) reporter() func() {
	v, ctx, first, wait := r.conv, r.ctx, !r.isReported, func() {}
	c := v.c
	r.isReported, r.ctx = true, nil
	if c.cfg.Log != nil && !v.isForgotten {
		wait = c.log.add(v.lines(r))
	}
	var done *ModelCall
	if first && c.cfg.OnCall != nil {
		copied := *r.ModelCall
		done = &copied
		done.in = v.book.pick(done.callSlots)
	}
	return func() {
		wait()
		if done != nil {
			_ = safe.Call("OnCall", func() error { c.cfg.OnCall(ctx, done); return nil })
		}
	}
}

// dropDetails drops everything of the call except its figures.
func (r *recordedCall) dropDetails() {
	r.isSlim = true
	r.ModelCall = r.figures() // snapshots share the old one
	r.resize()
}

// snapshot copies the call, whose parts are in a book. One still in progress is unfinished.
func (r *recordedCall) snapshot(in *book) ModelCall {
	call := *r.ModelCall
	call.Unfinished = call.Unfinished || !r.hasEnded
	call.in = in
	return call
}
