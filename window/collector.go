// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"context"
	"crypto/rand"
	"hash/maphash"
	"io"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/window/internal/parts"
)

// Collector records what is in the window of each model call. It serves both message
// types and any number of agents, and is safe for concurrent use. It calls nothing of
// its user's while it holds a lock.
type Collector struct {
	cfg Config
	log logger

	mu    sync.Mutex
	convs map[string]*conversation
	bytes int64           // approximate bytes of everything kept
	queue []*recordedCall // all calls, oldest first
	slim  int             // queue[:slim] have no parts any more
	idle  []*conversation // by their newest call, oldest first

	lastHidden toolSizes // of the last run that hid any
}

// toolSizes are tools with the tokens of their definitions, by name. They never change.
type toolSizes struct {
	tools  []*schema.ToolInfo
	tokens map[string]int
}

// New returns a collector.
func New(c Config) *Collector {
	if c.MaxBytes <= 0 {
		c.MaxBytes = defaultMaxBytes
	}
	c.seed = maphash.MakeSeed()
	return &Collector{cfg: c, log: logger{writer: c.Log}, convs: map[string]*conversation{}}
}

// agentRun is a run of an agent, in its context. The collector's mutex guards it.
type agentRun struct {
	conv   *conversation
	number int
	agent

	previous atomic.Pointer[request] // its newest request; the agent holds these texts as well
}

func (c *Collector) runFrom(ctx context.Context) *agentRun {
	r, _ := ctx.Value(c).(*agentRun)
	return r
}

// beginRun starts a run. A run inside another one, such as that of an agent used as a tool, belongs
// to the same conversation.
func (c *Collector) beginRun(ctx context.Context, hidden map[string]int) context.Context {
	id := c.conversationID(ctx)
	outer := c.runFrom(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &agentRun{agent: agent{hidden, programturn.ProgramsOf(ctx) != nil}}
	if outer != nil && id == "" && !outer.conv.isForgotten {
		r.conv = outer.conv
	} else {
		r.conv = c.open(id)
	}
	r.number = r.conv.addRun(time.Now())
	c.shrink()
	return programturn.WithWatcher(context.WithValue(ctx, c, r), c.programEnded)
}

// hiddenAmong returns the tokens of the definitions of the tools that package toolsearch hides, by
// name. Its search tool knows them. If a run hides the same tools as the last one, they are not
// measured again.
func (c *Collector) hiddenAmong(ctx context.Context, tools []tool.BaseTool) map[string]int {
	for _, t := range tools {
		if by, ok := t.(interface {
			HiddenTools(ctx context.Context) []*schema.ToolInfo
		}); ok {
			return c.measure(by.HiddenTools(ctx)) // the others find the same
		}
	}
	return map[string]int{}
}

func (c *Collector) measure(hidden []*schema.ToolInfo) map[string]int {
	c.mu.Lock()
	last := c.lastHidden
	c.mu.Unlock()
	if last.tokens != nil && slices.Equal(hidden, last.tools) {
		return last.tokens
	}
	last = toolSizes{hidden, make(map[string]int, len(hidden))}
	for _, info := range hidden {
		last.tokens[info.Name] = tokens.Of(parts.Definition(info))
	}
	c.mu.Lock()
	c.lastHidden = last
	c.mu.Unlock()
	return last.tokens
}

// conversationID returns the conversation's name from the user's function, or "".
func (c *Collector) conversationID(ctx context.Context) string {
	if c.cfg.Conversation == nil {
		return ""
	}
	id, err := safe.Value("Conversation", func() (string, error) { return c.cfg.Conversation(ctx) })
	if err != nil {
		return ""
	}
	return id
}

// open returns the conversation with a name, or a new one with a generated name.
func (c *Collector) open(id string) *conversation {
	if id == "" {
		id = "run-" + time.Now().UTC().Format("20060102-150405-") + rand.Text()[:12]
	}
	v := c.convs[id]
	if v == nil {
		v = newConversation(c, id)
		c.convs[id] = v
		c.idle = append(c.idle, v)
	}
	return v
}

// revive returns the conversation of a run. If it was dropped, it is a new one of the same name.
func (c *Collector) revive(r *agentRun) *conversation {
	if r.conv.isForgotten {
		r.conv = c.open(r.conv.id)
		r.number = r.conv.addRun(time.Now())
	}
	return r.conv
}

// Event receives an event of a middleware: it is an OnEvent. Events outside a run of an agent that
// has this collector's handler are ignored.
func (c *Collector) Event(ctx context.Context, e einolean.Event) {
	c.addEvent(ctx, e, (*conversation).addPending)
}

// programEnded receives the event of a program, also if its OnEvent is not [Collector.Event].
func (c *Collector) programEnded(ctx context.Context, e einolean.Event) {
	c.addEvent(ctx, e, func(*conversation, einolean.Event) {})
}

// addEvent adds an event to the conversation of its run.
func (c *Collector) addEvent(ctx context.Context, e einolean.Event, then func(*conversation, einolean.Event)) {
	r := c.runFrom(ctx)
	if r == nil {
		return
	}
	kept := c.cfg.keepEvent(e)
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.conv.isForgotten {
		return
	}
	r.conv.noteEvent(e, kept)
	then(r.conv, kept)
	c.shrink()
}

// Conversation returns a snapshot, or nil if the conversation is not known.
func (c *Collector) Conversation(id string) *Conversation {
	c.mu.Lock()
	v := c.convs[id]
	if v == nil {
		c.mu.Unlock()
		return nil
	}
	s := v.snapshot()
	c.mu.Unlock()
	s.Texts = s.book.texts()
	return s
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
// Lines of the format "einolean.window/2": a line for each conversation, followed by
// one for each of its calls, before which come the parts of the request that differ from
// those of the lines above. [ReadJSON] is the reverse.
func (c *Collector) WriteJSON(w io.Writer) error {
	for conversation := range c.Conversations() {
		if err := conversation.WriteJSON(w); err != nil {
			return err
		}
	}
	return nil
}

// LogError returns how many calls are missing in Config.Log, and why. If nil, it has every call
// that ended.
func (c *Collector) LogError() error { return c.log.missingError() }

// add adds a call with its request to the conversation of a run.
func (c *Collector) add(r *agentRun, call *recordedCall, q *request) {
	c.mu.Lock()
	for !c.revive(r).classifyPieces(r, q) { // redacts what is new, without the lock
		c.mu.Unlock()
		q.prepare(&c.cfg)
		c.mu.Lock()
	}
	report := r.conv.record(call, r, q)
	c.queue = append(c.queue, call)
	if i := slices.Index(c.idle, r.conv); i >= 0 && i < len(c.idle)-1 {
		c.idle = append(slices.Delete(c.idle, i, i+1), r.conv)
	}
	c.shrink()
	c.mu.Unlock()
	r.previous.Store(q)
	report()
}

// shrink drops the oldest data until the rest fits: the parts of calls, then calls, then
// what is known about results and tools. The newest call's figures stay.
func (c *Collector) shrink() {
	for c.bytes > c.cfg.MaxBytes {
		switch {
		case c.slim < len(c.queue)-1:
			c.dropParts()
		case len(c.queue) > 1:
			c.dropCall()
		case len(c.idle) > 1:
			oldest := c.idle[0]
			if len(c.queue) > 0 && c.queue[0].conv == oldest {
				oldest = c.idle[1]
			}
			c.forget(oldest)
		default:
			if len(c.queue) > c.slim {
				c.dropParts()
			}
			for _, v := range c.idle {
				v.forgetNotes()
			}
			return
		}
	}
}

// dropParts drops the parts of the oldest call that has any.
func (c *Collector) dropParts() {
	r := c.queue[c.slim]
	r.conv.dropParts(r)
	c.slim++
}

// dropCall drops the oldest call, whose parts are dropped already. A conversation without calls is
// dropped too.
func (c *Collector) dropCall() {
	v := c.queue[0].conv
	c.queue[0] = nil
	c.queue = c.queue[1:]
	c.slim--
	if v.isForgotten {
		return
	}
	v.dropCall()
	if len(v.calls) == 0 && c.idle[len(c.idle)-1] != v {
		c.forget(v)
		return
	}
	v.dropRuns()
}

// forget drops a conversation.
func (c *Collector) forget(v *conversation) {
	v.isForgotten = true
	c.bytes -= v.bytes
	v.bytes = 0
	delete(c.convs, v.id)
	c.idle = slices.DeleteFunc(c.idle, func(o *conversation) bool { return o == v })
	slim := 0
	for _, r := range c.queue[:c.slim] {
		if r.conv != v {
			slim++
		}
	}
	c.queue = slices.DeleteFunc(c.queue, func(r *recordedCall) bool { return r.conv == v })
	c.slim = slim
}
