// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package tokencount estimates the tokens of a request, and has the provider's reports correct that. It
// renders no message and allocates nothing, reads texts only where their lengths do not decide, and in a
// run it mostly skips unchanged messages.
package tokencount

import (
	"encoding/json"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/rounds"
)

// Estimator estimates tokens. It is safe for concurrent use; the zero value is ready.
type Estimator[M adk.MessageType] struct {
	sizes schemaSizes
}

// Count estimates messages and tools.
func (e *Estimator[M]) Count(msgs []M, tools []*schema.ToolInfo) int64 {
	w := weight{sizes: &e.sizes}
	w.tools(tools)
	for _, m := range msgs {
		addMessage(&w, m)
	}
	return w.tokens
}

// Size is what is known of the size of a request, in tokens.
type Size struct {
	Tokens int64   // at least or at most, whichever decides, unless exact
	Factor float64 // by which the provider's counts differ from the estimate, which is included
	Exact  bool    // every text was read
}

// Size estimates the size of the next request, as far as it must be known to tell whether that
// has fewer tokens than a limit. The first request of a run would otherwise wait until all its
// texts are read, and most are far from the limit. A negative limit wants to know it exactly.
//
// An answer corrects the estimate if the request that it answered is still in the history: before
// anything was cleared or would have been, which a history kept whole does not show; or, in this
// run, since the last change.
func (e *Estimator[M]) Size(run *Tracker, msgs []M, tools []*schema.ToolInfo, threshold, limit int64) Size {
	if !run.busy.CompareAndSwap(false, true) {
		run = &Tracker{}
	} else {
		defer run.busy.Store(false)
	}
	if run.calls++; run.calls == 1 {
		run.from = len(msgs)
	}
	run.weight.sizes = &e.sizes
	definitions := run.definitions(tools)
	matchPrevious(run, msgs)
	if run.calls%verifyEvery == 0 {
		verify(run, msgs)
	}
	if s, sure := e.estimateQuick(run, msgs, definitions, limit); sure {
		return s
	}
	s := e.read(run, msgs, definitions, threshold)
	if s.Tokens >= threshold && !run.verified {
		verify(run, msgs)
		s = e.read(run, msgs, definitions, threshold)
	}
	return s
}

// likely is how far a sample of texts may be off, as a factor.
const sampleMargin = 1.25

// glance tells on which side of a limit a request is, if that is sure without reading its
// texts.
func (e *Estimator[M]) estimateQuick(run *Tracker, msgs []M, definitions, limit int64) (s Size, sure bool) {
	most, unseen, reports := definitions, int64(0), 0
	for i := range run.messages {
		k := &run.messages[i]
		most += k.most
		reports += int(min(1, k.usage))
		if k.tokens < 0 && !k.sampled {
			unseen += k.most
		}
	}
	high, low := 1., 1.
	if reports > 1 {
		high, low = tokens.MaxRatio, tokens.MinRatio
	}
	if limit < 0 || float64(most)*high < float64(limit) {
		return Size{Tokens: int64(float64(most) * high), Factor: 1}, limit >= 0
	}
	if unseen < leastSample || unseen*2 < most || e.known(run, msgs) {
		return Size{}, false
	}
	if about := float64(definitions + e.sampled(run, msgs, unseen/fewBlocks, false)); about/2*low >= float64(limit) && reports < 2 {
		return Size{Tokens: int64(about / 2), Factor: 1}, true // most requests that are over it are far over it
	}
	about := float64(definitions + e.sampled(run, msgs, unseen/sampleBlocks, true))
	switch {
	case about*sampleMargin*high < float64(limit):
		return Size{Tokens: int64(about * sampleMargin * high), Factor: 1}, true
	case about/sampleMargin*low >= float64(limit) && reports < 2:
		return Size{Tokens: int64(about / sampleMargin), Factor: 1}, true
	}
	return Size{}, false
}

// leastSample is how many bytes a sample must stand for, to be worth it.
const leastSample = 4 * sampleBlock * sampleBlocks

// leastUnknown is more than what a message of known texts has besides these.
const leastUnknown = 100

// known reports whether the process knows these messages from another run: reading them again
// then takes no longer than a sample. That of the one in the middle is true of all, mostly.
func (e *Estimator[M]) known(run *Tracker, msgs []M) bool {
	w := weight{by: byMemory, sizes: &e.sizes}
	addMessage(&w, msgs[len(msgs)/2])
	return w.tokens < leastUnknown
}

// sampled estimates messages from a sample of those that nothing is known of, one block for so
// many bytes. It may note how many tokens each has at most.
func (e *Estimator[M]) sampled(run *Tracker, msgs []M, every int64, note bool) (n int64) {
	w := weight{by: bySample, sizes: &e.sizes, sample: &sample{every: int(max(sampleBlock, every)), random: markPrime}}
	w.sample.next()
	for i := range run.messages {
		if k := &run.messages[i]; k.tokens < 0 && !k.sampled {
			addMessage(&w, msgs[i])
		} else {
			n += k.most
		}
	}
	density := min(1, float64(w.sample.tokens)/float64(max(1, w.sample.bytes)))
	for i := range run.messages {
		if k := &run.messages[i]; k.tokens < 0 && !k.sampled {
			n += int64(float64(k.most) * density)
			if note {
				k.most, k.sampled = min(k.most, int64(float64(k.most)*density*sampleMargin)+mediaTokens), true
			}
		}
	}
	return n + w.tokens
}

// outline finds the messages of the previous request again, and looks at the others without
// reading their texts.
func matchPrevious[M adk.MessageType](run *Tracker, msgs []M) {
	at, had := 0, len(run.messages)
	for at < min(had, len(msgs)) && run.messages[at].at == addressOf(msgs[at]) {
		at++
	}
	run.verified = at == 0
	if at == had && at == len(msgs) {
		return
	}
	run.old = append(run.old[:0], run.messages[at:]...)
	run.messages = slices.Grow(run.messages[:at], len(msgs)-at)
	for _, m := range msgs[at:] {
		k, found := run.before(addressOf(m))
		if !found {
			k = look(run, m)
		}
		run.verified = run.verified && !found
		run.messages = append(run.messages, k)
	}
	clear(run.messages[len(run.messages):max(had, len(run.messages))])
	clear(run.old)
	run.old, run.moved = run.old[:0], 0
}

// look describes a message without reading its texts.
func look[M adk.MessageType](run *Tracker, m M) knownMessage {
	w := &run.weight
	w.by, w.tokens, w.mark, w.edited = byLength, 0, 0, false
	usage := addMessage(w, m)
	return knownMessage{at: addressOf(m), mark: w.mark, most: w.tokens, tokens: -1, usage: int32(max(0, min(usage, math.MaxInt32))), edited: w.edited}
}

// verify looks at each message again, for those that were changed in place.
func verify[M adk.MessageType](run *Tracker, msgs []M) {
	for i := range run.messages {
		k := &run.messages[i]
		if now := look(run, msgs[i]); now.mark != k.mark || now.usage != k.usage || now.edited != k.edited {
			*k = now
		}
	}
	run.verified = true
}

// read is the estimate with every text read.
func (e *Estimator[M]) read(run *Tracker, msgs []M, definitions, threshold int64) Size {
	w := &run.weight
	c, sum, changed := tokens.Correction{}, definitions, false
	for i := range run.messages {
		k := &run.messages[i]
		if k.tokens < 0 {
			w.by, w.tokens = byReading, 0
			addMessage(w, msgs[i])
			k.tokens, k.most = w.tokens, w.tokens
		}
		if k.usage > 0 && (i >= run.from || !changed && float64(sum)*c.Factor() < float64(threshold)) {
			c.Add(int64(k.usage), sum)
		}
		sum += k.tokens
		changed = changed || k.edited
	}
	return Size{int64(float64(sum) * c.Factor()), c.Factor(), true}
}

func addressOf[M adk.MessageType](m M) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&m)) }

// Run is a run's knowledge of its messages. The zero value is ready for use.
type Tracker struct {
	busy     atomic.Bool // a concurrent second model call of the run counts by itself
	calls    int
	from     int // the requests of answers from here on are unchanged
	messages []knownMessage
	verified bool           // each of them was looked at for this request
	old      []knownMessage // those of the previous request, from the first difference on
	moved    int            // how far old was used
	tools    knownMessage   // the definitions
	weight   weight
}

// knownMessage is what is known of a message. It is identified by its address. A message that
// was changed in place goes unnoticed for a few requests, but never in one over the threshold.
type knownMessage struct {
	at      unsafe.Pointer
	mark    uint64 // of the places of its texts
	most    int64  // tokens at most
	tokens  int64  // negative: not read
	usage   int32  // the tokens of its request, as the provider reports
	edited  bool   // it was edited
	sampled bool   // most is that of a sample of all texts
}

// verifyEvery is how often all messages are looked at.
const verifyEvery = 16

// near is how many messages may be missing at one place for those after them to be found again.
const near = 32

// before finds a message in the previous request.
func (r *Tracker) before(at unsafe.Pointer) (knownMessage, bool) {
	for i := r.moved; i < min(len(r.old), r.moved+near); i++ {
		if r.old[i].at == at {
			r.moved = i + 1
			return r.old[i], true
		}
	}
	return knownMessage{}, false
}

// definitions is the size of tools. They are read again only where one has another text.
func (r *Tracker) definitions(tools []*schema.ToolInfo) int64 {
	w := &r.weight
	w.by, w.tokens, w.mark = byLength, 0, 0
	w.tools(tools)
	if w.mark != r.tools.mark || w.tokens != r.tools.most {
		r.tools.mark, r.tools.most = w.mark, w.tokens
		w.by, w.tokens = byReading, 0
		w.tools(tools)
		r.tools.tokens = w.tokens
	}
	return r.tools.tokens
}

// Edited records that what the model sees before the message with number n has changed.
func (r *Tracker) Invalidate(n int) {
	if r.busy.CompareAndSwap(false, true) {
		r.from = n
		r.busy.Store(false)
	}
}

const (
	// The overhead of a message, a call and the definition of a tool.
	messageOverhead = 4
	callOverhead    = 4
	toolOverhead    = 10

	// bytesPerToken converts the size of a text for events, by rule of thumb.
	bytesPerToken = 4
)

// OfBytes is the size of a text in events.
func OfBytes(bytes int) int64 { return int64(bytes / bytesPerToken) }

// weigh adds a message to w without allocating, and returns the tokens that the provider reports
// for the request that it answers; 0 if there is no report.
func addMessage[M adk.MessageType](w *weight, m M) (usage int) {
	if message.IsNil(m) {
		return 0
	}
	w.tokens += messageOverhead
	role := message.Role(m)
	if role == schema.Assistant {
		if u := message.Usage(m); u != nil {
			usage = u.PromptTokens
		}
		w.edited = message.IsMarked(message.Extra(m), rounds.ProcessedKey)
	}
	for p := message.Parts(m); p.Next(); {
		weighPart(w, &p.Part, role)
	}
	return usage
}

// weighPart weighs what the model reads of a part.
func weighPart(w *weight, p *message.Part, role schema.RoleType) {
	switch p.Kind {
	case message.Result:
		if role == schema.User { // in a message with blocks, which names its tool
			w.text(p.Name())
		}
		for item := p.Parts(); item.Next(); {
			weighItem(w, &item.Part)
		}
	case message.Text:
		if role == schema.User {
			w.result(p.Text())
		} else {
			w.text(p.Text())
		}
	case message.Reasoning:
		w.text(p.Text())
	case message.Call:
		w.call(p.Name(), p.Text())
	case message.Medium:
		w.tokens += mediaTokens
	case message.ServerCall:
		w.call(p.Name(), p.Text())
		weighValue(w, p.Value())
	case message.ServerResult:
		w.text(p.Name())
		w.text(p.Text())
		weighValue(w, p.Value())
	}
}

func weighItem(w *weight, item *message.Part) {
	switch item.Kind {
	case message.Text:
		w.result(item.Text())
	case message.Tools:
		if found, _ := item.Value().(*schema.ToolSearchResult); found != nil {
			w.tools(found.Tools)
		}
	case message.Medium:
		w.tokens += mediaTokens
	}
}

func weighTools(w *weight, items []*schema.MCPListToolsItem) {
	for _, t := range items {
		if t == nil {
			continue
		}
		w.tool(t.Name, t.Description)
		if t.InputSchema != nil {
			w.tokens += w.sizes.of(t.InputSchema, func() int64 { return schemaTokens(schema.NewParamsOneOfByJSONSchema(t.InputSchema)) })
		}
	}
}

// weighValue weighs a value from a component. Only values that are neither text nor bytes
// must be marshalled for that; those that cannot be count as nothing.
func weighValue(w *weight, v any) {
	defer func() { _ = recover() }()
	switch v := v.(type) {
	case nil:
	case string:
		w.text(v)
	case []byte:
		w.bytes(v)
	case json.RawMessage:
		w.bytes(v)
	case []*schema.MCPListToolsItem:
		weighTools(w, v)
	default:
		text, _ := json.Marshal(v)
		w.bytes(text)
	}
}

// weight adds up the tokens of pieces of a conversation.
type weight struct {
	by     measure
	tokens int64
	sizes  *schemaSizes
	edited bool   // something was cleared or rewritten
	mark   uint64 // of where the texts are, with byLength

	sample *sample // with bySample
}

// measure is how the tokens of a text are found.
type measure uint8

const (
	byReading measure = iota
	byLength          // at most one a byte: no text is read
	byQuarter         // four bytes are a token, by rule of thumb
	bySample          // texts are read here and there
	byMemory          // zero unless it is new to the process
)

func (w *weight) text(s string) {
	switch w.by {
	case byReading:
		w.tokens += int64(tokens.Of(s))
	case byLength:
		w.tokens += int64(len(s))
		w.mark = (w.mark^uint64(uintptr(unsafe.Pointer(unsafe.StringData(s)))))*markPrime + uint64(len(s))
	case byQuarter:
		w.tokens += OfBytes(len(s))
	case bySample:
		w.sample.read(s)
	case byMemory:
		if !tokens.Known(s) {
			w.tokens += int64(len(s))
		}
	}
}

// markPrime spreads the addresses of texts over a mark.
const markPrime = 0x9e3779b97f4a7c15

// result weighs a text that may be the notice of a cleared result: one that was not in the first
// request that had its message.
func (w *weight) result(s string) {
	w.text(s)
	if w.edited || w.by != byLength {
		return
	}
	n := notice.Parse(s)
	w.edited = n.IsPlaceholder() || notice.IsMedium(s) || n.IsExcerpt() && offload.IsClearPath(n.Path)
}

// bytes weighs what is no string where it is kept.
func (w *weight) bytes(b []byte) {
	if mark := w.mark; w.by == byLength {
		w.tokens, w.mark = w.tokens+int64(len(b)), mark*markPrime+uint64(len(b))
		return
	}
	w.text(string(b))
}

func (w *weight) call(name, arguments string) {
	w.tokens += callOverhead
	w.text(name)
	w.text(arguments)
}

// tool weighs a definition without its parameters.
func (w *weight) tool(name, description string) {
	w.tokens += toolOverhead
	w.text(name)
	w.text(description)
}

func (w *weight) tools(tools []*schema.ToolInfo) {
	for _, t := range tools {
		if t == nil {
			continue
		}
		w.tool(t.Name, t.Desc)
		if p := t.ParamsOneOf; p != nil {
			w.tokens += w.sizes.of(p, func() int64 { return schemaTokens(p) })
		}
	}
}

// maxSchemas bounds a schemaSizes, which is emptied when full.
const maxSchemas = 4096

// RoughSizes are the sizes of messages, in tokens of four bytes.
func RoughSizes[M adk.MessageType](msgs []M) []int64 {
	w := weight{sizes: &schemaSizes{}, by: byQuarter}
	sizes := make([]int64, len(msgs))
	for i, m := range msgs {
		w.tokens = 0
		addMessage(&w, m)
		sizes[i] = w.tokens
	}
	return sizes
}

// schemaSizes caches the tokens of schemas as JSON, because counting them requires
// marshalling. A schema is identified by its address, so one that is changed in place
// keeps its first size. The zero value is ready for use, by any number of goroutines.
type schemaSizes struct {
	known sync.Map // int64 by address
	count atomic.Int64
}

// schemaTokens estimates a schema as JSON, or by the length of its words if it is too
// large to marshal.
func schemaTokens(p *schema.ParamsOneOf) int64 {
	if text, ok := toolschema.Text(p); ok {
		return int64(tokens.Of(text))
	}
	return int64(toolschema.Bytes(p) / bytesPerToken)
}

// of returns the size of the value with the address key, and measures it if it is
// unknown.
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

const (
	sampleBlock  = 128 // bytes
	sampleBlocks = 512
	fewBlocks    = 64
)

// sample reads blocks of texts that are spread evenly over all of them, wherever in its part
// each is.
type sample struct {
	every  int    // bytes that one block stands for
	skip   int    // bytes until the next block
	rest   int    // bytes between that block and the next part
	random uint64 // follows from the texts before
	bytes  int64  // read
	tokens int64  // in these
}

func (s *sample) next() {
	s.random = s.random*6364136223846793005 + 1442695040888963407
	s.skip = s.rest
	if free := s.every - sampleBlock; free > 0 {
		at := int(s.random>>33) % free
		s.skip, s.rest = s.skip+at, free-at
	}
}

func (s *sample) read(text string) {
	for s.skip < len(text) {
		block := text[s.skip:min(len(text), s.skip+sampleBlock)]
		s.bytes += int64(len(block))
		s.tokens += int64(tokens.Estimate(block))
		text = text[s.skip+len(block):]
		s.next()
	}
	s.skip -= len(text)
}
