// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What becomes of a call of a hidden tool: whether it runs, and what it is answered otherwise, whether the model
// called it by a slot, by call_tool or by a program.

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/compose"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/internal/virtual"
	"github.com/einolean/einolean/toolsearch/internal/found"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/internal/slots"
	"github.com/einolean/einolean/toolsearch/internal/turn"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// callView is a run as its tool calls see it, and the slots and programs that they go through.
type callView struct{ *run }

// Lookup says what a call is for.
func (r callView) Lookup(c wire.Call) (*hidden.Tool, slots.Kind) {
	isOurs := toolnames.IsSearchTool(c.Name) || c.Name == toolnames.Run
	known := r.own[c.Name] != nil || r.catalog().usesMetaName(c.Name)
	switch e := r.catalog().Lookup(c.Name); {
	case isOurs && !known && e == nil:
		return nil, slots.Gone // of the protocol under which the history was written: it gets an answer
	case c.Name == toolnames.Call && r.callsEnhanced(c):
		return nil, slots.Enhanced
	case e != nil:
		return e, slots.Hidden
	case r.isGone(c.Name):
		return nil, slots.Gone
	case known:
		return nil, slots.Other
	}
	return nil, slots.Unknown
}

// callsEnhanced reports whether a call of call_tool is for a tool that returns more than text.
func (r callView) callsEnhanced(c wire.Call) bool {
	if !r.protocol.hasCallTool {
		return false
	}
	e := r.catalog().Resolve(toolnames.Called(lenient.Decode(c.Args)), anyTool)
	return e != nil && slots.IsEnhanced(e.Value)
}

func anyTool(*hidden.Tool) bool { return true }

// Names are the hidden tools, those that the model sees first.
func (r callView) Names(ctx context.Context) iter.Seq[string] {
	now, _ := r.Now(ctx)
	return func(yield func(string) bool) {
		for _, name := range now.Visible {
			if r.catalog().Has(name) && !yield(name) {
				return
			}
		}
		for e := range r.catalog().All() {
			if !yield(e.Info.Name) {
				return
			}
		}
	}
}

// Admit reports whether the call of a hidden tool must not run, and the answer to it. A call to a tool that
// is not loaded is answered with the tool's schema. With that call in the history the tool counts as loaded,
// and the model can repeat the call at once.
func (r callView) Admit(ctx context.Context, name string) (answer string, stop bool) {
	e, id := r.catalog().Lookup(name), compose.GetToolCallID(ctx)
	if e == nil {
		return "", false
	}
	if virtual.Inner(ctx, id) {
		return r.admitProgram(ctx, e)
	}
	if r.denies(ctx, e, toCall) {
		return r.noSuchTool(ctx, name), true
	}
	r.Note(id, turn.Note{Tool: name})
	now, _ := r.Now(ctx)
	sees := !now.Began || slices.Contains(now.Visible, name) // unknown after a resume from a checkpoint of Eino's own package
	if sees || r.cfg.AllowUnloadedCalls || r.rules.ProviderLoads || r.direct[name] {
		return "", false // a provider loads tools where we cannot see it
	}
	if r.denies(ctx, e, toShow) {
		return r.noSuchTool(ctx, name), true
	}
	r.emit(ctx, einolean.Event{Kind: einolean.KindCallGated, Tool: name, CallID: id})
	return say.Text(r.protocol.gate, say.Schema(e, "")), true
}

// admitProgram is Admit for the call of a program, which has checked it before: nothing is loaded, and what
// the Filter says now counts.
func (r callView) admitProgram(ctx context.Context, e *hidden.Tool) (answer string, stop bool) {
	id := compose.GetToolCallID(ctx)
	if r.allows(ctx, e, toRunInProgram) {
		r.Note(id, turn.Note{Tool: e.Info.Name})
		return "", false
	}
	r.denies(ctx, e, toCall)
	virtual.Fail(ctx, id)
	return say.Text("no-such-tool", say.Data{Name: e.Info.Name}), true
}

// denies reports whether a call must not run because of the Filter, and tells OnEvent.
func (r callView) denies(ctx context.Context, e *hidden.Tool, to way) bool {
	phase, err := r.refusal(ctx, e, to)
	if phase == "" {
		return false
	}
	r.emit(ctx, einolean.Event{
		Kind: einolean.KindToolsDenied, Tool: e.Info.Name, CallID: compose.GetToolCallID(ctx), Err: err,
		Tools: &einolean.ToolChange{Added: []string{e.Info.Name}, AddedCount: 1, Tokens: e.Tokens(), Phase: string(phase)},
	})
	return true
}

// noSuchTool is the answer to a call of an unknown tool, or of one that the caller may
// not know of. If the caller knows the tool, the answer is that it may not use it.
func (r callView) noSuchTool(ctx context.Context, name string) string {
	id := compose.GetToolCallID(ctx)
	r.Note(id, turn.Note{Refused: true})
	virtual.Fail(ctx, id)
	if e := r.catalog().Lookup(name); e != nil && r.mayKnow(ctx, e) {
		return say.Text("not-allowed", say.Data{Name: name})
	}
	text := "no-such-tool"
	if now, _ := r.Now(ctx); now.All { // there is no search tool
		text = "no-such-tool-shown"
	}
	return say.Text(text, say.Data{Name: name, Near: r.near(ctx, name, found.MaxNear)})
}

// near are the tools that a call of an unknown name may have meant.
func (r callView) near(ctx context.Context, name string, most int) []string {
	return r.catalog().Near(name, most, func(e *hidden.Tool) bool {
		return e.Info.Name != name && r.allows(ctx, e, toHint) && r.allows(ctx, e, toLoad)
	})
}

// Answer answers the call of a tool that is gone, or that got no slot.
func (r callView) Answer(ctx context.Context, name string, why slots.Kind) string {
	text, ok := map[slots.Kind]string{slots.TooMany: "too-many-tools", slots.Later: "from-next-run"}[why]
	if !ok {
		return r.noSuchTool(ctx, name)
	}
	id := compose.GetToolCallID(ctx)
	r.Note(id, turn.Note{Tool: name, Refused: true})
	virtual.Fail(ctx, id)
	return say.Text(text, say.Data{Name: cmp.Or(r.Noted(id).Tool, name)})
}

// Kept are the names of calls in a checkpoint. Those of tools that no longer exist get an answer.
func (r callView) Kept(ctx context.Context, interrupted []wire.Call) (names []string, known bool) {
	kept, _ := r.Now(ctx)
	for _, name := range kept.Bound {
		called := slices.ContainsFunc(interrupted, func(c wire.Call) bool { return c.Name == name })
		if !r.catalog().Has(name) && (called || len(interrupted) == 0) {
			r.noteHad(name)
		}
	}
	return kept.Bound, kept.Began
}

// Called is the call that arguments of call_tool ask for. Eino tells the callbacks of an answer in its place.
func (r callView) Called(ctx context.Context, args string) slots.Call {
	answer := func(text string) slots.Call { return slots.Answering(ctx, text) }
	a := lenient.Decode(args)
	name := toolnames.Called(a)
	if name == "" || ctx.Err() != nil {
		return answer(say.Text("no-call-name", say.Data{}))
	}
	e := r.catalog().Resolve(name, r.may(ctx, toRun))
	if e == nil {
		if denied := r.catalog().Resolve(name, anyTool); denied != nil {
			r.denies(ctx, denied, slices.Concat(toCall, toLoad))
		}
		return answer(r.noSuchTool(ctx, name))
	}
	text, problem := argumentsFor(e, a.Raw(argumentKeys...))
	if problem != "" {
		return answer(say.Text("bad-arguments", say.Schema(e, problem)))
	}
	r.Note(compose.GetToolCallID(ctx), turn.Note{Tool: e.Info.Name})
	ctx = callbacks.ReuseHandlers(ctx, &callbacks.RunInfo{Name: e.Info.Name, Type: e.Type(), Component: components.ComponentOfTool})
	return slots.Running(ctx, e, text)
}

// argumentKeys are the keys that models use for the arguments, the right one and common
// mistakes.
var argumentKeys = []string{"arguments", "args", "parameters", "params", "input", "tool_input", "tool_arguments"}

// argumentsFor returns the arguments to pass to a tool, or the problem with them, for the model.
func argumentsFor(e *hidden.Tool, raw string) (args, problem string) {
	args, err := e.Arguments(raw)
	switch {
	case err == hidden.ErrNoObject:
		problem = say.Text("no-object", say.Data{})
	case err != nil:
		problem = toolschema.Problem(err)
	}
	return args, problem
}

// Resolve implements virtual.Tools.
func (r callView) Resolve(ctx context.Context, written string) (virtual.Tool, bool) {
	c := r.catalog()
	if c.usesMetaName(written) {
		return virtual.Tool{Refusal: say.Text("program-meta", say.Data{Name: written})}, true
	}
	if r.own[written] != nil && !c.Has(written) {
		return virtual.Tool{}, false
	}
	e := c.Resolve(written, r.may(ctx, toRunInProgram))
	if e == nil {
		return virtual.Tool{}, false
	}
	return virtual.Tool{Info: e.Info}, true
}

// maxSigned is the most near tools of which an answer has the signatures.
const maxSigned = 3

// Near implements virtual.Tools.
func (r callView) Near(ctx context.Context, written string) (lines []string) {
	for _, n := range r.near(ctx, written, maxSigned) {
		if e := r.catalog().Lookup(n); e != nil {
			lines = append(lines, e.Signature())
		}
	}
	return lines
}

// Check implements virtual.Tools.
func (r callView) Check(name, arguments string) (problem, signature string) {
	e := r.catalog().Lookup(name)
	if e == nil {
		return "", ""
	}
	_, problem = argumentsFor(e, arguments)
	return problem, e.Signature()
}

// Most implements virtual.Tools.
func (r callView) Most() int { return 32 }
