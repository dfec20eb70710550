// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// How the programs of a run start, wait for calls and end.

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

// agentRun is the state of one agent run. Eino calls its hooks one after another, and its tools
// concurrently.
type agentRun[M adk.MessageType] struct {
	config     *Config
	gate       callGate
	codeInfo   *schema.ToolInfo // of run_code for this run; nil if it has no signatures
	isRepaired bool
	turnAnswer M   // what the model of a program turn answers; nil in a turn of the real model
	base       []M // the history before the programs; nil if another process started them
	processes  *processes

	mu      sync.Mutex
	journal journal.Journal
}

func newRun[M adk.MessageType](c *Config, direct map[string]bool) *agentRun[M] {
	r := &agentRun[M]{config: c, gate: callGate{config: c, direct: direct}, processes: &processes{runs: map[string]*program{}}}
	runtime.AddCleanup(r, (*processes).closeAll, r.processes)
	return r
}

// InProgramTurn implements programturn.Programs.
func (r *agentRun[M]) InProgramTurn() bool { return !message.IsNil(r.turnAnswer) }

// IsProgramCall implements programturn.Programs. The call of program_output is not one.
func (r *agentRun[M]) IsProgramCall(ctx context.Context, callID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.journal.Load(ctx)
	return slices.Contains(now.Asked, callID) && !slices.ContainsFunc(now.Programs, func(k journal.Kept) bool { return k.EndID() == callID })
}

// forget deletes the state of the programs that ended.
func (r *agentRun[M]) forget(ctx context.Context) error {
	r.base = nil
	return r.journal.Forget(ctx)
}

// visibleTools returns the tools for the model: without program_output, and with the description of
// run_code for this run. It notes them for the calls of programs.
func (r *agentRun[M]) visibleTools(ctx context.Context, infos []*schema.ToolInfo) ([]*schema.ToolInfo, error) {
	shown, count := make([]*schema.ToolInfo, 0, len(infos)), map[string]int{}
	for _, info := range infos {
		if info == nil || info.Name != toolnames.Output {
			shown = append(shown, info)
		}
		if info != nil && isProgramTool(info.Name) {
			if count[info.Name]++; count[info.Name] > 1 {
				return nil, nameTakenError(info.Name)
			}
		}
	}
	r.gate = r.gate.withTools(shown)
	at := slices.IndexFunc(shown, isRunCode)
	if at >= 0 && r.codeInfo == nil && journal.Turns(ctx) == 0 && programturn.ToolsOf(ctx) == nil {
		r.codeInfo = describeRunCode(shown)
	}
	if at >= 0 && r.codeInfo != nil {
		shown[at] = r.codeInfo
	}
	return shown, nil
}

// afterModel counts the turn. In an answer of the model that starts programs, it makes ids of calls
// unique. The answer is the last message.
func (r *agentRun[M]) afterModel(ctx context.Context, msgs []M) ([]M, error) {
	if err := journal.CountTurn(ctx); err != nil || r.InProgramTurn() {
		return msgs, err
	}
	last := len(msgs) - 1
	head := message.WithUniqueCallIDs(msgs[last])
	if !slices.ContainsFunc(message.Calls(head), func(c message.ToolCall) bool { return c.Name == toolnames.Run }) {
		return msgs, nil
	}
	next := slices.Clone(msgs)
	next[last] = head
	return next, r.saveCollisions(ctx, next)
}

// saveCollisions saves the programs for whose calls the usual ids cannot be used, because the
// history has calls with such ids.
func (r *agentRun[M]) saveCollisions(ctx context.Context, msgs []M) error {
	var ids, taken []string
	for _, msg := range msgs {
		for _, c := range message.Calls(msg) {
			ids = append(ids, c.ID)
		}
	}
	for _, c := range message.Calls(msgs[len(msgs)-1]) {
		if k := (journal.Kept{Inner: c.ID}); c.Name == toolnames.Run && slices.ContainsFunc(ids, func(id string) bool { return id == k.EndID() || k.CallNumber(id) > 0 }) {
			taken = append(taken, c.ID)
		}
	}
	return journal.SaveCollisions(ctx, taken)
}

// start runs the tool run_code. Calls of the program are made in the next turn, because only then
// the visible tools are known.
func (r *agentRun[M]) start(ctx context.Context, args string) (string, error) {
	code := codeIn(jsontext.DecodeArguments(args))
	if strings.TrimSpace(code) == "" {
		return render("no-code", promptData{}), nil
	}
	id := compose.GetToolCallID(ctx)
	k := &journal.Kept{ID: id, Inner: id, Code: code, Seed: id + journal.RandomID(), At: time.Now().UnixMilli()}
	if slices.Contains(journal.Collisions(ctx), id) {
		k.Inner += journal.CollisionMark + journal.RandomID()
	}
	if was := r.processes.remove(id); was != nil { // of an earlier message, or of a call that was cancelled
		was.close()
	}
	p := newProgram(k)
	if err := p.start(ctx, r.config.Interpreter, r.processes); err != nil {
		return "", err
	}
	if len(p.state().Calls) == 0 {
		return modelOutput(ctx, r.config, p), nil
	}
	r.processes.add(p)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.journal.Load(ctx)
	now.Programs = append(slices.DeleteFunc(now.Programs, func(k journal.Kept) bool { return k.ID == id }), *k)
	return render("begun", promptData{Name: k.EndID()}), r.journal.Save(ctx)
}

// codeIn returns the program in the arguments of run_code: under any key that models use for it, or
// as bare text.
func codeIn(a jsontext.Arguments) string {
	texts := a.Texts("code", "script", "program", "source", "javascript")
	if len(texts) == 0 {
		texts = a.BareTexts()
	}
	return strings.Join(texts, "\n")
}

// output runs the tool program_output, which ends a program.
func (r *agentRun[M]) output(ctx context.Context, _ string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.journal.Load(ctx).Programs {
		if k.EndID() == compose.GetToolCallID(ctx) {
			return k.Output, nil
		}
	}
	return render("no-output", promptData{}), nil
}

// advanceAll resumes the programs of the run. While they run, it returns the history as it was
// before them; when all have ended, the history with their outputs.
func (r *agentRun[M]) advanceAll(ctx context.Context, msgs []M) ([]M, error) {
	r.turnAnswer = *new(M)
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.journal.Load(ctx)
	if len(now.Programs) == 0 {
		if !r.isRepaired {
			r.isRepaired, msgs = true, repairHistory(msgs)
		}
		return msgs, nil
	}
	at := r.lastProgramCalls(msgs)
	if err := r.updateBase(ctx, msgs, at); err != nil {
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
	if calls := r.nextCalls(ctx, list); len(calls) > 0 {
		for _, p := range list {
			r.processes.add(p)
		}
		return slices.Clip(r.base), r.startProgramTurn(ctx, calls)
	}
	return r.finish(ctx, msgs, list)
}

// lastProgramCalls returns the index of the message with the calls of the last program turn, or -1.
func (r *agentRun[M]) lastProgramCalls(msgs []M) int {
	for i, msg := range slices.Backward(msgs) {
		if slices.ContainsFunc(message.Calls(msg), func(c message.ToolCall) bool { return slices.Contains(r.journal.Record.Asked, c.ID) }) {
			return i
		}
	}
	return -1
}

// updateBase saves the history before the programs when the first program turn begins, with the
// results of the calls beside them. Messages after the last result were inserted by earlier
// handlers for this turn only.
func (r *agentRun[M]) updateBase(ctx context.Context, msgs []M, at int) error {
	switch {
	case len(r.journal.Record.Asked) == 0: // the first turn
		before, _ := splitAfterResults(msgs)
		r.base, r.journal.Record.Programs = slices.Clip(before), sortByCall(before, r.journal.Record.Programs)
		return journal.SaveBase(ctx, before)
	case at < 0: // another handler has replaced the conversation
		r.base = msgs
	case r.base == nil: // another process
		r.base = journal.LoadBase(ctx, msgs[:at])
	}
	return nil
}

// splitAfterResults splits messages after the last result.
func splitAfterResults[M adk.MessageType](msgs []M) (before, rest []M) {
	for i, msg := range slices.Backward(msgs) {
		if len(message.Results(msg)) > 0 {
			return msgs[:i+1], msgs[i+1:]
		}
	}
	return msgs, nil
}

// sortByCall sorts programs by the order of their run_code calls: they started concurrently.
func sortByCall[M adk.MessageType](msgs []M, list []journal.Kept) []journal.Kept {
	place, n := map[string]int{}, 0
	for _, msg := range msgs {
		for _, c := range message.Calls(msg) {
			n++
			place[c.ID] = n
		}
	}
	slices.SortStableFunc(list, func(a, b journal.Kept) int { return place[a.ID] - place[b.ID] })
	return list
}

// resume resumes all programs with the results of the last program turn.
func (r *agentRun[M]) resume(ctx context.Context, msgs []M, at int) (list []*program, err error) {
	now := r.journal.Record
	batch := r.collectAnswers(ctx, msgs, at)
	all := append(r.journal.Answers(ctx), batch...)
	for i := range now.Programs {
		p := newProgram(&now.Programs[i])
		for _, a := range all {
			if a.Program == p.saved.ID {
				p.answers[a.Number] = a
			}
		}
		list = append(list, p)
		if err := p.start(ctx, r.config.Interpreter, r.processes); err != nil {
			return list, err
		}
		err := p.advance(ctx, func(c Call) (Call, *journal.Answer) {
			c, a := r.gate.reply(ctx, p.saved.InnerID(c.Number), c)
			if a != nil {
				a.Program, a.Number = p.saved.ID, c.Number
				batch = append(batch, *a)
			}
			return c, a
		})
		if err != nil {
			return list, err
		}
	}
	return list, r.journal.AddBatch(ctx, batch)
}

// collectAnswers returns the answers to the calls of the last program turn.
func (r *agentRun[M]) collectAnswers(ctx context.Context, msgs []M, at int) (batch []journal.Answer) {
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
	for _, id := range r.journal.Record.Asked {
		for i := range r.journal.Record.Programs {
			k := &r.journal.Record.Programs[i]
			n := k.CallNumber(id)
			if n == 0 {
				continue
			}
			name, isCalled := calls[id]
			result, hasResult := results[id]
			a := journal.Answer{Program: k.ID, Number: n, Tool: name, Failed: true}
			switch {
			case hasResult:
				a.Text, a.Failed = r.gate.programResult(ctx, name, textOf(result)), programturn.TakeFailed(ctx, id)
			case at >= 0 && !isCalled:
				a.Text = render("removed", promptData{})
			default:
				a.Text = render("lost", promptData{})
			}
			batch = append(batch, a)
		}
	}
	return batch
}

// nextCalls returns the calls that programs wait for. If no iterations of the agent are left for
// another turn, it returns none and marks the programs.
func (r *agentRun[M]) nextCalls(ctx context.Context, list []*program) (calls []message.ToolCall) {
	maxTools := maxToolsPerTurn
	if t := programturn.ToolsOf(ctx); t != nil {
		maxTools = t.MaxParallelTools()
	}
	for _, p := range list {
		called := map[string]bool{}
		for _, c := range p.pending {
			if called[c.Tool] = true; len(called) > max(1, maxTools/len(list)) {
				break
			}
			calls = append(calls, message.ToolCall{ID: p.saved.InnerID(c.Number), Name: c.Tool, Args: c.Arguments})
		}
	}
	if len(calls) == 0 || journal.Turns(ctx)+neededIterations <= r.config.maxModelCalls() {
		for _, p := range list {
			p.saved.Rounds += min(len(p.pending), 1)
		}
		return calls
	}
	for _, p := range list {
		p.isOutOfTurns, p.pending = len(p.pending) > 0, nil
	}
	return nil
}

// startProgramTurn makes this turn a program turn with these calls.
func (r *agentRun[M]) startProgramTurn(ctx context.Context, calls []message.ToolCall) error {
	r.turnAnswer = message.NewCallMessage[M](calls)
	adk.EnsureMessageID(r.turnAnswer)
	r.journal.Record.Asked = nil
	for _, c := range calls {
		r.journal.Record.Asked = append(r.journal.Record.Asked, c.ID)
	}
	return r.journal.Save(ctx)
}

// finish ends all programs, by a program turn. If no iteration is left for that, it sends the
// events of such a turn and returns the final history.
func (r *agentRun[M]) finish(ctx context.Context, msgs []M, list []*program) ([]M, error) {
	var calls []message.ToolCall
	for _, p := range list {
		p.saved.Output, p.saved.Ended = modelOutput(ctx, r.config, p), true
		calls = append(calls, message.ToolCall{ID: p.saved.EndID(), Name: toolnames.Output, Args: "{}"})
	}
	if journal.Turns(ctx)+neededIterations <= r.config.maxModelCalls() {
		return slices.Clip(r.base), r.startProgramTurn(ctx, calls)
	}
	if err := sendMessage(ctx, message.NewCallMessage[M](calls)); err != nil {
		return nil, err
	}
	out := map[string]M{}
	for _, p := range list {
		out[p.saved.EndID()] = message.NewResultMessage[M](p.saved.EndID(), toolnames.Output, message.NewText(p.saved.Output))
		if err := sendMessage(ctx, out[p.saved.EndID()]); err != nil {
			return nil, err
		}
	}
	_, rest := splitAfterResults(msgs)
	return append(r.insertOutputs(calls, out), rest...), r.forget(ctx)
}

// sendMessage sends an event with a message.
func sendMessage[M adk.MessageType](ctx context.Context, msg M) error {
	adk.EnsureMessageID(msg)
	return einorun.SendMessage(ctx, message.Event(msg, toolnames.Output))
}

// replaceOutputs returns the history in which the result of each run_code call is what the program
// printed. The results stand after the calls of program_output, at index at.
func (r *agentRun[M]) replaceOutputs(ctx context.Context, msgs []M, at int) ([]M, error) {
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
	return append(r.insertOutputs(message.Calls(msgs[at]), out), rest...), r.forget(ctx)
}

// insertOutputs inserts the outputs of programs, by the ids of their program_output calls, into the
// history before the programs. If another handler removed a run_code call, its output stays with
// its call at the end.
func (r *agentRun[M]) insertOutputs(calls []message.ToolCall, out map[string]M) []M {
	next, unplaced := r.base, []M(nil)
	calls = slices.DeleteFunc(slices.Clone(calls), func(c message.ToolCall) bool {
		for _, k := range r.journal.Record.Programs {
			if msg, ok := out[c.ID]; ok && k.EndID() == c.ID {
				replaced, isPlaced := replaceResult(next, k.ID, msg)
				if next = replaced; !isPlaced {
					unplaced = append(unplaced, msg)
				}
				return isPlaced
			}
		}
		return true
	})
	if next = slices.Clip(next); len(calls) > 0 {
		msg := message.NewCallMessage[M](calls)
		adk.EnsureMessageID(msg)
		next = append(append(next, msg), unplaced...)
	}
	return next
}
