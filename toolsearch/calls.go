// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The names of calls: a call of call_tool, or one whose name is nearly right, gets the name of the tool that it means,
// before the agent and its handlers see it. Only the model sees what it wrote.

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/compose"

	"github.com/einolean/einolean/internal/keyword/names"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/calltool"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/protocol"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
	"github.com/einolean/einolean/toolsearch/internal/slots"
)

// callHost implements calltool.Host for a model call of a run.
type callHost[M adk.MessageType] struct{ hooks *hooks[M] }

// Declared returns what the requests of this model call declare.
func (c callHost[M]) Declared() calltool.Declared {
	h := c.hooks
	d := calltool.Declared{CallTool: h.run.settings.protocol.CallTool != nil && !h.showsAll}
	if d.CallTool {
		d.IsHidden = func(name string) bool {
			return h.run.HasHiddenTool(name) && !h.run.HasOwnTool(name) && !slices.Contains(h.request.Visible(), name)
		}
	}
	return d
}

// RenameCall implements calltool.Host.
func (c callHost[M]) RenameCall(ctx context.Context, call message.ToolCall) (message.ToolCall, calltool.Renaming) {
	return c.hooks.run.renameCall(ctx, call)
}

// MayRename implements calltool.Host.
func (c callHost[M]) MayRename(name string) bool { return c.hooks.run.mayRename(name) }

// prepareCalls records, before a model call, that the calls of its answer get other names, and that unknown ones get an
// answer: now all tools of the agent are known.
func (r *run) prepareCalls(ctx context.Context, state runstate.State) {
	if r.tools.slots == nil {
		return
	}
	r.runsCallTool.Store(false)
	r.answersUnknown.Store(!r.settings.cfg.ExactToolNames && r.settings.rules.Native)
	if r.settings.protocol.CallTool != nil && !state.RenamesCalls {
		r.state.Update(ctx, func(next *runstate.State) { next.RenamesCalls = true })
	}
}

// mayRename reports whether a call of this name may get another one.
func (r *run) mayRename(name string) bool {
	if name == toolnames.Call && r.settings.protocol.CallTool != nil {
		return true
	}
	return !r.settings.cfg.ExactToolNames && !r.isKnownName(name)
}

// isKnownName reports whether a name is that of a tool, or of one that was removed or may be missing.
func (r *run) isKnownName(name string) bool {
	c := r.catalog()
	return r.HasOwnTool(name) || c.tools.Has(name) || c.hasSearchTool(name) || r.IsGone(name) || slots.IsUnusedName(name) ||
		c.hasSource && r.tools.mayBeMissing(name)
}

// renameCall returns the call that the agent makes for a call of the model.
func (r *run) renameCall(ctx context.Context, call message.ToolCall) (message.ToolCall, calltool.Renaming) {
	if ctx.Err() != nil || !r.mayRename(call.Name) {
		return call, calltool.NotRenamed
	}
	name := call.Name
	if name != toolnames.Call {
		var ok bool
		if name, ok = r.resolveName(ctx, name); !ok {
			return r.searchForName(call)
		}
	}
	if name == toolnames.Call && r.settings.protocol.CallTool != nil {
		target, answer := r.resolveCallTool(ctx, call.Args)
		if answer == nil && r.reserveSlot(ctx, target.name) {
			return message.ToolCall{ID: call.ID, Name: target.name, Args: target.args}, calltool.Unwrapped
		}
	} else if !r.reserveSlot(ctx, name) {
		return call, calltool.NotRenamed
	}
	if name == call.Name {
		return call, calltool.NotRenamed
	}
	call.Name = name
	return call, calltool.Repaired
}

// searchForName returns a call of an unknown name as a search for that name, whose answer has the nearest ones. Eino would
// end the run, and a slot of that name would end it too, where the agent has the name as an alias.
func (r *run) searchForName(call message.ToolCall) (message.ToolCall, calltool.Renaming) {
	if r.settings.rules.Native { // a slot answers it
		return call, calltool.NotRenamed
	}
	p := r.settings.protocol
	return message.ToolCall{ID: call.ID, Name: p.Tools[0].Name, Args: p.NameQuery(call.Name)}, calltool.Repaired
}

// reserveSlot reserves the slot that a hidden tool needs to be called, and reports whether the tool can be called.
func (r *run) reserveSlot(ctx context.Context, name string) bool {
	return !r.catalog().tools.Has(name) || r.tools.slots.Reserve(ctx, name)
}

// namePrefixes are prefixes that models put before the names of tools.
var namePrefixes = []string{"functions.", "default_api.", "tools."}

func withoutPrefix(name string) string {
	for _, prefix := range namePrefixes {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return name
}

// resolveName returns the one tool whose name differs from what a model wrote only by a known prefix, by separators or by
// case. It does not consider tools that the Filter denies.
func (r *run) resolveName(ctx context.Context, written string) (name string, ok bool) {
	short := withoutPrefix(written)
	mayCall := r.filter.predicate(ctx, phasesCall)
	if e := r.catalog().tools.Lookup(short); e != nil {
		return short, mayCall(e)
	}
	if r.HasOwnTool(short) || r.catalog().hasSearchTool(short) {
		return short, true
	}
	folded := names.Fold(short)
	if folded == "" {
		return "", false
	}
	var found []string
	for own := range r.tools.ownInfos {
		if names.Fold(own) == folded {
			found = append(found, own)
		}
	}
	for _, tool := range r.settings.protocol.ToolNames() {
		if names.Fold(tool) == folded {
			found = append(found, tool)
		}
	}
	if e := r.catalog().tools.Resolve(short, mayCall); e != nil && names.Fold(e.Info.Name) == folded {
		found = append(found, e.Info.Name)
	}
	if len(found) != 1 {
		return "", false
	}
	return found[0], true
}

// callTarget is the tool that a call of call_tool is for, and the arguments for it.
type callTarget struct {
	name, args string
	hidden     *catalog.Tool // nil for a tool that is not hidden
}

// resolveCallTool returns the tool that a call of call_tool is for. If there is none, or the arguments do not fit, it
// returns a function that answers the call.
func (r *run) resolveCallTool(ctx context.Context, args string) (target callTarget, answer func() string) {
	wanted, err := calltool.Parse(args)
	if err != nil {
		return callTarget{}, func() string { return callToolProblem(wanted.Name, err) }
	}
	name := withoutPrefix(wanted.Name)
	if !r.catalog().tools.Has(name) {
		if visible, ok := r.resolveName(ctx, name); ok && !r.catalog().tools.Has(visible) && visible != toolnames.Call {
			return r.visibleTarget(visible, wanted)
		}
	}
	e := r.catalog().tools.Resolve(name, r.filter.predicate(ctx, phasesCallTool))
	if e == nil {
		return callTarget{}, func() string { return r.deniedAnswer(ctx, name) }
	}
	if i := slices.IndexFunc(wanted.Beside, func(key string) bool { return !e.HasParameter(key) }); i >= 0 {
		return callTarget{}, func() string { return besideProblem(e, wanted.Beside[i]) }
	}
	raw := wanted.Arguments
	if inner, ok := calltool.Unwrap(raw, e.Info.Name); ok && !e.HasParameter("arguments") {
		raw = inner
	}
	text, problem := argumentsFor(e, raw)
	if problem != "" {
		return callTarget{}, func() string { return protocol.Text("bad-arguments", protocol.SchemaData(e, problem)) }
	}
	return callTarget{e.Info.Name, text, e}, nil
}

// besideProblem returns the answer to a call with arguments beside the name, one of which is no parameter of the tool.
func besideProblem(e *catalog.Tool, key string) string {
	if calltool.IsArgumentsKey(key) {
		return protocol.Text("bad-arguments", protocol.SchemaData(e, protocol.Text("no-object", protocol.Data{})))
	}
	return callToolProblem(e.Info.Name, calltool.ErrScattered)
}

// visibleTarget returns the target for a tool that is not hidden: the model could have called it directly.
func (r *run) visibleTarget(name string, wanted calltool.Wanted) (callTarget, func() string) {
	if len(wanted.Beside) > 0 {
		return callTarget{}, func() string { return callToolProblem(name, calltool.ErrScattered) }
	}
	args, ok := catalog.ObjectText(wanted.Arguments)
	if !ok {
		return callTarget{}, func() string { return protocol.Text("no-object", protocol.Data{}) }
	}
	return callTarget{name: name, args: args}, nil
}

// deniedAnswer returns the answer to a call of call_tool for a tool that does not exist, or that the Filter denies.
func (r *run) deniedAnswer(ctx context.Context, name string) string {
	if denied := r.catalog().tools.Resolve(name, anyTool); denied != nil {
		r.filterDenies(ctx, compose.GetToolCallID(ctx), denied, slices.Concat(phasesCall, phasesLoad))
	}
	return r.unknownToolAnswer(ctx, name)
}

// callToolProblem returns the answer to a call of call_tool that asks for nothing definite.
func callToolProblem(name string, err error) string {
	var syntax *calltool.SyntaxError
	switch {
	case errors.As(err, &syntax) && syntax.IsCut:
		return protocol.Text("cut-call", protocol.Data{Limit: syntax.Offset})
	case errors.As(err, &syntax):
		return protocol.Text("broken-call", protocol.Data{Limit: syntax.Offset})
	case err == calltool.ErrSeveralCalls:
		return protocol.Text("several-calls", protocol.Data{})
	case err == calltool.ErrScattered:
		return protocol.Text("scattered-arguments", protocol.Data{Name: name})
	}
	return protocol.Text("no-call-name", protocol.Data{})
}

// ResolveCallTool implements slots.Host. A call that still has the name of call_tool runs nothing: it would have another
// name if it could run, and approvals for the tool did not see it. Only in a run that resumes a checkpoint of a version
// that did not rename calls, it runs the tool.
func (r *run) ResolveCallTool(ctx context.Context, args string) slots.Invocation {
	if ctx.Err() != nil {
		return slots.NewAnswer(ctx, protocol.Text("no-call-name", protocol.Data{}))
	}
	target, answer := r.resolveCallTool(ctx, args)
	if answer != nil {
		return slots.NewAnswer(ctx, answer())
	}
	if state, _ := r.state.Snapshot(ctx); state.RenamesCalls || target.hidden == nil {
		return slots.NewAnswer(ctx, r.RejectionText(ctx, target.name, r.tools.slots.Rejection(target.name)))
	}
	e := target.hidden
	r.calls.Record(compose.GetToolCallID(ctx), runstate.CallOutcome{Tool: e.Info.Name})
	info := &callbacks.RunInfo{Name: e.Info.Name, Type: e.Type(), Component: components.ComponentOfTool}
	ctx = callbacks.ReuseHandlers(ctx, info)
	return slots.NewInvocation(ctx, e, target.args)
}
