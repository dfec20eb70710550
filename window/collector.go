// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package window

// This file keeps conversations, assigns events and calls to them, and bounds their
// memory.

import (
	"cmp"
	"context"
	"hash/maphash"
	"io"
	"iter"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/safe"
)

// Collector records what is in the window of each model call. It serves both message
// types and any number of agents, and is safe for concurrent use.
type Collector struct {
	cfg  Config
	seed maphash.Seed
	log  logger

	mu    sync.Mutex
	convs map[string]*conversation
	made  int             // names made up for conversations
	kept  int64           // approximate bytes of everything kept
	queue []*recorded     // all calls, oldest first, until their parts are dropped
	texts int             // queue[:texts] have no texts any more
	idle  []*conversation // by their newest call, oldest first
}

// New returns a collector.
func New(c Config) *Collector {
	if c.MaxBytes <= 0 {
		c.MaxBytes = defaultMaxBytes
	}
	return &Collector{cfg: c, seed: maphash.MakeSeed(), convs: map[string]*conversation{}}
}

// logger writes lines in their order. The collector holds no lock while it writes.
type logger struct {
	wait []line // not written yet; the collector's mutex guards it

	mu     sync.Mutex
	failed bool
}

// conversation is the record of one conversation. The collector's mutex guards it.
type conversation struct {
	id       string
	runs     []Run
	calls    []*recorded
	texts    texts
	outputs  map[string]output // by call ID
	paths    map[string]bool   // that notices name
	loaded   map[string]bool   // hidden tools that events reported as loaded
	hidden   Hidden            // according to events about the catalogue
	pending  []leanctx.Event
	previous map[*observer]*recorded
	fit      calibration
	dropped  int
	logged   []string // the questions of the runs in the log; nil before its first line
	gone     bool
}

// recorded is the stored record of a call.
type recorded struct {
	*ModelCall
	conv  *conversation
	ctx   context.Context // until it has ended
	texts []int           // that it holds
	size  int64
	help  int // tokens that only leanctx needs
	ended bool
	told  bool // OnCall has been told
	slim  bool // its parts are gone
}

// observer records the model calls that one handler sees.
type observer struct{ c *Collector }

// output is the outcome of a tool call's result.
type output struct {
	rule   string // "cut", "cleared", "referred" or "read"
	before int    // tokens
	path   string
	whole  int // the text ID of the whole result, 0 if it was in no window
	tokens int // of the whole result as this package estimates them, 0 if it was in no window
	told   bool
}

// most outputs, paths, events and runs of one conversation that are kept.
const most = 10_000

// runKey holds the run in a context.
type runKey struct{ of *Collector }

type run struct {
	conv *conversation
	n    int
}

func (c *Collector) runOf(ctx context.Context) run {
	r, _ := ctx.Value(runKey{c}).(run)
	return r
}

// begin starts a run. A run inside another one, such as that of an agent used as a
// tool, belongs to the same conversation.
func (c *Collector) begin(ctx context.Context) context.Context {
	id := c.ask(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	conv := c.runOf(ctx).conv
	if id != "" || conv == nil || conv.gone {
		conv = c.open(id)
	}
	conv.runs = append(conv.runs, Run{N: len(conv.runs) + 1, Start: time.Now()})
	return context.WithValue(ctx, runKey{c}, run{conv, len(conv.runs)})
}

// ask returns the conversation's name from the user's function, or "".
func (c *Collector) ask(ctx context.Context) string {
	if c.cfg.Conversation == nil {
		return ""
	}
	id, err := safe.Value("Conversation", func() (string, error) { return c.cfg.Conversation(ctx) })
	if err != nil {
		return ""
	}
	return id
}

func (c *Collector) open(id string) *conversation {
	if id == "" {
		for id == "" || c.convs[id] != nil {
			c.made++
			id = "run-" + strconv.Itoa(c.made)
		}
	}
	conv := c.convs[id]
	if conv == nil {
		conv = &conversation{id: id, outputs: map[string]output{}, paths: map[string]bool{}, loaded: map[string]bool{}, previous: map[*observer]*recorded{}}
		c.convs[id] = conv
		c.idle = append(c.idle, conv)
		c.kept += conversationCost
		c.shrink()
	}
	return conv
}

// Event takes an event of a middleware: it is an OnEvent. Events outside a run of an
// agent that has this collector's handler are ignored.
func (c *Collector) Event(ctx context.Context, e leanctx.Event) {
	r := c.runOf(ctx)
	if r.conv == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r.conv.note(e)
	if c.cfg.Texts != TextsAll {
		e.Err = nil // its text may name machines and files
	}
	if len(r.conv.pending) < most {
		r.conv.pending = append(r.conv.pending, e)
	}
}

// note records what an event says about results and tools.
func (v *conversation) note(e leanctx.Event) {
	switch e.Kind {
	case leanctx.KindCatalogChanged:
		if e.Tools != nil {
			v.hidden = Hidden{Tools: e.Tools.AddedCount, Tokens: int(e.Tools.Tokens)}
		}
	case leanctx.KindToolsLoaded, leanctx.KindToolsPrefetched:
		if e.Tools != nil {
			for _, name := range e.Tools.Added {
				v.loaded[name] = true
			}
		}
	case leanctx.KindResultCut:
		v.became("cut", e)
	case leanctx.KindResultCleared:
		v.became("cleared", e)
	case leanctx.KindResultReferred:
		v.became("referred", e)
	case leanctx.KindResultRead:
		v.became("read", e)
	}
}

func (v *conversation) became(rule string, e leanctx.Event) {
	if e.Output == nil || e.CallID == "" {
		return
	}
	old, known := v.outputs[e.CallID]
	if !known && len(v.outputs) >= most {
		return
	}
	now := output{rule: rule, before: int(e.Output.Before.Tokens), path: e.Output.Path, whole: old.whole, tokens: old.tokens}
	if old.rule == "cut" { // the tool returned an even longer one
		now.before = max(now.before, old.before)
		now.path = cmp.Or(now.path, old.path)
	}
	if rule == "read" && old.rule != "" {
		return // a page that was cut or cleared is no longer a page
	}
	v.outputs[e.CallID] = now
}

// Conversation returns a snapshot, or nil if the conversation is not known.
func (c *Collector) Conversation(id string) *Conversation {
	c.mu.Lock()
	defer c.mu.Unlock()
	conv := c.convs[id]
	if conv == nil {
		return nil
	}
	return conv.snapshot()
}

// Conversations returns a snapshot of each conversation, the one with the newest call
// first.
func (c *Collector) Conversations() iter.Seq[*Conversation] {
	return func(yield func(*Conversation) bool) {
		c.mu.Lock()
		ids := make([]string, 0, len(c.idle))
		for _, conv := range slices.Backward(c.idle) {
			ids = append(ids, conv.id)
		}
		c.mu.Unlock()
		for _, id := range ids {
			if conv := c.Conversation(id); conv != nil && !yield(conv) {
				return
			}
		}
	}
}

// WriteJSON writes all conversations, the one with the newest call first, as JSON
// Lines of the format "leanctx.window/1": a line for each conversation, followed by
// one for each of its texts and calls. [ReadJSON] is the reverse.
func (c *Collector) WriteJSON(w io.Writer) error {
	for conversation := range c.Conversations() {
		if err := conversation.WriteJSON(w); err != nil {
			return err
		}
	}
	return nil
}

// snapshot copies a conversation. A call still in progress is unfinished.
func (v *conversation) snapshot() *Conversation {
	s := &Conversation{ID: v.id, Runs: slices.Clone(v.runs), Texts: make(map[int]string, len(v.texts.byID)), Dropped: v.dropped}
	for _, r := range v.calls {
		call := *r.ModelCall
		call.Unfinished = call.Unfinished || !r.ended
		s.Calls = append(s.Calls, &call)
	}
	for id, t := range v.texts.byID {
		s.Texts[id] = t.value
	}
	return s
}

// Estimated overhead in bytes, without texts.
const (
	conversationCost = 2048
	callCost         = 600
	partCost         = 128
)

// add keeps a call, and makes room for it.
func (c *Collector) add(r *recorded) {
	r.size = callCost + int64(len(r.Parts))*partCost
	c.kept += r.size
	c.queue = append(c.queue, r)
	if i := slices.Index(c.idle, r.conv); i >= 0 && i < len(c.idle)-1 {
		c.idle = append(slices.Delete(c.idle, i, i+1), r.conv)
	}
	c.shrink()
}

// shrink drops the oldest data until the rest fits: texts, then parts, then whole
// conversations. The newest call stays.
func (c *Collector) shrink() {
	for c.kept > c.cfg.MaxBytes {
		switch {
		case c.texts < len(c.queue)-1:
			c.dropTexts(c.queue[c.texts])
			c.texts++
		case len(c.queue) > 1:
			c.dropParts(c.queue[0])
			c.queue = c.queue[1:]
			c.texts--
		case len(c.idle) > 1:
			c.forget(c.idle[0])
		default:
			return
		}
	}
}

func (c *Collector) dropTexts(r *recorded) {
	if r.conv.gone {
		return
	}
	for _, id := range r.texts {
		c.kept -= r.conv.texts.drop(id)
	}
	if r.texts != nil {
		r.conv.dropped++
	}
	r.texts = nil
}

func (c *Collector) dropParts(r *recorded) {
	if r.conv.gone || r.slim {
		return
	}
	r.slim = true
	c.kept -= r.size - callCost
	slim := *r.ModelCall // snapshots share the old one
	slim.Parts, slim.Events, slim.Left, slim.Did, slim.Answer = nil, nil, nil, nil, ""
	r.ModelCall = &slim
}

func (c *Collector) forget(v *conversation) {
	v.gone = true
	c.kept -= conversationCost
	for _, r := range v.calls {
		if c.kept -= callCost; !r.slim {
			c.kept -= r.size - callCost
		}
	}
	for _, t := range v.texts.byID {
		c.kept -= int64(len(t.value)) + textCost
	}
	delete(c.convs, v.id)
	c.idle = slices.DeleteFunc(c.idle, func(o *conversation) bool { return o == v })
}
