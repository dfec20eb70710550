// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package slots lets an agent call tools that its model does not see yet.
//
// Eino fixes the list of an agent's tools when a run starts. A slot is a tool of that list which
// stands for a hidden one. Up to 512 tools have slots that are bound to them for the whole run:
// their names never change, whenever Eino reads them. More tools than that, and those that appear
// in the middle of a run, share slots whose names change when the model calls: Eino asks every
// listed tool for its info again before each round of calls. It never promised to; where it does
// not, which a trial shows, all tools that a run starts with are bound, and the others are answered.
package slots

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// Tool is a hidden tool.
type Tool struct {
	Name, Desc string
	Tool       tool.BaseTool
	Type       string // as callbacks are told
}

// Kind says what the name of a call stands for.
type Kind uint8

const (
	Other    Kind = iota // a tool that needs no slot: a search tool, or one of the agent's own
	Unknown              // nothing that is known: perhaps an alias, which only Eino knows
	Hidden               // a hidden tool
	Enhanced             // call_tool, for a hidden tool that returns more than text
	Gone                 // nothing any more, but a call gets an answer
	TooMany              // of an answer: the tool got no slot in this round
	Later                // of an answer: the tool can be called from the next run on
)

// Run is what slots ask of the run whose tools they stand for.
type Run interface {
	// Lookup says what a call is for. The tool is that of Hidden.
	Lookup(wire.Call) (Tool, Kind)
	// Names are the hidden tools that may be meant by an alias, the likeliest first.
	Names(context.Context) iter.Seq[string]
	// Admit reports whether a call of a hidden tool must not run, and the answer to it.
	Admit(ctx context.Context, name string) (answer string, stop bool)
	// Answer answers a call that reaches no tool: it is Gone, TooMany or Later.
	Answer(ctx context.Context, name string, why Kind) string
	// Kept are the names of the calls in a checkpoint, whether there are any, and which calls
	// were interrupted.
	Kept(ctx context.Context, interrupted []wire.Call) (names []string, known bool)
}

const (
	// mostBound is the most tools that have slots of their own: Eino prepares each listed tool again
	// for every round of calls.
	mostBound = 512
	// prefix begins the names of unused slots. No model sees them.
	prefix   = "__einolean_slot_"
	slotDesc = "Not a tool. Do not call it."
	// enhancedCall is the name of the call_tool that a round does not need.
	enhancedCall = prefix + toolnames.Call
)

// changing is how many slots of each form change. When those of its form run out, a tool gets one of
// another form with the same kind of result.
var changing = [forms]int{invokable: 32, streamable: 8, both: 8, enhancedInvokable: 32, enhancedStreamable: 8, enhancedBoth: 8}

// IsName reports whether a name is that of an unused slot.
func IsName(name string) bool { return strings.HasPrefix(name, prefix) }

// Is reports whether a tool of an agent's list is a slot.
func Is(t tool.BaseTool) bool {
	_, is := t.(interface{ isSlot() })
	return is
}

// Plan is the slots for a set of tools. It is made once for many runs.
type Plan struct {
	tools  []Tool // bound for the run
	forms  []form // theirs
	places map[string]int
	more   []form // of those that change; the last one serves the calls without a slot
	kept   bool   // Eino keeps the names of listed tools
}

// NewPlan plans slots for n tools. Others may join if it says so.
func NewPlan(tools iter.Seq[Tool], n int, joining bool) *Plan {
	return newPlan(tools, n, joining, !asksAgain())
}

func newPlan(tools iter.Seq[Tool], n int, joining, kept bool) *Plan {
	p, rest := &Plan{places: map[string]int{}, kept: kept}, [forms]int{}
	for t := range tools {
		f := formOf(t.Tool)
		if n > mostBound && !kept {
			rest[f] = min(rest[f]+1, changing[f])
			continue
		}
		p.places[t.Name] = len(p.tools)
		p.tools, p.forms = append(p.tools, t), append(p.forms, f)
	}
	switch {
	case joining && !kept:
		rest = changing
	default: // for answers
		rest[invokable] = max(rest[invokable], changing[streamable])
	}
	for f, n := range rest {
		p.more = append(p.more, slices.Repeat([]form{form(f)}, n)...)
	}
	p.more = append(p.more, invokable)
	return p
}

// Bound is how many slots are bound for a whole run.
func (p *Plan) Bound() int { return len(p.tools) }

// Slots are those of one run.
type Slots struct {
	*Plan
	run   Run
	depth int // of Eino's address of the agent; what is deeper is in the run
	list  []slot
	round atomic.Pointer[round]

	mu      sync.Mutex
	renamed map[string]string // what calls without a slot called, by id
}

// Begin makes the slots of a run, which begins in ctx.
func (p *Plan) Begin(ctx context.Context, run Run) *Slots {
	s := &Slots{Plan: p, run: run, depth: len(compose.GetCurrentAddress(ctx)), list: make([]slot, len(p.tools)+len(p.more))}
	infos := make([]schema.ToolInfo, len(p.tools)) // in each run its own: a handler may change what it is shown
	for i := range s.list {
		s.list[i] = slot{slots: s, at: i - len(p.tools)}
		if i < len(p.tools) {
			infos[i] = schema.ToolInfo{Name: p.tools[i].Name, Desc: p.tools[i].Desc}
			s.list[i].info = &infos[i]
		}
	}
	return s
}

// Tools lists the slots, those that change last.
func (s *Slots) Tools() []tool.BaseTool {
	tools := make([]tool.BaseTool, len(s.list))
	for i, f := range slices.Concat(s.forms, s.more) {
		tools[i] = s.list[i].asTool(f)
	}
	return tools
}

// Without returns a list without the tools that slots are bound to: what Eino made of the slots. Those
// that change stay, and mark the place.
func (s *Slots) Without(infos []*schema.ToolInfo) []*schema.ToolInfo {
	isOurs := func(t *schema.ToolInfo) bool {
		if t == nil {
			return false
		}
		at, ok := s.places[t.Name]
		return ok && s.list[at].info == t
	}
	if !slices.ContainsFunc(infos, isOurs) {
		return infos
	}
	return slices.DeleteFunc(slices.Clone(infos), isOurs)
}

// slot is a tool that stands for a hidden one.
type slot struct {
	slots *Slots
	at    int              // among those that change; negative: it is bound for the run
	info  *schema.ToolInfo // of the tool that it is bound to
}

func (s *slot) isSlot() {}

// unused describes unused slots.
var unused = sync.OnceValue(func() []schema.ToolInfo {
	n := 1
	for _, more := range changing {
		n += more
	}
	infos := make([]schema.ToolInfo, n)
	for i := range infos {
		infos[i] = schema.ToolInfo{Name: prefix + strconv.Itoa(i+1), Desc: slotDesc}
	}
	return infos
})

// binding is what a changing slot stands for. The zero value stands for nothing.
type binding struct {
	name string
	why  Kind // Hidden, or what the answer says
	tool Tool // of Hidden
}

// bound is what a changing slot stands for.
func (s *slot) bound(ctx context.Context) binding {
	if now := s.slots.current(ctx); s.at < len(now.bound) {
		return now.bound[s.at]
	}
	return binding{}
}

// Info names the tool that the slot stands for: Eino reads no more of it. It neither fails nor
// waits: its error would end the run.
func (s *slot) Info(ctx context.Context) (*schema.ToolInfo, error) {
	if s.info != nil {
		return s.info, nil
	}
	b := s.bound(ctx)
	switch {
	case b.why == Hidden:
		return &schema.ToolInfo{Name: b.name, Desc: b.tool.Desc}, nil
	case b.name != "" && (!s.slots.kept || s.at < len(s.slots.more)-1):
		return &schema.ToolInfo{Name: b.name, Desc: slotDesc}, nil
	}
	info := unused()[s.at]
	return &info, nil
}

// GetType is the type of the tool that the slot stands for.
func (s *slot) GetType() string {
	switch now := s.slots.round.Load(); {
	case s.info != nil:
		if t, kind := s.slots.run.Lookup(wire.Call{Name: s.name()}); kind == Hidden {
			return t.Type
		}
	case now != nil && s.at < len(now.bound) && now.bound[s.at].why == Hidden:
		return now.bound[s.at].tool.Type
	}
	return "Slot"
}

// name is that of the tool to which the slot is bound for the run.
func (s *slot) name() string { return s.slots.tools[s.at+len(s.slots.tools)].Name }

// IsCallbacksEnabled keeps Eino from wrapping the slot, as it would in every round: a call tells
// the callbacks.
func (s *slot) IsCallbacksEnabled() bool { return true }

// callOf returns what becomes of a call to the slot.
func (s *slot) callOf(ctx context.Context, args string) Call {
	c := Call{ctx: ctx, args: args, typ: s.GetType()}
	name, why, t := s.target(ctx)
	if why != Hidden {
		c.answer = s.slots.run.Answer(ctx, name, why)
		return c
	}
	answer, stop := s.slots.run.Admit(ctx, name)
	if c.answer = answer; !stop {
		c = Running(ctx, t, args)
	}
	return c
}

// target is what a call of the slot is for.
func (s *slot) target(ctx context.Context) (name string, why Kind, t Tool) {
	if s.info != nil {
		t, why = s.slots.run.Lookup(wire.Call{Name: s.name()})
		switch {
		case why != Hidden:
			why = Gone
		case IsEnhanced(t.Tool) != s.slots.forms[s.at+len(s.slots.tools)].isEnhanced():
			why = Later
		}
		return s.name(), why, t
	}
	if name, was := s.slots.trueName(compose.GetToolCallID(ctx)); was {
		return name, s.slots.whyNot(name), Tool{}
	}
	b := s.bound(ctx)
	if b.name == "" {
		return unused()[s.at].Name, Gone, Tool{}
	}
	return b.name, b.why, b.tool
}
