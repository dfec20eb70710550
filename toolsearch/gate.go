// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The gate: whether a call of a hidden tool runs, and its answer otherwise. Calls come through a slot, through
// call_tool or from a program.

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
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

// *run implements slots.Host for calls of a model, and programturn.Tools for calls of a program.

// Lookup implements slots.Host.
func (r *run) Lookup(c message.ToolCall) (*catalog.Tool, slots.CallTarget) {
	isReserved := toolnames.IsSearchTool(c.Name) || c.Name == toolnames.Run
	isListed := r.tools.ownInfos[c.Name] != nil || r.catalog().hasSearchTool(c.Name)
	switch e := r.catalog().tools.Lookup(c.Name); {
	case isReserved && !isListed && e == nil:
		return nil, slots.Gone // a tool of the protocol under which the history was written
	case c.Name == toolnames.Call && r.runsCallTool.Load() && r.callsEnhanced(c):
		return nil, slots.Enhanced
	case e != nil:
		return e, slots.Hidden
	case r.IsGone(c.Name):
		return nil, slots.Gone
	case isListed:
		return nil, slots.Other
	case r.catalog().hasSource && r.tools.mayBeMissing(c.Name) && !r.isAlias(c.Name):
		return nil, slots.Gone
	case r.answersUnknown.Load():
		return nil, slots.Gone
	}
	return nil, slots.Unknown
}

// callsEnhanced reports whether a call of call_tool is for a tool that returns more than text.
func (r *run) callsEnhanced(c message.ToolCall) bool {
	if r.settings.protocol.CallTool == nil {
		return false
	}
	e := r.catalog().tools.Resolve(toolnames.CalledTool(jsontext.DecodeArguments(c.Args)), anyTool)
	return e != nil && slots.IsEnhanced(e.Value)
}

func anyTool(*catalog.Tool) bool { return true }

// AliasCandidates implements slots.Host. Visible tools come first.
func (r *run) AliasCandidates(ctx context.Context) iter.Seq[string] {
	state, _ := r.state.Snapshot(ctx)
	return func(yield func(string) bool) {
		for _, name := range state.Visible {
			if r.catalog().tools.Has(name) && !yield(name) {
				return
			}
		}
		for e := range r.catalog().tools.All() {
			if !yield(e.Info.Name) {
				return
			}
		}
	}
}

// CheckCall implements slots.Host. A call of a tool that is not loaded is answered with the tool's schema, unless
// Config.AllowUnloadedCalls is set. With that call in the history the tool counts as loaded, and the model can repeat
// the call at once. With call_tool no tool is ever loaded: a call runs if its arguments fit.
func (r *run) CheckCall(ctx context.Context, name, args string) slots.Verdict {
	run := slots.Verdict{Runs: true, Args: args}
	e, id := r.catalog().tools.Lookup(name), compose.GetToolCallID(ctx)
	if e == nil {
		return run
	}
	if programturn.IsProgramCall(ctx, id) {
		if answer, stop := r.checkProgramCall(ctx, e); stop {
			return slots.Verdict{Answer: answer}
		}
		return run
	}
	if r.filterDenies(ctx, id, e, phasesCall) {
		return slots.Verdict{Answer: r.unknownToolAnswer(ctx, name)}
	}
	r.calls.Record(id, runstate.CallOutcome{Tool: name})
	state, _ := r.state.Snapshot(ctx)
	// After a resume from a checkpoint of Eino's own package, it is unknown which tools are visible.
	isLoaded := !state.HadModelCall || slices.Contains(state.Visible, name)
	// A provider may have loaded the tool, which the state does not show.
	if isLoaded || r.settings.cfg.AllowUnloadedCalls || r.settings.rules.ProviderLoads || r.returnDirectly[name] {
		return run
	}
	uses := phasesShow
	if r.settings.protocol.CallTool != nil {
		uses = phasesLoad
	}
	if r.filterDenies(ctx, id, e, uses) {
		return slots.Verdict{Answer: r.unknownToolAnswer(ctx, name)}
	}
	problem := ""
	if r.settings.protocol.CallTool != nil {
		if args, problem = argumentsFor(e, args); problem == "" {
			return slots.Verdict{Runs: true, Args: args}
		}
	}
	r.settings.emit(ctx, einolean.Event{Kind: einolean.KindCallGated, Tool: name, CallID: id})
	return slots.Verdict{Answer: protocol.Text(r.settings.protocol.GateText, protocol.SchemaData(e, problem))}
}

// checkProgramCall is CheckCall for the call of a program, which checked it before. Nothing is loaded, and the Filter
// is asked again.
func (r *run) checkProgramCall(ctx context.Context, e *catalog.Tool) (answer string, stop bool) {
	id := compose.GetToolCallID(ctx)
	if !r.filterDenies(ctx, id, e, phasesProgram) {
		r.calls.Record(id, runstate.CallOutcome{Tool: e.Info.Name})
		return "", false
	}
	programturn.Fail(ctx, id)
	return protocol.Text("no-such-tool", protocol.Data{Name: e.Info.Name}), true
}

// filterDenies reports whether the Filter denies a call, and emits an event if so.
func (r *run) filterDenies(ctx context.Context, callID string, e *catalog.Tool, phases phases) bool {
	phase, err := r.filter.firstDenied(ctx, e, phases)
	if phase == "" {
		return false
	}
	r.settings.emit(ctx, einolean.Event{
		Kind: einolean.KindToolsDenied, Tool: e.Info.Name, CallID: callID, Err: err,
		Tools: &einolean.ToolChange{
			Added: []string{e.Info.Name}, AddedCount: 1, Tokens: e.Tokens(), Phase: string(phase),
		},
	})
	return true
}

// unknownToolAnswer returns the answer to a call of an unknown tool, or of one that the caller may not know of. If the
// caller may know the tool, the answer says that it may not use it.
func (r *run) unknownToolAnswer(ctx context.Context, name string) string {
	id := compose.GetToolCallID(ctx)
	r.calls.Record(id, runstate.CallOutcome{IsRejected: true})
	programturn.Fail(ctx, id)
	if e := r.catalog().tools.Lookup(name); e != nil && r.filter.mayReveal(ctx, e) {
		return protocol.Text("not-allowed", protocol.Data{Name: name})
	}
	text := "no-such-tool"
	if state, _ := r.state.Snapshot(ctx); state.ShowsAll { // there is no search tool
		text = "no-such-tool-shown"
	}
	answer := protocol.Text(text, protocol.Data{Name: name, Near: r.nearNames(ctx, name, search.MaxNear)})
	if r.catalog().hasSource && r.tools.source.isDown() {
		answer += " " + protocol.Text("missing-servers", protocol.Data{Words: r.tools.source.missingServers()})
	}
	return answer
}

// isAlias reports whether a name is known to be an alias of a tool that there is.
func (r *run) isAlias(name string) bool {
	target, known := r.settings.aliases.tool(name)
	return known && (target == "" || r.catalog().tools.Has(target))
}

// trackAlias returns an endpoint that records an alias: an unknown name by which Eino reached a tool of the agent.
// Without a Source, and for any other name, it returns the same endpoint.
func trackAlias[A, T any](
	ctx context.Context, s *settings, call *adk.ToolContext, next func(context.Context, A, ...tool.Option) (T, error),
) func(context.Context, A, ...tool.Option) (T, error) {
	r := runFrom(ctx)
	if r == nil || r.settings != s || call == nil || !r.catalog().hasSource {
		return next
	}
	if _, target := r.Lookup(message.ToolCall{Name: call.Name}); target != slots.Unknown {
		return next
	}
	return func(ctx context.Context, args A, opts ...tool.Option) (T, error) {
		out, err := next(ctx, args, opts...)
		if outcome := r.calls.Outcome(call.CallID); !outcome.IsRejected {
			s.aliases.add(call.Name, outcome.Tool)
		}
		return out, err
	}
}

// nearNames returns the tools that a call of an unknown name may have meant.
func (r *run) nearNames(ctx context.Context, name string, limit int) []string {
	return r.catalog().tools.Near(name, limit, func(e *catalog.Tool) bool {
		return e.Info.Name != name && r.filter.allows(ctx, e, phasesHint) && r.filter.allows(ctx, e, phasesLoad)
	})
}

// RejectionText implements slots.Host.
func (r *run) RejectionText(ctx context.Context, name string, why slots.Rejection) string {
	var text string
	switch why {
	case slots.NoSuchTool:
		return r.unknownToolAnswer(ctx, name)
	case slots.TooManyTools:
		text = "too-many-tools"
	case slots.FromNextRun:
		text = "from-next-run"
	}
	id := compose.GetToolCallID(ctx)
	r.calls.Record(id, runstate.CallOutcome{Tool: name, IsRejected: true})
	programturn.Fail(ctx, id)
	return protocol.Text(text, protocol.Data{Name: cmp.Or(r.calls.Outcome(id).Tool, name)})
}

// RestoreBindings implements slots.Host. Names of tools that no longer exist become known, so that calls get an answer.
func (r *run) RestoreBindings(ctx context.Context, interrupted []message.ToolCall) (names []string, known bool) {
	state, _ := r.state.Snapshot(ctx)
	r.runsCallTool.Store(!state.RenamesCalls)
	for _, name := range state.BoundNames {
		isCalled := slices.ContainsFunc(interrupted, func(c message.ToolCall) bool { return c.Name == name })
		if !r.catalog().tools.Has(name) && (isCalled || len(interrupted) == 0) {
			r.tools.markKnown(name)
		}
	}
	return state.BoundNames, state.HadModelCall
}

// argumentsFor returns the arguments to pass to a tool, or the problem with them, for the model.
func argumentsFor(e *catalog.Tool, raw string) (args, problem string) {
	args, err := e.Arguments(raw)
	switch {
	case err == catalog.ErrNoObject:
		problem = protocol.Text("no-object", protocol.Data{})
	case err != nil:
		problem = argumentProblem(e, raw)
	}
	return args, problem
}

// argumentProblem says what is wrong with arguments: first the names that are unknown or missing.
func argumentProblem(e *catalog.Tool, raw string) string {
	unknown, missing := e.CompareNames(raw)
	var problems []string
	if len(unknown) > 0 {
		problems = append(problems, namesText("unknown-arguments", unknown))
	}
	if len(missing) > 0 {
		problems = append(problems, namesText("missing-arguments", missing))
	}
	values := e.Problems(raw)
	if len(problems) > 0 {
		values = slices.DeleteFunc(values, func(p toolschema.Problem) bool { return p.AboutNames })
	}
	if len(values) > 0 {
		problems = append(problems, toolschema.JoinProblems(values))
	}
	return strings.Join(problems, "; ")
}

// namesText returns a text with the first of some names.
func namesText(text string, names []string) string {
	const maxNames = 10
	return protocol.Text(text, protocol.Data{Words: protocol.ClipAll(names[:min(len(names), maxNames)])})
}

// Resolve implements programturn.Tools.
func (r *run) Resolve(ctx context.Context, written string) (programturn.Tool, bool) {
	c := r.catalog()
	if c.hasSearchTool(written) {
		return programturn.Tool{Refusal: protocol.Text("program-meta", protocol.Data{Name: written})}, true
	}
	if r.tools.ownInfos[written] != nil && !c.tools.Has(written) {
		return programturn.Tool{}, false
	}
	e := c.tools.Resolve(written, r.filter.predicate(ctx, phasesProgram))
	if e == nil {
		return programturn.Tool{}, false
	}
	return programturn.Tool{Info: e.Info}, true
}

// ReportDenied implements programturn.Tools.
func (r *run) ReportDenied(ctx context.Context, callID, written string) {
	if e := r.catalog().tools.Resolve(written, anyTool); e != nil {
		r.filterDenies(ctx, callID, e, phasesProgram)
	}
}

// maxSuggestions is how many signatures an answer to an unknown name has.
const maxSuggestions = 3

// Suggest implements programturn.Tools.
func (r *run) Suggest(ctx context.Context, written string) (lines []string) {
	for _, name := range r.nearNames(ctx, written, maxSuggestions) {
		if e := r.catalog().tools.Lookup(name); e != nil {
			lines = append(lines, e.Signature())
		}
	}
	return lines
}

// Check implements programturn.Tools.
func (r *run) Check(name, arguments string) (problem, signature string) {
	e := r.catalog().tools.Lookup(name)
	if e == nil {
		return "", ""
	}
	_, problem = argumentsFor(e, arguments)
	return problem, e.Signature()
}

// MaxParallelTools implements programturn.Tools. It is the number of slots for invokable tools.
func (r *run) MaxParallelTools() int { return 32 }
