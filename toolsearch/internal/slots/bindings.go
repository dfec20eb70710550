// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"context"
	"reflect"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

// binding is what a shared slot stands for. The zero value stands for nothing.
type binding struct {
	name      string
	tool      *catalog.Tool // nil: calls are rejected
	rejection Rejection     // without a tool
}

// bindings are the bindings of the shared slots for one batch of calls: from the answer of the model to the end of its
// calls. They are immutable once they are stored.
type bindings struct {
	bySlot        []binding
	isResumed     bool     // the first of a resumed run: Eino has read no names yet
	callsEnhanced bool     // call_tool is called for a tool that returns more than text
	names         []string // of the calls that need slots, as a checkpoint has them
	unboundNames  []string // of the calls that got no slot
}

var noBindings bindings

func (s *Slots) newBindings() *bindings {
	return &bindings{bySlot: make([]binding, len(s.plan.sharedForms))}
}

// current returns the bindings of the batch that is under way. Before the first batch, only the tools node of a resumed
// run asks for them inside the graph of the run.
func (s *Slots) current(ctx context.Context) *bindings {
	if b := s.bindings.Load(); b != nil {
		return b
	}
	if len(compose.GetCurrentAddress(ctx)) <= s.depth {
		return &noBindings
	}
	s.bindings.CompareAndSwap(nil, s.restoreBindings(ctx))
	return s.bindings.Load()
}

// copyBindings returns a copy of the current bindings, to add to. The caller holds the lock.
func (s *Slots) copyBindings(ctx context.Context) *bindings {
	b := *s.current(ctx)
	if len(b.bySlot) == 0 {
		return s.newBindings()
	}
	b.bySlot, b.names, b.unboundNames = slices.Clone(b.bySlot), slices.Clip(b.names), slices.Clip(b.unboundNames)
	return &b
}

// needsEnhancedCallTool reports whether call_tool returns more than text in this batch. Where Eino keeps names, there
// is a call_tool of each kind.
func (s *Slots) needsEnhancedCallTool(ctx context.Context) bool {
	return !s.plan.namesFixed && s.current(ctx).callsEnhanced
}

// restoreBindings returns the bindings of a resumed run, from the calls that were interrupted and the names in the
// checkpoint. A checkpoint of Eino's own package has no names.
func (s *Slots) restoreBindings(ctx context.Context) *bindings {
	calls := interruptedCalls(ctx)
	names, isKnown := s.host.RestoreBindings(ctx, calls)
	b := s.newBindings()
	b.isResumed = true
	switch {
	case len(calls) > 0:
		s.bindCalls(ctx, b, calls, true)
	case isKnown:
		s.bindNames(b, names)
	default:
		s.bindAliasCandidates(ctx, b)
	}
	return b
}

// interruptedCalls returns the calls of an interrupted batch, which Eino keeps in a type of its own; nil if there are
// none, or if Eino keeps them otherwise.
func interruptedCalls(ctx context.Context) []message.ToolCall {
	_, _, state := compose.GetInterruptState[any](ctx)
	v := reflect.Indirect(reflect.ValueOf(state))
	if v.Kind() != reflect.Struct {
		return nil
	}
	if input := v.FieldByName("Input"); input.IsValid() && input.CanInterface() {
		return message.Calls(message.Plain(input.Interface()))
	}
	return nil
}

// FreeAll begins a model call: the shared slots stand for nothing.
func (s *Slots) FreeAll() {
	s.beginBatch()
	s.bindings.Store(&noBindings)
}

// beginBatch begins an answer, whose calls may have the ids of earlier ones.
func (s *Slots) beginBatch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batch++
}

// BindStreamed binds slots to tools whose calls arrive in an answer, before the agent sees them. It returns how to edit
// each call: a call that got no slot gets another name.
func (s *Slots) BindStreamed(
	ctx context.Context, calls []message.ToolCall,
) (edit func(message.ToolCall) message.ToolCall) {
	calls = slices.DeleteFunc(slices.Clone(calls), func(c message.ToolCall) bool { // these need no slot
		_, target := s.host.Lookup(c)
		return target != Enhanced && (target != Hidden && target != Gone || s.hasBoundSlot(c.Name))
	})
	if len(calls) == 0 {
		return s.callEditor(&noBindings)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.copyBindings(ctx)
	s.bindCalls(ctx, b, calls, false)
	s.bindings.Store(b)
	return s.callEditor(b)
}

// Reserve gives a tool whose call is about to arrive a slot. It returns false if there is none for it.
func (s *Slots) Reserve(ctx context.Context, name string) bool {
	if s.hasBoundSlot(name) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.copyBindings(ctx)
	if !s.bindName(b, name) {
		return false
	}
	if !slices.Contains(b.names, name) {
		b.names = append(b.names, name)
	}
	s.bindings.Store(b)
	return true
}

// Bind binds slots to the tools that a complete answer calls. Tools that have a slot already keep it. It returns the
// names that a resume needs, and how to edit each call, as BindStreamed does.
func (s *Slots) Bind(
	ctx context.Context, calls []message.ToolCall,
) (names []string, edit func(message.ToolCall) message.ToolCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.newBindings()
	for i, last := range s.current(ctx).bySlot {
		isCalled := func(c message.ToolCall) bool { return c.Name == last.name }
		if i < len(b.bySlot)-1 && slices.ContainsFunc(calls, isCalled) {
			b.bySlot[i] = last
		}
	}
	s.bindCalls(ctx, b, calls, true)
	s.bindings.Store(b)
	return b.names, s.callEditor(b)
}

// callEditor returns a function that renames the calls that got no slot, and records their original names.
func (s *Slots) callEditor(b *bindings) func(message.ToolCall) message.ToolCall {
	return func(c message.ToolCall) message.ToolCall {
		if len(b.unboundNames) == 0 && !(s.plan.namesFixed && b.callsEnhanced) {
			return c
		}
		original := c.Name
		switch _, target := s.host.Lookup(c); {
		case s.plan.namesFixed && target == Enhanced:
			c.Name = spareCallTool
		case slices.Contains(b.unboundNames, c.Name) && s.plan.namesFixed:
			c.Name = unusedInfos()[len(s.plan.sharedForms)-1].Name
		case slices.Contains(b.unboundNames, c.Name):
			c.Name = b.unboundNames[0]
		default:
			return c
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.renamedCalls == nil {
			s.renamedCalls = map[string]renamedCall{}
		}
		if known, ok := s.renamedCalls[c.ID]; !ok || known.batch != s.batch { // otherwise BindStreamed has renamed it
			s.renamedCalls[c.ID] = renamedCall{original, s.batch}
		}
		return c
	}
}

// renamed returns the newest call with an id that got no slot, and whether it is of the batch that is under way.
func (s *Slots) renamed(callID string) (c renamedCall, isCurrent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.renamedCalls[callID]
	return c, ok && callID != "" && c.batch == s.batch
}

// RestoreNames returns messages in which the calls that Bind renamed have the names that the model gave them. Only
// where Eino keeps names does a renamed call have a name that no model should see.
func RestoreNames[M adk.MessageType](s *Slots, msgs []M) []M {
	s.mu.Lock()
	hasNone := !s.plan.namesFixed || len(s.renamedCalls) == 0
	s.mu.Unlock()
	if hasNone {
		return msgs
	}
	return message.Map(msgs, func(m M) M {
		return message.RenameTools(m, func(callID, name string) string {
			if c, _ := s.renamed(callID); c.originalName != "" && IsUnusedName(name) {
				return c.originalName
			}
			return name
		})
	})
}

// bindCalls binds a slot to each hidden tool that is called. If these are all calls of an answer, one with an unknown
// name may be of any tool, by an alias.
func (s *Slots) bindCalls(ctx context.Context, b *bindings, calls []message.ToolCall, isComplete bool) {
	var names []string
	hasUnknown := false
	for _, c := range calls {
		if IsUnusedName(c.Name) {
			continue
		}
		switch _, target := s.host.Lookup(c); target {
		case Other:
		case Unknown:
			hasUnknown = true
		case Enhanced:
			names = append(names, spareCallTool)
		case Hidden, Gone:
			names = append(names, c.Name)
		}
	}
	if s.bindNames(b, names); hasUnknown && isComplete {
		s.bindAliasCandidates(ctx, b)
	}
}

// bindNames binds a slot to each name: to its tool, or to an answer if there is none any more. The last slot takes the
// first name that gets no slot.
func (s *Slots) bindNames(b *bindings, names []string) {
	for _, name := range names {
		if slices.Contains(b.names, name) {
			continue
		}
		b.names = append(b.names, name)
		switch {
		case name == spareCallTool:
			b.callsEnhanced = true
		case !s.bindName(b, name):
			b.unboundNames = append(b.unboundNames, name)
		}
	}
	if len(b.unboundNames) > 0 {
		first := b.unboundNames[0]
		b.bySlot[len(b.bySlot)-1] = binding{name: first, rejection: s.Rejection(first)}
	}
}

// Rejection returns why the call of a name without a slot reaches no tool.
func (s *Slots) Rejection(name string) Rejection {
	switch _, target := s.host.Lookup(message.ToolCall{Name: name}); {
	case target != Hidden:
		return NoSuchTool
	case s.plan.namesFixed:
		return FromNextRun
	}
	return TooManyTools
}

// bindAliasCandidates binds the free slots to other tools: the model may have called one of them by an alias, which
// only Eino knows.
func (s *Slots) bindAliasCandidates(ctx context.Context, b *bindings) {
	failures := 0
	for name := range s.host.AliasCandidates(ctx) {
		if failures > len(s.plan.sharedForms) || len(b.names) >= len(s.plan.sharedForms) {
			return
		}
		if slices.Contains(b.names, name) || s.hasBoundSlot(name) {
			continue
		}
		if !s.bindName(b, name) {
			failures++
			continue
		}
		b.names = append(b.names, name)
	}
}

// hasBoundSlot reports whether a slot is bound to the tool of a name for the whole run, and returns the same kind of
// result.
func (s *Slots) hasBoundSlot(name string) bool {
	i, ok := s.plan.positions[name]
	if !ok {
		return false
	}
	t, target := s.host.Lookup(message.ToolCall{Name: name})
	return target != Hidden || IsEnhanced(t.Value) == IsEnhanced(s.plan.boundTools[i].Value)
}

// bindName binds a free slot to the tool of a name, unless it has a slot. It reports whether the name has one now.
func (s *Slots) bindName(b *bindings, name string) bool {
	hasName := func(x binding) bool { return x.name == name }
	if s.hasBoundSlot(name) || slices.ContainsFunc(b.bySlot, hasName) {
		return true
	}
	if s.plan.namesFixed && !b.isResumed {
		return false
	}
	next, form := binding{name: name, rejection: NoSuchTool}, invokable
	if t, target := s.host.Lookup(message.ToolCall{Name: name}); target == Hidden {
		next, form = binding{name: name, tool: t}, formOf(t.Value)
	}
	for _, form := range form.fallbacks() {
		for i, slotForm := range s.plan.sharedForms[:len(s.plan.sharedForms)-1] {
			if slotForm == form && b.bySlot[i].name == "" {
				b.bySlot[i] = next
				return true
			}
		}
	}
	return false
}
