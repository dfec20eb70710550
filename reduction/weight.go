// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The tokens of the pieces of a conversation in the default estimate.

import (
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/tokens"
	"github.com/leanctx/leanctx/internal/toolschema"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

const (
	// mediaTokens is the estimate for an image, a sound, a film or a file of any size:
	// about what common providers charge for an image of 1,000 by 1,000 pixels. The
	// length of the data says nothing about it.
	mediaTokens = 1600

	// The overhead of a message, a call and the definition of a tool.
	messageOverhead = 4
	callOverhead    = 4
	toolOverhead    = 10

	// bytesPerToken converts the size of a text for events, by rule of thumb.
	bytesPerToken = 4
)

// tokensOf is the size of a text in events.
func tokensOf(bytes int) int64 { return int64(bytes / bytesPerToken) }

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

// text weighs a text.
func (w *weight) text(s string) {
	switch w.by {
	case byReading:
		w.tokens += int64(tokens.Of(s))
	case byLength:
		w.tokens += int64(len(s))
		w.mark = (w.mark^uint64(uintptr(unsafe.Pointer(unsafe.StringData(s)))))*markPrime + uint64(len(s))
	case byQuarter:
		w.tokens += tokensOf(len(s))
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

// result weighs a text that may be the notice of a cleared result.
func (w *weight) result(s string) {
	w.text(s)
	w.edited = w.edited || w.by == byLength && edited(s)
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

// edited reports whether a text was not in the first request that had its message.
func edited(text string) bool {
	n := recognise(text)
	return n.kind == clearedNotice || isMovedMedium(text) || n.kind == truncatedNotice && strings.Contains(n.path, "/"+vault.ClearDir+"/")
}

// maxSchemas bounds a schemaSizes, which is emptied when full.
const maxSchemas = 4096

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

// newSample makes a sample with one block for so many bytes.
func newSample(every int64) *sample {
	s := &sample{every: int(max(sampleBlock, every)), random: markPrime}
	s.next()
	return s
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
