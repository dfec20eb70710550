// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package slots lets an agent call tools that its model does not see yet.
//
// Eino fixes the list of an agent's tools when a run starts. A slot is a tool in that list which stands for a hidden
// tool. There are two kinds:
//
//   - A bound slot stands for one tool during the whole run, and its name never changes. Up to 512 tools have one.
//   - A shared slot is bound to a tool when the model calls it, for one batch of calls, and changes its name. More than
//     512 tools, and tools that join during a run, have these.
//
// Shared slots need Eino to ask listed tools for their names before each batch of calls, which its API does not
// promise. A trial shows whether it does. If not, all tools that a run starts with have bound slots, and calls of other
// tools are rejected.
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

	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

// CallTarget is what the name of a call stands for.
type CallTarget uint8

const (
	Other    CallTarget = iota // a tool that needs no slot: a search tool, or one of the agent's own
	Unknown                    // nothing known: perhaps an alias, which only Eino knows
	Hidden                     // a hidden tool
	Enhanced                   // call_tool, for a hidden tool that returns more than text
	Gone                       // a tool that no longer exists: the call gets an answer
)

// Rejection is why a call reaches no tool.
type Rejection uint8

const (
	NoSuchTool   Rejection = iota // the tool no longer exists
	TooManyTools                  // the batch calls more tools than there are slots
	FromNextRun                   // the tool can be called from the next run on
)

// Host is the run whose tools the slots stand for.
type Host interface {
	// Lookup returns what a call is for, and the tool if that is Hidden.
	Lookup(message.ToolCall) (*catalog.Tool, CallTarget)
	// AliasCandidates returns the hidden tools that an unknown name may mean, the most likely first.
	AliasCandidates(context.Context) iter.Seq[string]
	// CheckCall decides about a call of a hidden tool.
	CheckCall(ctx context.Context, name, args string) Verdict
	// RejectionText returns the answer to a call that reaches no tool.
	RejectionText(ctx context.Context, name string, why Rejection) string
	// ResolveCallTool returns what becomes of a call of call_tool.
	ResolveCallTool(ctx context.Context, args string) Invocation
	// RestoreBindings returns the names of the last batch of calls in a checkpoint, and whether the checkpoint has
	// them.
	RestoreBindings(ctx context.Context, interrupted []message.ToolCall) (names []string, known bool)
}

// Verdict is whether a call runs.
type Verdict struct {
	Runs   bool
	Args   string // to run with
	Answer string // to a call that does not run
}

const (
	// unusedPrefix begins the names of unused slots. No model sees them.
	unusedPrefix = "__einolean_slot_"
	unusedDesc   = "Not a tool. Do not call it."
	// spareCallTool is the name of the call_tool that a batch does not need.
	spareCallTool = unusedPrefix + toolnames.Call
)

// IsUnusedName reports whether a name is that of an unused slot.
func IsUnusedName(name string) bool { return strings.HasPrefix(name, unusedPrefix) }

// IsUnused reports whether an info, which may be nil, is that of an unused slot.
func IsUnused(info *schema.ToolInfo) bool { return info != nil && IsUnusedName(info.Name) }

// IsSlot reports whether a tool of an agent's list is a slot.
func IsSlot(t tool.BaseTool) bool {
	_, ok := t.(einorun.Slot)
	return ok
}

// Slots is the slots of one run.
type Slots struct {
	plan     *Plan
	host     Host
	depth    int                      // of the agent's address in Eino; a longer address is inside the run
	list     []slot                   // bound slots, then shared ones
	bindings atomic.Pointer[bindings] // of the shared slots; nil before the first model call

	mu           sync.Mutex
	batch        int                    // the number of the answer whose calls are under way
	renamedCalls map[string]renamedCall // the newest of each id: ids may repeat from one batch to the next
}

// renamedCall is a call that got no slot, and therefore another name.
type renamedCall struct {
	originalName string // that the model wrote
	batch        int
}

// NewSlots returns the slots of a run that begins in ctx.
func (p *Plan) NewSlots(ctx context.Context, host Host) *Slots {
	s := &Slots{
		plan: p, host: host, depth: len(compose.GetCurrentAddress(ctx)),
		list: make([]slot, len(p.boundTools)+len(p.sharedForms)),
	}
	infos := make([]schema.ToolInfo, len(p.boundTools)) // of this run alone: a handler may edit them
	for i := range s.list {
		s.list[i] = slot{slots: s, sharedIndex: i - len(p.boundTools)}
		if i < len(p.boundTools) {
			t := p.boundTools[i]
			infos[i] = schema.ToolInfo{Name: t.Info.Name, Desc: t.Info.Desc}
			s.list[i].boundTool, s.list[i].boundInfo = t, &infos[i]
		}
	}
	return s
}

// Tools returns the slots as tools, the shared ones last.
func (s *Slots) Tools() []tool.BaseTool {
	tools := make([]tool.BaseTool, len(s.list))
	for i := range s.list {
		x := &s.list[i]
		if x.boundTool != nil {
			tools[i] = x.asTool(formOf(x.boundTool.Value))
		} else {
			tools[i] = x.asTool(s.plan.sharedForms[x.sharedIndex])
		}
	}
	return tools
}

// RemoveBound returns a list without the infos of bound slots, which Eino put into it. Shared slots stay: they show
// that the list is of this run.
func (s *Slots) RemoveBound(infos []*schema.ToolInfo) []*schema.ToolInfo {
	isBound := func(info *schema.ToolInfo) bool {
		if info == nil {
			return false
		}
		i, ok := s.plan.positions[info.Name]
		return ok && s.list[i].boundInfo == info
	}
	if !slices.ContainsFunc(infos, isBound) {
		return infos
	}
	return slices.DeleteFunc(slices.Clone(infos), isBound)
}

// UnbindableTools returns the names of tools that joined the run and can only be called in the next one, because Eino
// keeps the names of listed tools.
func (s *Slots) UnbindableTools(tools *catalog.Set) (names []string) {
	if !s.plan.namesFixed {
		return nil
	}
	for t := range tools.All() {
		if !s.hasBoundSlot(t.Info.Name) {
			names = append(names, t.Info.Name)
		}
	}
	return names
}

// slot is a tool that stands for a hidden one.
type slot struct {
	slots       *Slots
	sharedIndex int              // among the shared slots; negative for a bound one
	boundTool   *catalog.Tool    // nil for a shared slot
	boundInfo   *schema.ToolInfo // of boundTool
}

// StandsForNone implements [einorun.Slot].
func (s *slot) StandsForNone() bool { return s.boundTool == nil }

// unusedInfos returns the infos of unused slots.
var unusedInfos = sync.OnceValue(func() []schema.ToolInfo {
	n := 1
	for _, count := range sharedSlots {
		n += count
	}
	infos := make([]schema.ToolInfo, n)
	for i := range infos {
		infos[i] = schema.ToolInfo{Name: unusedPrefix + strconv.Itoa(i+1), Desc: unusedDesc}
	}
	return infos
})

// currentBinding returns what a shared slot stands for.
func (s *slot) currentBinding(ctx context.Context) binding {
	if b := s.slots.current(ctx); s.sharedIndex < len(b.bySlot) {
		return b.bySlot[s.sharedIndex]
	}
	return binding{}
}

// Info returns the name and the description of the tool that the slot stands for: Eino reads no more. It never fails,
// as an error would end the run.
func (s *slot) Info(ctx context.Context) (*schema.ToolInfo, error) {
	if s.boundInfo != nil {
		return s.boundInfo, nil
	}
	b := s.currentBinding(ctx)
	isLast := s.sharedIndex == len(s.slots.plan.sharedForms)-1
	switch {
	case b.tool != nil:
		return &schema.ToolInfo{Name: b.name, Desc: b.tool.Info.Desc}, nil
	case b.name != "" && !(s.slots.plan.namesFixed && isLast):
		return &schema.ToolInfo{Name: b.name, Desc: unusedDesc}, nil
	}
	info := unusedInfos()[s.sharedIndex]
	return &info, nil
}

// GetType returns the type of the tool that the slot stands for.
func (s *slot) GetType() string {
	if s.boundTool != nil {
		if t, target := s.slots.host.Lookup(message.ToolCall{Name: s.boundTool.Info.Name}); target == Hidden {
			return t.Type()
		}
		return "Slot"
	}
	if b := s.slots.bindings.Load(); b != nil && s.sharedIndex < len(b.bySlot) && b.bySlot[s.sharedIndex].tool != nil {
		return b.bySlot[s.sharedIndex].tool.Type()
	}
	return "Slot"
}

// IsCallbacksEnabled keeps Eino from wrapping the slot in every batch: an Invocation runs the callbacks.
func (s *slot) IsCallbacksEnabled() bool { return true }

// invocation returns the call to run for a call of the slot.
func (s *slot) invocation(ctx context.Context, args string) Invocation {
	host := s.slots.host
	name, t, rejection := s.target(ctx)
	if t == nil {
		text := host.RejectionText(ctx, name, rejection)
		return Invocation{ctx: ctx, args: args, typ: s.GetType(), answer: text}
	}
	v := host.CheckCall(ctx, name, args)
	if !v.Runs {
		return Invocation{ctx: ctx, args: args, typ: s.GetType(), answer: v.Answer}
	}
	return NewInvocation(ctx, t, v.Args)
}

// target returns the tool that a call of the slot is for. It is nil if the call is rejected.
func (s *slot) target(ctx context.Context) (name string, t *catalog.Tool, rejection Rejection) {
	if s.boundTool != nil {
		name := s.boundTool.Info.Name
		t, target := s.slots.host.Lookup(message.ToolCall{Name: name})
		switch {
		case target != Hidden:
			return name, nil, NoSuchTool
		case IsEnhanced(t.Value) != IsEnhanced(s.boundTool.Value): // another tool has the name now
			return name, nil, FromNextRun
		}
		return name, t, rejection
	}
	if c, isCurrent := s.slots.renamed(compose.GetToolCallID(ctx)); isCurrent {
		return c.originalName, nil, s.slots.Rejection(c.originalName)
	}
	b := s.currentBinding(ctx)
	if b.name == "" {
		return unusedInfos()[s.sharedIndex].Name, nil, NoSuchTool
	}
	return b.name, b.tool, b.rejection
}
