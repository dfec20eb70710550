// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The tokens of the pieces of a conversation in the default estimate. In a run each text
// is read once.

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
	tokens int64
	sizes  *schemaSizes
	memo   *memo       // nil: nothing is remembered
	known  []knownText // the content of the memo
	at     int         // how many texts there were
	edited flag        // something was cleared or rewritten
	rough  bool        // counts four bytes as a token
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

// next weighs a text that is empty, or is at the same place as in the previous walk. It
// is small enough to be inlined: a long history has thousands of texts.
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

// unknown weighs a text that is not at this place of the previous walk.
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

// memo holds the tokens of texts, in their order. A text is identified by the address of
// its bytes; the memo keeps it alive, so no other text can be there.
type memo struct {
	known []knownText
	old   []knownText // those of the previous walk, from the first difference on
	moved int         // how far old was used
}

type knownText struct {
	text   string
	tokens int32
	edited flag // it is the notice of a cleared result
}

// flag is 1 if something holds. Flags are joined without a branch.
type flag uint8

func flagOf(holds bool) flag {
	if holds {
		return 1
	}
	return 0
}

// near is how many texts may be missing at one place for those after them to be
// recognised.
const near = 32

func same(a, b string) bool { return len(a) == len(b) && unsafe.StringData(a) == unsafe.StringData(b) }

// add inserts a text into the walk, from where it differs from the previous one.
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

// before finds a text in the previous walk.
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
		return int64(tokens.Estimate(text))
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
