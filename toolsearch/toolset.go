// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Sets of tools: immutable, and made of segments that sets share.

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"math/bits"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/safe"
)

// ToolSet is an ordered set of tools, each with a name of its own. It is immutable and
// safe for concurrent use; nil is the empty set. Sets that are made from one another share
// what is equal in both, so that a thousand users' views of the same tools, or a set in
// which one tool of ten thousand changed, take little more memory than one set.
type ToolSet struct {
	parts []part
	size  int

	sumOnce sync.Once
	sum     [sha256.Size]byte
}

// segmentSize is the most tools in a segment: what one change makes anew, against how many
// segments a lookup goes through.
const segmentSize = 512

// segment is tools in a row. It is immutable.
type segment struct {
	entries []*entry

	nameOnce  sync.Once
	names     map[string]int
	valueOnce sync.Once
	values    map[tool.BaseTool]int
}

// part is those tools of a segment that a set has.
type part struct {
	*segment
	bits []uint64 // of its tools; nil: all
	size int
}

// NewToolSet returns the set of tools, in their order. It asks each tool for its Info once,
// and never again; the tool must not change its parameters later. The error names every
// tool that has no usable Info, can neither be invoked nor streamed, or has the name of an
// earlier one, by its place.
func NewToolSet(ctx context.Context, tools ...tool.BaseTool) (*ToolSet, error) {
	return (*ToolSet)(nil).Update(ctx, tools...)
}

// Update returns the set of exactly these tools, in their order, which shares with s what is
// equal in both. A tool that is the same value as one of s is not asked for its Info again,
// and a tool with an equal definition counts as unchanged even if it is another value; it is
// the new value that runs. If all tools are the values of s in the same order, Update returns s
// itself. The error is that of NewToolSet, and s is never changed.
func (s *ToolSet) Update(ctx context.Context, tools ...tool.BaseTool) (*ToolSet, error) {
	u := updater{old: s, seen: make(map[string]int, len(tools))}
	entries := make([]*entry, len(tools))
	for i, t := range tools {
		e, err := u.entry(ctx, t)
		if err != nil {
			u.wrong.add(place("tools", i), "%w", err)
			continue
		}
		if first, twice := u.seen[e.info.Name]; twice {
			u.wrong.add(place("tools", i), "it has the name of tools[%d], %q", first, e.info.Name)
			continue
		}
		u.seen[e.info.Name] = i
		entries[i] = e
	}
	if err := u.wrong.err(); err != nil {
		return nil, err
	}
	return s.arranged(entries), nil
}

// Select returns those tools that keep approves of, in their order: one user's view of a
// large set. It must not change the info that it is given. A keep that panics, or is nil,
// keeps nothing.
//
// Nothing of the tools that are left out shows in what a model is told, but the time that
// some work takes depends on them. Where that matters, give each user a Union of sets.
func (s *ToolSet) Select(keep func(*schema.ToolInfo) bool) *ToolSet {
	next := &ToolSet{}
	if keep == nil {
		return next
	}
	return s.filtered(func(e *entry) bool {
		ok, err := safe.Value("keep", func() (bool, error) { return keep(e.info), nil })
		return ok && err == nil
	})
}

// All iterates over the tools in their order, as they were given.
func (s *ToolSet) All() iter.Seq[tool.BaseTool] {
	return func(yield func(tool.BaseTool) bool) {
		for e := range s.all() {
			if !yield(unwrap(e.tool)) {
				return
			}
		}
	}
}

// Tools returns s: a set is a Source that never changes.
func (s *ToolSet) Tools(context.Context) (*ToolSet, error) { return s, nil }

// Union returns the tools of all sets, in their order. Of two tools with one name the first
// stays.
func Union(sets ...*ToolSet) *ToolSet {
	var whole *ToolSet
	for _, s := range sets {
		if s.len() == 0 {
			continue
		}
		if whole == nil {
			whole = s
			continue
		}
		more := s.filtered(func(e *entry) bool { return whole.lookup(e.info.Name) == nil })
		if more.size == 0 {
			continue
		}
		whole = &ToolSet{parts: append(whole.parts[:len(whole.parts):len(whole.parts)], more.parts...), size: whole.size + more.size}
	}
	if whole == nil {
		return &ToolSet{}
	}
	return whole
}

func (s *ToolSet) len() int {
	if s == nil {
		return 0
	}
	return s.size
}

// all iterates over the entries in their order.
func (s *ToolSet) all() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		if s == nil {
			return
		}
		for _, p := range s.parts {
			for i, e := range p.entries {
				if p.has(i) && !yield(e) {
					return
				}
			}
		}
	}
}

// lookup returns the tool of a name; nil if there is none.
func (s *ToolSet) lookup(name string) *entry {
	if s == nil {
		return nil
	}
	for _, p := range s.parts {
		if i, ok := p.byName()[name]; ok && p.has(i) {
			return p.entries[i]
		}
	}
	return nil
}

// key is the same for sets whose tools have equal definitions in the same order: what is
// worked out from definitions alone, such as an index, is then the same for both.
func (s *ToolSet) key() [sha256.Size]byte {
	if s == nil {
		s = &ToolSet{}
	}
	s.sumOnce.Do(func() {
		h := sha256.New()
		for e := range s.all() {
			sum := e.definition()
			h.Write(sum[:])
		}
		h.Sum(s.sum[:0])
	})
	return s.sum
}

// filtered returns the tools for which keep holds. Segments stay whole.
func (s *ToolSet) filtered(keep func(*entry) bool) *ToolSet {
	next := &ToolSet{}
	if s == nil {
		return next
	}
	for _, p := range s.parts {
		kept := part{segment: p.segment, bits: make([]uint64, (len(p.entries)+63)/64)}
		for i, e := range p.entries {
			if p.has(i) && keep(e) {
				kept.bits[i/64] |= 1 << (i % 64)
				kept.size++
			}
		}
		if kept.size == p.size {
			kept = p
		}
		if kept.size > 0 {
			next.parts = append(next.parts, kept.dense())
			next.size += kept.size
		}
	}
	if next.size == s.size {
		return s
	}
	return next
}

// dense is the part, in a segment of its own if it is a small share of a large one: it
// would keep the others in memory, and be passed over tool by tool.
func (p part) dense() part {
	if p.bits == nil || 8*p.size >= len(p.entries) {
		return p
	}
	own := make([]*entry, 0, p.size)
	for word, set := range p.bits {
		for ; set != 0; set &= set - 1 {
			own = append(own, p.entries[64*word+bits.TrailingZeros64(set)])
		}
	}
	return part{segment: &segment{entries: own}, size: len(own)}
}

func (p part) has(i int) bool { return p.bits == nil || p.bits[i/64]&(1<<(i%64)) != 0 }

// byName is the place of each tool of the segment.
func (g *segment) byName() map[string]int {
	g.nameOnce.Do(func() {
		g.names = make(map[string]int, len(g.entries))
		for i, e := range g.entries {
			g.names[e.info.Name] = i
		}
	})
	return g.names
}

// byValue is the place of each tool that can be compared with others.
func (g *segment) byValue() map[tool.BaseTool]int {
	g.valueOnce.Do(func() {
		g.values = make(map[tool.BaseTool]int, len(g.entries))
		for i, e := range g.entries {
			if t := unwrap(e.tool); reflect.ValueOf(t).Comparable() {
				g.values[t] = i
			}
		}
	})
	return g.values
}

// updater makes the entries of a set from those of an older one.
type updater struct {
	old   *ToolSet
	seen  map[string]int
	wrong problems
	part  int // where the entry after the last one found is, if the order is the same
	place int
}

func (u *updater) entry(ctx context.Context, t tool.BaseTool) (*entry, error) {
	if e := u.sameValue(t); e != nil {
		return e, nil
	}
	info, err := readInfo(ctx, t)
	if err != nil {
		return nil, err
	}
	e, err := newEntry(t, info)
	if err != nil {
		return nil, err
	}
	if old := u.old.lookup(info.Name); old != nil && old.definition() == e.definition() {
		e.info, e.safe, e.own = old.info, old.safe, schema.ToolInfo{} // one copy for both
	}
	return e, nil
}

// sameValue returns the old entry of a tool; nil if there is none, or if it cannot be told.
func (u *updater) sameValue(t tool.BaseTool) *entry {
	if u.old == nil || safe.IsNil(t) || !reflect.ValueOf(t).Comparable() {
		return nil
	}
	if e := u.next(); e != nil && unwrap(e.tool) == t {
		u.place++
		return e
	}
	for i, p := range u.old.parts {
		if at, ok := p.byValue()[t]; ok && p.has(at) {
			u.part, u.place = i, at+1
			return p.entries[at]
		}
	}
	return nil
}

// next is the entry that follows the last one found.
func (u *updater) next() *entry {
	for ; u.part < len(u.old.parts); u.part, u.place = u.part+1, 0 {
		p := u.old.parts[u.part]
		for ; u.place < len(p.entries); u.place++ {
			if p.has(u.place) {
				return p.entries[u.place]
			}
		}
	}
	return nil
}

// openSegment is the fewest tools of a segment that later sets take as it is. Smaller ones are put
// together with their neighbours, so that many small changes leave few segments.
const openSegment = segmentSize / 8

// arranged returns the set of the entries with as many of the old segments as fit. If
// nothing differs, it is s.
func (s *ToolSet) arranged(entries []*entry) *ToolSet {
	first := map[*entry]part{} // the first tool of each old part
	if s != nil {
		if s.isExactly(entries) {
			return s
		}
		for _, p := range s.parts {
			first[p.first()] = p
		}
	}
	next := &ToolSet{size: len(entries)}
	open := 0 // the first entry that is in no part yet
	for i := 0; i < len(entries); {
		p, ok := first[entries[i]]
		if !ok || p.size < openSegment || !p.leads(entries[i:]) {
			i++
			continue
		}
		next.addSegments(entries[open:i])
		next.parts = append(next.parts, p)
		i += p.size
		open = i
	}
	next.addSegments(entries[open:])
	return next
}

func (s *ToolSet) isExactly(entries []*entry) bool {
	if s.size != len(entries) {
		return false
	}
	at := 0
	for _, p := range s.parts {
		if !p.leads(entries[at:]) {
			return false
		}
		at += p.size
	}
	return true
}

// first is the first tool of the part.
func (p part) first() *entry {
	i := 0
	for !p.has(i) {
		i++
	}
	return p.entries[i]
}

// leads reports whether entries begin with all tools of the part.
func (p part) leads(entries []*entry) bool {
	if len(entries) < p.size {
		return false
	}
	at := 0
	for i, e := range p.entries {
		if !p.has(i) {
			continue
		}
		if entries[at] != e {
			return false
		}
		at++
	}
	return true
}

// addSegments puts entries into new segments of about the same size.
func (s *ToolSet) addSegments(entries []*entry) {
	for n := (len(entries) + segmentSize - 1) / segmentSize; n > 0; n-- {
		size := (len(entries) + n - 1) / n
		own := append([]*entry(nil), entries[:size]...)
		s.parts = append(s.parts, part{segment: &segment{entries: own}, size: size})
		entries = entries[size:]
	}
}

// definitionSum is what an entry has of its definition, worked out when it is first asked.
type definitionSum struct {
	once sync.Once
	sum  [sha256.Size]byte
}

// unlike numbers the definitions that can be compared with no other.
var unlike atomic.Uint64

// definition is the same for tools with equal names, descriptions, schemas and Extra. A
// tool whose Extra cannot be compared is like itself only.
func (e *entry) definition() [sha256.Size]byte {
	e.defined.once.Do(func() {
		extra, plain := plainText(e.info.Extra)
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
		h.Sum(e.defined.sum[:0])
	})
	return e.defined.sum
}
