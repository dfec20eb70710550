// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"context"
	"errors"
	"hash/maphash"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/window/internal/parts"
)

// Config says what a [Collector] keeps. Its zero value is useful.
type Config struct {
	// Conversation tells which conversation a run belongs to. It is called when a run
	// starts or resumes. If nil, or if it fails or returns "", every run is a
	// separate conversation, with a name that no other process uses. It must be safe
	// for concurrent use.
	Conversation func(context.Context) (string, error)

	// Texts says how much of the texts is kept. If zero, the first 2 KB of each.
	Texts Texts

	// Redact rewrites every string that users, models, servers and tools wrote before
	// it is kept, for instance to remove secrets: texts, queries, names, paths and
	// errors. It gets them whole, before they are shortened. A string on which it panics
	// is not kept; an ID of a tool call that it changes is replaced by another one. No
	// lock is held meanwhile. It must be safe for concurrent use. If nil, strings are
	// kept as they are.
	Redact func(string) string

	// MaxBytes bounds the memory of everything that is kept. Above it, the parts and
	// texts of the oldest calls are dropped first, then the calls themselves, which
	// [Conversation.Earlier] adds up, then whole conversations. The figures of the newest
	// call stay. If zero, defaults to 64 MB.
	MaxBytes int64

	// OnCall is called when a call has ended, or when it is known that its answer will
	// not be read to the end. The context is that of the call. OnCall must not change
	// the call and must be safe for concurrent use. A panic in it is recovered.
	OnCall func(ctx context.Context, call *ModelCall)

	// Log is written each call before OnCall is called, in the format of
	// [Collector.WriteJSON] and in whole lines: "einolean view --follow" shows such a file
	// while the agent runs. Several processes may append to one file. Writes are never
	// concurrent. A Write that fails, or that has not returned after a second while 4 MB
	// are waiting, costs calls: the next line says how many, and so does
	// [Collector.LogError]. No run waits longer than that second or ends with it. If nil,
	// nothing is written.
	Log io.Writer

	seed maphash.Seed
}

// Texts says how much of the texts is kept.
type Texts int

// The choices of Config.Texts.
const (
	TextsStart Texts = iota // the first 2 KB of each
	TextsNone               // none: figures only; names and IDs are replaced by others
	TextsAll                // all of them
)

const (
	defaultMaxBytes = 64 << 20
	startBytes      = 2048 // of a text that TextsStart keeps
	nameBytes       = 256  // of a name, an ID or a path
	questionBytes   = 1000
)

// keep redacts a string, and shortens it to this many bytes, or as Texts says if that is 0. Every
// string that users, models, servers and tools wrote goes through it: nothing else of it stays in memory.
func (c *Config) keep(value string, maxBytes int) string {
	if c.Texts == TextsNone || value == "" {
		return ""
	}
	if c.Redact != nil {
		redacted, err := safe.Value("Redact", func() (string, error) { return c.Redact(value), nil })
		if err != nil {
			return ""
		}
		value = redacted
	}
	if maxBytes == 0 && c.Texts == TextsStart {
		maxBytes = startBytes
	}
	if maxBytes > 0 && len(value) > maxBytes {
		return strings.Clone(display.Start(value, maxBytes))
	}
	return value
}

// hash is what strings that are only compared are kept as.
func (c *Config) hash(s string) uint64 { return maphash.String(c.seed, s) }

// keepID is keep for the ID of a tool call. Calls and results must stay pairs, so an ID
// that may not be kept becomes another one that is as unique.
func (c *Config) keepID(id string) string {
	if kept := c.keep(id, nameBytes); kept == id {
		return id
	}
	return "id-" + strconv.FormatUint(c.hash(id), 36)
}

// keepName is keep for the name of a tool. Tools must stay apart, so one whose name may
// not be kept has another one.
func (c *Config) keepName(name string) string {
	if c.Texts == TextsNone && name != "" {
		return "tool-" + strconv.FormatUint(c.hash(name)%(36*36*36*36), 36)
	}
	return c.keep(name, nameBytes)
}

// keepError is the text of an error. It may name machines and files, so it is kept only with
// TextsAll.
func (c *Config) keepError(err error) string {
	if c.Texts != TextsAll {
		return ""
	}
	return c.keep(safe.ErrorText(err), questionBytes)
}

// keepPiece redacts and shortens what is to be kept of a piece. Names are redacted already.
func (c *Config) keepPiece(p *piece, name func(string) string) {
	if p.stored.name = name(p.Tool); p.Tool == "" {
		p.stored.name = c.keep(p.Label, nameBytes)
	}
	p.stored.text, p.stored.id = c.keep(p.Text, 0), c.keepID(p.CallID)
	p.stored.path = c.keep(p.Notice.Path, nameBytes)
	p.isPrepared = true
}

// keepCall is what is kept of a call in an answer.
func (c *Config) keepCall(p *parts.Part) ToolUse {
	return ToolUse{Tool: c.keepName(p.Tool), CallID: c.keepID(p.CallID), Arguments: c.keep(p.Text, 0)}
}

// keepEvent returns a copy of an event whose strings are redacted and shortened, and whose
// numbers can be encoded.
func (c *Config) keepEvent(e einolean.Event) einolean.Event {
	name := func(s string) string { return c.keep(s, nameBytes) }
	e.Tool, e.CallID, e.Server = c.keepName(e.Tool), c.keepID(e.CallID), name(e.Server)
	if e.Err != nil {
		text := c.keepError(e.Err)
		if e.Err = nil; text != "" {
			e.Err = errors.New(text)
		}
	}
	if e.Search != nil {
		e.Search = c.keepSearch(*e.Search)
	}
	if e.Tools != nil {
		t := *e.Tools
		t.Added, t.Removed = c.keepNames(t.Added), c.keepNames(t.Removed)
		t.Phase, t.Reason = name(t.Phase), name(t.Reason)
		e.Tools = &t
	}
	if e.Output != nil {
		o := *e.Output
		o.Path, o.Rule, o.Reason = name(o.Path), name(o.Rule), name(o.Reason)
		e.Output = &o
	}
	if e.Program != nil {
		p := *e.Program
		p.Calls = slices.Clone(p.Calls[:min(len(p.Calls), maxInEvent)])
		for i := range p.Calls {
			p.Calls[i].Tool = c.keepName(p.Calls[i].Tool)
		}
		e.Program = &p
	}
	return e
}

// most of the hits, terms and names of an event that are kept.
const maxInEvent = 20

func (c *Config) keepNames(names []string) []string {
	kept := make([]string, 0, min(len(names), maxInEvent))
	for _, n := range names[:min(len(names), maxInEvent)] {
		if n = c.keepName(n); n != "" {
			kept = append(kept, n)
		}
	}
	return kept
}

func (c *Config) keepSearch(s einolean.Search) *einolean.Search {
	s.Query = c.keep(dropCutWord(s.Query), questionBytes)
	s.Index = c.keep(s.Index, nameBytes)
	s.Hits = slices.Clone(s.Hits[:min(len(s.Hits), maxInEvent)])
	for i := range s.Hits {
		h := &s.Hits[i]
		h.Name, h.Score, h.Confidence = c.keepName(h.Name), display.Finite(h.Score), display.Finite(h.Confidence)
		h.Terms = slices.Clone(h.Terms[:min(len(h.Terms), maxInEvent)])
		for j := range h.Terms {
			t := &h.Terms[j]
			t.Text, t.Field, t.Relation, t.Score = c.keepWord(t.Text, s.Query), c.keep(t.Field, nameBytes), c.keep(t.Relation, nameBytes), display.Finite(t.Score)
		}
	}
	return &s
}

// keepWord is keep for a word of a query: a secret is not one in pieces, so only words stay
// that Redact left in the query.
func (c *Config) keepWord(word, kept string) string {
	if c.Redact != nil && !strings.Contains(strings.ToLower(kept), strings.ToLower(word)) {
		return ""
	}
	return c.keep(word, nameBytes)
}

// dropCutWord returns a query without its last word if the query was cut: Redact does not recognize
// half a secret.
func dropCutWord(query string) string {
	if len(query) < questionBytes-4 {
		return query
	}
	return query[:strings.LastIndexFunc(query, unicode.IsSpace)+1]
}
