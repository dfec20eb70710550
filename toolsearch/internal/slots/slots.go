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
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

// Kind says what the name of a call stands for.
type CallTarget uint8

const (
	Other    CallTarget = iota // a tool that needs no slot: a search tool, or one of the agent's own
	Unknown                    // nothing that is known: perhaps an alias, which only Eino knows
	Hidden                     // a hidden tool
	Enhanced                   // call_tool, for a hidden tool that returns more than text
	Gone                       // nothing any more, but a call gets an answer
	TooMany                    // of an answer: the tool got no slot in this round
	Later                      // of an answer: the tool can be called from the next run on
)

// Run is what slots ask of the run whose tools they stand for.
type Host interface {
	// Lookup says what a call is for. The tool is that of Hidden, and nil otherwise.
	Lookup(message.ToolCall) (*catalog.Tool, CallTarget)
	// Names are the hidden tools that may be meant by an alias, the likeliest first.
	Names(context.Context) iter.Seq[string]
	// Admit reports whether a call of a hidden tool must not run, and the answer to it.
	CheckCall(ctx context.Context, name string) (answer string, stop bool)
	// Answer answers a call that reaches no tool: it is Gone, TooMany or Later.
	RejectionText(ctx context.Context, name string, why CallTarget) string
	// Called reads the arguments of call_tool, which name the tool to run.
	ResolveCallTool(ctx context.Context, args string) Invocation
	// Kept are the names of the calls in a checkpoint, whether there are any, and which calls
	// were interrupted.
	RestoreBindings(ctx context.Context, interrupted []message.ToolCall) (names []string, known bool)
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
var sharedSlots = [forms]int{invokable: 32, streamable: 8, both: 8, enhancedInvokable: 32, enhancedStreamable: 8, enhancedBoth: 8}

// IsName reports whether a name is that of an unused slot.
func IsName(name string) bool { return strings.HasPrefix(name, prefix) }

// Is reports whether a tool of an agent's list is a slot.
func Is(t tool.BaseTool) bool {
	_, is := t.(interface{ isSlot() })
	return is
}

// Plan is the slots for a set of tools. It is made once for many runs.
type Plan struct {
	tools      []*catalog.Tool // bound for the run
	places     map[string]int  // of their names
	shared     []toolForm      // of the slots that change; the last one serves the calls without a slot
	namesFixed bool            // Eino keeps the names of listed tools
}

// NewPlan plans slots for tools. Others may join if it says so.
func NewPlan(tools *catalog.Set, joining bool) *Plan {
	p, rest := &Plan{places: map[string]int{}, namesFixed: !rereadsToolNames()}, [forms]int{}
	for t := range tools.All() {
		if tools.Len() > mostBound && !p.namesFixed {
			f := formOf(t.Value)
			rest[f] = min(rest[f]+1, sharedSlots[f])
			continue
		}
		p.places[t.Info.Name] = len(p.tools)
		p.tools = append(p.tools, t)
	}
	if joining && !p.namesFixed {
		rest = sharedSlots
	} else { // for answers
		rest[invokable] = max(rest[invokable], sharedSlots[streamable])
	}
	for f, n := range rest {
		p.shared = append(p.shared, slices.Repeat([]toolForm{toolForm(f)}, n)...)
	}
	p.shared = append(p.shared, invokable)
	return p
}

// Slots are those of one run.
type Slots struct {
	*Plan
	run   Host
	depth int // of Eino's address of the agent; what is deeper is in the run
	list  []slot
	round atomic.Pointer[bindings]

	mu      sync.Mutex
	renamed map[string]string // what calls without a slot called, by id
}

// Begin makes the slots of a run, which begins in ctx.
func (p *Plan) Begin(ctx context.Context, run Host) *Slots {
	s := &Slots{Plan: p, run: run, depth: len(compose.GetCurrentAddress(ctx)), list: make([]slot, len(p.tools)+len(p.shared))}
	infos := make([]schema.ToolInfo, len(p.tools)) // in each run its own: a handler may change what it is shown
	for i := range s.list {
		if s.list[i] = (slot{slots: s, at: i - len(p.tools)}); i < len(p.tools) {
			t := p.tools[i]
			infos[i] = schema.ToolInfo{Name: t.Info.Name, Desc: t.Info.Desc}
			s.list[i].tool, s.list[i].info = t, &infos[i]
		}
	}
	return s
}

// Tools lists the slots, those that change last.
func (s *Slots) Tools() []tool.BaseTool {
	tools := make([]tool.BaseTool, len(s.list))
	for i := range s.list {
		x := &s.list[i]
		if x.tool != nil {
			tools[i] = x.asTool(formOf(x.tool.Value))
		} else {
			tools[i] = x.asTool(s.shared[x.at])
		}
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
	at    int              // among those that change
	tool  *catalog.Tool    // that it is bound to for the run; nil: it changes
	info  *schema.ToolInfo // of this tool
}

func (s *slot) isSlot() {}

// unused describes unused slots.
var unused = sync.OnceValue(func() []schema.ToolInfo {
	n := 1
	for _, more := range sharedSlots {
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
	why  CallTarget    // Hidden, or what the answer says
	tool *catalog.Tool // of Hidden
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
		return &schema.ToolInfo{Name: b.name, Desc: b.tool.Info.Desc}, nil
	case b.name != "" && (!s.slots.namesFixed || s.at < len(s.slots.shared)-1):
		return &schema.ToolInfo{Name: b.name, Desc: slotDesc}, nil
	}
	info := unused()[s.at]
	return &info, nil
}

// GetType is the type of the tool that the slot stands for.
func (s *slot) GetType() string {
	switch now := s.slots.round.Load(); {
	case s.tool != nil:
		if t, kind := s.slots.run.Lookup(message.ToolCall{Name: s.tool.Info.Name}); kind == Hidden {
			return t.Type()
		}
	case now != nil && s.at < len(now.bound) && now.bound[s.at].why == Hidden:
		return now.bound[s.at].tool.Type()
	}
	return "Slot"
}

// IsCallbacksEnabled keeps Eino from wrapping the slot, as it would in every round: a call tells
// the callbacks.
func (s *slot) IsCallbacksEnabled() bool { return true }

// callOf returns what becomes of a call to the slot.
func (s *slot) callOf(ctx context.Context, args string) Invocation {
	c, run := Invocation{ctx: ctx, args: args, typ: s.GetType()}, s.slots.run
	name, why, t := s.target(ctx)
	if why != Hidden {
		c.answer = run.RejectionText(ctx, name, why)
		return c
	}
	answer, stop := run.CheckCall(ctx, name)
	if c.answer = answer; !stop {
		c = Running(ctx, t, args)
	}
	return c
}

// target is what a call of the slot is for.
func (s *slot) target(ctx context.Context) (name string, why CallTarget, t *catalog.Tool) {
	if s.tool != nil {
		name, run := s.tool.Info.Name, s.slots.run
		t, why = run.Lookup(message.ToolCall{Name: name})
		switch {
		case why != Hidden:
			why = Gone
		case IsEnhanced(t.Value) != IsEnhanced(s.tool.Value):
			why = Later
		}
		return name, why, t
	}
	if name, was := s.slots.originalName(compose.GetToolCallID(ctx)); was {
		return name, s.slots.unboundReason(name), nil
	}
	b := s.bound(ctx)
	if b.name == "" {
		return unused()[s.at].Name, Gone, nil
	}
	return b.name, b.why, b.tool
}

// round is what the changing slots stand for, between a model's answer and the end of its calls. It
// is immutable once it is shown.
type bindings struct {
	bound    []binding
	resumed  bool     // before any other: even names that Eino keeps are not read yet
	enhanced bool     // call_tool is called for a tool that returns more than text
	names    []string // of the calls that need slots, as kept for a resume
	unbound  []string // names of calls that got no slot
}

var noRound bindings

// current returns the round of calls that is under way. Before the first one, only the tools
// node of a resumed run asks within a node of the run's graph.
func (s *Slots) current(ctx context.Context) *bindings {
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
func (s *Slots) callsEnhanced(ctx context.Context) bool {
	return !s.namesFixed && s.current(ctx).enhanced
}

// resume returns the round of a resumed run, by the calls that were interrupted, and the names
// in the checkpoint. One of Eino's own package has none.
func (s *Slots) resume(ctx context.Context) *bindings {
	calls := interruptedCalls(ctx)
	names, known := s.run.RestoreBindings(ctx, calls)
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

// Later are the names of tools that joined the run and can be called from the next one on: Eino keeps
// the names of those that it lists.
func (s *Slots) UnbindableTools(tools *catalog.Set) (names []string) {
	if !s.namesFixed {
		return nil
	}
	for t := range tools.All() {
		if !s.isBound(t.Info.Name) {
			names = append(names, t.Info.Name)
		}
	}
	return names
}

func (s *Slots) empty() *bindings { return &bindings{bound: make([]binding, len(s.shared))} }

// Open begins a model call: the slots of the last round are free.
func (s *Slots) FreeAll() { s.round.Store(&noRound) }

// Meet gives slots to tools whose calls pass in a model's answer, before the agent sees them. It
// returns what to make of each call: the same, but for its name if it got none.
func (s *Slots) BindStreamed(ctx context.Context, calls []message.ToolCall) (edit func(message.ToolCall) message.ToolCall) {
	calls = slices.DeleteFunc(slices.Clone(calls), func(c message.ToolCall) bool { // the others reach their tools, or none
		_, kind := s.run.Lookup(c)
		return kind != Enhanced && (kind != Hidden && kind != Gone || s.isBound(c.Name))
	})
	if len(calls) == 0 {
		return s.editor(&noRound)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := *s.current(ctx)
	if len(b.bound) == 0 {
		b = *s.empty()
	}
	b.bound, b.names, b.unbound = slices.Clone(b.bound), slices.Clip(b.names), slices.Clip(b.unbound)
	s.bindAll(ctx, &b, calls, false)
	s.round.Store(&b)
	return s.editor(&b)
}

// Bind gives slots to the tools that a model's answer calls: those that have one already keep it.
// It returns the names that a resume needs, and what to make of each call, as Meet does.
func (s *Slots) Bind(ctx context.Context, calls []message.ToolCall) (names []string, edit func(message.ToolCall) message.ToolCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.empty()
	for at, was := range s.current(ctx).bound {
		if at < len(b.bound)-1 && slices.ContainsFunc(calls, func(c message.ToolCall) bool { return c.Name == was.name }) {
			b.bound[at] = was
		}
	}
	s.bindAll(ctx, b, calls, true)
	s.round.Store(b)
	return b.names, s.editor(b)
}

// editor renames the calls that got no slot, and remembers what they called.
func (s *Slots) editor(b *bindings) func(message.ToolCall) message.ToolCall {
	return func(c message.ToolCall) message.ToolCall {
		if len(b.unbound) == 0 && !(s.namesFixed && b.enhanced) {
			return c
		}
		was := c.Name
		switch _, kind := s.run.Lookup(c); {
		case s.namesFixed && kind == Enhanced:
			c.Name = enhancedCall
		case slices.Contains(b.unbound, c.Name) && s.namesFixed:
			c.Name = unused()[len(s.shared)-1].Name
		case slices.Contains(b.unbound, c.Name):
			c.Name = b.unbound[0]
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
func (s *Slots) originalName(id string) (name string, was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, was = s.renamed[id]
	return name, was && id != ""
}

// Named returns messages in which calls that had to be renamed where names are kept have the names
// that the model gave them.
func Named[M adk.MessageType](s *Slots, msgs []M) []M {
	s.mu.Lock()
	none := !s.namesFixed || len(s.renamed) == 0
	s.mu.Unlock()
	if none {
		return msgs
	}
	return message.Map(msgs, func(m M) M {
		return message.RenameTools(m, func(id, name string) string {
			if was, ok := s.originalName(id); ok && IsName(name) {
				return was
			}
			return name
		})
	})
}

// bindAll gives each hidden tool that is called a slot. If all calls are known, a call of nothing
// that is known may be one of any tool.
func (s *Slots) bindAll(ctx context.Context, b *bindings, calls []message.ToolCall, all bool) {
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
func (s *Slots) bindNames(b *bindings, names []string) {
	for _, name := range names {
		if slices.Contains(b.names, name) {
			continue
		}
		b.names = append(b.names, name)
		switch {
		case name == enhancedCall:
			b.enhanced = true
		case !s.bind(b, name):
			b.unbound = append(b.unbound, name)
		}
	}
	if len(b.unbound) > 0 {
		b.bound[len(b.bound)-1] = binding{name: b.unbound[0], why: s.unboundReason(b.unbound[0])}
	}
}

// whyNot says why the call of a name without a slot reaches no tool.
func (s *Slots) unboundReason(name string) CallTarget {
	switch _, kind := s.run.Lookup(message.ToolCall{Name: name}); {
	case kind != Hidden:
		return Gone
	case s.namesFixed:
		return Later
	}
	return TooMany
}

// bindRest gives the free slots to other tools, those that the model sees first: the model may
// have called one of them by an alias, which only Eino knows.
func (s *Slots) bindRest(ctx context.Context, b *bindings) {
	full := 0
	for name := range s.run.Names(ctx) {
		if full > len(s.shared) || len(b.names) >= len(s.shared) {
			return
		}
		if slices.Contains(b.names, name) || s.isBound(name) {
			continue
		}
		if !s.bind(b, name) {
			full++
			continue
		}
		b.names = append(b.names, name)
	}
}

// isBound reports whether a slot is bound to the tool of a name for the whole run, in its form.
func (s *Slots) isBound(name string) bool {
	at, ok := s.places[name]
	if !ok {
		return false
	}
	t, kind := s.run.Lookup(message.ToolCall{Name: name})
	return kind != Hidden || IsEnhanced(t.Value) == IsEnhanced(s.tools[at].Value)
}

// bind gives the tool of a name a free slot, if it has none.
func (s *Slots) bind(b *bindings, name string) bool {
	if s.isBound(name) || slices.ContainsFunc(b.bound, func(x binding) bool { return x.name == name }) {
		return true
	}
	if s.namesFixed && !b.resumed {
		return false
	}
	t, kind := s.run.Lookup(message.ToolCall{Name: name})
	f := invokable
	if kind == Hidden {
		f = formOf(t.Value)
	} else {
		kind = Gone
	}
	for _, f := range f.fallbacks() {
		for at, own := range s.shared[:len(s.shared)-1] {
			if own == f && b.bound[at].name == "" {
				b.bound[at] = binding{name, kind, t}
				return true
			}
		}
	}
	return false
}

// asksAgain reports whether Eino asks the tools of a list for their names before each round of
// calls. It is tried once in a process.
var rereadsToolNames = sync.OnceValue(func() bool {
	ok, err := safe.Value("trying a tool that changes its name", tryRenaming)
	return ok && err == nil
})

// tryRenaming calls a tool twice, under two names, through one tools node with one list, as an
// agent does.
func tryRenaming() (bool, error) {
	ctx, t := context.Background(), &renamed{}
	node, err := compose.NewToolNode(ctx, &compose.ToolsNodeConfig{Tools: []tool.BaseTool{t}})
	if err != nil {
		return false, err
	}
	list := compose.WithToolList(t)
	for _, t.name = range []string{prefix + "a", prefix + "b"} {
		call := schema.AssistantMessage("", []schema.ToolCall{{ID: "1", Function: schema.FunctionCall{Name: t.name, Arguments: "{}"}}})
		if _, err := node.Invoke(ctx, call, list); err != nil {
			return false, err
		}
	}
	return true, nil
}

// renamed is a tool that changes its name.
type renamed struct{ name string }

func (r *renamed) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: r.name, Desc: slotDesc}, nil
}

func (r *renamed) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return "", nil
}

// IsCallbacksEnabled keeps Eino from telling callbacks of the trial.
func (r *renamed) IsCallbacksEnabled() bool { return true }
