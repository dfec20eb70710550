// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// One run of an agent: what the Filter says and whether a call may run, and the run as its searches, its
// slots and package programs see it.

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/virtual"
	"github.com/einolean/einolean/toolsearch/internal/found"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/memory"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/internal/slots"
	"github.com/einolean/einolean/toolsearch/internal/turn"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// runKey is the key of the run in a context.
type runKey struct{}

// run is one run of an agent, shared by the hooks and the tool calls. The context carries it from
// BeforeAgent on. Its record survives a checkpoint; everything else is of this process.
type run struct {
	*settings
	memory.Record                 // what it has shown and told the model
	memory.Calls                  // what became of its tool calls
	memory.Permits[FilterRequest] // what the Filter says in this model call
	tools                         // those of its agent

	slots  *slots.Slots
	hooks  any             // *hooks[M]
	direct map[string]bool // tools whose result ends the run; Eino's own map
	signs  bool            // the agent has programs: searches answer with signatures, and load nothing
}

func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

func newRun(start *catalog) *run {
	r := &run{settings: start.settings, Permits: memory.Permits[FilterRequest]{Ask: start.cfg.Filter}, tools: tools{start: start, own: map[string]*schema.ToolInfo{}}}
	r.hidden.Store(start)
	return r
}

// The beginnings of lines in Record.Reported.
const (
	catalogLine = "catalog " // and what tells catalogues apart
	storeLine   = "store"
)

// allows reports whether a tool may be used for all of the phases in this model call.
func (r *run) allows(ctx context.Context, use FilterRequest, phases ...Phase) bool {
	return r.cfg.Filter == nil || !slices.ContainsFunc(phases, func(phase Phase) bool {
		use.Phase = phase
		ok, _ := r.Verdict(ctx, use)
		return !ok
	})
}

// search is a search of this model call, for tools that the phases allow.
func (r *run) search(ctx context.Context, phases ...Phase) found.Search {
	s := found.Search{Tools: r.catalog().Tools, For: caller{r, ctx, phases}, MaxResults: r.cfg.MaxResults, MinConfidence: r.cfg.MinConfidence}
	if r.cfg.Source != nil {
		s.Missing = r.source.missing
	}
	if r.cfg.OnEvent != nil {
		s.Report = func(what einolean.Search, failed []error) { emitSearched(ctx, r, what, failed) }
	}
	return s
}

// caller is a run as its searches see it.
type caller struct {
	*run
	ctx    context.Context // of the call
	phases []Phase
}

// May reports whether the Filter allows a tool in all of the phases.
func (c caller) May(e *hidden.Tool) bool {
	return c.allows(c.ctx, FilterRequest{Tool: e.Info}, c.phases...)
}

// MayHint reports whether the model may read a name that it did not ask for.
func (c caller) MayHint(e *hidden.Tool) bool {
	return c.May(e) && c.allows(c.ctx, FilterRequest{Tool: e.Info}, PhaseList, PhaseSearch)
}

// Knows reports whether the model may know of a tool.
func (c caller) Knows(name string) bool { return c.mayKnow(c.ctx, name) }

// Sees are the tools that the model sees; nil if that is unknown, or if the form of an answer
// cannot say which tools are loaded.
func (c caller) Sees() (s turn.Names) {
	if c.rules.Native && !c.rules.NewOnly {
		return nil
	}
	now, _ := c.Now(c.ctx)
	s.Add(now.Visible...)
	return s
}

// Listed are the names that the model may see.
func (c caller) Listed() []string { return c.listable(c.ctx) }

// mayKnow reports whether the model may have seen the name of a tool, and can therefore be told
// that it may not use it.
func (r *run) mayKnow(ctx context.Context, name string) bool {
	e := r.catalog().Lookup(name)
	return e != nil && r.catalog().filtered && (r.allows(ctx, FilterRequest{Tool: e.Info}, PhaseSearch) || r.allows(ctx, FilterRequest{Tool: e.Info}, PhaseList))
}

// listable returns the names that the model may see now, in the order of the catalogue. The
// slice is read only.
func (r *run) listable(ctx context.Context) (names []string) {
	if !r.catalog().filtered {
		return r.catalog().names()
	}
	for e := range r.catalog().All() {
		if r.allows(ctx, FilterRequest{Tool: e.Info}, PhaseList) {
			names = append(names, e.Info.Name)
		}
	}
	return names
}

// heard is what the facts ask of the run.
func (r *run) heard() turn.Run {
	return turn.Run{
		Has: func(name string) bool { return r.catalog().Lookup(name) != nil }, Owns: func(name string) bool { return r.own[name] != nil },
		Note: r.Noted, ByHand: r.ByHand, Asked: func(a lenient.Arguments) []string { return found.Asked(r.catalog().Tools, a) },
		Miss: func(name string) {
			if r.catalog().changes {
				r.noteHad(name)
			}
		},
	}
}

// store writes a file to the Backend, and reports the first failure. A store that hangs or ends its
// goroutine has failed.
func (r *run) store(ctx context.Context, path, content string) error {
	_, err := safe.Wait(ctx, fmt.Sprintf("toolsearch: Backend, writing %q,", path), func() (struct{}, error) {
		return struct{}{}, r.cfg.Backend.Write(ctx, &filesystem.WriteRequest{FilePath: path, Content: content})
	})
	if err != nil && r.IsNew(ctx, storeLine) {
		r.emit(ctx, einolean.Event{Kind: einolean.KindStoreFailed, Err: err})
	}
	return err
}

// noteShownByOthers adds hidden tools that a later handler showed in this model call: the model
// has seen them, so it may call them, and they stay.
func (r *run) noteShownByOthers(ctx context.Context, infos []*schema.ToolInfo) {
	now, _ := r.Now(ctx)
	if r.rules.Native || !now.Began {
		return
	}
	names := now.Visible
	for _, t := range infos {
		if t != nil && r.catalog().Lookup(t.Name) != nil && !slices.Contains(now.Visible, t.Name) {
			names = append(slices.Clip(names), t.Name)
		}
	}
	if len(names) > len(now.Visible) {
		r.Update(ctx, func(next *turn.Record) { next.Visible = names })
	}
}

// gate reports whether a call must not run, and the answer to it. A call to a tool that
// is not loaded is answered with the tool's schema. With that call in the history the
// tool counts as loaded, and the model can repeat the call at once.
func (r *run) gate(ctx context.Context, e *hidden.Tool) (answer string, stop bool) {
	if e = r.catalog().Lookup(e.Info.Name); e == nil { // a tool of the same name may have replaced it
		return "", false
	}
	if virtual.Inner(ctx, callID(ctx)) {
		return r.gateOfProgram(ctx, e)
	}
	if !r.allows(ctx, FilterRequest{Tool: e.Info}, PhaseCall) {
		r.emitDeniedCall(ctx, e, PhaseCall)
		return r.noSuchTool(ctx, e.Info.Name), true
	}
	r.Note(callID(ctx), turn.Note{Tool: e.Info.Name})
	now, _ := r.Now(ctx)
	sees := !now.Began || slices.Contains(now.Visible, e.Info.Name) // unknown after a resume from a checkpoint of Eino's own package
	if sees || r.cfg.AllowUnloadedCalls || r.rules.ProviderLoads || r.direct[e.Info.Name] {
		return "", false // a provider loads tools where we cannot see it
	}
	if !r.allows(ctx, FilterRequest{Tool: e.Info}, PhaseLoad, PhaseActive) {
		r.emitDeniedCall(ctx, e, PhaseLoad, PhaseActive)
		return r.noSuchTool(ctx, e.Info.Name), true
	}
	r.emit(ctx, einolean.Event{Kind: einolean.KindCallGated, Tool: e.Info.Name, CallID: callID(ctx)})
	text := "gate"
	if r.neverLoads() {
		text = "gate-call"
	}
	return say.Text(text, say.Schema(e, "")), true
}

// gateOfProgram is the gate for the call of a program, which has checked it before: nothing is
// loaded, and what the Filter says now counts.
func (r *run) gateOfProgram(ctx context.Context, e *hidden.Tool) (answer string, stop bool) {
	if r.allows(ctx, FilterRequest{Tool: e.Info, InProgram: true}, PhaseLoad, PhaseCall) {
		r.Note(callID(ctx), turn.Note{Tool: e.Info.Name})
		return "", false
	}
	r.emitDeniedCall(ctx, e, PhaseCall)
	virtual.Fail(ctx, callID(ctx))
	return say.Text("no-such-tool", say.Data{Name: e.Info.Name}), true
}

// emitDeniedCall reports a call to a tool that a phase denies.
func (r *run) emitDeniedCall(ctx context.Context, e *hidden.Tool, phases ...Phase) {
	if r.cfg.Filter == nil {
		return
	}
	for _, phase := range phases {
		if ok, err := r.Verdict(ctx, FilterRequest{Tool: e.Info, Phase: phase}); !ok {
			r.emit(ctx, einolean.Event{
				Kind: einolean.KindToolsDenied, Tool: e.Info.Name, CallID: callID(ctx), Err: err,
				Tools: &einolean.ToolChange{Added: []string{e.Info.Name}, AddedCount: 1, Tokens: e.Tokens(), Phase: string(phase)},
			})
			return
		}
	}
}

// noSuchTool is the answer to a call of an unknown tool, or of one that the caller may
// not know of. If the caller knows the tool, the answer is that it may not use it.
func (r *run) noSuchTool(ctx context.Context, name string) string {
	r.Note(callID(ctx), turn.Note{Refused: true})
	virtual.Fail(ctx, callID(ctx))
	if r.mayKnow(ctx, name) {
		return say.Text("not-allowed", say.Data{Name: name})
	}
	return say.Text("no-such-tool", say.Data{Name: name, Near: r.near(ctx, name, found.MaxNear)})
}

// near are the tools that a call of an unknown name may have meant.
func (r *run) near(ctx context.Context, name string, most int) []string {
	return r.catalog().Near(name, most, func(e *hidden.Tool) bool {
		return e.Info.Name != name && r.allows(ctx, FilterRequest{Tool: e.Info}, PhaseList, PhaseSearch, PhaseLoad)
	})
}

// callID returns the id of the current tool call.
func callID(ctx context.Context) string { return compose.GetToolCallID(ctx) }

// slotRun is a run as its slots see it.
type slotRun struct{ *run }

// Lookup says what a call is for.
func (r slotRun) Lookup(c wire.Call) (slots.Tool, slots.Kind) {
	hidden := r.catalog()
	isOurs := toolnames.IsSearchTool(c.Name) || c.Name == toolnames.Run
	known := r.own[c.Name] != nil || hidden.usesMetaName(c.Name)
	switch e := hidden.Lookup(c.Name); {
	case isOurs && !known && e == nil:
		return slots.Tool{}, slots.Gone // of the protocol under which the history was written: it gets an answer
	case c.Name == toolnames.Call && r.callsEnhanced(c):
		return slots.Tool{}, slots.Enhanced
	case e != nil:
		return slots.Tool{Name: e.Info.Name, Desc: e.Info.Desc, Tool: e.Value, Type: e.Type()}, slots.Hidden
	case r.isGone(c.Name):
		return slots.Tool{}, slots.Gone
	case known:
		return slots.Tool{}, slots.Other
	}
	return slots.Tool{}, slots.Unknown
}

// callsEnhanced reports whether a call of call_tool is for a tool that returns more than text.
func (r slotRun) callsEnhanced(c wire.Call) bool {
	if !r.neverLoads() {
		return false
	}
	e := r.catalog().Resolve(toolnames.Called(lenient.Decode(c.Args)), func(*hidden.Tool) bool { return true })
	return e != nil && slots.IsEnhanced(e.Value)
}

// Names are the hidden tools, those that the model sees first.
func (r slotRun) Names(ctx context.Context) iter.Seq[string] {
	now, _ := r.Now(ctx)
	return func(yield func(string) bool) {
		for _, name := range now.Visible {
			if r.catalog().Lookup(name) != nil && !yield(name) {
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

// Admit decides about a call of a hidden tool.
func (r slotRun) Admit(ctx context.Context, name string) (answer string, stop bool) {
	return r.gate(ctx, r.catalog().Lookup(name))
}

// Answer answers the call of a tool that is gone, or that got no slot.
func (r slotRun) Answer(ctx context.Context, name string, why slots.Kind) string {
	text, ok := map[slots.Kind]string{slots.TooMany: "too-many-tools", slots.Later: "from-next-run"}[why]
	if !ok {
		return r.noSuchTool(ctx, name)
	}
	r.Note(callID(ctx), turn.Note{Tool: name, Refused: true})
	virtual.Fail(ctx, callID(ctx))
	return say.Text(text, say.Data{Name: cmp.Or(r.Noted(callID(ctx)).Tool, name)})
}

// Kept are the names of calls in a checkpoint. Those of tools that no longer exist get an answer.
func (r slotRun) Kept(ctx context.Context, interrupted []wire.Call) (names []string, known bool) {
	kept, _ := r.Now(ctx)
	for _, name := range kept.Bound {
		called := slices.ContainsFunc(interrupted, func(c wire.Call) bool { return c.Name == name })
		if r.catalog().Lookup(name) == nil && (called || len(interrupted) == 0) {
			r.noteHad(name)
		}
	}
	return kept.Bound, kept.Began
}

// inPrograms is a run as package programs sees it.
type inPrograms struct{ *run }

// Resolve implements virtual.Tools.
func (r inPrograms) Resolve(ctx context.Context, written string) (virtual.Tool, bool) {
	c := r.catalog()
	if c.usesMetaName(written) {
		return virtual.Tool{Refusal: say.Text("program-meta", say.Data{Name: written})}, true
	}
	if r.own[written] != nil && c.Lookup(written) == nil {
		return virtual.Tool{}, false
	}
	e := c.Resolve(written, func(e *hidden.Tool) bool {
		return r.allows(ctx, FilterRequest{Tool: e.Info, InProgram: true}, PhaseLoad, PhaseCall)
	})
	if e == nil {
		return virtual.Tool{}, false
	}
	return virtual.Tool{Info: e.Info}, true
}

// maxSigned is the most near tools of which an answer has the signatures.
const maxSigned = 3

// Near implements virtual.Tools.
func (r inPrograms) Near(ctx context.Context, written string) (lines []string) {
	for _, n := range r.near(ctx, written, maxSigned) {
		if e := r.catalog().Lookup(n); e != nil {
			lines = append(lines, e.Signature())
		}
	}
	return lines
}

// Check implements virtual.Tools.
func (r inPrograms) Check(name, arguments string) (problem, signature string) {
	e := r.catalog().Lookup(name)
	if e == nil {
		return "", ""
	}
	_, problem = argumentsFor(e, arguments)
	return problem, e.Signature()
}

// Most implements virtual.Tools.
func (r inPrograms) Most() int { return 32 }
