// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Sets of tools. What one call of NewToolSet or Update made is a block, which is indexed as a
// whole, once, when a search first needs it. A set is one block, or parts of several. A tool is an
// entry, its own copy of the definition, with what is computed from it once. JSON schemas are
// untrusted: every walk through one is bounded, and one that is too deep or refers to itself counts as
// none.

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bytedance/sonic"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/adkrun"
	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25"
	"github.com/einolean/einolean/internal/keyword/bm25/lists"
	"github.com/einolean/einolean/internal/keyword/names"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/toolsearch/internal/slots"
)

// ToolSet is an ordered set of tools with unique names. It is immutable and safe for
// concurrent use; nil is the empty set. It is indexed once, at the first search, and so is
// what Update makes of it: 25 ms for a thousand tools, with BM25Index. Union and Select
// make sets that use the indexes of those they were made from: a thousand users' views of
// the same tools take little more memory than one set.
type ToolSet struct {
	parts []part
	size  int

	sumOnce sync.Once
	sumText string
	keyword firstUse[*keyword.Index]
	bm25    firstUse[*bm25.Index]
}

// firstUse is a value that is made on first use, once for all callers.
type firstUse[T any] struct {
	once  sync.Once
	value T
	err   error
}

// get returns the value. make must not panic.
func (u *firstUse[T]) get(make func() (T, error)) (T, error) {
	u.once.Do(func() { u.value, u.err = make() })
	return u.value, u.err
}

// block is tools that are indexed together. It is immutable.
type block struct {
	entries []*entry

	byName    func() map[string]int // the place of each
	specified func() *keyword.Segment
	bm25      func() *bm25.Segment
}

// part is a block with the selection of its tools that are in a set.
type part struct {
	*block
	has  names.Set // nil means all
	size int
}

// newSet is a set of entries, whose names are unique, as one block. Its indexes are made on first
// use.
func newSet(entries []*entry) *ToolSet {
	if len(entries) == 0 {
		return &ToolSet{}
	}
	b := &block{
		entries: entries,
		byName: sync.OnceValue(func() map[string]int {
			places := make(map[string]int, len(entries))
			for i, e := range entries {
				places[e.info.Name] = i
			}
			return places
		}),
		specified: sync.OnceValue(func() *keyword.Segment { return keyword.NewSegment(documents(entries, false)) }),
		bm25:      sync.OnceValue(func() *bm25.Segment { return bm25.NewSegment(documents(entries, true)) }),
	}
	return &ToolSet{parts: []part{{b, nil, len(entries)}}, size: len(entries)}
}

// NewToolSet returns the set of tools, in their order. It asks each tool for its Info once,
// and never again; the tool must not change its parameters later. The error names every
// tool that has no usable Info, can neither be invoked nor streamed, or has the name of an
// earlier one, by its place.
func NewToolSet(ctx context.Context, tools ...tool.BaseTool) (*ToolSet, error) {
	return (*ToolSet)(nil).Update(ctx, tools...)
}

// Update returns the set of exactly these tools, in their order. A tool that is the same
// value as one of s is not asked for its Info again. A tool with an equal definition counts
// as unchanged even if it is another value; the new value runs. If all tools are the values
// of s in the same order, Update returns s itself; otherwise the next search indexes the
// new set. The error is that of NewToolSet, and s is never changed.
func (s *ToolSet) Update(ctx context.Context, tools ...tool.BaseTool) (*ToolSet, error) {
	known := make(map[tool.BaseTool]*entry, s.len())
	old, changed := make([]*entry, 0, s.len()), s == nil || len(tools) != s.size
	for e := range s.entries() {
		old = append(old, e)
		if t := e.tool; isComparable(t) {
			known[t] = e
		}
	}
	var wrong problems
	entries, places := make([]*entry, 0, len(tools)), make(map[string]int, len(tools))
	for i, t := range tools {
		e, err := s.entryFor(ctx, t, known)
		if err != nil {
			wrong.add(fieldAt("tools", i), "%w", err)
			continue
		}
		if first, twice := places[e.info.Name]; twice {
			wrong.add(fieldAt("tools", i), "it has the name of tools[%d], %q", first, e.info.Name)
			continue
		}
		places[e.info.Name] = i
		changed = changed || e != old[i]
		entries = append(entries, e)
	}
	if err := wrong.err(); err != nil {
		return nil, err
	}
	if !changed {
		return s, nil
	}
	return newSet(entries), nil
}

// entryFor returns the entry of a tool: that of the same value, or else one that shares the
// definition of a tool that looks the same.
func (s *ToolSet) entryFor(ctx context.Context, t tool.BaseTool, known map[tool.BaseTool]*entry) (*entry, error) {
	if isComparable(t) && known[t] != nil {
		return known[t], nil
	}
	info, err := readInfo(ctx, t)
	if err != nil {
		return nil, err
	}
	e, err := newEntry(t, info)
	if err != nil {
		return nil, err
	}
	if old := s.lookup(info.Name); old != nil && old.definition() == e.definition() {
		e.info, e.safe, e.held = old.info, old.safe, schema.ToolInfo{} // one copy for both
	}
	return e, nil
}

// isComparable reports whether a tool can be the key of a map.
func isComparable(t tool.BaseTool) bool { return t != nil && reflect.ValueOf(t).Comparable() }

// Select returns the tools for which keep returns true, in their order: one user's view of
// a large set. keep must not change its argument. A tool on which it panics is not kept; if
// keep is nil, none is.
//
// A model learns nothing of the tools that are left out, but the time of some work
// depends on them. If that matters, give each user a Union of sets.
func (s *ToolSet) Select(keep func(*schema.ToolInfo) bool) *ToolSet {
	if keep == nil {
		return &ToolSet{}
	}
	return s.filtered(func(e *entry) bool {
		ok, err := safe.Value("keep", func() (bool, error) { return keep(e.info), nil })
		return ok && err == nil
	})
}

// All iterates over the tools in their order, as they were given.
func (s *ToolSet) All() iter.Seq[tool.BaseTool] {
	return func(yield func(tool.BaseTool) bool) {
		for e := range s.entries() {
			if !yield(e.tool) {
				return
			}
		}
	}
}

// Tools returns s: a set is a Source that never changes.
func (s *ToolSet) Tools(context.Context) (*ToolSet, error) { return s, nil }

// Union returns the tools of all sets, in their order. Of two tools with one name, the
// first stays.
func Union(sets ...*ToolSet) *ToolSet {
	whole := &ToolSet{}
	for _, s := range sets {
		whole = whole.with(s.filtered(func(e *entry) bool { return whole.lookup(e.info.Name) == nil }))
	}
	return whole
}

// with adds tools of other names.
func (s *ToolSet) with(more *ToolSet) *ToolSet {
	switch {
	case more.len() == 0:
		return s
	case s.len() == 0:
		return more
	}
	return &ToolSet{parts: append(slices.Clip(s.parts), more.parts...), size: s.size + more.size}
}

func (s *ToolSet) len() int {
	if s == nil {
		return 0
	}
	return s.size
}

// entries iterates over the entries in their order.
func (s *ToolSet) entries() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		if s == nil {
			return
		}
		for _, p := range s.parts {
			for i := range p.places() {
				if !yield(p.entries[i]) {
					return
				}
			}
		}
	}
}

func (s *ToolSet) infos() []*schema.ToolInfo {
	infos := make([]*schema.ToolInfo, 0, s.len())
	for e := range s.entries() {
		infos = append(infos, e.info)
	}
	return infos
}

// lookup returns the tool of a name; nil if there is none.
func (s *ToolSet) lookup(name string) *entry {
	if s == nil {
		return nil
	}
	for _, p := range s.parts {
		if i, ok := p.byName()[name]; ok && (p.has == nil || p.has.Has(uint32(i))) {
			return p.entries[i]
		}
	}
	return nil
}

// filtered returns the tools for which keep returns true.
func (s *ToolSet) filtered(keep func(*entry) bool) *ToolSet {
	if s == nil {
		return &ToolSet{}
	}
	next := &ToolSet{}
	for _, p := range s.parts {
		kept := part{block: p.block, has: names.NewSet(len(p.entries))}
		for i := range p.places() {
			if keep(p.entries[i]) {
				kept.has.Add(uint32(i))
				kept.size++
			}
		}
		if kept.size == p.size {
			kept = p
		}
		if kept.size > 0 {
			next.parts = append(next.parts, kept)
			next.size += kept.size
		}
	}
	if next.size == s.size {
		return s
	}
	return next
}

// sum is equal for sets of tools with equal definitions in the same order.
func (s *ToolSet) sum() string {
	s.sumOnce.Do(func() {
		h := sha256.New()
		for e := range s.entries() {
			one := e.definition()
			h.Write(one[:])
		}
		s.sumText = string(h.Sum(nil))
	})
	return s.sumText
}

// detached is a copy that keeps nothing of a run.
func (s *ToolSet) detached() *ToolSet {
	var entries []*entry
	for e := range s.entries() {
		entries = append(entries, &entry{info: withOwnParams(shallowInfo(e.info))})
	}
	return newSet(entries)
}

// places iterates over the places in the block of the part's tools.
func (p part) places() iter.Seq[int] {
	return func(yield func(int) bool) {
		if p.has == nil {
			for i := range p.entries {
				if !yield(i) {
					return
				}
			}
			return
		}
		for at, word := range p.has {
			for ; word != 0; word &= word - 1 {
				if !yield(64*at + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// buildOnce makes an index on first use: a middleware whose tools nobody searches costs next to nothing.
// A panic in build is the error.
func buildOnce[X any](x *firstUse[X], build func() (X, error)) (X, error) {
	return x.get(func() (X, error) { return safe.Value("toolsearch: building the index", build) })
}

// keywordIndex is Eino's score over the tools.
func (s *ToolSet) keywordIndex() (*keyword.Index, error) {
	return buildOnce(&s.keyword, func() (*keyword.Index, error) {
		all := make([]keyword.Part, len(s.parts))
		for i, p := range s.parts {
			all[i] = keyword.Part{Segment: p.specified(), Has: p.has}
		}
		return keyword.Join(all...), nil
	})
}

// words are the lists, read on first use.
var words = sync.OnceValue(func() *bm25.Words { return bm25.ReadWords(lists.Files) })

func (s *ToolSet) bm25Index() (*bm25.Index, error) {
	return buildOnce(&s.bm25, func() (*bm25.Index, error) {
		all := make([]bm25.Part, len(s.parts))
		for i, p := range s.parts {
			all[i] = bm25.Part{Segment: p.bm25(), Has: p.has}
		}
		return bm25.Join(words(), all...), nil
	})
}

// knownSet returns the set whose tools an IndexFunc is called with: that of the context, whose
// indexes are shared, or else a new one.
func knownSet(ctx context.Context, tools []*schema.ToolInfo) *ToolSet {
	if known, _ := ctx.Value(indexedKey).(*ToolSet); known != nil && slices.Equal(known.infos(), tools) {
		return known
	}
	entries := make([]*entry, len(tools))
	for i, info := range tools {
		entries[i] = &entry{info: info}
	}
	return newSet(entries)
}

// entry is one hidden tool. It is immutable.
type entry struct {
	info *schema.ToolInfo // our copy; read only
	safe *schema.ToolInfo // what goes into the agent's state: a copy that a checkpoint can hold
	tool tool.BaseTool    // the user's

	held       schema.ToolInfo // what info points to: one piece of memory for both
	typeOnce   sync.Once
	typeText   string
	schemaOnce sync.Once
	schemaText string
	shownText  string
	signOnce   sync.Once
	signText   string
	checkOnce  sync.Once
	check      *toolschema.Check
	sumOnce    sync.Once
	sum        [sha256.Size]byte
}

// newEntry hides a tool.
func newEntry(t tool.BaseTool, info *schema.ToolInfo) (*entry, error) {
	e := &entry{}
	return e, e.fill(t, info)
}

// fill sets the fields of a new entry from a tool.
func (e *entry) fill(t tool.BaseTool, info *schema.ToolInfo) error {
	e.held = *info
	e.held.Extra = toolschema.CopyMap(info.Extra)
	e.info, e.safe = &e.held, gobSafe(&e.held)
	if e.tool = t; !slots.Runs(t) {
		return fmt.Errorf("tool %q (%T) can neither be invoked nor streamed", info.Name, t)
	}
	return nil
}

// readInfo returns a tool's info.
func readInfo(ctx context.Context, t tool.BaseTool) (*schema.ToolInfo, error) {
	if safe.IsNil(t) {
		return nil, errors.New("the tool is nil")
	}
	info, err := safe.Value("Info", func() (*schema.ToolInfo, error) { return t.Info(ctx) })
	switch {
	case err != nil:
		return nil, infoError(t, err)
	case info == nil:
		return nil, fmt.Errorf("Info of %T returned nil", t)
	case info.Name == "":
		return nil, fmt.Errorf("Info of %T has an empty Name (description %.60q)", t, info.Desc)
	}
	return info, nil
}

func infoError(t tool.BaseTool, err error) error {
	var panicked *safe.PanicError
	if errors.As(err, &panicked) {
		panicked.What = fmt.Sprintf("Info of %T", t)
		return panicked
	}
	return fmt.Errorf("reading Info of %T: %w", t, err)
}

// gobSafe returns info with only those entries of Extra that a checkpoint can hold.
func gobSafe(info *schema.ToolInfo) *schema.ToolInfo {
	if len(info.Extra) == 0 {
		return info
	}
	extra := encodable(info.Extra)
	if len(extra) == len(info.Extra) {
		return info
	}
	safe := *info
	safe.Extra = extra
	return &safe
}

// encodable returns an Extra without those entries that gob cannot encode. What the agent's state
// holds becomes part of its checkpoints, and one entry of an unregistered type, such as a nested
// map, would make every checkpoint of the run fail.
func encodable(extra map[string]any) map[string]any {
	kept := maps.Clone(extra)
	maps.DeleteFunc(kept, func(k string, v any) bool {
		return gob.NewEncoder(io.Discard).Encode(map[string]any{k: v}) != nil
	})
	return kept
}

// typ is the tool's type as reported to callbacks. Finding it can cost more than all the
// rest of New.
func (e *entry) typ() string {
	e.typeOnce.Do(func() { e.typeText = adkrun.TypeOf(e.tool) })
	return e.typeText
}

// slotted is a tool as slots see it.
func (e *entry) slotted() slots.Tool {
	return slots.Tool{Name: e.info.Name, Desc: e.info.Desc, Tool: e.tool, Type: e.typ()}
}

// parameters is the JSON schema of the tool's arguments, as text.
func (e *entry) parameters() string {
	e.schemaOnce.Do(func() {
		e.schemaText = schemaText(e.info)
		e.shownText = toolschema.Outline(e.schemaText, maxShownSchema)
	})
	return e.schemaText
}

// shownParameters is the schema as answers show it, and whether it is shortened.
func (e *entry) shownParameters() (text string, shortened bool) {
	whole := e.parameters()
	return e.shownText, e.shownText != whole
}

// signature is the tool as a line of TypeScript.
func (e *entry) signature() string {
	e.signOnce.Do(func() {
		returns, _ := e.info.Extra[toolschema.OutputKey].(string)
		e.signText = toolschema.Signature(e.info.Name, e.info.Desc, e.parameters(), returns)
	})
	return e.signText
}

// schemaHint is the part of an answer that describes a tool's schema.
func (e *entry) schemaHint(reason string) promptData {
	text, shortened := e.shownParameters()
	return promptData{Name: e.info.Name, Reason: reason, Schema: text, Shortened: shortened}
}

// tokens is about how many tokens the definition of a tool takes.
func (e *entry) tokens() int64 {
	const bytesPerToken = 4
	return int64(len(e.info.Name)+len(e.info.Desc)+len(e.parameters())+bytesPerToken-1) / bytesPerToken
}

// schemaText is the JSON schema of a tool's arguments. An unreadable schema counts as none:
// the model still learns the tool's name and description.
func schemaText(info *schema.ToolInfo) string {
	if text, ok := toolschema.Text(info.ParamsOneOf); ok {
		return text
	}
	return toolschema.None
}

func (e *entry) isCurrent(t *schema.ToolInfo) bool {
	return t.Desc == e.info.Desc && t.ParamsOneOf != nil && schemaText(t) == e.parameters()
}

// isMarked reports whether a tool asks to be hidden.
func isMarked(info *schema.ToolInfo) bool {
	marked, _ := info.Extra["defer_loading"].(bool)
	return marked
}

// definition is equal for tools with equal names, descriptions, schemas and Extra. A tool
// whose Extra cannot be compared equals only itself.
func (e *entry) definition() [sha256.Size]byte {
	e.sumOnce.Do(func() {
		extra, plain := toolschema.PlainText(e.info.Extra)
		if !plain {
			extra = string(binary.BigEndian.AppendUint64([]byte("unlike"), unlike.Add(1)))
		}
		h := sha256.New()
		for _, text := range []string{e.info.Name, e.info.Desc, e.parameters(), extra} {
			var size [8]byte
			binary.BigEndian.PutUint64(size[:], uint64(len(text)))
			h.Write(size[:])
			h.Write([]byte(text))
		}
		h.Sum(e.sum[:0])
	})
	return e.sum
}

// unlike numbers the definitions that equal no other.
var unlike atomic.Uint64

// native is a copy of the info that may be deferred: providers refuse a deferred tool that
// is also a place to cache up to.
func (e *entry) native() *schema.ToolInfo {
	dup := shallowInfo(e.safe)
	if dup.ParamsOneOf == nil {
		dup.ParamsOneOf = noParams()
	}
	for _, key := range cacheKeys {
		delete(dup.Extra, key)
	}
	return dup
}

// noParams replaces missing parameters, which some adapters cannot send.
func noParams() *schema.ParamsOneOf {
	return schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{})
}

// cacheKeys are the keys of ToolInfo.Extra under which the claude and the agenticclaude
// adapter keep a cache breakpoint.
var cacheKeys = []string{"_eino_claude_breakpoint", "_eino_claude_breakpoint_ttl", "_agenticclaude_cache_control_ttl"}

// withOwnParams gives a copy of an info a schema of its own.
func withOwnParams(dup *schema.ToolInfo) *schema.ToolInfo {
	dup.ParamsOneOf = toolschema.Copy(dup.ParamsOneOf)
	return dup
}

// shallowInfo copies an info and its Extra: a schema takes longer.
func shallowInfo(info *schema.ToolInfo) *schema.ToolInfo {
	dup := *info
	dup.Extra = toolschema.CopyMap(dup.Extra)
	return &dup
}

// checkArguments returns the arguments to pass to the tool, or the problem with them. raw is
// their text as the model wrote it: an object, or a text that holds one. No arguments at all
// are an empty object.
func (e *entry) checkArguments(raw string) (args, problem string) {
	v, raw, ok := readArguments(raw)
	if !ok {
		return "", render("no-object", promptData{})
	}
	e.checkOnce.Do(func() { e.check = toolschema.Compile(e.parameters()) })
	if err := e.check.Validate(v); err != nil {
		return "", toolschema.Problem(err)
	}
	return raw, ""
}

// exactJSON decodes numbers without losing digits.
var exactJSON = sonic.Config{UseInt64: true, CopyString: true}.Froze()

func readArguments(raw string) (object map[string]any, text string, ok bool) {
	for range 2 { // an object, or a text that holds one
		if raw = strings.TrimSpace(raw); raw == "" || raw == "null" {
			return map[string]any{}, "{}", true
		}
		var v any
		if exactJSON.UnmarshalFromString(raw, &v) != nil {
			return nil, "", false
		}
		if object, ok = v.(map[string]any); ok {
			return object, raw, true
		}
		if raw, ok = v.(string); !ok {
			return nil, "", false
		}
	}
	return nil, "", false
}
