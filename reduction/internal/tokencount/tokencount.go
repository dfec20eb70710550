// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package tokencount estimates the tokens of a request, and corrects the estimate by the provider's reports. It does
// not render messages. Texts are read only if their lengths do not decide, and messages that have not changed in a run
// are mostly skipped.
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
	w := counter{sizes: &e.sizes}
	w.tools(tools)
	for _, m := range msgs {
		addMessage(&w, m)
	}
	return w.tokens
}

// Size is the estimated size of a request in tokens.
type Size struct {
	Tokens int64   // a lower or an upper bound, whichever decides, unless Exact
	Factor float64 // correction by the provider's reports, which Tokens includes
	Exact  bool    // every text was read
}

// Correct is another estimate as the provider would count.
func (s Size) Correct(tokens int64) int64 { return int64(float64(tokens) * s.Factor) }

// Size estimates the size of the next request, as precisely as needed to compare it with a limit. Otherwise the first
// request of a run would wait until all its texts are read, and most requests are far from the limit. If the limit is
// negative, the size is exact.
//
// The provider's reports for answers correct the estimate until something is cleared: as long as nothing was, and
// the requests stayed below the threshold, each is still in the history as it was sent. From then on the correction
// is the one of [Tracker.Fix].
func (e *Estimator[M]) Size(run *Tracker, msgs []M, tools []*schema.ToolInfo, threshold, limit int64) Size {
	if !run.busy.CompareAndSwap(false, true) {
		busy := run
		run = &Tracker{}
		run.Fix(busy.FixedFactor())
	} else {
		defer run.busy.Store(false)
	}
	run.calls++
	run.weight.sizes = &e.sizes
	definitions := run.definitions(tools)
	matchPrevious(run, msgs)
	if run.calls%verifyEvery == 0 {
		verifyMessages(run, msgs)
	}
	if s, sure := e.estimateQuick(run, msgs, definitions, limit); sure {
		return s
	}
	s := e.readAll(run, msgs, definitions, threshold)
	if s.Tokens >= threshold && !run.isVerified {
		verifyMessages(run, msgs)
		s = e.readAll(run, msgs, definitions, threshold)
	}
	return s
}

// sampleMargin is the factor by which an estimate from a sample may be wrong.
const sampleMargin = 1.25

// estimateQuick compares a request with a limit without reading its texts. sure is false if the texts must be read
// for that.
func (e *Estimator[M]) estimateQuick(run *Tracker, msgs []M, definitions, limit int64) (s Size, sure bool) {
	maxTokens, unseen, reports := definitions, int64(0), 0
	for i := range run.messages {
		k := &run.messages[i]
		maxTokens += k.maxTokens
		reports += int(min(1, k.usage))
		if k.tokens < 0 && !k.isSampled {
			unseen += k.maxTokens
		}
	}
	high, low := 1., 1.
	switch fixed := run.FixedFactor(); {
	case fixed > 0:
		high, low, reports = fixed, fixed, 0
	case reports > 1:
		high, low = tokens.MaxRatio, tokens.MinRatio
	}
	if limit < 0 || float64(maxTokens)*high < float64(limit) {
		return Size{Tokens: int64(float64(maxTokens) * high), Factor: 1}, limit >= 0
	}
	if unseen < minSampledBytes || unseen*2 < maxTokens || e.isKnownToProcess(run, msgs) {
		return Size{}, false
	}
	about := float64(definitions + e.estimateBySample(run, msgs, unseen/firstSampleBlocks, false))
	if about/2*low >= float64(limit) && reports < 2 {
		return Size{Tokens: int64(about / 2), Factor: 1}, true // most requests over the limit are far over it
	}
	about = float64(definitions + e.estimateBySample(run, msgs, unseen/sampleBlocks, true))
	switch {
	case about*sampleMargin*high < float64(limit):
		return Size{Tokens: int64(about * sampleMargin * high), Factor: 1}, true
	case about/sampleMargin*low >= float64(limit) && reports < 2:
		return Size{Tokens: int64(about / sampleMargin), Factor: 1}, true
	}
	return Size{}, false
}

// minSampledBytes is how many bytes must be unknown for a sample to be worth reading.
const minSampledBytes = 4 * sampleBlock * sampleBlocks

// maxKnownTokens is more than a message has besides its texts, if these are known to the process.
const maxKnownTokens = 100

// isKnownToProcess reports whether the process has counted these messages in another run: counting them again then
// takes no longer than a sample. It looks only at the message in the middle.
func (e *Estimator[M]) isKnownToProcess(run *Tracker, msgs []M) bool {
	w := counter{measure: byCache, sizes: &e.sizes}
	addMessage(&w, msgs[len(msgs)/2])
	return w.tokens < maxKnownTokens
}

// estimateBySample estimates the tokens of all messages from a sample of the unknown ones, with one block for each
// interval of bytes. With note, it records how many tokens each message has at most.
func (e *Estimator[M]) estimateBySample(run *Tracker, msgs []M, every int64, note bool) (n int64) {
	blocks := &sample{blockInterval: int(max(sampleBlock, every)), random: markPrime}
	w := counter{measure: bySample, sizes: &e.sizes, sample: blocks}
	w.sample.nextBlock()
	for i := range run.messages {
		if k := &run.messages[i]; k.tokens < 0 && !k.isSampled {
			addMessage(&w, msgs[i])
		} else {
			n += k.maxTokens
		}
	}
	density := min(1, float64(w.sample.tokens)/float64(max(1, w.sample.bytes)))
	for i := range run.messages {
		if k := &run.messages[i]; k.tokens < 0 && !k.isSampled {
			n += int64(float64(k.maxTokens) * density)
			if note {
				k.maxTokens, k.isSampled = min(k.maxTokens, int64(float64(k.maxTokens)*density*sampleMargin)+mediaTokens), true
			}
		}
	}
	return n + w.tokens
}

// matchPrevious finds the messages of the previous request again, and describes new messages without reading their
// texts.
func matchPrevious[M adk.MessageType](run *Tracker, msgs []M) {
	at, had := 0, len(run.messages)
	for at < min(had, len(msgs)) && run.messages[at].address == addressOf(msgs[at]) {
		at++
	}
	run.isVerified = at == 0
	if at == had && at == len(msgs) {
		return
	}
	run.previous = append(run.previous[:0], run.messages[at:]...)
	run.messages = slices.Grow(run.messages[:at], len(msgs)-at)
	for _, m := range msgs[at:] {
		k, found := run.findPrevious(addressOf(m))
		if !found {
			k = describeMessage(run, m)
		}
		run.isVerified = run.isVerified && !found
		run.messages = append(run.messages, k)
	}
	clear(run.messages[len(run.messages):max(had, len(run.messages))])
	clear(run.previous)
	run.previous, run.previousIndex = run.previous[:0], 0
}

// describeMessage describes a message without reading its texts.
func describeMessage[M adk.MessageType](run *Tracker, m M) knownMessage {
	w := &run.weight
	w.measure, w.tokens, w.mark, w.isEdited = byLength, 0, 0, false
	usage := addMessage(w, m)
	return knownMessage{
		address: addressOf(m), mark: w.mark, maxTokens: w.tokens, tokens: -1,
		usage: int32(max(0, min(usage, math.MaxInt32))), isEdited: w.isEdited,
	}
}

// verifyMessages describes each message again, to find those that were changed in place.
func verifyMessages[M adk.MessageType](run *Tracker, msgs []M) {
	for i := range run.messages {
		k := &run.messages[i]
		if now := describeMessage(run, msgs[i]); now.mark != k.mark || now.usage != k.usage || now.isEdited != k.isEdited {
			*k = now
		}
	}
	run.isVerified = true
}

// readAll returns the estimate with every text read.
func (e *Estimator[M]) readAll(run *Tracker, msgs []M, definitions, threshold int64) Size {
	w := &run.weight
	c, sum, changed := tokens.Correction{}, definitions, false
	for i := range run.messages {
		k := &run.messages[i]
		if k.tokens < 0 {
			w.measure, w.tokens = byReading, 0
			addMessage(w, msgs[i])
			k.tokens, k.maxTokens = w.tokens, w.tokens
		}
		if k.usage > 0 && !changed && float64(sum)*c.Factor() < float64(threshold) {
			c.Add(int64(k.usage), sum)
		}
		sum += k.tokens
		changed = changed || k.isEdited
	}
	factor := c.Factor()
	if fixed := run.FixedFactor(); fixed > 0 {
		factor = fixed
	}
	return Size{int64(float64(sum) * factor), factor, true}
}

func addressOf[M adk.MessageType](m M) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&m)) }

// Tracker is what is known of the messages of one run. The zero value is ready for use.
type Tracker struct {
	busy          atomic.Bool // a concurrent model call of the same run then uses a Tracker of its own
	calls         int
	factor        atomic.Uint64 // bits of the fixed correction; zero: by the provider's reports
	messages      []knownMessage
	isVerified    bool           // each message was described again for this request
	previous      []knownMessage // messages of the previous request, from the first difference on
	previousIndex int            // index in previous of the next message to match
	tools         knownMessage   // the tool definitions
	weight        counter
}

// knownMessage describes one message, which is identified by its address. A message that was changed in place may go
// unnoticed for a few requests, but never in a request over the threshold.
type knownMessage struct {
	address   unsafe.Pointer
	mark      uint64 // hash of the addresses of its texts
	maxTokens int64  // upper bound
	tokens    int64  // negative: its texts were not read
	usage     int32  // tokens of its request that the provider reported
	isEdited  bool   // it was cleared or rewritten
	isSampled bool   // maxTokens comes from a sample
}

// verifyEvery is after how many requests all messages are described again.
const verifyEvery = 16

// maxGap bounds how many messages may be missing at one place, if those after them are to be found again.
const maxGap = 32

// findPrevious finds the message with an address in the previous request.
func (r *Tracker) findPrevious(at unsafe.Pointer) (knownMessage, bool) {
	for i := r.previousIndex; i < min(len(r.previous), r.previousIndex+maxGap); i++ {
		if r.previous[i].address == at {
			r.previousIndex = i + 1
			return r.previous[i], true
		}
	}
	return knownMessage{}, false
}

// definitions returns the size of the tool definitions. They are counted again only if one has another text.
func (r *Tracker) definitions(tools []*schema.ToolInfo) int64 {
	w := &r.weight
	w.measure, w.tokens, w.mark = byLength, 0, 0
	w.tools(tools)
	if w.mark != r.tools.mark || w.tokens != r.tools.maxTokens {
		r.tools.mark, r.tools.maxTokens = w.mark, w.tokens
		w.measure, w.tokens = byReading, 0
		w.tools(tools)
		r.tools.tokens = w.tokens
	}
	return r.tools.tokens
}

// FixedFactor is the factor of Fix, zero if there is none.
func (r *Tracker) FixedFactor() float64 { return math.Float64frombits(r.factor.Load()) }

// MayReach reports whether a history of a size, which Size has returned, or a part of it may have had at least limit
// tokens, by any correction that the provider's reports allow.
func (r *Tracker) MayReach(size Size, limit int64) bool {
	if !size.Exact || size.Factor == 1 || r.FixedFactor() > 0 {
		return size.Tokens >= limit
	}
	return float64(size.Tokens)/size.Factor*tokens.MaxRatio >= float64(limit)
}

// Fix records the factor that corrects all later estimates, as the messages before it have changed. A factor that was
// recorded before stays. Zero is none.
func (r *Tracker) Fix(factor float64) { r.factor.CompareAndSwap(0, math.Float64bits(factor)) }

const (
	// The overhead of a message, a call and the definition of a tool.
	messageOverhead = 4
	callOverhead    = 4
	toolOverhead    = 10

	// bytesPerToken converts the size of a text for events, by rule of thumb.
	bytesPerToken = 4
)

// OfBytes estimates the tokens of a text of so many bytes, for events.
func OfBytes(bytes int) int64 { return int64(bytes / bytesPerToken) }

// addMessage adds a message to the counter without allocating. It returns the tokens that the provider reported for
// the request that the message answers, 0 if there is no report.
func addMessage[M adk.MessageType](w *counter, m M) (usage int) {
	if message.IsNil(m) {
		return 0
	}
	w.tokens += messageOverhead
	role := message.Role(m)
	if role == schema.Assistant {
		if u := message.Usage(m); u != nil {
			usage = u.PromptTokens
		}
		w.isEdited = message.IsMarked(message.Extra(m), rounds.ProcessedKey)
	}
	for p := message.Parts(m); p.Next(); {
		addPart(w, &p.Part, role)
	}
	return usage
}

// addPart adds what the model reads of a part.
func addPart(w *counter, p *message.Part, role schema.RoleType) {
	switch p.Kind {
	case message.Result:
		if role == schema.User { // in a message with blocks, which names its tool
			w.text(p.Name())
		}
		for item := p.Parts(); item.Next(); {
			addItem(w, &item.Part)
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
		addValue(w, p.Value())
	case message.ServerResult:
		w.text(p.Name())
		w.text(p.Text())
		addValue(w, p.Value())
	}
}

func addItem(w *counter, item *message.Part) {
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

func addMCPTools(w *counter, items []*schema.MCPListToolsItem) {
	for _, t := range items {
		if t == nil {
			continue
		}
		w.tool(t.Name, t.Description)
		if t.InputSchema != nil {
			w.tokens += w.sizes.sizeOf(t.InputSchema, func() int64 {
				return schemaTokens(schema.NewParamsOneOfByJSONSchema(t.InputSchema))
			})
		}
	}
}

// addValue adds a value from a component. Values that are neither text nor bytes are marshaled. Values that cannot be
// marshaled count as nothing.
func addValue(w *counter, v any) {
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
		addMCPTools(w, v)
	default:
		text, _ := json.Marshal(v)
		w.bytes(text)
	}
}

// counter adds up the tokens of messages and tools.
type counter struct {
	measure  measure
	tokens   int64
	sizes    *schemaSizes
	isEdited bool   // something was cleared or rewritten
	mark     uint64 // hash of the addresses of the texts, with byLength

	aboveRough int64   // how many tokens more than by rule of thumb, with byReadingAll
	sample     *sample // with bySample
}

// measure is the way in which the tokens of a text are counted.
type measure uint8

const (
	byReading    measure = iota
	byReadingAll         // also by rule of thumb, and whether something was cleared or rewritten
	byLength             // an upper bound, one token per byte: no text is read
	byQuarter            // four bytes are a token, by rule of thumb
	bySample             // texts are read in blocks
	byCache              // zero if the process has counted the text before
)

func (w *counter) text(s string) {
	switch w.measure {
	case byReading:
		w.tokens += int64(tokens.Of(s))
	case byReadingAll:
		n := int64(tokens.Of(s))
		w.tokens, w.aboveRough = w.tokens+n, w.aboveRough+n-OfBytes(len(s))
	case byLength:
		w.tokens += int64(len(s))
		w.mark = (w.mark^uint64(uintptr(unsafe.Pointer(unsafe.StringData(s)))))*markPrime + uint64(len(s))
	case byQuarter:
		w.tokens += OfBytes(len(s))
	case bySample:
		w.sample.add(s)
	case byCache:
		if !tokens.Known(s) {
			w.tokens += int64(len(s))
		}
	}
}

// markPrime distributes the addresses of texts over a mark.
const markPrime = 0x9e3779b97f4a7c15

// result adds a text that may be the notice of a cleared result. Such a text was not in the first request with its
// message.
func (w *counter) result(s string) {
	w.text(s)
	if w.isEdited || w.measure != byLength && w.measure != byReadingAll {
		return
	}
	n := notice.Parse(s)
	w.isEdited = n.IsPlaceholder() || notice.IsMedium(s) || n.IsExcerpt() && offload.IsClearPath(n.Path)
}

// bytes adds a value that is not stored as a string.
func (w *counter) bytes(b []byte) {
	if mark := w.mark; w.measure == byLength {
		w.tokens, w.mark = w.tokens+int64(len(b)), mark*markPrime+uint64(len(b))
		return
	}
	w.text(string(b))
}

func (w *counter) call(name, arguments string) {
	w.tokens += callOverhead
	w.text(name)
	w.text(arguments)
}

// tool adds a definition without its parameters.
func (w *counter) tool(name, description string) {
	w.tokens += toolOverhead
	w.text(name)
	w.text(description)
}

func (w *counter) tools(tools []*schema.ToolInfo) {
	for _, t := range tools {
		if t == nil {
			continue
		}
		w.tool(t.Name, t.Desc)
		if p := t.ParamsOneOf; p != nil {
			w.tokens += w.sizes.sizeOf(p, func() int64 { return schemaTokens(p) })
		}
	}
}

// maxSchemas bounds a schemaSizes, which is emptied when full.
const maxSchemas = 4096

// RoughSizes are the sizes of messages, in tokens of four bytes.
func RoughSizes[M adk.MessageType](msgs []M) []int64 {
	w := counter{sizes: &schemaSizes{}, measure: byQuarter}
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
	byAddress sync.Map // int64 by address
	count     atomic.Int64
}

// schemaTokens estimates a schema as JSON, or by its length if it is too large to marshal.
func schemaTokens(p *schema.ParamsOneOf) int64 {
	if text, ok := toolschema.Text(p); ok {
		return int64(tokens.Of(text))
	}
	return int64(toolschema.Bytes(p) / bytesPerToken)
}

// sizeOf returns the size of the value with the address key, and measures it if it is unknown.
func (s *schemaSizes) sizeOf(key any, measure func() int64) int64 {
	if n, ok := s.byAddress.Load(key); ok {
		return n.(int64)
	}
	n := measure()
	if s.count.Add(1) > maxSchemas {
		s.byAddress.Clear()
		s.count.Store(1)
	}
	s.byAddress.Store(key, n)
	return n
}

const (
	sampleBlock       = 128 // bytes
	sampleBlocks      = 512
	firstSampleBlocks = 64
)

// sample reads blocks of texts, one at a random place in each interval of bytes.
type sample struct {
	blockInterval int    // bytes for each block
	skip          int    // bytes until the next block
	gap           int    // bytes between that block and the next interval
	random        uint64 // state of the random numbers
	bytes         int64  // bytes read
	tokens        int64  // tokens in the bytes read
}

func (s *sample) nextBlock() {
	s.random = s.random*6364136223846793005 + 1442695040888963407
	s.skip = s.gap
	if free := s.blockInterval - sampleBlock; free > 0 {
		at := int(s.random>>33) % free
		s.skip, s.gap = s.skip+at, free-at
	}
}

func (s *sample) add(text string) {
	for s.skip < len(text) {
		block := text[s.skip:min(len(text), s.skip+sampleBlock)]
		s.bytes += int64(len(block))
		s.tokens += int64(tokens.Estimate(block))
		text = text[s.skip+len(block):]
		s.nextBlock()
	}
	s.skip -= len(text)
}
