// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The default token estimate. No message is rendered, nothing is allocated, and in a
// run each text is read once, and a message that is still there mostly not looked at.

import (
	"context"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/tokens"
	"github.com/leanctx/leanctx/internal/toolschema"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

const (
	// mediaTokens is the price of an image, a sound, a film or a file, whatever
	// its size: about what common providers ask for an image of 1,000 by 1,000
	// pixels. The length of the data says nothing about it.
	mediaTokens = 1600

	// What stands around a message, a call and the definition of a tool.
	messageOverhead = 4
	callOverhead    = 4
	toolOverhead    = 10

	// bytesPerToken is the rule of thumb by which events tell the size of a text.
	bytesPerToken = 4
)

// tokensOf is the size of a text in events.
func tokensOf(bytes int) int64 { return int64(bytes / bytesPerToken) }

// estimator estimates tokens. It is safe for concurrent use.
type estimator[M adk.MessageType] struct {
	codec codec[M]
	sizes *schemaSizes
}

func newEstimator[M adk.MessageType]() *estimator[M] {
	return &estimator[M]{codecFor[M](), &schemaSizes{}}
}

// counter is the estimate as a TokenCounter. It never fails.
func (e *estimator[M]) counter(_ context.Context, msgs []M, tools []*schema.ToolInfo) (int64, error) {
	return e.count(msgs, tools), nil
}

// count estimates messages and tools.
func (e *estimator[M]) count(msgs []M, tools []*schema.ToolInfo) int64 {
	w := weight{sizes: e.sizes}
	w.tools(tools)
	for _, m := range msgs {
		e.codec.weigh(&w, m)
	}
	return w.tokens
}

// corrected estimates what the next request has, and returns the factor by which the
// provider's counts differ from the estimate, which is in it. An answer counts if the
// request that it answered stands in the history: before anything was cleared, and
// not where something would have been, which a history that was kept whole does not
// show; or, in this run, since something last was.
func (e *estimator[M]) corrected(run *counted, msgs []M, tools []*schema.ToolInfo, threshold int64) (int64, float64) {
	if run == nil || !run.busy.CompareAndSwap(false, true) {
		run = &counted{}
	} else {
		defer run.busy.Store(false)
	}
	run.begin(len(msgs))
	n, factor, all := e.walk(run, msgs, tools, threshold)
	if n >= threshold && !all {
		run.forget()
		n, factor, _ = e.walk(run, msgs, tools, threshold)
	}
	return n, factor
}

// walk is corrected for a run that nobody else looks at. all is false if it took leading
// messages for what they were in the walk before.
func (e *estimator[M]) walk(run *counted, msgs []M, tools []*schema.ToolInfo, threshold int64) (n int64, factor float64, all bool) {
	run.weight = weight{sizes: e.sizes}
	w := &run.weight
	w.remember(&run.tools)
	w.tools(tools)
	w.remember(&run.texts)
	c, of := tokens.Correction{}, w.tokens // the definitions
	known, had := run.messages, len(run.messages)
	at := 0
	for at < min(len(known), len(msgs)) && known[at].at == addressOf(msgs[at]) {
		if k := &known[at]; k.usage > 0 {
			run.correct(&c, k, at, of, threshold)
		}
		at++
	}
	all = at == 0
	switch {
	case at < len(known):
		w.tokens, w.at, w.edited = of+known[at].before, int(known[at].texts), known[at].edited
	case at > 0:
		w.tokens, w.at, w.edited = of+run.end.before, int(run.end.texts), run.end.edited
	}
	known = known[:at]
	for i, m := range msgs[at:] {
		k := knownMessage{addressOf(m), w.tokens - of, int32(w.at), 0, w.edited}
		if usage := e.codec.weigh(w, m); usage > 0 {
			k.usage = int32(min(usage, math.MaxInt32))
			run.correct(&c, &k, at+i, of, threshold)
		}
		known = append(known, k)
	}
	run.end = knownMessage{nil, w.tokens - of, int32(w.at), 0, w.edited}
	clear(known[len(known):max(had, len(known))])
	run.messages = known
	run.texts.end(w.at)
	return int64(float64(w.tokens) * c.Factor()), c.Factor(), all
}

// addressOf is where a message is.
func addressOf[M adk.MessageType](m M) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&m)) }

// counted is what a run knows about the texts of its messages. The zero value is
// ready for use.
type counted struct {
	busy         atomic.Bool // a second model call of the run at the same time counts by itself
	begun        bool
	from         int // the requests of answers from here on stand as they were sent
	walks        int
	messages     []knownMessage
	end          knownMessage // what stands behind them
	tools, texts memo
	weight       weight
}

// knownMessage is a message of the walk before, with what stood before it. It is known by
// where it is. Whoever changes a message in its place goes unnoticed for a few requests,
// but never in one that would be over the threshold.
type knownMessage struct {
	at     unsafe.Pointer
	before int64 // tokens of the messages before it
	texts  int32 // in them
	usage  int32 // the tokens of its request, as the provider tells
	edited flag  // something before it was
}

// wholeWalk is how often a walk looks at all messages.
const wholeWalk = 16

// begin begins a walk over n messages.
func (r *counted) begin(n int) {
	if !r.begun {
		r.begun, r.from = true, n
	}
	if r.walks++; r.walks%wholeWalk == 0 {
		r.forget()
	}
}

// forget makes the next walk look at all messages.
func (r *counted) forget() {
	clear(r.messages)
	r.messages = r.messages[:0]
}

// correct learns from the answer that a message is, if its request stands in the history.
func (r *counted) correct(c *tokens.Correction, k *knownMessage, i int, definitions, threshold int64) {
	before := definitions + k.before
	if i >= r.from || k.edited == 0 && float64(before)*c.Factor() < float64(threshold) {
		c.Add(int64(k.usage), before)
	}
}

// edited notes that what the model sees before the message with number n has changed.
func (r *counted) edited(n int) {
	if r != nil && r.busy.CompareAndSwap(false, true) {
		r.from = n
		r.busy.Store(false)
	}
}

// memo holds the tokens of texts, in their order. A text is known by where its bytes
// are; since the memo holds it, no other text can be there.
type memo struct {
	known []knownText
	old   []knownText // those of the walk before, from the first that differs on
	moved int         // how far old was used
}

type knownText struct {
	text   string
	tokens int32
	edited flag // it is the notice of a cleared result
}

// flag is 1 where something holds. Flags are joined without a branch.
type flag uint8

func flagOf(holds bool) flag {
	if holds {
		return 1
	}
	return 0
}

// near is how many texts may be gone at one place for those after them to be known still.
const near = 32

func same(a, b string) bool { return len(a) == len(b) && unsafe.StringData(a) == unsafe.StringData(b) }

// add puts a text at a place of the walk, from which on the walk before differs.
func (m *memo) add(i int, text string, result bool) knownText {
	if i < len(m.known) {
		m.old = append(m.old[:0], m.known[i:]...)
		m.known, m.moved = m.known[:i], 0
	}
	k := m.before(text)
	if k.text == "" {
		k = know(text, result)
	}
	m.known = append(m.known, k)
	return k
}

// before finds a text in the walk before.
func (m *memo) before(text string) knownText {
	for i := m.moved; i < min(len(m.old), m.moved+near); i++ {
		if same(m.old[i].text, text) {
			m.moved = i + 1
			return m.old[i]
		}
	}
	return knownText{}
}

// end ends a walk over n texts.
func (m *memo) end(n int) {
	clear(m.known[n:])
	m.known = m.known[:n]
	clear(m.old)
	m.old, m.moved = m.old[:0], 0
}

func know(text string, result bool) knownText {
	return knownText{text, int32(tokens.Estimate(text)), flagOf(result && edited(text))}
}

// edited reports whether a text was not in the first request that had its message.
func edited(text string) bool {
	n := recognise(text)
	return n.kind == clearedNotice || isMovedMedium(text) || n.kind == truncatedNotice && strings.Contains(n.path, "/"+vault.ClearDir+"/")
}

// weight adds up what pieces of a conversation weigh.
type weight struct {
	tokens int64
	sizes  *schemaSizes
	memo   *memo       // nil: nothing is remembered
	known  []knownText // what the memo holds
	at     int         // how many texts there were
	edited flag        // something was cleared or rewritten
	rough  bool        // a token has four bytes
}

// remember begins a walk over texts of which some are known.
func (w *weight) remember(m *memo) { w.memo, w.known, w.at = m, m.known, 0 }

func (w *weight) text(s string) {
	if !w.next(s) {
		w.unknown(s, false)
	}
}

// result weighs a text that may be the notice of a cleared result.
func (w *weight) result(s string) {
	if !w.next(s) {
		w.unknown(s, true)
	}
}

// next weighs a text that is empty, or that the walk before found at this place. It is
// small enough to become a part of its callers: a long history has thousands of texts.
func (w *weight) next(s string) bool {
	if s == "" {
		return true
	}
	if w.at >= len(w.known) {
		return false
	}
	k := &w.known[w.at]
	if !same(k.text, s) {
		return false
	}
	w.at++
	w.tokens += int64(k.tokens)
	w.edited |= k.edited
	return true
}

// unknown weighs a text that is not at this place of the walk before.
func (w *weight) unknown(s string, result bool) {
	if w.rough {
		w.tokens += tokensOf(len(s))
		return
	}
	var k knownText
	if w.memo == nil {
		k = know(s, result)
	} else {
		k = w.memo.add(w.at, s, result)
		w.known = w.memo.known
		w.at++
	}
	w.tokens += int64(k.tokens)
	w.edited |= k.edited
}

func (w *weight) call(name, arguments string) {
	w.tokens += callOverhead
	w.text(name)
	w.text(arguments)
}

func (w *weight) tools(tools []*schema.ToolInfo) {
	for _, t := range tools {
		if t == nil {
			continue
		}
		w.tokens += toolOverhead
		w.text(t.Name)
		w.text(t.Desc)
		if p := t.ParamsOneOf; p != nil {
			w.tokens += w.sizes.of(p, func() int64 { return schemaTokens(p) })
		}
	}
}

// search weighs the definitions that a search returned.
func (w *weight) search(r *schema.ToolSearchResult) {
	if r != nil {
		w.tools(r.Tools)
	}
}

// maxSchemas bounds a schemaSizes. When it is full it starts again.
const maxSchemas = 4096

// schemaSizes remembers how many tokens schemas have as JSON, because finding out
// means writing them. A schema is known by its address, so one that is changed in
// place keeps its first size. The zero value is ready for use, by any number of
// goroutines.
type schemaSizes struct {
	known sync.Map // int64 by address
	count atomic.Int64
}

// schemaTokens estimates a schema as JSON, and one that is too large to be written by
// the length of its words.
func schemaTokens(p *schema.ParamsOneOf) int64 {
	if text, ok := toolschema.Text(p); ok {
		return int64(tokens.Estimate(text))
	}
	return int64(toolschema.Bytes(p) / bytesPerToken)
}

// of returns the size of what has the address key, and measures it when that is
// not known.
func (s *schemaSizes) of(key any, measure func() int64) int64 {
	if n, ok := s.known.Load(key); ok {
		return n.(int64)
	}
	n := measure()
	if s.count.Add(1) > maxSchemas {
		s.known.Clear()
		s.count.Store(1)
	}
	s.known.Store(key, n)
	return n
}
