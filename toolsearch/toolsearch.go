// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The constructors, how an instance joins an agent, and the hooks with their work before a model call:
// the tools that it shows, and what the provider ties an answer to.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/adkrun"
	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/nothing"
	"github.com/einolean/einolean/internal/virtual"
	"github.com/einolean/einolean/toolsearch/internal/found"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/native"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/internal/slots"
	"github.com/einolean/einolean/toolsearch/internal/told"
	"github.com/einolean/einolean/toolsearch/internal/transcript"
	"github.com/einolean/einolean/toolsearch/internal/turn"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

// New returns the middleware for agents on *schema.Message. See NewTyped.
func New(ctx context.Context, config *Config) (adk.ChatModelAgentMiddleware, error) {
	return NewTyped[*schema.Message](ctx, config)
}

// NewTyped returns the middleware for agents on either message type. Put it into Handlers
// of the agent's configuration. One instance serves any number of agents and concurrent
// runs. It calls Info of each dynamic tool once, and never again.
//
// The error names every mistake in config at once. It wraps ErrNativeUnsupported if
// config.Model has no tool search of its own.
func NewTyped[M adk.MessageType](ctx context.Context, config *Config) (adk.TypedChatModelAgentMiddleware[M], error) {
	s, err := newSettings(ctx, config, message.IsAgentic[M]())
	if err != nil {
		return nil, err
	}
	all := newCatalogs(s)
	if _, err := all.find(ctx, parts{}); err != nil {
		return nil, err
	}
	return adkrun.New(&middleware[M]{catalogs: all}), nil
}

// middleware is safe for concurrent use: the state of a run is in its context.
type middleware[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	*catalogs
}

// Begin adds the hidden tools, and the search tools, to those that the agent can run.
func (m *middleware[M]) Begin(ctx context.Context, rc *adkrun.Run) (context.Context, error) {
	if rc == nil {
		return ctx, nil
	}
	if m.cfg.DeferMarkedTools {
		ctx = context.WithValue(ctx, m.settings, &atomic.Bool{}) // for emitNotHidden
	}
	own := ownInfos(ctx, rc.Tools)
	r, err := join(ctx, m.catalogs, rc.Tools, own)
	if err != nil || r == nil {
		return ctx, err
	}
	ctx = context.WithValue(ctx, runKey{}, r)
	r.direct = rc.ReturnDirectly
	newHooks[M](r)
	ctx = virtual.WithTools(ctx, inPrograms{r})
	if r.catalog().changes {
		r.source.refresh(ctx, r)
	}
	r.slots = r.catalog().plan().Begin(ctx, slotRun{r})
	rc.Tools = listTools(r, rc.Tools, own, m.settings)
	if r.size = len(rc.Tools) - r.catalog().plan().Bound(); r.signs {
		r.size-- // no model is shown program_output
	}
	if r.rules.SearchTool {
		rc.ToolSearchTool, _ = r.start.searchTools(false)[0].Info(ctx) // which never fails
	}
	return ctx, nil
}

// errTwo is the error of a second instance in an agent.
var errTwo = errors.New("toolsearch: the agent has two instances of this middleware: give one of them all tools (DynamicTools, or a Source made by toolset.Multi) and one Filter")

// join adds the instance to an agent with these tools of its own: it returns the run; none if there is
// nothing to do.
func join(ctx context.Context, all *catalogs, tools []tool.BaseTool, own []*schema.ToolInfo) (*run, error) {
	s, old := all.settings, catalogIn(tools)
	if old != nil && old.settings == s {
		return nil, nil // the same instance twice hides its tools once
	}
	owned, err := pick(s, tools, own)
	if err != nil {
		return nil, err
	}
	start, err := all.find(ctx, parts{owned: owned})
	if err != nil || start.Len() == 0 && !start.changes {
		return nil, err
	}
	if old != nil {
		return nil, errTwo
	}
	if err := s.unsupported; err != nil {
		return nil, fmt.Errorf("toolsearch: %w", err)
	}
	if err := clashes(start, tools, own, s); err != nil {
		return nil, err
	}
	r := newRun(start)
	r.Begin(ctx)
	for _, info := range own {
		if info != nil {
			r.own[info.Name] = info
		}
	}
	r.signs = virtual.ProgramsOf(ctx) != nil
	return r, nil
}

// catalogIn finds the catalogue that an earlier instance made for this run.
func catalogIn(tools []tool.BaseTool) *catalog {
	for _, t := range tools {
		if c, _ := madeFor(t); c != nil {
			return c
		}
	}
	return nil
}

// madeFor reports whether this package put a tool into the list of an agent, and if it is a search
// tool, for which catalogue.
func madeFor(t tool.BaseTool) (c *catalog, isOurs bool) {
	m, isOurs := t.(interface{ madeFor() *catalog })
	if isOurs {
		c = m.madeFor()
	}
	return c, isOurs || slots.Is(t)
}

// ownInfos are the infos of the tools in a list; nil for those of this package, and for a tool
// whose Info fails, which Eino reports.
func ownInfos(ctx context.Context, tools []tool.BaseTool) []*schema.ToolInfo {
	own := make([]*schema.ToolInfo, len(tools))
	for i, t := range tools {
		if _, isOurs := madeFor(t); !isOurs {
			own[i], _ = hidden.ReadInfo(ctx, t)
		}
	}
	return own
}

// pick makes a set of those of the agent's own tools that an instance hides; nil if it hides none.
func pick(s *settings, tools []tool.BaseTool, own []*schema.ToolInfo) (*hidden.Set, error) {
	if len(s.cfg.SearchableTools) == 0 && !s.cfg.DeferMarkedTools {
		return nil, nil
	}
	var entries []*hidden.Tool
	unknown := slices.DeleteFunc(slices.Clone(s.cfg.SearchableTools), func(name string) bool { return strings.HasSuffix(name, "*") })
	for i, info := range own {
		if info == nil {
			continue
		}
		unknown = slices.DeleteFunc(unknown, func(name string) bool { return name == info.Name })
		if !s.hides(info) {
			continue
		}
		e, err := hidden.NewTool(tools[i], info)
		if err != nil {
			return nil, fmt.Errorf("toolsearch: hiding the agent's own tool: %w", err)
		}
		entries = append(entries, e)
	}
	if len(unknown) > 0 {
		for i, name := range unknown {
			unknown[i] = strconv.Quote(name)
		}
		return nil, fieldError("SearchableTools", "the agent does not have the tools %s (handlers that add tools must come before this one)", strings.Join(unknown, ", "))
	}
	return hidden.New(entries), nil
}

// clashes refuses names that two tools would share.
func clashes(c *catalog, tools []tool.BaseTool, own []*schema.ToolInfo, by *settings) error {
	wrong := slices.Clone(c.duplicates)
	for i, info := range own {
		if info == nil || by.hides(info) {
			continue
		}
		if e := c.Lookup(info.Name); e != nil {
			wrong.add("DynamicTools", "dynamic tool %q (%T) has the name of the agent's own tool %q (%T): %s", e.Info.Name, e.Value, info.Name, tools[i], renaming(tools[i]))
		}
		if c.usesMetaName(info.Name) {
			wrong.add("", "the agent's own tool %q (%T) has the name of the search tool %q", info.Name, tools[i], info.Name)
		}
	}
	return wrong.err()
}

// renaming says how to give two tools different names. The tool that package reduction adds
// knows the field that sets its name.
func renaming(own tool.BaseTool) string {
	if n, ok := own.(interface{ NamedBy() string }); ok {
		return "set " + n.NamedBy() + " to a name that no other tool has"
	}
	return "give one of them another name"
}

// listTools returns the agent's list without the tools that it gave up, and with the search
// tools and the slots. With provider-side search the search tool is not shown, but a model that copies an older
// call of it from the history still gets an answer.
func listTools(r *run, tools []tool.BaseTool, own []*schema.ToolInfo, by *settings) []tool.BaseTool {
	var next []tool.BaseTool
	for i, t := range tools {
		if own[i] == nil || !by.hides(own[i]) {
			next = append(next, t)
		}
	}
	for _, t := range r.start.searchTools(r.signs) {
		if r.rules.Native && r.rules.ClientRuns {
			next = append(next, nativeTool{t})
		} else {
			next = append(next, t)
		}
	}
	if r.neverLoads() {
		next = append(next, r.slots.Calling(newCallTool(r.start))...)
	}
	return append(next, r.slots.Tools()...)
}

// BeforeModelRewriteState decides which tools the model sees in this call.
func (m *middleware[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state != nil && m.cfg.DeferMarkedTools {
		emitNotHidden(ctx, m.settings, runOf(ctx), state.ToolInfos)
	}
	h := m.hooks(ctx)
	if state == nil || h == nil || state == h.done && h.transcript.Is(state.Messages) { // the instance is in the agent twice
		return ctx, state, nil
	}
	if virtual.Now(ctx) {
		h.run.AskAgain()
		return ctx, state, nil
	}
	next := *state
	if err := h.prepare(ctx, &next); err != nil {
		return ctx, state, err
	}
	h.done = &next
	h.run.Save(ctx)
	return ctx, &next, nil
}

// WrapModel keeps what a provider ties an answer to in step with what was shown, and has the model
// read of an empty result that it is.
func (m *middleware[M]) WrapModel(ctx context.Context, inner model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	h := m.led(ctx)
	if h == nil {
		return nothing.Model(inner), nil
	}
	if h.all && h.run.rules.SearchTool {
		inner = native.Unsearched(inner)
	}
	inner = nothing.Model(h.request.Keeper(h.restarted).Model(inner))
	if h.run.slots != nil {
		inner = slots.Watch(h.run.slots, inner)
	}
	return inner, nil
}

// WrapStreamableToolCall keeps a tool that streams nothing from ending the run.
func (m *middleware[M]) WrapStreamableToolCall(_ context.Context, endpoint adk.StreamableToolCallEndpoint, _ *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	return nothing.Streamed(endpoint), nil
}

// WrapEnhancedStreamableToolCall does the same for a tool that streams parts.
func (m *middleware[M]) WrapEnhancedStreamableToolCall(_ context.Context, endpoint adk.EnhancedStreamableToolCallEndpoint, _ *adk.ToolContext) (adk.EnhancedStreamableToolCallEndpoint, error) {
	return nothing.Streamed(endpoint), nil
}

// AfterModelRewriteState notes which tools other handlers showed, and points the slots at
// the tools that the model called. It also keeps checkpoints small and encodable: until the
// next model call, deferred tools are not in the state, and what a provider's search left
// in messages is text.
func (m *middleware[M]) AfterModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	h := m.hooks(ctx)
	if state == nil || h == nil {
		return ctx, state, nil
	}
	h.done = nil
	h.run.noteShownByOthers(ctx, state.ToolInfos)
	msgs, deferAll := h.bindCalls(ctx, state.Messages), h.run.rules.DeferAll
	h.run.Save(ctx)
	if !deferAll && wire.SameList(msgs, state.Messages) {
		return ctx, state, nil
	}
	next := *state
	next.Messages = msgs
	if deferAll {
		next.DeferredToolInfos = native.Without(next.DeferredToolInfos, h.run.catalog().Set)
		next.Messages = wire.Each(msgs, wire.Pack)
	}
	return ctx, &next, nil
}

// hooks returns the hooks of the run; nil if there is nothing to hide. Without a preceding BeforeAgent, as when hooks are called
// by hand, it makes a new run.
func (m *middleware[M]) hooks(ctx context.Context) *hooks[M] {
	if h := m.led(ctx); h != nil {
		return h
	}
	g, err := m.find(ctx, parts{})
	if err != nil || g.Len() == 0 && !g.changes {
		return nil
	}
	return newHooks[M](newRun(g))
}

// led returns the hooks of the run in a context, if it is one of this instance.
func (m *middleware[M]) led(ctx context.Context) *hooks[M] {
	r := runOf(ctx)
	if r == nil || r.settings != m.settings {
		return nil
	}
	h, _ := r.hooks.(*hooks[M])
	return h
}

// hooks is the state that the hooks of one run keep between model calls. Eino calls them one
// after another.
type hooks[M adk.MessageType] struct {
	run        *run
	isGone     func(name string) bool // a Source had the tool
	known      func() turn.Run
	meets      func(n int, text string) string // with Prefetch
	transcript transcript.Transcript[M]
	forUsers   forUsers
	told       told.Told
	all        bool // the run hides nothing
	last       lastTurn
	listed     []string                         // the tools of the catalogue as an event told it last
	request    transcript.Request[M]            // with the last model call
	done       *adk.TypedChatModelAgentState[M] // what the hook before the model call returned
}

// lastTurn is what was decided last, and what it was made from.
type lastTurn struct {
	turn.Turn
	by   *catalog
	said int // the version of the facts
}

func newHooks[M adk.MessageType](r *run) *hooks[M] {
	h := &hooks[M]{run: r, isGone: r.isGone, known: r.heard}
	if r.cfg.Prefetch > 0 {
		h.meets = h.meet
	}
	r.hooks = h
	return h
}

// prepare decides the content of a model call. It fails only on a misconfiguration.
func (h *hooks[M]) prepare(ctx context.Context, call *adk.TypedChatModelAgentState[M]) error {
	r, t := h.run, &h.transcript
	if r.slots != nil {
		r.slots.Open()
		call.ToolInfos, call.Messages = r.slots.Without(call.ToolInfos), slots.Named(r.slots, call.Messages)
	}
	was, follows := r.Now(ctx)
	if !was.Began {
		if err := r.checkLater(call.ToolInfos); err != nil {
			return err
		}
	}
	if r.cfg.Source != nil && r.source.refresh(ctx, r) {
		t.Forget()
		h.forUsers = forUsers{}
	}
	c := r.catalog()
	r.AskAgain()
	if most := int64(r.cfg.HideAbove); most > 0 && !was.Began {
		was.All = c.hiddenTokens(h.offered(ctx), most) <= most
		r.Update(ctx, func(next *turn.Record) { next.All = was.All })
	}
	if h.all = was.All; !h.all {
		c.Build() // while the model writes its first search
	}
	if r.rules.Hosted {
		call.Messages = wire.Each(call.Messages, wire.Unpack)
	}
	h.listen(ctx, call.Messages)
	in := native.Call{
		Rules: r.rules, Tools: c.Set, Pins: c.pins, Search: r.metaNames, Others: r.own, Gone: h.isGone,
		Record: was, Follows: follows, Facts: &t.Facts, Prefetched: h.forUsers.names, Stale: r.source.stale,
		Infos: call.ToolInfos, Deferred: call.DeferredToolInfos,
	}
	out := h.takeTurn(ctx, c, in)
	show := out.Record.Visible
	if t.Facts.Native {
		h.rewrite(ctx, c, t.Write(call.Messages), show)
	}
	if r.rules.DeferAll {
		in.May = h.offered(ctx)
	}
	call.ToolInfos, call.DeferredToolInfos = native.Lists(in, show)
	list := ""
	if h.all {
		t.PutList("")
	} else {
		list = t.Tell(&h.told, h.tells(ctx, c, was.Visible), c.changes)
	}
	call.Messages = t.Write(call.Messages)
	h.request = t.Request(list, show, call.ToolInfos, call.Messages)
	if r.cfg.OnEvent != nil {
		h.tell(ctx, c, was, out)
	}
	t.Facts.Started = true
	return nil
}

// listen reads the messages of a model call, and puts offers after those of users.
func (h *hooks[M]) listen(ctx context.Context, msgs []M) {
	r, t := h.run, &h.transcript
	if t.Read(msgs) {
		h.forUsers = forUsers{}
	}
	if r.cfg.Prefetch > 0 && !h.all {
		h.forUsers.wish(ctx, r.search(ctx, toLoad...), t.Asks(), r.cfg.Prefetch)
	}
	t.Hear(h.known, h.meets)
	if r.cfg.Prefetch > 0 || t.HasOffers() {
		t.PutOffers()
	}
}

// meet notes what a user's message asks for.
func (h *hooks[M]) meet(n int, text string) string {
	return h.forUsers.meet(h.run, h.known(), &h.transcript.Facts, n, text)
}

// restarted reports that an answer which a provider ties to its request is released.
func (h *hooks[M]) restarted(ctx context.Context) {
	h.run.emit(ctx, einolean.Event{Kind: einolean.KindSessionRestarted})
}

// tell reports what a model call shows.
func (h *hooks[M]) tell(ctx context.Context, c *catalog, last turn.Record, out turn.Turn) {
	h.listed = emitCatalog(ctx, h.run, h.listed)
	if !last.All {
		c.emitVisible(ctx, last, out)
	}
	if e := h.forUsers.last; e != nil && h.forUsers.calls == h.transcript.Facts.ModelCalls && h.run.IsNew(ctx, "prefetched "+hidden.Digest(e.Search.Query)) {
		c.emit(ctx, *e)
	}
}

// offered asks the Filter which tools a model call may show or defer that nobody searched for.
func (h *hooks[M]) offered(ctx context.Context) func(*hidden.Tool) bool {
	return func(e *hidden.Tool) bool {
		return h.run.allows(ctx, FilterRequest{Tool: e.Info}, PhaseSearch, PhaseLoad, PhaseActive)
	}
}

// tells is what the call can be told of hidden tools. saw are those that the last one showed.
func (h *hooks[M]) tells(ctx context.Context, c *catalog, saw []string) told.Call {
	call := told.Call{Names: c.names, Has: c.has, Saw: saw, Limit: c.cfg.CatalogLimit, Calls: c.neverLoads()}
	if c.filtered {
		call.Names = func() []string { return h.run.listable(ctx) }
	} else {
		call.Tools, call.Whole = c, c.reminder
	}
	if c.cfg.Backend != nil {
		call.Store = func(path, text string) error { return h.run.store(ctx, path, text) }
	}
	return call
}

// takeTurn decides what the call shows, and keeps the record of it.
func (h *hooks[M]) takeTurn(ctx context.Context, c *catalog, in native.Call) turn.Turn {
	// Without Filter, UnloadAfter and MaxTools, the same record and conversation show the same.
	r, last := h.run, &h.last
	same := in.Follows && last.by == c && last.said == in.Facts.Version && slices.Equal(last.Record.Visible, in.Record.Visible) &&
		r.cfg.Filter == nil && r.cfg.UnloadAfter == 0 && r.cfg.MaxTools == 0
	if !same {
		*last = lastTurn{turn.Decide(h.turnOf(ctx, c, in)), c, in.Facts.Version}
	}
	r.Show(ctx, last.Record)
	if r.rules.NewOnly {
		r.Answered()
	}
	return last.Turn
}

// turnOf is what decides which hidden tools a model call shows.
func (h *hooks[M]) turnOf(ctx context.Context, c *catalog, in native.Call) turn.Input {
	t := turn.Input{
		Record: in.Record, Facts: in.Facts, Pins: c.pins, Loads: !c.neverLoads(), UnloadAfter: c.cfg.UnloadAfter,
		Has: c.has,
		May: func(name string) bool {
			return h.run.allows(ctx, FilterRequest{Tool: c.Lookup(name).Info}, PhaseLoad, PhaseActive)
		},
	}
	if most := c.cfg.MaxTools; most > 0 && !c.rules.Native {
		t.MaxTools, t.Own = most, len(in.Own())
	}
	if in.Record.All {
		may := h.offered(ctx)
		for e := range c.All() {
			if may(e) {
				t.All = append(t.All, e.Info.Name)
			}
		}
	}
	return t
}

// rewrite brings the messages into a form that the run's provider accepts.
func (h *hooks[M]) rewrite(ctx context.Context, c *catalog, msgs []M, show []string) {
	r, t, rules := h.run, &h.transcript, h.run.rules
	if h.all {
		rules = native.Plain // the provider does not learn of a search
	}
	next := native.Rewrite(msgs, native.History{
		Rules: rules, Tools: c.Set, Shown: show, Found: say.Matches,
		Again: func(names []string) string { return say.Text("already-loaded", say.Data{Words: names}) },
		Findable: func(e *hidden.Tool) bool {
			return r.allows(ctx, FilterRequest{Tool: e.Info}, PhaseSearch, PhaseLoad)
		},
		Declared: func(name string) bool {
			e := c.Lookup(name)
			return e == nil && r.own[name] != nil || e != nil && (slices.Contains(show, name) || rules.DeferAll && h.offered(ctx)(e))
		},
	})
	if t.Replace(next) {
		h.forUsers.again()
		t.Hear(h.known, h.meets)
	}
	if rules.NoteOnEmpty && t.Facts.EmptyCall != nil {
		t.PutNote(found.Advice(ctx, r.search(ctx, toLoad...), lenient.Decode(t.Facts.EmptyCall.Args)))
	}
}

// bindCalls assigns slots to the tools that the last message calls.
func (h *hooks[M]) bindCalls(ctx context.Context, msgs []M) []M {
	if h.run.slots == nil || len(msgs) == 0 {
		return msgs
	}
	last := len(msgs) - 1
	names, edit := h.run.slots.Bind(ctx, wire.ViewOf(msgs[last]).Calls)
	if now, _ := h.run.Now(ctx); !slices.Equal(now.Bound, names) {
		h.run.Update(ctx, func(r *turn.Record) { r.Bound = names })
	}
	edited := wire.Edit(msgs[last], edit)
	if edited == msgs[last] {
		return msgs
	}
	next := slices.Clone(msgs)
	next[last] = edited
	return next
}
