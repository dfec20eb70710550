// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Slots. Eino fixes the list of an agent's tools when a run starts, but asks every tool of the
// list for its info again before each round of calls, and looks calls up by the names returned
// then. A slot is a tool whose name is decided between the model's answer and the round: a tool
// that appeared in the middle of a run is called like any other, and the cost of a round
// depends on the number of slots, not on the size of the catalogue.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/virtual"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// form is how a tool is called: at once, in pieces, or both; with and for text, or, which is
// enhanced, results of several parts.
type form uint8

const (
	invokable form = iota
	streamable
	both
	enhancedInvokable
	enhancedStreamable
	enhancedBoth
	forms
)

// formOf is the form of a tool; forms if it has none. Of a tool with plain and enhanced forms,
// Eino prefers the enhanced ones.
func formOf(t tool.BaseTool) form {
	_, ei := t.(tool.EnhancedInvokableTool)
	_, es := t.(tool.EnhancedStreamableTool)
	_, in := t.(tool.InvokableTool)
	_, st := t.(tool.StreamableTool)
	switch {
	case ei && es:
		return enhancedBoth
	case ei:
		return enhancedInvokable
	case es:
		return enhancedStreamable
	case in && st:
		return both
	case in:
		return invokable
	case st:
		return streamable
	}
	return forms
}

// isEnhanced reports whether tools of the form return more than text.
func (f form) isEnhanced() bool { return f >= enhancedInvokable }

// instead are the forms for a tool of this form, the best first.
func (f form) instead() [3]form {
	base := f - f%enhancedInvokable
	best := [...][3]form{invokable: {invokable, both, streamable}, streamable: {streamable, both, invokable}, both: {both, streamable, invokable}}[f-base]
	return [3]form{base + best[0], base + best[1], base + best[2]}
}

// slotCounts is how many slots there are of each form. When the slots of its form run out, a tool
// gets one of another form with the same kind of result.
var slotCounts = [forms]int{invokable: 32, streamable: 8, both: 8, enhancedInvokable: 32, enhancedStreamable: 8, enhancedBoth: 8}

// slotsListed is how many slots there are at the most.
const slotsListed = 97

const (
	// slotPrefix begins the names of unused slots. No model sees them.
	slotPrefix = "__einolean_slot_"
	slotDesc   = "Not a tool. Do not call it."
)

// slots are those of one run.
type slots struct {
	run   *run
	forms []form // of each; the last one serves the tools without a slot
	round atomic.Pointer[round]
}

// round maps slots to tools between a model's answer and its calls.
type round struct {
	bound    []*entry // what slots stand for, one without a tool for an answer; none before the first round
	enhanced bool     // call_tool is called for a tool that returns more than text
	names    []string // as kept for a resume
	surplus  []string // names of calls that got no slot
}

// appendTo appends the slots to a list of tools.
func (s *slots) appendTo(tools []tool.BaseTool) []tool.BaseTool {
	all := make([]slot, len(s.forms))
	for at, f := range s.forms {
		all[at] = slot{s, at}
		if f.isEnhanced() {
			tools = append(tools, newSlot[*schema.ToolArgument, *schema.ToolResult](&all[at], f-enhancedInvokable))
		} else {
			tools = append(tools, newSlot[string, string](&all[at], f))
		}
	}
	return tools
}

// slot is a tool whose name is decided before each round.
type slot struct {
	slots *slots
	at    int
}

// slotInfos describe unused slots.
var slotInfos = sync.OnceValue(func() []schema.ToolInfo {
	infos := make([]schema.ToolInfo, slotsListed)
	for i := range infos {
		infos[i] = schema.ToolInfo{Name: slotPrefix + strconv.Itoa(i+1), Desc: slotDesc}
	}
	return infos
})

// isSlotName reports whether a name is that of an unused slot.
func isSlotName(name string) bool { return strings.HasPrefix(name, slotPrefix) }

func (s *slot) madeFor() *catalog { return nil }

// bound is what the slot stands for; nil if it is unused.
func (s *slot) bound(ctx context.Context) *entry {
	if now := s.slots.current(ctx); s.at < len(now.bound) {
		return now.bound[s.at]
	}
	return nil
}

// Info describes the tool that the slot stands for. It neither fails nor waits: its error
// would end the run.
func (s *slot) Info(ctx context.Context) (*schema.ToolInfo, error) {
	if e := s.bound(ctx); e != nil {
		return shallowInfo(e.info), nil
	}
	info := slotInfos()[s.at]
	return &info, nil
}

// GetType is the type of the tool that the slot stands for.
func (s *slot) GetType() string {
	if now := s.slots.round.Load(); now != nil {
		if e := now.bound[s.at]; e != nil && e.tool != nil {
			return e.typ()
		}
	}
	return "Slot"
}

// IsCallbacksEnabled keeps Eino from wrapping the slot, as it would in every round: a call tells
// the callbacks.
func (s *slot) IsCallbacksEnabled() bool { return true }

// callOf returns what becomes of a call to the slot.
func (s *slot) callOf(ctx context.Context, args string) call {
	c := call{ctx: ctx, args: args, typ: s.GetType()}
	switch e := s.bound(ctx); {
	case e == nil:
		c.answer = render("no-such-tool", promptData{Name: slotInfos()[s.at].Name})
	case e.tool == nil:
		c.answer = s.slots.answer(ctx, e.info.Name)
	default:
		answer, stop := s.slots.run.gate(ctx, e)
		if c.answer = answer; !stop {
			c.tool, c.isSilent = e.tool, runsCallbacks(e.tool)
		}
	}
	return c
}

// answer answers the call of a tool that is gone, or that got no slot.
func (s *slots) answer(ctx context.Context, name string) string {
	if !slices.Contains(s.current(ctx).surplus, name) {
		return s.run.noSuchTool(ctx, name)
	}
	s.run.note(callID(ctx), callNote{refused: true})
	virtual.Fail(ctx, callID(ctx))
	return render("too-many-tools", promptData{Name: cmp.Or(s.run.call(callID(ctx)).tool, name)})
}

// newSlot gives a slot a form, without regard to the kind of its results.
func newSlot[I, O any](s *slot, f form) tool.BaseTool {
	switch f {
	case streamable:
		return streamSlot[I, O]{s}
	case both:
		return bothSlot[I, O]{invokeSlot[I, O]{s}}
	}
	return invokeSlot[I, O]{s}
}

type invokeSlot[I, O any] struct{ *slot }

func (s invokeSlot[I, O]) InvokableRun(ctx context.Context, args I, opts ...tool.Option) (O, error) {
	return runCall[O](s.callOf(ctx, argumentText(args)), opts)
}

type streamSlot[I, O any] struct{ *slot }

func (s streamSlot[I, O]) StreamableRun(ctx context.Context, args I, opts ...tool.Option) (*schema.StreamReader[O], error) {
	return streamCall[O](s.callOf(ctx, argumentText(args)), opts)
}

type bothSlot[I, O any] struct{ invokeSlot[I, O] }

func (s bothSlot[I, O]) StreamableRun(ctx context.Context, args I, opts ...tool.Option) (*schema.StreamReader[O], error) {
	return streamCall[O](s.callOf(ctx, argumentText(args)), opts)
}

// callTool is call_tool. Two are listed, one for each kind of result; the one that the round does
// not need has the name of an unused slot.
type callTool[I, O any] struct {
	*metaTool
	slots *slots
}

func (c callTool[I, O]) isEnhanced() bool {
	_, plain := any(*new(I)).(string)
	return !plain
}

// GetType is the type that callbacks are told.
func (c callTool[I, O]) GetType() string {
	if c.isEnhanced() {
		return "enhancedCall"
	}
	return "plainCall"
}

// Info describes call_tool, or a slot.
func (c callTool[I, O]) Info(ctx context.Context) (*schema.ToolInfo, error) {
	if c.slots.current(ctx).enhanced != c.isEnhanced() {
		return &schema.ToolInfo{Name: slotPrefix + toolnames.Call, Desc: slotDesc}, nil
	}
	return c.metaTool.Info(ctx)
}

// InvokableRun runs the named tool.
func (c callTool[I, O]) InvokableRun(ctx context.Context, args I, opts ...tool.Option) (O, error) {
	return runCall[O](c.callOf(ctx, argumentText(args)), opts)
}

// StreamableRun runs the named tool, passing on its chunks as they come.
func (c callTool[I, O]) StreamableRun(ctx context.Context, args I, opts ...tool.Option) (*schema.StreamReader[O], error) {
	return streamCall[O](c.callOf(ctx, argumentText(args)), opts)
}

// current returns the round of calls that is under way. Before the first one, only the tools
// node of a resumed run asks within a node of the run's graph.
func (s *slots) current(ctx context.Context) *round {
	if now := s.round.Load(); now != nil {
		return now
	}
	if !s.run.isInRun(ctx) {
		return &noRound
	}
	r, _ := s.run.now(ctx)
	s.round.CompareAndSwap(nil, s.resume(ctx, r.Bound, r.Began))
	return s.round.Load()
}

// resume returns the round of a resumed run, by the calls that were interrupted, and the names
// in the checkpoint. One of Eino's own package has none.
func (s *slots) resume(ctx context.Context, names []string, known bool) *round {
	calls := interruptedCalls(ctx)
	for _, name := range names {
		called := slices.ContainsFunc(calls, func(c wire.Call) bool { return c.Name == name })
		if s.run.catalog().lookup(name) == nil && (called || len(calls) == 0) {
			s.run.noteHad(name)
		}
	}
	b := &round{bound: make([]*entry, len(s.forms))}
	switch {
	case len(calls) > 0:
		s.bindAll(ctx, b, calls)
	case known:
		s.bindNames(b, names)
	default:
		s.bindRest(ctx, b)
	}
	return b
}

var noRound round

// bindAll gives each hidden tool that is called a slot.
func (s *slots) bindAll(ctx context.Context, b *round, calls []wire.Call) {
	r, names, unknown := s.run, []string(nil), false
	for _, c := range calls {
		name := c.Name
		isOurs := toolnames.IsSearchTool(name) || name == toolnames.Run
		switch {
		case isOurs && r.own[name] == nil && !r.catalog().usesMetaName(name):
			// of the protocol under which the history was written: it gets an answer
		case name == toolnames.Call && callsEnhanced(r.catalog(), c):
			name = enhancedCallName
		case r.catalog().lookup(name) == nil && !r.isGone(name):
			unknown = unknown || r.own[name] == nil && !r.catalog().usesMetaName(name)
			continue
		}
		names = append(names, name)
	}
	if s.bindNames(b, names); unknown {
		s.bindRest(ctx, b)
	}
}

// bindNames gives each name a slot: for its tool, or for an answer if that no longer exists. The
// extra slot takes the first name that gets none.
func (s *slots) bindNames(b *round, names []string) {
	for _, name := range names {
		if slices.Contains(b.names, name) {
			continue
		}
		b.names = append(b.names, name)
		e := s.run.catalog().lookup(name)
		if e == nil {
			e = answering(name)
		}
		switch {
		case name == enhancedCallName:
			b.enhanced = true
		case !s.bind(b, e):
			b.surplus = append(b.surplus, name)
		}
	}
	if len(b.surplus) > 0 {
		b.bound[len(s.forms)-1] = answering(b.surplus[0])
	}
}

// answering is what a slot stands for that only answers.
func answering(name string) *entry {
	return &entry{info: &schema.ToolInfo{Name: name, Desc: slotDesc}, form: invokable}
}

// bindRest gives the free slots to other tools, those that the model sees first: the model may
// have called one of them by an alias, which only Eino knows.
func (s *slots) bindRest(ctx context.Context, b *round) {
	r := s.run
	now, _ := r.now(ctx)
	full := 0
	try := func(name string) {
		e := r.catalog().lookup(name)
		if e == nil || slices.Contains(b.names, name) {
			return
		}
		if !s.bind(b, e) {
			full++
			return
		}
		b.names = append(b.names, name)
	}
	for _, name := range now.Visible {
		try(name)
	}
	for e := range r.catalog().entries() {
		if full > len(s.forms) || len(b.names) >= len(s.forms) {
			return
		}
		try(e.info.Name)
	}
}

// bind gives a tool a free slot.
func (s *slots) bind(b *round, e *entry) bool {
	for _, f := range e.form.instead() {
		for at, own := range s.forms[:len(s.forms)-1] {
			if own == f && b.bound[at] == nil {
				b.bound[at] = e
				return true
			}
		}
	}
	return false
}

// enhancedCallName is the name, in a round, of call_tool with results of several parts.
const enhancedCallName = slotPrefix + toolnames.Call

// bindCalls assigns slots to the hidden tools that a model's answer calls. It returns what to make of
// each call: the same, but for its name if there are too many.
func (s *slots) bindCalls(ctx context.Context, calls []wire.Call) (edit func(wire.Call) wire.Call) {
	b := &round{bound: make([]*entry, len(s.forms))}
	s.bindAll(ctx, b, calls)
	s.round.Store(b)
	if now, _ := s.run.now(ctx); !slices.Equal(now.Bound, b.names) {
		s.run.update(ctx, func(r *record) { r.Bound = b.names })
	}
	return func(c wire.Call) wire.Call {
		if slices.Contains(b.surplus, c.Name) {
			s.run.note(c.ID, callNote{tool: c.Name})
			c.Name = b.surplus[0]
		}
		return c
	}
}

// callsEnhanced reports whether a call of call_tool is for a tool that returns more than text.
func callsEnhanced(hidden *catalog, c wire.Call) bool {
	if !hidden.settings.cfg.Protocol.neverLoads() {
		return false
	}
	e := hidden.resolve(toolnames.Called(lenient.Decode(c.Args)), func(*entry) bool { return true })
	return e != nil && e.form.isEnhanced()
}

// call is a call of a hidden tool, or the answer in its place.
type call struct {
	ctx      context.Context
	tool     tool.BaseTool // the user's; nil: answer
	typ      string        // as callbacks are told
	args     string
	answer   string
	isSilent bool // somebody else tells the callbacks
}

// runCall runs a call for a text, or for a result of several parts.
func runCall[O any](c call, opts []tool.Option) (out O, err error) {
	switch to := any(&out).(type) {
	case *string:
		*to, err = c.runText(opts)
	case **schema.ToolResult:
		*to, err = c.runResult(opts)
	}
	return out, err
}

// streamCall is runCall for a call that streams.
func streamCall[O any](c call, opts []tool.Option) (out *schema.StreamReader[O], err error) {
	switch to := any(&out).(type) {
	case **schema.StreamReader[string]:
		*to, err = c.streamText(opts)
	case **schema.StreamReader[*schema.ToolResult]:
		*to, err = c.streamResult(opts)
	}
	return out, err
}

// report runs a call, and reports it to callbacks as Eino does.
func report[I, O any](c call, args I, run func(context.Context) (O, error)) (O, error) {
	if c.isSilent {
		return run(c.ctx)
	}
	ctx := callbacks.OnStart(callbacks.EnsureRunInfo(c.ctx, c.typ, components.ComponentOfTool), args)
	out, err := run(ctx)
	if err != nil {
		callbacks.OnError(ctx, err)
		return out, err
	}
	callbacks.OnEnd(ctx, out)
	return out, nil
}

// reportStream is report for a call that streams.
func reportStream[I, O any](c call, args I, run func(context.Context) (*schema.StreamReader[O], error)) (*schema.StreamReader[O], error) {
	if c.isSilent {
		return run(c.ctx)
	}
	ctx := callbacks.OnStart(callbacks.EnsureRunInfo(c.ctx, c.typ, components.ComponentOfTool), args)
	out, err := run(ctx)
	if err != nil {
		callbacks.OnError(ctx, err)
		return nil, err
	}
	_, out = callbacks.OnEndWithStreamOutput(ctx, out)
	return out, nil
}

// runText runs a tool that returns text.
func (c call) runText(opts []tool.Option) (string, error) {
	switch t := c.tool.(type) {
	case nil:
		return report(c, c.args, func(ctx context.Context) (string, error) { return c.answer, ctx.Err() })
	case tool.InvokableTool:
		return report(c, c.args, func(ctx context.Context) (string, error) { return t.InvokableRun(ctx, c.args, opts...) })
	case tool.StreamableTool:
		s, err := c.streamText(opts)
		if err != nil {
			return "", err
		}
		chunks, err := readAll(s)
		return strings.Join(chunks, ""), err
	}
	return "", fmt.Errorf("toolsearch: tool %T can neither be invoked nor streamed", c.tool)
}

// streamText runs a tool that returns text, passing on its chunks as they come.
func (c call) streamText(opts []tool.Option) (*schema.StreamReader[string], error) {
	switch t := c.tool.(type) {
	case nil:
		return reportStream(c, c.args, func(ctx context.Context) (*schema.StreamReader[string], error) {
			return schema.StreamReaderFromArray([]string{c.answer}), ctx.Err()
		})
	case tool.StreamableTool:
		return reportStream(c, c.args, func(ctx context.Context) (*schema.StreamReader[string], error) {
			return t.StreamableRun(ctx, c.args, opts...)
		})
	}
	text, err := c.runText(opts)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]string{text}), nil
}

// runResult runs a tool of any form.
func (c call) runResult(opts []tool.Option) (*schema.ToolResult, error) {
	arg := &schema.ToolArgument{Text: c.args}
	switch t := c.tool.(type) {
	case nil:
		return report(c, arg, func(ctx context.Context) (*schema.ToolResult, error) { return textResult(c.answer), ctx.Err() })
	case tool.EnhancedInvokableTool:
		return report(c, arg, func(ctx context.Context) (*schema.ToolResult, error) { return t.InvokableRun(ctx, arg, opts...) })
	case tool.EnhancedStreamableTool:
		s, err := c.streamResult(opts)
		if err != nil {
			return nil, err
		}
		chunks, err := readAll(s)
		if err != nil {
			return nil, err
		}
		return schema.ConcatToolResults(chunks)
	}
	text, err := c.runText(opts)
	if err != nil {
		return nil, err
	}
	return textResult(text), nil
}

// streamResult runs a tool of any form, passing on its chunks as they come.
func (c call) streamResult(opts []tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	arg := &schema.ToolArgument{Text: c.args}
	switch t := c.tool.(type) {
	case tool.EnhancedStreamableTool:
		return reportStream(c, arg, func(ctx context.Context) (*schema.StreamReader[*schema.ToolResult], error) {
			return t.StreamableRun(ctx, arg, opts...)
		})
	case nil, tool.EnhancedInvokableTool:
		res, err := c.runResult(opts)
		if err != nil {
			return nil, err
		}
		return schema.StreamReaderFromArray([]*schema.ToolResult{res}), nil
	}
	s, err := c.streamText(opts)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderWithConvert(s, func(text string) (*schema.ToolResult, error) { return textResult(text), nil }), nil
}

// readAll reads a stream to its end; the end of one of several merged streams is not the end.
//
// This is the only place in the package that closes a stream; others are passed on for their
// reader to close. Copies of a stream can reach Eino, which sets them to close automatically.
// Their finalizer would then close again what is closed here, and crash the process. Closing
// twice is harmless once automatic closing is set, which is why that comes before the first
// Close. The tool may have closed its stream, too.
func readAll[T any](s *schema.StreamReader[T]) (chunks []T, err error) {
	if s == nil {
		return nil, errors.New("toolsearch: the tool returned no stream")
	}
	s.SetAutomaticClose()
	defer func() { _ = safe.Call("closing a stream", func() error { s.Close(); return nil }) }()
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return chunks, nil
		}
		if _, ok := schema.GetSourceName(err); ok {
			continue
		}
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, chunk)
	}
}

func textResult(s string) *schema.ToolResult {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: s}}}
}

// argumentText is the text of the arguments of a call of either kind.
func argumentText(args any) string {
	switch a := args.(type) {
	case string:
		return a
	case *schema.ToolArgument:
		if a != nil {
			return a.Text
		}
	}
	return ""
}
