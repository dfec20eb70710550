// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// The turns of a run: how programs begin, wait for calls, and end.

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/adkrun"
	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/virtual"
)

// run is one run of an agent. Eino calls its hooks one after another, and its tools at once.
type run[M adk.MessageType] struct {
	config   *Config
	calls    calls
	about    *schema.ToolInfo
	isMended bool
	pending  M   // the answer of the virtual turn; nil if a model is asked
	base     []M // the conversation while programs run; nil if another process began them
	live     *live

	mu     sync.Mutex
	record *record
}

func newRun[M adk.MessageType](c *Config, direct map[string]bool) *run[M] {
	r := &run[M]{config: c, calls: calls{config: c, direct: direct}, live: &live{runs: map[string]*program{}}}
	runtime.AddCleanup(r, (*live).closeAll, r.live)
	return r
}

// Now implements virtual.Programs.
func (r *run[M]) Now() bool { return !message.IsNil(r.pending) }

// Inner implements virtual.Programs.
func (r *run[M]) Inner(ctx context.Context, callID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.read(ctx)
	return slices.Contains(now.Asked, callID) && !slices.ContainsFunc(now.Programs, func(k kept) bool { return k.endID() == callID })
}

// read returns the record, once the lock is held.
func (r *run[M]) read(ctx context.Context) *record {
	if r.record == nil {
		was, err := runLocal[*record](ctx, recordKey)
		if err != nil {
			return &record{}
		}
		if r.record = was; was == nil {
			r.record = &record{}
		}
	}
	return r.record
}

// save hands the record to Eino.
func (r *run[M]) save(ctx context.Context) error {
	dup := *r.record
	dup.Programs, dup.Asked = slices.Clone(dup.Programs), slices.Clone(dup.Asked)
	return adk.SetRunLocalValue(ctx, recordKey, &dup)
}

// forget deletes everything.
func (r *run[M]) forget(ctx context.Context) error {
	for n := range r.record.Batches {
		_ = adk.DeleteRunLocalValue(ctx, batchKey+strconv.Itoa(n))
	}
	r.record, r.base = &record{}, nil
	_ = adk.DeleteRunLocalValue(ctx, baseKey)
	_ = adk.DeleteRunLocalValue(ctx, idsKey)
	return adk.DeleteRunLocalValue(ctx, recordKey)
}

// answers are those of all batches so far.
func (r *run[M]) answers(ctx context.Context) (all []answer) {
	for n := range r.record.Batches {
		if b, _ := runLocal[*batch](ctx, batchKey+strconv.Itoa(n)); b != nil {
			all = append(all, b.Answers...)
		}
	}
	return all
}

// keepBatch adds a batch.
func (r *run[M]) keepBatch(ctx context.Context, b []answer) error {
	err := adk.SetRunLocalValue(ctx, batchKey+strconv.Itoa(r.record.Batches), &batch{b})
	r.record.Batches++
	return err
}

// show returns the list that the model sees: without program_output, and where nothing hides tools,
// with what they return, which no list of tools says.
func (r *run[M]) show(ctx context.Context, infos []*schema.ToolInfo) ([]*schema.ToolInfo, error) {
	shown, count := make([]*schema.ToolInfo, 0, len(infos)), map[string]int{}
	for _, info := range infos {
		if info == nil || info.Name != toolnames.Output {
			shown = append(shown, info)
		}
		if info != nil && isOurs(info.Name) {
			if count[info.Name]++; count[info.Name] > 1 {
				return nil, taken(info.Name)
			}
		}
	}
	r.calls = r.calls.shown(shown)
	if at := slices.IndexFunc(shown, isCode); at >= 0 && r.about == nil && turns(ctx) == 0 && virtual.ToolsOf(ctx) == nil {
		r.about = describe(shown)
	}
	if at := slices.IndexFunc(shown, isCode); at >= 0 && r.about != nil {
		shown[at] = r.about
	}
	return shown, nil
}

// answered notes the answer of a model, or of a virtual turn, which is the last of the messages.
func (r *run[M]) answered(ctx context.Context, msgs []M) ([]M, error) {
	if err := countTurn(ctx); err != nil || r.Now() {
		return msgs, err
	}
	last := len(msgs) - 1
	head := message.Apart(msgs[last])
	if !slices.ContainsFunc(message.Calls(head), func(c message.ToolCall) bool { return c.Name == toolnames.Run }) {
		return msgs, nil
	}
	next := slices.Clone(msgs)
	next[last] = head
	return next, r.keepTaken(ctx, next)
}

// keepTaken keeps the programs whose calls cannot have the usual ids, since the conversation has such.
func (r *run[M]) keepTaken(ctx context.Context, msgs []M) error {
	var ids, taken []string
	for _, msg := range msgs {
		for _, c := range message.Calls(msg) {
			ids = append(ids, c.ID)
		}
	}
	for _, c := range message.Calls(msgs[len(msgs)-1]) {
		if k := (kept{Inner: c.ID}); c.Name == toolnames.Run && slices.ContainsFunc(ids, func(id string) bool { return id == k.endID() || k.number(id) > 0 }) {
			taken = append(taken, c.ID)
		}
	}
	if taken == nil {
		return adk.DeleteRunLocalValue(ctx, idsKey)
	}
	return adk.SetRunLocalValue(ctx, idsKey, taken)
}

// start is the call of run_code. A program that makes calls goes on in the next turn: before that
// nobody knows which tools there are.
func (r *run[M]) start(ctx context.Context, args string) (string, error) {
	code := codeIn(lenient.Decode(args))
	if strings.TrimSpace(code) == "" {
		return say("no-code", data{}), nil
	}
	id := compose.GetToolCallID(ctx)
	k := &kept{ID: id, Inner: id, Code: code, Seed: id + random(), At: time.Now().UnixMilli()}
	if taken, _ := runLocal[[]string](ctx, idsKey); slices.Contains(taken, id) {
		k.Inner += mark + random()
	}
	if was := r.live.take(id); was != nil { // of an earlier message, or of a call that was cancelled
		was.close()
	}
	p := newProgram(k)
	if err := p.begin(ctx, r.config.Interpreter, r.live); err != nil {
		return "", err
	}
	if len(p.state().Calls) == 0 {
		return outcome(ctx, r.config, p), nil
	}
	r.live.keep(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.read(ctx)
	now.Programs = append(slices.DeleteFunc(now.Programs, func(k kept) bool { return k.ID == id }), *k)
	return say("begun", data{Name: k.endID()}), r.save(ctx)
}

// codeIn is the program in the arguments of run_code, under any name that models give it, or as bare
// text.
func codeIn(a lenient.Arguments) string {
	texts := a.Texts("code", "script", "program", "source", "javascript")
	if len(texts) == 0 {
		texts = a.Bare()
	}
	return strings.Join(texts, "\n")
}

// output is the call of program_output, which ends a program.
func (r *run[M]) output(ctx context.Context, _ string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.read(ctx).Programs {
		if k.endID() == compose.GetToolCallID(ctx) {
			return k.Output, nil
		}
	}
	return say("no-output", data{}), nil
}

// settle goes on with the programs under way, and returns the conversation: while they run, as it was
// before, and in the end with what they printed.
func (r *run[M]) settle(ctx context.Context, msgs []M) ([]M, error) {
	r.pending = *new(M)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.read(ctx)
	if len(now.Programs) == 0 {
		if !r.isMended {
			r.isMended, msgs = true, mended(msgs)
		}
		return msgs, nil
	}
	at := r.asking(msgs)
	if err := r.settleBase(ctx, msgs, at); err != nil {
		return nil, err
	}
	if now.Programs[0].Ended {
		return r.fold(ctx, msgs, at)
	}
	list, err := r.goOn(ctx, msgs, at)
	if err != nil {
		closeAll(list)
		return nil, err
	}
	if calls := r.next(ctx, list); len(calls) > 0 {
		for _, p := range list {
			r.live.keep(p)
		}
		return slices.Clip(r.base), r.ask(ctx, calls)
	}
	return r.finish(ctx, msgs, list)
}

// asking is where the message with the calls of the last virtual turn stands, -1 if it does not.
func (r *run[M]) asking(msgs []M) int {
	for i, msg := range slices.Backward(msgs) {
		if slices.ContainsFunc(message.Calls(msg), func(c message.ToolCall) bool { return slices.Contains(r.record.Asked, c.ID) }) {
			return i
		}
	}
	return -1
}

// settleBase notes the conversation before the programs, with the results beside theirs. What stands
// behind the last result is of handlers before this one, for this turn.
func (r *run[M]) settleBase(ctx context.Context, msgs []M, at int) error {
	switch {
	case len(r.record.Asked) == 0: // the first turn
		before, _ := apart(msgs)
		r.base, r.record.Programs = slices.Clip(before), inOrder(before, r.record.Programs)
		return keepBase(ctx, before)
	case at < 0: // another handler has replaced the conversation
		r.base = msgs
	case r.base == nil: // another process
		r.base = baseOf(ctx, msgs[:at])
	}
	return nil
}

// apart are the messages up to the last result, and those behind it.
func apart[M adk.MessageType](msgs []M) (before, rest []M) {
	for i, msg := range slices.Backward(msgs) {
		if len(message.Results(msg)) > 0 {
			return msgs[:i+1], msgs[i+1:]
		}
	}
	return msgs, nil
}

// inOrder are programs in the order of their calls: they began at once.
func inOrder[M adk.MessageType](msgs []M, list []kept) []kept {
	place, n := map[string]int{}, 0
	for _, msg := range msgs {
		for _, c := range message.Calls(msg) {
			n++
			place[c.ID] = n
		}
	}
	slices.SortStableFunc(list, func(a, b kept) int { return place[a.ID] - place[b.ID] })
	return list
}

// goOn runs all programs on with the results of the last virtual turn.
func (r *run[M]) goOn(ctx context.Context, msgs []M, at int) (list []*program, err error) {
	now := r.record
	batch := r.collect(ctx, msgs, at)
	all := append(r.answers(ctx), batch...)
	for i := range now.Programs {
		p := newProgram(&now.Programs[i])
		for _, a := range all {
			if a.Program == p.ID {
				p.answers[a.Number] = a
			}
		}
		list = append(list, p)
		if err := p.begin(ctx, r.config.Interpreter, r.live); err != nil {
			return list, err
		}
		err := p.advance(ctx, func(c Call) (Call, *answer) {
			c, a := r.calls.reply(ctx, c)
			if a != nil {
				a.Program, a.Number = p.ID, c.Number
				batch = append(batch, *a)
			}
			return c, a
		})
		if err != nil {
			return list, err
		}
	}
	return list, r.keepBatch(ctx, batch)
}

// collect are the answers that the last virtual turn brought.
func (r *run[M]) collect(ctx context.Context, msgs []M, at int) (batch []answer) {
	calls, results := map[string]string{}, map[string]message.Part{}
	if at >= 0 {
		for _, c := range message.Calls(msgs[at]) {
			calls[c.ID] = c.Name
		}
		for _, msg := range msgs[at+1:] {
			for _, p := range message.Results(msg) {
				results[p.ID()] = p
			}
		}
	}
	for _, id := range r.record.Asked {
		for i := range r.record.Programs {
			k := &r.record.Programs[i]
			n := k.number(id)
			if n == 0 {
				continue
			}
			name, asked := calls[id]
			result, isThere := results[id]
			a := answer{Program: k.ID, Number: n, Tool: name, Failed: true}
			switch {
			case isThere:
				a.Text, a.Failed = r.calls.typed(ctx, name, textOf(result)), virtual.Failed(ctx, id)
			case at >= 0 && !asked:
				a.Text = say("removed", data{})
			default:
				a.Text = say("lost", data{})
			}
			batch = append(batch, a)
		}
	}
	return batch
}

// textOf is what a program reads of a result.
func textOf(p message.Part) string {
	var text strings.Builder
	var media []string
	for item := p.Parts(); item.Next(); {
		switch item.Kind {
		case message.Text:
			text.WriteString(item.Text())
		case message.Medium:
			media = append(media, item.MediaType())
		}
	}
	if len(media) > 0 {
		return strings.TrimPrefix(text.String()+"\n"+say("media", data{Words: media}), "\n")
	}
	return text.String()
}

// mostTools is how many different tools programs call at once where nothing else bounds them. The
// others come in the next turn.
const mostTools = 32

// next are the calls that programs wait for; none if no turn is left for them, which ends the
// programs.
func (r *run[M]) next(ctx context.Context, list []*program) (calls []message.ToolCall) {
	const after = 2 // this turn, and the model's
	most := mostTools
	if t := virtual.ToolsOf(ctx); t != nil {
		most = t.Most()
	}
	for _, p := range list {
		called := map[string]bool{}
		for _, c := range p.waits {
			if called[c.Tool] = true; len(called) > max(1, most/len(list)) {
				break
			}
			calls = append(calls, message.ToolCall{ID: p.innerID(c.Number), Name: c.Tool, Args: c.Arguments})
		}
	}
	if len(calls) == 0 || turns(ctx)+after <= r.config.maxTurns() {
		for _, p := range list {
			p.Rounds += min(len(p.waits), 1)
		}
		return calls
	}
	for _, p := range list {
		p.noTurns, p.waits = len(p.waits) > 0, nil
	}
	return nil
}

// ask makes this turn a virtual one.
func (r *run[M]) ask(ctx context.Context, calls []message.ToolCall) error {
	r.pending = message.Calling[M](calls)
	adk.EnsureMessageID(r.pending)
	r.record.Asked = nil
	for _, c := range calls {
		r.record.Asked = append(r.record.Asked, c.ID)
	}
	return r.save(ctx)
}

// finish ends all programs: by a virtual turn, or if none is left, by events that tell the same.
func (r *run[M]) finish(ctx context.Context, msgs []M, list []*program) ([]M, error) {
	var calls []message.ToolCall
	for _, p := range list {
		p.Output, p.Ended = outcome(ctx, r.config, p), true
		calls = append(calls, message.ToolCall{ID: p.endID(), Name: toolnames.Output, Args: "{}"})
	}
	if turns(ctx)+2 <= r.config.maxTurns() {
		return slices.Clip(r.base), r.ask(ctx, calls)
	}
	if err := tell(ctx, message.Calling[M](calls)); err != nil {
		return nil, err
	}
	out := map[string]M{}
	for _, p := range list {
		out[p.endID()] = message.Answering[M](p.endID(), toolnames.Output, message.NewText(p.Output))
		if err := tell(ctx, out[p.endID()]); err != nil {
			return nil, err
		}
	}
	_, rest := apart(msgs)
	return append(r.folded(calls, out), rest...), r.forget(ctx)
}

// tell sends an event with a message.
func tell[M adk.MessageType](ctx context.Context, msg M) error {
	adk.EnsureMessageID(msg)
	return adkrun.SendMessage(ctx, message.Event(msg, toolnames.Output))
}

// fold puts what programs printed into the place of what run_code answered.
func (r *run[M]) fold(ctx context.Context, msgs []M, at int) ([]M, error) {
	if at < 0 { // another handler has replaced the conversation
		return msgs, r.forget(ctx)
	}
	out := map[string]M{}
	for _, msg := range msgs[at+1:] {
		for _, p := range message.Results(msg) {
			out[p.ID()] = message.WithoutCalls(msg, func(id string) bool { return id != p.ID() })
		}
	}
	_, rest := apart(msgs)
	return append(r.folded(message.Calls(msgs[at]), out), rest...), r.forget(ctx)
}

// folded is the conversation with what programs printed, by their last calls. What has no place
// left, since another handler has replaced the conversation, stays as it is.
func (r *run[M]) folded(calls []message.ToolCall, out map[string]M) []M {
	next, isLeft := r.base, []M(nil)
	calls = slices.DeleteFunc(slices.Clone(calls), func(c message.ToolCall) bool {
		for _, k := range r.record.Programs {
			if msg, ok := out[c.ID]; ok && k.endID() == c.ID {
				with, isPlaced := inPlace(next, k.ID, msg)
				if next = with; !isPlaced {
					isLeft = append(isLeft, msg)
				}
				return isPlaced
			}
		}
		return true
	})
	if next = slices.Clip(next); len(calls) > 0 {
		msg := message.Calling[M](calls)
		adk.EnsureMessageID(msg)
		next = append(append(next, msg), isLeft...)
	}
	return next
}

// inPlace returns messages with the result in another message as that of a run_code call.
func inPlace[M adk.MessageType](msgs []M, id string, with M) (next []M, isPlaced bool) {
	for i, msg := range slices.Backward(msgs) {
		results := message.Results(msg)
		if !slices.ContainsFunc(results, func(p message.Part) bool { return p.ID() == id }) {
			continue
		}
		said := message.Results(with)[0]
		next = slices.Clone(msgs)
		next[i] = message.Replace(msg, func(p message.Part) []message.Part {
			if p.Kind != message.Result || p.ID() != id {
				return nil
			}
			return []message.Part{message.NewResult(id, toolnames.Run, said.Parts().All()...)}
		})
		return next, true
	}
	return msgs, false
}
