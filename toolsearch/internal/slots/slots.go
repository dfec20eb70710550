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
	AliasCandidates(context.Context) iter.Seq[string]
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
	maxBoundTools = 512
	// prefix begins the names of unused slots. No model sees them.
	unusedPrefix = "__einolean_slot_"
	unusedDesc   = "Not a tool. Do not call it."
	// enhancedCall is the name of the call_tool that a round does not need.
	spareCallTool = unusedPrefix + toolnames.Call
)

// changing is how many slots of each form change. When those of its form run out, a tool gets one of
// another form with the same kind of result.
var sharedSlots = [formCount]int{invokable: 32, streamable: 8, invokableStreamable: 8, enhancedInvokable: 32, enhancedStreamable: 8, enhancedInvokableStreamable: 8}

// IsName reports whether a name is that of an unused slot.
func IsUnusedName(name string) bool { return strings.HasPrefix(name, unusedPrefix) }

// Is reports whether a tool of an agent's list is a slot.
func IsSlot(t tool.BaseTool) bool {
	_, is := t.(interface{ isSlot() })
	return is
}

// Plan is the slots for a set of tools. It is made once for many runs.
type Plan struct {
	boundTools  []*catalog.Tool // bound for the run
	positions   map[string]int  // of their names
	sharedForms []toolForm      // of the slots that change; the last one serves the calls without a slot
	namesFixed  bool            // Eino keeps the names of listed tools
}

// NewPlan plans slots for tools. Others may join if it says so.
func NewPlan(tools *catalog.Set, joining bool) *Plan {
	p, rest := &Plan{positions: map[string]int{}, namesFixed: !rereadsToolNames()}, [formCount]int{}
	for t := range tools.All() {
		if tools.Len() > maxBoundTools && !p.namesFixed {
			f := formOf(t.Value)
			rest[f] = min(rest[f]+1, sharedSlots[f])
			continue
		}
		p.positions[t.Info.Name] = len(p.boundTools)
		p.boundTools = append(p.boundTools, t)
	}
	if joining && !p.namesFixed {
		rest = sharedSlots
	} else { // for answers
		rest[invokable] = max(rest[invokable], sharedSlots[streamable])
	}
	for f, n := range rest {
		p.sharedForms = append(p.sharedForms, slices.Repeat([]toolForm{toolForm(f)}, n)...)
	}
	p.sharedForms = append(p.sharedForms, invokable)
	return p
}

// Slots are those of one run.
type Slots struct {
	plan     *Plan
	host     Host
	depth    int // of Eino's address of the agent; what is deeper is in the run
	list     []slot
	bindings atomic.Pointer[bindings]

	mu            sync.Mutex
	originalNames map[string]string // what calls without a slot called, by id
}

// Begin makes the slots of a run, which begins in ctx.
func (p *Plan) NewSlots(ctx context.Context, run Host) *Slots {
	s := &Slots{plan: p, host: run, depth: len(compose.GetCurrentAddress(ctx)), list: make([]slot, len(p.boundTools)+len(p.sharedForms))}
	infos := make([]schema.ToolInfo, len(p.boundTools)) // in each run its own: a handler may change what it is shown
	for i := range s.list {
		if s.list[i] = (slot{slots: s, sharedIndex: i - len(p.boundTools)}); i < len(p.boundTools) {
			t := p.boundTools[i]
			infos[i] = schema.ToolInfo{Name: t.Info.Name, Desc: t.Info.Desc}
			s.list[i].boundTool, s.list[i].boundInfo = t, &infos[i]
		}
	}
	return s
}

// Tools lists the slots, those that change last.
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

// Without returns a list without the tools that slots are bound to: what Eino made of the slots. Those
// that change stay, and mark the place.
func (s *Slots) RemoveBound(infos []*schema.ToolInfo) []*schema.ToolInfo {
	isOurs := func(t *schema.ToolInfo) bool {
		if t == nil {
			return false
		}
		at, ok := s.plan.positions[t.Name]
		return ok && s.list[at].boundInfo == t
	}
	if !slices.ContainsFunc(infos, isOurs) {
		return infos
	}
	return slices.DeleteFunc(slices.Clone(infos), isOurs)
}

// slot is a tool that stands for a hidden one.
type slot struct {
	slots       *Slots
	sharedIndex int              // among those that change
	boundTool   *catalog.Tool    // that it is bound to for the run; nil: it changes
	boundInfo   *schema.ToolInfo // of this tool
}

func (s *slot) isSlot() {}

// unused describes unused slots.
var unusedInfos = sync.OnceValue(func() []schema.ToolInfo {
	n := 1
	for _, more := range sharedSlots {
		n += more
	}
	infos := make([]schema.ToolInfo, n)
	for i := range infos {
		infos[i] = schema.ToolInfo{Name: unusedPrefix + strconv.Itoa(i+1), Desc: unusedDesc}
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
func (s *slot) currentBinding(ctx context.Context) binding {
	if now := s.slots.current(ctx); s.sharedIndex < len(now.bySlot) {
		return now.bySlot[s.sharedIndex]
	}
	return binding{}
}

// Info names the tool that the slot stands for: Eino reads no more of it. It neither fails nor
// waits: its error would end the run.
func (s *slot) Info(ctx context.Context) (*schema.ToolInfo, error) {
	if s.boundInfo != nil {
		return s.boundInfo, nil
	}
	b := s.currentBinding(ctx)
	switch {
	case b.why == Hidden:
		return &schema.ToolInfo{Name: b.name, Desc: b.tool.Info.Desc}, nil
	case b.name != "" && (!s.slots.plan.namesFixed || s.sharedIndex < len(s.slots.plan.sharedForms)-1):
		return &schema.ToolInfo{Name: b.name, Desc: unusedDesc}, nil
	}
	info := unusedInfos()[s.sharedIndex]
	return &info, nil
}

// GetType is the type of the tool that the slot stands for.
func (s *slot) GetType() string {
	switch now := s.slots.bindings.Load(); {
	case s.boundTool != nil:
		if t, kind := s.slots.host.Lookup(message.ToolCall{Name: s.boundTool.Info.Name}); kind == Hidden {
			return t.Type()
		}
	case now != nil && s.sharedIndex < len(now.bySlot) && now.bySlot[s.sharedIndex].why == Hidden:
		return now.bySlot[s.sharedIndex].tool.Type()
	}
	return "Slot"
}

// IsCallbacksEnabled keeps Eino from wrapping the slot, as it would in every round: a call tells
// the callbacks.
func (s *slot) IsCallbacksEnabled() bool { return true }

// callOf returns what becomes of a call to the slot.
func (s *slot) invocation(ctx context.Context, args string) Invocation {
	c, run := Invocation{ctx: ctx, args: args, typ: s.GetType()}, s.slots.host
	name, why, t := s.target(ctx)
	if why != Hidden {
		c.answer = run.RejectionText(ctx, name, why)
		return c
	}
	answer, stop := run.CheckCall(ctx, name)
	if c.answer = answer; !stop {
		c = NewInvocation(ctx, t, args)
	}
	return c
}

// target is what a call of the slot is for.
func (s *slot) target(ctx context.Context) (name string, why CallTarget, t *catalog.Tool) {
	if s.boundTool != nil {
		name, run := s.boundTool.Info.Name, s.slots.host
		t, why = run.Lookup(message.ToolCall{Name: name})
		switch {
		case why != Hidden:
			why = Gone
		case IsEnhanced(t.Value) != IsEnhanced(s.boundTool.Value):
			why = Later
		}
		return name, why, t
	}
	if name, was := s.slots.originalName(compose.GetToolCallID(ctx)); was {
		return name, s.slots.rejectionOf(name), nil
	}
	b := s.currentBinding(ctx)
	if b.name == "" {
		return unusedInfos()[s.sharedIndex].Name, Gone, nil
	}
	return b.name, b.why, b.tool
}

// round is what the changing slots stand for, between a model's answer and the end of its calls. It
// is immutable once it is shown.
type bindings struct {
	bySlot        []binding
	isResumed     bool     // before any other: even names that Eino keeps are not read yet
	callsEnhanced bool     // call_tool is called for a tool that returns more than text
	names         []string // of the calls that need slots, as kept for a resume
	unboundNames  []string // names of calls that got no slot
}

var noBindings bindings

// current returns the round of calls that is under way. Before the first one, only the tools
// node of a resumed run asks within a node of the run's graph.
func (s *Slots) current(ctx context.Context) *bindings {
	if now := s.bindings.Load(); now != nil {
		return now
	}
	if len(compose.GetCurrentAddress(ctx)) <= s.depth {
		return &noBindings
	}
	s.bindings.CompareAndSwap(nil, s.restoreBindings(ctx))
	return s.bindings.Load()
}

// callsEnhanced reports whether call_tool returns more than text in this round. Where names are
// kept, each kind has its own.
func (s *Slots) needsEnhancedCallTool(ctx context.Context) bool {
	return !s.plan.namesFixed && s.current(ctx).callsEnhanced
}

// resume returns the round of a resumed run, by the calls that were interrupted, and the names
// in the checkpoint. One of Eino's own package has none.
func (s *Slots) restoreBindings(ctx context.Context) *bindings {
	calls := interruptedCalls(ctx)
	names, known := s.host.RestoreBindings(ctx, calls)
	b := s.newBindings()
	b.isResumed = true
	switch {
	case len(calls) > 0:
		s.bindCalls(ctx, b, calls, true)
	case known:
		s.bindNames(b, names)
	default:
		s.bindAliasCandidates(ctx, b)
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

func (s *Slots) newBindings() *bindings {
	return &bindings{bySlot: make([]binding, len(s.plan.sharedForms))}
}

// Open begins a model call: the slots of the last round are free.
func (s *Slots) FreeAll() { s.bindings.Store(&noBindings) }

// Meet gives slots to tools whose calls pass in a model's answer, before the agent sees them. It
// returns what to make of each call: the same, but for its name if it got none.
func (s *Slots) BindStreamed(ctx context.Context, calls []message.ToolCall) (edit func(message.ToolCall) message.ToolCall) {
	calls = slices.DeleteFunc(slices.Clone(calls), func(c message.ToolCall) bool { // the others reach their tools, or none
		_, kind := s.host.Lookup(c)
		return kind != Enhanced && (kind != Hidden && kind != Gone || s.hasBoundSlot(c.Name))
	})
	if len(calls) == 0 {
		return s.callEditor(&noBindings)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := *s.current(ctx)
	if len(b.bySlot) == 0 {
		b = *s.newBindings()
	}
	b.bySlot, b.names, b.unboundNames = slices.Clone(b.bySlot), slices.Clip(b.names), slices.Clip(b.unboundNames)
	s.bindCalls(ctx, &b, calls, false)
	s.bindings.Store(&b)
	return s.callEditor(&b)
}

// Bind gives slots to the tools that a model's answer calls: those that have one already keep it.
// It returns the names that a resume needs, and what to make of each call, as Meet does.
func (s *Slots) Bind(ctx context.Context, calls []message.ToolCall) (names []string, edit func(message.ToolCall) message.ToolCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.newBindings()
	for at, was := range s.current(ctx).bySlot {
		if at < len(b.bySlot)-1 && slices.ContainsFunc(calls, func(c message.ToolCall) bool { return c.Name == was.name }) {
			b.bySlot[at] = was
		}
	}
	s.bindCalls(ctx, b, calls, true)
	s.bindings.Store(b)
	return b.names, s.callEditor(b)
}

// editor renames the calls that got no slot, and remembers what they called.
func (s *Slots) callEditor(b *bindings) func(message.ToolCall) message.ToolCall {
	return func(c message.ToolCall) message.ToolCall {
		if len(b.unboundNames) == 0 && !(s.plan.namesFixed && b.callsEnhanced) {
			return c
		}
		was := c.Name
		switch _, kind := s.host.Lookup(c); {
		case s.plan.namesFixed && kind == Enhanced:
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
		if s.originalNames == nil {
			s.originalNames = map[string]string{}
		}
		if _, known := s.originalNames[c.ID]; !known {
			s.originalNames[c.ID] = was
		}
		return c
	}
}

// trueName returns what a call that got no slot called.
func (s *Slots) originalName(id string) (name string, was bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, was = s.originalNames[id]
	return name, was && id != ""
}

// Named returns messages in which calls that had to be renamed where names are kept have the names
// that the model gave them.
func RestoreNames[M adk.MessageType](s *Slots, msgs []M) []M {
	s.mu.Lock()
	none := !s.plan.namesFixed || len(s.originalNames) == 0
	s.mu.Unlock()
	if none {
		return msgs
	}
	return message.Map(msgs, func(m M) M {
		return message.RenameTools(m, func(id, name string) string {
			if was, ok := s.originalName(id); ok && IsUnusedName(name) {
				return was
			}
			return name
		})
	})
}

// bindAll gives each hidden tool that is called a slot. If all calls are known, a call of nothing
// that is known may be one of any tool.
func (s *Slots) bindCalls(ctx context.Context, b *bindings, calls []message.ToolCall, all bool) {
	names, unknown := []string(nil), false
	for _, c := range calls {
		if IsUnusedName(c.Name) {
			continue
		}
		switch _, kind := s.host.Lookup(c); kind {
		case Other:
		case Unknown:
			unknown = true
		case Enhanced:
			names = append(names, spareCallTool)
		default:
			names = append(names, c.Name)
		}
	}
	if s.bindNames(b, names); unknown && all {
		s.bindAliasCandidates(ctx, b)
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
		case name == spareCallTool:
			b.callsEnhanced = true
		case !s.bindName(b, name):
			b.unboundNames = append(b.unboundNames, name)
		}
	}
	if len(b.unboundNames) > 0 {
		b.bySlot[len(b.bySlot)-1] = binding{name: b.unboundNames[0], why: s.rejectionOf(b.unboundNames[0])}
	}
}

// whyNot says why the call of a name without a slot reaches no tool.
func (s *Slots) rejectionOf(name string) CallTarget {
	switch _, kind := s.host.Lookup(message.ToolCall{Name: name}); {
	case kind != Hidden:
		return Gone
	case s.plan.namesFixed:
		return Later
	}
	return TooMany
}

// bindRest gives the free slots to other tools, those that the model sees first: the model may
// have called one of them by an alias, which only Eino knows.
func (s *Slots) bindAliasCandidates(ctx context.Context, b *bindings) {
	full := 0
	for name := range s.host.AliasCandidates(ctx) {
		if full > len(s.plan.sharedForms) || len(b.names) >= len(s.plan.sharedForms) {
			return
		}
		if slices.Contains(b.names, name) || s.hasBoundSlot(name) {
			continue
		}
		if !s.bindName(b, name) {
			full++
			continue
		}
		b.names = append(b.names, name)
	}
}

// isBound reports whether a slot is bound to the tool of a name for the whole run, in its form.
func (s *Slots) hasBoundSlot(name string) bool {
	at, ok := s.plan.positions[name]
	if !ok {
		return false
	}
	t, kind := s.host.Lookup(message.ToolCall{Name: name})
	return kind != Hidden || IsEnhanced(t.Value) == IsEnhanced(s.plan.boundTools[at].Value)
}

// bind gives the tool of a name a free slot, if it has none.
func (s *Slots) bindName(b *bindings, name string) bool {
	if s.hasBoundSlot(name) || slices.ContainsFunc(b.bySlot, func(x binding) bool { return x.name == name }) {
		return true
	}
	if s.plan.namesFixed && !b.isResumed {
		return false
	}
	t, kind := s.host.Lookup(message.ToolCall{Name: name})
	f := invokable
	if kind == Hidden {
		f = formOf(t.Value)
	} else {
		kind = Gone
	}
	for _, f := range f.fallbacks() {
		for at, own := range s.plan.sharedForms[:len(s.plan.sharedForms)-1] {
			if own == f && b.bySlot[at].name == "" {
				b.bySlot[at] = binding{name, kind, t}
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
	ctx, t := context.Background(), &renamingTool{}
	node, err := compose.NewToolNode(ctx, &compose.ToolsNodeConfig{Tools: []tool.BaseTool{t}})
	if err != nil {
		return false, err
	}
	list := compose.WithToolList(t)
	for _, t.name = range []string{unusedPrefix + "a", unusedPrefix + "b"} {
		call := schema.AssistantMessage("", []schema.ToolCall{{ID: "1", Function: schema.FunctionCall{Name: t.name, Arguments: "{}"}}})
		if _, err := node.Invoke(ctx, call, list); err != nil {
			return false, err
		}
	}
	return true, nil
}

// renamed is a tool that changes its name.
type renamingTool struct{ name string }

func (r *renamingTool) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: r.name, Desc: unusedDesc}, nil
}

func (r *renamingTool) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return "", nil
}

// IsCallbacksEnabled keeps Eino from telling callbacks of the trial.
func (r *renamingTool) IsCallbacksEnabled() bool { return true }
