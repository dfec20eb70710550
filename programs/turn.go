// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// The turns of a run: how programs begin, wait for calls, and end.

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/programs/internal/journal"
)

// run is one run of an agent. Eino calls its hooks one after another, and its tools at once.
type run[M adk.MessageType] struct {
	config   *Config
	calls    calls
	about    *schema.ToolInfo
	isMended bool
	pending  M   // the answer of the virtual turn; nil if a model is asked
	base     []M // the conversation while programs run; nil if another process began them
	live     *processes

	mu sync.Mutex
	journal.Journal
}

func newRun[M adk.MessageType](c *Config, direct map[string]bool) *run[M] {
	r := &run[M]{config: c, calls: calls{config: c, direct: direct}, live: &processes{runs: map[string]*program{}}}
	runtime.AddCleanup(r, (*processes).closeAll, r.live)
	return r
}

// Now implements virtual.Programs.
func (r *run[M]) Now() bool { return !message.IsNil(r.pending) }

// Inner implements virtual.Programs.
func (r *run[M]) Inner(ctx context.Context, callID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Read(ctx)
	return slices.Contains(now.Asked, callID) && !slices.ContainsFunc(now.Programs, func(k journal.SavedProgram) bool { return k.EndID() == callID })
}

// forget deletes everything.
func (r *run[M]) forget(ctx context.Context) error {
	r.base = nil
	return r.Forget(ctx)
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
	at := slices.IndexFunc(shown, isCode)
	if at >= 0 && r.about == nil && journal.Turns(ctx) == 0 && programturn.ToolsOf(ctx) == nil {
		r.about = describe(shown)
	}
	if at >= 0 && r.about != nil {
		shown[at] = r.about
	}
	return shown, nil
}

// answered notes the answer of a model, or of a virtual turn, which is the last of the messages.
func (r *run[M]) afterModel(ctx context.Context, msgs []M) ([]M, error) {
	if err := journal.CountTurn(ctx); err != nil || r.Now() {
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
		if k := (journal.SavedProgram{Inner: c.ID}); c.Name == toolnames.Run && slices.ContainsFunc(ids, func(id string) bool { return id == k.EndID() || k.Number(id) > 0 }) {
			taken = append(taken, c.ID)
		}
	}
	return journal.KeepTaken(ctx, taken)
}

// start is the call of run_code. A program that makes calls goes on in the next turn: before that
// nobody knows which tools there are.
func (r *run[M]) start(ctx context.Context, args string) (string, error) {
	code := codeIn(jsontext.DecodeArguments(args))
	if strings.TrimSpace(code) == "" {
		return say("no-code", data{}), nil
	}
	id := compose.GetToolCallID(ctx)
	k := &journal.SavedProgram{ID: id, Inner: id, Code: code, Seed: id + journal.Random(), At: time.Now().UnixMilli()}
	if slices.Contains(journal.Taken(ctx), id) {
		k.Inner += journal.Mark + journal.Random()
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
	now := r.Read(ctx)
	now.Programs = append(slices.DeleteFunc(now.Programs, func(k journal.SavedProgram) bool { return k.ID == id }), *k)
	return say("begun", data{Name: k.EndID()}), r.Save(ctx)
}

// codeIn is the program in the arguments of run_code, under any name that models give it, or as bare
// text.
func codeIn(a jsontext.Arguments) string {
	texts := a.Texts("code", "script", "program", "source", "javascript")
	if len(texts) == 0 {
		texts = a.BareTexts()
	}
	return strings.Join(texts, "\n")
}

// output is the call of program_output, which ends a program.
func (r *run[M]) output(ctx context.Context, _ string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.Read(ctx).Programs {
		if k.EndID() == compose.GetToolCallID(ctx) {
			return k.Output, nil
		}
	}
	return say("no-output", data{}), nil
}

// settle goes on with the programs under way, and returns the conversation: while they run, as it was
// before, and in the end with what they printed.
func (r *run[M]) advanceAll(ctx context.Context, msgs []M) ([]M, error) {
	r.pending = *new(M)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Read(ctx)
	if len(now.Programs) == 0 {
		if !r.isMended {
			r.isMended, msgs = true, mended(msgs)
		}
		return msgs, nil
	}
	at := r.lastProgramCalls(msgs)
	if err := r.settleBase(ctx, msgs, at); err != nil {
		return nil, err
	}
	if now.Programs[0].Ended {
		return r.replaceOutputs(ctx, msgs, at)
	}
	list, err := r.resume(ctx, msgs, at)
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
func (r *run[M]) lastProgramCalls(msgs []M) int {
	for i, msg := range slices.Backward(msgs) {
		if slices.ContainsFunc(message.Calls(msg), func(c message.ToolCall) bool { return slices.Contains(r.Record.Asked, c.ID) }) {
			return i
		}
	}
	return -1
}

// settleBase notes the conversation before the programs, with the results beside theirs. What stands
// behind the last result is of handlers before this one, for this turn.
func (r *run[M]) settleBase(ctx context.Context, msgs []M, at int) error {
	switch {
	case len(r.Record.Asked) == 0: // the first turn
		before, _ := splitAfterResults(msgs)
		r.base, r.Record.Programs = slices.Clip(before), inOrder(before, r.Record.Programs)
		return journal.KeepBase(ctx, before)
	case at < 0: // another handler has replaced the conversation
		r.base = msgs
	case r.base == nil: // another process
		r.base = journal.BaseOf(ctx, msgs[:at])
	}
	return nil
}

// apart are the messages up to the last result, and those behind it.
func splitAfterResults[M adk.MessageType](msgs []M) (before, rest []M) {
	for i, msg := range slices.Backward(msgs) {
		if len(message.Results(msg)) > 0 {
			return msgs[:i+1], msgs[i+1:]
		}
	}
	return msgs, nil
}

// inOrder are programs in the order of their calls: they began at once.
func inOrder[M adk.MessageType](msgs []M, list []journal.SavedProgram) []journal.SavedProgram {
	place, n := map[string]int{}, 0
	for _, msg := range msgs {
		for _, c := range message.Calls(msg) {
			n++
			place[c.ID] = n
		}
	}
	slices.SortStableFunc(list, func(a, b journal.SavedProgram) int { return place[a.ID] - place[b.ID] })
	return list
}

// goOn runs all programs on with the results of the last virtual turn.
func (r *run[M]) resume(ctx context.Context, msgs []M, at int) (list []*program, err error) {
	now := r.Record
	batch := r.collect(ctx, msgs, at)
	all := append(r.Answers(ctx), batch...)
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
		err := p.advance(ctx, func(c Call) (Call, *journal.Answer) {
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
	return list, r.KeepBatch(ctx, batch)
}

// collect are the answers that the last virtual turn brought.
func (r *run[M]) collect(ctx context.Context, msgs []M, at int) (batch []journal.Answer) {
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
	for _, id := range r.Record.Asked {
		for i := range r.Record.Programs {
			k := &r.Record.Programs[i]
			n := k.Number(id)
			if n == 0 {
				continue
			}
			name, asked := calls[id]
			result, isThere := results[id]
			a := journal.Answer{Program: k.ID, Number: n, Tool: name, Failed: true}
			switch {
			case isThere:
				a.Text, a.Failed = r.calls.typed(ctx, name, textOf(result)), programturn.Failed(ctx, id)
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

// mostTools is how many different tools programs call at once where nothing else bounds them. The
// others come in the next turn.
const mostTools = 32

// next are the calls that programs wait for; none if no turn is left for them, which ends the
// programs.
func (r *run[M]) next(ctx context.Context, list []*program) (calls []message.ToolCall) {
	const after = 2 // this turn, and the model's
	most := mostTools
	if t := programturn.ToolsOf(ctx); t != nil {
		most = t.Most()
	}
	for _, p := range list {
		called := map[string]bool{}
		for _, c := range p.waits {
			if called[c.Tool] = true; len(called) > max(1, most/len(list)) {
				break
			}
			calls = append(calls, message.ToolCall{ID: p.InnerID(c.Number), Name: c.Tool, Args: c.Arguments})
		}
	}
	if len(calls) == 0 || journal.Turns(ctx)+after <= r.config.maxTurns() {
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
	r.Record.Asked = nil
	for _, c := range calls {
		r.Record.Asked = append(r.Record.Asked, c.ID)
	}
	return r.Save(ctx)
}

// finish ends all programs: by a virtual turn, or if none is left, by events that tell the same.
func (r *run[M]) finish(ctx context.Context, msgs []M, list []*program) ([]M, error) {
	var calls []message.ToolCall
	for _, p := range list {
		p.Output, p.Ended = outcome(ctx, r.config, p), true
		calls = append(calls, message.ToolCall{ID: p.EndID(), Name: toolnames.Output, Args: "{}"})
	}
	if journal.Turns(ctx)+2 <= r.config.maxTurns() {
		return slices.Clip(r.base), r.ask(ctx, calls)
	}
	if err := tell(ctx, message.Calling[M](calls)); err != nil {
		return nil, err
	}
	out := map[string]M{}
	for _, p := range list {
		out[p.EndID()] = message.Answering[M](p.EndID(), toolnames.Output, message.NewText(p.Output))
		if err := tell(ctx, out[p.EndID()]); err != nil {
			return nil, err
		}
	}
	_, rest := splitAfterResults(msgs)
	return append(r.folded(calls, out), rest...), r.forget(ctx)
}

// tell sends an event with a message.
func tell[M adk.MessageType](ctx context.Context, msg M) error {
	adk.EnsureMessageID(msg)
	return einorun.SendMessage(ctx, message.Event(msg, toolnames.Output))
}

// fold puts what programs printed into the place of what run_code answered.
func (r *run[M]) replaceOutputs(ctx context.Context, msgs []M, at int) ([]M, error) {
	if at < 0 { // another handler has replaced the conversation
		return msgs, r.forget(ctx)
	}
	out := map[string]M{}
	for _, msg := range msgs[at+1:] {
		for _, p := range message.Results(msg) {
			out[p.ID()] = message.WithoutCalls(msg, func(id string) bool { return id != p.ID() })
		}
	}
	_, rest := splitAfterResults(msgs)
	return append(r.folded(message.Calls(msgs[at]), out), rest...), r.forget(ctx)
}

// folded is the conversation with what programs printed, by their last calls. What has no place
// left, since another handler has replaced the conversation, stays as it is.
func (r *run[M]) folded(calls []message.ToolCall, out map[string]M) []M {
	next, isLeft := r.base, []M(nil)
	calls = slices.DeleteFunc(slices.Clone(calls), func(c message.ToolCall) bool {
		for _, k := range r.Record.Programs {
			if msg, ok := out[c.ID]; ok && k.EndID() == c.ID {
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
