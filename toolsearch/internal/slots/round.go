// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"context"
	"reflect"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"

	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// round is what the changing slots stand for, between a model's answer and the end of its calls. It
// is immutable once it is shown.
type round struct {
	bound    []binding
	resumed  bool     // before any other: even names that Eino keeps are not read yet
	enhanced bool     // call_tool is called for a tool that returns more than text
	names    []string // of the calls that need slots, as kept for a resume
	surplus  []string // names of calls that got no slot
}

var noRound round

// current returns the round of calls that is under way. Before the first one, only the tools
// node of a resumed run asks within a node of the run's graph.
func (s *Slots) current(ctx context.Context) *round {
	if now := s.round.Load(); now != nil {
		return now
	}
	if len(compose.GetCurrentAddress(ctx)) <= s.depth {
		return &noRound
	}
	s.round.CompareAndSwap(nil, s.resume(ctx))
	return s.round.Load()
}

// callsEnhanced reports whether call_tool returns more than text in this round. Where names are
// kept, each kind has its own.
func (s *Slots) callsEnhanced(ctx context.Context) bool { return !s.kept && s.current(ctx).enhanced }

// resume returns the round of a resumed run, by the calls that were interrupted, and the names
// in the checkpoint. One of Eino's own package has none.
func (s *Slots) resume(ctx context.Context) *round {
	calls := interruptedCalls(ctx)
	names, known := s.run.Kept(ctx, calls)
	b := s.empty()
	b.resumed = true
	switch {
	case len(calls) > 0:
		s.bindAll(ctx, b, calls, true)
	case known:
		s.bindNames(b, names)
	default:
		s.bindRest(ctx, b)
	}
	return b
}

// interruptedCalls returns the calls of an interrupted round, which Eino keeps in a type of its
// own; none if there is no such round, or if Eino keeps it otherwise.
func interruptedCalls(ctx context.Context) []wire.Call {
	_, _, state := compose.GetInterruptState[any](ctx)
	v := reflect.Indirect(reflect.ValueOf(state))
	if v.Kind() != reflect.Struct {
		return nil
	}
	if input := v.FieldByName("Input"); input.IsValid() && input.CanInterface() {
		return wire.CallsOf(input.Interface())
	}
	return nil
}

// KeepsNames reports whether Eino keeps the names of listed tools: those that join can be called from
// the next run on.
func (s *Slots) KeepsNames() bool { return s.kept }

func (s *Slots) empty() *round { return &round{bound: make([]binding, len(s.more))} }

// Open begins a model call: the slots of the last round are free.
func (s *Slots) Open() { s.round.Store(&noRound) }

// Meet gives slots to tools whose calls pass in a model's answer, before the agent sees them. It
// returns what to make of each call: the same, but for its name if it got none.
func (s *Slots) Meet(ctx context.Context, calls []wire.Call) (edit func(wire.Call) wire.Call) {
	calls = slices.DeleteFunc(slices.Clone(calls), func(c wire.Call) bool { return !s.needsSlot(c) })
	if len(calls) == 0 {
		return same
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := *s.current(ctx)
	if len(b.bound) == 0 {
		b = *s.empty()
	}
	b.bound, b.names, b.surplus = slices.Clone(b.bound), slices.Clip(b.names), slices.Clip(b.surplus)
	s.bindAll(ctx, &b, calls, false)
	s.round.Store(&b)
	return s.editor(&b)
}

// Bind gives slots to the tools that a model's answer calls: those that have one already keep it.
// It returns the names that a resume needs, and what to make of each call, as Meet does.
func (s *Slots) Bind(ctx context.Context, calls []wire.Call) (names []string, edit func(wire.Call) wire.Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.empty()
	for at, was := range s.current(ctx).bound {
		if at < len(b.bound)-1 && slices.ContainsFunc(calls, func(c wire.Call) bool { return c.Name == was.name }) {
			b.bound[at] = was
		}
	}
	s.bindAll(ctx, b, calls, true)
	s.round.Store(b)
	return b.names, s.editor(b)
}

func same(c wire.Call) wire.Call { return c }

// needsSlot reports whether a call reaches no tool unless a slot is bound for it.
func (s *Slots) needsSlot(c wire.Call) bool {
	switch _, kind := s.run.Lookup(c); kind {
	case Enhanced:
		return true
	case Hidden, Gone:
		return !s.IsBound(c.Name)
	}
	return false
}

// editor renames the calls that got no slot, and remembers what they called.
func (s *Slots) editor(b *round) func(wire.Call) wire.Call {
	if len(b.surplus) == 0 && !(s.kept && b.enhanced) {
		return same
	}
	return func(c wire.Call) wire.Call {
		was := c.Name
		switch _, kind := s.run.Lookup(c); {
		case s.kept && kind == Enhanced:
			c.Name = enhancedCall
		case slices.Contains(b.surplus, c.Name) && s.kept:
			c.Name = unused()[len(s.more)-1].Name
		case slices.Contains(b.surplus, c.Name):
			c.Name = b.surplus[0]
		default:
			return c
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.renamed == nil {
			s.renamed = map[string]string{}
		}
		if _, known := s.renamed[c.ID]; !known {
			s.renamed[c.ID] = was
		}
		return c
	}
}

// trueName returns what a call that got no slot called.
func (s *Slots) trueName(id string) (name string, was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, was = s.renamed[id]
	return name, was && id != ""
}

// Named returns messages in which calls that had to be renamed where names are kept have the names
// that the model gave them.
func Named[M adk.MessageType](s *Slots, msgs []M) []M {
	s.mu.Lock()
	none := !s.kept || len(s.renamed) == 0
	s.mu.Unlock()
	if none {
		return msgs
	}
	return wire.Each(msgs, func(m M) M {
		return wire.Rename(m, func(id, name string) string {
			if was, ok := s.trueName(id); ok && IsName(name) {
				return was
			}
			return name
		})
	})
}

// bindAll gives each hidden tool that is called a slot. If all calls are known, a call of nothing
// that is known may be one of any tool.
func (s *Slots) bindAll(ctx context.Context, b *round, calls []wire.Call, all bool) {
	names, unknown := []string(nil), false
	for _, c := range calls {
		if IsName(c.Name) {
			continue
		}
		switch _, kind := s.run.Lookup(c); kind {
		case Other:
		case Unknown:
			unknown = true
		case Enhanced:
			names = append(names, enhancedCall)
		default:
			names = append(names, c.Name)
		}
	}
	if s.bindNames(b, names); unknown && all {
		s.bindRest(ctx, b)
	}
}

// bindNames gives each name a slot: for its tool, or for an answer if that no longer exists. The
// extra slot takes the first name that gets none.
func (s *Slots) bindNames(b *round, names []string) {
	for _, name := range names {
		if slices.Contains(b.names, name) {
			continue
		}
		b.names = append(b.names, name)
		switch {
		case name == enhancedCall:
			b.enhanced = true
		case !s.bind(b, name):
			b.surplus = append(b.surplus, name)
		}
	}
	if len(b.surplus) > 0 {
		b.bound[len(b.bound)-1] = binding{name: b.surplus[0], why: s.whyNot(b.surplus[0])}
	}
}

// whyNot says why the call of a name without a slot reaches no tool.
func (s *Slots) whyNot(name string) Kind {
	switch _, kind := s.run.Lookup(wire.Call{Name: name}); {
	case kind != Hidden:
		return Gone
	case s.kept:
		return Later
	}
	return TooMany
}

// bindRest gives the free slots to other tools, those that the model sees first: the model may
// have called one of them by an alias, which only Eino knows.
func (s *Slots) bindRest(ctx context.Context, b *round) {
	full := 0
	for name := range s.run.Names(ctx) {
		if full > len(s.more) || len(b.names) >= len(s.more) {
			return
		}
		if slices.Contains(b.names, name) || s.IsBound(name) {
			continue
		}
		if !s.bind(b, name) {
			full++
			continue
		}
		b.names = append(b.names, name)
	}
}

// IsBound reports whether a slot is bound to the tool of a name for the whole run, in its form.
func (s *Slots) IsBound(name string) bool {
	at, ok := s.places[name]
	if !ok {
		return false
	}
	t, kind := s.run.Lookup(wire.Call{Name: name})
	return kind != Hidden || IsEnhanced(t.Tool) == s.forms[at].isEnhanced()
}

// bind gives the tool of a name a free slot, if it has none.
func (s *Slots) bind(b *round, name string) bool {
	if s.IsBound(name) || slices.ContainsFunc(b.bound, func(x binding) bool { return x.name == name }) {
		return true
	}
	if s.kept && !b.resumed {
		return false
	}
	t, kind := s.run.Lookup(wire.Call{Name: name})
	f := invokable
	if kind == Hidden {
		f = formOf(t.Tool)
	} else {
		kind = Gone
	}
	for _, f := range f.instead() {
		for at, own := range s.more[:len(s.more)-1] {
			if own == f && b.bound[at].name == "" {
				b.bound[at] = binding{name, kind, t}
				return true
			}
		}
	}
	return false
}
