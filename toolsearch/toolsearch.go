// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The constructors, and the hooks with their work before a model call: the tools that it shows, what users'
// messages ask for, and what the provider ties an answer to.

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
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
	ctx, r, err := begin(ctx, m.catalogs, rc)
	if r != nil {
		newHooks[M](r)
	}
	return ctx, err
}

// BeforeModelRewriteState decides which tools the model sees in this call.
func (m *middleware[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state != nil {
		emitNotHidden(ctx, m.settings, state.ToolInfos)
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
	restarted := func(ctx context.Context) { h.run.emit(ctx, einolean.Event{Kind: einolean.KindSessionRestarted}) }
	inner = nothing.Model(h.request.Keeper(restarted).Model(inner))
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
	h.run.noteShown(ctx, state.ToolInfos)
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
		h.meets = func(n int, text string) string {
			return h.forUsers.meet(r, r.heard(), &h.transcript.Facts, n, text)
		}
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
	} else if !follows {
		r.noteLater(call.ToolInfos, was.Visible)
	}
	if r.refresh(ctx, &r.Record) {
		t.Forget()
		h.forUsers = forUsers{}
	}
	c := r.catalog()
	r.AskAgain()
	was = r.decideHiding(ctx, was)
	if h.all = was.All; !h.all {
		c.Build() // while the model writes its first search
	}
	if r.rules.Hosted {
		call.Messages = wire.Each(call.Messages, wire.Unpack)
	}
	h.listen(ctx, call.Messages)
	in := native.Call{
		Rules: r.rules, Tools: c.Set, Pins: c.pins, Search: r.protocol.names, Others: r.own, Gone: h.isGone,
		Record: was, Follows: follows, Facts: &t.Facts, Prefetched: h.forUsers.names, Stale: r.source.stale,
		Infos: call.ToolInfos, Deferred: call.DeferredToolInfos,
	}
	out := h.takeTurn(ctx, c, in)
	show := out.Record.Visible
	if t.Facts.Native {
		h.rewrite(ctx, c, t.Write(call.Messages), show)
	}
	if r.rules.DeferAll {
		in.May = r.may(ctx, toOffer)
	}
	call.ToolInfos, call.DeferredToolInfos = native.Lists(in, show)
	list := ""
	if h.all {
		t.PutList("")
	} else {
		list = t.Tell(&h.told, r.tells(ctx, was.Visible))
	}
	call.Messages = t.Write(call.Messages)
	h.request = t.Request(list, show, call.ToolInfos, call.Messages)
	if r.cfg.OnEvent != nil {
		h.tell(ctx, c, was, out)
	}
	t.Facts.Started = true
	return nil
}

// decideHiding decides whether the run hides its tools, from what the last model call showed. As long as
// servers are missing, it does; and once it does, it goes on. A run that has shown all hides them when
// there are more than HideAbove says.
func (r *run) decideHiding(ctx context.Context, was turn.Record) turn.Record {
	most := int64(r.cfg.HideAbove)
	if most <= 0 || was.Began && !was.All {
		return was
	}
	c := r.catalog()
	all := c.hiddenTokens(r.may(ctx, toOffer), most) <= most
	if !was.Began && c.changes && len(r.source.missing()) > 0 {
		all = false
	}
	if was.All && !all {
		was.Visible, was.Idle = nil, nil
	}
	was.All = all
	r.Update(ctx, func(next *turn.Record) { next.All, next.Visible, next.Idle = was.All, was.Visible, was.Idle })
	return was
}

// listen reads the messages of a model call, and puts offers after those of users.
func (h *hooks[M]) listen(ctx context.Context, msgs []M) {
	r, t := h.run, &h.transcript
	if t.Read(msgs) {
		h.forUsers = forUsers{}
	}
	if r.cfg.Prefetch > 0 && !h.all {
		h.forUsers.wish(ctx, r.search(ctx, toFind), t.Asks(), r.cfg.Prefetch)
	}
	t.Hear(h.known, h.meets)
	t.PutOffers()
}

// tell reports what a model call shows.
func (h *hooks[M]) tell(ctx context.Context, c *catalog, last turn.Record, out turn.Turn) {
	h.listed = c.emitCatalog(ctx, &h.run.Record, h.listed)
	if !last.All {
		c.emitVisible(ctx, last, out)
	}
	if e := h.forUsers.last; e != nil && h.forUsers.calls == h.transcript.Facts.ModelCalls && h.run.IsNew(ctx, "prefetched "+hidden.Digest(e.Search.Query)) {
		c.emit(ctx, *e)
	}
}

// takeTurn decides what the call shows, and keeps the record of it.
func (h *hooks[M]) takeTurn(ctx context.Context, c *catalog, in native.Call) turn.Turn {
	// Without a Filter and limits, the same record and conversation show the same.
	r, last := h.run, &h.last
	same := in.Follows && last.by == c && last.said == in.Facts.Version && slices.Equal(last.Record.Visible, in.Record.Visible) &&
		r.Ask == nil && r.showing == turn.Limits{}
	if !same {
		*last = lastTurn{turn.Decide(h.turnOf(ctx, c, in)), c, in.Facts.Version}
	}
	r.Show(ctx, last.Record)
	r.Answered()
	return last.Turn
}

// turnOf is what decides which hidden tools a model call shows.
func (h *hooks[M]) turnOf(ctx context.Context, c *catalog, in native.Call) turn.Input {
	t := turn.Input{
		Record: in.Record, Facts: in.Facts, Pins: c.pins, Loads: !c.protocol.fixedList, Limits: c.showing,
		Has: c.Has, May: func(name string) bool { return h.run.allows(ctx, c.Lookup(name), toShow) },
	}
	if t.MaxTools > 0 {
		t.Own = len(in.Own())
	}
	if in.Record.All {
		may := h.run.may(ctx, toOffer)
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
	offered := r.may(ctx, toOffer)
	next := native.Rewrite(msgs, native.History{
		Rules: rules, Tools: c.Set, Shown: show, Findable: r.may(ctx, toFind),
		Declared: func(name string) bool {
			e := c.Lookup(name)
			return e == nil && r.own[name] != nil || e != nil && (slices.Contains(show, name) || rules.DeferAll && offered(e))
		},
	})
	if t.Replace(next) {
		h.forUsers = forUsers{wishes: h.forUsers.wishes}
		t.Hear(h.known, h.meets)
	}
	if rules.NoteOnEmpty && t.Facts.EmptyCall != nil {
		t.PutNote(found.Advice(ctx, r.search(ctx, toFind), lenient.Decode(t.Facts.EmptyCall.Args)))
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

// maxPrefetchMessages bounds, with maxPrefetched, what is loaded in a conversation, counted from its first
// message: a longer conversation loads the same tools first.
const maxPrefetchMessages = 64

// wish is what a user's message asks for.
type wish struct {
	tools []found.Tool // best first
	took  time.Duration
}

// forUsers is what the messages of users ask for, and what they loaded.
type forUsers struct {
	wishes []wish // of the first messages
	names  turn.Names
	last   *einolean.Event // of the last message
	calls  int             // model calls before it
}

// wish searches for what messages ask for, each once.
func (v *forUsers) wish(ctx context.Context, s found.Search, messages iter.Seq[string], most int) {
	n := 0
	for text := range messages {
		if n++; n > maxPrefetchMessages {
			return
		}
		if n > len(v.wishes) {
			began := time.Now()
			tools := s.Likely(ctx, text, most)
			v.wishes = append(v.wishes, wish{tools, time.Since(began)})
		}
	}
}

// meet notes the tools that a message asks for as loaded, and returns the offer of them where they are not.
func (v *forUsers) meet(r *run, known turn.Run, facts *turn.Facts, n int, text string) (offer string) {
	if n >= len(v.wishes) {
		return ""
	}
	w := v.wishes[n]
	v.last, v.calls = nil, facts.ModelCalls
	var chosen found.Result
	var described []say.Described
	left, offers := maxOfferBytes, r.protocol.offers
	for _, x := range w.tools {
		name := x.Info.Name
		if _, used := facts.Last[name]; used && offers || len(v.names) == maxPrefetched && !v.names[name] {
			continue
		}
		if offers {
			d := say.Sign(x.Tool)
			if !r.signs {
				d, _ = say.Describe(x.Tool)
			}
			if left -= d.Size(); left < 0 {
				break
			}
			described = append(described, d)
		}
		chosen.Found = append(chosen.Found, x)
		v.names.Add(name)
		facts.Use(name, known)
	}
	names, c := chosen.Names(), r.catalog()
	if len(names) == 0 {
		return ""
	}
	if offers {
		hint := "offer"
		if r.signs {
			hint = "offer-code"
		}
		offer = say.Offer(described, say.Text(hint, say.Data{}))
	}
	if r.cfg.OnEvent != nil {
		v.last = &einolean.Event{
			Kind:   einolean.KindToolsPrefetched,
			Tools:  c.changeOf(names, nil),
			Search: &einolean.Search{Query: found.Query(text), Index: c.IndexName(), Took: w.took, Hits: chosen.Hits()},
		}
	}
	return offer
}

// maxOfferBytes bounds the tools in an offer, which nobody asked for.
const maxOfferBytes = 8 << 10
