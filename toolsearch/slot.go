// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Slots. Eino fixes the list of an agent's tools when a run starts, but asks every tool of the
// list for its info again before each round of calls, and looks calls up by the names returned
// then. A slot is a tool whose name is decided between the model's answer and the round: a tool
// that appeared in the middle of a run is called like any other, and the cost of a round
// depends on the number of slots, not on the size of the catalogue.

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/toolnames"
	"github.com/leanctx/leanctx/toolsearch/internal/wire"
)

// slotsOf is how many slots there are of each form. When the slots of its form run out, a tool
// gets one of another form with the same kind of result: text, or results of several parts.
var slotCounts = [forms]int{invokable: 32, streamable: 8, both: 8, enhancedInvokable: 32, enhancedStreamable: 8, enhancedBoth: 8}

// insteadOf are the forms for a tool of a form, the best first.
var insteadOf = [forms][]form{
	invokable:          {invokable, both, streamable},
	streamable:         {streamable, both, invokable},
	both:               {both, streamable, invokable},
	enhancedInvokable:  {enhancedInvokable, enhancedBoth, enhancedStreamable},
	enhancedStreamable: {enhancedStreamable, enhancedBoth, enhancedInvokable},
	enhancedBoth:       {enhancedBoth, enhancedStreamable, enhancedInvokable},
}

const (
	// slotPrefix begins the names of unused slots. No model sees them.
	slotPrefix = "__leanctx_slot_"
	slotDesc   = "Not a tool. Do not call it."
)

// slotMarker is a slot.
type slotMarker interface{ slotsOfRun() *slots }

// slots are those of one run.
type slots struct {
	list  [forms][]*slot
	extra *slot // serves the tools without a slot
	run   *run
	round atomic.Pointer[round]
}

// round maps slots to tools between a model's answer and its calls.
type round struct {
	bound    map[*slot]boundTool
	enhanced bool // call_tool is called for a tool that returns more than text
}

type boundTool struct {
	name string
	tool tool.BaseTool
}

// slotsIn finds the slots that an earlier instance added to an agent's tools, or makes new ones.
func slotsIn(tools []tool.BaseTool) *slots {
	for _, t := range tools {
		if m, ok := t.(slotMarker); ok {
			return m.slotsOfRun()
		}
	}
	s := &slots{}
	n := 0
	add := func() *slot {
		n++
		return &slot{slots: s, info: schema.ToolInfo{Name: slotPrefix + strconv.Itoa(n), Desc: slotDesc}}
	}
	for f, count := range slotCounts {
		s.list[f] = make([]*slot, count)
		for i := range s.list[f] {
			s.list[f][i] = add()
		}
	}
	s.extra = add()
	return s
}

// appendTo appends the slots to a list of tools.
func (s *slots) appendTo(tools []tool.BaseTool) []tool.BaseTool {
	if s == nil {
		return tools
	}
	for f, list := range s.list {
		for _, x := range list {
			tools = append(tools, x.as(form(f)))
		}
	}
	return append(tools, s.extra.as(invokable))
}

// slot is a tool whose name is decided before each round.
type slot struct {
	slots *slots
	info  schema.ToolInfo
}

// isSlotName reports whether a name is that of an unused slot.
func isSlotName(name string) bool { return strings.HasPrefix(name, slotPrefix) }

func (s *slot) slotsOfRun() *slots { return s.slots }

// Info describes the tool that the slot stands for. It neither fails nor waits: its error
// would end the run.
func (s *slot) Info(ctx context.Context) (*schema.ToolInfo, error) {
	b, ok := s.slots.current(ctx).bound[s]
	if !ok {
		return &s.info, nil
	}
	if g, ok := b.tool.(guarded); ok && g.describes().Name == b.name {
		return shallowInfo(g.describes()), nil
	}
	return &schema.ToolInfo{Name: b.name, Desc: slotDesc}, nil
}

// GetType is the type of the tool that the slot stands for.
func (s *slot) GetType() string {
	if now := s.slots.round.Load(); now != nil {
		if b, ok := now.bound[s]; ok {
			return typeOf(b.tool)
		}
	}
	return "Slot"
}

// IsCallbacksEnabled says that the tools tell the callbacks by themselves.
func (s *slot) IsCallbacksEnabled() bool { return true }

// targetOf returns the target of a call to the slot.
func (s *slot) targetOf(ctx context.Context, args string) target {
	b, ok := s.slots.current(ctx).bound[s]
	if !ok {
		b.tool = answering(s.info.Name, func(context.Context) string {
			return render("no-such-tool", promptData{Name: s.info.Name})
		})
	}
	return target{ctx: ctx, tool: b.tool, args: args}
}

func (s *slot) as(f form) tool.BaseTool {
	switch f {
	case streamable:
		return streamSlot[string, string]{s, plainForm}
	case both:
		return bothSlot[string, string]{invokeSlot[string, string]{s, plainForm}}
	case enhancedInvokable:
		return invokeSlot[*schema.ToolArgument, *schema.ToolResult]{s, enhancedForm}
	case enhancedStreamable:
		return streamSlot[*schema.ToolArgument, *schema.ToolResult]{s, enhancedForm}
	case enhancedBoth:
		return bothSlot[*schema.ToolArgument, *schema.ToolResult]{invokeSlot[*schema.ToolArgument, *schema.ToolResult]{s, enhancedForm}}
	}
	return invokeSlot[string, string]{s, plainForm}
}

type invokeSlot[I, O any] struct {
	*slot
	form *callForm[I, O]
}

func (s invokeSlot[I, O]) InvokableRun(ctx context.Context, args I, opts ...tool.Option) (O, error) {
	return s.form.run(s.targetOf(ctx, s.form.text(args)), opts)
}

type streamSlot[I, O any] struct {
	*slot
	form *callForm[I, O]
}

func (s streamSlot[I, O]) StreamableRun(ctx context.Context, args I, opts ...tool.Option) (*schema.StreamReader[O], error) {
	return s.form.stream(s.targetOf(ctx, s.form.text(args)), opts)
}

type bothSlot[I, O any] struct{ invokeSlot[I, O] }

func (s bothSlot[I, O]) StreamableRun(ctx context.Context, args I, opts ...tool.Option) (*schema.StreamReader[O], error) {
	return streamSlot[I, O](s.invokeSlot).StreamableRun(ctx, args, opts...)
}

// callSlot is call_tool when tools come and go. Two are listed, one for each kind of result;
// the one that the round does not need has the name of an unused slot.
type callSlot[I, O any] struct {
	callTool[I, O]
	slots    *slots
	enhanced bool
}

// GetType is the type that callbacks are told.
func (c callSlot[I, O]) GetType() string { return c.form.typ + "Slot" }

// Info describes call_tool, or a slot.
func (c callSlot[I, O]) Info(ctx context.Context) (*schema.ToolInfo, error) {
	if c.slots.current(ctx).enhanced != c.enhanced {
		return &schema.ToolInfo{Name: slotPrefix + toolnames.Call, Desc: slotDesc}, nil
	}
	return c.metaTool.Info(ctx)
}

// current returns the round that the context belongs to. After a resume it is restored from the
// names in the checkpoint.
func (s *slots) current(ctx context.Context) *round {
	if now := s.round.Load(); now != nil {
		return now
	}
	names, _, _ := runLocal[[]string](ctx, boundKey)
	if len(names) == 0 {
		return &round{}
	}
	for _, name := range names {
		if s.run.group().cat.lookup(name) == nil {
			s.run.notes.noteHad(name)
		}
	}
	now, _ := s.bind(names)
	s.round.CompareAndSwap(nil, now)
	return s.round.Load()
}

// bind gives each name a slot, and returns the names that got none. The extra slot takes the
// first of those.
func (s *slots) bind(names []string) (now *round, surplus []string) {
	r := s.run
	now = &round{bound: make(map[*slot]boundTool, len(names))}
	var used [forms]int
	for _, name := range names {
		if name == enhancedCallName {
			now.enhanced = true
			continue
		}
		t := r.liveTool(name)
		free := false
		for _, f := range insteadOf[formOf(t)] {
			if free = used[f] < len(s.list[f]); free {
				now.bound[s.list[f][used[f]]] = boundTool{name, t}
				used[f]++
				break
			}
		}
		if !free {
			surplus = append(surplus, name)
		}
	}
	if len(surplus) > 0 {
		first := surplus[0]
		now.bound[s.extra] = boundTool{first, answering(s.extra.info.Name, func(ctx context.Context) string {
			name := first
			if n := r.notes.call(callID(ctx)).tool; n != "" {
				name = n
			}
			r.notes.refuse(callID(ctx))
			return render("too-many-tools", promptData{Name: name})
		})}
	}
	return now, surplus
}

// enhancedCallName is the name, in a round, of call_tool with results of several parts.
const enhancedCallName = slotPrefix + toolnames.Call

// liveTool returns the tool of a Source with the name, or an answer if it no longer exists.
func (r *run) liveTool(name string) tool.BaseTool {
	if e := r.group().cat.lookup(name); e != nil {
		return e.tool
	}
	return answering(name, func(ctx context.Context) string { return r.noSuchTool(ctx, name) })
}

// bindCalls assigns slots to the tools of sources that a model's answer calls. It returns the
// name to use for a call: its own, unless there are too many.
func (s *slots) bindCalls(ctx context.Context, calls []wire.Call) (rename func(wire.Call) string) {
	r, names := s.run, []string(nil)
	for _, c := range calls {
		name := c.Name
		e := r.group().cat.lookup(name)
		switch {
		case name == toolnames.Call && callsEnhanced(r.group(), c):
			name = enhancedCallName
		case e == nil && !r.isGone(name), e != nil && !r.group().isLive(e):
			continue
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	now, surplus := s.bind(names)
	s.round.Store(now)
	setRunLocal(ctx, boundKey, names)
	return func(c wire.Call) string {
		if !slices.Contains(surplus, c.Name) {
			return c.Name
		}
		r.notes.reach(c.ID, c.Name)
		return surplus[0]
	}
}

// callsEnhanced reports whether a call of call_tool is for a tool that returns more than text.
func callsEnhanced(g *group, c wire.Call) bool {
	if g.settings.cfg.Protocol != SearchCall {
		return false
	}
	e := g.cat.resolve(calledName(decodeArguments(c.Args)), func(*entry) bool { return true })
	return e != nil && isEnhanced(e.tool)
}

// answering is a tool that answers with a text, and reports the call to callbacks like others.
func answering(name string, answer func(context.Context) string) tool.BaseTool {
	e := &entry{info: &schema.ToolInfo{Name: name, Desc: slotDesc}}
	e.tool, _ = guardTool(answerTool{answer}, e)
	return e.tool
}

type answerTool struct{ answer func(context.Context) string }

// Info is never asked: the guard knows it.
func (answerTool) Info(context.Context) (*schema.ToolInfo, error) { return &schema.ToolInfo{}, nil }

// InvokableRun answers.
func (a answerTool) InvokableRun(ctx context.Context, _ string, _ ...tool.Option) (string, error) {
	return a.answer(ctx), ctx.Err()
}
