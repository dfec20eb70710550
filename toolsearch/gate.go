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

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/protocol"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
	"github.com/einolean/einolean/toolsearch/internal/search"
	"github.com/einolean/einolean/toolsearch/internal/slots"
)

// The methods of *run for tool calls implement slots.Run and virtual.Tools.

// Lookup says what a call is for.
func (r *run) Lookup(c message.ToolCall) (*catalog.Tool, slots.CallTarget) {
	isOurs := toolnames.IsSearchTool(c.Name) || c.Name == toolnames.Run
	known := r.tools.own[c.Name] != nil || r.catalog().usesMetaName(c.Name)
	switch e := r.catalog().Lookup(c.Name); {
	case isOurs && !known && e == nil:
		return nil, slots.Gone // of the protocol under which the history was written: it gets an answer
	case c.Name == toolnames.Call && r.callsEnhanced(c):
		return nil, slots.Enhanced
	case e != nil:
		return e, slots.Hidden
	case r.IsGone(c.Name):
		return nil, slots.Gone
	case known:
		return nil, slots.Other
	case r.catalog().changes && r.tools.mayBeMissing(c.Name) && !r.isAlias(c.Name):
		return nil, slots.Gone
	}
	return nil, slots.Unknown
}

// callsEnhanced reports whether a call of call_tool is for a tool that returns more than text.
func (r *run) callsEnhanced(c message.ToolCall) bool {
	if r.settings.protocol.CallTool == nil {
		return false
	}
	e := r.catalog().Resolve(toolnames.Called(jsontext.DecodeArguments(c.Args)), anyTool)
	return e != nil && slots.IsEnhanced(e.Value)
}

func anyTool(*catalog.Tool) bool { return true }

// Names are the hidden tools, those that the model sees first.
func (r *run) Names(ctx context.Context) iter.Seq[string] {
	now, _ := r.state.Snapshot(ctx)
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
func (r *run) CheckCall(ctx context.Context, name string) (answer string, stop bool) {
	e, id := r.catalog().Lookup(name), compose.GetToolCallID(ctx)
	if e == nil {
		return "", false
	}
	if programturn.IsProgramCall(ctx, id) {
		return r.admitProgram(ctx, e)
	}
	if r.denies(ctx, e, toCall) {
		return r.noSuchTool(ctx, name), true
	}
	r.calls.Record(id, runstate.CallOutcome{Reached: name})
	now, _ := r.state.Snapshot(ctx)
	sees := !now.HadModelCall || slices.Contains(now.Visible, name) // unknown after a resume from a checkpoint of Eino's own package
	if sees || r.settings.cfg.AllowUnloadedCalls || r.settings.rules.ProviderLoads || r.returnDirectly[name] {
		return "", false // a provider loads tools where we cannot see it
	}
	if r.denies(ctx, e, toShow) {
		return r.noSuchTool(ctx, name), true
	}
	r.settings.emit(ctx, einolean.Event{Kind: einolean.KindCallGated, Tool: name, CallID: id})
	return protocol.Text(r.settings.protocol.GateText, protocol.SchemaData(e, "")), true
}

// admitProgram is Admit for the call of a program, which has checked it before: nothing is loaded, and what
// the Filter says now counts.
func (r *run) admitProgram(ctx context.Context, e *catalog.Tool) (answer string, stop bool) {
	id := compose.GetToolCallID(ctx)
	if r.filter.allows(ctx, e, toRunInProgram) {
		r.calls.Record(id, runstate.CallOutcome{Reached: e.Info.Name})
		return "", false
	}
	r.denies(ctx, e, toCall)
	programturn.Fail(ctx, id)
	return protocol.Text("no-such-tool", protocol.Data{Name: e.Info.Name}), true
}

// denies reports whether a call must not run because of the Filter, and tells OnEvent.
func (r *run) denies(ctx context.Context, e *catalog.Tool, to phases) bool {
	phase, err := r.filter.denied(ctx, e, to)
	if phase == "" {
		return false
	}
	r.settings.emit(ctx, einolean.Event{
		Kind: einolean.KindToolsDenied, Tool: e.Info.Name, CallID: compose.GetToolCallID(ctx), Err: err,
		Tools: &einolean.ToolChange{Added: []string{e.Info.Name}, AddedCount: 1, Tokens: e.Tokens(), Phase: string(phase)},
	})
	return true
}

// noSuchTool is the answer to a call of an unknown tool, or of one that the caller may
// not know of. If the caller knows the tool, the answer is that it may not use it.
func (r *run) noSuchTool(ctx context.Context, name string) string {
	id := compose.GetToolCallID(ctx)
	r.calls.Record(id, runstate.CallOutcome{Rejected: true})
	programturn.Fail(ctx, id)
	if e := r.catalog().Lookup(name); e != nil && r.filter.mayReveal(ctx, e) {
		return protocol.Text("not-allowed", protocol.Data{Name: name})
	}
	text := "no-such-tool"
	if now, _ := r.state.Snapshot(ctx); now.ShowsAll { // there is no search tool
		text = "no-such-tool-shown"
	}
	answer := protocol.Text(text, protocol.Data{Name: name, Near: r.near(ctx, name, search.MaxNear)})
	if r.catalog().changes && r.tools.source.isDown() {
		answer += " " + protocol.Text("missing-servers", protocol.Data{Words: r.tools.source.missing()})
	}
	return answer
}

// isAlias reports whether a name is known to be an alias of a tool that there is.
func (r *run) isAlias(name string) bool {
	target, known := r.settings.aliases.tool(name)
	return known && (target == "" || r.catalog().Has(target))
}

// notesAlias returns an endpoint that notes an unknown name by which Eino reached a tool of the agent. Without a
// Source, and for any other name, it is the same endpoint.
func notesAlias[A, T any](
	ctx context.Context, s *settings, call *adk.ToolContext, next func(context.Context, A, ...tool.Option) (T, error),
) func(context.Context, A, ...tool.Option) (T, error) {
	r := runFrom(ctx)
	if r == nil || r.settings != s || call == nil || !r.catalog().changes {
		return next
	}
	if _, kind := r.Lookup(message.ToolCall{Name: call.Name}); kind != slots.Unknown {
		return next
	}
	return func(ctx context.Context, args A, opts ...tool.Option) (T, error) {
		out, err := next(ctx, args, opts...)
		if outcome := r.calls.Outcome(call.CallID); !outcome.Rejected {
			s.aliases.add(call.Name, outcome.Reached)
		}
		return out, err
	}
}

// near are the tools that a call of an unknown name may have meant.
func (r *run) near(ctx context.Context, name string, most int) []string {
	return r.catalog().Near(name, most, func(e *catalog.Tool) bool {
		return e.Info.Name != name && r.filter.allows(ctx, e, phasesHint) && r.filter.allows(ctx, e, toLoad)
	})
}

// Answer answers the call of a tool that is gone, or that got no slot.
func (r *run) RejectionText(ctx context.Context, name string, why slots.CallTarget) string {
	text, ok := map[slots.CallTarget]string{slots.TooMany: "too-many-tools", slots.Later: "from-next-run"}[why]
	if !ok {
		return r.noSuchTool(ctx, name)
	}
	id := compose.GetToolCallID(ctx)
	r.calls.Record(id, runstate.CallOutcome{Reached: name, Rejected: true})
	programturn.Fail(ctx, id)
	return protocol.Text(text, protocol.Data{Name: cmp.Or(r.calls.Outcome(id).Reached, name)})
}

// Kept are the names of calls in a checkpoint. Those of tools that no longer exist get an answer.
func (r *run) RestoreBindings(ctx context.Context, interrupted []message.ToolCall) (names []string, known bool) {
	kept, _ := r.state.Snapshot(ctx)
	for _, name := range kept.BoundNames {
		called := slices.ContainsFunc(interrupted, func(c message.ToolCall) bool { return c.Name == name })
		if !r.catalog().Has(name) && (called || len(interrupted) == 0) {
			r.tools.markKnown(name)
		}
	}
	return kept.BoundNames, kept.HadModelCall
}

// Called is the call that arguments of call_tool ask for. Eino tells the callbacks of an answer in its place.
func (r *run) ResolveCallTool(ctx context.Context, args string) slots.Invocation {
	answer := func(text string) slots.Invocation { return slots.Answering(ctx, text) }
	a := jsontext.DecodeArguments(args)
	name := toolnames.Called(a)
	if name == "" || ctx.Err() != nil {
		return answer(protocol.Text("no-call-name", protocol.Data{}))
	}
	e := r.catalog().Resolve(name, r.filter.allowed(ctx, toRun))
	if e == nil {
		if denied := r.catalog().Resolve(name, anyTool); denied != nil {
			r.denies(ctx, denied, slices.Concat(toCall, toLoad))
		}
		return answer(r.noSuchTool(ctx, name))
	}
	text, problem := argumentsFor(e, a.Raw(argumentKeys...))
	if problem != "" {
		return answer(protocol.Text("bad-arguments", protocol.SchemaData(e, problem)))
	}
	r.calls.Record(compose.GetToolCallID(ctx), runstate.CallOutcome{Reached: e.Info.Name})
	ctx = callbacks.ReuseHandlers(ctx, &callbacks.RunInfo{Name: e.Info.Name, Type: e.Type(), Component: components.ComponentOfTool})
	return slots.Running(ctx, e, text)
}

// argumentKeys are the keys that models use for the arguments, the right one and common
// mistakes.
var argumentKeys = []string{"arguments", "args", "parameters", "params", "input", "tool_input", "tool_arguments"}

// argumentsFor returns the arguments to pass to a tool, or the problem with them, for the model.
func argumentsFor(e *catalog.Tool, raw string) (args, problem string) {
	args, err := e.Arguments(raw)
	switch {
	case err == catalog.ErrNoObject:
		problem = protocol.Text("no-object", protocol.Data{})
	case err != nil:
		problem = toolschema.Problem(err)
	}
	return args, problem
}

// Resolve implements virtual.Tools.
func (r *run) Resolve(ctx context.Context, written string) (programturn.Tool, bool) {
	c := r.catalog()
	if c.usesMetaName(written) {
		return programturn.Tool{Refusal: protocol.Text("program-meta", protocol.Data{Name: written})}, true
	}
	if r.tools.own[written] != nil && !c.Has(written) {
		return programturn.Tool{}, false
	}
	e := c.Resolve(written, r.filter.allowed(ctx, toRunInProgram))
	if e == nil {
		return programturn.Tool{}, false
	}
	return programturn.Tool{Info: e.Info}, true
}

// maxSigned is the most near tools of which an answer has the signatures.
const maxSigned = 3

// Near implements virtual.Tools.
func (r *run) Suggest(ctx context.Context, written string) (lines []string) {
	for _, n := range r.near(ctx, written, maxSigned) {
		if e := r.catalog().Lookup(n); e != nil {
			lines = append(lines, e.Signature())
		}
	}
	return lines
}

// Check implements virtual.Tools.
func (r *run) Check(name, arguments string) (problem, signature string) {
	e := r.catalog().Lookup(name)
	if e == nil {
		return "", ""
	}
	_, problem = argumentsFor(e, arguments)
	return problem, e.Signature()
}

// Most implements virtual.Tools.
func (r *run) Most() int { return 32 }
